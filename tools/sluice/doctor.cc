// `sluice doctor`: what this machine can do, and exactly what is missing for more.
#include "tools/sluice/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

#include "tools/sluice/command.h"

namespace sluice::tool {

namespace {

const char* word(health status) {
  switch (status) {
    case health::ok:
      return "ok";
    case health::warn:
      return "warn";
    case health::missing:
      return "missing";
  }
  return "missing";
}

void examine(context& with) {
  json rows = json::array();
  std::string text;
  for (const auto& part : {lane_checks, build_checks, drive_checks}) {
    for (const check& one : part()) {
      rows.push_back(
          {{"name", one.name}, {"status", word(one.status)}, {"detail", one.detail}, {"mend", one.mend}});
      text += fmt::format("{:<8} {:<14} {}\n", word(one.status), one.name, one.detail);
      if (!one.mend.empty()) text += fmt::format("{:<8} {:<14} -> {}\n", "", "", one.mend);
    }
    context::stop_if_asked();
  }
  with.print({{"checks", rows}, {"version", version()}}, text);
}

}  // namespace

std::string first_line_of_file(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (!line.empty() && line.back() == ' ') line.pop_back();  // sysfs pads names
  return line;
}

std::string first_line_of_command(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen((command + " 2>/dev/null").c_str(), "r"), pclose);
  std::string line;
  if (pipe == nullptr) return line;
  for (int c = std::fgetc(pipe.get()); c != EOF && c != '\n'; c = std::fgetc(pipe.get()))
    line.push_back(static_cast<char>(c));
  return line;
}

std::string find_program(std::string_view name, const std::vector<std::string>& also) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  std::vector<std::string> places;
  for (std::string folder; std::getline(folders, folder, ':');) places.push_back(folder);
  places.insert(places.end(), also.begin(), also.end());
  for (const std::string& folder : places) {
    std::string file = folder + "/" + std::string(name);
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

void add_doctor(CLI::App& program, context& with) {
  CLI::App& doctor = with.add_command(
      program, {"doctor", "what this machine can do, and what is missing for more", "sluice doctor --json"},
      runs_on::host);
  with.runs(doctor, [&with] { examine(with); });
}

}  // namespace sluice::tool
