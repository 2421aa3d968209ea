// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The subset of JSON that archives need: writes lists of strings, reads an object of strings.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/cpp/error.hpp"

namespace tessera::detail {

inline std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

inline std::string write_texts(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) json += (json.size() > 1 ? "," : "") + quote(text);
  return json + "]";
}

inline std::string write_texts(const std::map<std::string, std::string>& texts) {
  std::string json = "{";
  for (const auto& [key, value] : texts) {
    json += (json.size() > 1 ? "," : "") + quote(key) + ":" + quote(value);
  }
  return json + "}";
}

// Reads an object of strings, in the form that the library writes.
class TextParser {
 public:
  explicit TextParser(std::string_view json) : json_(json) {}

  std::map<std::string, std::string> object() {
    std::map<std::string, std::string> texts;
    expect('{');
    if (peek() != '}') {
      do {
        const std::string key = text();
        expect(':');
        texts[key] = text();
      } while (accept(','));
    }
    expect('}');
    return texts;
  }
  std::vector<std::string> list() {
    std::vector<std::string> texts;
    expect('[');
    if (peek() != ']') {
      do {
        texts.push_back(text());
      } while (accept(','));
    }
    expect(']');
    return texts;
  }

 private:
  char peek() {
    while (at_ < json_.size() && (json_[at_] == ' ' || json_[at_] == '\n')) ++at_;
    return at_ < json_.size() ? json_[at_] : '\0';
  }
  bool accept(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) throw FileError("metadata: expected texts");
  }
  char next() {
    if (at_ == json_.size()) throw FileError("metadata: a text does not end");
    return json_[at_++];
  }

  std::string text() {
    expect('"');
    std::string found;
    for (char c = next(); c != '"'; c = next()) {
      if (c == '\\') {
        escape(found);
      } else {
        found += c;
      }
    }
    return found;
  }

  void escape(std::string& found) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char c = next();
    if (c == 'u') {
      append_utf8(found, code_point());
    } else if (const size_t which = kNames.find(c); which != std::string_view::npos) {
      found += kMeanings[which];
    } else {
      throw FileError("metadata: an unknown escape in a text");
    }
  }

  uint32_t four_digits() {
    constexpr std::string_view kDigits = "0123456789abcdef";
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = next();
      const size_t digit =
          kDigits.find(c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c);
      if (digit == std::string_view::npos) throw FileError("metadata: \\u needs four digits");
      value = value * 16 + static_cast<uint32_t>(digit);
    }
    return value;
  }

  // Characters beyond 16 bits are written as two escapes (a surrogate pair).
  uint32_t code_point() {
    const uint32_t first = four_digits();
    if (first < 0xd800 || first > 0xdbff) return first;
    if (next() != '\\' || next() != 'u') throw FileError("metadata: half a character");
    return 0x10000 + ((first - 0xd800) << 10) + (four_digits() - 0xdc00);
  }

  static void append_utf8(std::string& text, uint32_t code) {
    const auto put = [&](uint32_t byte) { text += static_cast<char>(byte); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xc0 | code >> 6);
      put(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      put(0xe0 | code >> 12);
      put(0x80 | (code >> 6 & 0x3f));
      put(0x80 | (code & 0x3f));
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
      put(0x80 | (code >> 6 & 0x3f));
      put(0x80 | (code & 0x3f));
    }
  }

  std::string_view json_;
  size_t at_ = 0;
};

inline std::map<std::string, std::string> parse_texts(std::string_view json) {
  return TextParser(json).object();
}

inline std::vector<std::string> parse_list(std::string_view json) {
  return TextParser(json).list();
}

}  // namespace tessera::detail
