#include "tools/sluice/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <thread>
#include <utility>

#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "sluice/drive/uri.h"

namespace sluice::tool {

namespace {

constexpr unsigned most_cpu_threads = 1024;
std::atomic<bool> ctrl_c{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler stores it");

template <class Count>
CLI::Option* add_bytes_as(CLI::App& command, const std::string& flag, const std::string& what, Count& bytes) {
  auto read = [flag, &bytes](const std::string& text) {
    const std::uint64_t wanted = parse_bytes(text, flag);
    if (wanted > std::numeric_limits<Count>::max())
      throw error(error_kind::bad_input, flag + " is " + text + ", more than it may be",
                  "give a smaller size");
    bytes = static_cast<Count>(wanted);
  };
  return command.add_option_function<std::string>(flag, read, what)
      ->type_name("SIZE")
      ->default_str(format_bytes(static_cast<double>(bytes)));
}

}  // namespace

CLI::App& context::add_command(CLI::App& parent, const command_text& text, runs_on where) {
  CLI::App& command = *parent.add_subcommand(text.name, text.what);
  command.footer("Example:\n  " + text.example);
  command.add_flag("--json", json_, "print one JSON object on standard output");
  if (where == runs_on::host) return command;
  std::vector<std::string> backends{"auto", "cuda", "cpu"};
  if (where == runs_on::lanes_and_plain_cplus) backends.emplace_back("reference");
  command.add_option("--backend", backend_, "where lanes run; auto takes a GPU where there is one")
      ->check(CLI::IsMember(backends))
      ->default_str("auto");
  command
      .add_option("--cpu-threads", cpu_threads_, "CPU backend: threads that run lanes (default: one a core)")
      ->check(CLI::Range(1U, most_cpu_threads));
  return command;
}

void context::runs(CLI::App& command, std::function<void()> action) {
  command.callback([this, action = std::move(action)] { action_ = action; });
}

int context::run() {
  action_();
  stop_if_asked();
  return ended_badly_ ? 1 : 0;
}

std::unique_ptr<lane::machine> context::open_machine() const {
  const bool on_gpu = backend_ == "cuda" || (backend_ == "auto" && lane::machine::has_cuda());
  return on_gpu ? lane::machine::cuda() : lane::machine::cpu(cpu_threads_);
}

bool context::stop_asked() { return ctrl_c.load(std::memory_order_relaxed); }

void context::stop_if_asked() {
  if (stop_asked()) throw error(error_kind::cancelled, "stopped by Ctrl-C");
}

void context::catch_ctrl_c() {
  struct sigaction stop {};
  stop.sa_handler = [](int) { ctrl_c.store(true, std::memory_order_relaxed); };
  stop.sa_flags = SA_RESTART | SA_RESETHAND;  // a second Ctrl-C ends the program at once
  sigaction(SIGINT, &stop, nullptr);
}

lane::launch_report context::wait_for(lane::running_launch& launch,
                                      const std::function<void()>& cancel) const {
  constexpr auto glance = std::chrono::milliseconds(2);
  while (!launch.finished()) {
    if (stop_asked()) {
      cancel();
      launch.wait();
      stop_if_asked();
    }
    std::this_thread::sleep_for(glance);
  }
  return launch.wait();
}

CLI::Option* add_uris(CLI::App& command, const std::string& flag, const std::string& what,
                      drive_choice& choice) {
  return command.add_option(flag, choice.uris, what + "; repeat it for each drive of a volume")
      ->type_name("URI")
      ->required()
      ->expected(1)
      ->take_all();
}

void add_layout(CLI::App& command, drive_choice& choice) {
  auto read = [&choice](const std::string& text) {
    choice.how = text == "mirror" ? drive::layout::mirror : drive::layout::stripe;
  };
  command.add_option_function<std::string>("--layout", read, "how several drives make one volume")
      ->check(CLI::IsMember({"stripe", "mirror"}))
      ->default_str("stripe");
  add_bytes(command, "--unit", "bytes of a stripe on one drive", choice.unit);
}

bool all_forget(const std::vector<std::string>& uris) {
  return std::all_of(uris.begin(), uris.end(), [](const std::string& uri) {
    const std::string scheme = drive::uri::parse(uri).scheme();
    return scheme == "mem" || scheme == "emu";
  });
}

void refuse(const std::string& message, const std::string& mend) {
  throw error(error_kind::bad_input, message, mend);
}

CLI::Option* add_bytes(CLI::App& command, const std::string& flag, const std::string& what,
                       std::uint64_t& bytes) {
  return add_bytes_as(command, flag, what, bytes);
}

CLI::Option* add_bytes(CLI::App& command, const std::string& flag, const std::string& what,
                       std::uint32_t& bytes) {
  return add_bytes_as(command, flag, what, bytes);
}

CLI::Validator real_from(double least, double most) {
  const std::string range = fmt::format("FLOAT in [{} - {}]", least, most);
  auto look = [least, most, range](const std::string& text) -> std::string {
    double number = 0;
    const bool fits = CLI::detail::lexical_cast(text, number) && number >= least && number <= most;
    return fits ? "" : text + " is not " + range;
  };
  return {look, range};
}

}  // namespace sluice::tool
