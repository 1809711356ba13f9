// How a host reaches an NVMe controller: its registers, its doorbells, and memory that it can reach in turn.
#pragma once

#include <cstdint>

#include "sluice/base/types.h"
#include "sluice/drive/drive.h"
#include "sluice/lane/doorbell.h"
#include "sluice/memory/buffer.h"

namespace sluice::drive {

/// A software controller supplies one directly; a real SSD through a mapped BAR and an IOMMU.
class controller_port {
 public:
  virtual ~controller_port() = default;

  virtual std::uint32_t read32(std::uint32_t offset) = 0;
  virtual std::uint64_t read64(std::uint32_t offset) = 0;
  virtual void write32(std::uint32_t offset, std::uint32_t value) = 0;
  virtual void write64(std::uint32_t offset, std::uint64_t value) = 0;

  /// Says whose lanes will ring queue `id`, before it is created. Throws error{unavailable}.
  virtual void choose_lanes(std::uint16_t id, backend on) = 0;
  /// Doorbell `index`, counted in strides from offset 1000h, as the lanes of its queue reach it; once the
  /// queue exists.
  virtual lane::doorbell doorbell(std::uint32_t index) = 0;

  virtual memory::place reachable_place(backend on) const = 0;
  virtual bool reaches_frames(backend on) const = 0;
  virtual bus_address map(const memory::region& bytes) = 0;
  virtual void unmap(const memory::region& bytes) = 0;

  /// What the other side counted itself; zeroes where it cannot be asked.
  virtual drive_counters counters() const { return {}; }
};

}  // namespace sluice::drive
