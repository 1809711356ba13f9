// The part of a file transfer that is the same for io_uring and for threads: bounce buffers, short transfers,
// the file's end.
#pragma once

#include <cstdint>

#include "controller/media.h"

namespace sluice::controller {

struct file_target {
  int fd = -1;
  std::uint32_t granule = 1;  ///< what offsets, lengths and addresses must be multiples of
};

/// Before a read or write: pieces that are not aligned are exchanged for a bounce buffer.
void prepare_file_request(media_request& request, std::uint32_t granule);

/// After one system call that returned `result` (a count, or minus an errno). True where the request is done;
/// false where the rest of it must be asked for.
bool take_file_result(media_request& request, std::int64_t result, std::uint32_t granule);

/// Flags and mode of the system calls that perform `op`.
int fallocate_mode(media_op op);
int write_flags(const media_request& request);

}  // namespace sluice::controller
