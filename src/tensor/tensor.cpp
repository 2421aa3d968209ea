// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/tensor.h"

#include "base/error.h"
#include "memory/quarantine.h"
#include "tensor/grad_mode.h"

namespace tsr {

constinit thread_local GradMode t_grad_mode;

TensorImpl::TensorImpl(StoragePtr memory, DType type, DimsView new_sizes, DimsView new_strides,
                       int64_t first)
    : Object(ObjectTag::kTensor),
      dtype(type),
      device(memory->device),
      flags(tsr::is_contiguous(new_sizes, new_strides) ? uint32_t{kContiguousFlag} : 0U),
      storage(std::move(memory)),
      offset(first),
      numel(numel_of(new_sizes)),
      sizes(new_sizes),
      strides(new_strides) {}

TensorImpl::TensorImpl(StoragePtr memory, DType type, const TensorImpl& like)
    : Object(ObjectTag::kTensor),
      dtype(type),
      device(memory->device),
      flags(like.all_flags() & kContiguousFlag),
      storage(std::move(memory)),
      numel(like.numel),
      sizes(like.sizes),
      strides(like.strides) {}

void* TensorImpl::operator new(size_t size) {
  return small_allocate(size);
}
void TensorImpl::operator delete(void* block, size_t size) noexcept {
  free_object(block, size);
}
void* TensorImpl::operator new(size_t size, Unchecked) {
  return small_allocate_unchecked(size);
}
void TensorImpl::operator delete(void* block, Unchecked) noexcept {
  free_object(block, sizeof(TensorImpl));
}

void TensorImpl::destroy(TensorImpl* impl) noexcept {
  delete impl->autograd;
  impl->tag = ObjectTag::kDead;
  delete impl;
}

void TensorImpl::set_layout(DimsView new_sizes, DimsView new_strides, int64_t first) {
  sizes.assign(new_sizes.begin(), new_sizes.end());
  strides.assign(new_strides.begin(), new_strides.end());
  offset = first;
  numel = numel_of(new_sizes);
  if (tsr::is_contiguous(new_sizes, new_strides)) {
    add_flags(kContiguousFlag);
  } else {
    drop_flags(kContiguousFlag);
  }
}

Tensor Tensor::detached() const {
  return make_view(*this, sizes(), strides(), offset());
}

namespace {

Tensor marked(TensorImpl* impl) noexcept {
  if (inference_enabled()) impl->add_flags_alone(kInferenceFlag);
  return Tensor::adopt(impl);
}

// What the flags ask for when memory becomes a tensor. The test of the flags that making an object
// needs anyway stands before it, so that it costs nothing more.
[[gnu::cold, gnu::noinline]] void obey_flags(const Storage& storage, DType dtype, DimsView sizes) {
  check_injected_failure(sizeof(TensorImpl));
  if ((debug_flags() & kHistoryKept) != 0) describe_storage(storage, dtype, sizes);
}

}  // namespace

Tensor make_fresh(StoragePtr storage, DType dtype, DimsView sizes, DimsView strides,
                  int64_t offset) {
  if (debug_flags() != 0) [[unlikely]]
    obey_flags(*storage, dtype, sizes);
  constexpr TensorImpl::Unchecked kUnchecked;
  return marked(new (kUnchecked) TensorImpl(std::move(storage), dtype, sizes, strides, offset));
}

Tensor empty(DimsView sizes, DType dtype, Device device) {
  const int64_t count = checked_numel(sizes, itemsize(dtype));
  const Dims strides = contiguous_strides(sizes);
  StoragePtr storage = allocate_storage(device, static_cast<uint64_t>(count * itemsize(dtype)));
  return make_fresh(std::move(storage), dtype, sizes, strides);
}

Tensor empty_dense_like(const Tensor& like, DType dtype, Device device) {
  int64_t nbytes = 0;
  TSR_CHECK(!__builtin_mul_overflow(like.numel(), itemsize(dtype), &nbytes), Code::kShape, "shape",
            "expected fewer than 2^63 bytes, got shape ", like.sizes());
  StoragePtr storage = allocate_storage(device, static_cast<uint64_t>(nbytes));
  if (debug_flags() != 0) [[unlikely]]
    obey_flags(*storage, dtype, like.sizes());
  constexpr TensorImpl::Unchecked kUnchecked;
  return marked(new (kUnchecked) TensorImpl(std::move(storage), dtype, *like.impl()));
}

Tensor empty_strided(DimsView sizes, DimsView strides, DType dtype, Device device) {
  checked_numel(sizes, itemsize(dtype));
  TSR_CHECK(sizes.size() == strides.size(), Code::kShape, "strides",
            "expected one stride for each of ", sizes.size(), " dimensions, got ", strides);
  int64_t reach = 1;
  bool overflow = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    TSR_CHECK(strides[i] >= 0, Code::kValue, "strides",
              "expected strides that are not negative, got ", strides);
    int64_t step = 0;
    overflow = overflow ||
               __builtin_mul_overflow(strides[i], sizes[i] > 0 ? sizes[i] - 1 : 0, &step) ||
               __builtin_add_overflow(reach, step, &reach);
  }
  int64_t nbytes = 0;
  overflow = overflow || __builtin_mul_overflow(reach, itemsize(dtype), &nbytes);
  TSR_CHECK(!overflow, Code::kShape, "strides", "expected fewer than 2^63 bytes, got shape ", sizes,
            " with strides ", strides);
  if (numel_of(sizes) == 0) nbytes = 0;
  StoragePtr storage = allocate_storage(device, static_cast<uint64_t>(nbytes));
  return make_fresh(std::move(storage), dtype, sizes, strides);
}

Tensor make_view(const Tensor& base, DimsView sizes, DimsView strides, int64_t offset) {
  auto* impl = new TensorImpl(base.storage(), base.dtype(), sizes, strides, offset);
  if (base.has(kInferenceFlag)) impl->add_flags_alone(kInferenceFlag);
  return Tensor::adopt(impl);
}

}  // namespace tsr
