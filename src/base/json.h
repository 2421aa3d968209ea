// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// JSON as a plain value: its parser and its text. Only json.cpp includes the JSON library, whose
// headers take longer to compile than the rest of most files that read a few values.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tsr {

// A text is no JSON, or a value is not of the type that was asked for.
class JsonError final : public std::exception {
 public:
  explicit JsonError(std::string message) : message_(std::move(message)) {}
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() noexcept;  // null
  Json(std::nullptr_t) noexcept;
  Json(std::same_as<bool> auto value) : value_(static_cast<bool>(value)) {}
  Json(std::signed_integral auto value) : value_(static_cast<int64_t>(value)) {}
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) Json(T value) : value_(static_cast<uint64_t>(value)) {}
  Json(double value);
  Json(std::string text);
  Json(std::string_view text);
  Json(const char* text);
  Json(Array list);
  template <class T>
  Json(const std::vector<T>& list) : Json(Array(list.begin(), list.end())) {}
  // An object if every element is a list of a text and a value, else a list.
  Json(std::initializer_list<Json> list);

  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json array(std::initializer_list<Json> list = {});
  static Json object();

  // Throws JsonError. Of equal keys in an object the last one counts. A text that is nested deeper
  // than kMaxDepth is refused, because other functions here call themselves for what is nested.
  static Json parse(std::string_view text);
  static std::optional<Json> try_parse(std::string_view text);
  static constexpr size_t kMaxDepth = 1000;

  [[nodiscard]] bool is_null() const;
  [[nodiscard]] bool is_boolean() const;
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_number_integer() const;
  [[nodiscard]] bool is_number_unsigned() const;
  [[nodiscard]] bool is_int64() const;  // a whole number that int64_t can hold
  [[nodiscard]] bool is_string() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_object() const;
  [[nodiscard]] const char* type_name() const;

  // bool, int32_t, int64_t, uint64_t, double, std::string, or a std::vector of int64_t or
  // std::string. Throws JsonError if the value is no such one.
  template <class T>
  [[nodiscard]] T get() const;

  // ---- Lists. What they are asked of must be one; push_back makes one of null. ----

  [[nodiscard]] size_t size() const;  // also of an object
  [[nodiscard]] const Json* begin() const;
  [[nodiscard]] const Json* end() const;
  Json* begin();
  Json* end();
  [[nodiscard]] const Json& operator[](size_t index) const { return at(index); }
  Json& operator[](size_t index);
  [[nodiscard]] const Json& at(size_t index) const;
  void push_back(Json value);

  // ---- Objects. A key is looked for one after the other, from the last. ----

  [[nodiscard]] const Object& items() const;
  Object& items();
  [[nodiscard]] const Json* find(std::string_view key) const;  // null: absent, or this is no object
  [[nodiscard]] bool contains(std::string_view key) const { return find(key) != nullptr; }
  [[nodiscard]] const Json& at(std::string_view key) const;
  [[nodiscard]] const Json& operator[](std::string_view key) const { return at(key); }
  Json& operator[](std::string_view key);  // adds what is absent, and makes an object of null
  // As the last member, without looking whether there is one with this key.
  void append(std::string key, Json value);
  void erase(std::string_view key);

  // Numbers of different types are equal if their values are.
  friend bool operator==(const Json& a, const Json& b);

  // ---- Text. Throws JsonError for what is not UTF-8; a number that is not finite is null. ----

  [[nodiscard]] std::string dump() const;  // members in the order of their keys
  // Members in the order in which they were added; with an indent one a line.
  [[nodiscard]] std::string dump_in_order(int indent = -1) const;

 private:
  struct Writer;
  Array& list();
  [[nodiscard]] const Array& list() const;
  Object& members();

  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Object> value_;
};

template <>
bool Json::get<bool>() const;
template <>
int32_t Json::get<int32_t>() const;
template <>
int64_t Json::get<int64_t>() const;
template <>
uint64_t Json::get<uint64_t>() const;
template <>
double Json::get<double>() const;
template <>
std::string Json::get<std::string>() const;
template <>
std::vector<int64_t> Json::get<std::vector<int64_t>>() const;
template <>
std::vector<std::string> Json::get<std::vector<std::string>>() const;

// The text in quotes. What is not UTF-8 is a JsonError, or is replaced.
[[nodiscard]] std::string json_quoted(std::string_view text, bool replace = false);

// For a message: "array" or "object", or how the value is written, 80 characters at most.
[[nodiscard]] std::string short_text(const Json& value);

// Receives the parts of a text one after the other, for a text that may be too large for a tree of
// values. A function that throws ends the reading.
class JsonEvents {
 public:
  JsonEvents() = default;
  JsonEvents(const JsonEvents&) = delete;
  JsonEvents& operator=(const JsonEvents&) = delete;
  virtual ~JsonEvents() = default;

  virtual void null() = 0;
  virtual void boolean(bool value) = 0;
  virtual void integer(int64_t value) = 0;  // below 0
  virtual void natural(uint64_t value) = 0;
  virtual void real(double value, const std::string& text) = 0;
  virtual void string(std::string& value) = 0;
  virtual void start_object() = 0;
  virtual void key(std::string& name) = 0;
  virtual void end_object() = 0;
  virtual void start_array() = 0;
  virtual void end_array() = 0;
  [[noreturn]] virtual void no_json(const char* why) = 0;
};

void read_json(std::string_view text, JsonEvents& events);

}  // namespace tsr
