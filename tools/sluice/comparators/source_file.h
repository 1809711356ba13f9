// Files that hold the bytes which a comparison moves: the drives' own, or one that is made for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sluice::tool {

/// Where some bytes lie: a descriptor that is open for reading, and an offset in its file.
struct file_place {
  int fd;
  std::uint64_t offset;
};

/// Owns descriptors only: a scratch file has no name, so that nothing is left of it however the program ends.
class source_file {
 public:
  /// A name that a scratch file has as long as this lives.
  class name {
   public:
    explicit name(std::string path) : path_(std::move(path)) {}
    name(const name&) = delete;
    name& operator=(const name&) = delete;
    ~name();

   private:
    std::string path_;
  };

  /// The files that `file:` drives lie in, each with the first `each` bytes of its drive.
  static source_file of_drives(const std::vector<std::string>& paths, std::uint64_t each);
  /// A file in `folder` with room for `bytes`. Throws error{unavailable} where the folder has none, or may
  /// not be written.
  static source_file scratch(const std::string& folder, std::uint64_t bytes);
  source_file(source_file&& other) noexcept = default;
  source_file& operator=(source_file&&) = delete;
  ~source_file();

  /// Fills a scratch file, from its beginning.
  void write(std::span<const std::byte> all);
  bool is_scratch() const { return scratch_; }

  /// Opens the files past the page cache where reads of `block_bytes` may go so, else through it.
  void open_for(std::uint32_t block_bytes);
  bool direct() const { return direct_; }
  /// Of a byte of the span, drive after drive. Blocks do not reach from one drive into the next.
  file_place at(std::uint64_t byte) const { return {readers_[byte / each_].fd, byte % each_}; }
  /// Opens a scratch file once more, by a name: for libraries that look for the path of a descriptor. Throws
  /// error{unavailable} where the file system gives it none.
  std::unique_ptr<name> open_by_name();
  /// A descriptor of each file, as opened for reading.
  std::vector<int> descriptors() const;
  std::uint64_t each() const { return each_; }

 private:
  struct descriptor {
    explicit descriptor(int from) : fd(from) {}
    descriptor(descriptor&& other) noexcept;
    descriptor& operator=(descriptor&& other) noexcept;
    ~descriptor();
    int fd;
  };
  source_file(std::uint64_t each, bool scratch) : each_(each), scratch_(scratch) {}
  /// False where one of them is refused so.
  bool reopen(int flags);

  std::uint64_t each_;
  bool scratch_, direct_ = false;
  std::string folder_;  ///< of a scratch file
  std::vector<descriptor> files_, readers_;
};

}  // namespace sluice::tool
