// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/staging.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "backend/cuda/host.h"

namespace tsr::cuda {
namespace {

// A pinned buffer; the event marks the copy that used it last.
struct Buffer {
  char* data = nullptr;
  cudaEvent_t copied = nullptr;
};

// Idle buffers of one size on one device, the least recently used first.
struct Ring {
  size_t made = 0;
  std::deque<Buffer> idle;
};

// Many small buffers, so that small copies can be queued ahead of slow work; large copies are cut
// into pieces.
constexpr uint64_t kSmall = uint64_t{64} << 10;
constexpr uint64_t kLarge = uint64_t{4} << 20;
constexpr size_t kMostSmall = 64;  // more only where as many threads copy at once
constexpr size_t kMostLarge = 4;

struct Rings {
  std::mutex mutex;
  Ring of[kMaxDevices][2];
};
// Never destroyed: copies may still run while the process exits.
Rings& rings() {
  static auto& one = *new Rings;
  return one;
}

cudaError_t make(uint64_t nbytes, Buffer& buffer) {
  void* data = nullptr;
  cudaError_t error = cudaEventCreateWithFlags(&buffer.copied, cudaEventDisableTiming);
  if (error != cudaSuccess) return error;
  error = cudaHostAlloc(&data, nbytes, cudaHostAllocPortable);
  if (error != cudaSuccess) static_cast<void>(cudaEventDestroy(buffer.copied));
  buffer.data = static_cast<char*>(data);
  return error;
}

// A buffer for exclusive use. The device must be current.
class Taken {
 public:
  Taken(int32_t device, uint64_t nbytes)
      : ring_(rings().of[device][nbytes <= kSmall ? 0 : 1]),
        nbytes_(nbytes <= kSmall ? kSmall : kLarge) {
    error_ = take();
  }
  ~Taken() {
    if (buffer_.data == nullptr) return;
    const std::lock_guard lock(rings().mutex);
    try {
      ring_.idle.push_back(buffer_);
    } catch (...) {
      --ring_.made;  // leaked: freeing pinned memory would wait for the device
    }
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

  [[nodiscard]] cudaError_t error() const { return error_; }
  [[nodiscard]] char* data() const { return buffer_.data; }
  [[nodiscard]] uint64_t nbytes() const { return nbytes_; }
  cudaError_t mark(cudaStream_t stream) { return cudaEventRecord(buffer_.copied, stream); }
  cudaError_t wait() { return cudaEventSynchronize(buffer_.copied); }

 private:
  // Takes the oldest idle buffer if its copy is done, else makes a new one; at the limit, waits for
  // the oldest.
  cudaError_t take() {
    {
      const std::lock_guard lock(rings().mutex);
      const size_t most = nbytes_ == kSmall ? kMostSmall : kMostLarge;
      const bool enough = ring_.made >= most;
      const bool done =
          !ring_.idle.empty() && cudaEventQuery(ring_.idle.front().copied) == cudaSuccess;
      if (!ring_.idle.empty() && (done || enough)) {
        buffer_ = ring_.idle.front();
        ring_.idle.pop_front();
      } else {
        ++ring_.made;
      }
    }
    static_cast<void>(cudaGetLastError());  // "not ready" is no failure
    if (buffer_.data != nullptr) return cudaEventSynchronize(buffer_.copied);
    const cudaError_t error = make(nbytes_, buffer_);
    if (error == cudaSuccess) return error;
    const std::lock_guard lock(rings().mutex);
    --ring_.made;
    return error;
  }

  Ring& ring_;
  uint64_t nbytes_;
  Buffer buffer_;
  cudaError_t error_ = cudaSuccess;
};

// Fallback without pinned memory: CUDA's own copy.
cudaError_t plain(void* dst, const void* src, uint64_t nbytes, cudaMemcpyKind kind,
                  cudaStream_t stream) {
  static_cast<void>(cudaGetLastError());
  const cudaError_t error = cudaMemcpyAsync(dst, src, nbytes, kind, stream);
  return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

// Starts the copy of one piece of a download.
cudaError_t fetch(Taken& buffer, const char* src, uint64_t nbytes, cudaStream_t stream) {
  const cudaError_t error =
      cudaMemcpyAsync(buffer.data(), src, nbytes, cudaMemcpyDeviceToHost, stream);
  return error == cudaSuccess ? buffer.mark(stream) : error;
}
cudaError_t deliver(Taken& buffer, char* dst, uint64_t nbytes) {
  const cudaError_t error = buffer.wait();
  if (error == cudaSuccess) std::memcpy(dst, buffer.data(), nbytes);
  return error;
}

}  // namespace

cudaError_t upload(int32_t device, void* dst, const void* src, uint64_t nbytes,
                   cudaStream_t stream) noexcept {
  auto* to = static_cast<char*>(dst);
  const auto* from = static_cast<const char*>(src);
  while (nbytes > 0) {
    Taken buffer(device, nbytes);
    if (buffer.error() != cudaSuccess)
      return plain(to, from, nbytes, cudaMemcpyHostToDevice, stream);
    const uint64_t piece = std::min(nbytes, buffer.nbytes());
    std::memcpy(buffer.data(), from, piece);
    cudaError_t error = cudaMemcpyAsync(to, buffer.data(), piece, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess) error = buffer.mark(stream);
    if (error != cudaSuccess) return error;
    to += piece;
    from += piece;
    nbytes -= piece;
  }
  return cudaSuccess;
}

// The next piece is copied from the device while the one before is copied to its destination.
cudaError_t download(int32_t device, void* dst, const void* src, uint64_t nbytes,
                     cudaStream_t stream) noexcept {
  auto* to = static_cast<char*>(dst);
  const auto* from = static_cast<const char*>(src);
  Taken first(device, nbytes);
  std::optional<Taken> second;
  if (nbytes > first.nbytes()) second.emplace(device, nbytes);
  if (first.error() != cudaSuccess || (second && second->error() != cudaSuccess))
    return plain(dst, src, nbytes, cudaMemcpyDeviceToHost, stream);
  Taken* now = &first;
  Taken* next = second ? &*second : nullptr;
  uint64_t piece = std::min(nbytes, now->nbytes());
  cudaError_t error = fetch(*now, from, piece, stream);
  while (error == cudaSuccess && nbytes > 0) {
    const uint64_t rest = nbytes - piece;
    const uint64_t following = std::min(rest, now->nbytes());
    if (rest > 0) error = fetch(*next, from + piece, following, stream);
    if (error == cudaSuccess) error = deliver(*now, to, piece);
    to += piece;
    from += piece;
    nbytes = rest;
    piece = following;
    std::swap(now, next);
  }
  return error;
}

}  // namespace tsr::cuda
