// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The functional forms of an operator's function: the guard around a body that returns the results
// of the operator, and the places that take them. Out handles are NULL after a failure, whatever
// fails; not before the call, because a place may lie in a list of arguments.
#pragma once

#include <tuple>
#include <type_traits>

#include "capi/handle.h"

namespace tsr::capi {

template <class Body, class... Args>
[[gnu::always_inline]] inline tsr_status one(std::type_identity_t<CallSite<Args...>> site,
                                             int32_t function, tsr_tensor* out, const Body& body,
                                             const Args&... args) noexcept {
  const auto give_result = [&] {
    out_arg(out, "out");
    give(body(), out);
  };
  const auto results = [&](TraceSpan& span, tsr_status status) {
    pack_results(span, status, PlaceOf{out});
  };
  const tsr_status status = guard_with<decltype(give_result)&, decltype(results), Args...>(
      site, function, give_result, results, args...);
  if (status != TSR_OK) [[unlikely]]
    clear(out);
  return status;
}

// Several results: a NULL place means that the caller does not want that one.
template <class Body, class... Places, class... Args>
[[gnu::always_inline]] inline tsr_status several(std::type_identity_t<CallSite<Args...>> site,
                                                 int32_t function, std::tuple<Places...> places,
                                                 const Body& body, const Args&... args) noexcept {
  const auto give_results = [&] {
    std::apply([&](Places... each) { give_all(body(), each...); }, places);
  };
  const auto results = [&](TraceSpan& span, tsr_status status) {
    std::apply([&](Places... each) { pack_results(span, status, PlaceOf{each}...); }, places);
  };
  const tsr_status status = guard_with<decltype(give_results)&, decltype(results), Args...>(
      site, function, give_results, results, args...);
  if (status != TSR_OK) [[unlikely]]
    std::apply([](Places... each) { clear(each...); }, places);
  return status;
}

// A list of results.
template <class Body, class... Args>
[[gnu::always_inline]] inline tsr_status many(std::type_identity_t<CallSite<Args...>> site,
                                              int32_t function, tsr_tensor* out, int32_t capacity,
                                              int32_t* count, const Body& body,
                                              const Args&... args) noexcept {
  clear_count(count);
  const auto give_results = [&] {
    check_list_out(out, capacity, count, "out");
    give_list(body(), out, capacity, count);
  };
  const auto results = [&](TraceSpan& span, tsr_status status) {
    pack_results(span, status, PlacesOf{out, count});
  };
  const tsr_status status = guard_with<decltype(give_results)&, decltype(results), Args...>(
      site, function, give_results, results, args...);
  if (status != TSR_OK) [[unlikely]]
    clear_list(out, capacity);
  return status;
}

}  // namespace tsr::capi
