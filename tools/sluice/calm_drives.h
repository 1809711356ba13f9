// Drives without the faults that they are asked for, so that those meet lanes and not what is around them.
#pragma once

#include <string>
#include <vector>

namespace sluice::tool {

/// The same drives without faults; as they are where they would have forgotten what was written when they are
/// opened again. Throws error{bad_input} where the faults of one make no sense.
std::vector<std::string> without_faults(std::vector<std::string> uris);

}  // namespace sluice::tool
