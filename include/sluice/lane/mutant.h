// Planted faults: a name for each memory order and protocol step, so that tests can break one and must notice.
#pragma once

#include "sluice/lane/atomic.h"

namespace sluice::lane {

#if defined(SLUICE_MUTANTS) && !SLUICE_ON_GPU
/// The fault in force in this process, or an empty string. Set by the mutant tests only.
void plant(const char* fault);
bool planted(const char* fault);
#else
SLUICE_HD constexpr bool planted(const char*) { return false; }
#endif

/// `strong`, unless the fault `name` is planted: then relaxed.
SLUICE_HD SLUICE_INLINE order order_of([[maybe_unused]] const char* name, order strong) {
#if defined(SLUICE_MUTANTS) && !SLUICE_ON_GPU
  return planted(name) ? relaxed : strong;
#else
  return strong;
#endif
}

}  // namespace sluice::lane
