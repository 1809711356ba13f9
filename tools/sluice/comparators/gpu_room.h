// What comparators ask of a GPU beyond what lanes need.
#pragma once

#include <cstdint>

namespace sluice::tool {

/// Bytes of the GPU's memory that nobody has; 0 where there is no GPU.
std::uint64_t free_gpu_bytes();

/// Makes the GPU the one of the calling thread, for libraries that look for it there.
void use_gpu();

}  // namespace sluice::tool
