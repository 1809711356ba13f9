#include "tools/sluice/plot_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "sluice/base/sizes.h"

namespace sluice::tool {

namespace {

constexpr std::array<double, 3> mantissas{1, 2, 5};
constexpr int wanted_ticks = 5;
constexpr std::size_t most_ticks = 9;

/// `value` over the largest of `bases` that it reaches, and that one's name.
std::string scaled_text(double value, double base, const std::vector<const char*>& names) {
  std::size_t at = 0;
  // 999.96 would be written as 1000.
  while (at + 1 < names.size() && std::abs(value) >= base * 0.99995) {
    value /= base;
    ++at;
  }
  return fmt::format("{:.4g}{}{}", value, *names[at] == '\0' ? "" : " ", names[at]);
}

std::string count_text(double value) {
  constexpr double most_in_full = 1e9;
  const bool whole = value >= 0 && value < most_in_full && value == std::floor(value);
  return whole ? format_grouped(static_cast<std::uint64_t>(value)) : unit_text(value, plot_unit::number);
}

bool spans_decades(double low, double high) { return low > 0 && high / low > plot_scale::log_from; }

/// The ends of `values`, or of an axis of nothing.
std::pair<double, double> ends_of(const std::vector<double>& values) {
  if (values.empty()) return {0, 1};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {*low, *high};
}

}  // namespace

std::string unit_text(double value, plot_unit unit) {
  switch (unit) {
    case plot_unit::number:
      return scaled_text(value, 1000, {"", "k", "M", "G", "T"});
    case plot_unit::count:
      return count_text(value);
    case plot_unit::bytes:
      return scaled_text(value, 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
    case plot_unit::micros:
      return scaled_text(value, 1000, {"µs", "ms", "s"});
    case plot_unit::seconds:
      return fmt::format("{:.4g} s", value);
    case plot_unit::share:
      return fmt::format("{:.4g} %", value * 100);
    case plot_unit::ratio:
      return fmt::format("{:.4g}×", value);
  }
  return {};
}

std::vector<double> linear_ticks(double low, double high, int wanted) {
  const double raw = (high - low) / wanted;
  if (!std::isnormal(raw)) return {low, high};
  const double power = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double mantissa : {5.0, 2.0, 1.0})
    if (mantissa * power >= raw * (1 - 1e-9)) step = mantissa * power;
  const double first = std::floor(low / step + 1e-9);
  const double last = std::ceil(high / step - 1e-9);
  std::vector<double> ticks;
  for (int n = 0; n <= static_cast<int>(last - first); ++n) ticks.push_back((first + n) * step);
  return ticks;
}

std::vector<double> log_ticks(double low, double high, std::size_t most) {
  const int first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(high) - 1e-9));
  std::vector<double> ticks;
  for (int power = first; power <= last; ++power)
    for (const double mantissa : mantissas) ticks.push_back(mantissa * std::pow(10, power));
  const auto above =
      std::find_if(ticks.begin(), ticks.end(), [&](double tick) { return tick > low * (1 + 1e-9); });
  ticks.erase(ticks.begin(), above == ticks.begin() ? above : above - 1);
  const auto end =
      std::find_if(ticks.begin(), ticks.end(), [&](double tick) { return tick >= high * (1 - 1e-9); });
  if (end != ticks.end()) ticks.erase(end + 1, ticks.end());
  if (ticks.size() <= most) return ticks;
  const int stride = static_cast<int>((static_cast<std::size_t>(last - first) + most - 1) / most);
  ticks.clear();
  for (int power = first; power < last + stride; power += stride) ticks.push_back(std::pow(10, power));
  return ticks;
}

plot_scale plot_scale::around(const std::vector<double>& values) {
  auto [low, high] = ends_of(values);
  plot_scale scale;
  scale.log_ = spans_decades(low, high);
  if (!scale.log_) low = std::min(low, 0.0);
  if (high <= low) high = low + 1;
  scale.ticks_ = scale.log_ ? log_ticks(low, high, most_ticks) : linear_ticks(low, high, wanted_ticks);
  scale.low_ = scale.ticks_.front();
  scale.high_ = scale.ticks_.back();
  return scale;
}

plot_scale plot_scale::through(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  plot_scale scale;
  std::tie(scale.low_, scale.high_) = ends_of(values);
  scale.log_ = spans_decades(scale.low_, scale.high_);
  if (values.size() <= most_ticks + 1) {
    scale.ticks_ = std::move(values);
    return scale;
  }
  scale.ticks_ = scale.log_ ? log_ticks(scale.low_, scale.high_, most_ticks)
                            : linear_ticks(scale.low_, scale.high_, wanted_ticks);
  std::erase_if(scale.ticks_, [&](double tick) { return tick < scale.low_ || tick > scale.high_; });
  return scale;
}

double plot_scale::place(double value) const {
  if (high_ <= low_) return 0.5;
  if (log_) return std::log(value / low_) / std::log(high_ / low_);
  return (value - low_) / (high_ - low_);
}

}  // namespace sluice::tool
