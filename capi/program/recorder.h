// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Recorder: turns the calls that a thread makes into a program.
//
// Note [Recording]
// While a thread records, the guard's cold path shows each of its calls to the recorder before the
// body and, with the tensors that it left, after it. Only the outermost calls become steps: what a
// call does inside is repeated by the call. Tensors are told apart by identity, and all that were
// seen are kept alive until the end, so that no address is used twice.
//
// A tensor that no recorded call made is a constant, unless its memory came into being on this
// thread since the recording began: then something unseen computed it, and the recording refuses
// it. Elements that the host writes into fresh memory are a constant too: they are copied at the
// first call that reads them. Elements that the host reads could decide anything, so a read is
// refused; the error names the call and, if a stack callback is set, the host's place.
#pragma once

#include <exception>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "capi/program/program.h"

namespace tsr::capi::program {

// That of this thread; usually null.
class Recorder;
extern constinit thread_local Recorder* t_recorder;

// While one lives, the guard shows its calls, and kernels and memory are traced.
class Watching {
 public:
  Watching() noexcept;
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;
  ~Watching();
};
// The blocks that this thread has allocated while somebody watched.
[[nodiscard]] uint64_t watched_allocations() noexcept;

class Recorder {
 public:
  Recorder(std::span<const Tensor> inputs, std::span<const std::string> input_names,
           std::span<const Tensor> parameters, std::span<const std::string> parameter_names);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder() = default;

  void before(const CallInfo& info, int32_t function, std::span<const tsr_value> args);
  void after(bool succeeded, std::span<const tsr_value> results) noexcept;
  // A call that no guard shows: autocast's casts.
  void note(int32_t function, std::span<const tsr_value> args, const Tensor& result);
  void note_memory(const void* block, bool allocated) noexcept;
  // Refuses a callback of the host inside a backward.
  void see_host_code(const char* callback) const;

  [[nodiscard]] ProgramPtr finish(std::span<const Tensor> outputs,
                                  std::span<const std::string> names);

 private:
  int32_t add_value(const Tensor& tensor, Source source, std::string name);
  void check_name(const std::string& name, const char* arg) const;
  [[nodiscard]] int32_t value_of(const Tensor& tensor, const char* arg, bool reads);
  [[nodiscard]] Argument argument_of(const tsr_value& value, char letter, const char* arg,
                                     bool reads);
  int32_t generator_of(const void* handle);
  int32_t optimizer_of(const void* handle);
  void keep_host_data(int32_t value);
  void settle_host_data();
  void keep_failure() noexcept;
  void see_writes();
  void give_results(std::span<const tsr_value> results);
  void refuse_access(Policy policy, std::span<const tsr_value> args);
  [[noreturn]] void refuse(const std::string& what) const;

  const Watching watching_;
  ProgramPtr program_;
  std::unordered_map<const TensorImpl*, int32_t> known_;
  std::unordered_map<const Storage*, int32_t> storages_;  // the first value on it
  std::unordered_set<const Storage*> written_;
  std::unordered_set<const void*> blocks_;     // allocated on this thread since the beginning
  std::vector<Tensor> kept_;                   // of each value
  std::unordered_map<int32_t, size_t> fresh_;  // values with uninitialised memory, and their steps
  std::vector<std::pair<int32_t, size_t>> host_data_;  // clones of constants, and their steps
  std::vector<std::pair<Tensor, uint32_t>> versions_;  // of the arguments of the pending call
  std::unordered_map<const void*, int32_t> generators_, optimizers_;
  Step pending_;
  bool has_pending_ = false;
  bool is_host_data_ = false;   // the pending call makes a tensor of host data
  std::exception_ptr failure_;  // of what cannot throw
  int32_t depth_ = 0;
  const CallInfo* running_ = nullptr;  // the outermost call
  bool in_backward_ = false;
};

// Called by the guard. The status of before_call is not TSR_OK if the call is refused.
[[nodiscard]] tsr_status before_call(const CallInfo& info, int32_t function,
                                     std::span<const tsr_value> args) noexcept;
void after_call(tsr_status status, std::span<const tsr_value> results) noexcept;

// Called before the library calls the host; throws if a recording refuses it.
void before_host_code(const char* callback);

// Sees nothing while it lives: for code of the library that calls the ABI.
class Unrecorded {
 public:
  Unrecorded() noexcept : recorder_(t_recorder) { t_recorder = nullptr; }
  Unrecorded(const Unrecorded&) = delete;
  Unrecorded& operator=(const Unrecorded&) = delete;
  ~Unrecorded() { t_recorder = recorder_; }

 private:
  Recorder* recorder_;
};

}  // namespace tsr::capi::program
