#include "controller/software_port.h"

#include "sluice/base/error.h"

namespace sluice::controller {

bus_address software_port::map(const memory::region& bytes) {
  if (bytes.host == nullptr)
    throw error(error_kind::unavailable, "a software controller cannot reach GPU memory",
                "stage through pinned host memory");
  const bus_address at{reinterpret_cast<std::uintptr_t>(bytes.host)};
  to().map(at, bytes.bytes);
  return at;
}

void software_port::unmap(const memory::region& bytes) {
  to().unmap({reinterpret_cast<std::uintptr_t>(bytes.host)}, bytes.bytes);
}

}  // namespace sluice::controller
