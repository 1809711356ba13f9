// What a comparator is: another way by which the same blocks reach lanes, measured in the same run and held
// against the same truth.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sluice/lane/launch.h"
#include "tools/sluice/comparators/block_order.h"

namespace sluice::tool {

class comparison_source;

/// The blocks to move, and for how long.
struct comparison {
  lane::machine& on;  ///< all of it: nothing else runs there
  comparison_source& source;
  block_order order;
  std::uint32_t block_bytes;
  double seconds;
  std::function<bool()> stop;  ///< true where the user wants it to end

  std::uint64_t bytes() const { return order.blocks() * block_bytes; }
};

/// Something that one comparator has to say beside what all say. Null: not known, and another fact says why.
struct comparison_fact {
  std::string key;
  std::variant<std::nullptr_t, bool, std::uint64_t, double, std::string> value;
};

struct comparison_result {
  std::uint64_t blocks = 0;  ///< moved and looked at in the timed pass
  double seconds = 0;
  double cpu_seconds = 0;        ///< of this process, in the timed pass
  std::uint64_t wrong = 0;       ///< blocks that were not what the drives hold, in any pass
  std::uint64_t unanswered = 0;  ///< blocks that never came
  std::vector<comparison_fact> facts;

  double rate() const { return seconds > 0 ? static_cast<double>(blocks) / seconds : 0; }
  bool verified() const { return blocks > 0 && wrong == 0 && unanswered == 0; }
  void say(std::string key, decltype(comparison_fact::value) value) {
    facts.push_back({std::move(key), std::move(value)});
  }
};

/// Moves and checks blocks. Throws error{unavailable} where this machine cannot: the reason is printed, and
/// nothing stands for the figure.
using comparator_run = comparison_result (*)(const comparison&);

struct comparator {
  const char* name;
  comparator_run run;
  bool reads_file = false;  ///< needs the bytes in a file, whatever the drives are
};

/// All of them, in the order in which they are measured.
const std::vector<comparator>& comparators();

// One each in a file of its name.
comparison_result run_zero_copy(const comparison& what);
comparison_result run_copy_engine(const comparison& what);
comparison_result run_uvm(const comparison& what);
comparison_result run_cufile(const comparison& what);
comparison_result run_cpu_uring(const comparison& what);
comparison_result run_cpu_served(const comparison& what);

}  // namespace sluice::tool
