// The name of a drive and its options: scheme:subject?key=value&key=value.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/drive/faults.h"

namespace sluice::drive {

inline constexpr std::uint32_t default_deadline_ms = 5000;

/// A parsed drive URI. Options are kept as text; take_* hands each out once, and finish() refuses those
/// nobody took.
class uri {
 public:
  /// Throws error{bad_input} naming the fault and the mend.
  static uri parse(std::string_view text);

  const std::string& text() const { return text_; }      ///< as it was given
  const std::string& scheme() const { return scheme_; }  ///< "mem", "file", "block", "emu", "pci", "host"
  const std::string& subject() const {
    return subject_;
  }  ///< what stands between the colon and the question mark

  /// True where what is written to such a drive ends with the process.
  bool forgets() const { return scheme_ == "mem" || scheme_ == "emu" || scheme_ == "host"; }

  bool has(std::string_view key) const;
  /// The URI as it was given, but for those of `keys` that it names; before any is taken.
  std::string text_without(std::span<const std::string_view> keys) const;
  // Each returns `otherwise` where the option is absent, and throws error{bad_input} naming option and URI
  // where its value cannot be read.
  std::string take(std::string_view key, std::string_view otherwise);
  std::uint64_t take_bytes(std::string_view key, std::uint64_t otherwise);
  std::uint64_t take_count(std::string_view key, std::uint64_t otherwise);
  double take_real(std::string_view key, double otherwise);
  /// 1 or 0; false where absent.
  bool take_flag(std::string_view key);
  /// A probability, 0 to 1; 0 where absent.
  double take_rate(std::string_view key);
  /// The fault options of design section 7, common to all schemes.
  fault_plan take_faults();
  /// Milliseconds a command may stay unanswered.
  std::uint32_t take_deadline_ms();

  /// Throws error{bad_input} naming the first option nobody knew, and those that this scheme knows.
  void finish() const;

 private:
  /// Notes that `key` exists, and moves its value into `value`; false where it was not given.
  bool take_text(std::string_view key, std::string& value);
  std::uint64_t take_count_within(std::string_view key, std::uint64_t otherwise, std::uint64_t least,
                                  std::uint64_t most);
  /// "option 'size' of file:/x?size=lots", for messages.
  std::string option(std::string_view key) const;
  [[noreturn]] void refuse(std::string_view key, std::string_view value, std::string_view expected) const;

  std::string text_, scheme_, subject_;
  std::map<std::string, std::string, std::less<>> options_;
  std::vector<std::string> known_;
};

/// Each URI as often as its count= says (emu: drives of a kind), and once where it has none. Throws as
/// parse() and the takes do.
std::vector<std::string> each_drive(std::span<const std::string> uris);

/// The candidate that `word` was probably meant to be, or empty: at most two letters away.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sluice::drive
