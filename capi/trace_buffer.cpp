// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/trace_buffer.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "capi/call.h"
#include "capi/handle.h"

namespace tsr::capi {
namespace {

// Note [Arguments in the buffer]
// A tensor may be destroyed before an event is read, so the buffer keeps its dtype and sizes. The
// data of one call is one block: first the values, then the values of lists of tensors, then
// numbers and texts. The arguments are not checked yet when the event comes: an invalid tensor
// becomes absent, and a list with an impossible count becomes empty. The same code measures and
// writes the block: a Writer without memory only counts.
class Writer {
 public:
  explicit Writer(std::byte* block = nullptr) : block_(block) {}

  template <class T>
  T* take(size_t count) {
    used_ = (used_ + alignof(T) - 1) / alignof(T) * alignof(T);
    T* place = block_ == nullptr ? nullptr : reinterpret_cast<T*>(block_ + used_);
    used_ += count * sizeof(T);
    return place;
  }
  template <class T>
  const T* copy(const T* from, size_t count) {
    T* to = take<T>(count);
    if (to != nullptr && count != 0) std::memcpy(to, from, count * sizeof(T));
    return to;
  }
  [[nodiscard]] size_t used() const { return used_; }

 private:
  std::byte* block_;
  size_t used_ = 0;
};

constexpr int32_t kMostListed = 4096;  // items of a list that are kept: a trace is not for data

int32_t listed(const tsr_value& value) {
  if (value.pointer == nullptr || value.n < 0 || value.n > kMaxListLength) return 0;
  return std::min(value.n, kMostListed);
}

tsr_value describe_tensor(const void* handle, Writer& writer) {
  const auto tensor = static_cast<tsr_tensor>(const_cast<void*>(handle));
  if (!is_live(tensor, ObjectTag::kTensor)) return absent_value();
  const auto* impl = reinterpret_cast<const TensorImpl*>(tensor);
  const auto ndim = static_cast<int32_t>(impl->sizes.size());
  const int64_t* kept = writer.copy(impl->sizes.data(), impl->sizes.size());
  return make_value(TSR_VALUE_SHAPE, ndim, dtype_to_abi(impl->dtype), 0, 0, kept);
}

tsr_value describe_list(const tsr_value& list, Writer& writer) {
  const int32_t n = listed(list);
  const auto* handles = static_cast<const tsr_tensor*>(list.pointer);
  auto* values = writer.take<tsr_value>(static_cast<size_t>(n));
  for (int32_t i = 0; i < n; ++i) {
    const tsr_value described = describe_tensor(handles[i], writer);
    if (values != nullptr) values[i] = described;
  }
  return make_value(TSR_VALUE_LIST, n, 0, 0, 0, values);
}

template <class T>
tsr_value copy_list(const tsr_value& list, Writer& writer) {
  tsr_value copied = list;
  copied.n = listed(list);
  copied.pointer = writer.copy(static_cast<const T*>(list.pointer), static_cast<size_t>(copied.n));
  return copied;
}

tsr_value copy_text(const tsr_value& text, Writer& writer) {
  constexpr int64_t kImpossible = int64_t{1} << 30;
  const auto* from = static_cast<const char*>(text.pointer);
  const bool sane = from != nullptr && text.integer >= -1 && text.integer <= kImpossible;
  const size_t length = !sane                ? 0
                        : text.integer == -1 ? std::strlen(from)
                                             : static_cast<size_t>(text.integer);
  const size_t kept = std::min<size_t>(length, kMostListed);
  tsr_value copied = text;
  copied.integer = static_cast<int64_t>(kept);
  copied.pointer = writer.copy(from, kept);
  return copied;
}

tsr_value describe(const tsr_value& value, Writer& writer) {
  switch (value.kind) {
    case TSR_VALUE_TENSOR:
      return describe_tensor(value.pointer, writer);
    case TSR_VALUE_TENSORS:
      return describe_list(value, writer);
    case TSR_VALUE_INTS:
      return copy_list<int64_t>(value, writer);
    case TSR_VALUE_REALS:
      return copy_list<double>(value, writer);
    case TSR_VALUE_TEXT:
      return copy_text(value, writer);
    default:
      return value;
  }
}

void describe_all(const TraceEvent& event, Writer& writer) {
  const auto n = static_cast<size_t>(event.n_args);
  const auto* from = static_cast<const tsr_value*>(event.args);
  auto* to = writer.take<tsr_value>(n);
  for (size_t i = 0; i < n; ++i) {
    const tsr_value described = describe(from[i], writer);
    if (to != nullptr) to[i] = described;
  }
}

}  // namespace

tsr_trace_event to_public(const TraceEvent& event) noexcept {
  tsr_trace_event told{};
  told.struct_size = sizeof told;
  told.kind = static_cast<int32_t>(event.kind);
  told.phase = static_cast<int32_t>(event.phase);
  told.id = event.id;
  // The name of a range lives only as long as the range.
  told.name = event.kind == TraceKind::kAnnotation ? lasting_name(event.name) : event.name;
  told.family = event.family;
  told.begin_time = event.begin;
  told.end_time = event.end;
  told.correlation = event.correlation;
  told.parent = event.parent;
  told.value = event.value;
  told.object = event.object;
  told.stream = event.stream;
  told.device_type = static_cast<int32_t>(event.device_type);
  told.device_index = event.device_index;
  told.thread = event.thread;
  return told;
}

void* describe_arguments(const TraceEvent& event) noexcept {
  if (event.n_args == 0) return nullptr;
  Writer measure;
  // The number of values comes first: the event at the end of a call does not have it.
  measure.take<tsr_value>(1);
  describe_all(event, measure);
  auto* block = static_cast<std::byte*>(std::malloc(measure.used()));
  if (block == nullptr) return nullptr;
  Writer writer(block);
  *writer.take<tsr_value>(1) = make_value(TSR_VALUE_LIST, event.n_args, 0, 0, 0, nullptr);
  describe_all(event, writer);
  return block;
}

void TraceBuffer::swap(TraceBuffer& other) noexcept {
  std::swap(slots_, other.slots_);
  std::swap(lent_, other.lent_);
  std::swap(first_, other.first_);
  std::swap(size_, other.size_);
  std::swap(lost_, other.lost_);
}

void TraceBuffer::add(const TraceEvent& event, void** kept) noexcept {
  if (size_ == slots_.size()) {
    ++lost_;
    return;
  }
  Slot& slot = slots_[(first_ + size_++) % slots_.size()];
  slot.event = to_public(event);
  slot.args.reset(kept == nullptr ? nullptr : std::exchange(*kept, nullptr));
  if (slot.args == nullptr) return;
  const auto* head = static_cast<const tsr_value*>(slot.args.get());
  slot.event.n_args = head->n;
  slot.event.args = head + 1;
}

int32_t TraceBuffer::take(tsr_trace_event* events, uint32_t stride, int32_t room) {
  const size_t count = std::min(size_, static_cast<size_t>(room));
  lent_.clear();
  lent_.reserve(count);
  auto* to = reinterpret_cast<std::byte*>(events);
  for (size_t i = 0; i < count; ++i, to += stride) {
    Slot& slot = slots_[first_];
    slot.event.struct_size = stride;
    std::memset(to, 0, stride);
    std::memcpy(to, &slot.event, std::min<size_t>(stride, sizeof slot.event));
    lent_.push_back(std::move(slot.args));
    first_ = (first_ + 1) % slots_.size();
  }
  size_ -= count;
  return static_cast<int32_t>(count);
}

int64_t TraceBuffer::take_lost() noexcept {
  return std::exchange(lost_, 0);
}

}  // namespace tsr::capi
