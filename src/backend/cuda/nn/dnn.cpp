// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/nn/dnn.h"

#include <dlfcn.h>

#include <cstdio>

#include "backend/cuda/handle_pool.h"

namespace tsr::cuda {

using kernel::Status;

namespace {

// The functions that we use exist since the first release of the headers' major version.
constexpr size_t kOldest = size_t{CUDNN_MAJOR} * 10000;

// The library of the headers' major version, with its functions or the reason why they are missing.
struct Library {
  Dnn functions{};
  bool complete = false;
  char why[256] = "";

  Library() {
    char name[32];
    std::snprintf(name, sizeof name, "libcudnn.so.%d", CUDNN_MAJOR);
    void* const file = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    complete = file != nullptr && find(file, "cudnnGetVersion", functions.version) &&
               find(file, "cudnnCreate", functions.create_handle) &&
               find(file, "cudnnDestroy", functions.destroy_handle) &&
               find(file, "cudnnSetStream", functions.set_stream) &&
               find(file, "cudnnGetErrorString", functions.error_string) &&
               find(file, "cudnnBackendCreateDescriptor", functions.create) &&
               find(file, "cudnnBackendDestroyDescriptor", functions.destroy) &&
               find(file, "cudnnBackendSetAttribute", functions.set) &&
               find(file, "cudnnBackendGetAttribute", functions.get) &&
               find(file, "cudnnBackendFinalize", functions.finalize) &&
               find(file, "cudnnBackendExecute", functions.execute);
    if (!complete) {
      const char* const error = dlerror();
      std::snprintf(why, sizeof why, "expected cuDNN (%s) for a convolution, got none: %s", name,
                    error == nullptr ? "a function is missing" : error);
    } else if (functions.version() < kOldest) {
      complete = false;
      std::snprintf(why, sizeof why,
                    "expected cuDNN of version %zu or later for a convolution, got %zu", kOldest,
                    functions.version());
    }
  }

  template <class Function>
  static bool find(void* file, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(file, name));
    return function != nullptr;
  }
};

const Library& library() {
  static const auto& one = *new Library;  // never unloaded: its threads may outlive us
  return one;
}

HandlePool<cudnnHandle_t>& pool() {
  static auto& one = *new HandlePool<cudnnHandle_t>;
  return one;
}

bool lacks_memory(cudnnStatus_t status) {
  return status == CUDNN_STATUS_NOT_INITIALIZED ||
         status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
}

}  // namespace

const Dnn* load_dnn() noexcept {
  return library().complete ? &library().functions : nullptr;
}

Status missing_dnn() noexcept {
  return failure(Code::kBackend, library().why);
}

Status dnn_failure(cudnnStatus_t status) noexcept {
  const bool memory = status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
                      status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
  return failure(memory ? Code::kOutOfMemory : Code::kBackend,
                 library().functions.error_string(status), static_cast<int64_t>(status));
}

DnnHandle::DnnHandle(const Dnn& dnn, kernel::Place place)
    : dnn_(dnn), device_(place.device), handle_(pool().take(device_)) {
  if (handle_ == nullptr)
    status_ = make_with_room(
        place, [&] { return dnn.create_handle(&handle_); }, lacks_memory);
  if (status_ == CUDNN_STATUS_SUCCESS)
    status_ = dnn.set_stream(handle_, static_cast<cudaStream_t>(place.stream));
}

DnnHandle::~DnnHandle() {
  if (handle_ != nullptr && !pool().give(device_, handle_))
    static_cast<void>(dnn_.destroy_handle(handle_));
}

}  // namespace tsr::cuda
