// The lanes that one OS thread runs: who waits in which collective, who has left, and what counts as misuse.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lane/fiber.h"
#include "sluice/lane/executor.h"

namespace sluice::lane::executor {

inline constexpr std::uint32_t warp_width = 32;

struct warp;
struct block;

/// A fiber and what it runs: a lane of a kernel, or (home is null) a task beside the kernel.
struct strand {
  enum class state : std::uint8_t { ready, meeting, converging, at_block, done };

  fiber context;
  identity who;
  warp* home = nullptr;
  const std::function<void()>* body = nullptr;
  state now = state::done;
  std::uint32_t number = 0;  ///< in the order of their start, from 0

  // What it brings to a collective, and takes from it.
  std::uint64_t value = 0;
  std::uint32_t source = 0;
  const void* site = nullptr;
  std::uint64_t result = 0;

  // The scheduler's own.
  strand* next = nullptr;
  strand* previous = nullptr;
  std::uint32_t place = 0;
  std::int64_t priority = 0;
  std::uint64_t relaxed_in = 0;
};

/// A collective that some lanes of its mask have reached.
struct meeting {
  std::uint32_t mask = 0;
  std::uint32_t arrived = 0;
  collective what = collective::sync;
};

struct warp {
  block* home = nullptr;
  std::uint32_t alive = 0;       ///< lanes that have not left
  std::uint32_t runnable = 0;    ///< lanes that wait for no other
  std::uint32_t converging = 0;  ///< lanes that wait to be grouped by call site
  std::uint32_t patience = 0;    ///< relaxations seen while lanes were converging
  std::uint32_t open = 0;        ///< meetings in use
  meeting meetings[warp_width];
  strand* lane[warp_width] = {};
};

struct block {
  std::uint32_t live = 0;     ///< lanes that have not left
  std::uint32_t arrived = 0;  ///< lanes that wait for the block
  std::vector<warp> warps;
};

/// How many lanes, in which order: `warps` warps of `warp_lanes`, numbered 32 apart.
struct crew_shape {
  std::uint32_t blocks = 1;
  std::uint32_t warps = 1;
  std::uint32_t warp_lanes = warp_width;
  std::uint32_t processor = 0;
};

class crew {
 public:
  crew() = default;
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;
  virtual ~crew() = default;

  // For the running strand.
  std::uint64_t meet(collective what, std::uint32_t mask, std::uint64_t value, std::uint32_t source);
  std::uint32_t converge(const void* site);
  void meet_block();
  [[noreturn]] void fail(std::string why);
  virtual void relax() = 0;
  /// The running strand rang a doorbell: the waiting that follows is worth a core.
  virtual void note_bell() {}
  bool runs_lane() const { return running_ != nullptr && running_->home != nullptr; }

 protected:
  // For the thread that owns the crew.
  void begin(const crew_shape& shape, const std::function<void()>& body);
  void add_task(const std::function<void()>& body);
  /// Runs blocks until there is none left and all strands are done, or until a failure.
  void run(std::uint32_t most_blocks);

  virtual bool claim_block(std::uint32_t& index) = 0;
  /// A failure here or, where several crews share a launch, elsewhere.
  virtual bool failed() const = 0;
  virtual void note_failure(std::exception_ptr what) = 0;
  void note_misuse(const std::string& why);
  /// The running strand has noted a failure and is dropped where it stands.
  [[noreturn]] void leave_for_good();

  // The schedule. `soon`: it was waiting, and its data is still warm.
  virtual void make_ready(strand& which, bool soon) = 0;
  virtual void make_waiting(strand& which) = 0;
  virtual strand* pick() = 0;
  /// True where a lane that could join a group should not.
  virtual bool strays() { return false; }

  /// Continues whomever pick() says.
  void give_way();
  void change_to(strand& next);
  /// Lets lanes that wait to be grouped go, once the caller's warp has nobody else to wait for.
  void note_relaxed(warp* home);
  strand* running() const { return running_; }
  void* begin_edge() { return &begin_token_; }
  void* end_edge() { return &end_token_; }

 private:
  static void run_strand(void* self);
  strand& take_strand();
  void start_strand(strand& which, const std::function<void()>& body);
  void start_block(std::uint32_t index);
  void retire(strand& which);
  void retire_lane(strand& which);
  void abandon_all();
  void enter(strand& next);
  void wait_in(strand::state what);
  void wake(strand& which);
  void part(warp& home);
  meeting& join(warp& home, collective what, std::uint32_t mask);
  void conclude(warp& home, meeting& done);
  void release_block(block& which);

  crew_shape shape_;
  const std::function<void()>* body_ = nullptr;
  fiber thread_;
  strand* running_ = nullptr;
  strand* finished_ = nullptr;
  std::uint32_t started_ = 0;
  std::uint32_t alive_ = 0;
  std::uint32_t blocks_in_flight_ = 0;
  std::deque<strand> strands_;
  std::vector<strand*> idle_strands_;
  std::deque<block> blocks_;
  std::vector<block*> idle_blocks_;
  char begin_token_ = 0;
  char end_token_ = 0;
};

/// The crew that runs on this OS thread, or null.
extern constinit thread_local crew* here;

}  // namespace sluice::lane::executor
