#include "tools/sluice/csv_file.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "sluice/base/error.h"

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

csv_file::csv_file(std::string path) : path_(std::move(path)), part_(path_ + ".part") {
  if (path_.empty()) return;
  std::error_code ignored;
  if (!std::filesystem::is_directory(path_, ignored)) out_.open(part_, std::ios::trunc);
  if (!out_.is_open())
    throw error(error_kind::bad_input, "cannot write the file '" + path_ + "'",
                "look at the path and its permissions");
}

csv_file::~csv_file() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove(part_, ignored);
}

void csv_file::write(const json& rows) {
  if (path_.empty()) return;
  bool headed = false;
  for (const json& row : rows) {
    std::vector<field> fields;
    flatten(row, "", fields);
    if (!std::exchange(headed, true)) {
      for (const field& each : fields) out_ << (&each == fields.data() ? "" : ",") << csv_text(each.first);
      out_ << '\n';
    }
    for (const field& each : fields) out_ << (&each == fields.data() ? "" : ",") << csv_text(each.second);
    out_ << '\n';
  }
  out_.close();
  std::error_code fault;
  if (out_) std::filesystem::rename(part_, path_, fault);
  if (!out_ || fault)
    throw error(error_kind::io_failure, "writing '" + path_ + "' failed", "look at the free space");
}

void add_csv(CLI::App& command, std::string& path) {
  command.add_option("--csv", path, "also write the rows into this file, one a line")->type_name("FILE");
}

}  // namespace sluice::tool
