#include "sluice/nvme/prp.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

namespace sluice::nvme {
namespace {

/// List memory at a bus address, filled with nonsense so that an entry never written shows.
struct list_at {
  explicit list_at(std::uint64_t address, std::size_t entries)
      : words(entries, 0xbad0bad0bad0bad0), at{address} {}
  prp_list_memory memory() { return {words.data(), at}; }
  bool read(bus_address from, std::uint64_t& value) const {
    const std::uint64_t index = (from.value - at.value) / 8;
    if (from.value < at.value || index >= words.size()) return false;
    value = words[index];
    return true;
  }
  std::vector<std::uint64_t> words;
  bus_address at;
};

using pieces = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

status walk(const prp_pair& prps, std::uint64_t bytes, std::uint64_t page, const list_at& list, pieces& out) {
  return walk_prps(
      prps, bytes, page, [&](bus_address at, std::uint64_t& value) { return list.read(at, value); },
      [&](bus_address at, std::uint64_t n) {
        out.emplace_back(at.value, n);
        return status::ok;
      });
}

TEST(prp, one_page_needs_one_entry) {
  constexpr prp_pair prps = build_prps(bus_address{0x10200}, 0xe00, 4096, {});
  static_assert(prps == prp_pair{{0x10200}, {0}});
}

TEST(prp, two_pages_need_two_entries_and_no_list) {
  constexpr prp_pair prps = build_prps(bus_address{0x10200}, 0xe01, 4096, {});
  static_assert(prps == prp_pair{{0x10200}, {0x11000}});
  static_assert(build_prps(bus_address{0x10000}, 8192, 4096, {}) == prp_pair{{0x10000}, {0x11000}});
  static_assert(prp_list_entries(bus_address{0x10000}, 8192, 4096, bus_address{0}) == 0);
}

TEST(prp, more_pages_are_listed) {
  list_at list(0x8000, 8);
  const prp_pair prps = build_prps(bus_address{0x10800}, 3 * 4096, 4096, list.memory());
  EXPECT_EQ(prps, (prp_pair{{0x10800}, {0x8000}}));
  EXPECT_EQ(list.words[0], 0x11000U);
  EXPECT_EQ(list.words[1], 0x12000U);
  EXPECT_EQ(list.words[2], 0x13000U);
  EXPECT_EQ(list.words[3], 0xbad0bad0bad0bad0U);
}

TEST(prp, a_full_list_page_ends_in_a_pointer_only_where_more_follows) {
  // 512 entries to a page. 513 data pages: one in PRP1, 512 in the list, no chain.
  list_at exact(0x800000, 1024);
  build_prps(bus_address{0x10000000}, 513 * 4096, 4096, exact.memory());
  EXPECT_EQ(exact.words[511], 0x10000000U + 512 * 4096);
  EXPECT_EQ(exact.words[512], 0xbad0bad0bad0bad0U);
  // One page more: the last entry points to the next list page.
  list_at chained(0x800000, 1024);
  build_prps(bus_address{0x10000000}, 514 * 4096, 4096, chained.memory());
  EXPECT_EQ(chained.words[511], 0x801000U);
  EXPECT_EQ(chained.words[512], 0x10000000U + 512 * 4096);
  EXPECT_EQ(chained.words[513], 0x10000000U + 513 * 4096);
  EXPECT_EQ(chained.words[514], 0xbad0bad0bad0bad0U);
}

TEST(prp, a_list_may_start_anywhere_in_its_page) {
  // Two entries are left in the list's first page: one data page, then the chain.
  list_at list(0x8ff0, 8);
  build_prps(bus_address{0x20000}, 4 * 4096, 4096, list.memory());
  EXPECT_EQ(list.words[0], 0x21000U);
  EXPECT_EQ(list.words[1], 0x9000U);
  EXPECT_EQ(list.words[2], 0x22000U);
  EXPECT_EQ(list.words[3], 0x23000U);
}

TEST(prp, pages_may_lie_anywhere) {
  const std::uint64_t where[] = {0x70000, 0x10000, 0x50000, 0x30000};
  list_at list(0x8000, 8);
  const prp_pair prps = build_prps([&](std::uint64_t i) { return bus_address{where[i]}; }, 0x300, 3 * 4096,
                                   4096, list.memory());
  pieces seen;
  ASSERT_EQ(walk(prps, 3 * 4096, 4096, list, seen), status::ok);
  EXPECT_EQ(seen, (pieces{{0x70300, 0xd00}, {0x10000, 4096}, {0x50000, 4096}, {0x30000, 0x300}}));
}

TEST(prp, walking_finds_what_building_described) {
  for (const std::uint64_t page : {4096U, 8192U, 65536U})
    for (const std::uint64_t offset : {0U, 4U, 512U, 4092U})
      for (const std::uint64_t list_offset : {std::uint64_t{0}, std::uint64_t{8}, page - 16, page - 8})
        for (const std::uint64_t bytes : {std::uint64_t{4}, page - offset % page, page, page + 4, 2 * page,
                                          3 * page - 4, 600 * page, 1100 * page + 512}) {
          const bus_address data{0x40000000 + offset};
          list_at list(0x800000 + list_offset, prp_list_bytes(bytes, page) / 8);
          const prp_pair prps = build_prps(data, bytes, page, list.memory());
          pieces seen;
          ASSERT_EQ(walk(prps, bytes, page, list, seen), status::ok);
          std::uint64_t at = data.value;
          for (const auto& [address, length] : seen) {
            ASSERT_EQ(address, at);
            at += length;
          }
          ASSERT_EQ(at, data.value + bytes);
          ASSERT_EQ(seen.size(), prp_entries(data.value, bytes, page));
          // Exactly the promised entries were written.
          const std::uint64_t used = prp_list_entries(data, bytes, page, list.at);
          ASSERT_LE(used, list.words.size());
          for (std::uint64_t i = 0; i < list.words.size(); ++i)
            ASSERT_EQ(list.words[i] != 0xbad0bad0bad0bad0, i < used) << i;
        }
}

TEST(prp, walking_refuses_offsets_where_none_may_be) {
  list_at list(0x8000, 8);
  pieces seen;
  const auto refused = [&](const prp_pair& prps, std::uint64_t bytes) {
    return walk(prps, bytes, 4096, list, seen).nvme_code() == code::prp_offset_invalid.nvme_code();
  };
  EXPECT_TRUE(refused({{0x10001}, {}}, 512));
  EXPECT_TRUE(refused({{0x10002}, {}}, 512));
  EXPECT_TRUE(refused({{0x10000}, {0x11004}}, 8192));
  EXPECT_TRUE(refused({{0x10000}, {0x8004}}, 3 * 4096));
  list.words[0] = 0x11000;
  list.words[1] = 0x12008;
  EXPECT_TRUE(refused({{0x10000}, {0x8000}}, 3 * 4096));
}

TEST(prp, walking_stops_at_a_list_that_cannot_be_read) {
  list_at list(0x8000, 1);
  list.words[0] = 0x11000;
  pieces seen;
  EXPECT_EQ(walk({{0x10000}, {0x8000}}, 3 * 4096, 4096, list, seen), code::data_transfer_error);
  EXPECT_EQ(walk({{0x10000}, {0x9000}}, 3 * 4096, 4096, list, seen), code::data_transfer_error);
}

}  // namespace
}  // namespace sluice::nvme
