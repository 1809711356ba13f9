// The comparator zero-copy: lanes load blocks from pinned host memory themselves, as the BaM paper's Target
// has them.
#include "tools/sluice/comparators/block_lanes.h"
#include "tools/sluice/comparators/comparator.h"
#include "tools/sluice/comparators/source.h"
#include "tools/sluice/process_time.h"

namespace sluice::tool {

comparison_result run_zero_copy(const comparison& what) {
  comparison_result result;
  block_lanes lanes(what);
  const std::byte* const span = what.source.bytes().lanes();
  lanes.read(span, block_pass::every_byte(what));  // also warms the link's translations up
  add_tally(result, lanes.take_tally(), false);
  const double cpu_before = process_seconds();
  result.seconds = lanes.read(span, {.seconds = what.seconds});
  result.cpu_seconds = process_seconds() - cpu_before;
  add_tally(result, lanes.take_tally(), true);
  return result;
}

}  // namespace sluice::tool
