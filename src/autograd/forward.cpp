// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/forward.h"

#include <array>
#include <mutex>
#include <utility>

#include "autograd/gradient_ops.h"
#include "autograd/ownership.h"
#include "autograd/tensor_grad.h"
#include "autograd/tensor_record.h"
#include "autograd/view.h"
#include "base/error.h"
#include "base/thread_exit.h"
#include "memory/small_alloc.h"

namespace tsr {

// Note [Cells without the lock]
// A level belongs to the thread that opened it, and only this thread changes the level's list of
// cells. So it needs no lock for the common case: a tensor whose one cell, of a level of this
// thread, stands in the block of its record. Another thread that ends a tensor with such a cell
// leaves cell and block to the level's thread: as an orphan, under the lock.

// The tangent of one tensor at one level. In two lists: of its tensor (the record's `cells`), which
// needs the lock, and of its level.
struct DualCell {
  DualCell* next = nullptr;  // of the tensor; of an orphan: in the level's list of them
  DualCell* later = nullptr;
  DualCell* earlier = nullptr;                // of the level; null in its first cell
  std::atomic<ForwardLevel*> level{nullptr};  // null in a cell inside a record that is not in use
  TensorImpl* owner = nullptr;                // null: the tensor has ended
  Tensor tangent;
  bool inside = false;     // in the block of its record, in whose list it always stays
  bool is_orphan = false;  // the level's thread frees it
};

struct ForwardLevel {
  int64_t id;
  ForwardLevel* outer;
  uint32_t depth;
  ForwardLevel* below;  // the last one that the thread has opened before, also if ops do not see it
  DualCell* cells = nullptr;
  std::atomic<DualCell*> orphans{nullptr};
};

namespace {

std::atomic<int64_t> g_next_level{1};
// Guards the tensors' lists of cells: a tensor may end on any thread, also while its level ends.
constinit SpinLock g_cells;
// The level that this thread has opened last.
constinit thread_local ForwardLevel* t_opened = nullptr;

bool is_of_this_thread(const ForwardLevel* level) noexcept {
  const ForwardLevel* each = t_opened;
  while (each != nullptr && each != level) each = each->below;
  return each != nullptr;
}

TensorRecord* record_of(TensorImpl* impl) noexcept {
  return static_cast<TensorRecord*>(impl->autograd);
}

DualCell* new_cell(void* block, const Tensor& owner, ForwardLevel& level) noexcept {
  auto* cell = ::new (block) DualCell;
  cell->level.store(&level, std::memory_order_relaxed);
  cell->owner = owner.impl();
  return cell;
}
void free_cell(DualCell* cell) noexcept {
  std::destroy_at(cell);
  small_free(cell, sizeof(DualCell));
}

// Most tensors with a tangent have no other autograd state: their record and cell share a block.
constexpr size_t kWideSize = sizeof(TensorRecord) + sizeof(DualCell);
static_assert(sizeof(TensorRecord) % alignof(DualCell) == 0);

DualCell* inside_cell(const TensorRecord* record) noexcept {
  auto* block = reinterpret_cast<std::byte*>(const_cast<TensorRecord*>(record));
  return reinterpret_cast<DualCell*>(block + sizeof(TensorRecord));
}
// The cell in the record's block, if the tensor has no other; else null.
DualCell* only_cell(const TensorRecord* record) noexcept {
  DualCell* first = record->cells.load(std::memory_order_acquire);
  return record->wide && first == inside_cell(record) ? first : nullptr;
}
// Frees it, and the block that it is in, of which nothing else is left.
void free_with_block(DualCell* cell) noexcept {
  if (!cell->inside) return free_cell(cell);
  std::destroy_at(cell);
  small_free(reinterpret_cast<std::byte*>(cell) - sizeof(TensorRecord), kWideSize);
}

// Of the level's thread.
void leave_level(DualCell& cell) noexcept {
  ForwardLevel& level = *cell.level.load(std::memory_order_relaxed);
  (cell.earlier == nullptr ? level.cells : cell.earlier->later) = cell.later;
  if (cell.later != nullptr) cell.later->earlier = cell.earlier;
}
void join_level(DualCell& cell, ForwardLevel& level) noexcept {
  cell.earlier = nullptr;
  cell.later = level.cells;
  if (cell.later != nullptr) cell.later->earlier = &cell;
  level.cells = &cell;
}

// The next four need the lock.
DualCell* find_cell(const TensorRecord* record, const ForwardLevel& level) noexcept {
  DualCell* cell = record == nullptr ? nullptr : record->cells.load(std::memory_order_relaxed);
  while (cell != nullptr && cell->level.load(std::memory_order_relaxed) != &level)
    cell = cell->next;
  return cell;
}
void make_orphan(DualCell& cell, ForwardLevel& level) noexcept {
  cell.is_orphan = true;
  cell.next = level.orphans.load(std::memory_order_relaxed);
  level.orphans.store(&cell, std::memory_order_relaxed);
}
// With an empty list the tensor may end on another thread without the lock, so storing the head of
// the list comes last: after it nothing of the tensor is touched.
void leave_tensor(DualCell& cell) noexcept {
  std::atomic<DualCell*>& cells = record_of(cell.owner)->cells;
  cell.level.store(nullptr, std::memory_order_relaxed);
  DualCell* first = cells.load(std::memory_order_relaxed);
  if (!cell.inside && first == &cell) {
    first = cell.next;
  } else if (!cell.inside) {
    DualCell* before = first;
    while (before->next != &cell) before = before->next;
    before->next = cell.next;
  }
  const DualCell* used = first;
  while (used != nullptr && used->level.load(std::memory_order_relaxed) == nullptr)
    used = used->next;
  if (used == nullptr) cell.owner->drop_flags(kDualFlag);
  cells.store(first, std::memory_order_release);
}
// Takes the cell out of both lists and frees it. The tangent goes after the lock.
[[nodiscard]] Tensor take_tangent(DualCell& cell) noexcept {
  leave_level(cell);
  leave_tensor(cell);
  Tensor tangent = std::move(cell.tangent);
  if (!cell.inside) free_cell(&cell);
  return tangent;
}

void clear_level(ForwardLevel& level) noexcept {
  for (;;) {
    Tensor last;
    const std::lock_guard guard(g_cells);
    DualCell* cell = level.cells;
    if (cell == nullptr) return;
    if (cell->owner != nullptr) {
      last = take_tangent(*cell);
      continue;
    }
    leave_level(*cell);
    // Of one that is no orphan yet, free_block has still to come.
    const bool is_orphan = cell->is_orphan;
    cell->level.store(nullptr, std::memory_order_release);
    if (is_orphan) free_with_block(cell);
  }
}

void free_orphans(ForwardLevel& level) noexcept {
  if (level.orphans.load(std::memory_order_relaxed) == nullptr) [[likely]]
    return;
  const std::lock_guard guard(g_cells);
  DualCell* cell = level.orphans.exchange(nullptr, std::memory_order_relaxed);
  while (cell != nullptr) {
    DualCell* next = cell->next;
    leave_level(*cell);
    free_with_block(cell);
    cell = next;
  }
}

void leave_all_levels() noexcept {
  while (t_forward_mode.level != nullptr) {
    ForwardLevel* level = t_forward_mode.level;
    t_forward_mode.level = level->outer;
    update_record_mask();  // what runs later at the end of the thread sees no level
    clear_level(*level);
    t_opened = level->below;
    delete level;
  }
}

ForwardLevel& level_arg(int64_t id) {
  ForwardLevel* level = t_forward_mode.level;
  TSR_CHECK(level != nullptr, Code::kAutograd, "level",
            "expected an open level of forward mode, got none; enter one first");
  if (id == kInnermostLevel) return *level;
  level = find_level(id);
  TSR_CHECK(level != nullptr, Code::kAutograd, "level",
            "expected a level of forward mode that is open on this thread, got ", id);
  return *level;
}

// ---- cells of tensors that are no views ----

Tensor stored_tangent(const Tensor& tensor, const ForwardLevel& level) {
  const TensorRecord* record = tsr::record_of(tensor);
  if (record == nullptr || record->cells.load(std::memory_order_relaxed) == nullptr) return {};
  if (const DualCell* only = only_cell(record); only != nullptr) [[likely]]
    return only->level.load(std::memory_order_relaxed) == &level ? only->tangent : Tensor();
  const std::lock_guard guard(g_cells);
  const DualCell* cell = find_cell(record, level);
  return cell == nullptr ? Tensor() : cell->tangent;
}

void remove_cell(const Tensor& tensor, const ForwardLevel& level) noexcept {
  Tensor last;
  const std::lock_guard guard(g_cells);
  DualCell* cell = find_cell(tsr::record_of(tensor), level);
  if (cell != nullptr) last = take_tangent(*cell);
}

void store_first(const Tensor& tensor, ForwardLevel& level, Tensor tangent) {
  auto* block = static_cast<std::byte*>(small_allocate(kWideSize));
  auto* record = ::new (block) TensorRecord;
  DualCell* cell = new_cell(block + sizeof(TensorRecord), tensor, level);
  cell->inside = true;
  cell->tangent = std::move(tangent);
  record->wide = true;
  record->cells.store(cell, std::memory_order_relaxed);
  tensor.impl()->autograd = record;
  tensor.impl()->add_flags_alone(kDualFlag);
  join_level(*cell, level);
}

void store_tangent(const Tensor& tensor, ForwardLevel& level, Tensor tangent) {
  if (!tangent.defined()) return remove_cell(tensor, level);
  free_orphans(level);
  TensorRecord* record = tsr::record_of(tensor);
  if (record == nullptr) return store_first(tensor, level, std::move(tangent));
  DualCell* fresh = new_cell(small_allocate(sizeof(DualCell)), tensor, level);
  std::unique_lock guard(g_cells);
  if (DualCell* cell = find_cell(record, level)) {
    std::swap(cell->tangent, tangent);
    guard.unlock();  // the old tangent goes after the lock
    free_cell(fresh);
    return;
  }
  fresh->tangent = std::move(tangent);
  fresh->next = record->cells.load(std::memory_order_relaxed);
  record->cells.store(fresh, std::memory_order_relaxed);
  tensor.impl()->add_flags(kDualFlag);
  join_level(*fresh, level);
}

// ---- tangents with the layout of their tensor ----

bool same_layout(const Tensor& a, const Tensor& b) noexcept {
  for (int64_t d = 0; d < b.ndim(); ++d) {
    if (b.size(d) > 1 && a.stride(d) != b.stride(d)) return false;
  }
  return true;
}

// Zeros with the layout of `like`, in memory of its own that covers its extent.
Tensor zeros_laid_out(const Tensor& like) {
  const Extent extent = extent_of(like.sizes(), like.strides());
  const Tensor flat =
      gradient_ops().zeros(std::array{extent.high - extent.low}, like.dtype(), like.device());
  return as_strided_view(flat, like.sizes(), like.strides(), -extent.low);
}

Tensor laid_out(const Tensor& tangent, const Tensor& like) {
  TSR_CHECK(!may_overlap_itself(like.sizes(), like.strides()), Code::kNotImplemented, nullptr,
            "the tangent of a view of a dual tensor with overlapping elements is not implemented; "
            "clone the primal first");
  const Tensor copy = zeros_laid_out(like);
  gradient_ops().copy_into(copy, tangent);
  return copy;
}

// The part of the tangent of `base`, which has its layout, that belongs to `view`.
Tensor part_of(const Tensor& tangent, const Tensor& base, const Tensor& view) {
  if (!is_differentiable(view.dtype())) return {};
  const bool halves = is_complex(base.dtype()) && !is_complex(view.dtype());
  const bool pairs = !is_complex(base.dtype()) && is_complex(view.dtype());
  const DType related = halves ? real_dtype(base.dtype()) : base.dtype();
  if ((pairs ? real_dtype(view.dtype()) : view.dtype()) != related) return {};
  const int64_t shift = tangent.offset() - base.offset();
  if (halves) {
    const Tensor parts = gradient_ops().as_real(tangent);
    return as_strided_view(parts, view.sizes(), view.strides(), view.offset() + 2 * shift);
  }
  if (!pairs) return as_strided_view(tangent, view.sizes(), view.strides(), view.offset() + shift);
  Dims sizes = view.sizes();
  Dims strides = view.strides();
  for (int64_t& stride : strides) stride *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  return gradient_ops().as_complex(
      as_strided_view(tangent, sizes, strides, 2 * view.offset() + shift));
}

void check_inside(const Tensor& base, const Tensor& view) {
  const int64_t from = base.itemsize();
  const int64_t to = view.itemsize();
  const Extent whole = extent_of(base.sizes(), base.strides());
  const Extent part = extent_of(view.sizes(), view.strides());
  TSR_CHECK(view.numel() == 0 ||
                ((base.offset() + whole.low) * from <= (view.offset() + part.low) * to &&
                 (view.offset() + part.high) * to <= (base.offset() + whole.high) * from),
            Code::kAutograd, nullptr,
            "expected a view inside the memory of the dual tensor that it is a view of");
}

// The tensor that owns the cell: the base of a view.
const Tensor* base_of(const Tensor& tensor) noexcept {
  if (!tensor.has(kViewFlag)) return nullptr;
  const TensorRecord& record = *tsr::record_of(tensor);
  return looks_into_base(tensor, record) ? &record.base : nullptr;
}

void write_part(const Tensor& base, const Tensor& view, ForwardLevel& level, const Tensor& part) {
  check_inside(base, view);
  Tensor whole = stored_tangent(base, level);
  if (!whole.defined()) {
    if (!part.defined()) return;
    whole = zeros_laid_out(base);
  } else {
    remove_cell(base, level);
    if (!same_layout(whole, base) || !owns_alone(whole)) whole = laid_out(whole, base);
  }
  const Tensor place = part_of(whole, base, view);
  gradient_ops().copy_into(
      place,
      part.defined() ? part : gradient_ops().zeros(view.sizes(), view.dtype(), view.device()));
  store_tangent(base, level, std::move(whole));
}

// The same memory and history; a derivative of it is the derivative of the tensor.
Tensor alias_of(const Tensor& tensor) {
  Tensor alias = tensor.detached();
  if (!needs_history(tensor)) return alias;
  const auto pass = [](Backward& ctx) { ctx.set(0, ctx.take_grad()); };
  const NodePtr node = NodePtr::adopt(new LambdaNode<decltype(pass)>("AliasBackward", pass));
  node->add_edge(gradient_edge(tensor));
  node->add_output(alias, true);
  set_history(alias, node, 0);
  return alias;
}

void check_tangent(const Tensor& primal, const Tensor& tangent, const ForwardLevel& level) {
  TSR_CHECK(is_differentiable(primal.dtype()), Code::kDType, "primal",
            "expected a floating or complex dtype, because only those have tangents, got ",
            primal.dtype());
  TSR_CHECK(tangent.dtype() == primal.dtype(), Code::kDType, "tangent",
            "expected a tangent of the primal's type ", primal.dtype(), ", got ", tangent.dtype());
  TSR_CHECK(tangent.device() == primal.device(), Code::kDevice, "tangent",
            "expected a tangent on the primal's device ", primal.device(), ", got one on ",
            tangent.device());
  TSR_CHECK(tangent.sizes() == primal.sizes(), Code::kShape, "tangent",
            "expected a tangent of the primal's shape ", primal.sizes(), ", got ", tangent.sizes());
  TSR_CHECK(!inference_enabled(), Code::kAutograd, nullptr,
            "expected a call outside inference mode, which computes no tangents");
  TSR_CHECK(!tangent_of(primal, level).defined(), Code::kAutograd, "primal",
            "expected a tensor without tangent at level ", level.id,
            ", got one that has a tangent there already");
  for (const ForwardLevel* inner = t_forward_mode.level;; inner = inner->outer) {
    TSR_CHECK(!tangent_of(tangent, *inner).defined(), Code::kAutograd, "tangent",
              "expected a tensor without tangent at level ", level.id,
              " or inside it, got one that has a tangent at level ", inner->id);
    if (inner == &level) break;
  }
}

}  // namespace

int64_t enter_forward_level() {
  TSR_CHECK(at_thread_exit(ThreadPart::kForwardLevels, leave_all_levels), Code::kOutOfMemory,
            nullptr, "the system has no memory to close the level when the thread ends");
  ForwardMode& mode = t_forward_mode;
  mode.level = new ForwardLevel{g_next_level.fetch_add(1, std::memory_order_relaxed), mode.level,
                                mode.depth, t_opened};
  t_opened = mode.level;
  update_record_mask();
  return mode.level->id;
}

void exit_forward_level(int64_t id) {
  ForwardLevel& level = level_arg(id);
  TSR_CHECK(&level == t_forward_mode.level && level.depth == t_forward_mode.depth, Code::kAutograd,
            "level", "expected the innermost level of forward mode, got ", level.id,
            ", which is not; levels are left in the reverse order");
  t_forward_mode.level = level.outer;
  update_record_mask();
  clear_level(level);
  t_opened = level.below;
  delete &level;
}

int64_t current_forward_level() noexcept {
  return forward_enabled() ? t_forward_mode.level->id : kInnermostLevel;
}

Tensor make_dual(const Tensor& primal, const Tensor& tangent, int64_t id) {
  ForwardLevel& level = level_arg(id);
  check_tangent(primal, tangent, level);
  const bool overlaps = may_overlap_itself(primal.sizes(), primal.strides());
  Tensor dual = overlaps ? gradient_ops().clone(primal) : alias_of(primal);
  if (!overlaps) copy_tangents(primal, dual);
  store_tangent(dual, level, tangent);
  return dual;
}

Unpacked unpack_dual(const Tensor& dual, int64_t id) {
  ForwardLevel& level = level_arg(id);
  Tensor tangent = tangent_of(dual, level);
  if (!tangent.defined()) return {dual, tangent};
  Tensor primal = alias_of(dual);
  copy_tangents(dual, primal);
  remove_cell(primal, level);
  return {std::move(primal), std::move(tangent)};
}

BelowLevel::BelowLevel(const ForwardLevel& level, bool plain) noexcept
    : before_(t_forward_mode.level), record_(t_grad_mode.record) {
  t_forward_mode.level = level.outer;
  ++t_forward_mode.depth;
  if (plain) t_grad_mode.record = false;
  update_record_mask();
}

BelowLevel::~BelowLevel() {
  t_forward_mode.level = before_;
  --t_forward_mode.depth;
  t_grad_mode.record = record_;
  update_record_mask();
}

ForwardLevel* outer_level(const ForwardLevel& level) noexcept {
  return level.outer;
}

int64_t number_of(const ForwardLevel& level) noexcept {
  return level.id;
}

ForwardLevel* find_level(int64_t number) noexcept {
  ForwardLevel* level = t_forward_mode.level;
  while (level != nullptr && level->id != number) level = level->outer;
  return level;
}

Tensor tangent_of(const Tensor& tensor, const ForwardLevel& level) {
  if (!tensor.defined()) return {};
  const Tensor* base = base_of(tensor);
  if (base == nullptr) return tensor.has(kDualFlag) ? stored_tangent(tensor, level) : Tensor();
  if (!base->has(kDualFlag)) return {};
  Tensor whole = stored_tangent(*base, level);
  if (!whole.defined()) return {};
  const BelowLevel below(level);
  check_inside(*base, tensor);
  if (!same_layout(whole, *base)) {
    whole = laid_out(whole, *base);
    store_tangent(*base, const_cast<ForwardLevel&>(level), whole);
  }
  return part_of(whole, *base, tensor);
}

TensorImpl* lent_tangent(const Tensor& tensor, const ForwardLevel& level) noexcept {
  if (!tensor.defined() || tensor.has(kViewFlag) || !tensor.has(kDualFlag)) return nullptr;
  const DualCell* only = only_cell(tsr::record_of(tensor));
  const bool seen = only != nullptr && only->level.load(std::memory_order_relaxed) == &level;
  return seen ? only->tangent.impl() : nullptr;
}

bool has_tangent(const Tensor& tensor) {
  if (!tensor.defined() || !forward_enabled()) return false;
  const Tensor* base = base_of(tensor);
  const Tensor& owner = base == nullptr ? tensor : *base;
  if (!owner.has(kDualFlag)) return false;
  for (const ForwardLevel* level = t_forward_mode.level; level != nullptr; level = level->outer) {
    if (stored_tangent(owner, *level).defined()) return true;
  }
  return false;
}

void set_tangent(const Tensor& tensor, ForwardLevel& level, Tensor tangent) {
  if (tangent.defined()) {
    tangent = fit_tangent(std::move(tangent), tensor.sizes(), tensor.dtype());
  }
  const Tensor* base = base_of(tensor);
  if (base == nullptr) return store_tangent(tensor, level, std::move(tangent));
  write_part(*base, tensor, level, tangent);
}

void set_fitting_tangent(const Tensor& tensor, ForwardLevel& level, Tensor tangent) {
  store_tangent(tensor, level, std::move(tangent));
}

void copy_tangents(const Tensor& from, const Tensor& to) {
  if (t_forward_mode.level == nullptr) return;
  const Tensor* base = base_of(from);
  if (!(base == nullptr ? from : *base).has(kDualFlag)) return;
  for (ForwardLevel* level = t_forward_mode.level; level != nullptr; level = level->outer) {
    Tensor tangent = tangent_of(from, *level);
    if (tangent.defined()) store_tangent(to, *level, std::move(tangent));
  }
}

Tensor detached_dual(const Tensor& tensor) {
  Tensor alias = tensor.detached();
  copy_tangents(tensor, alias);
  return alias;
}

Tensor fit_tangent(Tensor tensor, DimsView sizes, DType dtype) {
  if (tensor.dtype() != dtype) tensor = gradient_ops().cast(tensor, dtype);
  const Dims& own = tensor.sizes();
  if (std::equal(own.begin(), own.end(), sizes.begin(), sizes.end())) return tensor;
  const Dims strides = broadcast_strides(own, tensor.strides(), sizes, "tangent");
  return as_strided_view(tensor, sizes, strides, tensor.offset());
}

void drop_cells(TensorRecord& record) noexcept {
  if (DualCell* only = only_cell(&record); only != nullptr) {
    ForwardLevel* level = only->level.load(std::memory_order_relaxed);
    if (level != nullptr && is_of_this_thread(level)) [[likely]] {
      leave_level(*only);
      only->level.store(nullptr, std::memory_order_relaxed);
      record.cells.store(nullptr, std::memory_order_relaxed);
      return;
    }
  }
  for (;;) {
    Tensor last;  // goes after the lock
    const std::lock_guard guard(g_cells);
    DualCell* cell = record.cells.load(std::memory_order_relaxed);
    if (cell == nullptr) return;
    record.cells.store(cell->next, std::memory_order_relaxed);
    last = std::move(cell->tangent);
    ForwardLevel* level = cell->level.load(std::memory_order_relaxed);
    if (level != nullptr && is_of_this_thread(level)) {
      leave_level(*cell);
      cell->level.store(nullptr, std::memory_order_relaxed);
      level = nullptr;
    }
    cell->owner = nullptr;
    if (cell->inside) continue;  // free_block
    if (level == nullptr) {
      free_cell(cell);
    } else {
      make_orphan(*cell, *level);
    }
  }
}

void free_block(TensorRecord* record, bool wide) noexcept {
  if (!wide) return small_free(record, sizeof(TensorRecord));
  DualCell* cell = inside_cell(record);
  if (cell->level.load(std::memory_order_acquire) != nullptr) {
    const std::lock_guard guard(g_cells);
    // The level may have ended meanwhile.
    ForwardLevel* level = cell->level.load(std::memory_order_relaxed);
    if (level != nullptr) return make_orphan(*cell, *level);
  }
  free_with_block(cell);
}

}  // namespace tsr
