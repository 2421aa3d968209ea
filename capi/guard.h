// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The guard: the only try/catch around the library. Every exported function that can fail runs
// inside it.
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/trace.h"
#include "capi/call.h"

namespace tsr::capi {

// Turns the current exception into this thread's error record and returns its code. Never throws:
// if memory is out, the record uses text that needs none.
[[gnu::cold]] tsr_status record_failure(const CallInfo& info) noexcept;

// `function` is the number of the function; 0: the number in its record. A status other than TSR_OK
// refuses the call (Note [Recording] in capi/program/recorder.h): the body must not run, and the
// error is recorded.
[[gnu::cold]] tsr_status begin_call(TraceSpan& span, const CallInfo& info, int32_t function,
                                    const tsr_value* values, int32_t count) noexcept;
[[gnu::cold]] void end_call(TraceSpan& span, tsr_status status, const tsr_value* results,
                            int32_t count) noexcept;

// One instance for each list of argument types, not for each function.
template <class... Args>
[[gnu::cold, gnu::noinline]] tsr_status pack_call(TraceSpan& span, const CallInfo& info,
                                                  int32_t function, Args... args) noexcept {
  if constexpr (sizeof...(Args) == 0) {
    return begin_call(span, info, function, nullptr, 0);
  } else {
    int32_t at = 0;
    const auto next_type = [&] {
      const int32_t index = at++;
      return index < info.n ? info.args[index].type : arg_type::kTensor;
    };
    const tsr_value values[] = {to_value(args, next_type())...};
    return begin_call(span, info, function, values, sizeof...(Args));
  }
}

// Where a call leaves tensors: a place, or a list of places with their number.
struct PlaceOf {
  const tsr_tensor* place;
};
struct PlacesOf {
  const tsr_tensor* first;
  const int32_t* count;
};
inline tsr_value result_value(PlaceOf of) {
  return of.place == nullptr ? absent_value() : to_value(*of.place, arg_type::kTensor);
}
inline tsr_value result_value(PlacesOf of) {
  const int32_t count = of.count == nullptr ? 0 : *of.count;
  return make_value(TSR_VALUE_TENSORS, count, 0, 0, 0, of.first);
}
inline tsr_value result_value(ListOf<tsr_tensor> list) {
  return make_value(TSR_VALUE_TENSORS, list.count, 0, 0, 0, list.values);
}

template <class... Places>
[[gnu::cold, gnu::noinline]] void pack_results(TraceSpan& span, tsr_status status,
                                               Places... places) noexcept {
  if (sizeof...(Places) == 0 || status != TSR_OK) return end_call(span, status, nullptr, 0);
  const tsr_value results[] = {result_value(places)..., absent_value()};
  end_call(span, status, results, sizeof...(Places));
}

// Runs body; TSR_OK writes nothing thread-local. `args` are what the function was called with, in
// the schema's order and without results: only a trace looks at them. `results` packs the tensors
// that a call of this kind leaves, which only a recording looks at. The record is taken by
// reference: as a value it costs every call a register.
template <class Body, class Results, class... Args>
[[gnu::always_inline]] inline tsr_status guard_with(std::type_identity_t<CallSite<Args...>> site,
                                                    int32_t function, Body&& body,
                                                    const Results& results,
                                                    const Args&... args) noexcept {
  TraceSpan span;
  const bool traced = is_traced(TraceKind::kCall);
  if (traced) [[unlikely]] {
    const tsr_status refused = pack_call(span, site.info, function, traced_arg(args)...);
    if (refused != TSR_OK) return refused;
  }
  tsr_status status = TSR_OK;
  try {
    body();
  } catch (...) {
    status = record_failure(site.info);
  }
  if (traced) [[unlikely]]
    results(span, status);
  return status;
}
template <class Body, class... Args>
[[gnu::always_inline]] inline tsr_status guard(std::type_identity_t<CallSite<Args...>> site,
                                               int32_t function, Body&& body,
                                               const Args&... args) noexcept {
  const auto results = [](TraceSpan& span, tsr_status status) { pack_results(span, status); };
  return guard_with<Body&, decltype(results), Args...>(site, function, body, results, args...);
}
template <std::invocable Body>
[[gnu::always_inline]] inline tsr_status guard(CallSite<> site, Body&& body) noexcept {
  return guard<Body&>(site, 0, body);
}
template <std::invocable Body, class... Args>
[[gnu::always_inline]] inline tsr_status guard(std::type_identity_t<CallSite<Args...>> site,
                                               Body&& body, const Args&... args) noexcept
    requires(sizeof...(Args) > 0) {
  return guard<Body&, Args...>(site, 0, body, args...);
}

// The same in one value, so that the body of a function written by hand stands last:
// guard(Call(kInfo_tensor_grad, tensor), [&] { ... }).
template <class... Args>
struct Call {
  [[gnu::always_inline]] explicit Call(std::type_identity_t<CallSite<Args...>> of,
                                       const Args&... given)
      : site(of), args(given...) {}
  CallSite<Args...> site;
  std::tuple<Args...> args;
};
// `places`: PlaceOf, PlacesOf or ListOf for each tensor that the function leaves.
template <class Body, class... Args, class... Places>
[[gnu::always_inline]] inline tsr_status guard(const Call<Args...>& call, Body&& body,
                                               Places... places) noexcept {
  const auto results = [&](TraceSpan& span, tsr_status status) {
    pack_results(span, status, places...);
  };
  return [&]<size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
    return guard_with<Body&, decltype(results), Args...>(call.site, 0, body, results,
                                                         std::get<I>(call.args)...);
  }
  (std::index_sequence_for<Args...>());
}

// The file name of errors that host code raised; their text is not changed.
extern const char kHostFile[];

// The number of failures recorded on this thread so far. Tells whether a failed callback recorded
// an error.
uint64_t failures_recorded() noexcept;
// Throws the error of a callback that returned `status`: this thread's record with its payload if
// it was written after `before`, else a plain error that names the callback.
[[noreturn]] void throw_host_failure(tsr_status status, uint64_t before, const char* callback);
// This thread's record of a call that returned `status`, with its payload, as an error: for code of
// the library that calls the ABI and lets the error go on.
Error take_failure(tsr_status status, const char* file, int32_t line);

}  // namespace tsr::capi
