// Time as a polling thread needs it: a clock, a pause, and sleeps that end when they should.
#pragma once

#include <cstdint>

namespace sluice::controller {

/// A short wait inside a spin.
inline void relax() { __builtin_ia32_pause(); }
/// Lets this thread's sleeps end on time: without it the kernel may add 50 µs.
void set_fine_timers();
std::uint64_t now_ns();

}  // namespace sluice::controller
