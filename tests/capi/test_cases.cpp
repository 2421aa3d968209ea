// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// tests/conformance from C: every case in every form by tsr_call, refusals, gradients against
// finite differences, and each function with spoiled arguments. One of them:
// --gtest_filter=Case.add_2*
#include <cstdio>
#include <functional>
#include <set>

#include "capi/cases.h"

namespace tsr::test {
namespace {

struct Counts {
  int calls = 0, refusals = 0, gradients = 0, spoiled = 0;
  ~Counts() {
    std::printf("C made %d calls, %d that were refused, %d gradients, %d with spoiled arguments\n",
                calls, refusals, gradients, spoiled);
  }
} counts;

void same_all(const std::vector<tsr_tensor>& found, const Json& expected, const Case& one) {
  const Json list = expected.is_array() ? expected : Json::array({expected});
  ASSERT_EQ(found.size(), list.size());
  for (size_t i = 0; i < found.size(); ++i) {
    same(found[i], stored(list[i]), one.row->value("rtol", -1.0), one.row->value("atol", -1.0));
  }
}

void hold_gradients(const std::vector<tsr_tensor>& leaves, const Json& keys) {
  ASSERT_EQ(leaves.size(), keys.size());
  for (size_t i = 0; i < leaves.size(); ++i) {
    ok(tsr_tensor_set_requires_grad(leaves[i], 1));
    if (!keys[i].is_null()) ok(tsr_tensor_set_grad(leaves[i], Tensor(stored(keys[i]))));
  }
}

void gradients_are(const std::vector<tsr_tensor>& leaves, const Json& keys, const Case& one) {
  ASSERT_EQ(leaves.size(), keys.size());
  for (size_t i = 0; i < leaves.size(); ++i) {
    Tensor gradient;
    ok(tsr_tensor_grad(leaves[i], gradient.slot()));
    if (keys[i].is_null()) {
      EXPECT_EQ(static_cast<tsr_tensor>(gradient), nullptr) << "expected no gradient";
    } else {
      same_all({gradient}, keys[i], one);
    }
  }
}

// By name; none where the case does not have the key.
const Json& part(const Case& one, const char* key) {
  static const Json kNone = Json::object();
  const auto found = one.row->find(key);
  return found == one.row->end() ? kNone : *found;
}

void run_case(const Case& one, const std::string& form) {
  Call call(one, form);
  for (const auto& [name, keys] : part(one, "grad").items()) {
    hold_gradients(call.tensors(call.argument(name)), keys);
  }
  if (one.has("error")) {
    const std::string status = one.row->at("error");
    refused(call.make(), schema().at("status").at("TSR_" + status).get<tsr_status>());
    ++counts.refusals;
    return;
  }
  ok(call.make());
  ++counts.calls;
  for (const auto& [name, expected] : part(one, "out").items()) {
    // In place the first argument becomes the result.
    same_all(call.tensors(form == "inplace" ? call.arguments[0] : call.argument(name)), expected,
             one);
  }
  for (const auto& [name, expected] : part(one, "after").items()) {
    same_all(call.tensors(call.argument(name)), expected, one);
  }
  for (const auto& [name, keys] : part(one, "after_grad").items()) {
    gradients_are(call.tensors(call.argument(name)), keys, one);
  }
}

// The call with other tensors: check_gradient gives the inputs and the places of results.
tsr_status differentiable(const Case& one, const std::string& form, const tsr_tensor* in,
                          tsr_tensor* out, int32_t* n_out) {
  Call call(one, form);
  for (const Json& name : one.row->at("slopes")) {
    tsr_value& value = call.argument(name).value;
    const bool is_list = value.kind == TSR_VALUE_TENSORS;
    value.pointer = is_list ? static_cast<const void*>(in) : *in;
    in += is_list ? value.n : 1;
  }
  if (form == "inplace") {
    tsr_tensor& changed = out[0];
    const tsr_status copied = tsr_clone(
        static_cast<tsr_tensor>(const_cast<void*>(call.arguments[0].value.pointer)), &changed);
    if (copied != TSR_OK) return copied;
    *n_out = 1;
    call.arguments[0].value = tensor_value(changed);
    return call.make();
  }
  const tsr_status status = call.make();
  *n_out = 0;
  for (const Call::Argument& argument : call.arguments) {
    if (!argument.is_result || status != TSR_OK) continue;
    for (tsr_tensor tensor : call.tensors(argument)) {
      tsr_tensor_retain(tensor);
      out[(*n_out)++] = tensor;
    }
  }
  return status;
}

void run_gradient(const Case& one, const std::string& form) {
  std::vector<Literal> inputs;
  for (const Json& name : one.row->at("slopes")) {
    const Json& given = one.row->at("in").at(name.get<std::string>());
    for (const Json& key : given.is_array() ? given : Json::array({given}))
      inputs.push_back(stored(key));
  }
  check_gradient(inputs, [&](const tsr_tensor* in, tsr_tensor* out, int32_t* n_out) {
    return differentiable(one, form, in, out, n_out);
  });
  ++counts.gradients;
}

void run_spoiled(const Case& one, const std::string& form) {
  Call call(one, form);
  counts.spoiled += check_spoiled(call);
}

// ---- One test for each case and form, and one for each function ----

class Registered : public testing::Test {
 public:
  explicit Registered(std::function<void()> body) : body_(std::move(body)) {}
  void TestBody() override { body_(); }

 private:
  std::function<void()> body_;
};

using Run = void (*)(const Case&, const std::string&);

void add(const char* suite, const std::string& name, Run run, const Case& one,
         const std::string& form) {
  testing::RegisterTest(
      suite, name.c_str(), nullptr, nullptr, __FILE__, __LINE__, [=]() -> Registered* {
        return new Registered([=] {
          SCOPED_TRACE("C, " + one.op->at("op").get<std::string>() + ", " + one.name() + ", " +
                       one.row->at("functions").at(form).get<std::string>());
          run(one, form);
        });
      });
}

void add_all() {
  std::set<std::string> spoiled;
  for (const Case& one : cases()) {
    for (const auto& [form, function] : one.row->at("functions").items()) {
      if (one.has("error") && form == "out") continue;  // its places are made from results
      const std::string name = one.name() + (one.row->at("functions").size() > 1 ? "_" + form : "");
      add("Case", name, one.has("slopes") ? run_gradient : run_case, one, form);
      const bool is_base = !one.has("error") && !one.has("slopes");
      if (is_base && spoiled.insert(function).second)
        add("Spoiled", function, run_spoiled, one, form);
    }
  }
}

const std::string kProblem = [] {
  try {
    add_all();
    return cases().empty() ? std::string("there are no cases") : std::string();
  } catch (const std::exception& error) {
    return std::string(error.what());
  }
}();

TEST(Cases, are_read) {
  EXPECT_EQ(kProblem, "");
}

void collect(const Json& value, std::set<std::string>& texts) {
  if (value.is_string()) texts.insert(value.get<std::string>());
  if (!value.is_structured()) return;
  for (const auto& [key, one] : value.items()) collect(one, texts);
}

// A stored tensor that nobody names was of a file that is gone.
TEST(Cases, name_every_stored_tensor) {
  std::set<std::string> texts;
  for (const Case& one : cases()) collect(*one.row, texts);
  for (const std::string& key : stored_keys()) EXPECT_TRUE(texts.count(key) == 1) << key;
}

TEST(Cases, call_every_function_of_an_operator) {
  std::set<std::string> called;
  for (const Case& one : cases()) {
    if (one.has("error")) continue;
    for (const auto& [form, function] : one.row->at("functions").items()) called.insert(function);
  }
  for (const auto& row : schema().at("functions")) {
    if (!row.contains("op")) continue;
    EXPECT_EQ(called.count(row.at("name")), 1U) << row.at("name");
  }
}

}  // namespace
}  // namespace tsr::test
