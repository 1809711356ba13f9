#include "tools/sluice/svg_frame.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/sluice/html_text.h"

namespace sluice::tool {

std::string svg_element(std::string_view title, double height, std::string_view body) {
  return fmt::format("<svg class=\"plot\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {} {}\">{}</svg>\n",
                     html_text(title), svg_width, height, body);
}

std::string svg_text(double x, double y, const char* anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     html_text(text));
}

std::string svg_line(const char* css_class, double x1, double y1, double x2, double y2) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                     css_class, x1, y1, x2, y2);
}

double svg_text_width(std::string_view text) {
  constexpr double character = 6.6;  // of 12 px in common system fonts
  const auto characters = std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; });
  return character * static_cast<double>(characters);
}

}  // namespace sluice::tool
