// File transfers through io_uring: one ring a thread, submitted and reaped in batches.
#pragma once

#include <memory>

#include "controller/file_request.h"
#include "controller/media.h"

namespace sluice::controller {

/// Null where the machine refuses io_uring.
std::unique_ptr<media_channel> open_uring_channel(const file_target& target, unsigned depth);

}  // namespace sluice::controller
