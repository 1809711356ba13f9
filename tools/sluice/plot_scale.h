// The scale of a plot's axis: where a value stands, and which values are written beside it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::tool {

/// What the numbers of an axis are, which says how they are written.
enum class plot_unit : std::uint8_t {
  number,   ///< "1.5 M", powers of 1000
  count,    ///< "32,768"
  bytes,    ///< "64 KiB", powers of 1024
  micros,   ///< microseconds: "20 µs", "1.5 ms"
  seconds,  ///< "1.5 s"
  share,    ///< of one: "25 %"
  ratio,    ///< "0.5×"
};

/// A value as people read it, with at most four digits.
std::string unit_text(double value, plot_unit unit);

/// A linear scale, or a logarithmic one where all values are above 0 and the largest is more than `log_from`
/// times the smallest. Values are finite.
class plot_scale {
 public:
  static constexpr double log_from = 20;

  /// Covers `values` from tick to tick; a linear one begins at 0. For what is measured.
  static plot_scale around(const std::vector<double>& values);
  /// Ends at the outermost of `values`, and has its ticks at them where they are few. For what was chosen.
  static plot_scale through(std::vector<double> values);

  /// 0 at the scale's low end, 1 at its high end.
  double place(double value) const;
  const std::vector<double>& ticks() const { return ticks_; }
  bool is_log() const { return log_; }

 private:
  double low_ = 0, high_ = 1;
  bool log_ = false;
  std::vector<double> ticks_;
};

/// Multiples of 1, 2 or 5 times a power of ten from at or below `low` to at or above `high`, about `wanted`
/// of them.
std::vector<double> linear_ticks(double low, double high, int wanted);
/// 1, 2 and 5 times powers of ten in the same way, or powers alone where that would be too many.
std::vector<double> log_ticks(double low, double high, std::size_t most);

}  // namespace sluice::tool
