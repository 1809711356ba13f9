#include "tests/fuzz/uri_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return sluice::fuzz::uri_text(data, size);
}
