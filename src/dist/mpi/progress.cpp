// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// How operations move on; see Note [The line of an MPI context].
#include <algorithm>
#include <cstring>

#include "dist/mpi/engine.h"

namespace tsr::dist::mpi {
namespace {

using std::chrono::milliseconds;

constexpr auto kLookEvery = milliseconds(50);
// An operation may still end with what a rank sent before it ended.
constexpr auto kDoubt = milliseconds(200);
constexpr auto kPatience = milliseconds(3000);  // with a rank that has left in an orderly way

// FNV-1a.
uint64_t hash_of(const Signature& signature) {
  uint64_t hash = 14695981039346656037ULL;
  unsigned char bytes[sizeof(Signature)];
  std::memcpy(bytes, &signature, sizeof(bytes));
  for (const unsigned char byte : bytes) hash = (hash ^ byte) * 1099511628211ULL;
  return hash;
}

// Compares what this rank expects with what the others will send.
void compare_counts(Operation& operation) {
  for (size_t rank = 0; rank < operation.announced.size(); ++rank) {
    if (operation.announced[rank] == operation.recv_counts[rank]) continue;
    operation.disagrees = 1;
    operation.failure.set(Code::kShape,
                          "expected that ranks agree on their parts: rank " + std::to_string(rank) +
                              " sends " + std::to_string(operation.announced[rank]) +
                              " elements to rank " + std::to_string(operation.context->rank) +
                              ", which expects " + std::to_string(operation.recv_counts[rank]));
    return;
  }
}

}  // namespace

void Engine::fail_mpi(Operation& operation, int code, const char* call) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  const std::string message = std::string(call) + " failed: " + text;
  operation.memory_in_use = true;
  operation.failure.set(Code::kBackend, message, code);
  operation.context->broken = message;
  finish(operation, static_cast<Status>(Code::kBackend));
}

// Starts one more of MPI's collectives for an operation, or does what follows when it has ended.
// True if the operation needs the line no more.
bool Engine::step(Operation& operation) {
  Context& context = *operation.context;
  const auto size = static_cast<size_t>(context.size);
  // Starts a collective that comes before the operation's own; returns what step returns.
  const auto begin = [&](Stage next, const char* call, const auto& start) {
    operation.stage = next;
    operation.requests.assign(1, MPI_REQUEST_NULL);
    const int code = start(operation.requests.data());
    if (code != MPI_SUCCESS) fail_mpi(operation, code, call);
    return code != MPI_SUCCESS;
  };
  if (operation.stage != Stage::kQueued) {
    int done = 0;
    const int code = MPI_Testall(static_cast<int>(operation.requests.size()),
                                 operation.requests.data(), &done, MPI_STATUSES_IGNORE);
    if (code != MPI_SUCCESS) return fail_mpi(operation, code, "an exchange before it"), true;
    if (done == 0) return false;
  }
  const Collective kind = operation.signature.kind;
  if (operation.stage == Stage::kQueued && operation.is_compared()) {
    operation.digest[0] = hash_of(operation.signature);
    operation.digest[1] = ~operation.digest[0];
    return begin(Stage::kChecking, "MPI_Iallreduce", [&](MPI_Request* request) {
      return MPI_Iallreduce(operation.digest, operation.largest, 2, MPI_UINT64_T, MPI_MAX,
                            context.checks, request);
    });
  }
  if (operation.stage == Stage::kChecking && operation.largest[0] != ~operation.largest[1]) {
    operation.all.resize(size);
    return begin(Stage::kExplaining, "MPI_Iallgather", [&](MPI_Request* request) {
      return MPI_Iallgather(&operation.signature, sizeof(Signature), MPI_BYTE, operation.all.data(),
                            sizeof(Signature), MPI_BYTE, context.main, request);
    });
  }
  if (operation.stage == Stage::kExplaining) {
    finish(operation, compare(operation.all, &operation.failure));
    return true;
  }
  if (operation.stage <= Stage::kChecking && kind == Collective::kAllToAll) {
    operation.announced.resize(size);
    return begin(Stage::kCounting, "MPI_Ialltoall", [&](MPI_Request* request) {
      return MPI_Ialltoall(operation.send_counts.data(), 1, MPI_INT64_T, operation.announced.data(),
                           1, MPI_INT64_T, context.main, request);
    });
  }
  if (operation.stage == Stage::kCounting) {
    compare_counts(operation);
    if (const auto text = too_long(operation)) {
      operation.disagrees = 1;
      operation.failure.set(Code::kShape, *text);
    }
    return begin(Stage::kAgreeing, "MPI_Iallreduce", [&](MPI_Request* request) {
      return MPI_Iallreduce(&operation.disagrees, &operation.anyone_disagrees, 1, MPI_INT32_T,
                            MPI_MAX, context.main, request);
    });
  }
  if (operation.stage == Stage::kAgreeing && operation.anyone_disagrees != 0) {
    if (operation.disagrees == 0) {
      operation.failure.set(Code::kShape,
                            "expected that ranks agree on their parts; others do not");
    }
    finish(operation, static_cast<Status>(Code::kShape));
    return true;
  }
  if (kind == Collective::kSplit) {
    if (operation.stage != Stage::kSplitting) begin_split(operation);
    if (!operation.splitting->done) return false;
    end_split(operation);
    return true;
  }
  if (const auto text = too_long(operation)) {
    finish(operation, operation.failure.set(Code::kShape, *text));
    return true;
  }
  operation.requests.clear();
  operation.stage = Stage::kRunning;
  const int code = post(operation);
  if (code != MPI_SUCCESS) return fail_mpi(operation, code, name(kind)), true;
  context.running.push_back(&operation);
  return true;
}

void Engine::advance(Context& context) {
  // Messages and comparisons need not wait for those before them.
  for (auto it = context.line.begin(); it != context.line.end();) {
    Operation& operation = **it;
    const bool first = it == context.line.begin();
    const bool may_start =
        operation.is_message() || (operation.stage == Stage::kQueued && operation.is_compared());
    if ((first || may_start) && step(operation)) {
      it = context.line.erase(it);
      // The next one is the first now.
      if (first) it = context.line.begin();
    } else {
      ++it;
    }
    if (context.aborted) return;
  }
}

void Engine::test_running(Context& context) {
  for (auto it = context.running.begin(); it != context.running.end();) {
    Operation& operation = **it;
    std::vector<MPI_Status> statuses(operation.requests.size());
    int done = 0, code = MPI_SUCCESS;
    if (operation.exchange != nullptr) {
      code = operation.exchange->move();
      done = operation.exchange->done() ? 1 : 0;
    } else {
      code = MPI_Testall(static_cast<int>(operation.requests.size()), operation.requests.data(),
                         &done, statuses.data());
    }
    if (code == MPI_SUCCESS && done == 0) {
      ++it;
      continue;
    }
    it = context.running.erase(it);
    int reason = code;
    for (const MPI_Status& status : statuses) {
      if (code == MPI_ERR_IN_STATUS && status.MPI_ERROR != MPI_SUCCESS &&
          status.MPI_ERROR != MPI_ERR_PENDING) {
        reason = status.MPI_ERROR;
      }
    }
    int kind = MPI_SUCCESS;
    if (reason != MPI_SUCCESS) MPI_Error_class(reason, &kind);
    if (kind == MPI_ERR_TRUNCATE && operation.signature.kind == Collective::kRecv) {
      operation.failure.set(Code::kShape,
                            "expected the message that was sent, got a place for only " +
                                std::to_string(operation.recv.count) + " elements");
      finish(operation, static_cast<Status>(Code::kShape));
    } else if (reason != MPI_SUCCESS) {
      fail_mpi(operation, reason, name(operation.signature.kind));
    } else {
      complete(operation, statuses);
      finish(operation, kOk);
    }
  }
}

void Engine::find_lost(Context& context, Clock::time_point now) {
  if (context.idle() || context.aborted) return;
  if (const auto lost = context.peers.ended(); lost) {
    if (context.doubted == Clock::time_point{}) context.doubted = now;
    if (now - context.doubted < kDoubt) return;
    const Operation* waiting =
        context.line.empty() ? context.running.front() : context.line.front();
    end_all(context, Code::kBackend,
            *lost + " while rank " + std::to_string(context.rank) + " waits for " +
                describe(waiting->signature));
    return;
  }
  for (const auto& [rank, since] : left_) {
    const bool member = std::find(context.world_ranks.begin(), context.world_ranks.end(), rank) !=
                        context.world_ranks.end();
    if (!member || now - since < kPatience) continue;
    end_all(context, Code::kBackend,
            "rank " + std::to_string(rank) + " has left while rank " +
                std::to_string(context.rank) + " waits for it");
    return;
  }
}

void Engine::read_notices(Clock::time_point now) {
  int done = 0;
  while (notice_request_ != MPI_REQUEST_NULL &&
         MPI_Test(&notice_request_, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0) {
    no_end_ = no_end_ || notice_ < 0;
    left_.emplace_back(notice_ < 0 ? ~notice_ : notice_, now);
    MPI_Irecv(&notice_, 1, MPI_INT32_T, MPI_ANY_SOURCE, kNoticeTag, control_, &notice_request_);
  }
}

void Engine::move_all() {
  if (opening_ != nullptr) move_opening();
  for (Context* context : closing_) {
    // Peers may have gone already after an abort.
    if (!context->aborted) {
      MPI_Comm_free(&context->checks);
      MPI_Comm_free(&context->main);
    }
    delete context;
  }
  closing_.clear();
  const auto now = Clock::now();
  const bool look = now - looked_ > kLookEvery;
  if (look) {
    looked_ = now;
    read_notices(now);
    if (opening_ != nullptr) find_absent();
  }
  // A split adds contexts at the end.
  for (Context* context : contexts_) {
    advance(*context);
    test_running(*context);
    if (!context->broken.empty()) end_all(*context, Code::kBackend, context->broken);
    if (look) find_lost(*context, now);
  }
}

// An operation that could not be moved on for want of memory is at an unknown place: the contexts
// with operations end.
void Engine::progress() noexcept {
  try {
    move_all();
  } catch (...) {
    for (Context* context : contexts_) {
      if (!context->idle()) end_all(*context, Code::kBackend, "no memory for an operation of MPI");
    }
  }
}

}  // namespace tsr::dist::mpi
