// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Object: the header of everything a handle can name; IntrusivePtr: the pointer that counts
// references in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace tsr {

// Tags let the ABI tell, best effort, a live object of the right kind from anything else.
enum class ObjectTag : uint32_t {
  kDead = 0xdeadbeefU,
  kTensor = 0x54534e52U,
  kStorage = 0x54534753U,
  kNode = 0x54534e44U,
  kGenerator = 0x54534745U,
  kStream = 0x54535354U,
  kEvent = 0x54534556U,
  kError = 0x54534552U,
  kBuffer = 0x54534255U,
  kScope = 0x54535343U,
  kAmbient = 0x5453414dU,
};

// Starts with one reference, owned by whoever made it. Sits first in every derived object, so that
// a handle can be checked without knowing its kind.
struct Object {
  explicit Object(ObjectTag kind) noexcept : tag(kind) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  std::atomic<uint32_t> refs{1};
  ObjectTag tag;
};

inline void retain(Object* object) noexcept {
  object->refs.fetch_add(1, std::memory_order_relaxed);
}

// Takes a reference unless the count already fell to zero: for weak pointers, whose owner keeps the
// memory valid by a lock of its own. Who finds it at zero comes after what its last owner did.
inline bool try_retain(Object* object) noexcept {
  uint32_t count = object->refs.load(std::memory_order_acquire);
  while (count != 0) {
    if (object->refs.compare_exchange_weak(count, count + 1, std::memory_order_acquire)) {
      return true;
    }
  }
  return false;
}

// True when the last reference was given up and the caller must destroy the object.
inline bool drop_reference(Object* object) noexcept {
  return object->refs.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

// The same for kinds of object that nobody keeps weakly: a count of 1 is then the caller's own, and
// nobody can raise it, so that the common case needs no locked instruction.
inline bool drop_strong_reference(Object* object) noexcept {
  return object->refs.load(std::memory_order_acquire) == 1 || drop_reference(object);
}

// T derives from Object and has `static void destroy(T*) noexcept`; `T::kNeverWeak` says that
// try_retain is never called for it.
template <class T>
class IntrusivePtr {
 public:
  constexpr IntrusivePtr() noexcept = default;
  constexpr IntrusivePtr(std::nullptr_t) noexcept {}
  IntrusivePtr(const IntrusivePtr& other) noexcept : ptr_(other.ptr_) {
    if (ptr_ != nullptr) retain(ptr_);
  }
  IntrusivePtr(IntrusivePtr&& other) noexcept : ptr_(std::exchange(other.ptr_, nullptr)) {}
  template <class U>
  IntrusivePtr(IntrusivePtr<U> other) noexcept : ptr_(other.detach()) {}
  ~IntrusivePtr() { reset(); }

  IntrusivePtr& operator=(IntrusivePtr other) noexcept {
    std::swap(ptr_, other.ptr_);
    return *this;
  }

  // Takes over the reference the caller owns.
  static IntrusivePtr adopt(T* ptr) noexcept {
    IntrusivePtr result;
    result.ptr_ = ptr;
    return result;
  }
  // Adds a reference of its own.
  static IntrusivePtr share(T* ptr) noexcept {
    if (ptr != nullptr) retain(ptr);
    return adopt(ptr);
  }

  [[nodiscard]] T* get() const noexcept { return ptr_; }
  T* operator->() const noexcept { return ptr_; }
  T& operator*() const noexcept { return *ptr_; }
  explicit operator bool() const noexcept { return ptr_ != nullptr; }
  friend bool operator==(const IntrusivePtr&, const IntrusivePtr&) = default;

  // Hands the reference to the caller and becomes null.
  [[nodiscard]] T* detach() noexcept { return std::exchange(ptr_, nullptr); }

  void reset() noexcept {
    T* old = std::exchange(ptr_, nullptr);
    if (old == nullptr) return;
    if constexpr (requires { T::kNeverWeak; }) {
      if (drop_strong_reference(old)) T::destroy(old);
    } else {
      if (drop_reference(old)) T::destroy(old);
    }
  }

 private:
  T* ptr_ = nullptr;
};

}  // namespace tsr
