// The command-line tool: reads the command line, runs one subcommand, and turns what it throws into an exit
// status.
#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/drive/uri.h"
#include "tools/sluice/command.h"

namespace {

using sluice::tool::context;

void add_subcommands(CLI::App& program, context& with) {
  program.require_subcommand(1);
  program.set_version_flag("--version", sluice::tool::version());
  sluice::tool::add_doctor(program, with);
  sluice::tool::add_drives(program, with);
  sluice::tool::add_import(program, with);
  sluice::tool::add_seal(program, with);
  sluice::tool::add_scrub(program, with);
  sluice::tool::add_bench(program, with);
  sluice::tool::add_graph(program, with);
  sluice::tool::add_plan(program, with);
  sluice::tool::add_report(program, with);
}

/// "sluice bench io", as far as the command line got.
const CLI::App& innermost(const CLI::App& app, std::string& words) {
  const CLI::App* at = &app;
  words = app.get_name();
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    words += " " + at->get_name();
  }
  return *at;
}

/// What the user may have meant by a word that nobody knows.
std::string meant(const CLI::App& command, std::string_view word) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(below->get_name());
  return sluice::drive::nearest(word, known);
}

sluice::error misread(const CLI::App& program, const CLI::ParseError& failure) {
  std::string words;
  const CLI::App& command = innermost(program, words);
  std::string mend = words + " --help shows what it takes";
  const std::vector<std::string> left = program.remaining(true);
  const std::string near = left.empty() ? "" : meant(command, left.front().substr(0, left.front().find('=')));
  if (!near.empty()) mend = "did you mean " + near + "? " + mend;
  const bool no_such_command = !left.empty() && left.front().front() != '-' &&
                               dynamic_cast<const CLI::RequiredError*>(&failure) != nullptr;
  const std::string fault =
      no_such_command ? words + " has no subcommand '" + left.front() + "'" : failure.what();
  return {sluice::error_kind::bad_input, fault, mend};
}

}  // namespace

int main(int count, char** words) {
  context with;
  CLI::App program("Storage that GPU threads read and write themselves.", "sluice");
  const bool wants_json =
      std::any_of(words, words + count, [](std::string_view word) { return word == "--json"; });
  try {
    add_subcommands(program, with);
    program.parse(count, words);
  } catch (const CLI::Success& asked) {  // --help, --version
    return program.exit(asked);
  } catch (const CLI::ParseError& failure) {
    with.expect_json(wants_json);
    return with.fail(misread(program, failure));
  } catch (const std::exception& failure) {
    with.expect_json(wants_json);
    return with.fail(failure);
  }
  try {
    context::catch_ctrl_c();
    return with.run();
  } catch (const std::exception& failure) {
    return with.fail(failure);
  }
}
