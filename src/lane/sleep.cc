#include "sluice/lane/sleep.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace sluice::lane::executor {

namespace {

constexpr std::uint64_t nanoseconds_a_second = 1'000'000'000;
/// Offers of the core in a row, without an expectation of news, before a thread naps.
constexpr std::uint32_t fewest_offers = 1, most_offers = 64;
/// A nap that news end sooner costs more than looking on would have.
constexpr std::uint64_t worth_a_nap_ns = 20'000;
/// The first nap; each later one is twice as long, up to the longest. They end at once where there are news;
/// the rest is for words that change without.
constexpr std::uint64_t shortest_nap_ns = 50'000;
constexpr std::uint32_t most_doublings = 2, fruitless_a_doubling = 16;

// Changes whenever there are news; nappers sleep on it.
alignas(64) constinit std::uint32_t news = 0;
constinit std::uint64_t news_at_ns = 0;
alignas(64) constinit std::uint32_t nappers = 0;

void sleep_while(std::uint32_t& word, std::uint32_t value, std::uint64_t nanoseconds) {
  const timespec limit{static_cast<time_t>(nanoseconds / nanoseconds_a_second),
                       static_cast<long>(nanoseconds % nanoseconds_a_second)};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, &limit, nullptr, 0);
}

void relax_while_one(std::uint32_t& word, std::chrono::nanoseconds timeout) {
  const std::uint64_t end = clock_ns() + static_cast<std::uint64_t>(timeout.count());
  while (on_system(word).load(relaxed) == 1 && clock_ns() < end) relax();
}

}  // namespace

void wait_while_one(std::uint32_t& word, std::chrono::nanoseconds timeout) {
  if (exploring) return relax_while_one(word, timeout);
  sleep_while(word, 1, static_cast<std::uint64_t>(timeout.count()));
}

void wake(std::uint32_t& sleeper) {
  // Whoever clears the word wakes: the others find it 0. The sleeper looks at its doorbells again, so this
  // orders nothing.
  const std::uint32_t how = on_system(sleeper).exchange(0, relaxed);
  if (how == 0 || exploring) return;
  if (how == 1)
    syscall(SYS_futex, &sleeper, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  else
    eventfd_write(static_cast<int>(how - sleeps_on(0)), 1);
}

void napper::pause() {
  if (++fruitless_ <= offers_)
    sched_yield();
  else
    nap();
  // Acquire pairs with spread_news(): lanes that look from now on see what came with these news.
  heard_ = on_system(news).load(acquire);
}

void napper::nap() {
  const std::uint64_t begun = clock_ns();
  on_system(nappers).fetch_add(1, cuda::std::memory_order_seq_cst);
  // The kernel compares: news since the lanes looked end the nap before it begins.
  sleep_while(news, heard_, shortest_nap_ns << std::min(fruitless_ / fruitless_a_doubling, most_doublings));
  on_system(nappers).fetch_sub(1, relaxed);
  const std::uint64_t came = on_system(news_at_ns).load(relaxed);
  const bool too_soon = on_system(news).load(acquire) != heard_ && came < begun + worth_a_nap_ns;
  offers_ = too_soon ? std::min(offers_ * 2, most_offers) : std::max(offers_ / 2, fewest_offers);
}

}  // namespace sluice::lane::executor

namespace sluice::lane {

void spread_news() {
  using namespace executor;
  if (exploring) return;
  on_system(news_at_ns).store(clock_ns(), relaxed);
  // Either the napper's kernel sees the new value, or we see the napper.
  on_system(news).fetch_add(1, cuda::std::memory_order_seq_cst);
  if (on_system(nappers).load(cuda::std::memory_order_seq_cst) != 0)
    syscall(SYS_futex, &news, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace sluice::lane
