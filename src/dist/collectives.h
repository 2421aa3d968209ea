// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Group: ranks that exchange tensors. Work: one operation of a group, under way or done.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/intrusive_ptr.h"
#include "dist/contract.h"
#include "memory/stream.h"
#include "tensor/tensor.h"

namespace tsr::dist {

inline constexpr auto kGroupTag = static_cast<ObjectTag>(0x54534752U);
inline constexpr auto kWorkTag = static_cast<ObjectTag>(0x5453574bU);
inline constexpr double kDefaultTimeout = 1800;

// A transport's context with the facts about it that do not change. Works keep it alive after their
// group is gone.
struct Channel;
using ChannelPtr = std::shared_ptr<Channel>;

// An operation that was started. Waiting also moves the results to where they belong, if the
// transport had to be given other memory (a tensor with gaps, a list, a device that the transport
// does not serve). On a device with a stream-ordered transport, wait makes the caller's current
// stream wait and returns at once, unless a time is given. Safe from several threads.
class Work final : public Object {
 public:
  static void destroy(Work* work) noexcept;

  // Throws kCancelled after `seconds` (absent: the timeout of the group), and the failure of the
  // operation: again at every call.
  void wait(std::optional<double> seconds = {});
  // Whether wait would return at once. A failed operation is done.
  [[nodiscard]] bool done();
  // The rank that a receive came from; -1 for other operations. After wait.
  [[nodiscard]] int32_t source();

  struct Parts;
  explicit Work(std::unique_ptr<Parts> parts) noexcept;

 private:
  ~Work() = default;
  void finish();
  std::unique_ptr<Parts> parts_;
};
using WorkPtr = IntrusivePtr<Work>;

struct GroupOptions {
  int32_t rank = -1;  // -1: the backend knows
  int32_t size = -1;
  double timeout = kDefaultTimeout;  // seconds
  bool check = true;                 // compare what the ranks ask for, where the backend can
  std::string address;               // where the ranks meet; its meaning is the backend's
  std::optional<Device> device;      // of this rank, for backends of one device
};

class Group;
using GroupPtr = IntrusivePtr<Group>;

// The rows of all ranks' parts together; kValue for a size below 0 and a sum above int64.
int64_t sum_of_parts(std::span<const int64_t> sizes, const char* arg);

// Every rank calls the same collectives in the same order, also when several threads of a process
// use the group. Operations return at once; the tensors must not be used until Work::wait has
// returned, except by operations queued on the same stream. They write memory, raise versions, and
// are not recorded by autograd. Tensors may have any layout. `op` must suit the dtype (kDType).
// Ranks and roots are those of this group; kIndex for one that it does not have.
class Group final : public Object {
 public:
  // Waits until all ranks are there. "threads": ranks are threads of this process, which meet under
  // the name `address`; other names are plugins, `libtessera_<backend>.so`. Throws kValue for an
  // unknown backend or impossible options, kIo or kBackend for a plugin that cannot be used,
  // kCancelled when ranks do not come in time.
  static GroupPtr init(std::string_view backend, const GroupOptions& options);
  // All ranks of a group of threads, for use by one thread each.
  static std::vector<GroupPtr> threads(int32_t size, double timeout = kDefaultTimeout);
  // Operations under way go on with what they need.
  static void destroy(Group* group) noexcept;

  [[nodiscard]] int32_t rank() const noexcept;
  [[nodiscard]] int32_t size() const noexcept;
  [[nodiscard]] const char* backend() const noexcept;
  [[nodiscard]] double timeout() const noexcept;
  // The rank that each member has in the group that init made.
  [[nodiscard]] std::span<const int32_t> ranks() const noexcept;

  // A collective of all members: those of one color form a group, in the order of (key, rank). Null
  // for a negative color.
  [[nodiscard]] GroupPtr split(int32_t color, int32_t key);
  // Cancels the operations under way; later ones fail with kCancelled and the reason.
  void abort(std::string_view reason);
  [[nodiscard]] bool aborted() const noexcept;

  // ---- collectives; tensors that are written are not const in spirit ----
  // In place. Several tensors may differ in shape and dtype; those of one dtype and device travel
  // together.
  WorkPtr all_reduce(std::span<const Tensor> tensors, ReduceOp op);
  WorkPtr all_reduce(const Tensor& tensor, ReduceOp op) { return all_reduce({&tensor, 1}, op); }
  // In place at the root; elsewhere the tensor is unchanged.
  WorkPtr reduce(const Tensor& tensor, ReduceOp op, int32_t root);
  WorkPtr broadcast(std::span<const Tensor> tensors, int32_t root);
  WorkPtr broadcast(const Tensor& tensor, int32_t root) { return broadcast({&tensor, 1}, root); }
  // `output` has size times the elements of `input`; rank r's are the r-th part.
  WorkPtr all_gather(const Tensor& output, const Tensor& input);
  WorkPtr all_gather(std::span<const Tensor> outputs, const Tensor& input);
  WorkPtr reduce_scatter(const Tensor& output, const Tensor& input, ReduceOp op);
  WorkPtr reduce_scatter(const Tensor& output, std::span<const Tensor> inputs, ReduceOp op);
  // The lists are empty except at the root.
  WorkPtr gather(std::span<const Tensor> outputs, const Tensor& input, int32_t root);
  WorkPtr scatter(const Tensor& output, std::span<const Tensor> inputs, int32_t root);
  // Parts along axis 0: `splits` has the rows of each rank's part; absent: equal parts.
  WorkPtr all_to_all(const Tensor& output, const Tensor& input,
                     std::optional<std::span<const int64_t>> output_splits = {},
                     std::optional<std::span<const int64_t>> input_splits = {});
  // Tensors may differ in shape; outputs[r] here has the elements of inputs[rank] there.
  WorkPtr all_to_all(std::span<const Tensor> outputs, std::span<const Tensor> inputs);
  WorkPtr barrier();
  WorkPtr send(const Tensor& tensor, int32_t peer, int32_t tag = 0);
  // From any rank if there is no peer.
  WorkPtr recv(const Tensor& tensor, std::optional<int32_t> peer, int32_t tag = 0);

 private:
  Group(ChannelPtr channel, std::vector<int32_t> ranks);
  ~Group() = default;
  int32_t check_rank(int32_t rank, const char* arg) const;

  ChannelPtr channel_;
  std::vector<int32_t> ranks_;
};

}  // namespace tsr::dist
