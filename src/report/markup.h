// Text that is safe inside HTML, SVG and script data, whatever it contained before, and numbers with fixed decimals.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace locus::report {

// Safe as element text and inside double- or single-quoted attributes. Control characters and bytes that are not
// UTF-8 become U+FFFD, so the result is always well-formed XML.
std::string escape(std::string_view text);

// Well-formed UTF-8 without control characters, not yet escaped.
std::string clean_utf8(std::string_view text);

// At most `limit` characters, the rest replaced by an ellipsis.
std::string shorten(std::string_view text, std::size_t limit);

// JSON that cannot end or open an element when it stands in a script block.
std::string script_json(const Json& value);

// Coordinates: two decimals, no trailing zeros, never "-0" or an exponent; NaN and infinities are "0".
std::string coord(double value);

// A value for readers: `digits` significant digits, plain notation where it is shorter; "n/a" for NaN, "∞".
std::string pretty(double value, int digits = 4);
std::string percent(double fraction, int decimals = 1);  // "95.6 %", a no-break space between
std::string r_text(double r);                            // "0.96", "−0.05", "n/a"
std::string p_text(double p);                            // "p = 0.012", "p < 0.001"

std::string base64(std::span<const unsigned char> bytes);

}  // namespace locus::report
