#include "tools/sluice/html_text.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::tool {
namespace {

using namespace std::string_literals;

const std::string unknown = "\xEF\xBF\xBD";  // U+FFFD

TEST(html_text, markup_becomes_text) {
  EXPECT_EQ(html_text(R"(<script>alert("1 & 'x'")</script>)"),
            "&lt;script&gt;alert(&quot;1 &amp; &#39;x&#39;&quot;)&lt;/script&gt;");
  EXPECT_EQ(html_element("td", "a<b"), "<td>a&lt;b</td>");
}

TEST(html_text, other_languages_stay) {
  for (const char* text : {"é µ ×", "漢字", "😀", "\t\n"}) EXPECT_EQ(html_text(text), text);
}

TEST(html_text, what_is_no_utf8_is_replaced_byte_by_byte) {
  EXPECT_EQ(html_text("a\xFF"
                      "b"),
            "a" + unknown + "b");
  EXPECT_EQ(html_text("\xC3"), unknown) << "cut";
  EXPECT_EQ(html_text("\xC0\xAF"), unknown + unknown) << "longer than it need be";
  EXPECT_EQ(html_text("\xED\xA0\x80"), unknown + unknown + unknown) << "half of a pair";
  EXPECT_EQ(html_text("\xF5\x80\x80\x80"), unknown + unknown + unknown + unknown) << "beyond Unicode";
}

TEST(html_text, what_xml_does_not_allow_is_replaced) {
  EXPECT_EQ(html_text("\x01\0"s), unknown + unknown);
  EXPECT_EQ(html_text("\xEF\xBF\xBF"), unknown);
}

}  // namespace
}  // namespace sluice::tool
