// What a call said when it refused: the error it threw, taken apart for comparison.
#pragma once

#include <string>

#include "sluice/base/error.h"

namespace sluice::test {

struct refusal {
  error_kind kind{};
  std::string line;  ///< empty where nothing was thrown
  std::string mend;
};

template <class Call>
refusal refusal_of(Call&& call) {
  try {
    call();
  } catch (const error& e) {
    return {e.kind(), e.what(), e.mend()};
  }
  return {};
}

}  // namespace sluice::test
