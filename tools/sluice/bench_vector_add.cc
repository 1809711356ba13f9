// `sluice bench vector-add`: C = A + B by lanes, all three on drives, from an empty cache until C lasts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/vector_add/vector_add.h"
#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "sluice/drive/uri.h"
#include "tools/sluice/cache_bench.h"
#include "tools/sluice/calm_drives.h"
#include "tools/sluice/command.h"
#include "tools/sluice/comparators/sum_comparisons.h"
#include "tools/sluice/sum_report.h"

namespace sluice::tool {

namespace {

struct sum_choice {
  drive_choice drives;
  std::uint64_t elements = 0;
  std::string type = "f32";
  vector_add::add_options options;
  std::optional<unsigned> controllers;
  std::uint32_t trials = 1;
  std::uint64_t seed = 1;
  std::string comparators;
  bool destroy = false;

  vector_add::vectors vectors() const {
    const auto& names = vector_add::element_names;
    const auto at = std::find(names.begin(), names.end(), type) - names.begin();
    return {.of = static_cast<vector_add::element>(at), .elements = elements};
  }
  bool may_write() const { return destroy || all_forget(drives.uris); }
};

/// The drives, with the faults that they are asked for or without; open in one way at a time.
class sum_drives {
 public:
  sum_drives(const sum_choice& choice, lane::machine& on)
      : choice_(choice), on_(on), calm_uris_(without_faults(choice.drives.uris)) {}

  storage& calm() { return open(calm_uris_); }
  storage& as_named() { return open(choice_.drives.uris); }

 private:
  storage& open(const std::vector<std::string>& uris) {
    if (held_ && opened_ == uris) return *held_;
    held_.reset();  // lets go of the drives
    const unsigned threads = choice_.controllers.value_or(on_.kind() == backend::cuda ? 8 : 1);
    held_.emplace(storage::raw(uris,
                               {.mode = drive::access::write, .controller_threads = threads, .machine = &on_},
                               choice_.drives.how, choice_.drives.unit));
    opened_ = uris;
    return *held_;
  }

  const sum_choice& choice_;
  lane::machine& on_;
  std::vector<std::string> calm_uris_, opened_;
  std::optional<storage> held_;
};

vector_add::byte_progress told_to(progress& bar) {
  return [&bar](std::uint64_t bytes) {
    context::stop_if_asked();
    bar.add(bytes);
  };
}

/// What cannot be is said before anything is written.
void need_possible(context& with, lane::machine& on, storage& held, const sum_choice& choice) {
  const vector_add::vectors of = choice.vectors();
  vector_add::need_room(held.volume(), of);
  vector_add::need_possible(on, held, choice.options);
  for (const std::string& line : held.volume().notes()) with.note(line);
  if (!choice.may_write() && holds_data(held, 0, of.bytes()))
    throw error(error_kind::bad_input, "the vectors would be written over what the drive holds",
                "name another drive, or say --destroy to lose what is there",
                {.drive = choice.drives.uris.front()});
}

void prepare(storage& held, const sum_choice& choice) {
  const vector_add::vectors of = choice.vectors();
  progress bar("preparing", of.bytes());
  vector_add::write_operands(held.volume(), of, choice.seed, told_to(bar));
  vector_add::spoil_sums(held.volume(), of, told_to(bar));
  held.volume().flush();
}

void need_served(const vector_add::add_io& io) {
  if (io.commands_issued == io.commands_served + io.commands_dropped) return;
  throw error(error_kind::wrong_answer,
              fmt::format("lanes issued {} commands, and the drives served {} and dropped {}",
                          io.commands_issued, io.commands_served, io.commands_dropped),
              "please report it with the command line and the machine");
}

void need_right(const storage& held, const sum_choice& choice) {
  const vector_add::vectors of = choice.vectors();
  progress bar("verifying", of.bytes());
  if (const auto fault = vector_add::fault_of_sums(held.volume(), of, choice.seed, told_to(bar)))
    throw error(error_kind::wrong_answer, "the addition's answer is wrong: " + *fault,
                "please report it with the command line and the machine");
}

vector_add::add_outcome run_trial(lane::machine& on, sum_drives& drives, const sum_choice& choice) {
  vector_add::add_outcome outcome =
      vector_add::add_on_lanes(on, drives.as_named(), choice.vectors(), choice.options);
  need_served(outcome.io);
  need_right(drives.calm(), choice);
  return outcome;
}

void run(context& with, sum_choice& choice) {
  choice.drives.uris = drive::each_drive(choice.drives.uris);
  choice.options.stop_asked = context::stop_asked;
  const auto machine = with.open_machine();
  sum_drives drives(choice, *machine);
  need_possible(with, *machine, drives.calm(), choice);
  const memory::place media = drives.calm().drives().front()->info().media;
  prepare(drives.calm(), choice);
  sum_report report{.drives = choice.drives.uris,
                    .vectors = choice.vectors(),
                    .options = choice.options,
                    .seed = choice.seed,
                    .machine = describe_machine(*machine)};
  for (std::uint32_t i = 0; i < choice.trials; ++i) {
    if (i > 0) vector_add::spoil_sums(drives.calm().volume(), choice.vectors());
    report.trials.push_back(run_trial(*machine, drives, choice));
  }
  sum_comparisons others(choice.comparators, *machine, choice.vectors(), choice.seed, choice.trials);
  report.bare_bytes_per_s = others.bare_rate(media);
  json compared;
  report.comparator_lines = others.measure(report.bytes_per_s(), compared);
  report.comparators = compared["comparators"];
  report.comparators_missing = compared["comparators_missing"];
  with.print(report.as_json(), report.as_text());
}

/// "64M", "1e6", "1000".
std::uint64_t elements_in_words(const std::string& text) {
  const double wanted = parse_rate(text, "--elements");
  if (wanted != std::floor(wanted) || wanted > 1e18)
    throw error(error_kind::bad_input, "--elements is " + text + ", which is no number of elements",
                "give a whole number, such as 64M");
  return static_cast<std::uint64_t>(wanted);
}

void add_run_options(CLI::App& command, sum_choice& choice) {
  add_bytes(command, "--cache", "memory for pages", choice.options.cache_bytes);
  add_bytes(command, "--page", "bytes that move at once: a power of two, 512 to 64KiB",
            choice.options.page_bytes);
  command.add_option("--queues", choice.options.queues, "queue pairs on each drive")
      ->check(CLI::Range(1U, 65'535U))
      ->capture_default_str();
  command.add_option("--depth", choice.options.depth, "entries of a queue")
      ->check(CLI::Range(2U, 32'768U))
      ->capture_default_str();
  command.add_option("--threads", choice.options.lanes, "lanes; else as many as suit machine and cache")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32));
  command.add_option("--controllers", choice.controllers, "threads of each software controller")
      ->check(CLI::Range(1U, 1024U));
  command.add_option("--trials", choice.trials, "additions, each from an empty cache")
      ->check(CLI::Range(1U, 1'000'000U))
      ->capture_default_str();
  command.add_option("--seed", choice.seed, "draws what A and B hold")->capture_default_str();
}

}  // namespace

void add_bench_vector_add(CLI::App& bench, context& with) {
  auto choice = std::make_shared<sum_choice>();
  CLI::App& command =
      with.add_command(bench, {"vector-add", "C = A + B, with all three vectors on drives",
                               "sluice bench vector-add --elements 1M --drive mem:64MiB --comparators"});
  command
      .add_option_function<std::string>(
          "--elements", [choice](const std::string& text) { choice->elements = elements_in_words(text); },
          "of each vector, at most 4,294,967,296: 1000, 64M")
      ->type_name("N")
      ->required();
  command.add_option("--type", choice->type, "of the elements")
      ->check(CLI::IsMember(
          std::vector<std::string>(vector_add::element_names.begin(), vector_add::element_names.end())))
      ->capture_default_str();
  add_uris(command, "--drive", "where the vectors are made", choice->drives);
  add_layout(command, choice->drives);
  add_run_options(command, *choice);
  add_sum_comparators(command, choice->comparators);
  command.add_flag("--destroy", choice->destroy, "write over what the drives hold");
  with.runs(command, [&with, choice] { run(with, *choice); });
}

}  // namespace sluice::tool
