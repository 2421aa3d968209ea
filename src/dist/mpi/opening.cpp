// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// How contexts begin: groups, and parts of groups.
#include <system_error>
#include <thread>

#include "dist/mpi/engine.h"

namespace tsr::dist::mpi {

// What a context with communicators needs besides. Asks no other rank.
void Engine::fill(Context& context) {
  MPI_Comm_set_errhandler(context.main, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(context.checks, MPI_ERRORS_RETURN);
  MPI_Comm_rank(context.main, &context.rank);
  MPI_Comm_size(context.main, &context.size);
  MPI_Group own, world;
  MPI_Comm_group(context.main, &own);
  MPI_Comm_group(control_, &world);
  std::vector<int> ranks(static_cast<size_t>(context.size));
  for (size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<int>(i);
  context.world_ranks.resize(ranks.size());
  MPI_Group_translate_ranks(own, context.size, ranks.data(), world, context.world_ranks.data());
  MPI_Group_free(&own);
  MPI_Group_free(&world);
  std::vector<Identity> members;
  for (const int32_t rank : context.world_ranks) {
    members.push_back(world_[static_cast<size_t>(rank)]);
  }
  context.peers.watch(members, context.rank);
}

// Ranks that have died do not come. Those that left in an orderly way live until all do.
void Engine::find_absent() {
  const auto lost = world_peers_.ended();
  if (!lost) return;
  opening_failure_ = *lost + " while others begin a group";
  opening_code_ = Code::kBackend;
  changed_.notify_all();
}

void Engine::move_opening() {
  Opening& opening = *opening_;
  Context& context = *opening.context;
  int done = 1;
  if (opening.request != MPI_REQUEST_NULL) {
    MPI_Test(&opening.request, &done, MPI_STATUS_IGNORE);
  }
  if (done == 0) return;
  switch (opening.step++) {
    case 0:
      MPI_Comm_idup(MPI_COMM_WORLD, &context.main, &opening.request);
      return;
    case 1:
      MPI_Comm_idup(context.main, &context.checks, &opening.request);
      return;
    case 2:
      opening.checks[0] = context.check ? 1 : 0;
      opening.checks[1] = -opening.checks[0];
      MPI_Iallreduce(MPI_IN_PLACE, opening.checks, 2, MPI_INT32_T, MPI_MIN, context.main,
                     &opening.request);
      return;
    default:
      fill(context);
      opening.done = true;
      opening_ = nullptr;
      changed_.notify_all();
  }
}

// ---- Parts of a group ----

void Engine::begin_split(Operation& operation) {
  operation.stage = Stage::kSplitting;
  operation.requests.clear();
  operation.splitting = std::make_shared<Splitting>();
  const auto split = [this, into = operation.splitting, whole = operation.context->main,
                      color = operation.color < 0 ? MPI_UNDEFINED : operation.color,
                      key = operation.key] {
    into->code = MPI_Comm_split(whole, color, key, &into->main);
    if (into->code == MPI_SUCCESS && into->main != MPI_COMM_NULL)
      into->code = MPI_Comm_dup(into->main, &into->checks);
    --splits_;
    into->done = true;
  };
  ++splits_;
  try {
    if (several_threads_) return std::thread(split).detach();
  } catch (const std::system_error&) {  // no more threads
  }
  split();
}

void Engine::end_split(Operation& operation) {
  const Splitting& made = *operation.splitting;
  if (made.code != MPI_SUCCESS) return fail_mpi(operation, made.code, "MPI_Comm_split");
  if (made.main != MPI_COMM_NULL) {
    operation.part = new Context;
    operation.part->check = operation.context->check;
    operation.part->timeout = operation.context->timeout;
    operation.part->main = made.main;
    operation.part->checks = made.checks;
    fill(*operation.part);
    contexts_.push_back(operation.part);
  }
  finish(operation, kOk);
}

}  // namespace tsr::dist::mpi
