#include "tools/sluice/sum_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "sluice/base/sizes.h"

namespace sluice::tool {

namespace {

/// What `get` says of each trial, added up.
template <class Get>
double over_trials(const std::vector<vector_add::add_outcome>& trials, const Get& get) {
  double sum = 0;
  for (const vector_add::add_outcome& each : trials) sum += get(each);
  return sum;
}

double mean(double sum, std::size_t count) { return count == 0 ? 0 : sum / static_cast<double>(count); }

std::string bytes_of(double bytes) { return format_bytes(bytes); }

}  // namespace

double sum_report::seconds() const {
  return mean(over_trials(trials, [](const auto& each) { return each.seconds; }), trials.size());
}

double sum_report::flush_seconds() const {
  return mean(over_trials(trials, [](const auto& each) { return each.flush_seconds; }), trials.size());
}

double sum_report::bytes_per_s() const {
  return seconds() > 0 ? static_cast<double>(vectors.bytes_needed()) / seconds() : 0;
}

vector_add::add_io sum_report::io() const {
  vector_add::add_io sum;
  for (const vector_add::add_outcome& each : trials) {
    sum.commands_issued += each.io.commands_issued;
    sum.commands_served += each.io.commands_served;
    sum.commands_dropped += each.io.commands_dropped;
    sum.bytes_moved += each.io.bytes_moved;
    sum.visits += each.io.visits;
    sum.misses += each.io.misses;
  }
  return sum;
}

latency_summary sum_report::page_times() const {
  std::vector<std::uint64_t> counts(latency_buckets);
  for (const vector_add::add_outcome& each : trials)
    std::transform(counts.begin(), counts.end(), each.page_times.begin(), counts.begin(), std::plus<>());
  return summary_of(counts);
}

double sum_report::amplification() const {
  const double needed = static_cast<double>(vectors.bytes_needed()) * static_cast<double>(trials.size());
  return needed > 0 ? static_cast<double>(io().bytes_moved) / needed : 0;
}

double sum_report::hit_rate() const {
  const vector_add::add_io of = io();
  if (of.visits == 0) return 0;
  return static_cast<double>(of.visits - std::min(of.misses, of.visits)) / static_cast<double>(of.visits);
}

double sum_report::ratio_to_bare() const {
  return bare_bytes_per_s > 0 ? bytes_per_s() / bare_bytes_per_s : 0;
}

json sum_report::as_json() const {
  const vector_add::add_io of = io();
  const latency_summary latency = page_times();
  const double time = seconds() * static_cast<double>(trials.size());
  json each = json::array();
  for (const vector_add::add_outcome& trial : trials) each.push_back(trial.seconds);
  return {{"iops", time > 0 ? static_cast<double>(of.commands_served) / time : 0},
          {"bytes_per_s", bytes_per_s()},
          {"elements_per_s", seconds() > 0 ? static_cast<double>(vectors.elements) / seconds() : 0},
          {"seconds", seconds()},
          {"trial_seconds", each},
          {"flush_seconds", flush_seconds()},
          {"commands_issued", of.commands_issued},
          {"commands_served", of.commands_served},
          {"dropped", of.commands_dropped},
          {"verified", true},
          {"latency_us",
           {{"p50", latency.p50}, {"p99", latency.p99}, {"p999", latency.p999}, {"max", latency.max}}},
          {"bare", {{"iops", bare_bytes_per_s / options.page_bytes}, {"bytes_per_s", bare_bytes_per_s}}},
          {"ratio_to_bare", ratio_to_bare()},
          {"comparators", comparators},
          {"comparators_missing", comparators_missing},
          {"io",
           {{"bytes_needed", vectors.bytes_needed() * trials.size()},
            {"bytes_moved", of.bytes_moved},
            {"amplification", amplification()},
            {"hit_rate", hit_rate()}}},
          {"config",
           {{"drives", drives},
            {"elements", vectors.elements},
            {"type", vector_add::element_names[static_cast<std::size_t>(vectors.of)]},
            {"cache", options.cache_bytes},
            {"page", options.page_bytes},
            {"queues", options.queues},
            {"depth", options.depth},
            {"threads", trials.empty() ? 0 : trials.front().lanes},
            {"pages_a_run", trials.empty() ? 0 : trials.front().run},
            {"asks_ahead", !trials.empty() && trials.front().ahead},
            {"trials", trials.size()},
            {"seed", seed}}},
          {"machine", machine},
          {"version", version()}};
}

std::string sum_report::times_text() const {
  if (trials.size() == 1) return "";
  const auto [least, most] = std::minmax_element(
      trials.begin(), trials.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return fmt::format(" on average, {:.4f} to {:.4f} s in {} trials", least->seconds, most->seconds,
                     trials.size());
}

std::string sum_report::as_text() const {
  const vector_add::add_io of = io();
  const latency_summary latency = page_times();
  const std::string dropped =
      of.commands_dropped == 0 ? "" : fmt::format(" + {} dropped", format_grouped(of.commands_dropped));
  std::string text =
      fmt::format("C = A + B, {} elements of {} each, on {}\n", format_grouped(vectors.elements),
                  vector_add::element_names[static_cast<std::size_t>(vectors.of)], machine.value("name", ""));
  text += fmt::format(
      "  time         {:.4f} s{}; of it {:.4f} s flushing C\n"
      "  rate         {:.2f} GB/s: A and B read, C written\n"
      "  bare         {:.2f} GB/s: the same by plain lanes over plain memory; ratio {:.3f}\n"
      "  a page of C  p50 {:.0f} µs, p99 {:.0f} µs, max {:.0f} µs\n"
      "  commands     {} issued by lanes = {} served by controllers{}\n"
      "  bytes        {} moved, {:.2f} times as many as needed, in pages of {}\n",
      seconds(), times_text(), flush_seconds(), bytes_per_s() / 1e9, bare_bytes_per_s / 1e9, ratio_to_bare(),
      latency.p50, latency.p99, latency.max, format_grouped(of.commands_issued),
      format_grouped(of.commands_served), dropped, bytes_of(static_cast<double>(of.bytes_moved)),
      amplification(), bytes_of(options.page_bytes));
  text += comparator_lines;
  return text + "  verified     every element of A, B and C, as the drives hold them after the flush\n";
}

}  // namespace sluice::tool
