// `sluice scrub`: looks at all that a volume keeps, and mends it from good copies.
#include "sluice/drive/scrub.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "sluice/array/storage.h"
#include "sluice/base/sizes.h"
#include "tools/sluice/command.h"

namespace sluice::tool {

namespace {

struct scrub_choice {
  std::vector<std::string> uris;
  bool check_only = false;
  std::size_t most_pages = 100;
};

void put(json& object, const drive::scrub_counts& counts) {
  object["good"] = counts.good;
  object["bad"] = counts.bad;
  object["unsealed"] = counts.unsealed;
  object["unreadable"] = counts.unreadable;
  object["differing"] = counts.differing;
  object["mended"] = counts.mended;
  object["left"] = counts.left();
}

json row(const drive::dataset_scrub& of) {
  json object{{"name", of.name}, {"seal", to_string(of.standing)}, {"page_bytes", of.page_bytes}};
  put(object, of.counts);
  return object;
}

json row(const drive::scrub_finding& found) {
  return {{"dataset", found.dataset}, {"page", found.page},       {"fault", to_string(found.what)},
          {"drive", found.drive},     {"lba", found.first.value}, {"mended", found.mended}};
}

json result_of(const drive::scrub_report& told) {
  json object;
  object["all_good"] = told.all_good();
  put(object, told.counts());
  object["records_left"] = told.records_left;
  object["datasets"] = json::array();
  for (const auto& each : told.datasets) object["datasets"].push_back(row(each));
  object["pages"] = json::array();
  for (const auto& each : told.findings) object["pages"].push_back(row(each));
  object["pages_left_off"] = told.findings_left_off;
  object["readmitted"] = told.readmitted;
  object["left_out"] = told.left_out;
  return object;
}

std::string line(const drive::dataset_scrub& of) {
  static constexpr const char* standing[] = {"never sealed", "", "its seal covers nothing: seal it again",
                                             "the record of its seal is damaged: seal it again"};
  const drive::scrub_counts& n = of.counts;
  const std::string seal = standing[static_cast<std::size_t>(of.standing)];
  return fmt::format("{}: {} pages good, {} bad, {} unreadable, {} unsealed ({} differing), {} mended{}\n",
                     of.name, n.good, n.bad, n.unreadable, n.unsealed, n.differing, n.mended,
                     seal.empty() ? "" : "; " + seal);
}

std::string line(const drive::scrub_finding& found) {
  return fmt::format("  {} page {} of {} on {} at LBA {}: {}\n", to_string(found.what), found.page,
                     found.dataset, found.drive, found.first.value,
                     found.mended ? "mended" : "left as it is");
}

std::string text_of(const drive::scrub_report& told) {
  std::string text;
  for (const auto& each : told.datasets) text += line(each);
  for (const auto& each : told.findings) text += line(each);
  if (told.findings_left_off != 0) text += fmt::format("  and {} more\n", told.findings_left_off);
  for (const std::string& drive : told.readmitted)
    text += drive + " has all bytes again, and is read again\n";
  for (const std::string& drive : told.left_out) text += drive + " missed a write, and is not read\n";
  return text + (told.all_good() ? "all good\n" : "something is still bad\n");
}

void scrub(context& with, const scrub_choice& choice) {
  const bool repair = !choice.check_only;
  storage held = storage::open(choice.uris, {.mode = repair ? drive::access::write : drive::access::read});
  for (const std::string& each : held.volume().notes()) with.note(each);
  const auto began = std::chrono::steady_clock::now();
  std::uint64_t bytes = 0;
  drive::scrub_report told;
  {
    progress bar("scrubbing", drive::scrub_bytes(held.volume(), repair));
    told = drive::scrub(
        held.volume(),
        {.repair = repair, .most_findings = choice.most_pages, .step = [&bar, &bytes](std::uint64_t now) {
           context::stop_if_asked();
           bar.add(now);
           bytes += now;
         }});
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  json object = result_of(told);
  object["check_only"] = choice.check_only;
  object["bytes"] = bytes;
  object["seconds"] = seconds;
  object["bytes_per_s"] = static_cast<double>(bytes) / seconds;
  object["drives"] = choice.uris;
  object["version"] = version();
  if (!told.all_good()) with.end_badly();
  with.print(object, text_of(told));
}

}  // namespace

void add_scrub(CLI::App& program, context& with) {
  auto choice = std::make_shared<scrub_choice>();
  CLI::App& command = with.add_command(program,
                                       {"scrub", "check every page of a volume, and mend it from good copies",
                                        "sluice scrub file:/data/a.img file:/data/b.img"},
                                       runs_on::host);
  command.add_option("uri", choice->uris, "all drives of the volume")->type_name("URI")->required();
  command.add_flag("--check-only", choice->check_only, "mend nothing");
  command.add_option("--most-pages", choice->most_pages, "pages to name at most")->capture_default_str();
  with.runs(command, [&with, choice] { scrub(with, *choice); });
}

}  // namespace sluice::tool
