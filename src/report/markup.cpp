#include "report/markup.h"

#include <fmt/core.h>

#include <cmath>

#include "core/json.h"
#include "core/text.h"

namespace locus::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Length of the valid UTF-8 sequence at text[i], 0 when there is none or it is not allowed in XML.
std::size_t sequence_length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = byte(i);
  if (first < 0x80) return (first >= 0x20 && first != 0x7F) || first == '\n' || first == '\t' ? 1 : 0;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || i + length > text.size()) return 0;
  std::uint32_t point = first & (0xFFu >> (length + 1));
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xC0) != 0x80) return 0;
    point = point << 6 | (byte(i + k) & 0x3Fu);
  }
  static constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  const bool forbidden = point == 0xFFFE || point == 0xFFFF || (point >= 0x80 && point < 0xA0);
  // Marks that reorder text can make a name read as something else.
  const bool reorders = (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
  return point < kSmallest[length] || point > 0x10FFFF || surrogate || forbidden || reorders ? 0 : length;
}

}  // namespace

std::string clean_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence_length(text, i);
    if (length == 0) {
      out += kReplacement;
      ++i;
    } else {
      out += text.substr(i, length);
      i += length;
    }
  }
  return out;
}

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : clean_utf8(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string shorten(std::string_view text, std::size_t limit) {
  const std::string clean = clean_utf8(text);
  std::size_t characters = 0;
  std::size_t cut = std::string::npos;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    if ((static_cast<unsigned char>(clean[i]) & 0xC0) == 0x80) continue;
    if (characters + 1 == limit) cut = i;
    if (++characters > limit) return clean.substr(0, cut) + "…";
  }
  return clean;
}

std::string script_json(const Json& value) {
  const std::string raw = value.dump({.indent = -1, .ascii = true});
  std::string out;
  out.reserve(raw.size());
  for (const char c : raw) {
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string coord(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string pretty(double value, int digits) {
  if (std::isnan(value)) return "n/a";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  if (value == 0) return "0";
  std::string text = fmt::format("{:.{}g}", value, digits);
  const double size = std::abs(value);
  if (size >= 1e-4 && size < 1e6) {
    const int decimals = std::max(0, digits - 1 - static_cast<int>(std::floor(std::log10(size))));
    text = fmt::format("{:.{}f}", value, decimals);
    if (text.find('.') != std::string::npos) {
      while (text.back() == '0') text.pop_back();
      if (text.back() == '.') text.pop_back();
    }
  }
  if (text[0] == '-') text.replace(0, 1, "−");
  return text;
}

std::string percent(double fraction, int decimals) {
  if (!std::isfinite(fraction)) return "n/a";
  std::string text = fmt::format("{:.{}f}\u00A0%", 100 * fraction, decimals);
  if (text[0] == '-') text.replace(0, 1, "−");
  return text;
}

std::string r_text(double r) {
  if (!std::isfinite(r)) return "n/a";
  std::string text = fmt::format("{:.2f}", r);
  if (text == "-0.00") return "0.00";
  if (text[0] == '-') text.replace(0, 1, "−");
  return text;
}

std::string p_text(double p) {
  if (!std::isfinite(p)) return "p n/a";
  if (p < 0.001) return "p < 0.001";
  return fmt::format("p = {:.{}f}", p, p < 0.1 ? 3 : 2);
}

std::string base64(std::span<const unsigned char> bytes) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    std::uint32_t group = static_cast<std::uint32_t>(bytes[i]) << 16;
    if (left > 1) group |= static_cast<std::uint32_t>(bytes[i + 1]) << 8;
    if (left > 2) group |= bytes[i + 2];
    out += kDigits[group >> 18];
    out += kDigits[group >> 12 & 63];
    out += left > 1 ? kDigits[group >> 6 & 63] : '=';
    out += left > 2 ? kDigits[group & 63] : '=';
  }
  return out;
}

}  // namespace locus::report
