#include "tools/sluice/json_file.h"

#include <filesystem>
#include <fstream>

#include "sluice/base/error.h"

namespace sluice::tool {

json read_object(const std::string& name, const char* mend) {
  std::ifstream file(name);
  if (!file || std::filesystem::is_directory(name))
    throw error(error_kind::bad_input, "'" + name + "' cannot be read", "name a JSON file");
  try {
    json object = json::parse(file);
    if (object.is_object()) return object;
  } catch (const json::exception& fault) {
    const std::string what = fault.what();  // "[json.exception.parse_error.101] parse error at line 3, ..."
    throw error(error_kind::bad_input, "'" + name + "' is not JSON: " + what.substr(what.find(' ') + 1),
                mend);
  }
  throw error(error_kind::bad_input, "'" + name + "' holds no JSON object", mend);
}

}  // namespace sluice::tool
