// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// DataParallel: every rank has the same model and other samples; the backward averages the
// gradients over the ranks while it runs (Li and others, "PyTorch Distributed: Experiences on
// Accelerating Data Parallel Training", 2020).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "autograd/hooks.h"
#include "base/intrusive_ptr.h"
#include "dist/buckets.h"
#include "dist/collectives.h"
#include "dist/one_thread.h"
#include "optim/owners.h"
#include "tensor/tensor.h"

namespace tsr::dist {

inline constexpr auto kDataParallelTag = static_cast<ObjectTag>(0x54534450U);

struct DataParallelOptions {
  int64_t bucket_bytes = 25 << 20;
  int64_t first_bucket_bytes = 1 << 20;  // small, so that the first collective starts early
  bool find_unused = false;              // some parameters may get no gradient
  bool broadcast_buffers = true;         // rank 0's buffers before each forward
  bool gradient_as_bucket_view = false;  // .grad is memory of the bucket
  std::optional<DType> reduce_dtype;     // gradients travel in this narrower dtype

  // Throws kValue.
  void check() const;
};

struct JoinOptions {
  bool divide_by_initial_size = true;  // false: by the number of ranks that still have samples
  bool fail_when_uneven = false;       // all ranks throw as soon as one has no more samples
};

// Note [Data-parallel step]
// A forward stands between begin_forward and end_forward. When the accumulator of a parameter has
// brought .grad up to date, a hook divides the gradient by the number of ranks into its place in a
// bucket. A bucket that is full is reduced while the backward goes on; buckets start in the same
// order on all ranks. When the outermost backward ends, a callback waits for them and copies the
// averages into .grad. After the first step the buckets are planned anew, in the order in which
// rank 0 got its gradients (in a join the first rank that had samples).
//
// All ranks call the same functions in the same order. One thread at a time, as for a tensor that
// is written; the backward runs on the thread of the forward. Nothing keeps a user from another
// backward over the parameters on another thread, so all functions and hooks throw kAutograd while
// another thread is inside.
class DataParallel final : public std::enable_shared_from_this<DataParallel> {
 public:
  // Gives all ranks the parameters and buffers of rank 0. Throws kValue if no parameter requires
  // grad or one is given twice, kAutograd for one that is no leaf, kShape on all ranks if the ranks
  // have different parameters or buffers, and the errors of collectives.
  static std::shared_ptr<DataParallel> create(GroupPtr group, std::span<const Tensor> params,
                                              std::span<const Tensor> buffers,
                                              const DataParallelOptions& options);

  // Throws kAutograd inside a backward that averages gradients. One that threw is forgotten.
  void begin_forward();
  // `outputs`: the tensors from which the backward may start; read with find_unused only.
  void end_forward(std::span<const Tensor> outputs);
  // With false, forwards from now on make backwards that only add to .grad; the next backward that
  // synchronizes reduces the sum. Returns what held before.
  bool set_sync(bool sync);

  // Between both, ranks may have different numbers of forwards. end_join takes part in the
  // collectives of the ranks that go on, and at the end gives all ranks the model of one that ran
  // to the end.
  void begin_join(JoinOptions options);
  void end_join();

  [[nodiscard]] Group& group() const noexcept { return *group_; }
  // The buckets, and what happened in the last backward that synchronized, in its order, as JSON:
  // {"rebuilt", "buckets": [{"dtype", "bytes", "params"}], "events": [{"kind", "number", "ns"}]}.
  // Kinds: "ready" with a parameter's number; "launched", "finished" with a bucket's.
  [[nodiscard]] std::string report() const;

 private:
  enum class EventKind : uint8_t { kReady, kLaunched, kFinished };
  struct Event {
    EventKind kind;
    size_t number;
    int64_t time;
  };
  // What happens before and after a forward. Between begin_join and end_join ranks tell each other.
  struct Step {
    int64_t active = 0;  // ranks that have samples
    int32_t lowest = 0;  // the first of them
    bool syncs = false, rebuilds = false, broadcasts = false;
  };

  // Removed with the object, also when create() throws.
  struct Hooks {
    std::vector<HookHandle> list;
    ~Hooks();
  };

  DataParallel(GroupPtr group, std::span<const Tensor> params, std::span<const Tensor> buffers,
               const DataParallelOptions& options);
  [[nodiscard]] OneThread::Entry enter() const { return {thread_, "data-parallel training"}; }
  void check_model(std::span<const Tensor> params) const;
  void add_hooks();
  void make_buckets(std::span<const size_t> order);
  void rebuild();
  void broadcast_model(int32_t source) const;
  void broadcast_buffers(int32_t source) const;
  [[nodiscard]] bool wants_rebuild() const noexcept;
  void prepare(const Step& step);
  [[nodiscard]] Step announce(const Step& mine) const;
  void check_even(const Step& step);
  void leave_join() noexcept;
  void find_unused(std::span<const Tensor> outputs);

  // One backward.
  void on_gradient(size_t number);
  void begin_reduction();
  void mark_ready(size_t number, bool reached);
  void fill(const Bucket& bucket, size_t place, const Tensor& grad);
  void launch_full();
  void finish();
  void mark_missing();
  void give_back(const Bucket& bucket, size_t place) const;
  void reset() noexcept;
  void shadow_backward();
  void note(EventKind kind, size_t number);

  mutable OneThread thread_;
  GroupPtr group_;
  DataParallelOptions options_;
  std::vector<Tensor> params_;  // those that require grad
  std::vector<Tensor> frozen_;  // the others, which only start equal
  std::vector<Tensor> buffers_;
  optim::Owners owned_;
  Hooks hooks_;  // one per parameter
  std::vector<Bucket> buckets_;
  struct Place {
    size_t bucket, index;
  };
  std::vector<Place> places_;  // of each parameter

  bool sync_ = true;
  bool expecting_ = false;      // the next backward synchronizes
  bool begun_ = false;          // it has begun
  bool forward_synced_ = true;  // the last forward was one that synchronizes
  bool stepped_ = false;        // a backward has synchronized, on this rank or without it
  bool rebuilt_ = false;
  int32_t order_source_ = 0;  // a rank that took part in the last forward that synchronizes
  std::optional<JoinOptions> join_;
  int32_t last_active_ = -1;  // a rank that took part in the last step between begin_ and end_join
  int64_t divisor_ = 1;

  // The backward that runs.
  std::vector<size_t> unused_;  // found before it
  // Of each parameter: it got a gradient in a backward that did not synchronize, since the last one
  // that did.
  std::vector<uint8_t> accumulated_;
  std::vector<uint8_t> ready_;  // of each parameter
  Tensor used_;                 // int32: how many ranks have a gradient of each parameter
  // Parameters that this backward does not reach and whose gradients are memory of a bucket, with
  // copies of these.
  std::vector<std::pair<size_t, Tensor>> spared_;
  std::vector<size_t> missing_;  // members of each bucket that are not ready
  size_t next_bucket_ = 0;
  std::vector<WorkPtr> works_;
  std::vector<Event> events_;
  std::vector<Event> last_events_;
};

}  // namespace tsr::dist
