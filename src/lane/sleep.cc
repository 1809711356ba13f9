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
/// News that come about when they usually do find the thread awake, from so long before to so long after:
/// being woken takes some 30 µs. Only silences of some length are worth it.
constexpr std::uint64_t least_margin_ns = 40'000, most_margin_ns = 100'000, long_silence_ns = 100'000;

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
  if (quiet_since_ == 0) quiet_since_ = begun;
  const std::uint64_t margin = std::clamp(usual_ns_ / 8, least_margin_ns, most_margin_ns);
  const std::uint64_t awake_from = quiet_since_ + usual_ns_ - margin, awake_to = awake_from + 2 * margin;
  std::uint64_t length = shortest_nap_ns << std::min(fruitless_ / fruitless_a_doubling, most_doublings);
  const bool news_are_near = usual_ns_ != 0 && begun < awake_to && begun + length > awake_from;
  if (news_are_near) length = begun < awake_from ? awake_from - begun : 0;
  if (length != 0) sleep_until_news(length);
  if (news_are_near)
    while (on_system(news).load(relaxed) == heard_ && clock_ns() < awake_to) sched_yield();
  learn(begun);
}

void napper::sleep_until_news(std::uint64_t nanoseconds) const {
  on_system(nappers).fetch_add(1, cuda::std::memory_order_seq_cst);
  // The kernel compares: news since the lanes looked end the nap before it begins.
  sleep_while(news, heard_, nanoseconds);
  on_system(nappers).fetch_sub(1, relaxed);
}

void napper::learn(std::uint64_t begun) {
  const std::uint64_t came = on_system(news_at_ns).load(relaxed);
  const bool some = on_system(news).load(acquire) != heard_;
  const bool too_soon = some && came < begun + worth_a_nap_ns;
  offers_ = too_soon ? std::min(offers_ * 2, most_offers) : std::max(offers_ / 2, fewest_offers);
  if (!some || came < quiet_since_ + long_silence_ns) return;
  const std::uint64_t silence = came - quiet_since_;
  usual_ns_ = usual_ns_ == 0 ? silence : (7 * usual_ns_ + silence) / 8;
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
