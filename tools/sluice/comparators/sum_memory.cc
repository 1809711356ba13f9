#include "tools/sluice/comparators/sum_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "apps/vector_add/operands.h"
#include "apps/vector_add/reference.h"
#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "tools/sluice/comparators/gpu_room.h"
#include "tools/sluice/comparators/host_room.h"

namespace sluice::tool {

namespace {

using vector_add::operand;

constexpr std::size_t sums_at_once = 1 << 19;

void need_sum_memory(backend on, memory::place where, std::uint64_t bytes) {
  const char* const mend = "add fewer --elements";
  if (on != backend::cuda || where != memory::place::device) return need_host_memory(bytes, mend);
  const std::uint64_t left = free_gpu_bytes();
  if (bytes <= left / 16 * 15) return;
  throw error(error_kind::unavailable,
              "the vectors take " + format_bytes(static_cast<double>(bytes)) + " of GPU memory, of which " +
                  format_bytes(static_cast<double>(left)) + " are left",
              mend);
}

/// Calls `act(first, count)` for runs of `elements`.
template <class Act>
void by_runs(std::uint64_t elements, const Act& act) {
  for (std::uint64_t first = 0; first < elements; first += sums_at_once)
    act(first, static_cast<std::size_t>(std::min<std::uint64_t>(sums_at_once, elements - first)));
}

template <class T>
void fill_memory(const memory::region& to, std::uint64_t at, std::uint64_t elements, std::uint64_t seed,
                 operand which) {
  std::vector<T> part(sums_at_once);
  by_runs(elements, [&](std::uint64_t first, std::size_t count) {
    const std::span<T> here(part.data(), count);
    vector_add::fill_operand(here, seed, which, first);
    memory::copy_in(to, at + first * sizeof(T), std::as_bytes(here));
  });
}

template <class T>
void need_right_in(const memory::region& from, std::uint64_t at, std::uint64_t elements, std::uint64_t seed,
                   const char* by) {
  std::vector<T> a(sums_at_once), b(sums_at_once), truth(sums_at_once), found(sums_at_once);
  by_runs(elements, [&](std::uint64_t first, std::size_t count) {
    vector_add::fill_operand<T>(std::span(a).first(count), seed, operand::a, first);
    vector_add::fill_operand<T>(std::span(b).first(count), seed, operand::b, first);
    const std::span<T> sums = std::span(truth).first(count), held = std::span(found).first(count);
    vector_add::add_reference<T>(a, b, sums);
    memory::copy_out(from, at + first * sizeof(T), std::as_writable_bytes(held));
    const auto wrong = vector_add::first_difference<T>(held, sums);
    if (wrong)
      throw error(error_kind::wrong_answer, fmt::format("{}: element {} of C is {}, in truth {}", by,
                                                        first + *wrong, held[*wrong], sums[*wrong]));
  });
}

}  // namespace

sum_memory::sum_memory(backend on, memory::place where, const vector_add::vectors& of, std::uint64_t seed)
    : of_{.of = of.of, .elements = of.elements}, seed_(seed) {
  need_sum_memory(on, where, of_.bytes());
  bytes_ = memory::buffer(on, where, of_.bytes());
  vector_add::with_element(of_.of, [&]<class T>(T) {
    fill_memory<T>(bytes_.view(), of_.a(), of_.elements, seed, operand::a);
    fill_memory<T>(bytes_.view(), of_.b(), of_.elements, seed, operand::b);
  });
}

void sum_memory::spoil_sums() {
  const std::vector<std::byte> part(MiB, std::byte{0xff});
  for (std::uint64_t at = 0; at < of_.bytes_each(); at += part.size())
    memory::copy_in(bytes_.view(), of_.c() + at,
                    std::span(part).first(std::min<std::uint64_t>(part.size(), of_.bytes_each() - at)));
}

void sum_memory::need_right(const char* by) const {
  vector_add::with_element(
      of_.of, [&]<class T>(T) { need_right_in<T>(bytes_.view(), of_.c(), of_.elements, seed_, by); });
}

}  // namespace sluice::tool
