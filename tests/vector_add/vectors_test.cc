// What vectors on a volume hold, and how a wrong element is found.
#include "apps/vector_add/vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "apps/vector_add/operands.h"
#include "apps/vector_add/reference.h"
#include "sluice/array/storage.h"

namespace sluice::vector_add {
namespace {

constexpr std::uint64_t seed = 3;

TEST(vectors, share_no_page) {
  const vectors of{.of = element::f64, .elements = 10'001, .first_byte = MiB};
  for (const std::uint64_t at : {of.a(), of.b(), of.c()}) EXPECT_EQ(at % (64 * KiB), 0U);
  EXPECT_GE(of.b(), of.a() + of.bytes_each());
  EXPECT_GE(of.c(), of.b() + of.bytes_each());
  EXPECT_EQ(of.bytes_needed(), 3U * 8 * 10'001);
}

TEST(vectors, hold_values_that_differ) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 1000; ++i)
    for (const operand which : {operand::a, operand::b})
      for (const std::uint64_t drawn : {1, 2}) seen.insert(operand_value<std::uint64_t>(drawn, which, i));
  EXPECT_EQ(seen.size(), 4000U);
}

TEST(vectors, hold_numbers_whose_sums_are_finite) {
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    EXPECT_LE(std::fabs(operand_value<float>(seed, operand::a, i)), 1.0F);
    EXPECT_LE(std::fabs(operand_value<double>(seed, operand::b, i)), 1.0);
  }
}

TEST(vectors, reference_adds_and_wraps) {
  const std::vector<std::uint32_t> a{1, 0xffff'ffffU}, b{2, 3};
  std::vector<std::uint32_t> c(2);
  add_reference<std::uint32_t>(a, b, c);
  EXPECT_EQ(c, (std::vector<std::uint32_t>{3, 2}));
  const std::vector<std::uint32_t> wrong{3, 1};
  EXPECT_FALSE(first_difference<std::uint32_t>(c, c).has_value());
  EXPECT_EQ(first_difference<std::uint32_t>(c, wrong).value(), 1U);
}

/// Vectors whose sums are right, as the host wrote them.
class added {
 public:
  explicit added(std::uint64_t elements)
      : of_{.of = element::u32, .elements = elements},
        drives_(storage::raw(std::vector<std::string>{"mem:32MiB"}, {.mode = drive::access::write})) {
    write_operands(drives_.volume(), of_, seed);
    spoil_sums(drives_.volume(), of_);
    std::vector<std::uint32_t> a(elements), b(elements), c(elements);
    fill_operand<std::uint32_t>(a, seed, operand::a, 0);
    fill_operand<std::uint32_t>(b, seed, operand::b, 0);
    add_reference<std::uint32_t>(a, b, c);
    for (std::uint64_t i = 0; i < elements; ++i) put(of_.c() + 4 * i, c[i]);
  }
  const vectors& of() const { return of_; }
  std::string fault() const { return fault_of_sums(drives_.volume(), of_, seed).value_or(""); }
  /// Changes one word, and says what was there.
  std::uint32_t put(std::uint64_t at, std::uint32_t value) {
    std::vector<std::uint32_t> block(128);
    const std::uint64_t start = at / 512 * 512;
    drives_.volume().read(start, std::as_writable_bytes(std::span(block)));
    const std::uint32_t before = std::exchange(block[at % 512 / 4], value);
    drives_.volume().write(start, std::as_bytes(std::span(block)));
    return before;
  }

 private:
  vectors of_;
  storage drives_;
};

TEST(vectors, check_finds_each_kind_of_wrong_answer) {
  added right(1000);
  EXPECT_EQ(right.fault(), "");
  const vectors& of = right.of();
  const struct {
    std::uint64_t at;
    const char* fault;
  } wrongs[] = {{of.a() + 4 * 5, "element 5 of A is 1, in truth "},
                {of.b(), "element 0 of B is 1, in truth "},
                {of.c() + 4 * 999, "element 999 of C is 1, in truth "},
                {of.c() + 4 * 1000, "bytes behind the last element of C were written"}};
  for (const auto& wrong : wrongs) {
    const std::uint32_t before = right.put(wrong.at, 1);
    EXPECT_TRUE(right.fault().starts_with(wrong.fault)) << right.fault();
    right.put(wrong.at, before);
  }
  EXPECT_EQ(right.fault(), "");
}

TEST(vectors, check_finds_sums_that_were_never_written) {
  storage drives = storage::raw(std::vector<std::string>{"mem:32MiB"}, {.mode = drive::access::write});
  const vectors of{.of = element::u64, .elements = 600'000};  // more than are looked at at once
  write_operands(drives.volume(), of, seed);
  spoil_sums(drives.volume(), of);
  EXPECT_TRUE(
      fault_of_sums(drives.volume(), of, seed)->starts_with("element 0 of C is 18446744073709551615"));
}

TEST(vectors, tell_how_far_they_are) {
  storage drives = storage::raw(std::vector<std::string>{"mem:1MiB"}, {.mode = drive::access::write});
  const vectors of{.elements = 1'000};
  std::uint64_t told = 0;
  const auto add = [&](std::uint64_t bytes) { told += bytes; };
  write_operands(drives.volume(), of, seed, add);
  spoil_sums(drives.volume(), of, add);
  EXPECT_EQ(told, of.bytes());
}

}  // namespace
}  // namespace sluice::vector_add
