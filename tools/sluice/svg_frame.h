// What SVG plots share: the element, text, and how much room text takes.
#pragma once

#include <string>
#include <string_view>

namespace sluice::tool {

/// As wide as a phone, so that text keeps its size there; the page lets it grow.
constexpr double svg_width = 360;

/// `body` as an element that screen readers call `title`.
std::string svg_element(std::string_view title, double height, std::string_view body);
/// `anchor` is "start", "middle" or "end"; `y` is the base line.
std::string svg_text(double x, double y, const char* anchor, std::string_view text);
std::string svg_line(const char* css_class, double x1, double y1, double x2, double y2);
/// About how wide `text` is.
double svg_text_width(std::string_view text);

}  // namespace sluice::tool
