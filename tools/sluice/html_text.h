// Text of others as text of a page: nothing in it is markup.
#pragma once

#include <string>
#include <string_view>

namespace sluice::tool {

/// `text` for an element's content or a quoted attribute, of HTML and of XML alike: &, <, >, quotes as
/// entities, and U+FFFD for what XML does not allow and for bytes that are no UTF-8.
std::string html_text(std::string_view text);

/// "<td>4 &lt; 5</td>"
std::string html_element(const char* name, std::string_view text);

}  // namespace sluice::tool
