// A regular file or a block device as a medium, past the page cache where the file system allows it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "controller/media.h"

namespace sluice::controller {

/// How transfers reach the file.
enum class file_engine : std::uint8_t {
  best,     ///< io_uring; where the machine refuses it, threads, told once on standard error
  threads,  ///< a few threads with preadv and pwritev
};

struct file_options {
  bool writable = true;
  bool device = false;           ///< a block device: opened exclusively
  std::uint32_t block_size = 0;  ///< logical block that will be served; 0 for the medium's own
  file_engine engine = file_engine::best;
};

/// A file whose length is not a multiple of the block ends in a block padded with zeroes; writing that block
/// makes the file as long as the block.
class file_media final : public media {
 public:
  /// Errors: bad_input where there is no such file or device, in_use where a device is mounted or otherwise
  /// held.
  file_media(const std::string& path, const file_options& options);
  ~file_media() override;
  file_media(const file_media&) = delete;
  file_media& operator=(const file_media&) = delete;

  const media_traits& traits() const override { return traits_; }
  std::unique_ptr<media_channel> open_channel(unsigned depth) override;
  bool sync() override;

 private:
  media_traits traits_;
  file_engine engine_;
  int fd_ = -1;
};

}  // namespace sluice::controller
