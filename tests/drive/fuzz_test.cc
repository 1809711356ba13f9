// The fuzzers' questions, asked of seeded random inputs in every test run.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "drive/manifest_envelope.h"
#include "sluice/base/crc32c.h"
#include "tests/fuzz/manifest_target.h"
#include "tests/fuzz/uri_target.h"

namespace sluice::drive {
namespace {

const std::vector<std::string>& words() {
  static const std::vector<std::string> all{"mem:",
                                            "file:",
                                            "/data/a",
                                            "4GiB",
                                            "?",
                                            "&",
                                            "=",
                                            ":",
                                            "size",
                                            "error_rate",
                                            "error_lba",
                                            "error_at",
                                            "status",
                                            "delay_us",
                                            "drop_rate",
                                            "drop_at",
                                            "tear_rate",
                                            "shuffle",
                                            "seed",
                                            "deadline_ms",
                                            "1e-3",
                                            "0x281",
                                            "100-120",
                                            "-",
                                            "1",
                                            "0",
                                            "nan",
                                            "18446744073709551615",
                                            "0xffffffffffffffff",
                                            "\n",
                                            std::string(1, '\0'),
                                            "\xff"};
  return all;
}

TEST(fuzz, uris_made_of_their_own_words_are_read_or_refused) {
  std::mt19937 random(1);
  for (int round = 0; round < 50'000; ++round) {
    std::string text = random() % 4 == 0 ? "" : "mem:1GiB?";
    for (std::uint32_t left = random() % 12; left > 0; --left) text += words()[random() % words().size()];
    fuzz::uri_text(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
}

std::string example_body() {
  manifest content;
  content.uuid = std::string(32, 'a');
  content.name = "v";
  content.how = layout::mirror;
  content.drives = 2;
  content.drive_bytes = MiB;
  content.failed = 1;
  content.datasets.push_back({.name = "d", .kind = "raw", .bytes = 5, .checksum = 1});
  const std::vector<std::byte> whole = encode(content, 1);
  return {reinterpret_cast<const char*>(whole.data()) + sizeof(envelope_header),
          whole.size() - sizeof(envelope_header)};
}

/// A slot whose checksum fits, so that the body is looked at whatever it says.
std::vector<std::uint8_t> sealed(const std::string& body) {
  envelope_header header;
  header.sequence = 1;
  header.body_bytes = static_cast<std::uint32_t>(body.size());
  header.crc = crc32c(std::as_bytes(std::span(body)), crc32c(std::as_bytes(std::span(&header, 1))));
  std::vector<std::uint8_t> slot(sizeof header + body.size());
  std::memcpy(slot.data(), &header, sizeof header);
  std::memcpy(slot.data() + sizeof header, body.data(), body.size());
  return slot;
}

TEST(fuzz, manifests_with_bent_bodies_are_read_or_refused) {
  std::mt19937 random(2);
  const std::string whole = example_body();
  const std::string letters = "0123456789-+.eE\"{}[]:,truefalsn\\u\xff \x01";
  for (int round = 0; round < 20'000; ++round) {
    std::string body = whole;
    for (std::uint32_t left = 1 + random() % 4; left > 0; --left) {
      const std::size_t at = random() % body.size();
      switch (random() % 3) {
        case 0:
          body[at] = letters[random() % letters.size()];
          break;
        case 1:
          body.erase(at, 1 + random() % 8);
          break;
        default:
          body.insert(at, body.substr(random() % body.size(), random() % 16));
          break;
      }
      if (body.empty()) body = "{}";
    }
    const std::vector<std::uint8_t> slot = sealed(body);
    fuzz::manifest_bytes(slot.data(), slot.size());
  }
}

TEST(fuzz, random_bytes_are_no_manifest) {
  std::mt19937 random(3);
  for (int round = 0; round < 5'000; ++round) {
    std::vector<std::uint8_t> slot = sealed(example_body());
    for (std::uint32_t left = 1 + random() % 8; left > 0; --left)
      slot[random() % slot.size()] = static_cast<std::uint8_t>(random());
    slot.resize(random() % (slot.size() + 1));
    fuzz::manifest_bytes(slot.data(), slot.size());
  }
}

}  // namespace
}  // namespace sluice::drive
