// What a fuzzer asks of URIs: any text is refused with one line, or read with every value in its range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sluice/base/error.h"
#include "sluice/drive/uri.h"

namespace sluice::fuzz {

inline int uri_text(const std::uint8_t* data, std::size_t size) {
  try {
    drive::uri name = drive::uri::parse({reinterpret_cast<const char*>(data), size});
    const drive::fault_plan plan = name.take_faults();
    const std::uint32_t deadline = name.take_deadline_ms();
    const bool in_range = plan.error_rate >= 0 && plan.error_rate <= 1 && plan.drop_rate >= 0 &&
                          plan.drop_rate <= 1 && plan.tear_rate >= 0 && plan.tear_rate <= 1 &&
                          !plan.code.is_ok() && deadline > 0 &&
                          (!plan.error_lba || plan.error_lba->first.value <= plan.error_lba->last.value);
    if (!in_range || name.subject().empty() || name.scheme().empty()) std::abort();
    name.take_bytes("size", 0);
    name.finish();
  } catch (const error& e) {
    if (std::string_view(e.what()).find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}

}  // namespace sluice::fuzz
