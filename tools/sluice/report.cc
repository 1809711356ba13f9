// `sluice report`: results become one page with tables and plots.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "sluice/base/error.h"
#include "tools/sluice/command.h"
#include "tools/sluice/report_input.h"
#include "tools/sluice/report_page.h"
#include "tools/sluice/whole_file.h"

namespace sluice::tool {

namespace {

struct report_choice {
  std::vector<std::string> files;
  std::string out;
};

/// A page takes the place of nothing that it was made from.
void need_apart(const report_choice& choice) {
  std::error_code none;
  for (const std::string& file : choice.files)
    if (std::filesystem::equivalent(file, choice.out, none))
      throw error(error_kind::bad_input, "--out would write over the result '" + file + "'",
                  "name another file for --out");
}

void make_report(context& with, const report_choice& choice) {
  need_apart(choice);
  whole_file out(choice.out);
  std::vector<report_result> results;
  for (const std::string& file : choice.files) {
    context::stop_if_asked();
    results.push_back(read_result(file));
  }
  const report_page page = make_report_page(results);
  context::stop_if_asked();
  out.out() << page.html;
  out.keep();
  with.print({{"out", choice.out}, {"results", results.size()}, {"plots", page.plots}},
             fmt::format("{}: {} results, {} plots\n", choice.out, results.size(), page.plots));
}

}  // namespace

void add_report(CLI::App& program, context& with) {
  auto choice = std::make_shared<report_choice>();
  CLI::App& report =
      with.add_command(program,
                       {"report", "results as one page with tables and plots, which opens without a network",
                        "sluice report io.json cache.json --out report.html"},
                       runs_on::host);
  report
      .add_option("results", choice->files,
                  "what bench io, bench cache, graph bfs or plan printed with --json, or files of "
                  "scripts/bench-gpu.sh")
      ->type_name("RESULT.json")
      ->required();
  report.add_option("--out", choice->out, "the page to write")->type_name("FILE.html")->required();
  with.runs(report, [&with, choice] { make_report(with, *choice); });
}

}  // namespace sluice::tool
