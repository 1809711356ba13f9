#include "sluice/drive/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "drive/manifest_envelope.h"
#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"
#include "tests/support/fake_drive.h"
#include "tests/support/refusal.h"

namespace sluice::drive {
namespace {

using test::fake_drive;
using test::refusal_of;
using testing::HasSubstr;

manifest example() {
  manifest content;
  content.uuid = "0123456789abcdef0123456789abcdef";
  content.name = "v";
  content.drives = 3;
  content.drive = 1;
  content.how = layout::mirror;
  content.drive_bytes = 4 * MiB;
  content.failed = 4;
  content.datasets.push_back({.name = "größe",
                              .kind = "raw",
                              .first_byte = 0,
                              .bytes = 70000,
                              .meta = R"({"a":[1,"x"]})",
                              .checksum = 7,
                              .state = dataset_state::complete});
  content.datasets.push_back({.name = "b", .kind = "graph", .first_byte = 2 * largest_page, .bytes = 1});
  return content;
}

/// A slot of version `version` that is whole in every other way.
std::vector<std::byte> slot_of(const std::string& body, std::uint32_t version = manifest_version,
                               std::uint64_t sequence = 1) {
  envelope_header header;
  header.version = version;
  header.sequence = sequence;
  header.body_bytes = static_cast<std::uint32_t>(body.size());
  header.crc = crc32c(std::as_bytes(std::span(body)), crc32c(std::as_bytes(std::span(&header, 1))));
  std::vector<std::byte> slot(sizeof header + body.size());
  std::memcpy(slot.data(), &header, sizeof header);
  std::memcpy(slot.data() + sizeof header, body.data(), body.size());
  return slot;
}

void put(fake_drive& drive, std::uint32_t slot, std::vector<std::byte> bytes) {
  bytes.resize((bytes.size() + 511) / 512 * 512);
  drive.write(slot * manifest_slot_bytes, bytes);
}

TEST(manifest, comes_back_as_it_was_written) {
  const stored_manifest back = decode(encode(example(), 42));
  EXPECT_EQ(back.sequence, 42U);
  EXPECT_EQ(back.content, example());
}

TEST(manifest, knows_every_single_flipped_bit) {
  const std::vector<std::byte> whole = encode(example(), 42);
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::vector<std::byte> bent = whole;
    bent[bit / 8] ^= std::byte(1U << (bit % 8));
    ASSERT_EQ(refusal_of([&] { decode(bent); }).kind, error_kind::corrupt) << bit;
  }
}

TEST(manifest, knows_that_it_was_cut_short) {
  const std::vector<std::byte> whole = encode(example(), 42);
  for (std::size_t size = 0; size < whole.size(); ++size)
    ASSERT_EQ(refusal_of([&] { decode(std::span(whole).first(size)); }).kind, error_kind::corrupt) << size;
}

TEST(manifest, refuses_fields_that_no_volume_can_have) {
  const auto refused = [](auto change) {
    manifest content = example();
    change(content);
    return refusal_of([&] { check(content); }).kind == error_kind::bad_input &&
           refusal_of([&] { decode(encode(content, 1)); }).kind == error_kind::corrupt;
  };
  EXPECT_TRUE(refused([](manifest& m) { m.uuid = "x"; }));
  EXPECT_TRUE(refused([](manifest& m) { m.name = ""; }));
  EXPECT_TRUE(refused([](manifest& m) { m.name = "two\nlines"; }));
  EXPECT_TRUE(refused([](manifest& m) { m.drives = 0; }));
  EXPECT_TRUE(refused([](manifest& m) { m.drives = 65; }));
  EXPECT_TRUE(refused([](manifest& m) { m.drive = 3; }));
  EXPECT_TRUE(refused([](manifest& m) { m.unit = 3 * largest_page; }));
  EXPECT_TRUE(refused([](manifest& m) { m.block_size = 520; }));
  EXPECT_TRUE(refused([](manifest& m) { m.drive_bytes = largest_page / 2; }));
  EXPECT_TRUE(refused([](manifest& m) { m.drive_bytes = ~std::uint64_t{0} / largest_page * largest_page; }));
  EXPECT_TRUE(refused([](manifest& m) { m.failed = 7; }));
  EXPECT_TRUE(refused([](manifest& m) { m.failed = 8; }));
  EXPECT_TRUE(refused([](manifest& m) { m.how = layout::stripe; }));
  EXPECT_TRUE(refused([](manifest& m) { m.datasets[1].first_byte = largest_page; }));
  EXPECT_TRUE(refused([](manifest& m) { m.datasets[1].first_byte = 512; }));
  EXPECT_TRUE(refused([](manifest& m) { m.datasets[1].bytes = ~std::uint64_t{0}; }));
  EXPECT_TRUE(refused([](manifest& m) { m.datasets[1].meta = "{"; }));
  EXPECT_TRUE(refused([](manifest& m) { m.datasets[1].name = ""; }));
}

TEST(manifest, refuses_bodies_that_are_none) {
  for (const char* body : {"", "[]", "1", "{}", "{\"uuid\":1}", "\xff",
                           "{\"uuid\":\"0123456789abcdef0123456789abcdef\",\"name\":\"v\",\"drive\":-1}"})
    EXPECT_EQ(refusal_of([&] { decode(slot_of(body)); }).kind, error_kind::corrupt) << body;
}

TEST(manifest, bears_a_body_nested_without_end) {
  const std::string deep(manifest_slot_bytes - 64, '[');
  EXPECT_EQ(refusal_of([&] { decode(slot_of(deep)); }).kind, error_kind::corrupt);
}

TEST(manifest, asks_for_a_newer_program_when_the_format_is_newer) {
  fake_drive drive("fake:0", 2 * MiB);
  put(drive, 0, encode(example(), 1));
  put(drive, 1, slot_of("anything", manifest_version + 1, 2));
  const auto no = refusal_of([&] { read_manifest(drive); });
  EXPECT_EQ(no.kind, error_kind::unavailable);
  EXPECT_THAT(no.line, HasSubstr("format version 3"));
  EXPECT_THAT(no.line, HasSubstr("fake:0"));
  EXPECT_FALSE(no.mend.empty());
}

TEST(manifest, says_no_more_than_its_slot_holds) {
  manifest content = example();
  content.datasets[1].meta = '"' + std::string(manifest_slot_bytes, 'x') + '"';
  EXPECT_EQ(refusal_of([&] { encode(content, 1); }).kind, error_kind::bad_input);
  content.datasets[1].meta = "\"\xff\"";
  EXPECT_EQ(refusal_of([&] { encode(content, 1); }).kind, error_kind::bad_input);
}

TEST(manifest, takes_turns_between_two_slots) {
  fake_drive drive("fake:0", 2 * MiB);
  stored_manifest stored{.content = example()};
  write_first_manifest(drive, stored);
  for (std::uint64_t update = 0; update < 4; ++update) {
    const std::uint32_t before = stored.slot;
    ++stored.sequence;
    write_manifest(drive, stored);
    EXPECT_NE(stored.slot, before);
    const stored_manifest found = read_manifest(drive);
    EXPECT_EQ(found.slot, stored.slot);
    EXPECT_EQ(found.sequence, stored.sequence);
  }
}

TEST(manifest, falls_back_on_the_other_slot) {
  fake_drive drive("fake:0", 2 * MiB);
  put(drive, 0, encode(example(), 8));
  put(drive, 1, encode(example(), 9));
  drive.content()[manifest_slot_bytes + 100] ^= std::byte{1};
  EXPECT_EQ(read_manifest(drive).sequence, 8U);
  drive.content()[100] ^= std::byte{1};
  const auto no = refusal_of([&] { read_manifest(drive); });
  EXPECT_EQ(no.kind, error_kind::corrupt);
  EXPECT_FALSE(no.mend.empty());
}

TEST(manifest, is_the_only_one_after_the_first_was_written) {
  fake_drive drive("fake:0", 2 * MiB);
  put(drive, 0, encode(example(), 1000));
  put(drive, 1, encode(example(), 1001));
  stored_manifest fresh{.content = example()};
  fresh.content.name = "fresh";
  write_first_manifest(drive, fresh);
  EXPECT_EQ(read_manifest(drive).content.name, "fresh");
  drive.content()[fresh.slot * manifest_slot_bytes] = std::byte{0};
  EXPECT_EQ(refusal_of([&] { read_manifest(drive); }).kind, error_kind::bad_input);
}

TEST(manifest, fits_drives_of_any_block_size) {
  for (std::uint32_t block = 512; block <= largest_page; block *= 2) {
    fake_drive drive("fake:0", 2 * MiB, block);
    stored_manifest stored{.content = example()};
    stored.content.datasets[0].meta = '"' + std::string(20000, 'x') + '"';
    write_first_manifest(drive, stored);
    EXPECT_EQ(read_manifest(drive).content, stored.content) << block;
  }
}

}  // namespace
}  // namespace sluice::drive
