#include "tools/sluice/html_text.h"

#include <array>
#include <cstdint>
#include <utility>

namespace sluice::tool {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// How many bytes the character at the start of `text` has; 0 where they are no UTF-8.
std::size_t utf8_length(std::string_view text) {
  struct form {
    unsigned mask, lead;
    std::uint32_t least;
  };
  constexpr std::array<form, 4> forms{
      {{0x80, 0, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}}};
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  for (std::size_t more = 0; more < forms.size(); ++more) {
    const form& is = forms[more];
    if ((byte(0) & is.mask) != is.lead) continue;
    if (text.size() <= more) return 0;
    std::uint32_t code = byte(0) & ~is.mask;
    for (std::size_t at = 1; at <= more; ++at) {
      if ((byte(at) & 0xC0U) != 0x80) return 0;
      code = code << 6U | (byte(at) & 0x3FU);
    }
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    return code < is.least || code > 0x10FFFF || surrogate ? 0 : more + 1;
  }
  return 0;
}

/// Control characters but tab and the ends of lines, U+FFFE and U+FFFF (XML 1.0, section 2.2).
bool is_no_xml(std::string_view character) {
  if (character.size() == 1) {
    const char c = character[0];
    return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
  }
  return character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
}

std::string_view escaped_character(std::string_view character) {
  switch (character[0]) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return is_no_xml(character) ? replacement : character;
  }
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    safe += length == 0 ? replacement : escaped_character(text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return safe;
}

std::string html_element(const char* name, std::string_view text) {
  return std::string("<") + name + '>' + html_text(text) + "</" + name + '>';
}

}  // namespace sluice::tool
