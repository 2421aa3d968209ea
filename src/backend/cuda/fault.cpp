// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/fault.h"

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <vector>

namespace tsr::cuda {

using kernel::Status;

namespace {

struct Word {
  int32_t device;
  StreamHandle stream;
  Fault* fault;
};
struct Words {
  std::mutex mutex;
  std::vector<Word> all;
  Fault* free = nullptr;  // of the newest page
  Fault* end = nullptr;
};
// Never destroyed: the device may still write while the process ends.
Words& words() {
  static auto& one = *new Words;
  return one;
}

// The kind and the text of the fault that this thread took last.
struct Told {
  FaultKind kind;
  char text[192];
};
thread_local Told t_told;

constexpr size_t kPage = 64;  // words

cudaError_t new_page(Words& own) {
  void* data = nullptr;
  const cudaError_t error =
      cudaHostAlloc(&data, kPage * sizeof(Fault), cudaHostAllocPortable | cudaHostAllocMapped);
  if (error != cudaSuccess) return error;
  std::memset(data, 0, kPage * sizeof(Fault));
  own.free = static_cast<Fault*>(data);
  own.end = own.free + kPage;
  return cudaSuccess;
}

Fault* find(const Words& own, kernel::Place place) {
  for (const Word& word : own.all) {
    if (word.device == place.device && word.stream == place.stream) return word.fault;
  }
  return nullptr;
}

void describe(const Fault& fault) {
  Told& told = t_told;
  told.kind = fault.kind;
  int j = 0;
  while (j + 1 < Fault::kPlaces && fault.found[j] == 0) ++j;
  const int64_t size = fault.size[j];
  if (fault.kind == FaultKind::kIndex || fault.kind == FaultKind::kPosition) {
    std::snprintf(told.text, sizeof told.text,
                  "%s: expected indices in [%" PRId64 ", %" PRId64 "] for axis %" PRId64
                  " of size %" PRId64 ", got %" PRId64,
                  fault.what, fault.kind == FaultKind::kIndex ? -size : 0, size - 1, fault.axis[j],
                  size, fault.number[j]);
  } else if (fault.kind == FaultKind::kTarget) {
    std::snprintf(told.text, sizeof told.text,
                  "%s: expected targets in [0, %" PRId64 "), got %" PRId64, fault.what, size,
                  fault.number[j]);
  } else {
    std::snprintf(told.text, sizeof told.text, "%s", fault.what);
  }
}

// The state stays 1 while the fault is read, so that no kernel writes another one meanwhile.
bool take(Fault& fault) {
  const std::atomic_ref state(fault.state);
  if (state.load(std::memory_order_acquire) == 0) return false;
  describe(fault);
  std::memset(fault.found, 0, sizeof fault.found);
  state.store(0, std::memory_order_release);
  return true;
}

}  // namespace

Status reporter_for(kernel::Place place, FaultKind kind, const char* what,
                    Reporter& reporter) noexcept {
  try {
    // Before the lock: in a forked process this fails, and the lock may be held by a thread that
    // the process does not have.
    const DeviceGuard guard(place.device);
    TSR_CUDA_TRY(guard.error());
    Words& own = words();
    const std::lock_guard lock(own.mutex);
    reporter = {find(own, place), kind, what};
    if (reporter.fault != nullptr) return kernel::kOk;
    if (own.free == own.end) TSR_CUDA_TRY(new_page(own));
    own.all.push_back({place.device, place.stream, own.free});
    reporter.fault = own.free++;
    return kernel::kOk;
  } catch (...) {
    return failure(Code::kOutOfMemory, "expected host memory for the errors of a stream, got none");
  }
}

const char* take_fault(int32_t device) noexcept {
  Words& own = words();
  const std::lock_guard lock(own.mutex);
  for (const Word& word : own.all) {
    if (word.device == device && take(*word.fault)) return t_told.text;
  }
  return nullptr;
}

const char* last_fault() noexcept {
  return t_told.text;
}

Status fault_status(kernel::Place place) noexcept {
  Words& own = words();
  const std::lock_guard lock(own.mutex);
  Fault* const fault = find(own, place);
  if (fault == nullptr || !take(*fault)) return kernel::kOk;
  const bool operand = t_told.kind == FaultKind::kOperand;
  return failure(operand ? Code::kValue : Code::kIndex, t_told.text);
}

}  // namespace tsr::cuda
