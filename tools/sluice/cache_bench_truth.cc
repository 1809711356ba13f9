// What the elements of a cache benchmark must hold: stamps that it writes, or a copy of what is there.
#include <algorithm>
#include <span>
#include <vector>

#include "sluice/base/error.h"
#include "tools/sluice/cache_bench.h"
#include "tools/sluice/cache_stamps.h"

namespace sluice::tool {

namespace {

constexpr std::uint64_t chunk_bytes = MiB;

/// Calls `act(offset, words)` for every chunk of `bytes`.
template <class Act>
void by_chunk(std::uint64_t bytes, Act act) {
  std::vector<std::uint64_t> words(chunk_bytes / 8);
  for (std::uint64_t at = 0; at < bytes; at += chunk_bytes)
    act(at, std::span(words).first(std::min(chunk_bytes, bytes - at) / 8));
}

/// The stamps of the elements that lie in the w-th eight bytes.
std::uint64_t stamps_of_word(std::uint64_t w, std::uint32_t element_bytes) {
  if (element_bytes == 8) return stamp_of<std::uint64_t>(w);
  return stamp_of<std::uint32_t>(2 * w) | std::uint64_t{stamp_of<std::uint32_t>(2 * w + 1)} << 32;
}

/// How many elements of a word that differs from its stamps were not stored to either.
std::uint64_t strangers_in(std::uint64_t word, std::uint64_t stamps, std::uint32_t element_bytes) {
  std::uint64_t strangers = 0;
  const std::uint64_t all = element_bytes == 8 ? ~std::uint64_t{0} : 0xffff'ffffULL;
  for (std::uint32_t shift = 0; shift < 64; shift += element_bytes * 8) {
    const std::uint64_t differs = ((word ^ stamps) >> shift) & all;
    strangers += differs == 0 || differs == all ? 0 : 1;
  }
  return strangers;
}

}  // namespace

cache_bench_truth stamp_elements(storage& drives, std::uint64_t first_byte, std::uint64_t bytes,
                                 std::uint32_t element_bytes, const bytes_done& tell) {
  by_chunk(bytes, [&](std::uint64_t at, std::span<std::uint64_t> words) {
    for (std::size_t k = 0; k < words.size(); ++k) words[k] = stamps_of_word(at / 8 + k, element_bytes);
    drives.volume().write(first_byte + at, std::as_bytes(words));
    tell(words.size_bytes());
  });
  drives.volume().flush();
  return {.first_byte = first_byte, .bytes = bytes, .element_bytes = element_bytes};
}

cache_bench_truth copy_elements(storage& drives, backend where, std::uint64_t first_byte, std::uint64_t bytes,
                                const bytes_done& tell) {
  memory::buffer copy(where, memory::place::pinned, bytes);
  by_chunk(bytes, [&](std::uint64_t at, std::span<std::uint64_t> words) {
    drives.volume().read(first_byte + at, std::as_writable_bytes(words));
    memory::copy_in(copy.view(), at, std::as_bytes(words));
    tell(words.size_bytes());
  });
  return {.first_byte = first_byte, .bytes = bytes, .stamped = false, .copy = std::move(copy)};
}

void check_elements(storage& drives, const cache_bench_truth& truth) {
  std::uint64_t written = 0;
  std::uint64_t strangers = 0;
  by_chunk(truth.bytes, [&](std::uint64_t at, std::span<std::uint64_t> words) {
    drives.volume().read(truth.first_byte + at, std::as_writable_bytes(words));
    for (std::size_t k = 0; k < words.size(); ++k) {
      strangers += (words[k] & ~stamp_counts) != element_stamp(at / 8 + k) ? 1 : 0;
      written += words[k] & stamp_counts;
    }
  });
  if (strangers == 0 && written == truth.written) return;
  throw error(error_kind::wrong_answer,
              "after the flush the drives hold " + std::to_string(strangers) +
                  " elements that are not theirs, and " + std::to_string(written) + " of " +
                  std::to_string(truth.written) + " writes",
              "please report it with the command line and the machine");
}

void check_stored(storage& drives, const cache_bench_truth& truth) {
  std::uint64_t strangers = 0;
  by_chunk(truth.bytes, [&](std::uint64_t at, std::span<std::uint64_t> words) {
    drives.volume().read(truth.first_byte + at, std::as_writable_bytes(words));
    for (std::size_t k = 0; k < words.size(); ++k) {
      const std::uint64_t stamps = stamps_of_word(at / 8 + k, truth.element_bytes);
      if (words[k] != stamps) strangers += strangers_in(words[k], stamps, truth.element_bytes);
    }
  });
  if (strangers == 0) return;
  throw error(error_kind::wrong_answer,
              "after the flush the drives hold " + std::to_string(strangers) +
                  " elements that are neither their stamps nor what was stored",
              "please report it with the command line and the machine");
}

bool holds_data(storage& drives, std::uint64_t first_byte, std::uint64_t bytes) {
  bool found = false;
  by_chunk(bytes, [&](std::uint64_t at, std::span<std::uint64_t> words) {
    if (found) return;
    drives.volume().read(first_byte + at, std::as_writable_bytes(words));
    found = std::any_of(words.begin(), words.end(), [](std::uint64_t word) { return word != 0; });
  });
  return found;
}

}  // namespace sluice::tool
