// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// cuDNN's graph interface, loaded at first use: without cuDNN everything but convolution works.
#pragma once

#include <cudnn.h>

#include <utility>

#include "backend/cuda/host.h"

namespace tsr::cuda {

// The functions that we call.
struct Dnn {
  decltype(&cudnnGetVersion) version;
  decltype(&cudnnCreate) create_handle;
  decltype(&cudnnDestroy) destroy_handle;
  decltype(&cudnnSetStream) set_stream;
  decltype(&cudnnGetErrorString) error_string;
  decltype(&cudnnBackendCreateDescriptor) create;
  decltype(&cudnnBackendDestroyDescriptor) destroy;
  decltype(&cudnnBackendSetAttribute) set;
  decltype(&cudnnBackendGetAttribute) get;
  decltype(&cudnnBackendFinalize) finalize;
  decltype(&cudnnBackendExecute) execute;
};

// Null if the library or one of the functions is missing; missing_dnn then reports it.
const Dnn* load_dnn() noexcept;
kernel::Status missing_dnn() noexcept;
kernel::Status dnn_failure(cudnnStatus_t status) noexcept;

// A handle for the plan's device and stream during one call. The device must be current.
class DnnHandle {
 public:
  DnnHandle(const Dnn& dnn, kernel::Place place);
  ~DnnHandle();
  DnnHandle(const DnnHandle&) = delete;
  DnnHandle& operator=(const DnnHandle&) = delete;

  [[nodiscard]] cudnnStatus_t status() const { return status_; }
  [[nodiscard]] cudnnHandle_t get() const { return handle_; }

 private:
  const Dnn& dnn_;
  int32_t device_;
  cudnnHandle_t handle_ = nullptr;
  cudnnStatus_t status_ = CUDNN_STATUS_SUCCESS;
};

// A descriptor. The first failure stays in `status`; later calls then do nothing.
class Descriptor {
 public:
  Descriptor(const Dnn& dnn, cudnnBackendDescriptorType_t type) : dnn_(&dnn) {
    status_ = dnn.create(type, &value_);
  }
  Descriptor(Descriptor&& other) noexcept
      : dnn_(other.dnn_), value_(std::exchange(other.value_, nullptr)), status_(other.status_) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(dnn_, other.dnn_);
    std::swap(value_, other.value_);
    std::swap(status_, other.status_);
    return *this;
  }
  ~Descriptor() {
    if (value_ != nullptr) static_cast<void>(dnn_->destroy(value_));
  }

  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
                  const void* values) {
    if (status_ == CUDNN_STATUS_SUCCESS) status_ = dnn_->set(value_, name, type, count, values);
    return *this;
  }
  Descriptor& set(cudnnBackendAttributeName_t name, int64_t value) {
    return set(name, CUDNN_TYPE_INT64, 1, &value);
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& other) {
    if (status_ == CUDNN_STATUS_SUCCESS) status_ = other.status_;
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.value_);
  }
  Descriptor& finalize() {
    if (status_ == CUDNN_STATUS_SUCCESS) status_ = dnn_->finalize(value_);
    return *this;
  }
  // Copies at most `room` values to `values` and returns how many there are, which may be more.
  int64_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t room,
              void* values) {
    int64_t count = 0;
    if (status_ == CUDNN_STATUS_SUCCESS)
      status_ = dnn_->get(value_, name, type, room, &count, values);
    return count;
  }

  // Makes the descriptor one that failed.
  void refuse() {
    if (ok()) status_ = CUDNN_STATUS_NOT_SUPPORTED;
  }

  [[nodiscard]] cudnnStatus_t status() const { return status_; }
  [[nodiscard]] bool ok() const { return status_ == CUDNN_STATUS_SUCCESS; }
  [[nodiscard]] cudnnBackendDescriptor_t value() const { return value_; }

 private:
  const Dnn* dnn_;
  cudnnBackendDescriptor_t value_ = nullptr;
  cudnnStatus_t status_;
};

}  // namespace tsr::cuda
