#include "controller/mailbox.h"

#include "sluice/lane/doorbell.h"

namespace sluice::controller {

void mailbox::call(const std::function<void()>& what) {
  const std::lock_guard one(callers_);
  std::unique_lock lock(mutex_);
  letter_.store(&what, std::memory_order_seq_cst);
  if (std::atomic_ref(sleeper_).load(std::memory_order_seq_cst) != 0) lane::executor::wake(sleeper_);
  done_.wait(lock, [&] { return letter_.load(std::memory_order_relaxed) == nullptr; });
}

bool mailbox::deliver() {
  const auto* letter = letter_.load(std::memory_order_acquire);
  if (letter == nullptr) return false;
  (*letter)();
  {
    const std::lock_guard lock(mutex_);
    letter_.store(nullptr, std::memory_order_release);
  }
  done_.notify_one();
  return true;
}

void mailbox::kick() {
  kicked_.store(true, std::memory_order_seq_cst);
  if (std::atomic_ref(sleeper_).load(std::memory_order_seq_cst) != 0) lane::executor::wake(sleeper_);
}

}  // namespace sluice::controller
