// A volume as a source of pages: what lanes read through it, and that whoever waits for a page needs nobody
// else.
#include "sluice/array/volume_store.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sluice/cache/cache_ref.h"
#include "sluice/cache/page_cache.h"
#include "sluice/lane/explore.h"
#include "tests/support/fake_drive.h"
#include "tests/support/model_drive.h"
#include "tests/support/schedules.h"

namespace sluice {
namespace {

using lane::explore::fail;
using tests::model_drive;
using tests::model_drive_options;
using cache_type = cache::cache_ref<volume_store_ref>;

constexpr std::uint32_t command_bytes = 512;  // of the model drive, which stamps each command's first words

/// A cache over a raw volume of model drives.
struct world {
  world(const std::vector<model_drive_options>& options, drive::layout how, std::uint32_t commands)
      : volume(drive::volume::raw(shelf(options.size()), how)), page_bytes(commands * command_bytes) {
    for (model_drive_options one : options) {
      one.max_transfer = command_bytes;
      one.marks_blocks = false;
      one.breach = [](const std::string& why) { fail(why); };
      drives.push_back(std::make_unique<model_drive>(one));
      drives.back()->allowed_repeats = ~std::uint64_t{0};
    }
    std::vector<drive::drive*> in_order;
    for (const auto& each : drives) in_order.push_back(each.get());
    store = std::make_unique<volume_store>(volume, in_order, backend::cpu, 0, volume.bytes(),
                                           store_options{.page_bytes = page_bytes, .queues = 2, .depth = 8});
    memory = std::make_unique<cache::page_cache>(backend::cpu,
                                                 cache::cache_options{.bytes = 2 * page_bytes,
                                                                      .page_bytes = page_bytes,
                                                                      .reports = store->ref().reports(true),
                                                                      .patience_ms = 400},
                                                 store->ref().pages());
    store->attach_frames(memory->frame_memory());
    cache = memory->ref(store->ref());
  }

  /// Runs `body` as the only lane while the drives serve; what went wrong, or nothing.
  template <class Body>
  std::string run_alone(lane::explore::policy how, std::uint64_t seed, const Body& body) {
    std::uint32_t running = 1;
    const auto finished = [&running] { return lane::on_device(running).load(lane::acquire) == 0; };
    std::vector<std::function<void()>> served;
    for (const auto& each : drives) served.emplace_back([&each, finished] { each->serve(finished); });
    const auto result = lane::explore::run(
        {.how = how, .seed = seed, .expected_steps = 400, .lanes = 1},
        [&] {
          body(*this);
          lane::on_device(running).store(0, lane::release);
        },
        served);
    return result.why;
  }

  static drive::block_drives shelf(std::size_t count) {
    drive::block_drives made;
    for (std::size_t i = 0; i < count; ++i)
      made.push_back(std::make_shared<test::fake_drive>("fake:" + std::to_string(i), MiB));
    return made;
  }

  drive::volume volume;
  std::uint32_t page_bytes;
  std::vector<std::unique_ptr<model_drive>> drives;
  std::unique_ptr<volume_store> store;  // before the frames in destruction order
  std::unique_ptr<cache::page_cache> memory;
  cache_type cache;
};

/// Reads the page's first word of each command.
void expect_stamps(const world& w, std::uint64_t page) {
  for (std::uint32_t offset = 0; offset < w.page_bytes; offset += command_bytes) {
    const auto got = w.cache.read<std::uint64_t>({page}, offset);
    if (!got.is_ok()) fail("a read failed: status " + std::to_string(got.code.bits()));
    if (got.value != tests::stamp_of((page * w.page_bytes + offset) / 512)) fail("another command's bytes");
  }
}

/// Every schedule of one lane that runs `body` over such drives.
template <class Body>
void explore(const std::vector<model_drive_options>& drives, drive::layout how, std::uint32_t commands,
             const Body& body) {
  using lane::explore::policy;
  const std::uint64_t schedules = tests::schedules_each(20);
  for (const policy one : {policy::random, policy::one_in_eight, policy::pct}) {
    for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
      world w(drives, how, commands);
      ASSERT_EQ(w.run_alone(one, seed, body), "") << lane::explore::to_string(one) << " seed " << seed;
    }
  }
}

// The commands of a page once shared one hint, that of the last: a lane that waited alone for the page never
// looked at the others' slots.
TEST(volume_store, needs_only_the_waiting_lane_for_a_page_of_several_commands) {
  explore({{}}, drive::layout::stripe, 4, [](const world& w) {
    for (std::uint64_t page = 0; page < 6; ++page) expect_stamps(w, page);
  });
}

TEST(volume_store, needs_only_the_waiting_lane_for_staged_pages) {
  explore({{.frames_reachable = false}}, drive::layout::stripe, 4, [](const world& w) {
    for (std::uint64_t page = 0; page < 6; ++page) expect_stamps(w, page);
  });
}

TEST(volume_store, needs_only_the_waiting_lane_for_the_writes_of_all_replicas) {
  explore({{}, {}, {}}, drive::layout::mirror, 2, [](const world& w) {
    for (std::uint64_t page = 0; page < 4; ++page)
      for (std::uint32_t offset = 0; offset < w.page_bytes; offset += command_bytes)
        if (!w.cache
                 .write<std::uint64_t>({page}, offset, tests::stamp_of((page * w.page_bytes + offset) / 512))
                 .is_ok())
          fail("a write failed");
    if (!w.cache.write_back(lane::solo(), {0}, {4}, 0, 2).code.is_ok()) fail("a page was not written back");
  });
}

}  // namespace
}  // namespace sluice
