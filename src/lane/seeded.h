// Lanes and tasks under a seeded schedule: who runs next is drawn from a random stream, and so is nothing
// else.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "lane/crew.h"
#include "sluice/lane/explore.h"

namespace sluice::lane::executor {

class seeded final : public crew {
 public:
  explore::result explore(const explore::options& how, const std::function<void()>& kernel,
                          const std::vector<std::function<void()>>& tasks);

  void relax() override;
  void point();
  void note_change();
  [[noreturn]] void fail_oracle(std::string why);
  std::uint64_t clock_ns() const { return clock_ns_; }

 protected:
  bool claim_block(std::uint32_t& index) override;
  bool failed() const override { return failure_ != nullptr; }
  void note_failure(std::exception_ptr what) override;
  void make_ready(strand& which, bool soon) override;
  void make_waiting(strand& which) override;
  strand* pick() override;
  bool strays() override { return draw() % 8 == 0; }

 private:
  std::uint64_t draw();
  void step(std::uint64_t nanoseconds);
  void plan_priority_changes();
  strand* highest() const;
  void leap_where_all_relax(strand& me);

  explore::options how_;
  std::exception_ptr failure_;
  std::vector<strand*> ready_;
  std::vector<std::uint64_t> changes_;  ///< steps at which pct lowers the running strand
  std::uint64_t random_ = 0;
  std::uint64_t hash_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t clock_ns_ = 0;
  std::uint64_t leap_ns_ = 0;
  std::uint64_t era_ = 1;  ///< changes when somebody changes a word, or time has leapt
  std::uint32_t relaxed_in_era_ = 0;
  std::uint32_t next_block_ = 0;
  std::int64_t lowest_ = 0;
};

}  // namespace sluice::lane::executor
