// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Optimizers of the library, with the options of each kind as a struct.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/cpp/autograd.hpp"
#include "tessera/cpp/buffer.hpp"
#include "tessera/cpp/counted.hpp"
#include "tessera/cpp/io.hpp"
#include "tessera/cpp/optim_options.hpp"
#include "tessera/optim.h"

namespace tessera::optim {

// What a file keeps of an optimizer: its kind and options as JSON, and the tensors by the names of
// docs/optimizer_state.md. The tensors share memory with the optimizer.
struct State {
  std::string description;
  TensorMap tensors;
};

// Groups of parameters with options of their own, a struct of optim_options.hpp. A copy is the same
// optimizer. One thread at a time may use it.
template <class Options>
class Optimizer {
 public:
  explicit Optimizer(const TensorList& parameters, const Options& options = {}) {
    const tsr_optimizer_options given = to_c(options);
    tsr_optimizer handle = nullptr;
    check(tsr_optimizer_new(&given, parameters.data(), parameters.size(), &handle));
    handle_ = Handle(handle);
  }
  explicit Optimizer(std::initializer_list<Tensor> parameters, const Options& options = {})
      : Optimizer(TensorList(parameters), options) {}

  // Takes over the C handle of an optimizer of this kind.
  static Optimizer take(tsr_optimizer handle) { return Optimizer(Handle(handle)); }

  void add_group(const TensorList& parameters, const Options& options = {}) {
    const tsr_optimizer_options given = to_c(options);
    check(tsr_optimizer_add_group(handle(), &given, parameters.data(), parameters.size()));
  }
  int64_t group_count() const {
    int64_t count = 0;
    check(tsr_optimizer_group_count(handle(), &count));
    return count;
  }

  Options options(int64_t group = 0) const {
    tsr_optimizer_options found = to_c({});
    check(tsr_optimizer_options_get(handle(), group, &found));
    Options options;
    Options::each(options, found, [](auto& ours, const auto& theirs) {
      ours = static_cast<std::remove_reference_t<decltype(ours)>>(theirs);
    });
    return options;
  }
  // Takes effect at the next step.
  void set_options(const Options& options, int64_t group = 0) {
    const tsr_optimizer_options given = to_c(options);
    check(tsr_optimizer_options_set(handle(), group, &given));
  }
  // Sets the learning rate of all groups, for a schedule.
  void set_lr(double lr) {
    for (int64_t group = 0; group < group_count(); ++group) {
      Options changed = options(group);
      changed.lr = lr;
      set_options(changed, group);
    }
  }

  std::vector<Tensor> parameters(int64_t group = 0) const {
    tessera::detail::Handles out;
    while (out.lacks_room(
        tsr_optimizer_params_get(handle(), group, out.data(), out.room(), &out.count))) {
    }
    return out.take();
  }
  // Parameters that stay keep their state.
  void set_parameters(const TensorList& parameters, int64_t group = 0) {
    check(tsr_optimizer_params_set(handle(), group, parameters.data(), parameters.size()));
  }

  // Drops the gradients, or fills existing ones with zeros.
  void zero_grad(bool set_to_none = true) { check(tsr_optimizer_zero_grad(handle(), set_to_none)); }

  // Updates the parameters that have a gradient.
  void step() { check(tsr_optimizer_step(handle())); }
  // Uses these gradients, one for each parameter in the order of the groups; an undefined one skips
  // its parameter.
  void step_with(const TensorList& gradients) {
    check(tsr_optimizer_step_with(handle(), gradients.data(), gradients.size()));
  }
  // First calls the closure, which computes the loss and the gradients again.
  template <class Closure>
  Tensor step(Closure closure) {
    Tensor loss;
    {
      const EnableGradGuard enable_grad;
      loss = closure();
    }
    step();
    return loss;
  }

  State state() const {
    tsr_buffer description = nullptr;
    tsr_buffer names = nullptr;
    tessera::detail::Handles out;
    while (out.lacks_room(
        tsr_optimizer_state(handle(), &description, &names, out.data(), out.room(), &out.count))) {
    }
    const std::vector<Tensor> tensors = out.take();
    const tessera::detail::Buffer owned(description);
    const tessera::detail::Buffer listed(names);
    State state{tessera::detail::text_of(owned), {}};
    const std::vector<std::string> texts =
        tessera::detail::parse_list(tessera::detail::text_of(listed));
    for (size_t i = 0; i < texts.size(); ++i) state.tensors[texts[i]] = tensors[i];
    return state;
  }
  // Takes over the options and copies the tensors; an error changes nothing.
  void load_state(const State& state) {
    std::vector<std::string> names;
    std::vector<Tensor> tensors;
    for (const auto& [name, tensor] : state.tensors) {
      names.push_back(name);
      tensors.push_back(tensor);
    }
    const std::string listed = tessera::detail::write_texts(names);
    const TensorList list(tensors);
    check(tsr_optimizer_state_load(handle(), state.description.data(),
                                   tessera::detail::length(state.description), listed.data(),
                                   tessera::detail::length(listed), list.data(), list.size()));
  }

  // Writes a file that every language can load.
  void save(std::string_view path) const {
    check(tsr_optimizer_save(handle(), path.data(), tessera::detail::length(path)));
  }
  void load(std::string_view path) {
    check(tsr_optimizer_load(handle(), path.data(), tessera::detail::length(path)));
  }

  // The C handle, borrowed.
  tsr_optimizer handle() const noexcept { return handle_.get(); }

 private:
  using Handle =
      tessera::detail::Counted<tsr_optimizer, &tsr_optimizer_retain, &tsr_optimizer_release>;

  explicit Optimizer(Handle handle) noexcept : handle_(std::move(handle)) {}

  static tsr_optimizer_options to_c(const Options& options) {
    tsr_optimizer_options given{};
    given.struct_size = sizeof(given);
    given.kind = Options::kKind;
    Options::each(options, given, [](const auto& ours, auto& theirs) {
      theirs = static_cast<std::remove_reference_t<decltype(theirs)>>(ours);
    });
    return given;
  }

  Handle handle_;
};

}  // namespace tessera::optim
