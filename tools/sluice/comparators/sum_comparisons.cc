#include "tools/sluice/comparators/sum_comparisons.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/error.h"
#include "tools/sluice/comparators/chosen_names.h"
#include "tools/sluice/comparators/plain_sum.h"

namespace sluice::tool {

namespace {

std::vector<std::string> sum_comparator_names() {
  std::vector<std::string> all;
  for (const sum_comparator& each : sum_comparators()) all.emplace_back(each.name);
  return all;
}

const sum_comparator& sum_comparator_named(const std::string& name) {
  const auto& all = sum_comparators();
  return *std::find_if(all.begin(), all.end(), [&](const sum_comparator& each) { return name == each.name; });
}

std::unique_ptr<lane::machine> aside_of(lane::machine& on) {
  return on.kind() == backend::cuda ? on.aside() : nullptr;
}

}  // namespace

void add_sum_comparators(CLI::App& command, std::string& names) {
  add_comparator_names(command, "also add the same vectors in other ways", sum_comparator_names(), names);
}

sum_comparisons::sum_comparisons(const std::string& names, lane::machine& on, const vector_add::vectors& of,
                                 std::uint64_t seed, std::uint32_t trials)
    : names_(names_chosen(names, sum_comparator_names())),
      aside_(aside_of(on)),
      on_(aside_ ? *aside_ : on),
      of_(of),
      seed_(seed),
      trials_(trials) {}

double sum_comparisons::bare_rate(memory::place media) {
  try {
    return bare_sum_rate(on_, of_.of, of_.elements, media);
  } catch (const error& failure) {
    if (failure.kind() != error_kind::unavailable) throw;
    return 0;
  }
}

std::string sum_comparisons::measure(double ours, json& object) {
  json measured = json::array(), missing = json::array();
  std::string text;
  sum_comparison what(on_, of_, seed_, trials_, context::stop_asked);
  for (const std::string& name : names_) {
    try {
      const sum_times times = sum_comparator_named(name).run(what);
      context::stop_if_asked();
      const double seconds = times.seconds / times.trials;
      const double rate = static_cast<double>(of_.bytes_needed()) / seconds;
      measured.push_back({{"name", name},
                          {"bytes_per_s", rate},
                          {"seconds", seconds},
                          {"cpu_seconds", times.cpu_seconds / times.trials},
                          {"ratio", ours / rate},
                          {"verified", true}});
      text += fmt::format("  {:<12} {:>9.4f} s {:>9.2f} GB/s; ours is {:.3f} of it\n", name, seconds,
                          rate / 1e9, ours / rate);
    } catch (const error& failure) {
      if (failure.kind() != error_kind::unavailable) throw;
      missing.push_back({{"name", name}, {"why", failure.what()}});
      text += fmt::format("  {:<12} not here: {}\n", name, failure.what());
    }
  }
  object["comparators"] = measured;
  object["comparators_missing"] = missing;
  return text;
}

}  // namespace sluice::tool
