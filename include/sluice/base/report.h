// Where something that finishes later says so: a word that gets a delta, and a word beside it that gets the
// full status.
#pragma once

#include <cstdint>

namespace sluice {

/// Filled by whoever starts a transfer; used once by whoever finds it finished. The words lie in a frame's
/// bookkeeping or in the caller's memory (device memory on a GPU), never in the queue, and outlive the
/// transfer. Order: the status is stored relaxed into `detail`, then the delta is added to `word` with
/// release; who sees the word changed with acquire sees the status, and the bytes that the transfer brought.
struct report_to {
  std::uint64_t* word = nullptr;
  std::uint64_t* detail =
      nullptr;                 ///< gets status::bits(); until then a hint for poll() where the transfer waits
  std::uint64_t on_ok = 0;     ///< added to `word` on success
  std::uint64_t on_error = 0;  ///< added to `word` on any other status
};

}  // namespace sluice
