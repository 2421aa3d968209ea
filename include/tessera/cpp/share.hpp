// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Memory of several processes: tensors that another process opens by a file descriptor or a name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/cpp/buffer.hpp"
#include "tessera/cpp/tensor.hpp"
#include "tessera/share.h"

namespace tessera {

enum class ShareStrategy : int32_t {
  file_descriptor = TSR_SHARE_FILE_DESCRIPTOR,
  file_system = TSR_SHARE_FILE_SYSTEM,
  // As file_descriptor, for a stream of tensors to another process: memory that its receivers have
  // released holds the next tensor. Send handles in transit; another handle ends the recycling.
  recycled = TSR_SHARE_RECYCLED,
};

// What another process needs to open the storage of a tensor.
struct SharedHandle {
  int fd = -1;       // borrowed from the tensor; -1 when there is a name
  std::string name;  // empty when there is a file descriptor
  int64_t nbytes = 0;
  // The handle counts as a user, of a name or of recycled memory, until from_shared opens it, which
  // must happen once.
  bool in_transit = false;
  bool recycled = false;  // set by shared_handle; tell the other process
};

// While it lives, the tensor's memory does not move, for an array of another library that uses it:
// share_memory throws MemoryAccessError.
class MemoryLoan {
 public:
  [[nodiscard]] explicit MemoryLoan(Tensor tensor) : tensor_(std::move(tensor)) {
    check(tsr_storage_lend(tensor_.handle()));
  }
  MemoryLoan(const MemoryLoan&) = delete;
  MemoryLoan& operator=(const MemoryLoan&) = delete;
  ~MemoryLoan() { tsr_storage_give_back(tensor_.handle()); }

 private:
  Tensor tensor_;
};

// Moves the storage of a tensor, with all its views, to shared memory. Throws MemoryAccessError
// while the memory is lent (MemoryLoan, DLPack).
inline void share_memory(const Tensor& tensor,
                         ShareStrategy strategy = ShareStrategy::file_descriptor) {
  check(tsr_storage_share(tensor.handle(), static_cast<tsr_share_strategy>(strategy)));
}

inline bool is_shared(const Tensor& tensor) {
  int32_t value = 0;
  check(tsr_tensor_is_shared(tensor.handle(), &value));
  return value != 0;
}

// A tensor in new shared memory, filled with zeros; recycled memory holds any bytes.
inline Tensor empty_shared(const std::vector<int64_t>& shape, DType dtype = kFloat32,
                           ShareStrategy strategy = ShareStrategy::file_descriptor) {
  tsr_tensor out = nullptr;
  check(tsr_empty_shared(shape.data(), static_cast<int32_t>(shape.size()), detail::bits(dtype),
                         static_cast<tsr_share_strategy>(strategy), &out));
  return Tensor::take(out);
}

inline SharedHandle shared_handle(const Tensor& tensor, bool in_transit = false) {
  tsr_shared_handle found = {};
  found.struct_size = sizeof(found);
  check(tsr_storage_shared_handle(tensor.handle(), in_transit ? TSR_SHARED_IN_TRANSIT : 0, &found));
  return {found.fd, found.name == nullptr ? "" : found.name, found.nbytes, in_transit,
          (found.flags & TSR_SHARED_RECYCLED) != 0};
}

namespace detail {

// Strides of a row-major tensor unless some are given.
inline std::vector<int64_t> steps_of(const std::vector<int64_t>& shape,
                                     const std::optional<std::vector<int64_t>>& strides) {
  if (strides) return *strides;
  std::vector<int64_t> steps(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) steps[i - 1] = steps[i] * shape[i];
  return steps;
}

}  // namespace detail

// A tensor on shared memory; offset and strides are in elements. Without strides it is row-major.
inline Tensor from_shared(const SharedHandle& handle, const std::vector<int64_t>& shape,
                          DType dtype = kFloat32, int64_t offset = 0,
                          const std::optional<std::vector<int64_t>>& strides = std::nullopt) {
  tsr_shared_handle from = {};
  from.struct_size = sizeof(from);
  from.fd = handle.fd;
  from.nbytes = handle.nbytes;
  from.name = handle.name.empty() ? nullptr : handle.name.c_str();
  from.flags =
      (handle.in_transit ? TSR_SHARED_IN_TRANSIT : 0) | (handle.recycled ? TSR_SHARED_RECYCLED : 0);
  const std::vector<int64_t> steps = detail::steps_of(shape, strides);
  tsr_tensor out = nullptr;
  check(tsr_tensor_from_shared(&from, offset, shape.data(), static_cast<int32_t>(shape.size()),
                               steps.data(), static_cast<int32_t>(steps.size()),
                               detail::bits(dtype), &out));
  return Tensor::take(out);
}

// The shared memory that this process has mapped.
struct SharedMemoryCounts {
  int64_t blocks = 0;  // number of storages
  int64_t nbytes = 0;
  int64_t descriptors = 0;  // kept open, so that a storage can be sent again
};

inline SharedMemoryCounts shared_memory_counts() {
  tsr_shared_counts found = {};
  found.struct_size = sizeof(found);
  check(tsr_shared_memory_counts(&found));
  return {found.blocks, found.nbytes, found.descriptors};
}

// ---- Memory of devices ----

// A text by which one other process opens the memory of a tensor on a device, once. This process
// keeps the memory until then, and must live longer than that use.
inline std::string ipc_export(const Tensor& tensor) {
  tsr_buffer buffer = nullptr;
  check(tsr_ipc_export(tensor.handle(), &buffer));
  return detail::take_text(buffer);
}

inline Tensor ipc_open(const std::string& handle, const std::vector<int64_t>& shape,
                       DType dtype = kFloat32, int64_t offset = 0,
                       const std::optional<std::vector<int64_t>>& strides = std::nullopt) {
  const std::vector<int64_t> steps = detail::steps_of(shape, strides);
  tsr_tensor out = nullptr;
  check(tsr_ipc_open(handle.data(), static_cast<int64_t>(handle.size()), offset, shape.data(),
                     static_cast<int32_t>(shape.size()), steps.data(),
                     static_cast<int32_t>(steps.size()), detail::bits(dtype), &out));
  return Tensor::take(out);
}

// Gives up exported memory that no other process uses any more, and recycled memory that this
// process keeps; returns how many exported storages.
inline int64_t ipc_collect() {
  int64_t count = 0;
  check(tsr_ipc_collect(&count));
  return count;
}

}  // namespace tessera
