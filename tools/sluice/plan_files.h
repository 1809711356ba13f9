// What `sluice plan` reads: a price table of the user's, and drives that `sluice bench io` has measured.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sluice/emulator/drive_model.h"

namespace sluice::tool {

/// The name under which a price table may give the price of measured drives.
inline constexpr const char* measured_name = "measured";

/// $/GB of DRAM and of drive models by name, as a file of the user's has them.
struct price_table {
  double dram = 0;
  std::map<std::string, double> drives{};
  std::string source{};

  /// Gives `model` its price by this table: none where the table has none.
  void put_on(emulator::drive_model& model) const;
};

/// A table such as {"dram": 11.13, "p5800x": 2.54}. Throws error{bad_input} saying what is expected where.
price_table read_prices(const std::string& file);

/// One drive as `sluice bench io --json` found it, and the commands that it was measured with.
struct measured_drive {
  emulator::drive_model model;
  std::uint64_t bytes = 0;  ///< of a command
  double write_share = 0;
};

/// Of a sweep, the fastest row. Throws error{bad_input} where the file is not such a result.
measured_drive read_measured(const std::string& file);

}  // namespace sluice::tool
