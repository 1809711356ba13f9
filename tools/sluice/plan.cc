// `sluice plan`: how many drives, queues and commands in flight a rate of accesses takes, what limits it, and
// what it costs.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "sluice/base/types.h"
#include "sluice/emulator/sizing.h"
#include "tools/sluice/command.h"
#include "tools/sluice/plan_files.h"
#include "tools/sluice/plan_report.h"
#include "tools/sluice/plan_verify.h"

namespace sluice::tool {

namespace {

struct plan_choice {
  std::optional<double> accesses, saturate_gb, latency_us, link_gb;
  std::optional<std::uint64_t> drives;
  emulator::workload wanted;
  emulator::surroundings around;
  std::string model, prices_file, measured_file;
  bool verify = false;
  double seconds = 1;
};

constexpr std::uint64_t block_bytes = 512;
constexpr double bytes_of_gb = 1e9;
// More than any link, GPU or drive will do for long.
constexpr double most_a_second = 1e12;
constexpr double most_gb = 1e6;
constexpr double most_us = 1e9;

/// An option that takes a number above 0, such as 51M or 51e6, up to `most`.
template <class Number>
CLI::Option* add_positive(CLI::App& plan, const std::string& flag, const std::string& what, double most,
                          Number& number) {
  auto read = [flag, most, &number](const std::string& text) {
    const double value = parse_rate(text, flag);
    if (value <= 0 || value > most)
      throw error(error_kind::bad_input, flag + " is " + text,
                  "say a number above 0, and at most " + format_rate(most));
    number = value;
  };
  return plan.add_option_function<std::string>(flag, read, what)->type_name("NUMBER");
}

/// The models to plan with: the measured drives, the one that is named, or all.
std::vector<emulator::drive_model> models_of(plan_choice& choice) {
  if (!choice.measured_file.empty()) {
    const measured_drive found = read_measured(choice.measured_file);
    choice.wanted.bytes = found.bytes;
    choice.wanted.write_share = found.write_share;
    return {found.model};
  }
  if (!choice.model.empty()) return {emulator::find_drive_model(choice.model)};
  const auto all = emulator::drive_models();
  return {all.begin(), all.end()};
}

/// Prices of the user's, where there are some. Returns whose prices hold.
std::string settle_prices(plan_choice& choice, std::vector<emulator::drive_model>& models) {
  if (choice.prices_file.empty()) return emulator::dram_price_source;
  const price_table prices = read_prices(choice.prices_file);
  choice.around.dram_dollars_per_gb = prices.dram;
  for (emulator::drive_model& model : models) prices.put_on(model);
  return prices.source;
}

/// What is wanted in accesses a second; a link that is to be saturated is the link there is.
void settle_target(plan_choice& choice) {
  if (!choice.accesses && !choice.saturate_gb)
    throw error(error_kind::bad_input, "nothing says what the drives are to do",
                "add --accesses 51M, or --saturate 26 for a link of 26 GB/s");
  const auto link_gb = choice.link_gb ? choice.link_gb : choice.saturate_gb;
  if (link_gb) choice.around.link_bytes_per_s = *link_gb * bytes_of_gb;
  emulator::workload& wanted = choice.wanted;
  wanted.accesses_per_s = choice.accesses ? *choice.accesses
                                          : emulator::link_rate(*choice.saturate_gb * bytes_of_gb,
                                                                wanted.bytes, wanted.write_share);
}

/// What is said of blocks and queues is something that drives have.
void need_possible(const plan_choice& choice) {
  const std::uint64_t bytes = choice.wanted.bytes;
  if (bytes == 0 || bytes % block_bytes != 0 || bytes > GiB)
    throw error(error_kind::bad_input, "a command of " + std::to_string(bytes) + " bytes",
                "drives move whole blocks: say a multiple of 512 B, up to 1 GiB, for --block");
  if (!is_power_of_two(choice.around.depth))
    throw error(error_kind::bad_input, "a queue of " + std::to_string(choice.around.depth) + " entries",
                "say a power of two from 2 to 32768 for --depth");
}

void make_plan(context& with, plan_choice& choice) {
  if (choice.verify && choice.model.empty() && choice.measured_file.empty())
    throw error(error_kind::bad_input, "--verify runs one plan, and no drive is named",
                "add --drive-model NAME, or --measured FILE");
  std::vector<emulator::drive_model> models = models_of(choice);
  need_possible(choice);
  settle_target(choice);
  const std::string prices = settle_prices(choice, models);
  plan_report report{.wanted = choice.wanted, .around = choice.around, .prices = prices};
  for (emulator::drive_model& model : models) {
    if (choice.latency_us) model.latency_us = *choice.latency_us;
    report.rows.push_back({model, emulator::plan_drives(model, choice.wanted, choice.around, choice.drives)});
  }
  json object = report.as_json();
  std::string text = report.as_text();
  if (choice.verify) {
    const verified_plan run =
        verify_plan(*with.open_machine(), report.rows.front(), choice.wanted, choice.seconds);
    object["verified"] = run.as_json();
    text += run.as_text();
  }
  with.print(object, text);
}

void add_target(CLI::App& plan, plan_choice& choice) {
  CLI::Option* accesses = add_positive(plan, "--accesses", "accesses a second that are wanted, such as 51M",
                                       most_a_second, choice.accesses);
  add_positive(plan, "--saturate", "or: fill a link of so many GB/s", most_gb, choice.saturate_gb)
      ->excludes(accesses);
  add_positive(plan, "--link",
               "GB/s of the GPU's link each way (default: what --saturate says, else 51.4, "
               "as measured over PCIe 5.0 x16)",
               most_gb, choice.link_gb);
}

void add_lanes(CLI::App& plan, plan_choice& choice) {
  add_positive(plan, "--gpu-commands",
               "commands a second that all SMs submit (default: 1339M, as measured on an H200)",
               most_a_second, choice.around.gpu_commands_per_s);
  add_positive(plan, "--lanes-us",
               "what lanes add to a drive's latency (default: 40, as measured on an H200)", most_us,
               choice.around.lanes_us);
}

void add_drive(CLI::App& plan, plan_choice& choice) {
  CLI::Option* block = add_bytes(plan, "--block", "bytes of an access", choice.wanted.bytes);
  CLI::Option* mix =
      plan.add_option("--mix", choice.wanted.write_share, "share of accesses that write, 0 to 1")
          ->check(real_from(0, 1));
  CLI::Option* model =
      plan.add_option("--drive-model", choice.model,
                      "plan with " + emulator::drive_model_names() + " (default: compare all)");
  plan.add_option("--measured", choice.measured_file,
                  "plan with drives as sluice bench io --json found them, with its blocks and mix")
      ->type_name("FILE")
      ->excludes(block)
      ->excludes(mix)
      ->excludes(model);
  add_positive(plan, "--latency-us", "mean latency, instead of the drive's", most_us, choice.latency_us);
  plan.add_option("--drives", choice.drives, "so many drives (default: as many as it takes)")
      ->check(CLI::Range(1U, 1'000'000U));
  plan.add_option("--queues", choice.around.queues, "queues that a drive grants")
      ->check(CLI::Range(1U, 65535U))
      ->capture_default_str();
  plan.add_option("--depth", choice.around.depth, "entries of a queue at most, a power of two")
      ->check(CLI::Range(2U, 32768U))
      ->capture_default_str();
  plan.add_option("--prices", choice.prices_file,
                  R"($/GB by model, instead of the BaM paper's: {"dram": 11.13, "p5800x": 2.54})")
      ->type_name("FILE");
}

}  // namespace

void add_plan(CLI::App& program, context& with) {
  auto choice = std::make_shared<plan_choice>();
  CLI::App& plan = with.add_command(
      program, {"plan", "how many drives and queues a rate of accesses takes, and what limits it",
                "sluice plan --accesses 51M --block 512 --drive-model p5800x"});
  add_target(plan, *choice);
  add_lanes(plan, *choice);
  add_drive(plan, *choice);
  CLI::Option* verify =
      plan.add_flag("--verify", choice->verify, "run the plan on emulated drives: promised against measured");
  plan.add_option("--seconds", choice->seconds, "how long --verify measures")
      ->check(real_from(0.01, 3600))
      ->needs(verify);
  with.runs(plan, [&with, choice] { make_plan(with, *choice); });
}

}  // namespace sluice::tool
