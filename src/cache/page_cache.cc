#include "sluice/cache/page_cache.h"

#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <vector>

#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "sluice/lane/atomic.h"

namespace sluice::cache {
namespace {

constexpr std::uint32_t smallest_page = 512;
constexpr std::uint32_t largest_page = 64 * 1024;
constexpr std::uint32_t counter_shards = 64;

[[noreturn]] void refuse(const std::string& what, const std::string& mend) {
  throw error(error_kind::bad_input, what, mend);
}

const cache_options& checked(const cache_options& options) {
  if (!is_power_of_two(options.page_bytes) || options.page_bytes < smallest_page ||
      options.page_bytes > largest_page) {
    refuse("a page of " + std::to_string(options.page_bytes) + " bytes",
           "use a power of two from 512 B to 64 KiB");
  }
  if (options.bytes / options.page_bytes < 2) {
    refuse("a cache of " + format_bytes(static_cast<double>(options.bytes)) +
               " holds fewer than two pages of " + std::to_string(options.page_bytes) + " bytes",
           "make the cache larger or the page smaller");
  }
  if (options.reports == 0 || options.reports > frame_word::max_reports) {
    refuse("a page of " + std::to_string(options.page_bytes) + " bytes takes " +
               std::to_string(options.reports) + " commands, more than " +
               std::to_string(frame_word::max_reports),
           "use a smaller page or fewer replicas");
  }
  return options;
}

}  // namespace

page_cache::page_cache(backend on, const cache_options& options, std::uint64_t pages)
    : options_(checked(options)), shape_(shape_for(options.bytes / options.page_bytes)), pages_(pages) {
  if (pages > shape_.pages()) {
    refuse("a cache of " + std::to_string(shape_.frames()) + " frames cannot tell " + std::to_string(pages) +
               " pages apart (" + std::to_string(shape_.pages()) + " at most)",
           "make the cache or the page larger");
  }
  frames_ = memory::buffer(on, options.where, std::size_t{shape_.frames()} * options.page_bytes);
  words_ = memory::buffer(on, memory::place::device, std::size_t{shape_.words()} * sizeof(std::uint64_t));
  details_ = memory::buffer(on, memory::place::device,
                            std::size_t{shape_.frames()} * options_.reports * sizeof(std::uint64_t));
  shards_ = memory::buffer(on, memory::place::device, counter_shards * sizeof(counter_shard));
  abort_ = memory::buffer(on, memory::place::device, sizeof(std::uint32_t));
  if (options_.tier_bytes != 0) make_tier(on);
}

void page_cache::make_tier(backend on) {
  const std::uint64_t asked = options_.tier_bytes / options_.page_bytes;
  if (asked < shape_.sets() || asked >= no_slot) {
    refuse("a second tier of " + format_bytes(static_cast<double>(options_.tier_bytes)) +
               " beside a cache of " + std::to_string(shape_.frames()) + " frames",
           "give it " +
               format_bytes(static_cast<double>(std::uint64_t{shape_.sets()} * options_.page_bytes)) +
               " or more, for fewer than 2^32 pages");
  }
  tier_shape_ = tier_shape_for(asked, shape_.sets());
  const std::uint64_t slots = tier_pages();
  tier_pages_ = memory::buffer(on, memory::place::pinned, slots * options_.page_bytes);
  tier_words_ = memory::buffer(on, memory::place::device, slots * sizeof(std::uint64_t));
  tier_ = memory::buffer(on, memory::place::device, sizeof(tier_ref));
  const tier_ref tier(tier_shape_, options_.tier, log2_exact(options_.page_bytes),
                      tier_words_.lanes_as<std::uint64_t>(), tier_pages_.lanes());
  memory::copy_in(tier_.view(), 0, std::as_bytes(std::span(&tier, 1)));
}

cache_view page_cache::view() const {
  cache_view view;
  view.directory = directory_ref(shape_, words_.lanes_as<std::uint64_t>(), details_.lanes_as<std::uint64_t>(),
                                 options_.reports);
  view.frames = frames_.lanes();
  view.page_shift = log2_exact(options_.page_bytes);
  view.patience_ns = options_.patience_ms * 1'000'000;
  view.abort = abort_.lanes_as<std::uint32_t>();
  if (tier_pages() != 0) view.tier = tier_.lanes_as<tier_ref>();
  view.counters = {shards_.lanes_as<counter_shard>(), counter_shards - 1};
  return view;
}

void page_cache::check_store(std::uint32_t page_bytes, std::uint64_t pages, std::uint32_t reports,
                             std::uint32_t load_reports) const {
  if (page_bytes != options_.page_bytes || pages > pages_) {
    refuse("a cache of " + std::to_string(pages_) + " pages of " + std::to_string(options_.page_bytes) +
               " bytes over a store of " + std::to_string(pages) + " pages of " + std::to_string(page_bytes),
           "open both with the same page size");
  }
  if (reports > options_.reports) {
    refuse("a cache of " + std::to_string(options_.reports) + " reports a page over a store of " +
               std::to_string(reports),
           "open the cache for as many reports as its store makes");
  }
  if (load_reports > frame_word::max_reports)
    refuse("pages of " + std::to_string(page_bytes) + " bytes take too many commands to be checked too",
           "use a smaller page");
}

statistics page_cache::counted() const {
  std::span<counter_shard> shards = shards_.host_as<counter_shard>();
  std::vector<counter_shard> copies;
  if (shards_.host() == nullptr) {
    copies.resize(counter_shards);
    shards = copies;
    memory::copy_out(shards_.view(), 0, std::as_writable_bytes(shards));
  }
  std::uint64_t sums[counter_kinds] = {};
  for (counter_shard& shard : shards) {
    for (std::uint32_t k = 0; k < counter_kinds; ++k)
      sums[k] += lane::on_device(shard.counts[k]).load(lane::relaxed);  // lanes of a CPU may be counting
  }
  const auto sum = [&sums](counter what) { return sums[static_cast<std::uint32_t>(what)]; };
  return {.accesses = sum(counter::accesses),
          .misses = sum(counter::misses),
          .bytes_asked = sum(counter::bytes_asked),
          .loads = sum(counter::loads),
          .writes = sum(counter::writes),
          .evictions = sum(counter::evictions),
          .tier_loads = sum(counter::tier_loads),
          .tier_stores = sum(counter::tier_stores)};
}

void page_cache::stop_waits(bool stop) {
  const std::uint32_t word = stop ? 1 : 0;
  if (abort_.host() == nullptr)
    memory::copy_in(abort_.view(), 0, std::as_bytes(std::span(&word, 1)));
  else  // lanes of a CPU are looking at it
    lane::on_system(abort_.host_as<std::uint32_t>().front()).store(word, lane::relaxed);
}

}  // namespace sluice::cache
