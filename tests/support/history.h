// What lanes did to elements, and when: recorded by them on either machine, and checked afterwards against
// all orders that could explain it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sluice/base/status.h"
#include "sluice/base/types.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/wait.h"
#include "sluice/memory/buffer.h"

namespace sluice::testing {

/// One access to one element: what was asked, what came of it, and between which moments.
struct operation {
  enum class kind : std::uint32_t { read, write, add };

  std::uint64_t called = 0;    ///< on a clock that all lanes share
  std::uint64_t returned = 0;  ///< on the same
  std::uint64_t element = 0;
  std::uint64_t value = 0;   ///< that was written, or added
  std::uint64_t result = 0;  ///< that was read, or was there before the addition
  std::uint32_t lane = 0;
  std::uint32_t code = 0;   ///< status::bits(): one that failed has changed nothing
  std::uint32_t bytes = 8;  ///< of the element: 4 or 8
  kind what = kind::read;

  friend bool operator==(const operation&, const operation&) = default;
};

/// Where lanes write down what they do, each in a stretch of its own; trivially copyable.
/// Order: lanes share no word of it, so recording orders nothing that it is there to observe.
struct history_ref {
  operation* operations = nullptr;
  std::uint32_t* counts = nullptr;  ///< one a lane
  std::uint32_t most = 0;           ///< operations of one lane; what is beyond is only counted
  std::uint32_t warp_lanes = 32;    ///< less only where there are shorter warps

  SLUICE_HD void put(operation done) const {
    const std::uint32_t lane = lane::warp_index() * warp_lanes + lane::lane_index();
    const std::uint32_t at = counts[lane]++;
    done.lane = lane;
    if (at < most) operations[std::uint64_t{lane} * most + at] = done;
  }
};

/// Owns the record of a launch, or of several.
class history {
 public:
  history(backend on, std::uint32_t warps, std::uint32_t most_each, std::uint32_t warp_lanes = 32);

  history_ref ref() const;
  std::uint32_t lanes() const { return lanes_; }
  /// Everything recorded, lane by lane, each lane's in its order. Throws std::length_error where a lane had
  /// no room.
  std::vector<operation> operations() const;

 private:
  std::uint32_t lanes_;
  std::uint32_t most_;
  std::uint32_t warp_lanes_;
  memory::buffer operations_;
  memory::buffer counts_;
};

/// Whether each element behaved like one word: whether the operations on it that went well, each at some
/// moment between its call and its return, and each lane's in its own order, give these results. Since an
/// element's promise does not speak of others, each is looked at alone. `history` has each lane's operations
/// in its order, and lanes need not be neighbours; `start` tells what an element held before.
/// `slack`: by how much clocks of different lanes may differ.
/// Returns nothing, or which element no order explains, and where the search got stuck.
std::string unexplained(const std::vector<operation>& history,
                        const std::function<std::uint64_t(std::uint64_t element)>& start,
                        std::uint64_t slack = 0);

}  // namespace sluice::testing
