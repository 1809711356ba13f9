// Drives that were opened together, and the volume that lies over them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/array/seal_marks.h"
#include "sluice/drive/drive.h"
#include "sluice/drive/open.h"
#include "sluice/drive/volume.h"
#include "sluice/queue/host_queue.h"

namespace sluice {

/// Owns drives, and a queue of the host on each, over which manifest and imports travel like everything else.
class storage {
 public:
  /// Drives as they are, without a manifest: data start at byte 0.
  static storage raw(std::span<const std::string> uris, const drive::open_options& options,
                     drive::layout how = drive::layout::stripe, std::uint64_t unit = drive::largest_page);
  /// A volume that exists, its drives given in any order. Throws as drive::open() and drive::volume::open()
  /// do.
  static storage open(std::span<const std::string> uris, const drive::open_options& options);
  /// A new volume. What the drives hold is refused or replaced as `existing` says.
  static storage create(std::span<const std::string> uris, const drive::open_options& options,
                        drive::layout how, std::uint64_t unit, std::string_view name,
                        drive::on_existing existing = drive::on_existing::refuse);
  /// True where any of the drives holds a manifest.
  static bool holds_volume(std::span<const std::string> uris);

  drive::volume& volume() { return *volume_; }
  const drive::volume& volume() const { return *volume_; }
  /// In the volume's own order.
  const std::vector<drive::drive*>& drives() const { return in_order_; }
  /// What lanes have written of sealed datasets, shared by all caches over this storage; nothing where lanes
  /// have no use for it: where no dataset is sealed, or pages are neither `checked` nor written. Throws
  /// error{bad_input} where a cache of another backend has it.
  std::shared_ptr<const seal_marks> marks_for(backend lanes, bool checked);
  /// Summed over the drives.
  drive::drive_counters counters() const;

 private:
  storage(std::span<const std::string> uris, const drive::open_options& options);
  void adopt(drive::volume made);

  std::vector<std::unique_ptr<drive::drive>> opened_;
  drive::block_drives host_access_;
  std::unique_ptr<drive::volume> volume_;
  std::weak_ptr<const seal_marks> marks_;
  std::vector<drive::drive*> in_order_;
};

}  // namespace sluice
