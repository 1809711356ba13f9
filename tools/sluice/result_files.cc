#include "tools/sluice/result_files.h"

#include <ostream>
#include <utility>
#include <vector>

#include "sluice/base/error.h"
#include "tools/sluice/report_input.h"
#include "tools/sluice/report_page.h"

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

void write_csv(std::ostream& out, const json& rows) {
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
}

}  // namespace

result_files::result_files(const result_files_choice& choice) {
  if (!choice.csv.empty() && choice.csv == choice.plot)
    throw error(error_kind::bad_input, "--csv and --plot name the same file '" + choice.csv + "'",
                "name another file for one of them");
  if (!choice.csv.empty()) csv_.emplace(choice.csv);
  if (!choice.plot.empty()) plot_.emplace(choice.plot);
}

void result_files::write(const json& rows, const json& result) {
  if (csv_) {
    write_csv(csv_->out(), rows);
    csv_->keep();
  }
  if (plot_) {
    plot_->out() << make_report_page({result_in("this run", result)}).html;
    plot_->keep();
  }
}

void add_result_files(CLI::App& command, result_files_choice& choice) {
  command.add_option("--csv", choice.csv, "also write the rows into this file, one a line")
      ->type_name("FILE");
  command
      .add_option("--plot", choice.plot, "also draw them: a page of tables and plots, as of sluice report")
      ->type_name("FILE.html");
}

}  // namespace sluice::tool
