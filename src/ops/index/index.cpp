// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/index/index.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "ops/index/index_launch.h"
#include "ops/index/mask.h"
#include "ops/reduce/sum_to.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

using kernel::IndexOp;

// Checked index arrays: int64, one slot for each axis of the array, and the position of their dims.
struct Ready {
  IndexList slots;       // undefined: the whole axis
  Dims joint;            // the shape that they broadcast to
  size_t place;          // dims of the result before the joint ones
  bool from_end = true;  // negative indices count from the end
};

size_t place_of(const IndexList& slots, bool front) {
  const auto defined = [](const Tensor& slot) { return slot.defined(); };
  const auto first = std::find_if(slots.begin(), slots.end(), defined);
  const auto gap = std::find_if_not(first, slots.end(), defined);
  const bool adjacent = std::none_of(gap, slots.end(), defined);
  return front || !adjacent ? 0 : static_cast<size_t>(first - slots.begin());
}

// The shape that index arrays broadcast to. Where there is none the index is wrong, as with a mask
// that does not match, so the error is kIndex.
Dims joint_shape(const Dims& joint, const Tensor& array) {
  try {
    return broadcast_shapes(joint, array.sizes(), "indices");
  } catch (const Error& error) {
    if (error.code() != Code::kShape) throw;
    throw_error(Code::kIndex, "indices", __FILE__, __LINE__,
                concat("index arrays: ", error.message()));
  }
}

Ready make_ready(const Tensor& input, const IndexArrays& indices) {
  TSR_CHECK(static_cast<int64_t>(indices.arrays.size()) <= input.ndim(), Code::kIndex, "indices",
            "expected at most ", input.ndim(), " indices for shape ", input.sizes(), ", got ",
            indices.arrays.size());
  Ready ready;
  int count = 0;
  for (const Tensor& array : indices.arrays) {
    ready.slots.push_back(array.defined() ? index_array(array, input.device(), "indices")
                                          : Tensor());
    if (!array.defined()) continue;
    ready.joint = joint_shape(ready.joint, array);
    ++count;
  }
  TSR_CHECK(count <= kernel::kMaxIndices, Code::kNotImplemented, "indices", "expected at most ",
            kernel::kMaxIndices, " index arrays, got ", count);
  ready.slots.resize(static_cast<size_t>(input.ndim()));
  ready.place = place_of(ready.slots, indices.front);
  return ready;
}

// The index array as a view with the shape of the walk; stride 0 along the dims that it lacks.
Tensor spread(const Tensor& index, const Ready& ready, const Dims& shape) {
  const Dims joint = broadcast_strides(index.sizes(), index.strides(), ready.joint, "indices");
  Dims strides(shape.size());
  std::copy(joint.begin(), joint.end(), strides.begin() + ready.place);
  return make_view(index, shape, strides, index.offset());
}

IndexWalk make_walk(const Tensor& array, const Ready& ready) {
  IndexWalk walk;
  walk.from_end = ready.from_end;
  const auto add_joint = [&] {
    for (const int64_t size : ready.joint) {
      walk.shape.push_back(size);
      walk.array_strides.push_back(0);
    }
  };
  size_t kept = 0;
  for (size_t d = 0; d < ready.slots.size(); ++d) {
    if (ready.slots[d].defined()) {
      walk.axes.push_back({static_cast<int64_t>(d), array.sizes()[d], array.strides()[d]});
      continue;
    }
    if (kept++ == ready.place) add_joint();
    walk.shape.push_back(array.sizes()[d]);
    walk.array_strides.push_back(array.strides()[d]);
  }
  if (kept <= ready.place) add_joint();
  TSR_CHECK(walk.shape.size() <= static_cast<size_t>(kMaxTensorRank), Code::kShape, "indices",
            "expected a result of at most ", kMaxTensorRank, " dimensions, got ",
            walk.shape.size());
  checked_numel(walk.shape, array.itemsize());
  for (const Tensor& slot : ready.slots) {
    if (slot.defined()) walk.indices.push_back(spread(slot, ready, walk.shape));
  }
  return walk;
}

// The index arrays of a node: saved tensors, and the axes that they index.
struct SavedIndices {
  uint64_t axes = 0;
  bool front = false;

  SavedIndices(const Ready& ready, bool in_front) : front(in_front) {
    for (size_t d = 0; d < ready.slots.size(); ++d) axes |= uint64_t{ready.slots[d].defined()} << d;
  }
  [[nodiscard]] IndexList restore(const Backward& ctx) const {
    IndexList slots;
    if (ctx.lead() == 1) slots.push_back(Tensor());
    size_t next = 0;
    for (uint64_t left = axes; left != 0; left >>= 1)
      slots.push_back((left & 1) != 0 ? ctx.saved(next++) : Tensor());
    return slots;
  }
};

// In a batched backward the axis of samples is one axis more that is kept whole. In what index_get
// returns it stands behind the joint dims where those come first.
Tensor samples_to(const Backward& ctx, const Tensor& tensor, const IndexArrays& indices,
                  bool back) {
  IndexList slots(indices.arrays.begin(), indices.arrays.end());
  if (ctx.lead() == 0 || place_of(slots, indices.front) != 0) return tensor;
  int64_t joint = 0;
  for (const Tensor& slot : slots) joint = std::max(joint, slot.defined() ? slot.ndim() : 0);
  return moveaxis(tensor, Dims{back ? joint : 0}, Dims{back ? 0 : joint});
}

SmallVector<Save, 6> saves_of(const Ready& ready) {
  SmallVector<Save, 6> saves;
  for (const Tensor& slot : ready.slots) {
    if (slot.defined()) saves.push_back(save_input(slot));
  }
  return saves;
}

// Zeros of shape `sizes` with g accumulated at the indices: the derivative of index_get. Its own
// derivative is index_get.
Tensor index_accumulate(const Tensor& g, const Dims& sizes, const IndexArrays& indices) {
  Tensor whole = zeros_like_shape(sizes, g.dtype(), g.device());
  const Ready ready = make_ready(whole, indices);
  launch_accumulate(whole, g, [&](const Tensor& array) { return make_walk(array, ready); });
  if (needs_grad(g)) {
    const SmallVector<Save, 6> saves = saves_of(ready);
    record(whole, "IndexBackwardBackward", {g}, std::span<const Save>(saves.data(), saves.size()),
           TakesBatches{[saved = SavedIndices(ready, indices.front)](Backward& ctx) {
             const IndexList slots = saved.restore(ctx);
             const IndexArrays same{{slots.data(), slots.size()}, saved.front};
             ctx.set(0, samples_to(ctx, index_get(ctx.grad(), same), same, true));
           }});
  }
  return whole;
}

// Zeros of (rows, ...) with g accumulated at the indices, except at the padding row.
Tensor embedding_backward(const Backward& ctx, const Dims& sizes, const Tensor& indices,
                          std::optional<int64_t> padding) {
  const Tensor& g = ctx.grad();
  const std::array<Tensor, 2> slots{Tensor(), indices};  // the first for the samples
  const IndexArrays arrays{std::span(slots).subspan(ctx.lead() == 1 ? 0 : 1)};
  const Tensor whole = index_accumulate(g, ctx.batched(sizes), arrays);
  if (!padding.has_value()) return whole;
  if (!needs_grad(whole)) {
    fill_memory(select_memory(whole, ctx.lead(), *padding), 0);
    return whole;
  }
  Tensor kept = zeros_like_shape({sizes.data(), 1}, DType::kBool, g.device());
  fill_memory(select_memory(kept, 0, *padding), true);
  return masked_fill(whole, expand_dims(kept, -1), 0);
}

// index_get without RECORD.
Tensor read_at(const Tensor& input, const Ready& ready, const Out& out, bool recording) {
  const IndexWalk walk = make_walk(input, ready);
  IndexList inputs = ready.slots;
  inputs.push_back(input);
  Result result = allocate_apart(out, walk.shape, input.dtype(), input.device(), recording,
                                 std::span<const Tensor>(inputs.data(), inputs.size()));
  launch_index(IndexOp::kGet, walk, input, result.value());
  return result.finish();
}

}  // namespace

namespace {

Tensor index_get_ready(const Tensor& input, const IndexArrays& indices, const Ready& ready,
                       const Out& out) {
  const bool grad = needs_grad(input);
  Tensor output = read_at(input, ready, out, grad);
  if (grad) {
    const SmallVector<Save, 6> saves = saves_of(ready);
    record(output, "IndexBackward", {input}, std::span<const Save>(saves.data(), saves.size()),
           TakesBatches{
               [sizes = input.sizes(), saved = SavedIndices(ready, indices.front)](Backward& ctx) {
                 const IndexList slots = saved.restore(ctx);
                 const IndexArrays same{{slots.data(), slots.size()}, saved.front};
                 const Tensor g = samples_to(ctx, ctx.grad(), same, false);
                 ctx.set(0, index_accumulate(g, ctx.batched(sizes), same));
               }},
           [&](Forward& ctx) { ctx.set(0, index_get_ready(ctx.tangent(), indices, ready, {})); });
  }
  return output;
}

}  // namespace

Tensor index_get(const Tensor& input, const IndexArrays& indices, Out out) {
  return index_get_ready(input, indices, make_ready(input, indices), out);
}

void index_put_(const Tensor& target, const IndexArrays& indices, const Tensor& values,
                bool accumulate) {
  check_same_device(target, values, "values");
  TSR_CHECK(!is_complex(values.dtype()) || is_complex(target.dtype()), Code::kDType, "values",
            "expected real values for a ", target.dtype(), " input, got ", values.dtype());
  Ready ready = make_ready(target, indices);
  // Copy index arrays that overlap the target: the write would change them while they are read.
  for (Tensor& slot : ready.slots) {
    if (slot.defined() && overlap_of(slot, target) != Overlap::kNone) slot = clone(slot.detached());
  }
  const IndexWalk walk = make_walk(target, ready);
  const Tensor source =
      drop_leading_ones(astype(values, target.dtype()), static_cast<int64_t>(walk.shape.size()));
  broadcast_strides(source.sizes(), source.strides(), walk.shape, "values");
  const bool grad = needs_grad(target, source);
  const SmallVector<Save, 6> saves = grad ? saves_of(ready) : SmallVector<Save, 6>();
  check_saves(std::span<const Save>(saves.data(), saves.size()));
  begin_inplace(target, grad);
  const bool shared = overlap_of(source, target) != Overlap::kNone;
  const Tensor read = shared ? clone(source.detached()) : source;
  if (accumulate) {
    launch_accumulate(target, read, [&](const Tensor& array) { return make_walk(array, ready); });
  } else {
    launch_index(IndexOp::kPut, walk, target, read);
  }
  if (!grad) return;
  record(target, "IndexPutBackward", {target, source},
         std::span<const Save>(saves.data(), saves.size()),
         TakesBatches{[accumulate, saved = SavedIndices(ready, indices.front)](Backward& ctx) {
           const IndexList slots = saved.restore(ctx);
           const IndexArrays same{{slots.data(), slots.size()}, saved.front};
           if (ctx.needs(1)) {
             ctx.set(1, samples_to(ctx, index_get(ctx.grad(), same), same, true));
           }
           if (!ctx.needs(0)) return;
           const Tensor kept = accumulate ? ctx.grad() : clone(ctx.grad());
           const Tensor none = zeros_like_shape({}, kept.dtype(), kept.device());
           if (!accumulate) index_put_(kept, same, none, false);
           ctx.set(0, kept);
         }},
         // The same write, so of several values in one place the same one remains.
         [&](Forward& ctx) {
           const Tensor pushed = clone(ctx.tangent_or_zeros(0, target));
           index_put_(pushed, indices, ctx.tangent_or_zeros(1, source), accumulate);
           ctx.set(0, pushed);
         });
}

Tensor take(const Tensor& input, const Tensor& indices, std::optional<int64_t> axis, Out out) {
  const int64_t dim = wrap_axis(axis.value_or(0), axis.has_value() ? input.ndim() : 1);
  if (input.ndim() == 0 || (!axis.has_value() && input.ndim() > 1))
    return take(reshape(input, Dims{-1}), indices, 0, out);
  IndexList slots(static_cast<size_t>(dim) + 1);
  slots.back() = indices;
  return index_get(input, {{slots.data(), slots.size()}}, out);
}

Tensor index_select(const Tensor& input, int64_t axis, const Tensor& index, Out out) {
  const bool scalar = input.ndim() == 0;
  const int64_t dim = wrap_axis(axis, input.ndim());
  TSR_CHECK(index.ndim() <= 1, Code::kShape, "index", "expected at most 1 dimension, got shape ",
            index.sizes());
  TSR_CHECK(!scalar || index.numel() == 1, Code::kShape, "index",
            "expected one position for a 0-dim input, got shape ", index.sizes());
  const Tensor source = scalar ? reshape(input, Dims{1}) : input;
  IndexList slots(static_cast<size_t>(dim) + 1);
  slots.back() = reshape(index_array(index, input.device(), "index"), Dims{-1});
  const IndexArrays indices{{slots.data(), slots.size()}};
  Ready ready = make_ready(source, indices);
  ready.from_end = false;
  if (!scalar) return index_get_ready(source, indices, ready, out);
  return deliver(reshape(index_get_ready(source, indices, ready, {}), {}), out, needs_grad(input));
}

Tensor embedding(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx,
                 Out out) {
  TSR_CHECK(weight.ndim() == 2, Code::kShape, "weight", "expected 2 dimensions, got shape ",
            weight.sizes());
  const int64_t rows = weight.size(0);
  const int64_t wanted = padding_idx.value_or(0);
  TSR_CHECK(!padding_idx.has_value() || (wanted >= -rows && wanted < rows), Code::kIndex,
            "padding_idx", "expected a row in [", -rows, ", ", rows - 1, "], got ", wanted);
  const Tensor indices = index_array(input, weight.device(), "input");
  const bool grad = needs_grad(weight);
  Ready ready = make_ready(weight, {{&indices, 1}});
  ready.from_end = false;
  Tensor output = read_at(weight, ready, out, grad);
  if (grad) {
    const std::optional<int64_t> padding =
        padding_idx.has_value() ? std::optional(wanted < 0 ? wanted + rows : wanted) : std::nullopt;
    record(output, "EmbeddingBackward", {weight}, {save_input(indices)},
           TakesBatches{[sizes = weight.sizes(), padding](Backward& ctx) {
             ctx.set(0, embedding_backward(ctx, sizes, ctx.saved(0), padding));
           }},
           [&](Forward& ctx) {
             Tensor table = ctx.tangent();
             if (padding.has_value()) {  // the row of the padding counts as constant
               table = clone(table);
               zero_(select(table, 0, *padding));
             }
             ctx.set(0, embedding(input, table, padding_idx));
           });
  }
  return output;
}

}  // namespace tsr::ops
