// What the subcommands share: how one registers, what all of them take, how results, errors and progress are
// printed.
#pragma once

#include <atomic>
#include <chrono>
#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/types.h"
#include "sluice/drive/volume.h"
#include "sluice/lane/launch.h"

namespace sluice::tool {

/// Keys stay in the order in which they were put.
using json = nlohmann::ordered_json;

/// How a subcommand introduces itself.
struct command_text {
  std::string name;     ///< "info"
  std::string what;     ///< one line for `--help`
  std::string example;  ///< a command line that works, for `--help`
};

/// Where a subcommand's lanes may run.
enum class runs_on : std::uint8_t {
  host,                   ///< no lanes: no --backend
  lanes,                  ///< --backend auto|cuda|cpu
  lanes_and_plain_cplus,  ///< applications: also --backend reference
};

/// One run of the program: its common options, its output, and the wish to stop. Registration: an
/// `add_x(CLI::App& parent, context&)` makes its options (kept alive by the lambda given to runs()), and main
/// calls it. What a subcommand throws as sluice::error becomes the one line or object that the user gets, and
/// the exit status. `context` outlives the parse and the run.
class context {
 public:
  /// Adds a subcommand with `--json`, and `--backend` and `--cpu-threads` where it has lanes.
  CLI::App& add_command(CLI::App& parent, const command_text& text, runs_on where = runs_on::lanes);
  /// Says what `command` does once everything has been parsed.
  void runs(CLI::App& command, std::function<void()> action);
  /// Runs what the parsed command line asked for; the exit status.
  int run();

  bool wants_json() const { return json_; }
  bool wants_reference() const { return backend_ == "reference"; }
  /// The machine that `--backend` names. Throws error{unavailable} where there is none.
  std::unique_ptr<lane::machine> open_machine() const;

  /// The result: `object` with --json, else `text` (with its last newline), on standard output. Once.
  void print(const json& object, const std::string& text);
  /// The result that was printed tells of something bad: the program exits with 1.
  void end_badly() { ended_badly_ = true; }
  /// Something a person should know: one line on standard error.
  void note(const std::string& line) const;

  /// True after Ctrl-C. Loops look at it, then call stop_if_asked().
  static bool stop_asked();
  /// Throws error{cancelled} after Ctrl-C.
  static void stop_if_asked();
  /// Waits for the launch. On Ctrl-C calls `cancel` (which ends the lanes' waits), waits for the end, throws
  /// error{cancelled}.
  lane::launch_report wait_for(lane::running_launch& launch, const std::function<void()>& cancel) const;

  // main's part.
  /// What the command line said in so many words, for errors that come before it is parsed.
  void expect_json(bool wanted) { json_ = wanted; }
  static void catch_ctrl_c();
  /// The one line, or object, for a failure of any kind; returns the exit status.
  int fail(const std::exception& failure) const;

 private:
  bool json_ = false;
  bool ended_badly_ = false;
  std::string backend_ = "auto";
  unsigned cpu_threads_ = 0;
  std::function<void()> action_;
};

/// Drives as a user names them: a URI option repeated, one a drive, and how a new volume lies over them.
struct drive_choice {
  std::vector<std::string> uris;
  drive::layout how = drive::layout::stripe;
  std::uint64_t unit = drive::largest_page;
};
/// `flag` is "--drive", "--to", "--graph" or "--data"; required.
CLI::Option* add_uris(CLI::App& command, const std::string& flag, const std::string& what,
                      drive_choice& choice);
/// True where every drive forgets at exit what was written to it.
bool all_forget(const std::vector<std::string>& uris);
/// `--layout stripe|mirror` and `--unit`, for commands that make volumes.
void add_layout(CLI::App& command, drive_choice& choice);
/// An option that takes a size such as 64KiB.
CLI::Option* add_bytes(CLI::App& command, const std::string& flag, const std::string& what,
                       std::uint64_t& bytes);
CLI::Option* add_bytes(CLI::App& command, const std::string& flag, const std::string& what,
                       std::uint32_t& bytes);

/// Throws error{bad_input}.
[[noreturn]] void refuse(const std::string& message, const std::string& mend);

/// Holds an option to real numbers from `least` to `most`. CLI::Range would let "nan" through.
CLI::Validator real_from(double least, double most);

/// `machine` and `version` of design §9.
json describe_machine(const lane::machine& on);
std::string version();

/// A bar on standard error, only on a terminal and only for what takes longer than two seconds.
class progress {
 public:
  /// `total` in the unit that add() counts; `what` says it: "importing", "bytes".
  progress(std::string what, std::uint64_t total);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();
  void add(std::uint64_t done);

 private:
  using clock = std::chrono::steady_clock;
  void draw(clock::time_point now);

  std::string what_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  bool on_terminal_;
  bool drawn_ = false;
  clock::time_point began_;
  clock::time_point next_;
};

// Subcommands: each in a file of its name.
void add_doctor(CLI::App& program, context& with);
void add_drives(CLI::App& program, context& with);
void add_import(CLI::App& program, context& with);
void add_seal(CLI::App& program, context& with);
void add_scrub(CLI::App& program, context& with);
/// The parent of bench's subcommands, and those that exist.
void add_bench(CLI::App& program, context& with);
void add_bench_cache(CLI::App& bench, context& with);
void add_bench_io(CLI::App& bench, context& with);
void add_bench_vector_add(CLI::App& bench, context& with);
void add_graph(CLI::App& program, context& with);
void add_plan(CLI::App& program, context& with);
void add_report(CLI::App& program, context& with);

}  // namespace sluice::tool
