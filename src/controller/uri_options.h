// What every URI that ends at a software controller may say of it.
#pragma once

#include <cstdint>
#include <string>

#include "controller/controller.h"
#include "sluice/drive/open.h"
#include "sluice/drive/uri.h"

namespace sluice::controller {

struct uri_options {
  controller_options controller;
  bool block_chosen = false;  ///< block= was given
  std::uint32_t deadline_ms = drive::default_deadline_ms;
};

/// Takes faults, queues=, depth=, mdts=, block= and deadline_ms=. `queues`: how many where queues= is absent.
uri_options take_options(drive::uri& name, const drive::open_options& options, std::uint32_t queues);

/// error{bad_input} about a drive.
[[noreturn]] void refuse(const drive::uri& name, const std::string& message, const std::string& mend);

}  // namespace sluice::controller
