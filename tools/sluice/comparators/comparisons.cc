#include "tools/sluice/comparators/comparisons.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/drive/uri.h"
#include "tools/sluice/comparators/chosen_names.h"
#include "tools/sluice/comparators/host_room.h"

namespace sluice::tool {

namespace {

std::vector<std::string> comparator_names() {
  std::vector<std::string> all;
  for (const comparator& each : comparators()) all.emplace_back(each.name);
  return all;
}

std::vector<comparator> comparators_named(const std::string& text) {
  std::vector<comparator> named;
  for (const std::string& name : names_chosen(text, comparator_names()))
    for (const comparator& each : comparators())
      if (name == each.name) named.push_back(each);
  return named;
}

std::string scratch_folder(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  const char* const usual = std::getenv("TMPDIR");
  return usual != nullptr && *usual != '\0' ? usual : "/tmp";
}

/// Where the drives' bytes lie, if every one of them is a file.
std::vector<std::string> files_of(const std::vector<std::string>& uris) {
  std::vector<std::string> files;
  for (const std::string& text : uris) {
    const drive::uri one = drive::uri::parse(text);
    if (one.scheme() != "file") return {};
    files.push_back(one.subject());
  }
  return files;
}

json object_of_comparator(const char* name, std::uint32_t block_bytes, double ours,
                          const comparison_result& got) {
  json object{{"name", name},
              {"bytes_per_s", got.rate() * block_bytes},
              {"seconds", got.seconds},
              {"cpu_seconds", got.cpu_seconds},
              {"iops", got.rate()},
              {"ratio", got.rate() > 0 ? ours / got.rate() : 0},
              {"verified", got.verified()}};
  for (const comparison_fact& fact : got.facts)
    std::visit([&](const auto& value) { object[fact.key] = value; }, fact.value);
  return object;
}

/// `calls "each"`, `hot 1.71 GB/s`.
std::string text_of_fact(const comparison_fact& fact) {
  constexpr std::string_view rate = "_bytes_per_s";
  const auto* const number = std::get_if<double>(&fact.value);
  if (number == nullptr)
    return fact.key + " " + std::visit([](const auto& value) { return json(value).dump(); }, fact.value);
  if (!fact.key.ends_with(rate)) return fmt::format("{} {:.3g}", fact.key, *number);
  return fmt::format("{} {:.2f} GB/s", fact.key.substr(0, fact.key.size() - rate.size()), *number / 1e9);
}

std::string text_of_comparator(const char* name, std::uint32_t block_bytes, double ours,
                               const comparison_result& got) {
  std::string text = fmt::format(
      "  {:<12} {:>9.3f} M blocks/s, {:>6.2f} GB/s, on {:.2f} cores; ours is {:.3f} of it\n", name,
      got.rate() / 1e6, got.rate() * block_bytes / 1e9, got.cpu_seconds / got.seconds, ours / got.rate());
  std::vector<std::string> facts;
  for (const comparison_fact& fact : got.facts) facts.push_back(text_of_fact(fact));
  if (!facts.empty()) text += fmt::format("  {:<12} {}\n", "", fmt::join(facts, ", "));
  return text;
}

void judge_comparator(const char* name, const comparison_result& got) {
  if (got.wrong > 0)
    throw error(error_kind::wrong_answer,
                fmt::format("{}: {} blocks did not hold what the drives hold", name, got.wrong));
  if (got.unanswered > 0)
    throw error(error_kind::io_failure, fmt::format("{}: {} blocks never came", name, got.unanswered));
}

}  // namespace

void add_comparators(CLI::App& command, comparator_choice& choice) {
  add_comparator_names(command, "also move the same blocks by other ways", comparator_names(), choice.names);
  command
      .add_option("--scratch", choice.scratch,
                  "folder of a scratch file for comparators that read one (default: TMPDIR, else /tmp)")
      ->type_name("DIR");
}

comparisons::comparisons(const comparator_choice& choice, lane::machine& on, storage& drives,
                         const std::vector<std::string>& uris, const std::vector<io_bench_options>& points)
    : wanted_(comparators_named(choice.names)),
      scratch_(scratch_folder(choice.scratch)),
      files_(files_of(uris)),
      storage_(drives),
      on_(on) {
  if (wanted_.empty()) return;
  const bool writes = std::any_of(points.begin(), points.end(),
                                  [](const io_bench_options& point) { return point.write_share > 0; });
  if (writes) throw error(error_kind::bad_input, "comparators only read", "leave --mix or --comparators out");
  need_room(points);
  if (on.kind() == backend::cuda) aside_ = on.aside();
}

std::uint32_t comparisons::drives_of(const io_bench_options& point) const {
  return point.drives != 0 ? point.drives : static_cast<std::uint32_t>(storage_.drives().size());
}

bool comparisons::needs_file() const {
  return std::any_of(wanted_.begin(), wanted_.end(), [](const comparator& each) { return each.reads_file; });
}

/// Holds the largest of the points against the machine: makes its file, and lets it go again.
void comparisons::need_room(const std::vector<io_bench_options>& points) const {
  std::uint64_t most = 0;
  for (const io_bench_options& point : points)
    most = std::max(most, drives_of(point) * blocks_chosen_among(storage_, point) * point.block_bytes);
  need_host_memory(most, "give a smaller --span");
  if (needs_file() && files_.empty()) source_file::scratch(scratch_, most);
}

comparison_source& comparisons::source_for(std::uint32_t drives, std::uint64_t each) {
  if (source_ && source_->drives() == drives && source_->each() == each) return *source_;
  source_.reset();
  source_.emplace(on_.kind(), drives, each,
                  [this](std::uint32_t drive, std::uint64_t at, std::span<std::byte> to) {
                    storage_.volume().drive_at(drive).read(at, to);
                  });
  if (!files_.empty())
    source_->use(source_file::of_drives({files_.begin(), files_.begin() + drives}, each));
  else if (needs_file())
    source_->use(source_file::scratch(scratch_, drives * each));
  return *source_;
}

std::string comparisons::measure(const io_bench_options& point, double ours, json& row) {
  if (wanted_.empty()) return "";
  const std::uint64_t blocks = blocks_chosen_among(storage_, point);
  const std::uint32_t drives = drives_of(point);
  const comparison what{
      .on = aside_ ? *aside_ : on_,
      .source = source_for(drives, blocks * point.block_bytes),
      .order = {.pattern = point.pattern, .drives = drives, .bits = log2_exact(blocks), .seed = point.seed},
      .block_bytes = point.block_bytes,
      .seconds = point.seconds,
      .stop = context::stop_asked};
  json measured = json::array(), missing = json::array();
  std::string text;
  for (const comparator& each : wanted_) {
    try {
      const comparison_result got = each.run(what);
      context::stop_if_asked();
      judge_comparator(each.name, got);
      measured.push_back(object_of_comparator(each.name, point.block_bytes, ours, got));
      text += text_of_comparator(each.name, point.block_bytes, ours, got);
    } catch (const error& failure) {
      if (failure.kind() != error_kind::unavailable) throw;
      missing.push_back({{"name", each.name}, {"why", failure.what()}});
      text += fmt::format("  {:<12} not here: {}\n", each.name, failure.what());
    }
  }
  row["comparators"] = measured;
  row["comparators_missing"] = missing;
  return text;
}

}  // namespace sluice::tool
