// Where a namespace's bytes live: memory, a file, a block device. The controller asks for transfers; a
// channel does them.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "controller/region_table.h"

namespace sluice::controller {

struct free_bytes {
  void operator()(std::byte* p) const { std::free(p); }
};
using aligned_bytes = std::unique_ptr<std::byte, free_bytes>;

/// Memory that any medium takes without a bounce.
inline aligned_bytes allocate_aligned(std::size_t bytes) {
  constexpr std::size_t unit = 4096;
  return aligned_bytes(static_cast<std::byte*>(std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit)));
}

enum class media_op : std::uint8_t { read, write, flush, zero, discard };

/// One transfer. The asker fills the first part and keeps it in place until it is done; the channel uses the
/// rest.
struct media_request {
  media_op op = media_op::read;
  bool through = false;  ///< a write that must last when done (FUA)
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::vector<iovec> pieces;  ///< of read and write; together `bytes` long. The channel may change them.
  void* owner = nullptr;      ///< the asker's own
  int error = 0;              ///< 0, or an errno; EOPNOTSUPP where the medium lacks zero or discard

  std::uint64_t moved = 0;
  std::size_t next_piece = 0;
  aligned_bytes bounce;
  std::vector<iovec> bounced;  ///< the asker's pieces, while `pieces` names the bounce
};

/// One thread's way to the medium.
class media_channel {
 public:
  virtual ~media_channel() = default;
  /// Starts a transfer; true where it is done already, else reap() hands it back.
  virtual bool start(media_request& request) = 0;
  /// Appends finished transfers to `done`; waits up to `wait_ns` for the first where some are under way, or
  /// until bell() is written.
  virtual void reap(std::vector<media_request*>& done, std::uint64_t wait_ns) { (void)done, (void)wait_ns; }
  /// Says which memory transfers may name from now on. Call while none is under way.
  virtual void know(const std::vector<region_table::mapping>& regions) { (void)regions; }
  /// An eventfd that ends the waits of reap(); -1 where nothing does.
  virtual int bell() const { return -1; }
  virtual std::size_t in_flight() const { return 0; }
  /// Transfers that may be started now.
  virtual std::size_t room() const { return SIZE_MAX; }
};

struct media_traits {
  std::string model;
  std::uint64_t bytes = 0;
  std::uint32_t block_size = 512;  ///< smallest that the medium serves well
  std::uint32_t granule = 1;       ///< unit of transfers, bytes
  bool forgets = false;
  bool writable = true;
  bool write_cache = false;  ///< writes last only after a flush
  bool discard_zeroes = false;
};

class media {
 public:
  virtual ~media() = default;
  virtual const media_traits& traits() const = 0;
  /// For one thread to use. `depth`: transfers it may have under way.
  virtual std::unique_ptr<media_channel> open_channel(unsigned depth) = 0;
  /// The bytes, where they are plain memory; null where media are not.
  virtual std::byte* in_memory() const { return nullptr; }
  /// Makes all finished writes last; false where that failed.
  virtual bool sync() { return true; }
};

}  // namespace sluice::controller
