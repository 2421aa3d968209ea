// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// One rank of a scene over MPI, started by mpirun. Prints "wrong: ..." for what is wrong; the last
// rank that can says "all ranks agree".
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "dist/collective_checks.h"
#include "kernel/plugin.h"
#include "kernel/registry.h"
#include "ops/create/copy.h"
#include "ops/create/create.h"
#include "support/start_up.h"

namespace {

// What the plugin calls in place of the system's functions, which the program defines anew.
bool g_dies_in_split = false;
bool g_watches_nobody = false;

}  // namespace

extern "C" int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part) {
  if (g_dies_in_split) kill(getpid(), SIGKILL);
  return PMPI_Comm_split(comm, color, key, part);
}

// NOLINTNEXTLINE: the C library's own declaration
extern "C" [[gnu::visibility("default")]] long syscall(long number, ...) noexcept {
  if (g_watches_nobody && number == SYS_pidfd_open) {
    errno = ENOSYS;
    return -1;
  }
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  // Not a static with a guard, which may itself call this function.
  using Call = long (*)(long, ...);
  static std::atomic<Call> real{nullptr};
  if (real == nullptr) real = reinterpret_cast<Call>(dlsym(RTLD_NEXT, "syscall"));
  return real.load()(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                     arguments[5]);
}

namespace tsr::dist {
namespace {

using Clock = std::chrono::steady_clock;

GroupPtr begin(double timeout) {
  GroupOptions options;
  options.timeout = timeout;
  return Group::init("mpi", options);
}

bool g_right = true;

void expect(bool right, const std::string& what) {
  if (right) return;
  g_right = false;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
}

template <class Body>
void expect_error(Code code, const char* text, Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    const bool named = error.message().find(text) != std::string::npos;
    return expect(error.code() == code && named, "another error: " + error.message());
  }
  expect(false, std::string("no error, expected one with ") + text);
}

Tensor ones(int64_t count, DType dtype = DType::kFloat32) {
  return filled(count, dtype, [](int64_t) { return 1; });
}

void collectives() {
  const GroupPtr group = begin(60);
  expect(CollectiveChecks(*group).run().empty(), CollectiveChecks(*group).run());
}

void mismatch() {
  const GroupPtr group = begin(60);
  const bool odd = group->rank() == 1;
  expect_error(Code::kShape, "3 float32 (sum) on rank 1",
               [&] { group->all_reduce(ones(odd ? 3 : 2), ReduceOp::kSum)->wait(); });
  expect_error(Code::kDType, "2 int64", [&] {
    group->broadcast(ones(2, odd ? DType::kInt64 : DType::kFloat32), 0)->wait();
  });
  expect_error(Code::kValue, "barrier", [&] {
    (odd ? group->barrier() : group->all_reduce(ones(2), ReduceOp::kSum))->wait();
  });
  // Rank 1 expects one row too many from rank 0.
  const std::vector<int64_t> out(3, 1), in{odd ? 2 : 1, 1, 1};
  expect_error(Code::kShape, "parts",
               [&] { group->all_to_all(ones(odd ? 4 : 3), ones(3), in, out)->wait(); });
  // The group goes on.
  const Tensor sum = ones(2);
  group->all_reduce(sum, ReduceOp::kSum)->wait();
  expect(get_value(sum, 1) == 3, "a sum after errors");
}

void split() {
  const GroupPtr group = begin(60);
  const GroupPtr part = group->split(group->rank() == 1 ? -1 : 7, -group->rank());
  expect(static_cast<bool>(part) == (group->rank() != 1), "who is in the part");
  if (part) {
    expect(part->size() == 2 && part->rank() == (group->rank() == 0 ? 1 : 0), "ranks in the part");
    expect(part->ranks()[0] == 2 && part->ranks()[1] == 0, "first ranks");
    const Tensor sum = ones(1);
    part->all_reduce(sum, ReduceOp::kSum)->wait();
    expect(get_value(sum, 0) == 2, "a sum in the part");
  }
  group->barrier()->wait();
}

// The processes of the ranks.
std::vector<int64_t> processes(Group& group) {
  const Tensor mine = filled(1, DType::kInt64, [](int64_t) { return 0; });
  *mine.data_as<int64_t>() = getpid();
  const Tensor all = empty(Dims{group.size()}, DType::kInt64);
  group.all_gather(all, mine)->wait();
  return {all.data_as<int64_t>(), all.data_as<int64_t>() + group.size()};
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A rank that ends early would be the one of which the others tell.
void let_others_end() {
  std::this_thread::sleep_for(std::chrono::seconds(1));
}

void killed() {
  const GroupPtr group = begin(30);
  group->barrier()->wait();
  if (group->rank() == 1) kill(getpid(), SIGKILL);
  const auto start = Clock::now();
  expect_error(Code::kBackend, "rank 1 (process", [&] {
    for (int i = 0; i < 3; ++i) group->all_reduce(ones(2), ReduceOp::kSum)->wait();
  });
  expect(seconds_since(start) < 20, "the end took longer than the timeout");
  expect_error(Code::kCancelled, "has ended", [&] { group->barrier(); });
  let_others_end();
}

void stopped() {
  const GroupPtr group = begin(2);
  const auto all = processes(*group);
  if (group->rank() == 1) kill(getpid(), SIGSTOP);
  const auto start = Clock::now();
  expect_error(Code::kCancelled, "was not done after 2 s", [&] {
    for (int i = 0; i < 3; ++i) group->all_reduce(ones(2), ReduceOp::kSum)->wait();
  });
  expect(seconds_since(start) < 20, "the end took longer than the timeout");
  let_others_end();
  if (group->rank() == 0) kill(static_cast<pid_t>(all[1]), SIGKILL);
}

// The timeout is also how long the rank that has left waits for the others, which have ended.
void left() {
  const GroupPtr group = begin(8);
  group->barrier()->wait();
  if (group->rank() == 1) return;
  expect_error(Code::kBackend, "rank 1 has left", [&] { group->barrier()->wait(); });
  let_others_end();
}

// Rank 1 begins no group for a while: the others must not wait for ever, before MPI runs or after.
void absent() {
  const bool odd = std::getenv("OMPI_COMM_WORLD_RANK") == std::string("1");
  if (odd) std::this_thread::sleep_for(std::chrono::seconds(4));
  if (!odd) {
    const auto start = Clock::now();
    expect_error(Code::kCancelled, "MPI did not start within 1 s", [] { begin(1); });
    expect(seconds_since(start) < 3, "the end took longer than the timeout");
  }
  const GroupPtr group = begin(30);
  group->barrier()->wait();
}

void absent_later() {
  const GroupPtr group = begin(30);
  group->barrier()->wait();
  if (group->rank() == 1) {
    std::this_thread::sleep_for(std::chrono::seconds(3));
  } else {
    expect_error(Code::kCancelled, "not all of 3 ranks began a group within 1 s", [] { begin(1); });
    expect_error(Code::kCancelled, "not all of 3 ranks", [] { begin(1); });
  }
  // What was there before goes on.
  const Tensor sum = ones(2);
  group->all_reduce(sum, ReduceOp::kSum)->wait();
  expect(get_value(sum, 1) == 3, "a sum after a group that did not begin");
}

void killed_before() {
  const GroupPtr group = begin(30);
  group->barrier()->wait();
  if (group->rank() == 1) kill(getpid(), SIGKILL);
  const auto start = Clock::now();
  expect_error(Code::kBackend, "rank 1 (process", [] { begin(30); });
  expect(seconds_since(start) < 20, "the end took longer than the timeout");
  let_others_end();
}

// The end of a program must not wait for a rank that has died.
void killed_after() {
  const GroupPtr group = begin(300);
  group->barrier()->wait();
  if (group->rank() == 1) kill(getpid(), SIGKILL);
  let_others_end();
}

void killed_in_split() {
  const GroupPtr group = begin(30);
  group->barrier()->wait();
  g_dies_in_split = group->rank() == 1;
  const auto start = Clock::now();
  expect_error(Code::kBackend, "rank 1 (process",
               [&] { static_cast<void>(group->split(0, group->rank())); });
  expect(seconds_since(start) < 20, "the end took longer than the timeout");
  expect_error(Code::kCancelled, "has ended", [&] { group->barrier(); });
  let_others_end();
}

// Rank 1 ends with a group that failed, and no rank sees the end of another's process, as between
// hosts.
void left_without_end() {
  g_watches_nobody = true;
  const GroupPtr group = begin(30);
  const GroupPtr other = begin(30);
  group->barrier()->wait();
  if (group->rank() == 1) {
    other->abort("enough");
    return;
  }
  const auto start = Clock::now();
  expect_error(Code::kBackend, "rank 1 has left", [&] { group->barrier()->wait(); });
  expect(seconds_since(start) < 20, "the end took longer than the timeout");
}

void unequal() {
  GroupOptions options;
  options.timeout = 30;
  options.check = std::getenv("OMPI_COMM_WORLD_RANK") != std::string("1");
  expect_error(Code::kValue, "all ranks checked or all unchecked",
               [&] { Group::init("mpi", options); });
  begin(30)->barrier()->wait();
}

// A child has groups and operations of its parent, which it can only drop.
void forked() {
  const GroupPtr group = begin(30);
  WorkPtr work = group->all_reduce(ones(1 << 20), ReduceOp::kSum);
  const pid_t child = fork();
  if (child == 0) {
    bool right = true;
    try {
      group->barrier();
      right = false;
    } catch (const Error& error) {
      right = error.code() == Code::kBackend;
    }
    right = right && group->aborted() && work->done();
    work.reset();
    _exit(right ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  expect(status == 0, "a child that drops an operation");
  work->wait();
  group->barrier()->wait();
}

// Operations that nobody waits for, of which two are under way when the program ends.
void dropped() {
  // Both live until after the end of MPI.
  static GroupPtr group;
  static WorkPtr last;
  group = begin(30);
  const Tensor sum = ones(1 << 20);
  for (int i = 0; i < 20; ++i) static_cast<void>(group->all_reduce(sum, ReduceOp::kSum));
  last = group->recv(ones(3), group->rank());
}

#ifdef TSR_HAVE_CUDA_ON_HOST

// With TESSERA_MPI_CUDA=all: the transport gets device memory, and leaves averages to the library.
void device() {
  kernel::load_backend(std::getenv("TSR_CUDA_ON_HOST"));
  const GroupPtr group = begin(60);
  const Device cuda{DeviceType::kCuda, 0};
  const auto is = [](const Tensor& tensor, double value) {
    const Tensor here = ops::to(tensor, Device{}, {});
    for (int64_t i = 0; i < here.numel(); i += 1009) {
      if (get_value(here, i) != value) return false;
    }
    return true;
  };
  // So long that the stand-in for CUDA lets the host read it.
  constexpr int64_t kPart = int64_t{2} << 20, kWhole = 3 * kPart;
  for (const DType dtype : {DType::kFloat32, DType::kFloat16}) {
    const auto mine = [&](int64_t count) {
      return ops::full(Dims{count}, Scalar(2.0 * group->rank()), dtype, cuda);
    };
    const std::string what = std::string(" of ") + name(dtype);
    const Tensor sum = mine(kWhole), average = mine(kWhole), here = mine(kWhole),
                 part = mine(kPart);
    group->all_reduce(sum, ReduceOp::kSum)->wait();
    expect(is(sum, 6), "the sum" + what);
    const WorkPtr work = group->all_reduce(average, ReduceOp::kAvg);
    work->wait();
    work->wait();
    expect(is(average, 2), "the average" + what);
    const Tensor gaps = make_view(here, Dims{kPart}, Dims{2}, 0);
    group->all_reduce(gaps, ReduceOp::kAvg)->wait();
    expect(is(gaps, 2), "the average with gaps" + what);
    const Tensor rooted = mine(kWhole);
    group->reduce(rooted, ReduceOp::kAvg, 1)->wait();
    expect(is(rooted, group->rank() == 1 ? 2 : 2.0 * group->rank()),
           "the average at a root" + what);
    group->reduce_scatter(part, mine(kWhole), ReduceOp::kAvg)->wait();
    expect(is(part, 2), "the average of a part" + what);
    group->all_reduce(sum, ReduceOp::kMax)->wait();
    expect(is(sum, 6), "the largest" + what);
  }
}

#endif

int run(const char* scene) {
  testing::start_up();
  constexpr struct {
    const char* name;
    void (*run)();
  } kScenes[] = {
      {"collectives", collectives},
      {"mismatch", mismatch},
      {"split", split},
      {"killed", killed},
      {"stopped", stopped},
      {"left", left},
      {"absent", absent},
      {"unequal", unequal},
      {"forked", forked},
      {"absent_later", absent_later},
      {"dropped", dropped},
      {"killed_before", killed_before},
      {"killed_after", killed_after},
      {"killed_in_split", killed_in_split},
      {"left_without_end", left_without_end},
#ifdef TSR_HAVE_CUDA_ON_HOST
      {"device", device},
#endif
  };
  for (const auto& one : kScenes) {
    if (std::strcmp(one.name, scene) != 0) continue;
    try {
      one.run();
    } catch (const Error& error) {
      expect(false, error.message());
    }
    if (g_right) std::puts("all ranks agree");
    return g_right ? 0 : 1;
  }
  return 2;
}

}  // namespace
}  // namespace tsr::dist

int main(int, char** argv) {
  return tsr::dist::run(argv[1]);
}
