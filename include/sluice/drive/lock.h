// Holds a file or device so that nobody writes under a reader, and nobody reads or writes under a writer.
#pragma once

#include <string>

#include "sluice/drive/open.h"

namespace sluice::drive {

/// An advisory lock on a file or device node, shared to read and exclusive to write, held until destroyed. It
/// binds every other drive_lock, in this process and in others; a process that dies lets go.
class drive_lock {
 public:
  drive_lock() = default;
  /// Takes the lock on the existing `path`, for the drive named `uri`. Create, then lock, then change a file.
  /// Waits:  at most 200 ms, for those who look at a device for a moment, as udev does.
  /// Errors: in_use naming the holder's process where it is known; bad_input where there is no such file;
  ///         unavailable where this user may not open it.
  drive_lock(const std::string& path, access mode, const std::string& uri);
  drive_lock(drive_lock&& other) noexcept;
  drive_lock& operator=(drive_lock&& other) noexcept;
  ~drive_lock();

  bool held() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace sluice::drive
