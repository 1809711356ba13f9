// The page that shows results: one HTML file that needs nothing else.
#pragma once

#include <string>
#include <vector>

#include "tools/sluice/report_input.h"

namespace sluice::tool {

struct report_page {
  std::string html;
  std::size_t plots = 0;
};

/// A section for each of `results`, in their order, after an overview and what holds several of them side by
/// side.
report_page make_report_page(const std::vector<report_result>& results);

}  // namespace sluice::tool
