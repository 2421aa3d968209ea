// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Channel: a transport's context with the streams on which its operations run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/fork_mutex.h"
#include "dist/collectives.h"

namespace tsr::dist {

struct Channel {
  Channel(const Table& transport, ContextHandle made, double seconds, std::optional<Device> own)
      : table(transport),
        context(made),
        rank(transport.rank(made)),
        size(transport.size(made)),
        timeout(seconds),
        device(own) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() { table.destroy(context); }

  // The stream of a stream-ordered transport's operations on this device, made at first use.
  Stream& stream_on(Device device);

  const Table& table;
  const ContextHandle context;
  const int32_t rank;
  const int32_t size;
  const double timeout;
  const std::optional<Device> device;  // of this rank, of transports that serve one

 private:
  ForkMutex mutex_;
  std::vector<IntrusivePtr<Stream>> streams_;
};

// Throws the error of a transport's function.
[[noreturn]] void throw_failure(Status status, const Failure& failure, const char* what);

// An operation that is being prepared: memory that the transport can use, and what is to be done
// when it has finished.
struct Work::Parts {
  // One start of several may fail: then the others are still under way.
  struct Discard {
    void operator()(Parts* parts) const noexcept { discard(std::unique_ptr<Parts>(parts)); }
  };
  using Preparing = std::unique_ptr<Parts, Discard>;

  explicit Parts(ChannelPtr of, Collective one, ReduceOp op = ReduceOp::kSum)
      : channel(std::move(of)), kind(one), reduce(op), what(name(one)) {}
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  // Only of an operation that has ended; see discard.
  ~Parts();

  // ---- preparation ----
  // A row-major copy where the tensor itself cannot be given. `apart`: also if the memory is shared
  // with this tensor.
  Buffer source(const Tensor& tensor, const Tensor* apart = nullptr);
  // As source, for memory that is written; `reads`: it is also read.
  Buffer target(const Tensor& tensor, bool reads);
  // Several tensors behind each other. One dtype and device; throws kDType, kDevice.
  Buffer sources(std::span<const Tensor> tensors, const char* arg, const Tensor* apart = nullptr);
  Buffer targets(std::span<const Tensor> tensors, bool reads, const char* arg);
  // The stream of the operation waits for the caller's, or the host does.
  void make_ready(Device device, Buffer* first, Buffer* second = nullptr);

  // Calls an entry of the transport's table with the context, arguments and the place for the work.
  template <class Entry, class... Args>
  void start(Entry entry, const Args&... args) {
    if (entry == nullptr) throw_missing();
    works.reserve(works.size() + 1);
    WorkHandle work = nullptr;
    Failure reason;
    const Status started = entry(channel->context, args..., &work, &reason);
    if (started != kOk) throw_failure(started, reason, what);
    works.push_back(work);
  }
  // What `buffer`, the place of these results, gets is a sum where an average was asked for, if the
  // transport leaves the division to the library.
  void divide_later(const Buffer& buffer, std::span<const Tensor> results);
  // After the last start: marks the end on the stream, and gives the work to its owner.
  static WorkPtr give(Preparing parts);
  [[noreturn]] void throw_missing() const;

  // ---- while it runs ----
  // Keeps an operation that nobody waits for until it has ended.
  static void discard(std::unique_ptr<Parts> parts) noexcept;
  [[nodiscard]] bool transport_done();

  ChannelPtr channel;
  const Collective kind;
  const ReduceOp reduce;
  const char* const what;
  std::vector<WorkHandle> works;
  std::vector<Tensor> kept;
  std::vector<std::pair<Tensor, Tensor>> copies;  // to, from
  std::vector<Tensor> sums;                       // to be divided by the number of ranks
  std::vector<IntrusivePtr<Event>> events;        // of a stream-ordered transport
  Device device;
  bool on_host = false;  // a wait without a time also waits for the device

  // Guards what follows: the end of the operation.
  ForkMutex mutex;
  bool ended = false;
  Status status = kOk;
  Failure failure;
  int32_t source_rank = kAnySource;

 private:
  [[nodiscard]] bool serves(const Tensor& tensor) const;
  // Row-major memory that the transport can use.
  Tensor packed_like(const Tensor& tensor) const;
  Tensor flat_for(std::span<const Tensor> tensors, const char* arg) const;
};

}  // namespace tsr::dist
