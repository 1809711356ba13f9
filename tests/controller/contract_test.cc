// The drive contract, run on software controllers over each medium.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/drive_contract.h"
#include "tests/support/scratch_file.h"

namespace sluice::test {
namespace {

drive_maker memory_maker(const std::string& name, unsigned threads) {
  return {name, [threads](const std::string& options) {
            return drive::open("mem:8MiB" + (options.empty() ? "" : "?" + options), to_write(threads));
          }};
}

drive_maker file_maker(const std::string& name, const std::string& engine) {
  // One file a test: the maker outlives it.
  auto files = std::make_shared<std::vector<std::unique_ptr<scratch_file>>>();
  return {name, [files, engine](const std::string& options) {
            files->push_back(std::make_unique<scratch_file>());
            return drive::open("file:" + files->back()->path() + "?size=8MiB&io=" + engine +
                                   (options.empty() ? "" : "&" + options),
                               to_write());
          }};
}

INSTANTIATE_TEST_SUITE_P(controller, drive_contract,
                         testing::Values(memory_maker("memory", 1), memory_maker("memory_two_threads", 2),
                                         file_maker("file_uring", "uring"),
                                         file_maker("file_threads", "threads")),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sluice::test
