// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The life of MPI in a process: starting, waiting, leaving.
#include "dist/mpi/engine.h"

#include <mpi-ext.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <thread>

namespace tsr::dist::mpi {
namespace {

using std::chrono::microseconds;

// A child has MPI's memory but not its connections, nor the thread of the engine; locks that other
// threads held stay locked there. So nothing of the engine is touched in a child.
std::atomic<bool> g_forked{false};

Status refuse_child(Failure* failure) {
  return failure->set(Code::kBackend, "expected the process that started MPI, got its child");
}

// Raises a count as long as it lives.
class Counted {
 public:
  explicit Counted(std::atomic<int32_t>& count) : count_(count) { ++count_; }
  ~Counted() { --count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::atomic<int32_t>& count_;
};

Status refuse_late(Failure* failure) {
  return failure->set(Code::kBackend, "expected a program that goes on, got one that is ending");
}

// Short waits give up the processor, longer ones sleep.
void pause(int turn) {
  constexpr int kSpins = 2000;
  if (turn < kSpins)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(microseconds(50));
}

std::string seconds_text(double seconds) {
  char text[32];
  return std::string(text, std::to_chars(text, std::end(text), seconds).ptr) + " s";
}

}  // namespace

Engine& Engine::instance() {
  // Never destroyed: its thread runs until the process ends.
  static Engine* const engine = new Engine;
  return *engine;
}

// ---- Life ----

Status Engine::start(double seconds, Failure* failure) {
  if (g_forked) return refuse_child(failure);
  std::unique_lock lock(mutex_);
  if (ending_) return refuse_late(failure);
  if (!started_) {
    std::thread([this] { run(); }).detach();
    started_ = true;
    pthread_atfork(nullptr, nullptr, [] { g_forked = true; });
    std::atexit(at_exit);
  }
  const auto ready = [this] { return initialised_; };
  if (!changed_.wait_until(lock, deadline_after(seconds), ready)) {
    return failure->set(Code::kCancelled, "MPI did not start within " + seconds_text(seconds) +
                                              ", perhaps because not all ranks started it");
  }
  if (!start_error_.empty()) return failure->set(Code::kBackend, start_error_);
  return kOk;
}

void Engine::initialise() {
  int already = 0, level = 0;
  MPI_Initialized(&already);
  if (already != 0) {
    // Whoever initialised MPI calls it too, at any time.
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE) {
      start_error_ =
          "expected an MPI that several threads may call at a time (MPI_THREAD_MULTIPLE), got one "
          "that the program initialised without";
      return;
    }
  } else if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS) {
    start_error_ = "MPI_Init_thread failed";
    return;
  }
  owns_mpi_ = already == 0;
  any_thread_ = level >= MPI_THREAD_SERIALIZED;
  several_threads_ = level >= MPI_THREAD_MULTIPLE;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  ask_about_cuda();
  MPI_Comm_dup(MPI_COMM_WORLD, &control_);
  int rank = 0, size = 1;
  MPI_Comm_rank(control_, &rank);
  MPI_Comm_size(control_, &size);
  world_.resize(static_cast<size_t>(size));
  Identity own = Identity::own();
  MPI_Allgather(&own, sizeof(own), MPI_BYTE, world_.data(), sizeof(own), MPI_BYTE, control_);
  world_peers_.watch(world_, rank);
  MPI_Irecv(&notice_, 1, MPI_INT32_T, MPI_ANY_SOURCE, kNoticeTag, control_, &notice_request_);
}

// Open MPI takes device memory in messages if it was built for that, but not in the collectives
// that do not block. Some other builds do; they do not tell.
void Engine::ask_about_cuda() {
#ifdef MPIX_CUDA_AWARE_SUPPORT
  cuda_messages_ = MPIX_Query_cuda_support() == 1;
#endif
  const char* told = std::getenv("TESSERA_MPI_CUDA");
  if (told == nullptr) return;
  const std::string_view what = told;
  cuda_messages_ = what == "messages" || what == "all";
  cuda_collectives_ = what == "all";
}

// The thread of the engine.
void Engine::run() {
  initialise();  // without the lock: it waits for the other ranks
  std::unique_lock lock(mutex_);
  initialised_ = true;
  changed_.notify_all();
  while (!ending_) {
    const auto has_work = [this] {
      return ending_ || opening_ != nullptr || !closing_.empty() ||
             std::any_of(contexts_.begin(), contexts_.end(),
                         [](const Context* context) { return !context->idle(); });
    };
    changed_.wait(lock, has_work);
    if (ending_) break;
    progress();
    lock.unlock();
    // Those who wait move operations on themselves.
    std::this_thread::sleep_for(microseconds(any_thread_ && waiters_.load() > 0 ? 1000 : 30));
    lock.lock();
  }
  lock.unlock();
  finalise();
  lock.lock();
  ended_ = true;
  changed_.notify_all();
}

// Tells the others that this rank leaves, so that nobody waits for it, and waits for them.
void Engine::finalise() {
  if (!start_error_.empty() || !owns_mpi_) return;
  int rank = 0, size = 1;
  MPI_Comm_rank(control_, &rank);
  MPI_Comm_size(control_, &size);
  const bool no_end = spoiled_ || splits_ > 0;  // somebody may never come to MPI_Finalize
  own_notice_ = no_end ? ~rank : rank;
  std::vector<MPI_Request> sent = send_notices(rank, size);
  const auto all_sent = [&sent] {
    int done = 0;
    MPI_Testall(static_cast<int>(sent.size()), sent.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  };
  if (no_end) {
    // A rank that does not answer must not keep this one.
    for (const auto deadline = deadline_after(1); !all_sent() && Clock::now() < deadline;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return;
  }
  if (!await_notices(size)) return;
  MPI_Waitall(static_cast<int>(sent.size()), sent.data(), MPI_STATUSES_IGNORE);
  if (notice_request_ != MPI_REQUEST_NULL) {
    MPI_Cancel(&notice_request_);
    MPI_Wait(&notice_request_, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
}

std::vector<MPI_Request> Engine::send_notices(int rank, int size) {
  std::vector<MPI_Request> sent;
  for (int other = 0; other < size; ++other) {
    if (other == rank || world_peers_.has_ended(other)) continue;
    sent.push_back(MPI_REQUEST_NULL);
    MPI_Isend(&own_notice_, 1, MPI_INT32_T, other, kNoticeTag, control_, &sent.back());
  }
  return sent;
}

// False if a rank has died, or has left without MPI_Finalize, which would wait for it. A rank that
// left in an orderly way lives until all are in MPI_Finalize.
bool Engine::await_notices(int size) {
  while (left_.size() < static_cast<size_t>(size) - 1) {
    if (no_end_ || world_peers_.ended()) return false;
    read_notices(Clock::now());
    // Not MPI_Wait, which takes a processor from those that still compute.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return !no_end_;
}

void Engine::at_exit() {
  if (g_forked) return;
  Engine& engine = instance();
  std::unique_lock lock(engine.mutex_);
  engine.ending_ = true;
  engine.changed_.notify_all();
  // Ranks may still compute for long; one that has failed never comes.
  engine.changed_.wait_until(lock, deadline_after(engine.longest_timeout_),
                             [&engine] { return engine.ended_; });
}

// ---- Contexts ----

Status Engine::open(const InitOptions& options, Context** out, Failure* failure) {
  const auto deadline = deadline_after(options.timeout_seconds);
  auto opening = std::make_unique<Opening>();
  opening->context = std::make_unique<Context>();
  opening->context->check = options.check != 0;
  opening->context->timeout = options.timeout_seconds;
  std::unique_lock lock(mutex_);
  if (ending_) return refuse_late(failure);
  int size = 0, rank = 0;
  MPI_Comm_size(control_, &size);
  MPI_Comm_rank(control_, &rank);
  const bool fits =
      (options.size == -1 || options.size == size) && (options.rank == -1 || options.rank == rank);
  if (!fits) {
    return failure->set(Code::kValue, "expected rank " + std::to_string(rank) + " of " +
                                          std::to_string(size) + ", as MPI says, got " +
                                          std::to_string(options.rank) + " of " +
                                          std::to_string(options.size));
  }
  const bool free =
      changed_.wait_until(lock, deadline, [this] { return opening_ == nullptr || ending_; });
  if (!opening_failure_.empty()) return failure->set(opening_code_, opening_failure_);
  if (ending_) return refuse_late(failure);
  if (!free) {
    return failure->set(Code::kCancelled,
                        "another thread of this rank still begins a group after " +
                            seconds_text(options.timeout_seconds));
  }
  opening_ = opening.get();
  changed_.notify_all();
  const auto done = [&] { return opening->done || !opening_failure_.empty() || ending_; };
  if (!changed_.wait_until(lock, deadline, done)) {
    opening_failure_ = "not all of " + std::to_string(size) + " ranks began a group within " +
                       seconds_text(options.timeout_seconds);
  }
  if (!opening->done) {
    spoiled_ = true;
    opening_ = nullptr;
    static_cast<void>(opening.release());  // MPI still writes there
    return ending_ ? refuse_late(failure) : failure->set(opening_code_, opening_failure_);
  }
  if (opening->checks[0] != -opening->checks[1]) {
    closing_.push_back(opening->context.release());
    return failure->set(Code::kValue,
                        "expected all ranks checked or all unchecked, got some of each");
  }
  longest_timeout_ = std::max(longest_timeout_, options.timeout_seconds);
  contexts_.push_back(opening->context.get());
  *out = opening->context.release();
  return kOk;
}

void Engine::close(Context* context) {
  if (g_forked) return;
  const std::lock_guard lock(mutex_);
  contexts_.remove(context);
  closing_.push_back(context);
  changed_.notify_all();
}

// ---- Operations ----

Status Engine::submit(Operation* operation, Failure* failure) {
  if (g_forked) return refuse_child(failure);
  const std::lock_guard lock(mutex_);
  if (ending_) return refuse_late(failure);
  Context& context = *operation->context;
  if (context.aborted) return failure->set(Code::kCancelled, context.reason.text);
  if (operation->is_message()) {
    operation->stage = Stage::kQueued;
  } else {
    operation->signature.number = context.started++;
  }
  context.line.push_back(operation);
  if (any_thread_) progress();
  changed_.notify_all();
  return kOk;
}

bool Engine::test(Operation& operation) {
  if (g_forked) return true;
  const std::lock_guard lock(mutex_);
  if (ending_) return true;
  if (operation.stage != Stage::kDone && any_thread_) progress();
  return operation.stage == Stage::kDone;
}

Status Engine::wait(Operation& operation, double seconds, Failure* failure) {
  if (g_forked) return refuse_child(failure);
  const auto deadline = deadline_after(seconds);
  const Counted waiting(waiters_);
  for (int turn = 0;; ++turn) {
    {
      std::unique_lock lock(mutex_);
      if (operation.stage != Stage::kDone && ending_) return refuse_late(failure);
      if (operation.stage != Stage::kDone && any_thread_) progress();
      if (operation.stage != Stage::kDone && Clock::now() >= deadline) {
        Context& context = *operation.context;
        std::string text = describe(operation.signature) + " was not done after " +
                           seconds_text(seconds) + " on rank " + std::to_string(context.rank) +
                           " of " + std::to_string(context.size) + " ranks";
        if (const auto stopped = context.peers.stopped(); stopped) text += "; " + *stopped;
        end_all(context, Code::kCancelled, text);
      }
      if (operation.stage == Stage::kDone) {
        if (operation.status != kOk) *failure = operation.failure;
        return operation.status;
      }
      if (!any_thread_) changed_.wait_for(lock, microseconds(500));
    }
    pause(turn);
  }
}

bool Engine::abort(Context& context, const char* reason, Failure* failure) {
  if (g_forked) {
    if (failure != nullptr) refuse_child(failure);
    return true;
  }
  const std::lock_guard lock(mutex_);
  const bool before = context.aborted;
  if (before && failure != nullptr) *failure = context.reason;
  if (reason != nullptr) end_all(context, Code::kCancelled, reason);
  return before;
}

void Engine::end_all(Context& context, Code code, std::string_view reason) noexcept {
  if (context.aborted) return;
  context.aborted = true;
  spoiled_ = true;
  context.reason.set(code, reason);
  const auto end = [&](Operation* operation) {
    operation->memory_in_use = operation->stage != Stage::kQueued;
    operation->failure.set(code, reason);
    finish(*operation, static_cast<Status>(code));
  };
  for (Operation* operation : context.line) end(operation);
  for (Operation* operation : context.running) end(operation);
  context.line.clear();
  context.running.clear();
}

void Engine::finish(Operation& operation, Status status) noexcept {
  if (operation.status == kOk) operation.status = status;
  operation.stage = Stage::kDone;
  changed_.notify_all();
}

}  // namespace tsr::dist::mpi
