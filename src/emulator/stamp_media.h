// Writes stamps over a drive's media.
#pragma once

#include "sluice/lane/launch.h"
#include "sluice/memory/buffer.h"

namespace sluice::emulator {

/// By lanes of `on`, at the speed of the memory; by the calling thread where it is null. Between launches
/// only.
void stamp_media(lane::machine* on, const memory::region& media);

}  // namespace sluice::emulator
