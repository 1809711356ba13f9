// How long one command alone takes a drive: from the store to its doorbell to the phase bit of its answer,
// with nothing of Sluice's queues between.
#pragma once

#include "sluice/drive/drive.h"
#include "sluice/lane/launch.h"

namespace sluice::tool {

/// Mean, µs, of reads of `block_bytes` at the drive's front, one lane with one command at a time, for some
/// milliseconds. 0 where the drive does not answer one of them well. Throws what create_queue() throws.
double lone_latency_us(lane::machine& on, drive::drive& of, std::uint32_t block_bytes);

}  // namespace sluice::tool
