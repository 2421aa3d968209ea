// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/index/getitem.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "base/error.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "ops/index/index.h"
#include "ops/index/mask.h"
#include "ops/nn/window.h"
#include "ops/shape/shape.h"
#include "ops/shape/slice.h"

namespace tsr::ops {
namespace {

constexpr int64_t kAbsent = std::numeric_limits<int64_t>::min();
constexpr size_t kItemSize = 4;

struct Item {
  IndexKind kind;
  int64_t start, stop, step;
};

Item item_at(IndexItems items, size_t i) {
  const int64_t* numbers = &items[i * kItemSize];
  return {static_cast<IndexKind>(numbers[0]), numbers[1], numbers[2], numbers[3]};
}

std::optional<int64_t> optional(int64_t value) {
  return value == kAbsent ? std::nullopt : std::optional(value);
}

int64_t axes_taken(const Tensor& array) {
  return array.dtype() == DType::kBool ? array.ndim() : 1;
}

// An index array and the first axis of the window (the view) that it indexes.
struct Placed {
  Tensor array;
  size_t axis;
};

// Splits an index into its basic part, a view of the input, and the arrays that then index the
// view.
class Parse {
 public:
  Parse(const Tensor& input, IndexItems items, std::span<const Tensor> arrays, const char* arg);

  // A view. The input itself if the view would show all of it and `fresh` is false.
  [[nodiscard]] Tensor window(bool fresh) const;
  [[nodiscard]] const std::vector<Placed>& placed() const { return placed_; }
  [[nodiscard]] bool front() const { return front_; }

 private:
  void count_axes(IndexItems items, std::span<const Tensor> arrays);
  void add_integer(int64_t index);
  void add_slice(const Item& item);
  void add_new_axis();
  void add_whole(int64_t count);
  void add_array(const Tensor& array);
  void track_order(bool advanced);
  void note(IndexKind kind, const Item& item = {IndexKind::kSlice, kAbsent, kAbsent, kAbsent});

  const Tensor& input_;
  const char* arg_;
  Dims sizes_;
  Dims strides_;
  int64_t offset_;
  int64_t left_over_ = 0;  // axes that no item takes
  size_t axis_ = 0;        // next axis of the input
  std::vector<Placed> placed_;
  std::vector<int64_t> basic_;  // the items of the basic part
  bool has_arrays_ = false;
  bool seen_ = false;  // found an array, or an integer in an index with arrays
  bool gap_ = false;   // found another item after it
  bool front_ = false;
};

Parse::Parse(const Tensor& input, IndexItems items, std::span<const Tensor> arrays, const char* arg)
    : input_(input), arg_(arg), offset_(input.offset()), has_arrays_(!arrays.empty()) {
  count_axes(items, arrays);
  size_t next = 0;
  bool ellipsis = false;
  for (size_t i = 0; i < items.size() / kItemSize; ++i) {
    const Item item = item_at(items, i);
    track_order(has_arrays_ &&
                (item.kind == IndexKind::kInteger || item.kind == IndexKind::kArray));
    switch (item.kind) {
      case IndexKind::kInteger:
        add_integer(item.start);
        break;
      case IndexKind::kSlice:
        add_slice(item);
        break;
      case IndexKind::kNewAxis:
        add_new_axis();
        break;
      case IndexKind::kEllipsis:
        ellipsis = true;
        add_whole(left_over_);
        break;
      case IndexKind::kArray:
        add_array(arrays[next++]);
        break;
    }
  }
  if (!ellipsis) add_whole(left_over_);
  TSR_CHECK(sizes_.size() <= static_cast<size_t>(kMaxTensorRank), Code::kShape, arg_,
            "expected a result of at most ", kMaxTensorRank, " dimensions, got ", sizes_.size());
}

void Parse::count_axes(IndexItems items, std::span<const Tensor> arrays) {
  TSR_CHECK(items.size() % kItemSize == 0, Code::kValue, arg_,
            "expected four numbers for each item, got ", items.size());
  int64_t taken = 0;
  size_t used = 0;
  int ellipses = 0;
  for (size_t i = 0; i < items.size() / kItemSize; ++i) {
    const int64_t kind = items[i * kItemSize];
    TSR_CHECK(kind >= 0 && kind <= static_cast<int64_t>(IndexKind::kArray), Code::kValue, arg_,
              "expected a kind of index item, got ", kind);
    const IndexKind known = item_at(items, i).kind;
    if (known == IndexKind::kInteger || known == IndexKind::kSlice) ++taken;
    if (known == IndexKind::kEllipsis) ++ellipses;
    if (known != IndexKind::kArray) continue;
    TSR_CHECK(used < arrays.size() && arrays[used].defined(), Code::kValue, arg_,
              "expected an array for every array item, got ", arrays.size());
    taken += axes_taken(arrays[used++]);
  }
  TSR_CHECK(used == arrays.size(), Code::kValue, arg_, "expected an item for each of ",
            arrays.size(), " arrays, got ", used);
  TSR_CHECK(ellipses <= 1, Code::kIndex, arg_, "expected at most one ellipsis, got ", ellipses);
  left_over_ = input_.ndim() - taken;
  TSR_CHECK(left_over_ >= 0, Code::kIndex, arg_, "expected at most ", input_.ndim(),
            " indices for shape ", input_.sizes(), ", got ", taken);
}

void Parse::track_order(bool advanced) {
  if (!advanced) {
    gap_ = gap_ || seen_;
    return;
  }
  front_ = front_ || gap_;
  seen_ = true;
}

void Parse::note(IndexKind kind, const Item& item) {
  basic_.insert(basic_.end(), {static_cast<int64_t>(kind), item.start, item.stop, item.step});
}

void Parse::add_integer(int64_t index) {
  const int64_t size = input_.sizes()[axis_];
  TSR_CHECK(index >= -size && index < size, Code::kIndex, arg_, "expected an index in [", -size,
            ", ", size - 1, "] for axis ", axis_, " of shape ", input_.sizes(), ", got ", index);
  offset_ += (index < 0 ? index + size : index) * input_.strides()[axis_];
  note(IndexKind::kInteger, {IndexKind::kInteger, index, kAbsent, kAbsent});
  ++axis_;
}

void Parse::add_slice(const Item& item) {
  const int64_t step = item.step == kAbsent ? 1 : item.step;
  TSR_CHECK(step != 0, Code::kValue, arg_, "expected a slice step other than 0, got 0");
  const SliceRange range =
      clip_slice(optional(item.start), optional(item.stop), step, input_.sizes()[axis_]);
  const int64_t stride = input_.strides()[axis_];
  if (range.count > 0) offset_ += range.start * stride;
  sizes_.push_back(range.count);
  strides_.push_back(range.count > 1 ? stride * step : stride);
  note(IndexKind::kSlice, item);
  ++axis_;
}

void Parse::add_new_axis() {
  sizes_.push_back(1);
  strides_.push_back(1);
  note(IndexKind::kNewAxis);
}

void Parse::add_whole(int64_t count) {
  for (; count > 0; --count) {
    sizes_.push_back(input_.sizes()[axis_]);
    strides_.push_back(input_.strides()[axis_]);
    note(IndexKind::kSlice);
    ++axis_;
  }
}

void Parse::add_array(const Tensor& array) {
  placed_.push_back({array, sizes_.size()});
  if (axes_taken(array) == 0) return add_new_axis();
  for (int64_t d = 0; d < axes_taken(array); ++d) {
    const int64_t size = input_.sizes()[axis_];
    // An axis of size 0 selects nothing, as the Array API standard says.
    TSR_CHECK(array.dtype() != DType::kBool || array.size(d) == size || array.size(d) == 0,
              Code::kIndex, arg_, "expected a mask that matches shape ", input_.sizes(),
              " from axis ", axis_ - static_cast<size_t>(d), ", got shape ", array.sizes());
    add_whole(1);
  }
}

Tensor Parse::window(bool fresh) const {
  if (!fresh && sizes_ == input_.sizes() && strides_ == input_.strides() &&
      offset_ == input_.offset()) {
    return input_;
  }
  Tensor view = make_view(input_, sizes_, strides_, offset_);
  record_window(view, input_, "GetitemBackward", "GetitemBackwardBackward",
                [items = basic_, rank = input_.ndim()](const Tensor& t) {
                  if (t.ndim() == rank) return getitem_basic(t, items);
                  auto behind = items;
                  constexpr auto kWhole = static_cast<int64_t>(IndexKind::kSlice);
                  behind.insert(behind.begin(), {kWhole, kAbsent, kAbsent, kAbsent});
                  return getitem_basic(t, behind);
                });
  return view;
}

// The arguments of index_get and index_put_: a view and one array for each axis.
struct Selection {
  Tensor view;
  std::vector<Tensor> slots;
  bool front;

  [[nodiscard]] IndexArrays arrays() const { return {slots, front}; }
};

// Merges the axes of a mask into one if the strides allow it: one index array instead of many.
bool merge_axes(Tensor& view, size_t axis, size_t count) {
  Dims shape = view.sizes();
  for (size_t k = 1; k < count; ++k) {
    shape[axis] *= shape[axis + 1];
    shape.erase(axis + 1);
  }
  if (!view_strides(view.sizes(), view.strides(), shape).has_value()) return false;
  view = reshape(view, shape);
  return true;
}

// The positions that a mask selects: one array for each axis that it indexes.
std::vector<Tensor> mask_positions(const Tensor& mask) {
  const Tensor positions = nonzero_memory(mask);
  if (mask.ndim() == 0) return {zeros(Dims{positions.size(1)}, DType::kInt64, positions.device())};
  std::vector<Tensor> columns;
  for (int64_t d = 0; d < mask.ndim(); ++d) columns.push_back(select_memory(positions, 0, d));
  return columns;
}

Selection select_arrays(const Parse& parse) {
  Selection selection{parse.window(false), {}, parse.front()};
  const auto& placed = parse.placed();
  std::vector<std::vector<Tensor>> columns(placed.size());
  std::vector<size_t> axes(placed.size());
  // Backwards, so that merging does not move an axis that is still to be handled.
  for (size_t i = placed.size(); i-- > 0;) {
    const Tensor& array = placed[i].array;
    columns[i] = {array};
    axes[i] = placed[i].axis;
    if (array.dtype() != DType::kBool) continue;
    const bool merged = array.ndim() > 1 && merge_axes(selection.view, placed[i].axis,
                                                       static_cast<size_t>(array.ndim()));
    columns[i] = mask_positions(merged ? reshape(array, Dims{-1}) : array);
    if (!merged) continue;
    for (size_t k = i + 1; k < placed.size(); ++k) axes[k] -= static_cast<size_t>(array.ndim()) - 1;
  }
  selection.slots.resize(static_cast<size_t>(selection.view.ndim()));
  for (size_t i = 0; i < placed.size(); ++i) {
    for (size_t k = 0; k < columns[i].size(); ++k) selection.slots[axes[i] + k] = columns[i][k];
  }
  return selection;
}

// The items for one array per leading axis, and the defined arrays.
struct LeadingArrays {
  std::vector<int64_t> items;
  std::vector<Tensor> arrays;

  explicit LeadingArrays(std::span<const Tensor> indices) {
    for (const Tensor& index : indices) {
      const IndexKind kind = index.defined() ? IndexKind::kArray : IndexKind::kSlice;
      items.insert(items.end(), {static_cast<int64_t>(kind), kAbsent, kAbsent, kAbsent});
      if (index.defined()) arrays.push_back(index);
    }
  }
};

// Fast path for one mask and one value: needs no positions.
bool fill_masked(const Tensor& input, const Parse& parse, const Arg& value) {
  const auto& placed = parse.placed();
  if (placed.size() != 1 || placed[0].array.dtype() != DType::kBool) return false;
  if (placed[0].array.numel() == 0) return false;  // its shape may differ from the view's
  if (value.is_tensor() && value.tensor().ndim() != 0) return false;
  const Category kind =
      value.is_tensor() ? category(value.tensor().dtype()) : value.scalar().category();
  if (kind > category(input.dtype())) return false;
  const Tensor view = parse.window(false);
  const Tensor& mask = placed[0].array;
  Dims shape = mask.sizes();
  if (shape.empty()) shape.push_back(1);
  shape.resize(static_cast<size_t>(view.ndim()) - placed[0].axis, 1);
  masked_fill(view, reshape(mask, shape), value, Out::inplace(view));
  return true;
}

Tensor as_tensor(const Arg& value, const Tensor& like) {
  if (value.is_tensor()) return value.tensor();
  TSR_CHECK(value.scalar().category() != Category::kComplex || is_complex(like.dtype()),
            Code::kDType, "value", "expected a real number for a ", like.dtype(), " input, got ",
            value.scalar());
  return full({}, value.scalar(), like.dtype(), like.device());
}

void put(const Tensor& input, std::span<const Tensor> indices, const Tensor& values,
         bool accumulate) {
  const LeadingArrays leading(indices);
  const Parse parse(input, leading.items, leading.arrays, "indices");
  const Selection selection = select_arrays(parse);
  index_put_(selection.view, selection.arrays(), values, accumulate);
}

}  // namespace

Tensor getitem_basic(const Tensor& input, IndexItems items) {
  return Parse(input, items, {}, "items").window(true);
}

Tensor getitem(const Tensor& input, IndexItems items, std::span<const Tensor> arrays) {
  if (arrays.empty()) return getitem_basic(input, items);
  const Selection selection = select_arrays(Parse(input, items, arrays, "items"));
  return index_get(selection.view, selection.arrays());
}

Tensor getitem_boolean(const Tensor& input, const Tensor& mask, Out out) {
  TSR_CHECK(mask.dtype() == DType::kBool, Code::kDType, "mask", "expected a bool tensor, got ",
            mask.dtype());
  const LeadingArrays leading({&mask, 1});
  const Selection selection = select_arrays(Parse(input, leading.items, leading.arrays, "mask"));
  return index_get(selection.view, selection.arrays(), out);
}

Tensor getitem_integer(const Tensor& input, std::span<const Tensor> indices, Out out) {
  const LeadingArrays leading(indices);
  const Selection selection = select_arrays(Parse(input, leading.items, leading.arrays, "indices"));
  return index_get(selection.view, selection.arrays(), out);
}

void setitem(const Tensor& input, IndexItems items, std::span<const Tensor> arrays,
             const Arg& value) {
  const Parse parse(input, items, arrays, "items");
  if (!arrays.empty()) {
    if (fill_masked(input, parse, value)) return;
    const Selection selection = select_arrays(parse);
    index_put_(selection.view, selection.arrays(), as_tensor(value, input), false);
    return;
  }
  const Tensor view = parse.window(false);
  if (value.is_tensor()) {
    copy_(view, drop_leading_ones(value.tensor(), view.ndim()));
  } else {
    fill_(view, value.scalar());
  }
}

Tensor index_put(const Tensor& input, std::span<const Tensor> indices, const Tensor& values,
                 bool accumulate, Out out) {
  if (out.is_inplace()) {
    put(input, indices, values, accumulate);
    return input;
  }
  const bool recording = needs_grad(input, values);
  const Tensor result = clone(input);
  put(result, indices, values, accumulate);
  return deliver(result, out, recording);
}

}  // namespace tsr::ops
