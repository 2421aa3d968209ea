// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What the tests of programs over C share.
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "capi/abi_support.h"

namespace tsr::test {

// Owns one reference.
class Program {
 public:
  Program() = default;
  Program(Program&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  Program& operator=(Program&&) = delete;
  ~Program() { tsr_program_release(handle_); }
  operator tsr_program() const { return handle_; }
  tsr_program* slot() { return &handle_; }

 private:
  tsr_program handle_ = nullptr;
};

using Function = std::function<void(tsr_tensor x, tsr_tensor* y)>;

inline Program recorded(tsr_tensor x, const Function& function,
                        const std::vector<tsr_tensor>& parameters = {}) {
  Program program;
  ok(tsr_program_record_begin(&x, 1, "[\"x\"]", -1, parameters.data(),
                              static_cast<int32_t>(parameters.size()), nullptr, 0));
  Tensor y;
  function(x, y.slot());
  const tsr_tensor given = y;
  ok(tsr_program_record_end(&given, 1, "[\"y\"]", -1, program.slot()));
  return program;
}

inline Tensor run(tsr_program program, tsr_tensor x) {
  Tensor y;
  int32_t count = 0;
  ok(tsr_program_run(program, &x, 1, y.slot(), 1, &count));
  EXPECT_EQ(count, 1);
  return y;
}

inline std::string text_of(tsr_status (*function)(tsr_program, tsr_buffer*), tsr_program program) {
  tsr_buffer buffer = nullptr;
  const char* data = nullptr;
  int64_t size = 0;
  ok(function(program, &buffer));
  ok(tsr_buffer_data(buffer, &data, &size));
  std::string text(data, static_cast<size_t>(size));
  tsr_buffer_release(buffer);
  return text;
}

inline Program reloaded(tsr_program program) {
  const std::string bytes = text_of(tsr_program_to_bytes, program);
  Program copy;
  ok(tsr_program_from_bytes(bytes.data(), static_cast<int64_t>(bytes.size()), copy.slot()));
  return copy;
}

inline nlohmann::json described(tsr_program program) {
  return nlohmann::json::parse(text_of(tsr_program_describe, program));
}

inline std::string last_error() {
  tsr_error_view view{};
  view.struct_size = sizeof view;
  ok(tsr_error_last(&view));
  return {view.message, static_cast<size_t>(view.message_len)};
}

inline int64_t allocations() {
  tsr_memory_stats stats{};
  stats.struct_size = sizeof stats;
  ok(tsr_memory_stats_get(TSR_DEVICE_CPU, 0, &stats));
  return stats.allocated.all.allocated;
}

inline Tensor vector(std::vector<double> values) {
  const auto n = static_cast<int64_t>(values.size());
  return Tensor(reals(TSR_FLOAT32, {n}, std::move(values)));
}

}  // namespace tsr::test
