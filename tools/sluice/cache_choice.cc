#include "tools/sluice/cache_choice.h"

#include <algorithm>

#include "sluice/base/sizes.h"
#include "tools/sluice/calm_drives.h"

namespace sluice::tool {

namespace {

/// What lanes do. The first is measured by single accesses, under a clock; the others by whole passes.
const std::vector<std::string> accesses{"element", "load", "store",  "pages",  "loop",
                                        "walk",    "span", "gather", "overlap"};

/// Bytes of all rows of a gather, which stay in memory to be checked.
constexpr std::uint64_t most_gathered = 8 * GiB;

/// Whole passes are made in one way, over stamps.
void need_known_pass(const cache_bench_point& point, const cache_choice& choice) {
  const auto only_element = [](const std::string& option) {
    refuse(option + " goes with --access element only", "leave it out");
  };
  if (point.mode != "optimized") only_element("--mode " + point.mode);
  if (point.policy != "clock") only_element("--policy " + point.policy);
  if (point.pattern != "random") only_element("--pattern " + point.pattern);
  if (point.write_share > 0) only_element("--mix");
  if (choice.run.verify_pages) only_element("--verify-pages");
  if (choice.seconds_told) only_element("--seconds");
  if (point.access == "overlap" && (point.state != "cold" || point.element_bytes != 8))
    refuse("--access overlap reads 8 bytes of each page, from an empty cache",
           "leave --state and --element out");
  if (!choice.destroy && !all_forget(choice.drives.uris))
    refuse("--access " + point.access + " needs elements that it has written itself",
           "name mem: or emu: drives, or say --destroy to lose what is there");
  if (point.row_bytes < 16 || point.row_bytes % 16 != 0 || point.row_bytes > drive::largest_page)
    refuse("--row is a multiple of 16 bytes, at most 64 KiB", "name another length");
  if (point.access == "gather" && choice.run.accesses.value_or(0) > most_gathered / point.row_bytes)
    refuse("--accesses rows of " + std::to_string(point.row_bytes) + " bytes are more than 8 GiB to keep",
           "name fewer, or a shorter --row");
}

void add_axes(CLI::App& command, cache_choice& choice) {
  add_bytes(command, "--cache", "memory for pages", choice.point.cache_bytes);
  add_bytes(command, "--page", "bytes that move at once: a power of two, 512 to 64KiB",
            choice.point.page_bytes);
  add_bytes(command, "--tier", "host memory for pages that the cache gave up; 0: none",
            choice.point.tier_bytes);
  command
      .add_option("--tier-kind", choice.point.tier_kind,
                  "exclusive: a page that comes back leaves the tier; inclusive: it stays there too")
      ->check(CLI::IsMember({"exclusive", "inclusive"}))
      ->capture_default_str();
  command
      .add_option("--mode", choice.point.mode, "none: every access is I/O; naive: no coalescing; optimized")
      ->check(CLI::IsMember({"none", "naive", "optimized"}))
      ->capture_default_str();
  command.add_option("--policy", choice.point.policy, "which page has to go")
      ->check(CLI::IsMember({"clock", "fifo", "random", "s3fifo"}))
      ->capture_default_str();
  command
      .add_option(
          "--access", choice.point.access,
          "element: single ones under a clock; else whole passes: load or store of random elements, one "
          "of each page, a plain loop, pages that warps walk or hold as a span, rows that they gather; or "
          "reads asked for a round ahead, beside computing")
      ->check(CLI::IsMember(accesses))
      ->capture_default_str();
  command
      .add_option("--state", choice.point.state,
                  "cold: from an empty cache; hot: all pages were there before")
      ->check(CLI::IsMember({"cold", "hot"}))
      ->capture_default_str();
  command.add_option("--element", choice.point.element_bytes, "bytes of an element")
      ->check(CLI::IsMember({4U, 8U}))
      ->capture_default_str();
  add_bytes(command, "--row", "bytes of a gathered row: a multiple of 16", choice.point.row_bytes);
  command.add_option("--pattern", choice.point.pattern, "which elements are accessed")
      ->check(CLI::IsMember({"random", "sequential", "zipf"}))
      ->capture_default_str();
  command.add_option("--mix", choice.point.write_share, "share of accesses that write, 0 to 1")
      ->check(real_from(0, 1))
      ->capture_default_str();
  choice.sweep.add_to(command, {"cache", "page", "tier", "tier_kind", "mode", "policy", "access", "state",
                                "element", "row", "pattern", "mix"});
  add_result_files(command, choice.files);
}

void add_run_options(CLI::App& command, cache_choice& choice) {
  CLI::Option* seconds = command.add_option("--seconds", choice.run.seconds, "how long each row runs")
                             ->check(real_from(0.01, 3600))
                             ->each([&choice](const std::string&) { choice.seconds_told = true; })
                             ->capture_default_str();
  command
      .add_option("--accesses", choice.run.accesses,
                  "how many accesses each row makes, in place of --seconds")
      ->check(CLI::PositiveNumber)
      ->excludes(seconds);
  command.add_option("--threads", choice.run.lanes, "lanes; else as many as suit the machine")
      ->check(CLI::PositiveNumber);
  command.add_option("--queues", choice.run.queues, "queue pairs on each drive")
      ->check(CLI::Range(1U, 65'535U))
      ->capture_default_str();
  command.add_option("--depth", choice.run.depth, "entries of a queue")
      ->check(CLI::Range(2U, 32'768U))
      ->capture_default_str();
  command.add_option("--controllers", choice.controllers, "threads of each software controller")
      ->check(CLI::Range(1U, 1024U));
  command.add_option("--seed", choice.run.seed, "draws the accesses")->capture_default_str();
  command
      .add_option_function<std::string>(
          "--span", [&choice](const std::string& text) { choice.span_bytes = parse_bytes(text, "--span"); },
          "use only so many bytes from the start")
      ->type_name("SIZE");
  command
      .add_option("--dataset", choice.dataset,
                  "use this dataset of the volume; else the drives from their first byte")
      ->type_name("NAME");
  command.add_flag("--verify-pages", choice.run.verify_pages,
                   "check pages of sealed datasets when they come");
  command.add_flag("--destroy", choice.destroy, "write over what the drives hold");
}

}  // namespace

void add_cache_options(CLI::App& command, cache_choice& choice) {
  add_uris(command, "--drive", "what lies behind the cache", choice.drives);
  add_axes(command, choice);
  add_run_options(command, choice);
}

/// All values of the axes that are swept, every one with every other.
std::vector<cache_bench_point> points_of(const cache_choice& choice, std::uint64_t bytes) {
  sweep_points sweep(choice.sweep, choice.point);
  using text = std::vector<std::string>;
  const auto share = [bytes](std::uint64_t of) { return std::max(bytes / of, MiB); };
  sweep.along("cache", std::vector<std::uint64_t>{share(16), share(4), share(1)},
              [](auto& point, std::uint64_t value) { point.cache_bytes = value; });
  sweep.along("page", std::vector<std::uint32_t>{512, 4096, 65536},
              [](auto& point, auto value) { point.page_bytes = value; });
  sweep.along("tier", std::vector<std::uint64_t>{0, share(4), share(1)},
              [](auto& point, std::uint64_t value) { point.tier_bytes = value; });
  sweep.along("tier_kind", text{"exclusive", "inclusive"},
              [](auto& point, const auto& value) { point.tier_kind = value; });
  sweep.along("mode", text{"none", "naive", "optimized"},
              [](auto& point, const auto& value) { point.mode = value; });
  sweep.along("policy", text{"clock", "fifo", "random", "s3fifo"},
              [](auto& point, const auto& value) { point.policy = value; });
  sweep.along("access", accesses, [](auto& point, const auto& value) { point.access = value; });
  sweep.along("state", text{"cold", "hot"}, [](auto& point, const auto& value) { point.state = value; });
  sweep.along("element", std::vector<std::uint32_t>{4, 8},
              [](auto& point, auto value) { point.element_bytes = value; });
  sweep.along("row", std::vector<std::uint64_t>{16, 128, 512, 4096, 8192},
              [](auto& point, auto value) { point.row_bytes = value; });
  sweep.along("pattern", text{"random", "sequential", "zipf"},
              [](auto& point, const auto& value) { point.pattern = value; });
  sweep.along("mix", std::vector<double>{0, 0.1, 0.5},
              [](auto& point, double value) { point.write_share = value; });
  return sweep.points();
}

bool writes(const cache_choice& choice) { return choice.point.write_share > 0 || choice.sweep.has("mix"); }

/// Only clock was built for the modes that the paper compares with.
void need_known(const cache_choice& choice) {
  const bool other_policy = choice.point.policy != "clock";
  if (choice.point.mode != "optimized" && other_policy)
    refuse("--mode " + choice.point.mode + " goes with --policy clock only", "leave --policy out");
  if (choice.sweep.has("mode") && (choice.sweep.has("policy") || other_policy))
    refuse("--sweep mode goes with --policy clock only", "sweep mode and policy one after the other");
  if (choice.sweep.has("policy") && choice.point.mode != "optimized")
    refuse("--sweep policy goes with --mode optimized only", "leave --mode out");
}

void need_known(const cache_bench_point& point, const cache_choice& choice) {
  if (point.element_bytes != 4 && point.element_bytes != 8)
    refuse("--element is 4 or 8", "name one of the two");
  if (point.access != "element") return need_known_pass(point, choice);
  if (point.state != "cold") refuse("--state hot goes with passes only", "name one by --access");
  if (point.element_bytes != 8) refuse("--element 4 goes with passes only", "name one by --access");
}

}  // namespace sluice::tool
