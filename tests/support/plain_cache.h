// The memory of a cache as plain vectors, for tests of what lanes do with it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "sluice/cache/cache_ref.h"

namespace sluice::testing {

/// A second tier, of none or more slots.
struct tier_size {
  std::uint64_t slots = 0;
  cache::tier_kind kind = cache::tier_kind::exclusive;
};

class plain_cache {
 public:
  plain_cache(std::uint64_t frames, std::uint32_t page_bytes, std::uint64_t patience_ns = 2'000'000'000,
              const tier_size& tier = {})
      : shape_(cache::shape_for(frames)),
        words_(shape_.words() / 4),
        details_(std::size_t{shape_.frames()} * reports),
        frames_(std::size_t{shape_.frames()} * page_bytes / sizeof(chunk)),
        shards_(4),
        page_shift_(static_cast<std::uint32_t>(std::countr_zero(page_bytes))),
        patience_ns_(patience_ns),
        tier_shape_(cache::tier_shape_for(tier.slots, shape_.sets())),
        tier_words_(std::size_t{tier_shape_.slots_a_set()} * shape_.sets()),
        tier_pages_(tier_words_.size() * page_bytes / sizeof(chunk)),
        tier_(tier_shape_, tier.kind, page_shift_, tier_words_.data(),
              reinterpret_cast<std::byte*>(tier_pages_.data())) {}

  cache::cache_view view() {
    cache::cache_view view;
    view.directory = {shape_, words_.data()->words, details_.data(), reports};
    view.frames = frames_.data()->bytes;
    view.page_shift = page_shift_;
    view.patience_ns = patience_ns_;
    view.abort = &abort_;
    view.counters = {shards_.data(), 3};
    if (tier_slots() != 0) view.tier = &tier_;
    return view;
  }
  const cache::directory_shape& shape() const { return shape_; }
  cache::frame_word word(std::uint32_t frame) const {
    return cache::frame_word(words_[frame / 4].words[frame % 4]);
  }
  std::uint32_t tier_slots() const { return static_cast<std::uint32_t>(tier_words_.size()); }
  cache::slot_word slot(std::uint32_t slot) const { return cache::slot_word(tier_words_[slot]); }
  std::byte* slot_bytes(std::uint32_t slot) const { return tier_.bytes(slot); }
  /// The page of which a slot's word tells.
  page_id page_in(std::uint32_t slot, cache::slot_word word) const {
    return cache::page_at(slot / tier_shape_.slots_a_set(), word.tag(), shape_);
  }
  void give_up() { abort_ = 1; }
  std::uint64_t sum(cache::counter what) const {
    std::uint64_t all = 0;
    for (const cache::counter_shard& shard : shards_) all += shard.counts[static_cast<std::uint32_t>(what)];
    return all;
  }

 private:
  static constexpr std::uint32_t reports = 4;  // as many as any store of the tests makes
  struct alignas(32) quad {
    std::uint64_t words[4] = {};
  };
  struct alignas(64) chunk {
    std::byte bytes[64] = {};
  };

  cache::directory_shape shape_;
  std::vector<quad> words_;
  std::vector<std::uint64_t> details_;
  std::vector<chunk> frames_;
  std::vector<cache::counter_shard> shards_;
  std::uint32_t abort_ = 0;
  std::uint32_t page_shift_;
  std::uint64_t patience_ns_;
  cache::tier_shape tier_shape_;
  std::vector<std::uint64_t> tier_words_;
  std::vector<chunk> tier_pages_;
  cache::tier_ref tier_;
};

}  // namespace sluice::testing
