// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cupti.h"

#if __has_include(<cupti.h>)

#include <cupti.h>
#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tsr::cuda {
namespace {

struct Cupti {
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks;
  decltype(&cuptiActivityRegisterTimestampCallback) register_clock;
  decltype(&cuptiActivityEnable) enable;
  decltype(&cuptiActivityDisable) disable;
  decltype(&cuptiActivityFlushAll) flush;
  decltype(&cuptiActivityGetNextRecord) next;
  decltype(&cuptiActivityPushExternalCorrelationId) push;
  decltype(&cuptiActivityPopExternalCorrelationId) pop;
  decltype(&cuptiGetVersion) version;
  bool complete = true;

  Cupti() {
    char name[32];
    std::snprintf(name, sizeof name, "libcupti.so.%d", CUDA_VERSION / 1000);
    void* file = nullptr;
    for (const char* path :
         {static_cast<const char*>(name), "libcupti.so", "/usr/local/cuda/lib64/libcupti.so",
          "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"}) {
      if (file == nullptr) file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    find(file, register_callbacks, "cuptiActivityRegisterCallbacks");
    find(file, register_clock, "cuptiActivityRegisterTimestampCallback");
    find(file, enable, "cuptiActivityEnable");
    find(file, disable, "cuptiActivityDisable");
    find(file, flush, "cuptiActivityFlushAll");
    find(file, next, "cuptiActivityGetNextRecord");
    find(file, push, "cuptiActivityPushExternalCorrelationId");
    find(file, pop, "cuptiActivityPopExternalCorrelationId");
    find(file, version, "cuptiGetVersion");
    // A later version may only have longer records; an earlier one has others than we read.
    uint32_t found = 0;
    complete = complete && version(&found) == CUPTI_SUCCESS && found >= CUPTI_API_VERSION;
  }

 private:
  template <class Function>
  void find(void* file, Function& function, const char* name) {
    function = file == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(file, name));
    complete = complete && function != nullptr;
  }
};
// Null where CUPTI is not installed. Never unloaded: its threads may outlive us.
const Cupti* cupti() {
  static const auto& one = *new Cupti;
  return one.complete ? &one : nullptr;
}

// The runtime's and the driver's calls carry the external correlation to the work.
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMCPY2,
                                         CUPTI_ACTIVITY_KIND_MEMSET,
                                         CUPTI_ACTIVITY_KIND_RUNTIME,
                                         CUPTI_ACTIVITY_KIND_DRIVER,
                                         CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};

// Layouts that every version since CUDA 12 knows: the later ones begin with the same members.
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;

struct Work {
  std::string name;
  DeviceActivity facts;
};

// What CUPTI has delivered and nobody has taken yet. Its own thread delivers, too.
struct Delivered {
  std::mutex mutex;
  std::vector<Work> work;                               // `correlation` is CUPTI's
  std::unordered_map<uint32_t, uint64_t> correlations;  // CUPTI's to ours
};
Delivered& delivered() {
  static auto& one = *new Delivered;
  return one;
}

// Without the template arguments and parameters, which fill a screen.
std::string readable(const char* mangled) {
  if (mangled == nullptr) return "kernel";
  int status = 0;
  char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = status == 0 && text != nullptr ? text : mangled;
  std::free(text);
  const size_t end = name.find_first_of("<(");
  if (status == 0 && end != std::string::npos && end > 0) name.resize(end);
  const size_t space = name.rfind(' ');  // before it is the type of the result
  if (status == 0 && space != std::string::npos) name.erase(0, space + 1);
  return name;
}

const char* copy_name(uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "copy to device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "copy to host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "copy between devices";
    default:
      return "copy on device";
  }
}

template <class Record>
void add_work(Delivered& to, const Record& record, std::string name, uint64_t nbytes, bool copies) {
  Work work;
  work.name = std::move(name);
  work.facts = {record.correlationId,
                nullptr,
                static_cast<int64_t>(record.start),
                static_cast<int64_t>(record.end),
                record.streamId,
                nbytes,
                static_cast<int32_t>(record.deviceId),
                copies ? 1 : 0};
  to.work.push_back(std::move(work));
}

void add_record(Delivered& to, const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = *reinterpret_cast<const KernelRecord*>(record);
      return add_work(to, kernel, readable(kernel.name), 0, false);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = *reinterpret_cast<const CopyRecord*>(record);
      return add_work(to, copy, copy_name(copy.copyKind), copy.bytes, true);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto& copy = *reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record);
      return add_work(to, copy, copy_name(copy.copyKind), copy.bytes, true);
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& fill = *reinterpret_cast<const CUpti_ActivityMemset4*>(record);
      return add_work(to, fill, "fill", fill.bytes, true);
    }
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& link = *reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
      to.correlations[link.correlationId] = link.externalId;
      return;
    }
    default:
      return;
  }
}

constexpr size_t kBufferBytes = size_t{1} << 20;

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = static_cast<uint8_t*>(std::malloc(kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;  // as many as fit
}

void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  try {
    Delivered& to = delivered();
    const std::lock_guard lock(to.mutex);
    CUpti_Activity* record = nullptr;
    while (cupti()->next(buffer, valid, &record) == CUPTI_SUCCESS) add_record(to, record);
  } catch (...) {  // no memory: the records are lost
  }
  std::free(buffer);
}

// The clock of trace events.
uint64_t CUPTIAPI read_clock() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(time.tv_nsec);
}

int32_t result(CUptiResult code) {
  return code == CUPTI_SUCCESS ? kDeviceOk : kNoCupti;
}

void disable_all(const Cupti& library) {
  for (const CUpti_ActivityKind kind : kKinds) static_cast<void>(library.disable(kind));
}

// What an earlier recording has left.
void forget_work() {
  const std::lock_guard lock(delivered().mutex);
  delivered().work.clear();
  delivered().correlations.clear();
}

int32_t start() {
  const Cupti* library = cupti();
  if (library == nullptr) return kNoCupti;
  forget_work();
  static_cast<void>(library->register_clock(read_clock));
  CUptiResult code = library->register_callbacks(give_buffer, take_buffer);
  for (const CUpti_ActivityKind kind : kKinds) {
    if (code == CUPTI_SUCCESS) code = library->enable(kind);
  }
  if (code != CUPTI_SUCCESS) disable_all(*library);
  return result(code);
}

int32_t stop() {
  const Cupti* library = cupti();
  if (library == nullptr) return kNoCupti;
  disable_all(*library);
  return result(library->flush(0));
}

int32_t enter(uint64_t correlation) {
  return result(cupti()->push(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, correlation));
}
int32_t leave() {
  uint64_t last = 0;
  return result(cupti()->pop(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last));
}

int32_t take(void (*give)(void* user, const DeviceActivity* activity), void* user) {
  const CUptiResult code = cupti()->flush(0);
  std::vector<Work> work;
  std::unordered_map<uint32_t, uint64_t> correlations;
  {
    Delivered& from = delivered();
    const std::lock_guard lock(from.mutex);
    work.swap(from.work);
    correlations.swap(from.correlations);
  }
  for (Work& each : work) {
    const auto found = correlations.find(static_cast<uint32_t>(each.facts.correlation));
    each.facts.correlation = found == correlations.end() ? 0 : found->second;
    each.facts.name = each.name.c_str();
    give(user, &each.facts);
  }
  return result(code);
}

constexpr DeviceTimeline kTimeline = {start, stop, enter, leave, take};

}  // namespace

const DeviceTimeline* timeline() noexcept {
  return &kTimeline;
}

}  // namespace tsr::cuda

#else

namespace tsr::cuda {

const DeviceTimeline* timeline() noexcept {
  return nullptr;
}

}  // namespace tsr::cuda

#endif
