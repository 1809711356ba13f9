#include "emulator/emulated_port.h"

#include "sluice/base/error.h"

namespace sluice::emulator {

bus_address emulated_port::map(const memory::region& bytes) {
  if (bytes.host == nullptr && bytes.on != residents_->kind())
    throw error(error_kind::unavailable, "an emulated drive of the CPU backend cannot reach GPU memory",
                "open it on the machine whose lanes use it");
  const bus_address at = address_of(bytes);
  if (bytes.host != nullptr) to().map(at, bytes.bytes);
  residents_->map(at, bytes);
  return at;
}

void emulated_port::unmap(const memory::region& bytes) {
  to().unmap(address_of(bytes), bytes.bytes);  // refuses memory of a queue's ring, whoever serves it
  residents_->unmap(address_of(bytes), bytes.bytes);
}

}  // namespace sluice::emulator
