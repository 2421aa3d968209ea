// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// tests/conformance from C by tsr_call: every case in every form with its refusals and gradients,
// and each function with wrong arguments. One of them: --gtest_filter=Case.add_2*
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "capi/wrong_values.h"
#include "support/places.h"

namespace tsr::test::test_cases {
namespace {

using Json = nlohmann::ordered_json;
const std::string kFolder = testing::source_path("tests/conformance");

struct Counts {
  int calls = 0, refusals = 0, gradients = 0, spoiled = 0;
  ~Counts() {
    std::printf("C made %d calls, %d that were refused, %d gradients, %d with spoiled arguments\n",
                calls, refusals, gradients, spoiled);
  }
} counts;

// ---- The files; tests/conformance/README.md says what they have ----

std::vector<Json> read_ops() {
  std::vector<Json> found;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder + "/cases")) {
    const Json family = Json::parse(std::ifstream(entry.path()));
    for (const Json& op : family.at("ops")) found.push_back(op);
  }
  return found;
}

std::map<std::string, Tensor> read_vectors() {
  tsr_archive archive = nullptr;
  int64_t count = 0;
  ok(tsr_archive_open((kFolder + "/vectors.safetensors").c_str(), -1, &archive));
  ok(tsr_archive_count(archive, &count));
  std::map<std::string, Tensor> found;
  for (int64_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    int64_t length = 0;
    ok(tsr_archive_name(archive, i, &name, &length));
    ok(tsr_archive_tensor(archive, i, found[{name, static_cast<size_t>(length)}].slot()));
  }
  tsr_archive_release(archive);
  return found;
}
const std::map<std::string, Tensor>& vectors() {
  static const auto* const kVectors = new std::map<std::string, Tensor>(read_vectors());
  return *kVectors;
}

Json read_schema() {
  const char* text = nullptr;
  int64_t size = 0;
  ok(tsr_schema_json(&text, &size));
  return Json::parse(text, text + size);
}
const Json& schema() {
  static const auto* const kSchema = new Json(read_schema());
  return *kSchema;
}

tsr_dtype dtype_of(std::string name) {
  for (char& letter : name) letter = static_cast<char>(std::toupper(letter));
  return schema().at("constants").at("TSR_" + name);
}

// A tensor by what stands for it in a case; of some results only dtype and shape are known.
Literal stored(const Json& key) {
  if (key.is_null()) return shaped(0, {});
  if (key.contains("dtype")) return shaped(dtype_of(key.at("dtype")), key.at("shape"));
  Literal found = literal_of(vectors().at(key.is_object() ? key.at("pairs") : key));
  if (key.is_object()) {
    found.dtype = TSR_COMPLEX128;
    found.shape.pop_back();
  }
  return found;
}

double real_of(const Json& given) {
  return given.is_object() ? std::stod(given.at("float").get<std::string>()) : given.get<double>();
}

Json listed(const Json& value) {
  return value.is_array() ? value : Json::array({value});
}
bool has(const Json& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// The arguments of a function that are host numbers.
Json numbers_of(const std::string& function) {
  for (const Json& row : schema().at("functions")) {
    if (row.at("name") == function) return row.at("numbers");
  }
  throw std::out_of_range("no function is named " + function);
}

// ---- A case as a call of the function of one form ----

class Call {
 public:
  Call(const Json& op, const Json& row, const std::string& form)
      : name_(row.at("functions").at(form)) {
    const Json& given = row.at("in");
    const Json numbers = numbers_of(name_);
    for (const Json& arg : op.at("args")) {
      const std::string name = arg.at("name"), type = arg.at("type");
      const Json value = given.contains(name) ? given.at(name) : arg.value("default", Json());
      const std::string scalar = type.back() == '?' ? "scalar?" : "scalar";
      arguments.push_back({name, has(numbers, name) ? scalar : type,
                           make(type.substr(0, type.find_first_of("?[.")), value),
                           arg.value("fuzz", true), op.value("numbers", Json::array())});
    }
    if (form == "inplace") return;
    for (const Json& result : schema().at("ops").at(op.at("op")).at("returns")) {
      const std::string name = result.at("name");
      const bool is_list = result.at("type") == "out tensor[]";
      arguments.push_back({name, "tensor", {}, true, {}});
      tsr_value& value = arguments.back().value;
      if (form == "out") {
        value = value_of(TSR_VALUE_TENSOR, 0, keep(place_for(stored(row.at("out").at(name)))));
        continue;
      }
      arguments.back().type = "place";
      results.push_back(&keep<Places>());
      value = value_of(is_list ? TSR_VALUE_PLACES : TSR_VALUE_PLACE, 0, results.back()->slots(),
                       is_list ? static_cast<size_t>(results.back()->capacity()) : 0);
    }
  }

  // With one value instead of its own.
  tsr_status make_call(size_t place = SIZE_MAX, tsr_value wrong = {}) {
    std::vector<tsr_value> values;
    for (const Argument& argument : arguments) values.push_back(argument.value);
    for (Places* result : results) result->slots();  // gives back what the last call wrote
    if (place < values.size()) values[place] = wrong;
    const int32_t id = tsr_function_id(name_.c_str(), -1);
    const tsr_status status = tsr_call(id, values.data(), static_cast<int32_t>(values.size()));
    for (size_t i = 0; i < results.size(); ++i) {
      const tsr_value& value = values[values.size() - results.size() + i];
      *results[i]->count() = value.kind == TSR_VALUE_PLACES ? value.n : 1;
    }
    return status;
  }

  // The tensors behind an argument or a result; in place the result is the first argument.
  std::vector<tsr_tensor> tensors(const std::string& name) {
    const tsr_value& value = argument(name).value;
    for (const Places* result : results) {
      if (result->begin() == value.pointer) return {result->begin(), result->end()};
    }
    if (value.kind == TSR_VALUE_TENSOR)
      return {static_cast<tsr_tensor>(const_cast<void*>(value.pointer))};
    const auto* first = static_cast<const tsr_tensor*>(value.pointer);
    return {first, first + value.n};
  }

  // The tensors of an argument, which collect gradients; where the call changes it, it is a copy.
  std::vector<tsr_tensor> leaves(const std::string& name, bool changes) {
    const std::vector<tsr_tensor> found = tensors(name);
    for (tsr_tensor leaf : found) ok(tsr_tensor_set_requires_grad(leaf, 1));
    if (!changes) return found;
    Tensor& copy = keep<Tensor>();
    ok(tsr_clone(found[0], copy.slot()));
    argument(name).value.pointer = copy;
    return found;
  }

  std::vector<Argument> arguments;
  std::vector<Places*> results;

 private:
  template <class T, class... Args>
  T& keep(Args&&... args) {
    const auto owner = std::make_shared<T>(std::forward<Args>(args)...);
    kept_.push_back(owner);
    return *owner;
  }
  Tensor& keep(Tensor tensor) { return keep<Tensor>(std::move(tensor)); }

  Argument& argument(const std::string& name) {
    for (Argument& one : arguments) {
      if (one.name == name) return one;
    }
    return arguments.at(0);
  }

  // `base` is the type without its marks.
  tsr_value make(const std::string& base, const Json& given) {
    if (given.is_null()) return {};
    if (given.is_array()) return make_list(base, given);
    if (base == "dtype") return value_of(TSR_VALUE_DTYPE, dtype_of(given));
    if (base == "device") return value_of(TSR_VALUE_DEVICE, TSR_DEVICE_CPU);
    if (base == "str") return value_of(TSR_VALUE_TEXT, -1, keep<std::string>(given).c_str());
    if (given.is_string() || given.contains("pairs"))
      return value_of(TSR_VALUE_TENSOR, 0, keep<Tensor>(stored(given)));
    if (given.is_boolean()) return value_of(TSR_VALUE_BOOL, given.get<bool>() ? 1 : 0);
    if (given.is_number_integer() && base != "f64") return value_of(TSR_VALUE_INT, given);
    if (!given.contains("complex")) return value_of(TSR_VALUE_REAL, 0, nullptr, 0, real_of(given));
    const Json& parts = given.at("complex");
    return value_of(TSR_VALUE_COMPLEX, 0, nullptr, 0, real_of(parts[0]), real_of(parts[1]));
  }

  tsr_value make_list(const std::string& base, const Json& given) {
    const size_t n = given.size();
    if (base == "int64")
      return value_of(TSR_VALUE_INTS, 0, keep<std::vector<int64_t>>(given).data(), n);
    if (base == "f64")
      return value_of(TSR_VALUE_REALS, 0, keep<std::vector<double>>(given).data(), n);
    auto& handles = keep<std::vector<tsr_tensor>>();
    for (const Json& key : given)
      handles.push_back(key.is_null() ? nullptr : tsr_tensor{keep<Tensor>(stored(key))});
    return value_of(TSR_VALUE_TENSORS, 0, handles.data(), n);
  }

  std::string name_;
  std::vector<std::shared_ptr<void>> kept_;
};

// ---- Replays ----

using Leaves = std::map<std::string, std::vector<tsr_tensor>>;

void same_all(const std::vector<tsr_tensor>& found, const Json& expected, const Json& row) {
  ASSERT_EQ(found.size(), listed(expected).size());
  size_t i = 0;
  for (const Json& key : listed(expected))
    same(found[i++], stored(key), row.value("rtol", -1.0), row.value("atol", -1.0));
}

void same_gradients(const Leaves& leaves, const Json& expected, const Json& row) {
  for (const auto& [name, keys] : expected.items()) {
    size_t i = 0;
    for (const Json& key : listed(keys)) {
      Tensor gradient;
      ok(tsr_tensor_grad(leaves.at(name).at(i++), gradient.slot()));
      EXPECT_EQ(static_cast<tsr_tensor>(gradient) == nullptr, key.is_null())
          << "gradient of " << name;
      if (!key.is_null()) same_all({gradient}, key, row);
    }
  }
}

void run_backward(Call& call, const Json& weights) {
  std::vector<tsr_tensor> roots, factors;
  std::vector<Tensor> owners;
  for (const auto& [name, keys] : weights.items()) {
    for (tsr_tensor root : call.tensors(name)) roots.push_back(root);
    for (const Json& key : listed(keys)) owners.emplace_back(stored(key));
  }
  for (const Tensor& owner : owners) factors.push_back(owner);
  const auto n = static_cast<int32_t>(roots.size());
  ok(tsr_backward(roots.data(), n, factors.data(), static_cast<int32_t>(factors.size()), nullptr, 0,
                  0));
}

void replay(const Json& op, const Json& row, const std::string& form) {
  const Json none = Json::object();
  const auto part = [&](const char* key) -> const Json& {
    return row.contains(key) ? row.at(key) : none;
  };
  Call call(op, row, form);
  Leaves leaves;
  for (const auto& [name, keys] : part("grad").items()) {
    leaves[name] = call.leaves(name, false);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!keys[i].is_null()) ok(tsr_tensor_set_grad(leaves[name].at(i), Tensor(stored(keys[i]))));
    }
  }
  const Json changes = row.value("changes", Json::array());
  for (const auto& [name, keys] : part("grads").items())
    leaves[name] = call.leaves(name, has(changes, name));
  if (row.contains("error")) {
    ++counts.refusals;
    const std::string status = row.at("error");
    return refused(call.make_call(), schema().at("status").at("TSR_" + status).get<tsr_status>());
  }
  ok(call.make_call());
  for (const char* key : {"out", "after"}) {
    for (const auto& [name, keys] : part(key).items()) same_all(call.tensors(name), keys, row);
  }
  same_gradients(leaves, part("after_grad"), row);
  ++(row.contains("weights") ? counts.gradients : counts.calls);
  if (!row.contains("weights")) return;
  run_backward(call, row.at("weights"));
  same_gradients(leaves, part("grads"), row);
}

void spoil(const Json& op, const Json& row, const std::string& form) {
  Call call(op, row, form);
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    for (const WrongValue& wrong : wrong_values(call.arguments[i], call.results.size())) {
      SCOPED_TRACE("argument " + call.arguments[i].name + ", a value of kind " +
                   std::to_string(wrong.value.kind));
      const tsr_status status = call.make_call(i, wrong.value);
      wrong.expected == kSurvives ? survives(status) : refused(status, wrong.expected);
      ++counts.spoiled;
    }
  }
}

// ---- One test for each case and form, and one for each function ----

using Body = void (*)(const Json& op, const Json& row, const std::string& form);

class Registered : public ::testing::Test {
 public:
  Registered(Body run, const Json& op, const Json& row, std::string form)
      : run_(run), op_(op), row_(row), form_(std::move(form)) {}
  void TestBody() override {
    SCOPED_TRACE("C, " + row_.at("functions").at(form_).get<std::string>());
    run_(op_, row_, form_);
  }

 private:
  const Body run_;
  const Json &op_, &row_;
  const std::string form_;
};

std::set<std::string> called;  // functions

void add(const char* suite, const std::string& name, Body run, const Json& op, const Json& row,
         const std::string& form) {
  ::testing::RegisterTest(suite, name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [run, &op, &row, form] { return new Registered(run, op, row, form); });
}

void add_all(const std::vector<Json>& ops) {
  for (const Json& op : ops) {
    for (const Json& row : op.at("cases")) {
      const bool refused = row.contains("error");
      for (const auto& [form, function] : row.at("functions").items()) {
        if (refused && form == "out") continue;  // its places are made from results
        const bool single = row.at("functions").size() == 1;
        add("Case", row.at("name").get<std::string>() + (single ? "" : "_" + form), replay, op, row,
            form);
        if (!refused && !row.contains("weights") && called.insert(function).second)
          add("Spoiled", function, spoil, op, row, form);
      }
    }
  }
}

const std::string kProblem = [] {
  try {
    static const std::vector<Json> ops = read_ops();  // the tests refer to its rows
    add_all(ops);
    return called.empty() ? std::string("there are no cases") : std::string();
  } catch (const std::exception& error) {
    return std::string(error.what());
  }
}();

TEST(Cases, are_read) {
  EXPECT_EQ(kProblem, "");
}

void collect(const Json& value, std::set<std::string>& texts) {
  if (value.is_string()) texts.insert(value.get<std::string>());
  for (const auto& one : value) {
    if (value.is_structured()) collect(one, texts);
  }
}

// A stored tensor that no case uses belongs to a file that was removed.
TEST(Cases, name_every_stored_tensor) {
  std::set<std::string> texts;
  for (const Json& op : read_ops()) collect(op.at("cases"), texts);
  for (const auto& [key, tensor] : vectors()) EXPECT_TRUE(texts.count(key) == 1) << key;
}

TEST(Cases, call_every_function_of_an_operator) {
  for (const Json& row : schema().at("functions")) {
    EXPECT_TRUE(!row.contains("op") || called.count(row.at("name")) == 1) << row.at("name");
  }
}

}  // namespace
}  // namespace tsr::test::test_cases
