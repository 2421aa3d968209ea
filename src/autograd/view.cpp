// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/view.h"

#include "autograd/accumulate_grad.h"
#include "autograd/copy_slices.h"
#include "autograd/forward.h"
#include "autograd/gradient_ops.h"
#include "autograd/tensor_record.h"
#include "base/error.h"

namespace tsr {
namespace {

const char* text_of(ViewKind kind) {
  switch (kind) {
    case ViewKind::kMultiOutput:
      return "it is one of several views made by one call";
    case ViewKind::kNoGrad:
      return "it was made in no_grad mode";
    case ViewKind::kInference:
      return "it was made in inference mode";
    case ViewKind::kCustom:
      return "it was returned by a custom function";
    case ViewKind::kOtherDType:
      return "it shows its base with another dtype";
    case ViewKind::kNormal:
      break;
  }
  return "";
}

void check_inference(const Tensor& target) {
  TSR_CHECK(!target.has(kInferenceFlag) || inference_enabled(), Code::kAutograd, nullptr,
            "expected a tensor that may be written outside inference mode, got one made inside it; "
            "write to a clone instead");
}

void check_writable(const Tensor& target) {
  check_inference(target);
  TSR_CHECK(!target.storage()->read_only, Code::kBuffer, nullptr,
            "expected memory that may be written, got a read-only tensor");
  TSR_CHECK(target.is_contiguous() || !may_overlap_itself(target.sizes(), target.strides()),
            Code::kValue, nullptr,
            "expected a tensor without overlapping elements to write to, got shape ",
            target.sizes(), " with strides ", target.strides(), "; write to a clone instead");
}

// A write through a view is a write to its base. It must be recorded if the base needs grad, even
// if the view itself does not (it was made in no_grad mode) and a constant is written.
bool writes_recorded_base(const Tensor& target) {
  if (!target.has(kViewFlag) || !grad_enabled()) return false;
  const TensorRecord& record = *record_of(target);
  return looks_into_base(target, record) && record.base.requires_grad();
}

// The graph made while the leaf still required grad owns it. A history of its own could lead into
// that graph, and the leaf would own itself.
void check_no_graph_owns(const Tensor& leaf) {
  TensorRecord* record = record_of(leaf);
  if (record == nullptr || record->grad_fn || !existing_accumulator(*record)) return;
  fail(Code::kAutograd, nullptr, __FILE__, __LINE__,
       "a leaf that required grad when a graph that still exists was recorded is being used in an "
       "in-place operation; write to a clone, or after that graph is gone");
}

void check_recorded_write(const Tensor& target) {
  TensorRecord* record = record_of(target);
  if (record == nullptr) return;
  if (looks_into_base(target, *record)) {
    check_view_kind(*record, "it is being written in place");
    refresh_view(target, *record);
    const TensorRecord* base = record_of(record->base);
    const bool of_leaf = base == nullptr || !base->grad_fn;
    const bool needs = refreshed_view_needs_grad(target, *record) || record->base.requires_grad();
    TSR_CHECK(!of_leaf || !needs, Code::kAutograd, nullptr,
              "a view of a leaf that requires grad, or did when the view was made, is being used "
              "in an in-place operation");
    check_no_graph_owns(record->base);
  }
  TSR_CHECK(
      !target.requires_grad() || record->grad_fn, Code::kAutograd, nullptr,
      "a leaf that requires grad is being used in an in-place operation; switch recording off "
      "(no_grad) to update a parameter, or write to a copy");
  check_no_graph_owns(target);
}

}  // namespace

void check_view_kind(const TensorRecord& record, const char* event) {
  if (record.view_kind == ViewKind::kNormal) return;
  const bool named = static_cast<bool>(record.grad_fn);
  fail(Code::kAutograd, nullptr, __FILE__, __LINE__,
       named ? concat("output ", record.output, " of ", record.grad_fn->name(), " is a view")
             : std::string("a view"),
       ", ", text_of(record.view_kind), ", and ", event,
       " with grad mode on; the gradient of such a write is ambiguous, so clone the view before "
       "the write, or make it in a way that autograd can follow");
}

namespace detail {

void track_view(const Tensor& view, const Tensor& source, ViewKind kind) {
  if (source.has(kInferenceFlag) || !is_differentiable(source.dtype())) return;
  const TensorRecord* source_record = source.has(kViewFlag) ? record_of(source) : nullptr;
  if (source_record != nullptr && !looks_into_base(source, *source_record)) source_record = nullptr;
  if (!grad_enabled()) kind = inference_enabled() ? ViewKind::kInference : ViewKind::kNoGrad;
  if (source_record != nullptr && source_record->view_kind != ViewKind::kNormal) {
    kind = source_record->view_kind;
  }
  TensorRecord& record = ensure_record(view);
  record.base = source_record != nullptr ? source_record->base : source;
  const TensorRecord* base_record = record_of(record.base);
  const uint32_t generation =
      base_record != nullptr ? base_record->generation.load(std::memory_order_relaxed) : 0;
  record.generation.store(generation, std::memory_order_relaxed);
  record.view_kind = kind;
  view.impl()->add_flags_alone(kViewFlag);
}

}  // namespace detail

namespace {

// The op would leave the tangent as it was.
void check_no_tangent(const Tensor& target) {
  TSR_CHECK(!has_tangent(target), Code::kAutograd, nullptr,
            "expected a tensor without tangent, because the write cannot be differentiated, got a "
            "dual tensor; write to its primal, or with forward mode off");
}

}  // namespace

void begin_inplace(const Tensor& target, bool recording) {
  check_writable(target);
  if ((recording && grad_enabled()) || writes_recorded_base(target)) check_recorded_write(target);
  if (!recording && forward_enabled()) [[unlikely]]
    check_no_tangent(target);
  target.bump_version();
}

namespace {

void check_out(const Tensor& out, bool recording) {
  const bool taken =
      recording || (grad_enabled() && detail::one_needs_grad(out)) || writes_recorded_base(out);
  if (!taken && !has_tangent(out)) return;
  TSR_CHECK(forward_enabled(), Code::kAutograd, "out",
            "expected tensors that do not require grad, because out= forms are not "
            "differentiable, got one that does");
  fail(Code::kAutograd, "out", __FILE__, __LINE__,
       "expected tensors that do not require grad and have no tangent, because out= forms are not "
       "differentiable, got one that does or has");
}

}  // namespace

void begin_out(const Tensor& out, bool recording) {
  check_writable(out);
  check_out(out, recording);
  out.bump_version();
}

void begin_replace(const Tensor& out, bool recording) {
  TSR_CHECK(!out.storage()->read_only, Code::kBuffer, nullptr,
            "expected memory that may be written, got a read-only tensor");
  check_inference(out);
  check_out(out, recording);
  TSR_CHECK(!detail::one_needs_grad(out), Code::kAutograd, "out",
            "expected a tensor of the result's shape, because one that requires grad keeps its "
            "own, got shape ",
            out.sizes());
}

void leave_base(const Tensor& tensor) {
  if (!tensor.has(kViewFlag)) return;
  TensorRecord& record = *record_of(tensor);
  record.base.reset();
  record.generation = 0;
  record.view_kind = ViewKind::kNormal;
  tensor.impl()->drop_flags(kViewFlag);
}

Tensor as_strided_view(const Tensor& source, DimsView sizes, DimsView strides, int64_t offset) {
  Tensor window = make_view(source, sizes, strides, offset);
  detail::track_view(window, source, ViewKind::kNormal);
  if (needs_history(source)) {
    set_history(window, make_strided_node(gradient_edge(source), Geometry(source), window), 0);
  }
  return window;
}

Tensor view_base(const Tensor& view) {
  if (!view.has(kViewFlag)) return {};
  const TensorRecord& record = *record_of(view);
  return looks_into_base(view, record) ? record.base : Tensor();
}

}  // namespace tsr
