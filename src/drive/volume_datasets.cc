// The datasets of a volume: where they lie, and the two steps by which an import makes one.
#include <algorithm>
#include <utility>

#include "drive/free_space.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "sluice/drive/uri.h"
#include "sluice/drive/volume.h"

namespace sluice::drive {

namespace {

void drop(std::vector<dataset>& all, std::string_view name, bool complete_too) {
  std::erase_if(all, [&](const dataset& each) {
    return each.name == name && (complete_too || each.state == dataset_state::importing);
  });
}

[[noreturn]] void refuse_size(const manifest& content, std::uint64_t bytes) {
  std::uint64_t taken = 0;
  for (const auto& [first, run] : taken_runs(content)) taken += align_up(run, largest_page);
  throw error(error_kind::bad_input,
              "a dataset of " + format_bytes(static_cast<double>(bytes)) + " does not fit: volume '" +
                  content.name + "' has " + format_bytes(static_cast<double>(content.shape().bytes())) +
                  ", of which other datasets and their seals take " +
                  format_bytes(static_cast<double>(taken)),
              "remove a dataset, or use larger or more drives");
}

}  // namespace

void volume::need_writable_manifest() const {
  if (parts_.is_raw)
    throw error(error_kind::bad_input, "a raw volume keeps no datasets",
                "create a volume on its drives first");
  if (!parts_.writable)
    throw error(error_kind::bad_input, "volume '" + name() + "' is open for reading only",
                "open it for writing", {.code = status::read_only});
}

std::string volume::list_datasets() const {
  std::string line;
  for (const dataset& each : parts_.newest.content.datasets) line += (line.empty() ? "" : ", ") + each.name;
  return line.empty() ? "no dataset" : line;
}

dataset volume::begin_dataset(std::string_view name, std::string_view kind, std::uint64_t bytes,
                              std::string_view meta) {
  const std::scoped_lock turn(*turn_);
  need_writable_manifest();
  manifest next = parts_.newest.content;
  drop(next.datasets, name, false);
  std::optional<std::uint64_t> first = first_gap(next, bytes);
  if (!first) {
    drop(next.datasets, name, true);
    first = first_gap(next, bytes);
  }
  if (!first) refuse_size(next, bytes);
  dataset made{.name = std::string(name),
               .kind = std::string(kind),
               .first_byte = *first,
               .bytes = bytes,
               .meta = std::string(meta)};
  next.datasets.push_back(made);
  check(next);
  publish(std::move(next));
  return made;
}

dataset volume::commit(const dataset& done) {
  const std::scoped_lock turn(*turn_);
  need_writable_manifest();
  const std::uint64_t lost = flush_live_drives();
  manifest next = parts_.newest.content;
  next.failed |= lost;
  const auto begun = std::find_if(next.datasets.begin(), next.datasets.end(), [&](const dataset& each) {
    return each.name == done.name && each.first_byte == done.first_byte && each.bytes == done.bytes &&
           each.state == dataset_state::importing;
  });
  if (begun == next.datasets.end())
    throw error(error_kind::bad_input, "dataset '" + done.name + "' is not being imported", "begin it first");
  dataset complete = done;
  complete.state = dataset_state::complete;
  complete.sealed.reset();
  drop(next.datasets, done.name, true);
  next.datasets.push_back(complete);
  check(next);
  publish(std::move(next));
  return complete;
}

dataset volume::find(std::string_view name) const {
  const std::scoped_lock turn(*turn_);
  return find_now(name);
}

dataset volume::find_now(std::string_view name) const {
  const dataset* half = nullptr;
  std::vector<std::string> names;
  for (const dataset& each : parts_.newest.content.datasets) {
    names.push_back(each.name);
    if (each.name != name) continue;
    if (each.state == dataset_state::complete) return each;
    half = &each;
  }
  if (half != nullptr)
    throw error(error_kind::bad_input,
                "dataset '" + half->name + "' is half-imported: its import stopped before it was done",
                "import it again, or remove it");
  const std::string meant = nearest(name, names);
  throw error(error_kind::bad_input,
              "volume '" + this->name() + "' holds no dataset '" + std::string(name) + "'" +
                  (meant.empty() ? "" : "; did you mean '" + meant + "'?"),
              "it holds: " + list_datasets());
}

std::vector<dataset> volume::datasets() const {
  const std::scoped_lock turn(*turn_);
  return parts_.newest.content.datasets;
}

void volume::remove(std::string_view name) {
  const std::scoped_lock turn(*turn_);
  need_writable_manifest();
  manifest next = parts_.newest.content;
  drop(next.datasets, name, true);
  if (next.datasets.size() == parts_.newest.content.datasets.size())
    throw error(error_kind::bad_input,
                "volume '" + this->name() + "' holds no dataset '" + std::string(name) + "'",
                "it holds: " + list_datasets());
  publish(std::move(next));
}

}  // namespace sluice::drive
