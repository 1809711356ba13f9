#include "apps/graph/text_lines.h"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sluice/base/error.h"

namespace sluice::graph {

namespace {

[[noreturn]] void refuse_file(const std::string& file, const char* why) {
  throw error(error_kind::bad_input, file + ": cannot be read: " + why, "name a text file that exists");
}

/// An open file; closed with its last reader.
std::shared_ptr<int> open_file(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) refuse_file(file, std::strerror(errno));
  std::shared_ptr<int> held(new int(fd), [](int* one) {
    ::close(*one);
    delete one;
  });
  struct stat about {};
  if (::fstat(fd, &about) == 0 && S_ISDIR(about.st_mode)) refuse_file(file, "it is a folder");
  return held;
}

/// The front of a line as it can be shown: no control characters, not too long.
std::string shown(std::string_view line) {
  constexpr std::size_t most = 40;
  std::string text(line.substr(0, most));
  for (char& c : text)
    if (std::isprint(static_cast<unsigned char>(c)) == 0) c = '?';
  return "'" + text + (line.size() > most ? "..." : "") + "'";
}

}  // namespace

text_lines::text_lines(std::string file, source from)
    : file_(std::move(file)), from_(std::move(from)), held_(2 * longest_line) {}

text_lines text_lines::open(const std::string& file) {
  return {file, [fd = open_file(file), file](std::span<char> to) {
            while (true) {
              const ssize_t got = ::read(*fd, to.data(), to.size());
              if (got >= 0) return static_cast<std::size_t>(got);
              if (errno != EINTR) refuse_file(file, std::strerror(errno));
            }
          }};
}

bool text_lines::refill() {
  if (ended_) return false;
  std::memmove(held_.data(), held_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const std::size_t got = from_(std::span(held_).subspan(end_));
  end_ += got;
  bytes_read_ += got;
  ended_ = got == 0;
  return !ended_;
}

bool text_lines::next(std::string_view& line) {
  std::size_t looked_at = 0;
  while (true) {
    const char* front = held_.data() + begin_;
    const std::size_t here = end_ - begin_;
    const void* stop = here > looked_at ? std::memchr(front + looked_at, '\n', here - looked_at) : nullptr;
    if (stop != nullptr) {
      line = {front, static_cast<std::size_t>(static_cast<const char*>(stop) - front)};
      begin_ += line.size() + 1;
      break;
    }
    looked_at = here;
    if (here > longest_line) {
      ++number_;
      refuse("a line of at most 1 MiB", {front, here});
    }
    if (refill()) continue;
    if (here == 0) return false;
    line = {held_.data() + begin_, here};
    begin_ = end_;
    break;
  }
  ++number_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

void text_lines::refuse(std::string_view expected, std::string_view line, std::string_view mend) const {
  throw error(error_kind::bad_input,
              file_ + ":" + std::to_string(number_) + ": expected " + std::string(expected) + ", found " +
                  shown(line),
              std::string(mend));
}

}  // namespace sluice::graph
