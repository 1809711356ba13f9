#include "tools/sluice/comparators/page_server.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "sluice/base/error.h"
#include "sluice/lane/sleep.h"

namespace sluice::tool {

namespace {

constexpr std::size_t flights_a_server = 4;

}  // namespace

page_server::page_server(backend on, const served_port& port)
    : port_(port),
      line_(open_copy_line(on, flights_a_server)),
      flights_(flights_a_server),
      given_(port.teams) {
  constexpr std::size_t most_bytes = 1 * MiB, most_pages = 64;
  most_together_ = std::clamp<std::size_t>(most_bytes / port.page_bytes, 1, most_pages);
  if (port.file != nullptr)
    staging_ = memory::buffer(on, memory::place::pinned, flights_a_server * most_together_ * port.page_bytes);
  // The first copy makes whatever the line still lacks; a page that is not asked for yet bears it.
  line_->copy(port_.frames, port_.bytes, port_.page_bytes);
  line_->wait();
}

page_server::~page_server() {
  over_ = true;
  if (thread_.joinable()) thread_.join();
}

void page_server::start(std::function<void()> failed) {
  over_ = false;
  head_ = 0;
  std::fill(given_.begin(), given_.end(), 0);
  thread_ = std::thread([this, failed = std::move(failed)] {
    try {
      serve();
    } catch (...) {
      failure_ = std::current_exception();
      failed();
    }
  });
}

void page_server::stop() {
  over_ = true;
  thread_.join();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void page_server::serve() {
  constexpr std::uint32_t looks_a_turn = 64;
  for (std::uint32_t fruitless = 0; !over_.load(std::memory_order_relaxed);) {
    const bool departed = depart(), landed = land();
    fruitless = departed || landed ? 0 : fruitless + 1;
    if (fruitless % looks_a_turn == looks_a_turn - 1) std::this_thread::yield();
  }
  // Lanes have left, some perhaps without their page: nothing may be under way into memory that is freed.
  line_->wait();
  std::fill(flights_.begin(), flights_.end(), 0);
  departing_ = landing_ = 0;
}

bool page_server::depart() {
  std::size_t& pages = flights_[departing_];
  if (pages != 0) return false;
  while (pages < most_together_) {
    served_request& request = port_.ring[head_ & (port_.ring.size() - 1)];
    // Acquire pairs with the asker's release of the turn: page and asker are there.
    if (lane::on_system(request.turn).load(lane::acquire) != head_ + 1) break;
    const std::byte* const from = page(request.page, departing_ * most_together_ + pages);
    line_->copy(port_.frames + request.page * port_.page_bytes, from, port_.page_bytes);
    // A team's answers are all from one server, so nobody else writes the word. Lanes look for it in their
    // own memory: looks across the link hold up the copies (H200: 600 us each beside 256 warps that look).
    line_->tell(port_.answers[request.asker].value, ++given_[request.asker]);
    ++pages;
    ++head_;
  }
  if (pages == 0) return false;
  line_->mark(departing_);
  lane::spread_news();
  departing_ = (departing_ + 1) % flights_.size();
  return true;
}

bool page_server::land() {
  std::size_t& oldest = flights_[landing_];
  if (oldest == 0 || !line_->reached(landing_)) return false;
  served_ += oldest;
  oldest = 0;
  landing_ = (landing_ + 1) % flights_.size();
  return true;
}

const std::byte* page_server::page(std::uint64_t which, std::size_t place) {
  const std::uint64_t first = which * port_.page_bytes;
  if (port_.file == nullptr) return port_.bytes + first;
  std::byte* const to = staging_.host() + place * port_.page_bytes;
  const file_place from = port_.file->at(first);
  ssize_t got = 0;
  do got = ::pread(from.fd, to, port_.page_bytes, static_cast<off_t>(from.offset));
  while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(port_.page_bytes)) return to;
  throw error(
      error_kind::io_failure,
      "a read of the file failed: " + (got < 0 ? std::system_category().message(errno) : "it fell short"));
}

}  // namespace sluice::tool
