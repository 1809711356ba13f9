#include "sluice/drive/uri.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <numeric>
#include <utility>

#include "sluice/base/error.h"
#include "sluice/base/sizes.h"

namespace sluice::drive {

namespace {

constexpr const char* grammar =
    "write scheme:subject?key=value&key=value, as in mem:4GiB or file:/data/a.bin?size=1GiB";
constexpr std::uint64_t longest_delay_us = 60'000'000;
constexpr std::uint64_t longest_deadline_ms = 3'600'000;

[[noreturn]] void refuse_text(std::string_view text, const std::string& fault,
                              const std::string& mend = grammar) {
  throw error(error_kind::bad_input, "drive URI '" + std::string(text) + "' " + fault, mend);
}

bool is_scheme(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

bool has_control_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return std::iscntrl(static_cast<unsigned char>(c)); });
}

/// `text` up to the first `mark`; `text` becomes what follows it.
std::string_view cut(std::string_view& text, char mark) {
  const std::size_t at = text.find(mark);
  const std::string_view head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
  return head;
}

std::string join(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : ", ") + word;
  return line;
}

/// Letters to insert, drop or change until `a` becomes `b` (Levenshtein's distance).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({change, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t farthest = 2;
  constexpr std::size_t longest_word = 64;
  std::string best;
  std::size_t least = farthest + 1;
  if (word.size() > longest_word) return best;
  for (const std::string& candidate : candidates) {
    const std::size_t letters = distance(word, candidate);
    if (letters < least && letters < candidate.size()) {
      least = letters;
      best = candidate;
    }
  }
  return best;
}

uri uri::parse(std::string_view text) {
  if (has_control_characters(text))
    throw error(error_kind::bad_input, "a drive URI holds control characters", grammar);
  uri result;
  result.text_ = text;
  std::string_view rest = text;
  if (text.find(':') == std::string_view::npos)
    refuse_text(text, "names no scheme",
                text.find('/') != std::string_view::npos ? "write file:" + std::string(text) : grammar);
  const std::string_view scheme = cut(rest, ':');
  if (!is_scheme(scheme)) refuse_text(text, "does not begin with a scheme in small letters");
  result.scheme_ = scheme;
  const bool asks = rest.find('?') != std::string_view::npos;
  result.subject_ = cut(rest, '?');
  if (result.subject_.empty()) refuse_text(text, "says nothing after '" + result.scheme_ + ":'");
  if (asks && rest.empty()) refuse_text(text, "has no option after '?'");
  while (!rest.empty()) {
    std::string_view value = cut(rest, '&');
    const bool assigns = value.find('=') != std::string_view::npos;
    const std::string key(cut(value, '='));
    if (key.empty()) refuse_text(text, "has an option without a name");
    if (!assigns || value.empty())
      refuse_text(text, "gives option '" + key + "' no value", "write " + key + "=value");
    if (!result.options_.emplace(key, value).second)
      refuse_text(text, "gives option '" + key + "' twice", "keep one");
  }
  return result;
}

std::string uri::text_without(std::span<const std::string_view> keys) const {
  std::string text = scheme_ + ":" + subject_;
  char mark = '?';
  for (const auto& [key, value] : options_) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    text += mark;
    text.append(key).append("=").append(value);
    mark = '&';
  }
  return text;
}

std::vector<std::string> each_drive(std::span<const std::string> uris) {
  constexpr std::string_view count = "count";
  constexpr std::uint64_t most = 1024;
  std::vector<std::string> each;
  for (const std::string& text : uris) {
    uri name = uri::parse(text);
    if (name.scheme() != "emu" || !name.has(count)) {
      each.push_back(text);
      continue;
    }
    const std::string one = name.text_without({{count}});
    const std::uint64_t drives = name.take_count(count, 1);
    if (drives < 1 || drives > most)
      throw error(error_kind::bad_input, "option 'count' of " + text + " is " + std::to_string(drives),
                  "use 1 to " + std::to_string(most), {.drive = text});
    each.insert(each.end(), drives, one);
  }
  return each;
}

bool uri::has(std::string_view key) const { return options_.find(key) != options_.end(); }

std::string uri::option(std::string_view key) const {
  return "option '" + std::string(key) + "' of " + text_;
}

void uri::refuse(std::string_view key, std::string_view value, std::string_view expected) const {
  throw error(error_kind::bad_input,
              option(key) + " is '" + std::string(value) + "', which is not " + std::string(expected));
}

bool uri::take_text(std::string_view key, std::string& value) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  const auto found = options_.find(key);
  if (found == options_.end()) return false;
  value = std::move(found->second);
  options_.erase(found);
  return true;
}

std::string uri::take(std::string_view key, std::string_view otherwise) {
  std::string value;
  return take_text(key, value) ? value : std::string(otherwise);
}

std::uint64_t uri::take_bytes(std::string_view key, std::uint64_t otherwise) {
  std::string value;
  return take_text(key, value) ? parse_bytes(value, option(key)) : otherwise;
}

std::uint64_t uri::take_count(std::string_view key, std::uint64_t otherwise) {
  std::string value;
  return take_text(key, value) ? parse_count(value, option(key)) : otherwise;
}

double uri::take_real(std::string_view key, double otherwise) {
  std::string value;
  return take_text(key, value) ? parse_real(value, option(key)) : otherwise;
}

bool uri::take_flag(std::string_view key) {
  std::string value;
  if (!take_text(key, value)) return false;
  if (value != "0" && value != "1") refuse(key, value, "0 or 1");
  return value == "1";
}

double uri::take_rate(std::string_view key) {
  std::string value;
  if (!take_text(key, value)) return 0;
  const double rate = parse_real(value, option(key));
  if (rate < 0 || rate > 1) refuse(key, value, "a rate from 0 to 1");
  return rate;
}

std::uint64_t uri::take_count_within(std::string_view key, std::uint64_t otherwise, std::uint64_t least,
                                     std::uint64_t most) {
  std::string value;
  if (!take_text(key, value)) return otherwise;
  const std::uint64_t count = parse_count(value, option(key));
  if (count < least || count > most)
    refuse(key, value, "from " + std::to_string(least) + " to " + std::to_string(most));
  return count;
}

fault_plan uri::take_faults() {
  constexpr std::uint64_t widest_status = 0x7fff;  // the 15-bit field of a completion
  fault_plan plan;
  plan.error_rate = take_rate("error_rate");
  std::string range;
  if (take_text("error_lba", range)) {
    std::string_view last = range;
    const std::string_view first = cut(last, '-');
    const bool one = range.find('-') == std::string::npos;
    const lba from{parse_count(first, option("error_lba"))};
    const lba to{one ? from.value : parse_count(last, option("error_lba"))};
    if (to.value < from.value) refuse("error_lba", range, "a range such as 100-120, the smaller block first");
    plan.error_lba = lba_range{from, to};
  }
  plan.error_at = take_count("error_at", plan.error_at);
  plan.code = status::from_nvme(
      static_cast<std::uint32_t>(take_count_within("status", plan.code.bits(), 1, widest_status)));
  plan.delay_us = static_cast<std::uint32_t>(take_count_within("delay_us", 0, 0, longest_delay_us));
  plan.drop_rate = take_rate("drop_rate");
  plan.drop_at = take_count("drop_at", plan.drop_at);
  plan.tear_rate = take_rate("tear_rate");
  plan.shuffle = take_flag("shuffle");
  plan.seed = take_count("seed", plan.seed);
  return plan;
}

std::uint32_t uri::take_deadline_ms() {
  return static_cast<std::uint32_t>(
      take_count_within("deadline_ms", default_deadline_ms, 1, longest_deadline_ms));
}

void uri::finish() const {
  if (options_.empty()) return;
  const std::string& key = options_.begin()->first;
  const std::string meant = nearest(key, known_);
  throw error(error_kind::bad_input,
              scheme_ + ": knows no option '" + key + "' (in " + text_ + ")" +
                  (meant.empty() ? "" : "; did you mean '" + meant + "'?"),
              known_.empty() ? scheme_ + ": takes no options" : "use one of: " + join(known_));
}

}  // namespace sluice::drive
