// A text file line by line, in bounded memory, every complaint with the file's name and the line's number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::graph {

class text_lines {
 public:
  /// Fills the span from its front and returns how many bytes it has written; 0 at the end of the text.
  using source = std::function<std::size_t(std::span<char>)>;
  static constexpr std::size_t longest_line = 1 << 20;

  text_lines(std::string file, source from);
  /// A file of this machine. Throws error{bad_input} where it cannot be read.
  static text_lines open(const std::string& file);

  /// The next line, without its end ("\n" or "\r\n"); good until the next call. False at the end of the text.
  bool next(std::string_view& line);
  /// The line that next() gave last, counted from 1.
  std::uint64_t number() const { return number_; }
  const std::string& file() const { return file_; }
  std::uint64_t bytes_read() const { return bytes_read_; }

  /// Throws error{bad_input}: "FILE:NUMBER: expected EXPECTED, found 'LINE'".
  [[noreturn]] void refuse(std::string_view expected, std::string_view line,
                           std::string_view mend = {}) const;

 private:
  bool refill();

  std::string file_;
  source from_;
  std::vector<char> held_;
  std::size_t begin_ = 0;  // of what is left of held_
  std::size_t end_ = 0;
  bool ended_ = false;
  std::uint64_t number_ = 0;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace sluice::graph
