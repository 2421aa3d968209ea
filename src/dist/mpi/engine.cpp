// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The life of MPI in a process: starting, waiting, leaving.
#include "dist/mpi/engine.h"

#include <mpi-ext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace tsr::dist::mpi {
namespace {

using std::chrono::microseconds;

constexpr int kNoticeTag = 1;

Clock::time_point deadline_after(double seconds) {
  constexpr double kLongest = 1e8;
  const std::chrono::duration<double> span(std::clamp(seconds, 0.0, kLongest));
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(span);
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
  std::snprintf(text, sizeof(text), "%g s", seconds);
  return text;
}

}  // namespace

Engine& Engine::instance() {
  // Never destroyed: its thread runs until the process ends.
  static Engine* const engine = new Engine;
  return *engine;
}

// ---- Life ----

Status Engine::start(Failure* failure) {
  std::unique_lock lock(mutex_);
  if (!started_) {
    started_ = true;
    process_ = getpid();
    std::thread([this] { run(); }).detach();
    std::atexit(at_exit);
  }
  if (process_ != getpid()) {
    return failure->set(Code::kBackend, "expected the process that started MPI, got its child");
  }
  changed_.wait(lock, [this] { return initialised_; });
  if (!start_error_.empty()) return failure->set(Code::kBackend, start_error_);
  return kOk;
}

void Engine::initialise() {
  int already = 0, level = 0;
  MPI_Initialized(&already);
  if (already != 0) {
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED) {
      start_error_ =
          "expected an MPI that several threads may call (MPI_THREAD_SERIALIZED); it was "
          "initialised without before";
      return;
    }
  } else if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS) {
    start_error_ = "MPI_Init_thread failed";
    return;
  }
  owns_mpi_ = already == 0;
  any_thread_ = level >= MPI_THREAD_SERIALIZED;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#ifdef MPIX_CUDA_AWARE_SUPPORT
  cuda_aware_ = MPIX_Query_cuda_support() == 1;
#endif
  MPI_Comm_dup(MPI_COMM_WORLD, &control_);
  MPI_Irecv(&notice_, 1, MPI_INT32_T, MPI_ANY_SOURCE, kNoticeTag, control_, &notice_request_);
}

// The thread of the engine.
void Engine::run() {
  std::unique_lock lock(mutex_);
  initialise();
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
  if (!start_error_.empty() || spoiled_ || !owns_mpi_) return;
  int rank = 0, size = 1;
  MPI_Comm_rank(control_, &rank);
  MPI_Comm_size(control_, &size);
  std::vector<MPI_Request> sent;
  const int32_t own = rank;
  for (int other = 0; other < size; ++other) {
    if (other == rank) continue;
    sent.push_back(MPI_REQUEST_NULL);
    MPI_Isend(&own, 1, MPI_INT32_T, other, kNoticeTag, control_, &sent.back());
  }
  MPI_Waitall(static_cast<int>(sent.size()), sent.data(), MPI_STATUSES_IGNORE);
  for (int32_t others = static_cast<int32_t>(left_.size()); others < size - 1; ++others) {
    // Not MPI_Wait, which takes a processor from those that still compute.
    for (int done = 0; MPI_Test(&notice_request_, &done, MPI_STATUS_IGNORE), done == 0;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (others + 1 < size - 1) {
      MPI_Irecv(&notice_, 1, MPI_INT32_T, MPI_ANY_SOURCE, kNoticeTag, control_, &notice_request_);
    }
  }
  if (notice_request_ != MPI_REQUEST_NULL) {
    MPI_Cancel(&notice_request_);
    MPI_Wait(&notice_request_, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
}

void Engine::at_exit() {
  Engine& engine = instance();
  if (engine.process_ != getpid()) return;
  std::unique_lock lock(engine.mutex_);
  engine.ending_ = true;
  engine.changed_.notify_all();
  // Ranks may still compute for long; one that has failed never comes.
  engine.changed_.wait_until(lock, deadline_after(engine.longest_timeout_),
                             [&engine] { return engine.ended_; });
}

// ---- Contexts ----

Status Engine::open(const InitOptions& options, Context** out, Failure* failure) {
  auto context = std::make_unique<Context>();
  context->check = options.check != 0;
  context->timeout = options.timeout_seconds;
  std::unique_lock lock(mutex_);
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool fits =
      (options.size == -1 || options.size == size) && (options.rank == -1 || options.rank == rank);
  if (!fits) {
    return failure->set(Code::kValue, "expected rank " + std::to_string(rank) + " of " +
                                          std::to_string(size) + ", as MPI says, got " +
                                          std::to_string(options.rank) + " of " +
                                          std::to_string(options.size));
  }
  opening_ = context.get();
  opened_ = false;
  changed_.notify_all();
  changed_.wait(lock, [this] { return opened_; });
  longest_timeout_ = std::max(longest_timeout_, options.timeout_seconds);
  contexts_.push_back(context.get());
  *out = context.release();
  return kOk;
}

void Engine::close(Context* context) {
  const std::lock_guard lock(mutex_);
  contexts_.remove(context);
  closing_.push_back(context);
  changed_.notify_all();
}

// ---- Operations ----

Status Engine::submit(Operation* operation, Failure* failure) {
  const std::lock_guard lock(mutex_);
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
  const std::lock_guard lock(mutex_);
  if (operation.stage != Stage::kDone && any_thread_) progress();
  return operation.stage == Stage::kDone;
}

Status Engine::wait(Operation& operation, double seconds, Failure* failure) {
  const auto deadline = deadline_after(seconds);
  ++waiters_;
  for (int turn = 0;; ++turn) {
    {
      std::unique_lock lock(mutex_);
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
        --waiters_;
        if (operation.status != kOk) *failure = operation.failure;
        return operation.status;
      }
      if (!any_thread_) changed_.wait_for(lock, microseconds(500));
    }
    pause(turn);
  }
}

bool Engine::abort(Context& context, const char* reason, Failure* failure) {
  const std::lock_guard lock(mutex_);
  const bool before = context.aborted;
  if (before && failure != nullptr) *failure = context.reason;
  if (reason != nullptr) end_all(context, Code::kCancelled, reason);
  return before;
}

void Engine::end_all(Context& context, Code code, const std::string& reason) {
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

void Engine::finish(Operation& operation, Status status) {
  if (operation.status == kOk) operation.status = status;
  operation.stage = Stage::kDone;
  changed_.notify_all();
}

}  // namespace tsr::dist::mpi
