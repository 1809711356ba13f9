// Planted faults: a name for each memory order and protocol step, so that tests can break one and must
// notice.
#pragma once

#include <cstring>

#include "sluice/lane/atomic.h"
#include "sluice/lane/hd.h"

namespace sluice::lane {

#if defined(SLUICE_MUTANTS)
namespace detail {
inline const char* fault_in_force = nullptr;
}

/// Puts one fault in force in this process, or none with an empty name. `fault` must outlive the plan: a
/// literal does. For mutant tests, between runs.
inline void plant(const char* fault) { detail::fault_in_force = *fault == '\0' ? nullptr : fault; }

/// True while that fault is in force. On a GPU, and in builds without SLUICE_MUTANTS, none ever is.
SLUICE_HD inline bool planted([[maybe_unused]] const char* fault) {
#if SLUICE_ON_GPU
  return false;
#else
  return detail::fault_in_force != nullptr && std::strcmp(detail::fault_in_force, fault) == 0;
#endif
}
#else
SLUICE_HD constexpr bool planted(const char*) { return false; }
#endif

/// `strong`, unless the fault `name` is planted: then relaxed.
SLUICE_HD SLUICE_INLINE order order_of(const char* name, order strong) {
  return planted(name) ? relaxed : strong;
}

}  // namespace sluice::lane
