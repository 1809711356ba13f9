#include "sluice/memory/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "sluice/base/error.h"

namespace sluice::memory {
namespace {

constexpr place every_place[] = {place::host, place::pinned, place::device};

bool has_gpu_memory() {
  try {
    const buffer probe(backend::cuda, place::device, 4096);
    return true;
  } catch (const error&) {
    return false;
  }
}

/// The backends that this computer has.
std::vector<backend> backends() {
  return has_gpu_memory() ? std::vector{backend::cpu, backend::cuda} : std::vector{backend::cpu};
}

std::uintptr_t address(const std::byte* of) { return reinterpret_cast<std::uintptr_t>(of); }

std::vector<std::byte> counting(std::size_t bytes) {
  std::vector<std::byte> all(bytes);
  for (std::size_t i = 0; i < bytes; ++i) all[i] = static_cast<std::byte>(i * 7 + 1);
  return all;
}

TEST(buffer, is_zeroed_and_aligned_in_every_place) {
  for (const backend on : backends()) {
    for (const place where : every_place) {
      for (const std::size_t bytes :
           {std::size_t{1}, std::size_t{5000}, std::size_t{2} << 20, std::size_t{5} << 20}) {
        const buffer memory(on, where, bytes);
        EXPECT_EQ(memory.size(), bytes);
        EXPECT_EQ(memory.view().where, where);
        const std::byte* const start = memory.host() != nullptr ? memory.host() : memory.lanes();
        EXPECT_EQ(
            address(start) % (bytes >= (std::size_t{2} << 20) ? std::size_t{2} << 20 : std::size_t{4096}),
            0U);
        std::vector<std::byte> read(bytes, std::byte{0xff});
        copy_out(memory.view(), 0, read);
        EXPECT_EQ(std::count(read.begin(), read.end(), std::byte{0}), static_cast<std::ptrdiff_t>(bytes));
      }
    }
  }
}

TEST(buffer, gives_back_what_was_copied_in) {
  for (const backend on : backends()) {
    for (const place where : every_place) {
      const buffer memory(on, where, 100'000);
      const std::vector<std::byte> written = counting(70'000);
      copy_in(memory.view(), 12'345, written);
      std::vector<std::byte> read(70'000);
      copy_out(memory.view(), 12'345, read);
      EXPECT_EQ(read, written);
      copy_out(memory.view(), 12'344, std::span(read).first(1));
      EXPECT_EQ(read[0], std::byte{0});
    }
  }
}

TEST(buffer, is_reached_by_lanes_and_cpu_as_its_place_says) {
  for (const place where : every_place) {
    const buffer memory(backend::cpu, where, 64);
    EXPECT_NE(memory.host(), nullptr);
    EXPECT_EQ(memory.host(), memory.lanes());
    EXPECT_EQ(memory.host_as<std::uint32_t>().size(), 16U);
  }
  if (!has_gpu_memory()) return;
  EXPECT_EQ(buffer(backend::cuda, place::host, 64).lanes(), nullptr);
  EXPECT_EQ(buffer(backend::cuda, place::device, 64).host(), nullptr);
  const buffer pinned(backend::cuda, place::pinned, 64);
  EXPECT_NE(pinned.host(), nullptr);
  EXPECT_NE(pinned.lanes(), nullptr);
}

TEST(buffer, moves_and_leaves_nothing_behind) {
  for (const backend on : backends()) {
    for (const place where : every_place) {
      buffer first(on, where, 8192);
      copy_in(first.view(), 0, counting(8192));
      buffer second(std::move(first));
      EXPECT_EQ(first.size(), 0U);  // NOLINT(bugprone-use-after-move): this is the fact under test
      buffer third(on, where, 4096);
      third = std::move(second);
      std::vector<std::byte> read(8192);
      copy_out(third.view(), 0, read);
      EXPECT_EQ(read, counting(8192));
    }
  }
}

TEST(buffer, of_no_bytes_is_empty) {
  const buffer nothing(backend::cpu, place::device, 0);
  EXPECT_EQ(nothing.size(), 0U);
  EXPECT_EQ(nothing.host(), nullptr);
  copy_in(nothing.view(), 0, {});
}

TEST(buffer, refuses_copies_that_leave_the_region) {
  const buffer memory(backend::cpu, place::host, 100);
  const std::vector<std::byte> some(60);
  EXPECT_THROW(copy_in(memory.view(), 41, some), error);
  EXPECT_THROW(copy_in(memory.view(), ~std::size_t{0}, some), error);
  std::vector<std::byte> read(101);
  EXPECT_THROW(copy_out(memory.view(), 0, read), error);
}

TEST(buffer, refuses_what_the_machine_does_not_have) {
  try {
    const buffer too_large(backend::cpu, place::host, std::size_t{1} << 62);
    FAIL();
  } catch (const error& refused) {
    EXPECT_EQ(refused.kind(), error_kind::unavailable);
  }
}

}  // namespace
}  // namespace sluice::memory
