#include "sluice/array/storage.h"

#include <algorithm>
#include <utility>

#include "sluice/base/error.h"

namespace sluice {

namespace {

/// The host's queue on a drive, in the words that a volume uses.
class queued_block_io final : public drive::block_io {
 public:
  explicit queued_block_io(drive::drive& on) : queue_(on) {}
  const std::string& name() const override { return queue_.owner().info().uri; }
  std::uint64_t bytes() const override { return queue_.owner().info().bytes(); }
  std::uint32_t block_size() const override { return queue_.owner().info().block_size; }
  void read(std::uint64_t first_byte, std::span<std::byte> to) override { queue_.read(first_byte, to); }
  void write(std::uint64_t first_byte, std::span<const std::byte> from) override {
    queue_.write(first_byte, from);
  }
  void flush() override { queue_.flush(); }

 private:
  queue::host_queue queue_;
};

}  // namespace

storage::storage(std::span<const std::string> uris, const drive::open_options& options) {
  if (uris.empty())
    throw error(error_kind::bad_input, "no drive was named", "name one, such as file:data.bin");
  for (const std::string& uri : drive::each_drive(uris)) {
    opened_.push_back(drive::open(uri, options));
    host_access_.push_back(std::make_shared<queued_block_io>(*opened_.back()));
  }
}

void storage::adopt(drive::volume made) {
  volume_ = std::make_unique<drive::volume>(std::move(made));
  for (std::uint32_t i = 0; i < volume_->drives(); ++i)
    in_order_.push_back(opened_[volume_->given_as(i)].get());
}

storage storage::raw(std::span<const std::string> uris, const drive::open_options& options, drive::layout how,
                     std::uint64_t unit) {
  storage made(uris, options);
  made.adopt(drive::volume::raw(made.host_access_, how, unit));
  return made;
}

storage storage::open(std::span<const std::string> uris, const drive::open_options& options) {
  storage made(uris, options);
  made.adopt(drive::volume::open(made.host_access_, options.mode));
  return made;
}

storage storage::create(std::span<const std::string> uris, const drive::open_options& options,
                        drive::layout how, std::uint64_t unit, std::string_view name,
                        drive::on_existing existing) {
  storage made(uris, options);
  made.adopt(drive::volume::create(made.host_access_, how, unit, name, existing));
  return made;
}

bool storage::holds_volume(std::span<const std::string> uris) {
  const storage looked_at(uris, {.mode = drive::access::read});
  return drive::volume::exists(looked_at.host_access_);
}

std::shared_ptr<const seal_marks> storage::marks_for(backend lanes, bool checked) {
  if (volume_->is_raw() || (!checked && !volume_->is_writable())) return {};
  const auto all = volume_->datasets();
  if (std::none_of(all.begin(), all.end(), [](const auto& each) { return each.sealed.has_value(); }))
    return {};
  std::shared_ptr<const seal_marks> shared = marks_.lock();
  if (shared && shared->lanes() != lanes)
    throw error(error_kind::bad_input, "a cache of another backend is open over the same sealed volume",
                "close it first");
  if (!shared) marks_ = shared = std::make_shared<const seal_marks>(*volume_, lanes);
  return shared;
}

drive::drive_counters storage::counters() const {
  drive::drive_counters sum;
  for (const auto& one : opened_) {
    const drive::drive_counters now = one->counters();
    sum.served += now.served;
    sum.dropped += now.dropped;
    sum.failed += now.failed;
    sum.bytes_read += now.bytes_read;
    sum.bytes_written += now.bytes_written;
  }
  return sum;
}

}  // namespace sluice
