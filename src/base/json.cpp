// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"

namespace tsr {
namespace {

[[noreturn]] void expected(std::string_view what, const Json& got) {
  throw JsonError(concat("expected ", what, ", got ", short_text(got)));
}

// ---- Parsing ----

// Hands the library's events on.
class Bridge final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Bridge(JsonEvents& events) : events_(events) {}

  bool null() override { return events_.null(), true; }
  bool boolean(bool value) override { return events_.boolean(value), true; }
  bool number_integer(int64_t value) override { return events_.integer(value), true; }
  bool number_unsigned(uint64_t value) override { return events_.natural(value), true; }
  bool number_float(double value, const std::string& text) override {
    return events_.real(value, text), true;
  }
  bool string(std::string& value) override { return events_.string(value), true; }
  bool binary(binary_t& /*value*/) override { return true; }  // JSON as a text has none
  bool start_object(size_t /*size*/) override { return events_.start_object(), true; }
  bool key(std::string& name) override { return events_.key(name), true; }
  bool end_object() override { return events_.end_object(), true; }
  bool start_array(size_t /*size*/) override { return events_.start_array(), true; }
  bool end_array() override { return events_.end_array(), true; }
  bool parse_error(size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::json::exception& error) override {
    events_.no_json(error.what());
    return false;
  }

 private:
  JsonEvents& events_;
};

// Keeps the last of members with the same key.
void drop_repeated(Json::Object& members) {
  std::vector<size_t> order(members.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&members](size_t a, size_t b) { return members[a].first < members[b].first; });
  std::vector<bool> repeated(members.size(), false);
  for (size_t i = 1; i < order.size(); ++i) {
    repeated[order[i - 1]] = members[order[i - 1]].first == members[order[i]].first;
  }
  size_t at = 0;
  std::erase_if(members, [&](const Json::Member&) { return repeated[at++]; });
}

// Makes a tree of values of the events.
class Builder final : public JsonEvents {
 public:
  Json take() && { return std::move(root_); }

  void null() override { add(nullptr); }
  void boolean(bool value) override { add(value); }
  void integer(int64_t value) override { add(value); }
  void natural(uint64_t value) override { add(value); }
  void real(double value, const std::string& /*text*/) override { add(value); }
  void string(std::string& value) override { add(std::move(value)); }
  void start_object() override { open(Json::object()); }
  void key(std::string& name) override { key_ = std::move(name); }
  void end_object() override {
    drop_repeated(open_.back()->items());
    open_.pop_back();
  }
  void start_array() override { open(Json::array()); }
  void end_array() override { open_.pop_back(); }
  [[noreturn]] void no_json(const char* why) override { throw JsonError(why); }

 private:
  Json& add(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back();
    if (parent.is_object()) {
      parent.append(std::move(key_), std::move(value));
      return parent.items().back().second;
    }
    parent.push_back(std::move(value));
    return *(parent.end() - 1);
  }
  void open(Json value) {
    if (open_.size() == Json::kMaxDepth) {
      throw JsonError(concat("expected lists and objects in each other up to ", Json::kMaxDepth));
    }
    open_.push_back(&add(std::move(value)));
  }

  Json root_;
  std::vector<Json*> open_;  // an open list or object grows at its end only: its address stays
  std::string key_;
};

// ---- Numbers ----

template <class T>
std::vector<T> listed(const Json& value) {
  std::vector<T> list;
  list.reserve(value.size());
  for (const Json& each : value) list.push_back(each.get<T>());
  return list;
}

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

}  // namespace

void read_json(std::string_view text, JsonEvents& events) {
  Bridge bridge(events);
  static_cast<void>(nlohmann::json::sax_parse(text.begin(), text.end(), &bridge));
}

Json Json::parse(std::string_view text) {
  Builder builder;
  read_json(text, builder);
  return std::move(builder).take();
}

std::optional<Json> Json::try_parse(std::string_view text) {
  try {
    return parse(text);
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

// ---- Values ----

Json::Json() noexcept = default;
Json::Json(std::nullptr_t) noexcept {}
Json::Json(double value) : value_(value) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(Array list) : value_(std::move(list)) {}
Json::Json(std::initializer_list<Json> list) {
  const bool is_object = std::all_of(list.begin(), list.end(), [](const Json& each) {
    return each.is_array() && each.size() == 2 && each[0].is_string();
  });
  if (!is_object) {
    value_ = Array(list);
    return;
  }
  Object& object = value_.emplace<Object>();
  object.reserve(list.size());
  for (const Json& each : list) object.emplace_back(each[0].get<std::string>(), each[1]);
}
// A whole copy is made first and then moved. The copy of a variant that throws in the middle
// destroys in libstdc++ 12 an alternative that is not there yet: it takes a variant of these types
// for one that always has a value.
Json::Json(const Json& other) {
  std::visit([this](const auto& value) { value_ = std::decay_t<decltype(value)>(value); },
             other.value_);
}
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) {
  if (this != &other) *this = Json(other);
  return *this;
}
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json Json::array(std::initializer_list<Json> list) {
  return Array(list);
}
Json Json::object() {
  Json made;
  made.value_.emplace<Object>();
  return made;
}

bool Json::is_null() const {
  return std::holds_alternative<std::monostate>(value_);
}
bool Json::is_boolean() const {
  return std::holds_alternative<bool>(value_);
}
bool Json::is_number() const {
  return is_number_integer() || std::holds_alternative<double>(value_);
}
bool Json::is_number_integer() const {
  return std::holds_alternative<int64_t>(value_) || is_number_unsigned();
}
bool Json::is_number_unsigned() const {
  return std::holds_alternative<uint64_t>(value_);
}
bool Json::is_int64() const {
  const auto* natural = std::get_if<uint64_t>(&value_);
  return natural == nullptr ? is_number_integer() : std::in_range<int64_t>(*natural);
}
bool Json::is_string() const {
  return std::holds_alternative<std::string>(value_);
}
bool Json::is_array() const {
  return std::holds_alternative<Array>(value_);
}
bool Json::is_object() const {
  return std::holds_alternative<Object>(value_);
}
const char* Json::type_name() const {
  constexpr const char* kNames[] = {"null",   "boolean", "number", "number",
                                    "number", "string",  "array",  "object"};
  return kNames[value_.index()];
}

template <>
bool Json::get<bool>() const {
  if (const auto* value = std::get_if<bool>(&value_)) return *value;
  expected("true or false", *this);
}
template <>
int64_t Json::get<int64_t>() const {
  const auto* number = std::get_if<int64_t>(&value_);
  const auto* natural = std::get_if<uint64_t>(&value_);
  if (number != nullptr) return *number;
  if (natural != nullptr && std::in_range<int64_t>(*natural)) return static_cast<int64_t>(*natural);
  expected("a whole number below 2^63", *this);
}
template <>
int32_t Json::get<int32_t>() const {
  const auto value = get<int64_t>();
  if (std::in_range<int32_t>(value)) return static_cast<int32_t>(value);
  expected("a whole number of 32 bits", *this);
}
template <>
uint64_t Json::get<uint64_t>() const {
  const auto* number = std::get_if<int64_t>(&value_);
  const auto* natural = std::get_if<uint64_t>(&value_);
  if (natural != nullptr) return *natural;
  if (number != nullptr && *number >= 0) return static_cast<uint64_t>(*number);
  expected("a whole number from 0", *this);
}
template <>
double Json::get<double>() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<int64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<uint64_t>(&value_)) return static_cast<double>(*value);
  expected("a number", *this);
}
template <>
std::string Json::get<std::string>() const {
  if (const auto* value = std::get_if<std::string>(&value_)) return *value;
  expected("a text", *this);
}
template <>
std::vector<int64_t> Json::get<std::vector<int64_t>>() const {
  return listed<int64_t>(*this);
}
template <>
std::vector<std::string> Json::get<std::vector<std::string>>() const {
  return listed<std::string>(*this);
}

bool operator==(const Json& a, const Json& b) {
  if (!a.is_number() || !b.is_number()) return a.value_ == b.value_;
  if (!a.is_number_integer() || !b.is_number_integer()) return a.get<double>() == b.get<double>();
  if (a.is_number_unsigned() == b.is_number_unsigned()) return a.value_ == b.value_;
  const bool first = a.is_number_unsigned();
  return std::cmp_equal(std::get<uint64_t>((first ? a : b).value_),
                        std::get<int64_t>((first ? b : a).value_));
}

// ---- Lists ----

Json::Array& Json::list() {
  if (auto* list = std::get_if<Array>(&value_)) return *list;
  expected("a list", *this);
}
const Json::Array& Json::list() const {
  if (const auto* list = std::get_if<Array>(&value_)) return *list;
  expected("a list", *this);
}
size_t Json::size() const {
  return is_object() ? items().size() : list().size();
}
const Json* Json::begin() const {
  return list().data();
}
const Json* Json::end() const {
  return list().data() + list().size();
}
Json* Json::begin() {
  return list().data();
}
Json* Json::end() {
  return list().data() + list().size();
}
const Json& Json::at(size_t index) const {
  if (index < list().size()) return list()[index];
  expected(concat("a list of more than ", index, " values"), *this);
}
Json& Json::operator[](size_t index) {
  return const_cast<Json&>(std::as_const(*this).at(index));
}
void Json::push_back(Json value) {
  if (is_null()) value_.emplace<Array>();
  list().push_back(std::move(value));
}

// ---- Objects ----

Json::Object& Json::members() {
  if (is_null()) value_.emplace<Object>();
  if (auto* object = std::get_if<Object>(&value_)) return *object;
  expected("an object", *this);
}
const Json::Object& Json::items() const {
  if (const auto* object = std::get_if<Object>(&value_)) return *object;
  expected("an object", *this);
}
Json::Object& Json::items() {
  return const_cast<Object&>(std::as_const(*this).items());
}
const Json* Json::find(std::string_view key) const {
  const auto* object = std::get_if<Object>(&value_);
  if (object == nullptr) return nullptr;
  const auto found = std::find_if(object->rbegin(), object->rend(),
                                  [key](const Member& member) { return member.first == key; });
  return found == object->rend() ? nullptr : &found->second;
}
const Json& Json::at(std::string_view key) const {
  if (const Json* found = find(key)) return *found;
  expected(concat("an object with '", key, "'"), *this);
}
Json& Json::operator[](std::string_view key) {
  if (const Json* found = find(key)) return const_cast<Json&>(*found);
  return members().emplace_back(key, nullptr).second;
}
void Json::append(std::string key, Json value) {
  members().emplace_back(std::move(key), std::move(value));
}
void Json::erase(std::string_view key) {
  std::erase_if(members(), [key](const Member& member) { return member.first == key; });
}

// ---- Text ----

std::string json_quoted(std::string_view text, bool replace) {
  if (is_plain(text)) return concat("\"", text, "\"");
  using Handler = nlohmann::json::error_handler_t;
  try {
    return nlohmann::json(text).dump(-1, ' ', false, replace ? Handler::replace : Handler::strict);
  } catch (const nlohmann::json::exception& error) {
    throw JsonError(error.what());
  }
}

std::string short_text(const Json& value) {
  if (value.is_array() || value.is_object()) return value.type_name();
  return std::string(first_characters(value.dump(), 80));
}

struct Json::Writer {
  bool sorted;
  int indent;
  std::string text{};

  void line(int depth) {
    if (indent < 0) return;
    text += '\n';
    text.append(static_cast<size_t>(depth * indent), ' ');
  }

  void write(const Json& value, int depth) {
    if (value.is_array()) return write_list(value.list(), depth);
    if (value.is_object()) return write_object(value.items(), depth);
    if (const auto* string = std::get_if<std::string>(&value.value_)) {
      text += json_quoted(*string);
    } else if (const auto* number = std::get_if<int64_t>(&value.value_)) {
      text += std::to_string(*number);
    } else if (const auto* natural = std::get_if<uint64_t>(&value.value_)) {
      text += std::to_string(*natural);
    } else if (const auto* real = std::get_if<double>(&value.value_)) {
      text += nlohmann::json(*real).dump();
    } else {
      text += value.is_null() ? "null" : value.get<bool>() ? "true" : "false";
    }
  }

  void write_list(const Array& list, int depth) {
    text += '[';
    for (const Json& each : list) {
      if (&each != list.data()) text += ',';
      line(depth + 1);
      write(each, depth + 1);
    }
    if (!list.empty()) line(depth);
    text += ']';
  }

  void write_object(const Object& object, int depth) {
    std::vector<const Member*> order;
    order.reserve(object.size());
    for (const Member& member : object) order.push_back(&member);
    if (sorted) {
      std::sort(order.begin(), order.end(),
                [](const Member* a, const Member* b) { return a->first < b->first; });
    }
    text += '{';
    for (size_t i = 0; i < order.size(); ++i) {
      if (i > 0) text += ',';
      line(depth + 1);
      text += json_quoted(order[i]->first);
      text += indent < 0 ? ":" : ": ";
      write(order[i]->second, depth + 1);
    }
    if (!order.empty()) line(depth);
    text += '}';
  }
};

std::string Json::dump() const {
  Writer writer{true, -1};
  writer.write(*this, 0);
  return std::move(writer.text);
}

std::string Json::dump_in_order(int indent) const {
  Writer writer{false, indent};
  writer.write(*this, 0);
  return std::move(writer.text);
}

}  // namespace tsr
