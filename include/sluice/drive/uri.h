// The name of a drive and its options: scheme:subject?key=value&key=value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/drive/faults.h"

namespace sluice::drive {

/// A parsed drive URI. Options are kept as text; take_* hands each out once, and finish() refuses those nobody took.
class uri {
 public:
  /// Throws error{bad_input} naming the fault and the mend.
  static uri parse(std::string_view text);

  const std::string& text() const { return text_; }      ///< as it was given
  const std::string& scheme() const { return scheme_; }  ///< "mem", "file", "block", "emu", "pci", "host"
  const std::string& subject() const { return subject_; } ///< what stands between the colon and the question mark

  bool has(std::string_view key) const;
  std::string take(std::string_view key, std::string_view otherwise);
  std::uint64_t take_bytes(std::string_view key, std::uint64_t otherwise);
  std::uint64_t take_count(std::string_view key, std::uint64_t otherwise);
  double take_real(std::string_view key, double otherwise);
  bool take_flag(std::string_view key);
  /// The fault options of design section 7, common to all schemes.
  fault_plan take_faults();
  /// Milliseconds a command may stay unanswered.
  std::uint32_t take_deadline_ms();

  /// Throws error{bad_input} naming the first option nobody knew, and those that this scheme knows.
  void finish() const;

 private:
  std::string text_, scheme_, subject_;
  std::map<std::string, std::string, std::less<>> options_;
  std::vector<std::string> known_;
};

}  // namespace sluice::drive
