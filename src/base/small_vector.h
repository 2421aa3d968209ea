// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// SmallVector<T, N>: a vector whose first N elements need no heap. For shapes, strides, edges,
// gradients.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace tsr {

template <class T, size_t N>
class SmallVector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() noexcept = default;
  explicit SmallVector(size_t count, const T& value = T()) { resize(count, value); }
  SmallVector(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  template <class Iterator>
  requires(!std::is_integral_v<Iterator>) SmallVector(Iterator first, Iterator last) {
    assign(first, last);
  }
  explicit SmallVector(std::span<const T> values) { assign(values.begin(), values.end()); }
  SmallVector(const SmallVector& other) {
    if constexpr (kCopiesWhole) {
      if (other.size_ <= N) {
        __builtin_memcpy(inline_, other.data_, sizeof(inline_));
        size_ = other.size_;
        return;
      }
    }
    assign(other.begin(), other.end());
  }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  ~SmallVector() { release(); }

  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }

  [[nodiscard]] size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] size_t capacity() const noexcept { return capacity_; }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  iterator begin() noexcept { return data_; }
  iterator end() noexcept { return data_ + size_; }
  const_iterator begin() const noexcept { return data_; }
  const_iterator end() const noexcept { return data_ + size_; }
  T& operator[](size_t i) noexcept { return data_[i]; }
  const T& operator[](size_t i) const noexcept { return data_[i]; }
  T& front() noexcept { return data_[0]; }
  const T& front() const noexcept { return data_[0]; }
  T& back() noexcept { return data_[size_ - 1]; }
  const T& back() const noexcept { return data_[size_ - 1]; }

  void reserve(size_t count) {
    if (count > capacity_) grow(count);
  }

  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) grow(size_ + 1);
    T* place = std::construct_at(data_ + size_, std::forward<Args>(args)...);
    ++size_;
    return *place;
  }
  void push_back(T value) { emplace_back(std::move(value)); }
  void pop_back() noexcept { std::destroy_at(data_ + --size_); }

  void insert(size_t index, T value) {
    emplace_back(std::move(value));
    std::rotate(data_ + index, data_ + size_ - 1, data_ + size_);
  }
  void erase(size_t index) noexcept {
    std::move(data_ + index + 1, data_ + size_, data_ + index);
    pop_back();
  }

  void resize(size_t count, const T& value = T()) {
    reserve(count);
    while (size_ > count) pop_back();
    while (size_ < count) emplace_back(value);
  }
  void clear() noexcept {
    std::destroy_n(data_, size_);
    size_ = 0;
  }
  template <class Iterator>
  void assign(Iterator first, Iterator last) {
    clear();
    reserve(static_cast<size_t>(std::distance(first, last)));
    for (; first != last; ++first) emplace_back(*first);
  }

  // A loop of its own: std::equal calls memcmp, which costs more than a few elements do.
  friend bool operator==(const SmallVector& a, const SmallVector& b) noexcept {
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; ++i) {
      if (!(a.data_[i] == b.data_[i])) return false;
    }
    return true;
  }

 private:
  // All places are copied, also those that hold no element: a few registers instead of a loop.
  // Memory on the heap has more than N places.
  static constexpr bool kCopiesWhole = std::is_trivially_copyable_v<T> && sizeof(T[N]) <= 64;

  T* inline_data() noexcept { return std::launder(reinterpret_cast<T*>(inline_)); }
  [[nodiscard]] bool on_heap() const noexcept {
    return static_cast<const void*>(data_) != static_cast<const void*>(inline_);
  }

  void grow(size_t count) {
    const size_t capacity = std::max(count, capacity_ * 2);
    T* fresh = std::allocator<T>().allocate(capacity);
    std::uninitialized_move_n(data_, size_, fresh);
    std::destroy_n(data_, size_);
    if (on_heap()) std::allocator<T>().deallocate(data_, capacity_);
    data_ = fresh;
    capacity_ = capacity;
  }
  void release() noexcept {
    std::destroy_n(data_, size_);
    if (on_heap()) std::allocator<T>().deallocate(data_, capacity_);
    data_ = inline_data();
    size_ = 0;
    capacity_ = N;
  }
  // Leaves `other` empty; this object must hold nothing.
  void take(SmallVector& other) noexcept {
    if (other.on_heap()) {
      data_ = std::exchange(other.data_, other.inline_data());
      capacity_ = std::exchange(other.capacity_, N);
      size_ = std::exchange(other.size_, 0);
      return;
    }
    std::uninitialized_move_n(other.data_, other.size_, data_);
    size_ = other.size_;
    other.clear();
  }

  alignas(T) std::byte inline_[sizeof(T[N])];
  T* data_ = inline_data();
  size_t size_ = 0;
  size_t capacity_ = N;
};

// Sizes, strides and axis lists.
using Dims = SmallVector<int64_t, 6>;
using DimsView = std::span<const int64_t>;

}  // namespace tsr
