// Whether the host has memory for what comparators keep there.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::tool {

/// Throws error{unavailable} where the host has no memory left for so many bytes; `mend` says what to do.
void need_host_memory(std::uint64_t bytes, const std::string& mend);

}  // namespace sluice::tool
