// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Programs: calls recorded while a function runs once, saved as one file, run without the function.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/cpp/buffer.hpp"
#include "tessera/cpp/counted.hpp"
#include "tessera/cpp/io.hpp"
#include "tessera/program.h"

namespace tessera {

// A copy is the same program. Runs of several threads wait for each other.
class Program {
 public:
  // The calls that function(inputs) makes, a std::vector<Tensor> to a std::vector<Tensor>.
  // `parameters`, a map or a list of pairs such as Module::named_parameters, keep their names;
  // every other tensor that is used becomes a constant.
  template <class Function, class Named = TensorMap>
  static Program record(const std::vector<Tensor>& inputs, Function&& function,
                        const Named& parameters = {}) {
    std::vector<std::string> names;
    std::vector<Tensor> kept;
    for (const auto& [name, tensor] : parameters) {
      names.push_back(name);
      kept.push_back(tensor);
    }
    const std::string listed = detail::write_texts(names);
    const TensorList given(inputs);
    const TensorList params(kept);
    check(tsr_program_record_begin(given.data(), given.size(), nullptr, 0, params.data(),
                                   params.size(), listed.data(), detail::length(listed)));
    const Recording recording;
    const std::vector<Tensor> results = function(inputs);
    const TensorList outputs(results);
    tsr_program handle = nullptr;
    check(tsr_program_record_end(outputs.data(), outputs.size(), nullptr, 0, &handle));
    return Program(handle);
  }

  // Reads a file that any language has saved.
  static Program load(std::string_view path) {
    tsr_program handle = nullptr;
    check(tsr_program_load(path.data(), detail::length(path), &handle));
    return Program(handle);
  }
  static Program from_bytes(std::string_view bytes) {
    tsr_program handle = nullptr;
    check(tsr_program_from_bytes(bytes.data(), detail::length(bytes), &handle));
    return Program(handle);
  }
  // One program from recordings with different sizes, for every size. The names are those of the
  // sizes that differ, in the order of the inputs' axes; without them they are n, or n0, n1 ...
  static Program unify(const std::vector<Program>& programs,
                       const std::vector<std::string>& names = {}) {
    std::vector<tsr_program> list;
    for (const Program& each : programs) list.push_back(each.handle());
    const auto count = static_cast<int32_t>(list.size());
    tsr_program handle = nullptr;
    if (names.empty()) {
      check(tsr_program_unify(list.data(), count, &handle));
    } else {
      const std::string listed = detail::write_texts(names);
      check(tsr_program_unify_named(list.data(), count, listed.data(), detail::length(listed),
                                    &handle));
    }
    return Program(handle);
  }

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) const {
    const TensorList given(inputs);
    detail::Handles out;
    while (out.lacks_room(tsr_program_run(handle(), given.data(), given.size(), out.data(),
                                          out.room(), &out.count))) {
    }
    return out.take();
  }

  void save(std::string_view path) const {
    check(tsr_program_save(handle(), path.data(), detail::length(path)));
  }
  std::string to_bytes() const { return text_of(tsr_program_to_bytes); }
  // Inputs, outputs, parameters, constants and calls, as JSON.
  std::string describe() const { return text_of(tsr_program_describe); }
  // For a person, a line for each call.
  std::string text() const { return text_of(tsr_program_text); }

  // The parameter or constant of this name; writing to it changes what the program computes.
  Tensor tensor(std::string_view name) const {
    tsr_tensor out = nullptr;
    check(tsr_program_tensor(handle(), name.data(), detail::length(name), &out));
    return Tensor::take(out);
  }

  // The C handle, borrowed.
  tsr_program handle() const noexcept { return handle_.get(); }

 private:
  // Ends a recording that an exception leaves.
  struct Recording {
    Recording() = default;
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    ~Recording() { detail::ignore(tsr_program_record_cancel()); }
  };

  explicit Program(tsr_program handle) : handle_(handle) {}

  std::string text_of(tsr_status (*function)(tsr_program, tsr_buffer*)) const {
    tsr_buffer buffer = nullptr;
    check(function(handle(), &buffer));
    return detail::take_text(buffer);
  }

  detail::Counted<tsr_program, tsr_program_retain, tsr_program_release> handle_;
};

}  // namespace tessera
