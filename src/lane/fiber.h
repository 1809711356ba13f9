// A stack of its own and the registers that wait on it: what a lane is while it does not run.
#pragma once

#include <cstddef>

#include "lane/sanitizer.h"

namespace sluice::lane::executor {

/// A mapped stack. Its lowest page faults, so that an overflow stops there (while the process has few enough
/// mappings).
struct stack {
  std::byte* low = nullptr;
  std::size_t bytes = 0;

  static stack map();
  static void unmap(stack which);
};

class fiber {
 public:
  using entry = void (*)(void*);

  fiber() = default;
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;
  ~fiber();

  /// Stands for the calling OS thread, so that others can switch back to it.
  void adopt_thread();
  /// Takes a stack, once, for all that will run here.
  void own(stack memory);
  bool has_stack() const { return memory_.low != nullptr; }
  /// The next switch to it calls `run(argument)`, which must never return. `colour` spreads stacks over cache
  /// sets.
  void prepare(entry run, void* argument, unsigned colour);
  /// Forgets what was running here, wherever it stood. What it did is seen by whoever acquires `token` later.
  void abandon(void* token);

  /// Stops the caller, which is `from`, and continues `to`. `ends`: `from` will not be continued.
  static void change(fiber& from, fiber& to, bool ends = false);

 private:
  void forget();
  static void arrive(fiber& at);
  static void first_step(void* self);

  void* top_ = nullptr;  ///< where the saved registers lie
  entry run_ = nullptr;
  void* argument_ = nullptr;
  stack memory_;
  bool adopted_ = false;
#if SLUICE_TSAN
  void* tsan_ = nullptr;
#endif
#if SLUICE_ASAN
  void* fake_stack_ = nullptr;
#endif
};

}  // namespace sluice::lane::executor
