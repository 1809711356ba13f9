// What building Sluice needs: compilers, the CUDA toolkit, libcu++.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cuda/std/version>

#include "tools/sluice/doctor.h"

namespace sluice::tool {

namespace {

const std::string setup = "run scripts/setup.sh once";

check compiler(const std::string& name, int least) {
  const std::string version = find_program(name).empty() ? "" : first_line_of_command(name + " -dumpversion");
  if (version.empty()) return {name, health::missing, "not installed", setup};
  if (std::atoi(version.c_str()) < least)
    return {name, health::warn, "version " + version + ", older than what Sluice is tested with",
            "install version " + std::to_string(least) + " or later"};
  return {name, health::ok, "version " + version};
}

check tool(const std::string& name, const std::string& ask) {
  const std::string line = find_program(name).empty() ? "" : first_line_of_command(ask);
  if (line.empty()) return {name, health::missing, "not installed", setup};
  return {name, health::ok, line};
}

/// Where a toolkit may lie, most wanted first.
std::vector<std::string> toolkits() {
  std::vector<std::string> found;
  for (const char* name : {"CUDA_PATH", "CUDA_HOME"}) {
    if (const char* folder = std::getenv(name)) found.emplace_back(folder);
  }
  found.emplace_back("/usr/local/cuda");
  return found;
}

check cuda_toolkit() {
  std::vector<std::string> folders = toolkits();
  for (std::string& folder : folders) folder += "/bin";
  const std::string nvcc = find_program("nvcc", folders);
  const std::string mend = "install CUDA 13 or later, then build with `cmake --preset cuda`";
  if (nvcc.empty())
    return {"cuda-toolkit", health::missing, "no nvcc in PATH, CUDA_PATH, CUDA_HOME or /usr/local/cuda",
            mend};
  const std::string release =
      first_line_of_command("'" + nvcc + "' --version | sed -n 's/.*release \\([0-9.]*\\).*/\\1/p'");
  if (std::atoi(release.c_str()) < 13)
    return {"cuda-toolkit", health::warn, nvcc + ", release " + release, mend};
  return {"cuda-toolkit", health::ok, nvcc + ", release " + release};
}

check libcudacxx() {
  const std::string built = std::to_string(CCCL_MAJOR_VERSION) + "." + std::to_string(CCCL_MINOR_VERSION) +
                            "." + std::to_string(CCCL_PATCH_VERSION);
  std::vector<std::string> folders{".deps/cccl/include"};
  for (const std::string& toolkit : toolkits()) folders.push_back(toolkit + "/include/cccl");
  const auto found = std::find_if(folders.begin(), folders.end(), [](const std::string& folder) {
    return access((folder + "/cuda/atomic").c_str(), R_OK) == 0;
  });
  if (found != folders.end())
    return {"libcu++", health::ok, "headers in " + *found + "; this program was built with " + built};
  return {"libcu++", health::missing, "no headers here for a build; this program was built with " + built,
          setup + ", or install a CUDA toolkit"};
}

}  // namespace

std::vector<check> build_checks() {
  return {compiler("g++", 12),
          compiler("clang++", 14),
          tool("cmake", "cmake --version"),
          tool("ninja", "ninja --version"),
          cuda_toolkit(),
          libcudacxx()};
}

}  // namespace sluice::tool
