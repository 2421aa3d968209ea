// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Engine: the one owner of MPI in a process. A thread of it calls MPI_Init and MPI_Finalize and
// moves operations on while nobody waits for them.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dist/mpi/exchange.h"
#include "dist/mpi/peers.h"
#include "dist/transport.h"

namespace tsr::dist::mpi {

using Clock = std::chrono::steady_clock;

inline constexpr int kNoticeTag = 1;  // see Engine::control_

// Note [The line of an MPI context]
// The ranks of a context must start MPI's collectives in one order. Every collective of ours may
// take several of MPI's: a comparison of what the ranks ask for (on a communicator of its own), and
// then, on the main communicator, either the operation or an exchange of the details for the error
// text. So operations stand in a line, and the first one alone uses the main communicator. All
// ranks come to the same decision about it, as it depends on data that all ranks have.
enum class Stage {
  kQueued,
  kChecking,
  kExplaining,
  kCounting,
  kAgreeing,
  kSplitting,
  kRunning,
  kDone
};

struct Context;

// A split that a thread of its own waits for: MPI has none that does not block, and a rank that
// dies in it never comes. The thread keeps its share when nobody waits any more.
struct Splitting {
  MPI_Comm main = MPI_COMM_NULL;
  MPI_Comm checks = MPI_COMM_NULL;
  int code = MPI_SUCCESS;
  std::atomic<bool> done{false};
};

struct Operation : Request {
  Operation(Context& of, Request&& asked) : Request(std::move(asked)), context(&of) {}

  Context* const context;
  Stage stage = Stage::kQueued;
  std::vector<MPI_Request> requests;
  std::unique_ptr<Exchange> exchange;  // of a long reduction, instead of requests
  Status status = kOk;
  Failure failure;
  bool memory_in_use = false;  // MPI may still write after a failure
  int32_t source = kAnySource;

  // Memory of the steps.
  uint64_t digest[2] = {};
  uint64_t largest[2] = {};
  std::vector<Signature> all;
  std::vector<int64_t> announced;
  std::vector<int> counts[4];  // lengths and places, sent and received, as MPI takes them
  int32_t disagrees = 0;
  int32_t anyone_disagrees = 0;
  // Of a split.
  int32_t color = -1;
  int32_t key = 0;
  std::shared_ptr<Splitting> splitting;
  Context* part = nullptr;

  // A split cannot be taken back, so that all ranks must be there first.
  [[nodiscard]] bool is_compared() const;
  [[nodiscard]] bool is_message() const {
    return signature.kind == Collective::kSend || signature.kind == Collective::kRecv;
  }
};

struct Context {
  MPI_Comm main = MPI_COMM_NULL;
  MPI_Comm checks = MPI_COMM_NULL;
  int32_t rank = 0;
  int32_t size = 1;
  bool check = true;
  double timeout = 0;
  int64_t started = 0;
  std::vector<int32_t> world_ranks;
  Peers peers;
  std::deque<Operation*> line;
  std::list<Operation*> running;
  bool aborted = false;
  Failure reason;
  std::string broken;           // what MPI answered when it failed: the context ends
  Clock::time_point doubted{};  // when a rank was first found to have ended

  [[nodiscard]] bool idle() const { return line.empty() && running.empty(); }
};

inline bool Operation::is_compared() const {
  const bool wanted = context->check || signature.kind == Collective::kSplit;
  return wanted && context->size > 1 && !is_message();
}

// A context that is being made by MPI's calls that do not block, so that a rank that does not come
// is found after a time.
struct Opening {
  std::unique_ptr<Context> context;
  MPI_Request request = MPI_REQUEST_NULL;
  int step = 0;
  int32_t checks[2] = {};  // the smallest `check` of all ranks, and the negative of the largest
  bool done = false;
};

class Engine {
 public:
  static Engine& instance();

  // Starts MPI at the first call, where it waits for the other ranks. Throws nothing.
  Status start(double seconds, Failure* failure);
  Status open(const InitOptions& options, Context** out, Failure* failure);
  void close(Context* context);

  // Refuses when the context is aborted; else the operation is under way.
  Status submit(Operation* operation, Failure* failure);
  Status wait(Operation& operation, double seconds, Failure* failure);
  bool test(Operation& operation);
  // As Table::abort.
  bool abort(Context& context, const char* reason, Failure* failure);
  // Whether MPI takes device memory in messages and in collectives.
  [[nodiscard]] bool cuda_messages() const { return cuda_messages_; }
  [[nodiscard]] bool cuda_collectives() const { return cuda_collectives_; }

 private:
  Engine() = default;
  void run();
  void initialise();
  void ask_about_cuda();
  void finalise();
  std::vector<MPI_Request> send_notices(int rank, int size);
  bool await_notices(int size);
  static void at_exit();

  // All with the lock, on a thread that may call MPI.
  void progress() noexcept;
  void move_all();
  void move_opening();
  void find_absent();
  void fill(Context& context);
  void advance(Context& context);
  bool step(Operation& operation);
  void begin_split(Operation& operation);
  void end_split(Operation& operation);
  void test_running(Context& context);
  void find_lost(Context& context, Clock::time_point now);
  void read_notices(Clock::time_point now);
  void end_all(Context& context, Code code, std::string_view reason) noexcept;
  void finish(Operation& operation, Status status) noexcept;
  void fail_mpi(Operation& operation, int code, const char* call);

  // Guards what follows, but for the atomics, and all contexts with their operations. What MPI and
  // the environment can do (any_thread_ to cuda_collectives_) is written once, before initialised_.
  std::mutex mutex_;
  std::condition_variable changed_;
  bool started_ = false;
  bool initialised_ = false;
  bool ending_ = false;
  bool ended_ = false;
  bool owns_mpi_ = false;
  bool any_thread_ = false;       // threads other than ours may call MPI, one at a time
  bool several_threads_ = false;  // several at a time
  bool cuda_messages_ = false;
  bool cuda_collectives_ = false;
  bool spoiled_ = false;  // a context was aborted: MPI_Finalize could wait for ever
  double longest_timeout_ = 0;
  std::string start_error_;
  std::list<Context*> contexts_;
  std::vector<Context*> closing_;
  Opening* opening_ = nullptr;  // one at a time
  // Some ranks did not come: MPI cannot make another context.
  std::string opening_failure_;
  Code opening_code_ = Code::kCancelled;
  std::vector<Identity> world_;  // the processes of all ranks
  Peers world_peers_;
  std::atomic<int32_t> waiters_{0};
  std::atomic<int32_t> splits_{0};  // threads in MPI_Comm_split
  Clock::time_point looked_{};

  // Notices of ranks that end: the rank, or its complement if that rank leaves MPI_Finalize out.
  MPI_Comm control_ = MPI_COMM_NULL;
  MPI_Request notice_request_ = MPI_REQUEST_NULL;
  int32_t notice_ = 0;
  int32_t own_notice_ = 0;
  std::vector<std::pair<int32_t, Clock::time_point>> left_;
  bool no_end_ = false;  // a rank never comes to MPI_Finalize
};

// ---- The parts of an operation on the main communicator (post.cpp) ----

// An error text if MPI cannot count the elements. Of other operations than all_to_all it is the
// same on all ranks.
std::optional<std::string> too_long(const Operation& operation);
// Starts MPI's operation. Returns MPI's code.
int post(Operation& operation);
// What remains to be done with the results of a finished one.
void complete(Operation& operation, const std::vector<MPI_Status>& statuses);

}  // namespace tsr::dist::mpi
