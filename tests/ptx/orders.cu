// One kernel a memory order that the protocols stand on: what nvcc makes of each is compared with
// orders.expect.
#include <cstdint>

#include "sluice/lane/atomic.h"
#include "sluice/lane/doorbell.h"
#include "sluice/lane/frame_copy.h"
#include "sluice/lane/team.h"

using namespace sluice::lane;

extern "C" {

__global__ void mark(std::uint64_t* word) { on_device(*word).store(1, release); }
__global__ void turn_wait(std::uint64_t* word, std::uint64_t* out) { *out = on_device(*word).load(acquire); }
__global__ void pending(std::uint64_t* word, std::uint64_t* out) {
  *out = on_device(*word).fetch_add(1, acq_rel);
}
__global__ void report(std::uint64_t* word) { on_device(*word).fetch_add(1, release); }
__global__ void claim(std::uint64_t* word, std::uint64_t* out) {
  std::uint64_t expected = *out;
  if (on_device(*word).compare_exchange(expected, 3, acquire)) *out = 1;
}
__global__ void phase(std::uint32_t* word, std::uint32_t* out) { *out = on_system(*word).load(acquire); }
__global__ void bell(doorbell where) { ring(where, 1); }
__global__ void read_data(std::uint32_t* word, std::uint32_t* out) { *out = on_device(*word).load(acquire); }
__global__ void refill(std::byte* frame, const std::byte* from) {
  copy_into_frame(warp_team::whole(), frame, from, 4096);
}
}
