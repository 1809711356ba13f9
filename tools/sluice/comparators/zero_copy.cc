// The comparator zero-copy: lanes load blocks from pinned host memory themselves, as the BaM paper's Target
// has them.
#include "tools/sluice/comparators/block_lanes.h"
#include "tools/sluice/comparators/comparator.h"
#include "tools/sluice/comparators/source.h"

namespace sluice::tool {

comparison_result run_zero_copy(const comparison& what) {
  block_lanes lanes(what);
  return two_passes(what, lanes,
                    [&](const block_pass& pass) { return lanes.read(what.source.bytes().lanes(), pass); });
}

}  // namespace sluice::tool
