// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/autocast.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <unordered_map>

#include "autograd/grad_mode.h"
#include "autograd/tensor_grad.h"
#include "base/thread_exit.h"
#include "capi/generated/infos.h"
#include "capi/program/recorder.h"
#include "ops/create/copy.h"

namespace tsr::capi {

std::atomic<int32_t> g_autocast_threads{0};

namespace {

// The cast of a leaf, and what the leaf was when it was cast. It owns the leaf, so that no other
// tensor takes its address.
struct CachedCast {
  Tensor leaf, cast;
  const Storage* storage = nullptr;
  uint32_t version = 0;
  bool recorded = false;  // false: made where nothing was recorded, so no gradient flows through it
};
using Cache = std::unordered_map<const TensorImpl*, CachedCast>;

struct ThreadAutocast {
  AutocastState state;
  int32_t regions = 0;
  bool counted = false;  // in g_autocast_threads
  Cache* cache = nullptr;
};
constinit thread_local ThreadAutocast t_autocast;

void count_thread(bool on) noexcept {
  if (t_autocast.counted == on) return;
  t_autocast.counted = on;
  g_autocast_threads.fetch_add(on ? 1 : -1, std::memory_order_relaxed);
}

void leave_thread() noexcept {
  count_thread(false);
  t_autocast.state = {};
  t_autocast.regions = 0;
  clear_autocast_cache();
}

bool is_half(DType dtype) noexcept {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

bool is_current(const CachedCast& entry, DType dtype) noexcept {
  return entry.cast.dtype() == dtype && entry.storage == entry.leaf.storage().get() &&
         entry.version == entry.leaf.version() && (entry.recorded || !grad_enabled());
}

// Only of parameters: other tensors are seldom cast twice, and the cache would keep their memory.
bool may_be_cached(const Tensor& tensor, DType dtype) noexcept {
  return is_half(dtype) && tensor.requires_grad() && !tensor.has(kViewFlag) && is_leaf(tensor);
}

// The cast that is kept of a tensor; null if there is none, or if the tensor was changed since.
const Tensor* kept_cast(const Tensor& tensor, DType dtype) {
  if (t_autocast.cache == nullptr || !tensor.requires_grad()) return nullptr;
  const auto known = t_autocast.cache->find(tensor.impl());
  if (known == t_autocast.cache->end() || !is_current(known->second, dtype)) return nullptr;
  return &known->second.cast;
}

Tensor cast_of(const Tensor& tensor, DType dtype) {
  if (!autocast_state().cache) return ops::astype(tensor, dtype);
  if (const Tensor* kept = kept_cast(tensor, dtype)) return *kept;
  if (!may_be_cached(tensor, dtype)) return ops::astype(tensor, dtype);
  CachedCast entry{tensor, ops::astype(tensor, dtype), tensor.storage().get(), tensor.version(),
                   grad_enabled()};
  Tensor cast = entry.cast;
  if (t_autocast.cache == nullptr) t_autocast.cache = new Cache;
  // What was cached before is destroyed last: that may run code of the host.
  std::swap((*t_autocast.cache)[tensor.impl()], entry);
  return cast;
}

}  // namespace

const AutocastState& autocast_state() noexcept {
  return t_autocast.state;
}

void set_autocast_state(const AutocastState& state) {
  if (state.on() && !at_thread_exit(ThreadPart::kAutocast, leave_thread)) throw std::bad_alloc();
  t_autocast.state = state;
  count_thread(state.on());
  if (!state.on() && t_autocast.regions == 0) clear_autocast_cache();
}

void begin_autocast_region(const AutocastState& state) {
  set_autocast_state(state);
  ++t_autocast.regions;
}

void end_autocast_region(const AutocastState& previous) {
  TSR_CHECK(t_autocast.regions > 0, Code::kValue, nullptr,
            "expected an open region of this thread, got the end of one more than began");
  set_autocast_state(previous);
  if (--t_autocast.regions == 0) clear_autocast_cache();
}

void clear_autocast_cache() noexcept {
  // Taken out first: destroying casts may run code of the host, which may come back here.
  delete std::exchange(t_autocast.cache, nullptr);
}

// ---- Casts ----

namespace {

constexpr uint8_t kSeenFloat32 = 1;
constexpr uint8_t kSeenFloat16 = 2;
constexpr uint8_t kSeenBFloat16 = 4;
constexpr uint8_t kSeenHalf = kSeenFloat16 | kSeenBFloat16;

bool is_list(const tsr_tensor* handles, int32_t count) noexcept {
  return handles != nullptr && count > 0 && count <= kMaxListLength;
}

}  // namespace

Casts::~Casts() {
  for (const Tensor& cast : casts_) take_back(cast.impl());
}

bool Casts::is_eligible(const TensorImpl& impl) const noexcept {
  return (impl.dtype == DType::kFloat32 || is_half(impl.dtype)) &&
         state_.of(impl.device.type).enabled;
}

// A handle that is not valid is left for the function to report.
void Casts::see(tsr_tensor handle) noexcept {
  if (!is_live(handle, ObjectTag::kTensor)) return;
  const auto& impl = *reinterpret_cast<const TensorImpl*>(handle);
  if (!is_eligible(impl)) {
    wide_ |= impl.dtype == DType::kFloat64 || is_complex(impl.dtype);
    return;
  }
  seen_ |= impl.dtype == DType::kFloat32   ? kSeenFloat32
           : impl.dtype == DType::kFloat16 ? kSeenFloat16
                                           : kSeenBFloat16;
  differs_ |= impl.dtype != state_.of(impl.device.type).dtype;
  own_lists_ = impl.device.is_cpu() && state_.cpu.own_lists;
}

void Casts::see(const tsr_tensor* handles, int32_t count) noexcept {
  if (!is_list(handles, count)) return;
  for (int32_t i = 0; i < count; ++i) see(handles[i]);
}

bool Casts::wanted() const {
  switch (list()) {
    case Autocast::kLower:
      return differs_ && !wide_;
    case Autocast::kFloat32:
      return (seen_ & kSeenHalf) != 0;
    case Autocast::kPromote:
      return (seen_ & kSeenHalf) != 0 && !std::has_single_bit(seen_);
    case Autocast::kRefuse:
      TSR_CHECK(
          seen_ == 0, Code::kDType, nullptr,
          "expected float64, or a call outside of autocast, because it is unsafe in 16 bits; ",
          info_.name, "_with_logits is safe");
      return false;
    case Autocast::kNone:
      return false;
  }
  return false;
}

tsr_tensor Casts::cast(tsr_tensor handle) {
  if (!is_live(handle, ObjectTag::kTensor)) return handle;
  const Borrowed borrowed(reinterpret_cast<TensorImpl*>(handle));
  const Tensor& tensor = borrowed.get();
  if (!is_eligible(*tensor.impl())) return handle;
  const DType target =
      list() == Autocast::kLower ? state_.of(tensor.device().type).dtype : DType::kFloat32;
  if (tensor.dtype() == target) return handle;
  casts_.push_back(cast_of(tensor, target));
  if (program::t_recorder != nullptr) [[unlikely]] {
    const tsr_value args[] = {to_value(handle, arg_type::kTensor),
                              make_value(TSR_VALUE_DTYPE, 0, dtype_to_abi(target), 0, 0, nullptr),
                              make_value(TSR_VALUE_BOOL, 0, 1, 0, 0, nullptr)};
    program::t_recorder->note(kInfo_astype.id, args, casts_.back());
  }
  hand_out(casts_.back().impl());  // where handles are checked, the call must know this one
  return reinterpret_cast<tsr_tensor>(casts_.back().impl());
}

const tsr_tensor* Casts::cast(const tsr_tensor* handles, int32_t count) {
  if (!is_list(handles, count)) return handles;
  std::vector<tsr_tensor>& list = lists_.emplace_back(handles, handles + count);
  for (tsr_tensor& handle : list) handle = cast(handle);
  return list.data();
}

}  // namespace tsr::capi
