// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/create/copy.h"

#include <algorithm>

#include "autograd/tensor_grad.h"
#include "base/scalar_range.h"
#include "kernel/plan.h"
#include "kernel/registry.h"
#include "ops/reduce/sum_to.h"

namespace tsr::ops {
namespace {

// Copies between host and device, on the device's current stream. Both tensors are contiguous. A
// non-blocking copy returns at once if the host memory is pinned for the device; that memory is not
// reused before the stream has done the copy.
void copy_over_host_border(const Tensor& dst, const Tensor& src, bool non_blocking) {
  const bool to_host = dst.device().is_cpu();
  const Device device = to_host ? src.device() : dst.device();
  const DeviceInterface& interface = *kernel::backend_for(device).device;
  const CopyKind kind = to_host ? CopyKind::kDeviceToHost : CopyKind::kHostToDevice;
  const Storage& host = *(to_host ? dst : src).storage();
  if (non_blocking && pinned_for(host) == device) {
    // Recorded first: it may fail, and must not fail while a copy is running.
    record_stream(host, current_stream(device));
    check_call(
        interface.copy_unwaited(device.index, dst.data(), src.data(),
                                static_cast<uint64_t>(src.nbytes()), kind, current_stream(device)),
        device, interface, "copy");
    return;
  }
  const int32_t code =
      interface.copy(device.index, dst.data(), src.data(), static_cast<uint64_t>(src.nbytes()),
                     kind, current_stream(device));
  if (code != kDeviceOutOfMemory && to_host) check_work(code, device, interface);
  check_call(code, device, interface, "copy");
  if (to_host) check_faults(device, interface);
}

// Makes the current stream of `waiting` wait for the work queued so far on the current stream of
// `other`.
void wait_across(Device waiting, Device other, const DeviceInterface& interface) {
  const IntrusivePtr<Event> here = Event::create(other, interface);
  here->record(*Stream::wrap(other, interface, current_stream(other)));
  check_work(interface.stream_wait_event(waiting.index, current_stream(waiting), here->native()),
             waiting, interface);
}

// Between devices of one type, on a stream of the source device, so that its memory needs no record
// of the use. The destination's stream may still use that memory, and uses it afterwards: the two
// streams wait for each other before and after the copy.
void copy_between_peers(const Tensor& dst, const Tensor& src) {
  const DeviceInterface& interface = *kernel::backend_for(src.device()).device;
  wait_across(src.device(), dst.device(), interface);
  check_call(interface.copy_peer(dst.device().index, dst.data(), src.device().index, src.data(),
                                 static_cast<uint64_t>(src.nbytes()), current_stream(src.device())),
             src.device(), interface, "copy to another device");
  wait_across(dst.device(), src.device(), interface);
}

void copy_between_devices(const Tensor& dst, const Tensor& src, bool non_blocking) {
  const Tensor from = contiguous_memory(cast_memory(src, dst.dtype()));
  // Broadcast or strided destinations: copy the elements into a staging tensor, and expand it
  // there.
  const bool direct = dst.is_contiguous() && std::ranges::equal(dst.sizes(), from.sizes());
  const Tensor staging = direct ? dst : empty(from.sizes(), dst.dtype(), dst.device());
  const bool over_border = dst.device().is_cpu() || src.device().is_cpu();
  const bool peers = dst.device().type == src.device().type &&
                     kernel::backend_for(src.device()).device->copy_peer != nullptr;
  if (over_border) {
    copy_over_host_border(staging, from, non_blocking);
  } else if (peers) {
    copy_between_peers(staging, from);
  } else {
    const Tensor host = empty(from.sizes(), from.dtype(), Device{});
    copy_over_host_border(host, from, false);
    copy_over_host_border(staging, host, false);
  }
  if (!staging.is_same(dst)) copy_memory(dst, staging);
}

bool copies_unwaited(Device device) {
  return kernel::backend_for(device).device->copy_unwaited != nullptr;
}

// Host memory, pinned for the device, with the tensor's dtype and order of dims.
Tensor empty_pinned(const Tensor& like, Device device) {
  const Dims strides = is_dense(like.sizes(), like.strides())
                           ? dense_strides_like(like.sizes(), like.strides())
                           : contiguous_strides(like.sizes());
  return make_fresh(allocate_pinned_storage(device, static_cast<uint64_t>(like.nbytes())),
                    like.dtype(), like.sizes(), strides);
}

}  // namespace

void copy_memory(const Tensor& dst, const Tensor& src, bool non_blocking) {
  if (dst.numel() == 0) return;
  if (dst.device() != src.device()) return copy_between_devices(dst, src, non_blocking);
  const kernel::Elementwise walk(dst, {src});
  kernel::launch(kernel::kCopy, dst.device(), walk.plan());
}

void fill_memory(const Tensor& dst, const Scalar& value) {
  if (dst.numel() == 0) return;
  kernel::Elementwise walk(dst, {});
  value.store(dst.dtype(), walk.plan().params[0].bytes);
  kernel::launch(kernel::kFill, dst.device(), walk.plan());
}

Tensor cast_memory(const Tensor& input, DType dtype) {
  if (input.dtype() == dtype) return input;
  Tensor result =
      is_dense(input.sizes(), input.strides())
          ? empty_strided(input.sizes(), dense_strides_like(input.sizes(), input.strides()), dtype,
                          input.device())
          : empty(input.sizes(), dtype, input.device());
  copy_memory(result, input);
  return result;
}

Tensor contiguous_memory(const Tensor& input) {
  if (input.is_contiguous()) return input;
  Tensor result = empty(input.sizes(), input.dtype(), input.device());
  copy_memory(result, input);
  return result;
}

Tensor clone(const Tensor& input, Out out) {
  const bool grad = needs_grad(input);
  Result result = allocate(out, input.sizes(), input.dtype(), input.device(), grad, {&input});
  if (!result.value().is_same(input)) copy_memory(result.value(), input);
  Tensor output = result.finish();
  if (grad)
    record(
        output, "CloneBackward", {input}, {}, [](Backward& ctx) { ctx.set(0, ctx.take_grad()); },
        kElementwise);
  return output;
}

Tensor contiguous(const Tensor& input) {
  if (input.is_contiguous()) return input;
  Tensor output = empty(input.sizes(), input.dtype(), input.device());
  copy_memory(output, input);
  if (needs_grad(input)) {
    record(
        output, "ContiguousBackward", {input}, {},
        [](Backward& ctx) { ctx.set(0, ctx.take_grad()); }, kElementwise);
  }
  return output;
}

Tensor astype(const Tensor& input, DType dtype, bool copy) {
  if (input.dtype() == dtype) return copy ? clone(input) : input;
  TSR_CHECK(!is_complex(input.dtype()) || is_complex(dtype), Code::kDType, "dtype",
            "expected a complex type for a complex input, got ", dtype);
  Tensor output = cast_memory(input, dtype);
  // The engine casts the gradient back to the input's dtype.
  if (is_differentiable(dtype) && needs_grad(input)) {
    record(
        output, "AstypeBackward", {input}, {}, [](Backward& ctx) { ctx.set(0, ctx.take_grad()); },
        kElementwise);
  }
  return output;
}

Tensor to(const Tensor& input, std::optional<Device> device, std::optional<DType> dtype, bool copy,
          bool non_blocking) {
  const Device target = device.value_or(input.device());
  if (target == input.device()) return astype(input, dtype.value_or(input.dtype()), copy);
  const Tensor source = astype(input, dtype.value_or(input.dtype()));
  const bool pinned = non_blocking && target.is_cpu() && copies_unwaited(source.device());
  Tensor output = pinned ? empty_pinned(source, source.device())
                         : empty(source.sizes(), source.dtype(), target);
  copy_memory(output, source, non_blocking);
  if (needs_grad(source)) {
    record(output, "ToBackward", {source}, {},
           TakesBatches{[home = source.device()](Backward& ctx) {
             ctx.set(0, to(ctx.grad(), home, std::nullopt));
           }},
           [&](Forward& ctx) { ctx.set(0, to(ctx.tangent(), target, std::nullopt)); });
  }
  return output;
}

Tensor real_part(const Tensor& input) {
  if (!is_complex(input.dtype())) return input;
  Tensor output = cast_memory(input, real_dtype(input.dtype()));
  if (needs_grad(input)) {
    record(output, "RealPartBackward", {input}, {},
           TakesBatches{[](Backward& ctx) { ctx.set(0, ctx.take_grad()); }},
           [](Forward& ctx) { ctx.set(0, real_part(ctx.tangent())); });
  }
  return output;
}

Tensor detach(const Tensor& input) {
  return tsr::detach(input);
}

Tensor pin_memory(const Tensor& input, std::optional<Device> device) {
  TSR_CHECK(input.device().is_cpu(), Code::kDevice, "input",
            "expected a tensor in the host's memory, got one on ", input.device());
  const Device first_cuda{DeviceType::kCuda, 0};
  const Device target = device.value_or(t_default_device.is_cpu() ? first_cuda : t_default_device);
  kernel::backend_for(target);
  if (!target.is_cpu() && pinned_for(*input.storage()) == target) return input;
  Tensor output = empty_pinned(input, target);
  copy_memory(output, input);
  if (needs_grad(input)) {
    record(output, "PinMemoryBackward", {input}, {},
           TakesBatches{[](Backward& ctx) { ctx.set(0, ctx.take_grad()); }});
  }
  return output;
}

bool is_pinned(const Tensor& input) {
  return !pinned_for(*input.storage()).is_cpu();
}

Tensor copy_(const Tensor& input, const Tensor& src, bool non_blocking) {
  broadcast_strides(src.sizes(), src.strides(), input.sizes(), "src");
  TSR_CHECK(category(src.dtype()) <= category(input.dtype()) || !is_complex(src.dtype()),
            Code::kDType, "src", "expected a real tensor for a ", input.dtype(), " input, got ",
            src.dtype());
  const bool grad = needs_grad(input, src);
  TSR_CHECK(!may_overlap_itself(input.sizes(), input.strides()), Code::kValue, "input",
            "expected a tensor without overlapping elements, got strides ", input.strides(),
            " for shape ", input.sizes(), "; clone() it first");
  begin_inplace(input, grad);
  // A source that overlaps the target is copied before anything is written.
  copy_memory(input, overlap_of(src, input) == Overlap::kSome ? clone(src.detached()) : src,
              non_blocking);
  if (grad) {
    record(input, "CopyBackward", {input, src}, {},
           TakesBatches{[home = src.device(), sizes = src.sizes()](Backward& ctx) {
             if (ctx.needs(0)) ctx.set(0, zeros_of(ctx.grad()));
             if (!ctx.needs(1)) return;
             const Tensor& g = ctx.grad();
             // Over the border goes the sum, which is not larger.
             const bool whole = g.device() == home || ctx.lead() == 1;
             ctx.set(1, to(whole ? g : sum_to(g, sizes), home, std::nullopt));
           }},
           [&](Forward& ctx) {
             if (ctx.has(1)) ctx.set(0, to(ctx.tangent(1), input.device(), std::nullopt));
           });
  }
  return input;
}

Tensor fill_(const Tensor& input, const Scalar& value) {
  TSR_CHECK(value.category() <= category(input.dtype()) || value.category() != Category::kComplex,
            Code::kDType, "value", "expected a real number for a ", input.dtype(), " input, got ",
            value);
  check_fits(value, input.dtype(), "value");
  const bool grad = needs_grad(input);
  TSR_CHECK(!may_overlap_itself(input.sizes(), input.strides()), Code::kValue, "input",
            "expected a tensor without overlapping elements, got strides ", input.strides(),
            " for shape ", input.sizes(), "; clone() it first");
  begin_inplace(input, grad);
  fill_memory(input, value);
  if (grad) {
    record(input, "FillBackward", {input}, {},
           TakesBatches{[](Backward& ctx) { ctx.set(0, zeros_of(ctx.grad())); }}, [](Forward&) {});
  }
  return input;
}

Tensor zero_(const Tensor& input) {
  return fill_(input, 0);
}

}  // namespace tsr::ops
