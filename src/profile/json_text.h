// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Writes JSON text directly: a profile has more events than a tree of values should hold.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"

namespace tsr::profile {

// Names come from the host and the system; what is not UTF-8 in them is replaced.
inline void append_json(std::string& out, std::string_view text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (!std::all_of(text.begin(), text.end(), is_ascii)) {
    out += json_quoted(text, true);
    return;
  }
  constexpr const char* kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (code < 0x20) {
      out += "\\u00";
      out += kHex[code >> 4];
      out += kHex[code & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}
inline void append_json(std::string& out, const char* text) {
  append_json(out, std::string_view(text));
}
inline void append_json(std::string& out, int64_t value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}
inline void append_json(std::string& out, uint64_t value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}
inline void append_json(std::string& out, int32_t value) {
  append_json(out, int64_t{value});
}
// JSON has no infinity and no nan.
inline void append_json(std::string& out, double value) {
  char digits[40];
  if (!std::isfinite(value)) value = 0;
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

// Text that is JSON already.
struct Raw {
  std::string_view text;
};
inline void append_json(std::string& out, Raw raw) {
  out += raw.text;
}

// An object, field by field; the destructor closes it.
class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;
  ~JsonObject() { out_ += '}'; }

  template <class T>
  JsonObject& field(std::string_view name, const T& value) {
    key(name);
    append_json(out_, value);
    return *this;
  }
  // The value is what `write` appends.
  template <class Write>
  JsonObject& nested(std::string_view name, const Write& write) {
    key(name);
    write();
    return *this;
  }

 private:
  void key(std::string_view name) {
    if (out_.back() != '{') out_ += ',';
    append_json(out_, name);
    out_ += ':';
  }
  std::string& out_;
};

// A list; write(item) appends one.
template <class Items, class Write>
void append_list(std::string& out, const Items& items, const Write& write) {
  out += '[';
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += ',';
    first = false;
    write(item);
  }
  out += ']';
}

}  // namespace tsr::profile
