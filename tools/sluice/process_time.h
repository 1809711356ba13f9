// What the program itself costs.
#pragma once

namespace sluice::tool {

/// Seconds that this process has used, on all threads.
double process_seconds();

}  // namespace sluice::tool
