// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Records the work of the library: calls, kernels, nodes of the graph, memory.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/cpp/arguments.hpp"
#include "tessera/trace.h"

namespace tessera {

// A tensor argument, without its elements.
struct DescribedTensor {
  tsr_dtype dtype;
  std::vector<int64_t> shape;
};

// One argument of a traced call; std::monostate is an absent one. A list of tensors is a vector of
// descriptions; a callback, a struct, memory and another handle are the address that they had.
using TracedArgument = std::variant<std::monostate, bool, int64_t, double, std::complex<double>,
                                    std::string, Device, DescribedTensor, std::vector<int64_t>,
                                    std::vector<double>, std::vector<DescribedTensor>, const void*,
                                    uint64_t>;  // an integer from 2^63 on

// One finished event. Times are nanoseconds of std::chrono::steady_clock.
struct TraceRecord {
  tsr_trace_kind kind = 0;
  int32_t id = 0;           // of the function (tsr_function_name) or the kernel, else 0
  std::string_view name;    // the op or function, the kernel's op or family, or the node
  std::string_view family;  // of a kernel, else empty
  int64_t begin = 0, end = 0;
  uint64_t correlation = 0;
  uint64_t parent = 0;  // correlation of the enclosing record on its thread, 0 if there is none
  int64_t value = 0;    // memory: bytes; a node: its sequence number; calls, kernels: the status
  const void* object = nullptr;
  void* stream = nullptr;
  Device device;
  int32_t thread = 0;
  std::vector<TracedArgument> args;  // of calls, with TSR_TRACE_ARGUMENTS
};

namespace detail {

inline DescribedTensor described_tensor(const tsr_value& value) {
  const auto* sizes = static_cast<const int64_t*>(value.pointer);
  const bool there = value.kind == TSR_VALUE_SHAPE;
  return {there ? static_cast<tsr_dtype>(value.integer) : -1,
          there ? std::vector<int64_t>(sizes, sizes + value.n) : std::vector<int64_t>()};
}

template <class T>
std::vector<T> traced_list(const tsr_value& value) {
  const T* first = static_cast<const T*>(value.pointer);
  return std::vector<T>(first, first + value.n);
}

// The functions below are templates so that only programs that trace compile them: a variant of so
// many types takes long.
template <class Argument>
Argument traced_argument(const tsr_value& value) {
  switch (value.kind) {
    case TSR_VALUE_BOOL:
      return value.integer != 0;
    case TSR_VALUE_INT:
    case TSR_VALUE_DTYPE:
      return value.integer;
    case TSR_VALUE_UNSIGNED:
      return static_cast<uint64_t>(value.integer);
    case TSR_VALUE_REAL:
      return value.real;
    case TSR_VALUE_COMPLEX:
      return std::complex<double>(value.real, value.imaginary);
    case TSR_VALUE_TEXT:
      return std::string(static_cast<const char*>(value.pointer),
                         static_cast<size_t>(value.integer));
    case TSR_VALUE_DEVICE:
      return Device{static_cast<tsr_device_type>(value.integer), value.n};
    case TSR_VALUE_SHAPE:
      return described_tensor(value);
    case TSR_VALUE_INTS:
      return traced_list<int64_t>(value);
    case TSR_VALUE_REALS:
      return traced_list<double>(value);
    case TSR_VALUE_LIST: {
      std::vector<DescribedTensor> tensors;
      for (const tsr_value& entry : traced_list<tsr_value>(value))
        tensors.push_back(described_tensor(entry));
      return tensors;
    }
    case TSR_VALUE_POINTER:
    case TSR_VALUE_GENERATOR:
      return value.pointer;
    default:
      return std::monostate();
  }
}

template <class Record>
Record trace_record(const tsr_trace_event& event) {
  Record record;
  record.kind = event.kind;
  record.id = event.id;
  record.name = event.name;
  record.family = event.family == nullptr ? "" : event.family;
  record.begin = event.begin_time;
  record.end = event.end_time;
  record.correlation = event.correlation;
  record.parent = event.parent;
  record.value = event.value;
  record.object = event.object;
  record.stream = event.stream;
  record.device = Device{event.device_type, event.device_index};
  record.thread = event.thread;
  using Argument = typename decltype(record.args)::value_type;
  for (int32_t i = 0; i < event.n_args; ++i) {
    record.args.push_back(traced_argument<Argument>(event.args[i]));
  }
  return record;
}

}  // namespace detail

// Records the work of all threads from its construction to stop(). Only one may run at a time.
class TraceRecorder {
 public:
  explicit TraceRecorder(int32_t flags = TSR_TRACE_EVERYTHING | TSR_TRACE_ANNOTATION,
                         int64_t capacity = 100000) {
    check(tsr_trace_start(capacity, flags));
  }
  TraceRecorder(const TraceRecorder&) = delete;
  TraceRecorder& operator=(const TraceRecorder&) = delete;
  ~TraceRecorder() {
    if (running_) detail::ignore(tsr_trace_stop());
  }

  // Ends the recording and returns the records in the order in which the events ended.
  template <class Record = TraceRecord>
  std::vector<Record> stop() {
    check(tsr_trace_stop());
    running_ = false;
    std::vector<Record> records;
    std::vector<tsr_trace_event> events(1024);
    events[0].struct_size = sizeof(tsr_trace_event);
    const auto room = static_cast<int32_t>(events.size());
    for (int32_t count = room; count == room;) {
      int64_t lost = 0;
      check(tsr_trace_read(events.data(), room, &count, &lost));
      lost_ += lost;
      for (int32_t i = 0; i < count; ++i)
        records.push_back(detail::trace_record<Record>(events[static_cast<size_t>(i)]));
      events[0].struct_size = sizeof(tsr_trace_event);
    }
    return records;
  }

  // The number of events that were lost because the buffer was full.
  int64_t lost() const noexcept { return lost_; }

 private:
  bool running_ = true;
  int64_t lost_ = 0;
};

}  // namespace tessera
