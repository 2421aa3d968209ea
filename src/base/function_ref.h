// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// FunctionRef: a borrowed callable, two words, no allocation. It must not outlive the callable.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace tsr {

template <class Signature>
class FunctionRef;

template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class Fn>
  requires(!std::is_same_v<std::remove_cvref_t<Fn>, FunctionRef>) FunctionRef(Fn&& fn)
  noexcept
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(fn)))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::add_pointer_t<Fn>>(object))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace tsr
