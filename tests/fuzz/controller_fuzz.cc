// Feeds arbitrary bytes to a software controller as submission entries: whatever a host sends, it answers or
// drops, and lives. Build with clang++ -fsanitize=fuzzer for libFuzzer; tests/controller/fuzz_test.cc runs it
// over seeded input.
#include <algorithm>
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

namespace {

using namespace sluice;

constexpr std::uint16_t queue = 1;
constexpr std::uint32_t depth = 16;

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
    raw.run(nvme::create_submission_queue(queue, depth, raw.data() + 4096, queue));
  }

  void feed_io(const nvme::submission_entry& entry) {
    std::memcpy(raw.data_bytes() + 4096 + tail * sizeof entry, &entry, sizeof entry);
    tail = (tail + 1) % depth;
    lane::ring(port.doorbell(nvme::submission_doorbell(queue)), tail);
    lane::ring(port.doorbell(nvme::completion_doorbell(queue)), tail == 0 ? depth - 1 : tail - 1);
  }

  controller::software_port port;
  test::raw_admin raw;
  std::uint32_t tail = 0;
};

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
    const bool admin = (*bytes & 1U) != 0;
    nvme::submission_entry entry;
    std::memcpy(&entry, bytes + 1, sizeof entry);
    bytes += 1 + sizeof entry;
    aim(entry, b.raw.data());
    if (!admin) {
      b.feed_io(entry);
      continue;
    }
    b.raw.submit(entry);
    b.raw.await_within(std::chrono::milliseconds(2));
  }
  return 0;
}
