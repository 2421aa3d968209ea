// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The cache of the tables of transforms.
#include <mutex>
#include <unordered_map>

#include "backend/cpu/fft/roots.h"
#include "backend/cpu/fft/transform.h"
#include "backend/cpu/level.h"
#include "base/guarded_mutex.h"
#include "base/immortal.h"

namespace tsr::cpu {
namespace {

// Bounds the memory of all tables of one kind; larger tables are not kept.
constexpr int64_t kRoom = int64_t{64} << 20;

template <class Value>
class Cache {
 public:
  // The value of this key; make() returns it, and nbytes_of(value) is its size.
  template <class Make, class Size>
  std::shared_ptr<const Value> find(int64_t key, Make make, Size nbytes_of) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = map_.find(key);
      if (found != map_.end()) return found->second;
    }
    const std::shared_ptr<const Value> made = make();
    const int64_t nbytes = nbytes_of(*made);
    if (nbytes > kRoom) return made;
    const std::lock_guard lock(mutex_);
    if (used_ + nbytes > kRoom) {
      map_.clear();
      used_ = 0;
    }
    if (map_.emplace(key, made).second) used_ += nbytes;
    return made;
  }

 private:
  GuardedMutex mutex_;
  int64_t used_ = 0;
  std::unordered_map<int64_t, std::shared_ptr<const Value>> map_;
};

}  // namespace

template <class T>
std::shared_ptr<const Transform<T>> transform_of(int64_t length) {
  return immortal<Cache<Transform<T>>>().find(
      length, [&] { return std::make_shared<const Transform<T>>(rows_of<FftRows<T>>(), length); },
      [](const Transform<T>& made) { return made.nbytes(); });
}

template <class T>
std::shared_ptr<const std::vector<T>> half_roots_of(int64_t h) {
  return immortal<Cache<std::vector<T>>>().find(
      h,
      [&] {
        const auto table = std::make_shared<std::vector<T>>(static_cast<size_t>(2 * h));
        const Roots<T> roots(2 * h);
        for (int64_t k = 0; k < h; ++k) {
          const std::complex<T> root = roots(k);
          (*table)[static_cast<size_t>(k)] = root.real();
          (*table)[static_cast<size_t>(h + k)] = -root.imag();
        }
        return table;
      },
      [](const std::vector<T>& made) { return static_cast<int64_t>(made.size() * sizeof(T)); });
}

template std::shared_ptr<const Transform<float>> transform_of(int64_t length);
template std::shared_ptr<const Transform<double>> transform_of(int64_t length);
template std::shared_ptr<const std::vector<float>> half_roots_of(int64_t h);
template std::shared_ptr<const std::vector<double>> half_roots_of(int64_t h);

}  // namespace tsr::cpu
