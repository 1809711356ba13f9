#include "tests/fuzz/manifest_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return sluice::fuzz::manifest_bytes(data, size);
}
