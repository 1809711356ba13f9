// What a fuzzer asks of manifests: any bytes are refused with an error of ours, or mean a volume that can be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "sluice/base/error.h"
#include "sluice/drive/manifest.h"

namespace sluice::fuzz {

inline int manifest_bytes(const std::uint8_t* data, std::size_t size) {
  try {
    const drive::stored_manifest found = drive::decode(std::as_bytes(std::span(data, size)));
    drive::check(found.content);
    const drive::stored_manifest again = drive::decode(drive::encode(found.content, found.sequence));
    if (!(again.content == found.content) || again.sequence != found.sequence) std::abort();
  } catch (const error&) {  // refused: what most bytes deserve
  }
  return 0;
}

}  // namespace sluice::fuzz
