// From URIs to drives.
#pragma once

#include <memory>
#include <string_view>

#include "sluice/drive/drive.h"
#include "sluice/drive/uri.h"

namespace sluice::lane {
class machine;
}

namespace sluice::drive {

enum class access : std::uint8_t { read, write };

struct open_options {
  access mode = access::read;
  unsigned controller_threads = 1;  ///< of a software controller
  std::uint64_t create_bytes = 0;   ///< an import: create or grow a file: drive to this size
  /// Whose lanes will use the drives, where they are to live beside those (emu:); outlives them. Null: the
  /// CPU backend's.
  lane::machine* machine = nullptr;
};

/// Opens a drive. Locks: shared for reading, exclusive for writing; throws error{in_use} where another
/// program holds it. Throws error{bad_input} for a scheme or option nobody knows, error{unavailable} where
/// this machine lacks the way.
std::unique_ptr<drive> open(std::string_view uri_text, const open_options& options);

// Each scheme's opener; the rooms that build drives define them.
std::unique_ptr<drive> open_software_controller(uri name, const open_options& options);  // mem: file: block:
std::unique_ptr<drive> open_emulated_drive(uri name, const open_options& options);       // emu:

}  // namespace sluice::drive
