// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The cases of tests/conformance as calls by number (tsr_call).
#pragma once

#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "capi/abi_support.h"

namespace tsr::test {

using Json = nlohmann::ordered_json;

// One line of a family's file; tests/conformance/README.md says what it has.
struct Case {
  const Json* op;
  const Json* row;
  [[nodiscard]] std::string name() const { return row->at("name"); }
  [[nodiscard]] bool has(const char* key) const { return row->contains(key); }
};
const std::vector<Case>& cases();

// What tsr_schema_json gives.
const nlohmann::json& schema();

// A tensor of the vectors by what stands for it in a case; has_values is false where only dtype and
// shape are known, the dtype is 0 for null.
Literal stored(const Json& key);
std::vector<std::string> stored_keys();

// A case bound to the function of one form. The tensors of arguments are made anew for each object.
class Call {
 public:
  Call(const Case& one, const std::string& form);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  struct Argument {
    std::string name, type;  // of the schema; scalar where the function takes a number for a tensor
    tsr_value value = {};
    bool is_result = false;
    bool extremes = true;  // false: the ends of the range are legal and costly
    Json numbers = {};     // the kinds of numbers that a scalar takes
  };
  // Calls with the arguments as they stand; places of results are emptied before.
  tsr_status make();
  // With one value instead of its own.
  tsr_status with(size_t place, tsr_value value);
  Argument& argument(const std::string& name);
  // The tensors behind an argument or a result.
  [[nodiscard]] std::vector<tsr_tensor> tensors(const Argument& argument) const;

  std::vector<Argument> arguments;

 private:
  tsr_status call(std::vector<tsr_value> values);
  tsr_value value_of(const std::string& type, const Json& given);
  tsr_value number(const std::string& type, const Json& given) const;
  tsr_value list_of(const std::string& type, const Json& given);
  void add_results(const Case& one, const std::string& form);

  std::string function_;
  std::deque<Tensor> tensors_;
  std::deque<std::vector<tsr_tensor>> handles_;
  std::deque<std::vector<int64_t>> integers_;
  std::deque<std::vector<double>> reals_;
  std::deque<std::string> texts_;
  std::deque<Places> places_;
};

tsr_value tensor_value(tsr_tensor tensor);
tsr_value list_value(tsr_value_kind kind, const void* entries, size_t count);

// Calls with every argument spoiled in turn: what must be refused, and what must be survived.
// Gives the number of calls.
int check_spoiled(Call& call);

}  // namespace tsr::test
