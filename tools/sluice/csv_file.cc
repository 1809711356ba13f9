#include "tools/sluice/csv_file.h"

#include <utility>
#include <vector>

namespace sluice::tool {

namespace {

using field = std::pair<std::string, json>;

void flatten(const json& object, const std::string& before, std::vector<field>& fields) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_object())
      flatten(value, before + name + '.', fields);
    else if (!value.is_array())
      fields.emplace_back(before + name, value);
  }
}

/// RFC 4180: quotes around what holds a separator, a quote or a line's end.
std::string csv_text(const json& value) {
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string safe = "\"";
  for (const char c : text) safe += c == '"' ? std::string("\"\"") : std::string(1, c);
  return safe + '"';
}

}  // namespace

csv_file::csv_file(const std::string& path) {
  if (!path.empty()) file_.emplace(path);
}

void csv_file::write(const json& rows) {
  if (!file_) return;
  std::ostream& out = file_->out();
  bool headed = false;
  for (const json& row : rows) {
    std::vector<field> fields;
    flatten(row, "", fields);
    if (!std::exchange(headed, true)) {
      for (const field& each : fields) out << (&each == fields.data() ? "" : ",") << csv_text(each.first);
      out << '\n';
    }
    for (const field& each : fields) out << (&each == fields.data() ? "" : ",") << csv_text(each.second);
    out << '\n';
  }
  file_->keep();
}

void add_csv(CLI::App& command, std::string& path) {
  command.add_option("--csv", path, "also write the rows into this file, one a line")->type_name("FILE");
}

}  // namespace sluice::tool
