// A cache over a volume of strict model drives, explored: what every schedule of a page's commands must
// satisfy.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sluice/array/volume_store.h"
#include "sluice/base/bits.h"
#include "sluice/base/crc32c.h"
#include "sluice/cache/cache_ref.h"
#include "sluice/cache/element.h"
#include "sluice/cache/page_cache.h"
#include "sluice/lane/explore.h"
#include "sluice/lane/identity.h"
#include "tests/support/fake_drive.h"
#include "tests/support/model_drive.h"

namespace sluice::testing {

using cache::outcome;
using lane::explore::fail;

struct store_scenario {
  const char* name = "";
  std::vector<tests::model_drive_options> drives = {};
  drive::layout how = drive::layout::mirror;
  std::uint32_t commands = 1;  ///< a page takes, on each replica
  std::uint32_t warps = 1;
  std::uint32_t lanes = 1;
  void (*body)(class store_world&) = nullptr;
  bool sealed = false;                 ///< as the drives are at first; pages are checked
  std::set<std::uint64_t> lost = {0};  ///< replicas that may have been left out in the end
};

class store_world {
 public:
  static constexpr std::uint32_t command_bytes =
      512;  // the model drive stamps the first words of each command
  static constexpr std::uint64_t pages = 4;

  explicit store_world(const store_scenario& what)
      : what_(what), volume_(drive::volume::raw(shelf(what.drives.size()), what.how)) {
    std::vector<drive::drive*> in_order;
    for (tests::model_drive_options options : what.drives) {
      options.max_transfer = command_bytes;
      options.marks_blocks = false;
      options.into_frames = true;
      if (what.sealed) options.sees_write = [this](std::uint64_t block) { need_noted(block); };
      drives_.push_back(std::make_unique<tests::model_drive>(options));
      drives_.back()->allowed_repeats = ~std::uint64_t{0};
      in_order.push_back(drives_.back().get());
    }
    store_ =
        std::make_unique<volume_store>(volume_, in_order, backend::cpu, 0, pages * page_bytes(),
                                       store_options{.page_bytes = page_bytes(), .queues = 2, .depth = 8});
    memory_ = std::make_unique<cache::page_cache>(backend::cpu,
                                                  cache::cache_options{.bytes = 2 * page_bytes(),
                                                                       .page_bytes = page_bytes(),
                                                                       .reports = store_->ref().reports(true),
                                                                       .patience_ms = 400},
                                                  pages);
    store_->attach_frames(memory_->frame_memory());
    if (what.sealed) seal();
    cache = memory_->ref(store_->ref());
  }

  /// Reads the page's first word of each command.
  void read(std::uint64_t page) {
    for (std::uint32_t offset = 0; offset < page_bytes(); offset += command_bytes) {
      const auto got = cache.read<std::uint64_t>({page}, offset);
      if (!got.is_ok()) fail("a read failed: status " + std::to_string(got.code.bits()));
      if (got.value != stamp(page, offset)) fail("another command's bytes");
    }
  }
  /// Makes the page dirty, with the bytes that it has: the drives know them.
  void write(std::uint64_t page) {
    for (std::uint32_t offset = 0; offset < page_bytes(); offset += command_bytes)
      if (!cache.write<std::uint64_t>({page}, offset, stamp(page, offset)).is_ok()) fail("a write failed");
  }
  /// The second word of each block, which writes may change: by one bit, always the same.
  outcome<std::uint64_t> read_second(std::uint64_t page) {
    return cache.read<std::uint64_t>({page}, second_at);
  }
  void need_second(std::uint64_t page, bool changed) {
    const auto got = read_second(page);
    if (!got.is_ok()) fail("a good page was refused: status " + std::to_string(got.code.bits()));
    if (got.value != (stamp(page, 0) ^ 1) && (changed || got.value != stamp(page, 0)))
      fail("another page's bytes, or a lost write");
  }
  void change_second(std::uint64_t page) {
    if (!cache.write<std::uint64_t>({page}, second_at, stamp(page, 0) ^ 1).is_ok()) fail("a write failed");
  }
  status write_back() { return cache.write_back(lane::solo(), {0}, {pages}, 0, 2).code; }
  status flush() { return cache.flush(lane::solo(), {0}, {pages}).code; }

  /// What went wrong under that schedule, or nothing.
  std::string run(lane::explore::policy how, std::uint64_t seed) {
    std::uint32_t running = what_.warps * what_.lanes;
    const auto finished = [&running] { return lane::on_device(running).load(lane::acquire) == 0; };
    std::vector<std::function<void()>> serving;
    for (const auto& each : drives_) serving.emplace_back([&each, finished] { each->serve(finished); });
    const auto result = lane::explore::run(
        {.how = how, .seed = seed, .expected_steps = 400, .warps = what_.warps, .lanes = what_.lanes},
        [&] {
          what_.body(*this);
          lane::on_device(running).fetch_sub(1, lane::acq_rel);
        },
        serving);
    if (!result.ok) return result.why;
    return what_.lost.contains(store_->lost_replicas()) ? "" : "the wrong replicas were left out";
  }

 private:
  static drive::block_drives shelf(std::size_t count) {
    drive::block_drives made;
    for (std::size_t i = 0; i < count; ++i)
      made.push_back(std::make_shared<test::fake_drive>("fake:" + std::to_string(i), MiB));
    return made;
  }
  /// A sum of each block as a drive gives it that spoils none.
  void seal() {
    const std::uint64_t blocks = pages * page_bytes() / command_bytes;
    for (std::uint64_t block = 0; block < blocks; ++block) {
      std::uint64_t words[command_bytes / 8] = {tests::stamp_of(block), tests::stamp_of(block)};
      sums_.push_back(crc32c(std::as_bytes(std::span(words))));
    }
    written_.resize(divide_up(blocks, 32));
    table_.lookup = lane::make_crc32c_lookup();
    table_.extents = 1;
    table_.extent[0] = {0, blocks, log2_exact(command_bytes), sums_.data(), written_.data()};
    store_->attach_seals({&table_, true});
  }

  /// Whoever reads a block may find what is being written there, from the moment at which the drive knows of
  /// it.
  void need_noted(std::uint64_t block) {
    const std::uint32_t word = std::atomic_ref(written_[block / 32]).load(std::memory_order_relaxed);
    if (((word >> (block % 32)) & 1) == 0) fail("a write is under way that was not noted");
  }

  static constexpr std::uint32_t second_at = 8;
  std::uint32_t page_bytes() const { return what_.commands * command_bytes; }
  std::uint64_t stamp(std::uint64_t page, std::uint32_t offset) const {
    return tests::stamp_of((page * page_bytes() + offset) / 512);
  }

  const store_scenario& what_;
  drive::volume volume_;
  std::vector<std::unique_ptr<tests::model_drive>> drives_;
  std::vector<std::uint32_t> sums_, written_;
  seal_table table_{};
  std::unique_ptr<volume_store> store_;  // before the frames in destruction order
  std::unique_ptr<cache::page_cache> memory_;

 public:
  cache::cache_ref<volume_store_ref> cache;
};

inline void reads_all(store_world& w) {
  for (std::uint64_t page = 0; page < store_world::pages; ++page) w.read(page);
}

inline void writes_all(store_world& w) {
  for (std::uint64_t page = 0; page < store_world::pages; ++page) w.write(page);
  if (!w.write_back().is_ok()) fail("a page was not written back");
}

/// Evicts what it wrote, in a cache of two frames, and reads it again.
inline void writes_and_reads(store_world& w) {
  for (std::uint64_t k = 0; k < 6; ++k) {
    const std::uint64_t page = mix(lane::grid_index() * 31 + k) % store_world::pages;
    if (k % 2 == 0) {
      w.write(page);
    } else {
      w.read(page);
    }
  }
}

inline void writes_and_flushes(store_world& w) {
  w.write(0);
  w.write(1);
  if (!w.flush().is_ok()) fail("a flush failed though a replica took everything");
  w.read(2);
  w.read(3);
  w.read(0);
}

/// No replica takes it: then the access is told, and no replica is to blame.
inline void writes_in_vain(store_world& w) {
  w.write(0);
  if (w.write_back() != status::from_nvme(0x4280)) fail("a write that no replica took was not told as it is");
  w.read(0);
}

/// Each page fails on another replica, and both are written at once: one replica is left out for one page's
/// sake, and then there is none without it that has the other.
inline void write_what_each_fails(store_world& w) {
  const auto team = lane::warp_team::whole();
  w.write(lane::lane_index());
  const status code = w.cache.write_back(team, {0}, {store_world::pages}, 0, 2).code;
  if (code != status::from_nvme(0x4280)) fail("the last replica's failure was not told");
  w.read(0);
  w.read(1);
}

inline void reads_second_words(store_world& w) {
  for (std::uint64_t k = 0; k < 6; ++k) w.need_second((lane::grid_index() + k) % store_world::pages, false);
}

/// Page 1 is spoiled on every drive: whoever asks for it is told, every time, and gets no byte of it.
inline void is_told_of_the_bad_page(store_world& w) {
  for (std::uint64_t k = 0; k < 6; ++k) {
    const std::uint64_t page = (lane::grid_index() + k) % store_world::pages;
    if (page != 1)
      w.need_second(page, false);
    else if (w.read_second(page).code != status::bad_checksum)
      fail("a bad page passed");
  }
}

/// Pages are loaded by nobody who stays: those that come for them, or for their frames, have to check them.
inline void prefetches_and_reads(store_world& w) {
  for (std::uint64_t k = 0; k < 4; ++k) {
    const std::uint64_t page = mix(lane::grid_index() * 31 + k) % store_world::pages;
    const auto token = w.cache.prefetch(lane::solo(), {page});
    if (k % 2 == 0 && !w.cache.wait(lane::solo(), token).is_ok()) fail("a prefetched page never came");
    w.need_second((page + k) % store_world::pages, false);
  }
}

/// Evicts what it changed, in a cache of two frames, and reads it again.
inline void changes_and_reads(store_world& w) {
  for (std::uint64_t k = 0; k < 6; ++k) {
    const std::uint64_t page = mix(lane::grid_index() * 31 + k) % store_world::pages;
    if (k % 3 == 0) {
      w.change_second(page);
      w.need_second(page, true);
    } else {
      w.need_second(page, false);
    }
  }
}

/// Overwriting spans: their frames say loading too, and nobody may take them for pages to be checked.
inline void overwrites_and_reads(store_world& w) {
  for (std::uint64_t k = 0; k < 3; ++k) {
    const std::uint64_t page = (lane::grid_index() + k) % store_world::pages;
    const auto held = w.cache.hold(lane::solo(), {page}, cache::span_kind::overwrite);
    if (held.is_ok()) {
      for (std::uint32_t at = 0; at < w.cache.page_bytes(); at += 8) {
        const std::uint64_t block = (page * w.cache.page_bytes() + at) / 512;
        cache::store_element<std::uint64_t>(w.cache.bytes(held) + at,
                                            at % 512 < 16 ? tests::stamp_of(block) ^ (at == 8 ? 1 : 0) : 0);
      }
      w.cache.release(lane::solo(), held);
    }
    w.need_second((page + 1) % store_world::pages, false);
  }
}

inline const std::vector<store_scenario>& store_scenarios() {
  static const status fault = status::from_nvme(0x4280);      // Write Fault, Do Not Retry
  static const status read_error = status::from_nvme(0x281);  // Unrecovered Read Error
  static const std::vector<store_scenario> list = {
      {.name = "a_lane_alone_reads_pages_of_several_commands",
       .drives = {{}},
       .how = drive::layout::stripe,
       .commands = 4,
       .body = reads_all},
      {.name = "a_lane_alone_reads_staged_pages",
       .drives = {{.frames_reachable = false}},
       .how = drive::layout::stripe,
       .commands = 4,
       .body = reads_all},
      {.name = "a_lane_alone_writes_all_replicas", .drives = {{}, {}, {}}, .commands = 2, .body = writes_all},
      {.name = "reads_go_to_the_replica_that_answers",
       .drives = {{.answer = read_error}, {.answer = fault}, {}},
       .warps = 2,
       .lanes = 2,
       .body = reads_all},
      {.name = "a_replica_that_fails_writes_is_not_read_again",
       .drives = {{}, {.writes = fault}},
       .commands = 2,
       .warps = 2,
       .lanes = 2,
       .body = writes_and_reads,
       .lost = {2}},
      {.name = "replicas_that_fail_now_and_then_are_left_out_in_the_end",
       .drives = {{.writes = status::from_nvme(0x280)}, {}, {.writes = fault}},
       .lanes = 2,
       .body = writes_and_flushes,
       .lost = {5}},
      {.name = "the_last_replica_is_never_left_out",
       .drives = {{.writes = fault}, {.writes = fault}},
       .body = writes_in_vain},
      {.name = "a_replica_is_not_left_out_after_the_only_other",
       .drives = {{.writes = fault, .writes_of = {0}}, {.writes = fault, .writes_of = {1}}},
       .lanes = 2,
       .body = write_what_each_fails,
       .lost = {1, 2}},
      {.name = "sealed_pages_are_read_by_many",
       .drives = {{}},
       .how = drive::layout::stripe,
       .commands = 2,
       .warps = 2,
       .lanes = 3,
       .body = reads_second_words,
       .sealed = true},
      {.name = "a_bad_page_is_told_of_and_never_read",
       .drives = {{.spoiled = {1}}},
       .how = drive::layout::stripe,
       .warps = 2,
       .lanes = 2,
       .body = is_told_of_the_bad_page,
       .sealed = true},
      {.name = "another_replica_serves_where_one_is_bad",
       .drives = {{.spoiled = {0, 3}}, {.spoiled = {1, 2}}},
       .warps = 2,
       .lanes = 2,
       .body = reads_second_words,
       .sealed = true},
      {.name = "whoever_waits_checks_what_its_loader_left",
       .drives = {{}},
       .how = drive::layout::stripe,
       .warps = 2,
       .lanes = 2,
       .body = prefetches_and_reads,
       .sealed = true},
      {.name = "pages_written_since_the_seal_are_not_taken_for_bad",
       .drives = {{}},
       .how = drive::layout::stripe,
       .warps = 2,
       .lanes = 2,
       .body = changes_and_reads,
       .sealed = true},
      {.name = "overwritten_frames_are_not_checked",
       .drives = {{}},
       .how = drive::layout::stripe,
       .warps = 2,
       .lanes = 2,
       .body = overwrites_and_reads,
       .sealed = true},
      {.name = "no_replica_is_to_blame_where_all_fail",
       .drives = {{.writes = fault}, {.writes = status::from_nvme(0x280)}},
       .body = writes_in_vain},
  };
  return list;
}

}  // namespace sluice::testing
