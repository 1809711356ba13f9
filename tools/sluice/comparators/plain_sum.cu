#include "tools/sluice/comparators/plain_sum.h"

#include <algorithm>

#include "apps/vector_add/vectors.h"
#include "sluice/base/bits.h"
#include "sluice/lane/identity.h"

namespace sluice::tool {

namespace {

template <class T>
struct plain_sum_kernel {
  using pack = vector_add::element_pack<T>;
  static constexpr std::uint32_t under_way = 4;

  const T* a;
  const T* b;
  T* c;
  std::uint64_t elements;
  std::uint32_t team;  ///< lanes that go side by side

  SLUICE_HD void operator()() const {
    const std::uint64_t packs = elements / pack::size;
    const std::uint64_t lanes = lane::grid_lanes(), me = lane::grid_index();
    const std::uint64_t first = me / team * team * under_way + me % team;
    for (std::uint64_t at = first; at < packs; at += lanes * under_way) add(at, packs);
    for (std::uint64_t i = packs * pack::size + me; i < elements; i += lanes) c[i] = a[i] + b[i];
  }

 private:
  /// All loads come before the first store.
  SLUICE_HD void add(std::uint64_t at, std::uint64_t packs) const {
    pack sum[under_way], more[under_way];
    SLUICE_UNROLL
    for (std::uint32_t n = 0; n < under_way; ++n) {
      if (at + n * team >= packs) continue;
      sum[n] = vector_add::load_pack(a + (at + n * team) * pack::size);
      more[n] = vector_add::load_pack(b + (at + n * team) * pack::size);
    }
    SLUICE_UNROLL
    for (std::uint32_t n = 0; n < under_way; ++n) {
      if (at + n * team >= packs) continue;
      SLUICE_UNROLL
      for (std::uint32_t j = 0; j < pack::size; ++j) sum[n].at[j] += more[n].at[j];
      vector_add::store_pack(c + (at + n * team) * pack::size, sum[n]);
    }
  }
};

/// On a CPU each lane is alone on its thread, with a cache line to itself: it has nobody to go beside.
constexpr std::uint32_t plain_block_lanes(backend on) { return on == backend::cuda ? 256 : 1; }
constexpr std::uint32_t plain_team(backend on) { return on == backend::cuda ? 32 : 1; }

template <class T>
std::unique_ptr<lane::running_launch> start_plain_sum_of(lane::machine& on, const plain_vectors& vectors) {
  using kernel = plain_sum_kernel<T>;
  const std::uint32_t lanes = plain_block_lanes(on.kind());
  const std::uint64_t most =
      on.kind() == backend::cuda ? lane::resident_blocks<kernel>(on, lanes) : on.processors();
  const std::uint64_t wanted = divide_up(vectors.elements, lanes * kernel::pack::size * kernel::under_way);
  return lane::start(on, {static_cast<std::uint32_t>(std::clamp<std::uint64_t>(wanted, 1, most)), lanes},
                     kernel{reinterpret_cast<const T*>(vectors.a), reinterpret_cast<const T*>(vectors.b),
                            reinterpret_cast<T*>(vectors.c), vectors.elements, plain_team(on.kind())});
}

}  // namespace

std::unique_ptr<lane::running_launch> start_plain_sum(lane::machine& on, vector_add::element of,
                                                      const plain_vectors& vectors) {
  return vector_add::with_element(of, [&]<class T>(T) { return start_plain_sum_of<T>(on, vectors); });
}

double bare_sum_rate(lane::machine& on, vector_add::element of, std::uint64_t elements, memory::place where) {
  const std::uint64_t most_bytes = on.kind() == backend::cuda ? 4 * GiB : 256 * MiB;
  const std::uint64_t most = most_bytes / 3 / vector_add::element_bytes(of);
  const vector_add::vectors shape{.of = of, .elements = std::min(elements, most)};
  const memory::buffer bytes(on.kind(), where, shape.bytes());
  const plain_vectors vectors{bytes.lanes() + shape.a(), bytes.lanes() + shape.b(), bytes.lanes() + shape.c(),
                              shape.elements};
  start_plain_sum(on, of, vectors)->wait();  // warms the translations up
  const double seconds = start_plain_sum(on, of, vectors)->wait().seconds;
  return seconds > 0 ? static_cast<double>(shape.bytes_needed()) / seconds : 0;
}

}  // namespace sluice::tool
