// A walk over all that a volume keeps: which copies are good, and good copies written over those that are
// not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sluice/base/types.h"
#include "sluice/drive/volume.h"

namespace sluice::drive {

enum class scrub_fault : std::uint8_t {
  bad,         ///< its bytes do not match their sum
  unreadable,  ///< the drive did not give them
  differing,   ///< no sum tells, and they are not those of the first live replica
  record,      ///< a copy of the seal's record: of its first block
};
const char* to_string(scrub_fault what);

/// One copy of a page that is not as it should be.
struct scrub_finding {
  std::string dataset;
  std::uint64_t page = 0;  ///< counted from the dataset's start, in units of its seal
  scrub_fault what = scrub_fault::bad;
  std::string drive;
  lba first;
  bool mended = false;
};

/// Copies of pages.
struct scrub_counts {
  std::uint64_t good = 0;
  std::uint64_t bad = 0;
  std::uint64_t unsealed = 0;  ///< readable, and no sum covers them
  std::uint64_t unreadable = 0;
  std::uint64_t differing = 0;  ///< of the unsealed ones
  std::uint64_t mended = 0;     ///< of the bad, unreadable and differing ones

  std::uint64_t left() const { return bad + unreadable + differing - mended; }
  scrub_counts& operator+=(const scrub_counts& other);
};

enum class seal_standing : std::uint8_t {
  none,    ///< never sealed
  counts,  ///< covers what was not written since
  broken,  ///< a program ended while it was open to write
  lost,    ///< no copy of its record is whole
};
const char* to_string(seal_standing how);

struct dataset_scrub {
  std::string name;
  seal_standing standing = seal_standing::none;
  std::uint32_t page_bytes = 0;
  scrub_counts counts;
};

struct scrub_options {
  bool repair = true;  ///< needs a volume that is open to write
  std::size_t most_findings = 100;
  std::function<void(std::uint64_t)> step{};  ///< follows each so many bytes; what it throws ends the walk
};

struct scrub_report {
  std::vector<dataset_scrub> datasets;
  std::vector<scrub_finding> findings;  ///< the first ones
  std::uint64_t findings_left_off = 0;
  std::uint64_t records_left = 0;       ///< copies of records that are still not whole
  std::vector<std::string> readmitted;  ///< replicas that have all bytes again
  std::vector<std::string> left_out;    ///< and those that are still not read

  scrub_counts counts() const;
  bool all_good() const { return counts().left() == 0 && records_left == 0 && left_out.empty(); }
};

/// Bytes that a scrub counts in its steps.
std::uint64_t scrub_bytes(const volume& of, bool repair);

/// Looks at every page of every complete dataset on every live replica. Repairs from another copy that is
/// known to be good; where no sum tells, from the first live replica. Replicas that missed a write are filled
/// from the others and read again. Takes a few MiB of memory, and a bit a page.
/// Errors: io_failure where a repair cannot be made to last; read failures are findings.
scrub_report scrub(volume& on, const scrub_options& options);

}  // namespace sluice::drive
