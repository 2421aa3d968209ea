// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Object: the header of everything a handle can name. IntrusivePtr: the pointer that counts
// references in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace tsr {

// The ABI checks tags to recognise, best effort, a live object of the right kind.
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

// Starts with one reference, owned by the creator. The first base class of every object, so that a
// handle can be checked without knowing its kind.
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

// Takes a reference unless the count is already zero. For weak pointers, whose owner keeps the
// memory valid with a lock. A caller that finds zero sees everything that the last owner did.
inline bool try_retain(Object* object) noexcept {
  uint32_t count = object->refs.load(std::memory_order_acquire);
  while (count != 0) {
    if (object->refs.compare_exchange_weak(count, count + 1, std::memory_order_acquire)) {
      return true;
    }
  }
  return false;
}

// True if this was the last reference; the caller must then destroy the object.
inline bool drop_reference(Object* object) noexcept {
  return object->refs.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

// The same for objects of one kind. A count of 1 belongs to the caller alone, and only a weak
// pointer (try_retain) could raise it, so an object without one needs no locked instruction.
// `T::kNeverWeak` is there if no T has weak pointers, `may_be_weak()` if some have: the object
// says, and is asked only by its one owner.
template <class T>
bool drop(T* object) noexcept {
  bool alone = false;
  if constexpr (requires { T::kNeverWeak; }) {
    alone = object->refs.load(std::memory_order_acquire) == 1;
  } else if constexpr (requires { object->may_be_weak(); }) {
    alone = object->refs.load(std::memory_order_acquire) == 1 && !object->may_be_weak();
  }
  return alone || drop_reference(object);
}

// T derives from Object and has `static void destroy(T*) noexcept`.
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

  // Takes over a reference that the caller owns.
  static IntrusivePtr adopt(T* ptr) noexcept {
    IntrusivePtr result;
    result.ptr_ = ptr;
    return result;
  }
  // Adds a reference.
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
    if (old != nullptr && drop(old)) T::destroy(old);
  }

 private:
  T* ptr_ = nullptr;
};

}  // namespace tsr
