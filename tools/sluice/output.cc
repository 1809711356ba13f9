// Results, errors and progress, for people and for programs.
#include <unistd.h>

#include <fmt/format.h>
#include <cstdio>
#include <new>
#include <utility>

#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "tools/sluice/command.h"

namespace sluice::tool {

namespace {

/// The first line, so that one failure stays one line whoever worded it.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

/// What is left when a failure is put into our words.
error in_our_words(const std::exception& failure) {
  if (const auto* ours = dynamic_cast<const error*>(&failure)) return *ours;
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr)
    return {error_kind::unavailable, "not enough memory", "use smaller sizes"};
  return {error_kind::io_failure, one_line(failure.what())};
}

json as_json(const error& failure) {
  json object{{"kind", to_string(failure.kind())}, {"message", failure.what()}, {"mend", failure.mend()}};
  const error_place& place = failure.place();
  if (!place.drive.empty()) object["drive"] = place.drive;
  if (place.queue) object["queue"] = *place.queue;
  if (place.block) object["lba"] = place.block->value;
  if (!place.code.is_ok()) object["status"] = describe(place.code);
  return {{"error", object}};
}

/// Text that a file name or a drive brought along need not be UTF-8.
std::string dump(const json& object) { return object.dump(2, ' ', false, json::error_handler_t::replace); }

}  // namespace

void context::print(const json& object, const std::string& text) {
  const std::string out = json_ ? dump(object) + "\n" : text;
  const bool written =
      std::fwrite(out.data(), 1, out.size(), stdout) == out.size() && std::fflush(stdout) == 0;
  if (!written)
    throw error(error_kind::io_failure, "standard output could not be written",
                "free space there, or print elsewhere");
}

void context::note(const std::string& line) const { fmt::print(stderr, "sluice: {}\n", one_line(line)); }

int context::fail(const std::exception& failure) const {
  const error what = in_our_words(failure);
  const std::string mend = what.mend().empty() ? "" : "; " + what.mend();
  if (json_)
    fmt::print("{}\n", dump(as_json(what)));
  else
    fmt::print(stderr, "sluice: {}\n", one_line(what.what() + mend));
  return exit_status(what.kind());
}

json describe_machine(const lane::machine& on) {
  return {{"name", on.name()},
          {"backend", on.kind() == backend::cuda ? "cuda" : "cpu"},
          {"processors", on.processors()}};
}

std::string version() { return SLUICE_VERSION; }

progress::progress(std::string what, std::uint64_t total)
    : what_(std::move(what)),
      total_(total),
      on_terminal_(isatty(STDERR_FILENO) != 0),
      began_(clock::now()),
      next_(began_ + std::chrono::seconds(2)) {}

progress::~progress() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);  // the result takes the bar's line
}

void progress::add(std::uint64_t done) {
  done_ += done;
  const auto now = clock::now();
  if (on_terminal_ && now >= next_) draw(now);
}

void progress::draw(clock::time_point now) {
  constexpr int width = 30;
  const double part =
      total_ == 0 ? 1.0 : std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
  const double seconds = std::chrono::duration<double>(now - began_).count();
  const double left = part > 0 ? seconds / part - seconds : 0;
  const int filled = static_cast<int>(part * width);
  fmt::print(stderr, "\r\x1b[K{} [{:#<{}}{:.<{}}] {:3.0f} %  {:.0f} s left", what_, "", filled, "",
             width - filled, part * 100, left);
  std::fflush(stderr);
  drawn_ = true;
  next_ = now + std::chrono::milliseconds(200);
}

}  // namespace sluice::tool
