// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// What happens before a transport starts: tensors become row-major buffers that it can use.
#include "base/error.h"
#include "dist/channel.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/result.h"

namespace tsr::dist {
namespace {

Buffer buffer_of(const Tensor& tensor) {
  return {tensor.data(), tensor.numel(), tensor.dtype(), tensor.device(), nullptr};
}

// Row-major memory on the host, pinned where the device can use that.
Tensor host_empty(int64_t count, DType dtype, Device device) {
  const auto nbytes = static_cast<uint64_t>(count * itemsize(dtype));
  const Dims sizes{count};
  if (device.is_cpu() || nbytes == 0) return empty(sizes, dtype);
  if (kernel::backend_for(device).device->host_allocate == nullptr) return empty(sizes, dtype);
  return make_fresh(allocate_pinned_storage(device, nbytes), dtype, sizes,
                    contiguous_strides(sizes));
}

Tensor part_of(const Tensor& flat, int64_t first, const Tensor& like) {
  return make_view(flat, like.sizes(), contiguous_strides(like.sizes()), first);
}

void check_target(const Tensor& tensor) {
  TSR_CHECK(!tensor.storage()->read_only, Code::kBuffer, nullptr,
            "expected memory that may be written, got a read-only tensor");
  TSR_CHECK(!may_overlap_itself(tensor.sizes(), tensor.strides()), Code::kValue, nullptr,
            "expected a tensor whose elements have places of their own, got one of shape ",
            tensor.sizes(), " with strides ", tensor.strides());
  tensor.bump_version();
}

void check_alike(std::span<const Tensor> tensors, const char* arg) {
  for (const Tensor& tensor : tensors) {
    TSR_CHECK(tensor.dtype() == tensors[0].dtype(), Code::kDType, arg, "expected one dtype, got ",
              tensors[0].dtype(), " and ", tensor.dtype());
    TSR_CHECK(tensor.device() == tensors[0].device(), Code::kDevice, arg,
              "expected one device, got ", tensors[0].device(), " and ", tensor.device());
  }
}

int64_t total_of(std::span<const Tensor> tensors) {
  int64_t total = 0;
  for (const Tensor& tensor : tensors) total += tensor.numel();
  return total;
}

// Whether the tensors lie behind each other in one storage, as the parts of a flat one do.
bool adjacent(std::span<const Tensor> tensors) {
  int64_t next = tensors[0].offset();
  for (const Tensor& tensor : tensors) {
    const bool follows = tensor.is_contiguous() && tensor.offset() == next &&
                         tensor.storage() == tensors[0].storage();
    if (!follows) return false;
    next += tensor.numel();
  }
  return true;
}

}  // namespace

bool Work::Parts::serves(const Tensor& tensor) const {
  return channel->table.serves(channel->context, tensor.device().type, kind, tensor.dtype(),
                               reduce) != 0;
}

Tensor Work::Parts::packed_like(const Tensor& tensor) const {
  if (serves(tensor)) return empty(tensor.sizes(), tensor.dtype(), tensor.device());
  return part_of(host_empty(tensor.numel(), tensor.dtype(), tensor.device()), 0, tensor);
}

Buffer Work::Parts::source(const Tensor& tensor, const Tensor* apart) {
  device = tensor.device();
  const bool shared = apart != nullptr && apart->storage() == tensor.storage();
  if (serves(tensor) && tensor.is_contiguous() && !shared) {
    kept.push_back(tensor);
    return buffer_of(tensor);
  }
  kept.push_back(packed_like(tensor));
  ops::copy_memory(kept.back(), tensor);
  return buffer_of(kept.back());
}

Buffer Work::Parts::target(const Tensor& tensor, bool reads) {
  check_target(tensor);
  device = tensor.device();
  if (serves(tensor) && tensor.is_contiguous()) {
    kept.push_back(tensor);
    return buffer_of(tensor);
  }
  kept.push_back(packed_like(tensor));
  if (reads) ops::copy_memory(kept.back(), tensor);
  copies.emplace_back(tensor, kept.back());
  return buffer_of(kept.back());
}

Tensor Work::Parts::flat_for(std::span<const Tensor> tensors, const char* arg) const {
  check_alike(tensors, arg);
  const Tensor& first = tensors[0];
  const int64_t total = total_of(tensors);
  if (!serves(first)) return host_empty(total, first.dtype(), first.device());
  return empty(Dims{total}, first.dtype(), first.device());
}

Buffer Work::Parts::sources(std::span<const Tensor> tensors, const char* arg, const Tensor* apart) {
  if (tensors.empty()) return {};
  if (tensors.size() == 1) return source(tensors[0], apart);
  check_alike(tensors, arg);
  device = tensors[0].device();
  const bool shared = apart != nullptr && apart->storage() == tensors[0].storage();
  if (serves(tensors[0]) && adjacent(tensors) && !shared) {
    kept.insert(kept.end(), tensors.begin(), tensors.end());
    Buffer buffer = buffer_of(tensors[0]);
    buffer.count = total_of(tensors);
    return buffer;
  }
  const Tensor flat = flat_for(tensors, arg);
  int64_t first = 0;
  for (const Tensor& tensor : tensors) {
    ops::copy_memory(part_of(flat, first, tensor), tensor);
    first += tensor.numel();
  }
  kept.push_back(flat);
  return buffer_of(flat);
}

Buffer Work::Parts::targets(std::span<const Tensor> tensors, bool reads, const char* arg) {
  if (tensors.empty()) return {};
  if (tensors.size() == 1) return target(tensors[0], reads);
  check_alike(tensors, arg);
  for (const Tensor& tensor : tensors) check_target(tensor);
  device = tensors[0].device();
  if (serves(tensors[0]) && adjacent(tensors)) return sources(tensors, arg);
  Buffer buffer;
  if (reads) {
    buffer = sources(tensors, arg);
  } else {
    kept.push_back(flat_for(tensors, arg));
    buffer = buffer_of(kept.back());
  }
  const Tensor flat = kept.back();
  int64_t first = 0;
  for (const Tensor& tensor : tensors) {
    copies.emplace_back(tensor, part_of(flat, first, tensor));
    first += tensor.numel();
  }
  return buffer;
}

void Work::Parts::divide_later(const Buffer& buffer, std::span<const Tensor> results) {
  const bool left = channel->table.stream_ordered == 0 && !buffer.device.is_cpu();
  if (reduce == ReduceOp::kAvg && left) sums.insert(sums.end(), results.begin(), results.end());
}

// ---- Streams ----

Stream& Channel::stream_on(Device on) {
  const std::lock_guard lock(mutex_);
  for (const auto& stream : streams_) {
    if (stream->device() == on) return *stream;
  }
  streams_.push_back(Stream::create(on, *kernel::backend_for(on).device));
  return *streams_.back();
}

void Work::Parts::make_ready(Device on, Buffer* first, Buffer* second) {
  if (first->data != nullptr && first->device.is_cpu()) return;
  if (on.is_cpu()) return;
  const DeviceInterface& interface = *kernel::backend_for(on).device;
  if (interface.stream_create == nullptr) return;
  const auto caller = Stream::wrap(on, interface, current_stream(on));
  if (channel->table.stream_ordered == 0) return caller->synchronize();
  Stream& own = channel->stream_on(on);
  const auto event = Event::create(on, interface);
  event->record(*caller);
  own.wait(*event);
  first->stream = own.native();
  if (second != nullptr) second->stream = own.native();
  for (const Tensor& tensor : kept) {
    if (!tensor.storage()->foreign) record_stream(*tensor.storage(), own.native());
  }
}

}  // namespace tsr::dist
