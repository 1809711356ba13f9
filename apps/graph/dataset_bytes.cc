#include "apps/graph/dataset_bytes.h"

#include <algorithm>
#include <cstring>

#include "sluice/base/bits.h"
#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"

namespace sluice::graph {

namespace {

/// Moved at once; a whole number of blocks of any drive.
constexpr std::size_t chunk_bytes = 4 * MiB;

void need_checksum(const drive::dataset& of, std::uint32_t found) {
  if (!of.checksum || *of.checksum == found) return;
  throw error(error_kind::corrupt,
              "dataset '" + of.name + "' is damaged: its checksum is not the one it was imported with",
              "import the graph again", {.code = status::bad_checksum});
}

/// Calls `act(first byte of the chunk in the dataset, its bytes)`, chunk by chunk.
template <class Act>
void for_each_chunk(std::uint64_t bytes, const byte_progress& progress, const Act& act) {
  for (std::uint64_t at = 0; at < bytes; at += chunk_bytes) {
    const auto here = static_cast<std::size_t>(std::min<std::uint64_t>(chunk_bytes, bytes - at));
    act(at, here);
    if (progress) progress(here);
  }
}

/// A chunk in whole blocks: room, and how many bytes of it a transfer takes.
class block_buffer {
 public:
  explicit block_buffer(const drive::volume& on) : block_(on.block_size()), bytes_(chunk_bytes) {}
  std::span<std::byte> of(std::size_t bytes) { return std::span(bytes_).first(align_up(bytes, block_)); }

 private:
  std::uint32_t block_;
  std::vector<std::byte> bytes_;
};

}  // namespace

void write_dataset(drive::volume& on, drive::dataset& into, std::span<const std::byte> bytes,
                   const byte_progress& progress) {
  block_buffer buffer(on);
  std::uint32_t sum = 0;
  for_each_chunk(bytes.size(), progress, [&](std::uint64_t at, std::size_t count) {
    const auto chunk = bytes.subspan(at, count);
    const auto blocks = buffer.of(count);
    std::memcpy(blocks.data(), chunk.data(), count);
    std::memset(blocks.data() + count, 0, blocks.size() - count);
    on.write(into.first_byte + at, blocks);
    sum = crc32c(chunk, sum);
  });
  into.checksum = sum;
}

void read_dataset(const drive::volume& on, const drive::dataset& of, std::span<std::byte> to,
                  const byte_progress& progress) {
  block_buffer buffer(on);
  std::uint32_t sum = 0;
  for_each_chunk(of.bytes, progress, [&](std::uint64_t at, std::size_t count) {
    const auto blocks = buffer.of(count);
    on.read(of.first_byte + at, blocks);
    std::memcpy(to.data() + at, blocks.data(), count);
    sum = crc32c(to.subspan(at, count), sum);
  });
  need_checksum(of, sum);
}

void copy_dataset(const drive::volume& from, const drive::dataset& of, drive::volume& to,
                  drive::dataset& into, const byte_progress& progress) {
  std::vector<std::byte> room(chunk_bytes);
  std::uint32_t sum = 0;
  for_each_chunk(of.bytes, progress, [&](std::uint64_t at, std::size_t count) {
    // Datasets are padded to whole pages, so whole blocks of either volume may be moved.
    const std::span<std::byte> read = std::span(room).first(align_up(count, from.block_size()));
    from.read(of.first_byte + at, read);
    sum = crc32c(read.first(count), sum);
    to.write(into.first_byte + at, std::span(room).first(align_up(count, to.block_size())));
  });
  need_checksum(of, sum);
  into.checksum = sum;
}

}  // namespace sluice::graph
