// One thing that a machine has or lacks, and what to do about it: what `sluice doctor` looks at.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::tool {

enum class health {
  ok,       ///< as good as it gets
  warn,     ///< works, but less well than it could
  missing,  ///< something that this machine cannot do
};

struct check {
  std::string name;
  health status = health::ok;
  std::string detail;
  std::string mend{};  ///< empty where ok
};

/// Compilers, CUDA toolkit, libcu++: what builds need.
std::vector<check> build_checks();
/// Cores, memory, GPU: where lanes run.
std::vector<check> lane_checks();
/// io_uring, O_DIRECT, NVMe drives and the ways to them: where bytes come from.
std::vector<check> drive_checks();

/// The first line of a file or of what a command prints; empty where there is none.
std::string first_line_of_file(const std::string& path);
std::string first_line_of_command(const std::string& command);
/// Where a program lies in PATH, or in one of `also`; empty where nowhere.
std::string find_program(std::string_view name, const std::vector<std::string>& also = {});

}  // namespace sluice::tool
