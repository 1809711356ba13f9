// One linear address space over several drives, and the datasets that it remembers by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/drive/block_io.h"
#include "sluice/drive/manifest.h"
#include "sluice/drive/open.h"
#include "sluice/drive/replica_io.h"
#include "sluice/drive/seal.h"
#include "sluice/drive/seal_record.h"
#include "sluice/drive/volume_ref.h"

namespace sluice::drive {

/// What create() does with drives that hold something: any bytes but zeros in the first 1 MiB.
enum class on_existing : std::uint8_t {
  refuse,   ///< unless it is a volume without datasets
  replace,  ///< forget it
};

/// A dataset that was sealed, and whether its bytes still had the checksum that its importer took.
struct sealing {
  dataset of;
  std::optional<bool> as_imported{};
};

/// Drives that act as one. Keeps its manifest on each of them, at the front; data start after 1 MiB.
/// Threads: any; calls are serialised inside. One volume object at a time may change a volume (see
/// drive_lock).
class volume {
 public:
  /// Makes a volume over `drives`, in this order. Capacity follows the smallest drive; see notes().
  static volume create(block_drives drives, layout how, std::uint64_t unit, std::string_view name,
                       on_existing what = on_existing::refuse);
  /// Opens the volume that lies on `drives`, given in any order. Throws one line for a drive that is missing,
  /// given twice, of another volume, without a manifest, or of a newer format. A mirror's replica whose
  /// manifest cannot be read counts as failed. Only a volume opened to write can be changed.
  static volume open(block_drives drives, access mode = access::read);
  /// Drives as they are, without a manifest: data start at byte 0, nothing is remembered.
  static volume raw(block_drives drives, layout how = layout::stripe, std::uint64_t unit = largest_page);
  /// True where any of the drives holds a manifest, whole or not.
  static bool exists(const block_drives& drives);
  /// Bytes that each of `drives` must have for datasets of `data_bytes` in all, the manifest included.
  static std::uint64_t drive_bytes_for(std::uint64_t data_bytes, std::uint32_t drives, layout how,
                                       std::uint64_t unit = largest_page);

  volume_ref ref() const;
  std::uint64_t bytes() const;
  const std::string& name() const { return parts_.newest.content.name; }
  const std::string& uuid() const { return parts_.newest.content.uuid; }
  layout how() const { return parts_.newest.content.how; }
  std::uint64_t unit() const { return parts_.newest.content.unit; }
  std::uint32_t block_size() const { return parts_.newest.content.block_size; }
  std::uint32_t drives() const { return parts_.newest.content.drives; }
  bool is_raw() const { return parts_.is_raw; }
  /// False where it was opened for reading. A raw volume is as writable as its drives.
  bool is_writable() const { return parts_.writable; }
  /// Drive `index` of the volume, as volume_place names it.
  block_io& drive_at(std::uint32_t index) const { return *parts_.drives[index]; }
  /// Which of the drives given to create, open or raw became drive `index`, counted from 0.
  std::uint32_t given_as(std::uint32_t index) const { return parts_.given_as[index]; }
  /// What a person should know: space that unequal drives leave unused, replicas that failed. One line each.
  const std::vector<std::string>& notes() const { return parts_.notes; }

  // Datasets lie page-aligned, one after another. They may not be kept in a raw volume (bad_input).

  /// Reserves space for a dataset and remembers it as half-imported. One of the same name stays until
  /// commit() where both fit, else gives way now. Errors: bad_input where it does not fit, or `meta` is not
  /// JSON.
  dataset begin_dataset(std::string_view name, std::string_view kind, std::uint64_t bytes,
                        std::string_view meta = "{}");
  /// Flushes all drives, then makes `done` complete, with its meta and checksum as they are in `done` now.
  dataset commit(const dataset& done);
  /// Errors: bad_input naming those that exist, or where its import stopped half-way.
  dataset find(std::string_view name) const;
  /// All, the half-imported too.
  std::vector<dataset> datasets() const;
  void remove(std::string_view name);

  // Seals, by which a dataset's bytes are known again: docs/design/0008-seals.md.

  /// Takes a sum of each unit of a complete dataset, on all live replicas, and makes the seal last. One that
  /// there was counts until then, where both fit. `step(bytes)` follows each part of the dataset; what it
  /// throws ends the sealing, and nothing has changed. Errors: bad_input where a cache may write to the
  /// volume or the record does not fit, corrupt where replicas differ.
  sealing seal_dataset(std::string_view name, std::uint32_t unit = usual_seal_unit,
                       const std::function<void(std::uint64_t)>& step = {});
  /// For those who write by queues of their own. Marks all seals as being written before it returns; nothing
  /// may be written before. Each call wants an end_writing(). Does nothing in a volume that is only read.
  void begin_writing();
  /// Units of a sealed dataset that may have been written since begin_writing(), a bit each.
  void note_written(const dataset& of, std::span<const std::uint32_t> units);
  /// All writes have ended. The last to end makes the noted units last, then takes the mark away.
  void end_writing();
  /// The sums of a sealed dataset, and which of them count now.
  seal_record record_of(const dataset& of) const;

  /// Remembers on all other replicas that replica `index` missed a write. When it returns, that write may be
  /// acknowledged; ref() from now on leaves the replica out. Errors: io_failure where no other replica is
  /// left.
  void record_failed(std::uint32_t index);
  std::uint64_t failed() const;
  /// Forgets that replica `index` missed a write: all bytes of the others have been copied to it, and last.
  void readmit(std::uint32_t index);
  /// The copies of the volume's bytes, one by one.
  replica_io copies() const;

  // Host access by volume address; whole blocks. A mirror's write goes to every live replica, and those that
  // fail it are recorded before it returns.
  void read(std::uint64_t first_byte, std::span<std::byte> to) const;
  void write(std::uint64_t first_byte, std::span<const std::byte> from);
  void flush();

 private:
  /// Drives in the volume's order, and what their manifests say together.
  struct assembly {
    block_drives drives;
    std::vector<std::uint32_t> given_as;
    std::vector<std::uint32_t> slots;  ///< each drive's current manifest slot
    stored_manifest newest;
    std::uint64_t unrecorded = 0;  ///< failed replicas that no manifest knows yet; newest says them failed
    bool is_raw = false;
    bool writable = true;
    std::vector<std::string> notes{};
  };
  explicit volume(assembly parts);
  static assembly fresh(block_drives drives, layout how, std::uint64_t unit, std::uint64_t data_start);
  static assembly assemble(block_drives drives);

  void need_writable_manifest() const;
  std::string list_datasets() const;
  dataset find_now(std::string_view name) const;
  replica_io copies_now() const { return {ref_now(), parts_.drives, unit()}; }
  /// Marks all seals that can still be kept.
  void mark_seals();
  /// Makes what was noted last, and takes the marks away.
  void settle_seals();
  std::uint64_t room_for_seal(const dataset& of, const seal_shape& shape);
  void write_words(std::uint64_t first_byte, std::vector<std::uint32_t> words);
  /// Before the host writes there.
  void note_write(std::uint64_t first_byte, std::uint64_t bytes);
  /// Makes `next` the manifest of every live drive. A mirror's replica that cannot take it is recorded in the
  /// others.
  void publish(manifest next);
  /// Adds to the recorded failed replicas.
  void record(std::uint64_t failed);
  /// Calls `act(index)` for every drive that is not in `failed`; the mask of replicas where it threw
  /// io_failure. Throws what a stripe's drive, or the last live replica, threw.
  template <class Act>
  std::uint64_t on_live_drives(std::uint64_t failed, Act act) const;
  /// The mask of replicas that failed to flush.
  std::uint64_t flush_live_drives() const;
  volume_ref ref_now() const;
  void write_piece(std::uint64_t first_byte, std::span<const std::byte> from);
  void read_piece(std::uint64_t first_byte, std::span<std::byte> to) const;

  assembly parts_;
  std::uint32_t writers_ = 0;
  /// Of each seal that this program has marked, by where its record lies: units that it covers no more.
  std::map<std::uint64_t, std::vector<std::uint32_t>> written_;
  std::unique_ptr<std::mutex> turn_ = std::make_unique<std::mutex>();
};

}  // namespace sluice::drive
