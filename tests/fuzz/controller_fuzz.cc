// Feeds arbitrary bytes to a software controller as submission entries: whatever a host sends, it answers or
// drops, and lives. Each entry comes after a byte: bit 0, to the admin queue; bit 1, with a doorbell value no
// ring has. Build with clang++ -fsanitize=fuzzer for libFuzzer; tests/controller/fuzz_test.cc runs it over
// seeded input.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "controller/controller.h"
#include "controller/memory_media.h"
#include "controller/software_port.h"
#include "sluice/nvme/admin.h"
#include "tests/support/raw_admin.h"
#include "tests/support/ring_pair.h"

namespace {

using namespace sluice;

constexpr std::uint16_t queue = 1;
constexpr std::uint32_t depth = 16;
constexpr auto patience = std::chrono::milliseconds(2);

/// An enabled controller with one I/O queue. Memory for rings and data is the raw driver's 64 KiB behind its
/// own rings.
struct bench {
  bench()
      : port(std::make_unique<controller::controller>(
            std::make_unique<controller::memory_media>(1 << 20, true),
            controller::controller_options{.max_queues = 4, .max_depth = 64, .max_transfer = 64 << 10})),
        raw(port) {
    raw.enable();
    raw.run(nvme::create_completion_queue(queue, depth, raw.data()));
    raw.run(nvme::create_submission_queue(queue, depth, raw.data() + submissions_at, queue));
  }

  controller::software_port port;
  test::raw_admin raw;
  test::ring_pair io{reinterpret_cast<nvme::submission_entry*>(raw.data_bytes() + submissions_at),
                     reinterpret_cast<nvme::completion_entry*>(raw.data_bytes()), depth,
                     port.doorbell(nvme::submission_doorbell(queue)),
                     port.doorbell(nvme::completion_doorbell(queue))};

 private:
  static constexpr std::size_t submissions_at = 4096;
};

/// Submits, once the ring has room: a host that writes over entries not yet fetched races with whoever
/// fetches them, and no controller can help it. A ring that stays full, for its queue is deleted or its
/// commands are never answered, gets no more.
void submit(test::ring_pair& to, const nvme::submission_entry& entry) {
  while (to.poll()) to.free_entries();
  if (!to.has_room()) to.await_within(patience);
  if (to.has_room()) to.submit(entry);
}

/// Arbitrary addresses are almost never mapped; half of them are led into memory that is.
void aim(nvme::submission_entry& entry, bus_address at) {
  constexpr std::uint64_t inside =
      0xe000;  // past the rings, and short of the end so that some transfers run out of it
  if ((entry.prp1 & 1U) == 0) entry.prp1 = at.value + 8192 + (entry.prp1 % inside & ~std::uint64_t{3});
  if ((entry.prp2 & 1U) == 0) entry.prp2 = at.value + 8192 + (entry.prp2 % inside & ~std::uint64_t{7});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  bench b;
  for (; size > sizeof(nvme::submission_entry); size -= 1 + sizeof(nvme::submission_entry)) {
    const std::uint8_t how = *bytes;
    nvme::submission_entry entry;
    std::memcpy(&entry, bytes + 1, sizeof entry);
    bytes += 1 + sizeof entry;
    aim(entry, b.raw.data());
    if ((how & 2U) != 0) lane::ring(b.port.doorbell(nvme::completion_doorbell(queue)), depth + how);
    if ((how & 1U) == 0) {
      submit(b.io, entry);
      continue;
    }
    submit(b.raw.queue(), entry);
    b.raw.await_within(patience);
  }
  return 0;
}
