// NVIDIA's cuFile as it is found at run time: the part of its ABI that the comparator cufile calls.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace sluice::tool {

/// libcufile.so.0, loaded and its driver open, once and for good: it has threads of its own. Names of the ABI
/// as in NVIDIA's cuFile API reference.
class cufile_library {
 public:
  /// Throws error{unavailable} where there is none, or where it does not open.
  static const cufile_library& get();
  cufile_library(const cufile_library&) = delete;
  cufile_library& operator=(const cufile_library&) = delete;

  using handle = void*;  ///< CUfileHandle_t
  /// Throws error{unavailable} for a file that cuFile does not take.
  handle take(int fd) const;
  void give_back(handle file) const;
  /// Bytes that came, or a negative number.
  ssize_t read(handle file, std::byte* to_device, std::size_t bytes, off_t from) const {
    return read_(file, to_device, bytes, from, 0);
  }
  /// How bytes reach the GPU: "nvidia-fs", "p2pdma", or "compatibility": through host memory, by reads of the
  /// CPU.
  const std::string& mode() const { return mode_; }

 private:
  struct failure {  // CUfileError_t
    int code;
    int cuda;
  };
  struct description {  // CUfileDescr_t
    int type;
    union {
      int fd;
      void* handle;
    } file;
    const void* operations;
  };
  struct properties {  // CUfileDrvProps_t: its beginning, and room for what follows in any version
    unsigned nvfs_major, nvfs_minor;
    std::size_t poll_threshold, most_direct;
    unsigned status, control;
    std::byte rest[256];
  };

  cufile_library();
  template <class Call>
  void find(Call& call, const char* name) const;
  std::string learn_mode() const;

  void* library_;
  failure (*open_)() = nullptr;
  failure (*register_)(handle*, description*) = nullptr;
  void (*deregister_)(handle) = nullptr;
  ssize_t (*read_)(handle, void*, std::size_t, off_t, off_t) = nullptr;
  failure (*properties_)(properties*) = nullptr;
  std::string mode_;
};

}  // namespace sluice::tool
