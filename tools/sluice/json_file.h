// A JSON object from a file that somebody names.
#pragma once

#include <string>

#include "tools/sluice/command.h"

namespace sluice::tool {

/// The object that the file `name` holds. Throws error{bad_input}; `mend` says what one is expected to hold.
json read_object(const std::string& name, const char* mend);

}  // namespace sluice::tool
