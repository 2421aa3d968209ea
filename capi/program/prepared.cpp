// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/program/prepared.h"

#include <algorithm>

#include "capi/handle.h"

namespace tsr::capi::program {

Prepared::Prepared(const Program& program, const Step& step, const Symbol& symbol,
                   const Sizes& sizes)
    : step_(step),
      call_(caller_of(symbol)),
      function_(symbol.function),
      name_(symbol.name),
      results_(step.results.size()) {
  const bool into = is_out_form(symbol) && !is_out_form(*step.symbol);
  const size_t n_places = into ? step.results.size() : count_results(letters_of(symbol));
  values_.resize(step.args.size() + n_places, absent_value());
  for (size_t i = 0; i < step.args.size(); ++i) {
    const Argument& from = step.args[i];
    tsr_value& to = values_[i];
    to = make_value(from.kind, from.n, from.integer.at(sizes), from.real, from.imaginary, nullptr);
    switch (from.kind) {
      case TSR_VALUE_TENSOR:
        add_tensor(from.values[0], i);
        break;
      case TSR_VALUE_TENSORS:
        add_list(from.values, to);
        break;
      case TSR_VALUE_INTS: {
        auto& list = numbers_.emplace_back(new int64_t[from.integers.size() + 1]);
        std::transform(from.integers.begin(), from.integers.end(), list.get(),
                       [&](const Integer& each) { return each.at(sizes); });
        to.n = static_cast<int32_t>(from.integers.size());
        to.pointer = list.get();
        break;
      }
      case TSR_VALUE_REALS:
        to.n = static_cast<int32_t>(from.reals.size());
        to.pointer = from.reals.data();
        break;
      case TSR_VALUE_TEXT:
        to.integer = static_cast<int64_t>(from.text.size());
        to.pointer = from.text.data();
        break;
      case TSR_VALUE_GENERATOR:
        to.pointer = program.generators[static_cast<size_t>(from.n)].get();
        break;
      case TSR_VALUE_POINTER:
        to.pointer =
            static_cast<const Object*>(program.optimizers[static_cast<size_t>(from.n)].get());
        break;
      default:
        break;
    }
  }
  const std::string_view letters = letters_of(symbol);
  for (size_t i = 0; i < n_places; ++i) {
    const size_t at = step.args.size() + i;
    if (into) {
      values_[at] = make_value(TSR_VALUE_TENSOR, 0, 0, 0, 0, nullptr);
      add_tensor(step.results[i], at);
    } else if (letters[at] == arg_type::kPlaces) {
      has_list_result_ = true;
      values_[at] = make_value(TSR_VALUE_PLACES, static_cast<int32_t>(results_.size()), 0, 0, 0,
                               results_.data());
    } else if (step.results[i] != kAbsent) {
      values_[at] = make_value(TSR_VALUE_PLACE, 0, 0, 0, 0, &results_[i]);
    }
  }
}

void Prepared::add_tensor(int32_t value, size_t at) {
  if (value == kAbsent) {
    values_[at] = absent_value();
  } else {
    places_.push_back({value, nullptr, at});
  }
}

void Prepared::add_list(const std::vector<int32_t>& values, tsr_value& target) {
  auto& list = lists_.emplace_back(new tsr_tensor[values.size() + 1]());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != kAbsent) places_.push_back({values[i], list.get(), i});
  }
  target.n = static_cast<int32_t>(values.size());
  target.pointer = list.get();
}

void Prepared::put(const Place& place, const Slots& slots) noexcept {
  const tsr_tensor handle = slots[static_cast<size_t>(place.value)];
  if (place.list != nullptr) {
    place.list[place.at] = handle;
  } else {
    values_[place.at].pointer = handle;
  }
}

void Prepared::bind(const Slots& slots) noexcept {
  for (const Place& place : places_) put(place, slots);
}

void Prepared::keep_moving(const std::vector<bool>& moves) {
  for (const Place& place : places_) {
    if (moves[static_cast<size_t>(place.value)]) moving_.push_back(place);
  }
}

void Prepared::rebind(const Slots& slots) noexcept {
  for (const Place& place : moving_) put(place, slots);
}

void Prepared::call(int32_t number) {
  if (has_list_result_) values_.back().n = static_cast<int32_t>(results_.size());
  const tsr_status status = call_(function_, values_.data());
  if (status != TSR_OK) [[unlikely]]
    fail(number, status);
  if (!has_list_result_ || letters_of(*step_.symbol).back() != arg_type::kPlaces) return;
  const auto count = static_cast<size_t>(std::max(values_.back().n, 0));
  // tsr_grad has no count: it gives one result for each input.
  if (step_.symbol->signature == nullptr || count == results_.size()) return;
  for (size_t i = 0; i < std::min(count, results_.size()); ++i) release_tensor(results_[i]);
  throw_error(Code::kShape, nullptr, __FILE__, __LINE__,
              concat("call ", number, " of the program, ", name_, ": expected ", results_.size(),
                     " results as in the recording, got ", count));
}

void Prepared::fail(int32_t number, tsr_status status) const {
  Error error = take_failure(status, __FILE__, __LINE__);
  error.prepend(concat("call ", number, " of the program, ", name_, ": "));
  throw error;
}

}  // namespace tsr::capi::program
