#include "apps/vector_add/vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "apps/vector_add/operands.h"
#include "apps/vector_add/reference.h"
#include "sluice/base/error.h"
#include "sluice/base/sizes.h"

namespace sluice::vector_add {

namespace {

/// Moved at once; a whole number of blocks of any drive.
constexpr std::uint64_t part_bytes = 4 * MiB;
constexpr std::byte spoilt{0xff};

/// Calls `act(first byte, bytes)` for each part of a vector with its padding.
template <class Act>
void for_each_part(const vectors& of, const Act& act) {
  for (std::uint64_t at = 0; at < of.stride(); at += part_bytes)
    act(at, std::min(part_bytes, of.stride() - at));
}

/// Elements of a part that begins at byte `at` of a vector; the rest of the part is padding.
template <class T>
std::size_t elements_in(const vectors& of, std::uint64_t at, std::uint64_t bytes) {
  return static_cast<std::size_t>(std::min(bytes, of.bytes_each() - std::min(at, of.bytes_each())) /
                                  sizeof(T));
}

template <class T>
void write_operand(drive::volume& on, const vectors& into, operand which, std::uint64_t seed,
                   const byte_progress& progress) {
  std::vector<T> part(part_bytes / sizeof(T));
  const std::uint64_t start = which == operand::a ? into.a() : into.b();
  for_each_part(into, [&](std::uint64_t at, std::uint64_t bytes) {
    const std::size_t count = elements_in<T>(into, at, bytes);
    const std::span<T> all(part.data(), bytes / sizeof(T));
    fill_operand(all.first(count), seed, which, at / sizeof(T));
    std::fill(all.begin() + static_cast<std::ptrdiff_t>(count), all.end(), T{});
    on.write(start + at, std::as_bytes(all));
    if (progress) progress(bytes);
  });
}

/// Reads a vector part by part, and holds each part against what it must be.
template <class T>
class comparison_of_sums {
 public:
  comparison_of_sums(const drive::volume& on, const vectors& of, std::uint64_t seed)
      : volume_(on), vectors_(of), seed_(seed), a_(room()), b_(room()), sum_(room()), found_(room()) {}

  std::optional<std::string> fault_at(std::uint64_t at, std::uint64_t bytes) {
    const std::size_t count = elements_in<T>(vectors_, at, bytes);
    const std::uint64_t first = at / sizeof(T);
    const std::span<T> a(a_.data(), count), b(b_.data(), count), sum(sum_.data(), count);
    fill_operand(a, seed_, operand::a, first);
    fill_operand(b, seed_, operand::b, first);
    add_reference<T>(a, b, sum);
    if (auto fault = difference("A", vectors_.a() + at, bytes, a, first)) return fault;
    if (auto fault = difference("B", vectors_.b() + at, bytes, b, first)) return fault;
    if (auto fault = difference("C", vectors_.c() + at, bytes, sum, first)) return fault;
    return fault_behind(count, bytes);
  }

 private:
  static std::vector<T> room() { return std::vector<T>(part_bytes / sizeof(T)); }

  std::optional<std::string> difference(const char* name, std::uint64_t from, std::uint64_t bytes,
                                        std::span<const T> truth, std::uint64_t first) {
    const std::span<T> found(found_.data(), bytes / sizeof(T));
    volume_.read(from, std::as_writable_bytes(found));
    const auto wrong = first_difference<T>(found.first(truth.size()), truth);
    if (!wrong) return std::nullopt;
    return fmt::format("element {} of {} is {}, in truth {}", first + *wrong, name, found[*wrong],
                       truth[*wrong]);
  }
  /// Of C, whose part was read last.
  std::optional<std::string> fault_behind(std::size_t count, std::uint64_t bytes) const {
    const auto behind = std::as_bytes(std::span(found_.data(), bytes / sizeof(T)).subspan(count));
    if (std::all_of(behind.begin(), behind.end(), [](std::byte each) { return each == spoilt; }))
      return std::nullopt;
    return "bytes behind the last element of C were written";
  }

  const drive::volume& volume_;
  const vectors& vectors_;
  std::uint64_t seed_;
  std::vector<T> a_, b_, sum_, found_;
};

}  // namespace

void need_room(const drive::volume& on, const vectors& of) {
  if (of.elements == 0)
    throw error(error_kind::bad_input, "vectors of no elements", "add one element at least");
  if (of.elements > most_elements)
    throw error(error_kind::bad_input, "vectors of " + format_grouped(of.elements) + " elements",
                "add at most " + format_grouped(most_elements));
  if (of.first_byte <= on.bytes() && of.bytes() <= on.bytes() - of.first_byte) return;
  throw error(error_kind::bad_input,
              "three vectors of " + format_grouped(of.elements) + " elements take " +
                  format_bytes(static_cast<double>(of.bytes())) + ", and the drives hold " +
                  format_bytes(static_cast<double>(on.bytes())),
              "add fewer elements, or name larger drives");
}

void write_operands(drive::volume& on, const vectors& of, std::uint64_t seed, const byte_progress& progress) {
  with_element(of.of, [&]<class T>(T) {
    write_operand<T>(on, of, operand::a, seed, progress);
    write_operand<T>(on, of, operand::b, seed, progress);
  });
}

void spoil_sums(drive::volume& on, const vectors& of, const byte_progress& progress) {
  const std::vector<std::byte> part(part_bytes, spoilt);
  for_each_part(of, [&](std::uint64_t at, std::uint64_t bytes) {
    on.write(of.c() + at, std::span(part).first(bytes));
    if (progress) progress(bytes);
  });
}

std::optional<std::string> fault_of_sums(const drive::volume& on, const vectors& of, std::uint64_t seed,
                                         const byte_progress& progress) {
  return with_element(of.of, [&]<class T>(T) {
    comparison_of_sums<T> compared(on, of, seed);
    std::optional<std::string> fault;
    for_each_part(of, [&](std::uint64_t at, std::uint64_t bytes) {
      if (fault) return;
      fault = compared.fault_at(at, bytes);
      if (progress) progress(3 * bytes);
    });
    return fault;
  });
}

}  // namespace sluice::vector_add
