#include "tools/sluice/plan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "sluice/base/sizes.h"

namespace sluice::tool {

namespace {

using emulator::bottleneck;
using emulator::ceiling;
using emulator::drive_plan;

json number_or_null(const std::optional<double>& number) { return number ? json(*number) : json(nullptr); }

std::string block_text(std::uint64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

/// "2.54", or "?" where nothing is known.
std::string known(const std::optional<double>& number, const char* how) {
  return number ? fmt::format(fmt::runtime(how), *number) : "?";
}

const char* words_of(bottleneck what) {
  switch (what) {
    case bottleneck::link:
      return "the link";
    case bottleneck::drive:
      return "the drives";
    case bottleneck::queue_depth:
      return "queue depth";
    case bottleneck::sms:
      return "the SMs";
  }
  return "the link";
}

}  // namespace

const planned_drive& plan_report::best() const {
  const auto order = [](const planned_drive& row) {
    return std::tuple(-row.plan.accesses_per_s,
                      row.model.dollars_per_gb.value_or(std::numeric_limits<double>::infinity()));
  };
  return *std::min_element(rows.begin(), rows.end(), [&](const planned_drive& a, const planned_drive& b) {
    return order(a) < order(b);
  });
}

json plan_report::row_json(const planned_drive& row) const {
  const auto& [model, plan] = row;
  json limits;
  for (const ceiling& one : plan.ceilings) limits[to_string(one.what)] = one.accesses_per_s;
  return {{"drive_model", model.name},
          {"queue_depth", plan.queue_depth},
          {"drives", plan.drives},
          {"in_flight_per_drive", plan.in_flight},
          {"queues", plan.queues},
          {"depth", plan.depth},
          {"lanes", plan.lanes},
          {"limit", to_string(plan.limit().what)},
          {"limits", limits},
          {"accesses_per_s", plan.accesses_per_s},
          {"bytes_per_s", plan.accesses_per_s * static_cast<double>(wanted.bytes)},
          {"drive_accesses_per_s", plan.drive_rate},
          {"latency_us", model.latency_us},
          {"cost_per_gb", number_or_null(model.dollars_per_gb)},
          {"dram_cost_per_gb", around.dram_dollars_per_gb},
          {"gain", number_or_null(plan.gain)},
          {"source", model.source}};
}

json plan_report::as_json() const {
  json object = row_json(best());
  if (rows.size() > 1) {
    object["rows"] = json::array();
    for (const planned_drive& row : rows) object["rows"].push_back(row_json(row));
  }
  object["config"] = {{"accesses_per_s", wanted.accesses_per_s},
                      {"block", wanted.bytes},
                      {"mix", wanted.write_share},
                      {"link_bytes_per_s", around.link_bytes_per_s},
                      {"gpu_commands_per_s", around.gpu_commands_per_s},
                      {"lanes_us", around.lanes_us},
                      {"max_queues", around.queues},
                      {"max_depth", around.depth},
                      {"prices", prices}};
  object["version"] = version();
  return object;
}

std::string plan_report::wanted_text() const {
  const double bytes_per_s = wanted.accesses_per_s * static_cast<double>(wanted.bytes);
  const std::string writes =
      wanted.write_share > 0 ? fmt::format(", {:.0f} % of them writes", wanted.write_share * 100) : "";
  return fmt::format("{} accesses/s of {} ({:.2f} GB/s){}", format_rate(wanted.accesses_per_s),
                     block_text(wanted.bytes), bytes_per_s / 1e9, writes);
}

std::string plan_report::table() const {
  std::string text =
      fmt::format("{:<13} {:>8} {:>10} {:>7} {:>13} {:>11} {:>10} {:>6} {:>6}\n", "model", "latency",
                  "in flight", "drives", "queues", "reaches/s", "limit", "$/GB", "gain");
  for (const auto& [model, plan] : rows)
    text += fmt::format("{:<13} {:>5.0f} µs {:>10} {:>7} {:>13} {:>11} {:>10} {:>6} {:>6}\n", model.name,
                        model.latency_us, format_grouped(plan.queue_depth), format_grouped(plan.drives),
                        fmt::format("{} x {}", plan.queues, plan.depth), format_rate(plan.accesses_per_s),
                        words_of(plan.limit().what), known(model.dollars_per_gb, "{:.2f}"),
                        known(plan.gain, "{:.1f}x"));
  return text + fmt::format(
                    "in flight  commands on all drives: rate x latency (Little's law)\n"
                    "queues     a drive's, x entries of each; limit: what ends first\n"
                    "gain       DRAM's {:.2f} $/GB by the drive's\n"
                    "--drive-model NAME explains one, and says where its figures are from\n",
                    around.dram_dollars_per_gb);
}

std::string plan_report::limit_text(const drive_plan& plan) const {
  const ceiling& lowest = plan.limit();
  std::string others;
  for (const ceiling& one : plan.ceilings) {
    if (one.what == lowest.what) continue;
    others += fmt::format("{}{} {}", others.empty() ? "" : ", ", words_of(one.what),
                          format_rate(one.accesses_per_s));
  }
  return fmt::format("{}: {} accesses/s, {:.2f} of what is wanted; {}", words_of(lowest.what),
                     format_rate(lowest.accesses_per_s), lowest.accesses_per_s / wanted.accesses_per_s,
                     others);
}

std::string plan_report::price_text(const planned_drive& row) const {
  if (!row.plan.gain) return "unknown; --prices FILE may give it";
  return fmt::format("{:.2f} $/GB, DRAM {:.2f}: a gain of {:.1f}x ({})", *row.model.dollars_per_gb,
                     around.dram_dollars_per_gb, *row.plan.gain, prices);
}

std::string plan_report::explained(const planned_drive& row) const {
  const auto& [model, plan] = row;
  return fmt::format(
      "  queue depth  {} commands in flight on the drives: {}/s x {} µs (Little's law)\n"
      "  lanes        {}, with a command each: their own way to the drives and back takes {} µs more\n"
      "  drives       {}, each {} accesses/s of this kind\n"
      "  queues       {} of {} entries on each drive, for its share of the lanes\n"
      "  limit        {}\n"
      "  reaches      {} accesses/s, {:.2f} GB/s\n"
      "  cost         {}\n"
      "  figures      {}\n",
      format_grouped(plan.queue_depth), format_rate(wanted.accesses_per_s), model.latency_us,
      format_grouped(plan.lanes), around.lanes_us, format_grouped(plan.drives), format_rate(plan.drive_rate),
      plan.queues, plan.depth, limit_text(plan), format_rate(plan.accesses_per_s),
      plan.accesses_per_s * static_cast<double>(wanted.bytes) / 1e9, price_text(row), model.source);
}

std::string plan_report::as_text() const {
  if (rows.size() > 1) return wanted_text() + "\n" + table();
  return wanted_text() + ", from " + rows.front().model.what + "\n" + explained(rows.front());
}

}  // namespace sluice::tool
