// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// See Note [Threads on the host]. Kernels run under the lock of the run time, one at a time, so
// that one set of threads is enough.
#include "block_threads.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "base/address_sanitizer.h"
#ifdef TSR_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace tsr::cuda::on_host {
namespace {

constexpr size_t kStack = size_t{256} << 10;
constexpr unsigned kLargestValue = 8;
constexpr unsigned kLanes = 32;

enum class Waits { kNot, kForBlock, kForWarp, kEnded };

struct Thread {
  void* stack = nullptr;  // its top, with the registers, while another thread runs
  std::unique_ptr<unsigned char[]> memory;
  Waits waits = Waits::kNot;
  unsigned exchanges = 0;
};

// What lanes pass to one another. A lane can be one exchange ahead of another one, not two.
struct Warp {
  unsigned char values[2][kLanes * kLargestValue];
};

struct Block {
  void* scheduler = nullptr;
  Thread threads[kThreadsOfBlock];
  Warp warps[kThreadsOfBlock / kLanes];
  unsigned count = 0;
  unsigned running = 0;
  unsigned* index = nullptr;
  void (*body)(const void*) = nullptr;
  const void* argument = nullptr;
};
Block& block() {
  static auto& one = *new Block;
  return one;
}

// Pushes the registers that a call preserves, keeps the stack in `from`, and goes on where `to` was
// kept (x86-64). swapcontext would ask the kernel for the signal mask each time.
[[gnu::naked, gnu::noinline]] void change_stack([[maybe_unused]] void** from,
                                                [[maybe_unused]] void* to) {
  asm(R"(
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
  )");
}

void pause(Waits why) {
  Block& b = block();
  Thread& me = b.threads[b.running];
  me.waits = why;
  change_stack(&me.stack, b.scheduler);
}

void enter() {
  Block& b = block();
  for (;;) {
    b.body(b.argument);
    pause(Waits::kEnded);  // the next block goes on here
  }
}

// A thread that has ended is kept; any other begins anew.
void prepare(Thread& thread) {
  thread.exchanges = 0;
  const bool kept = thread.memory != nullptr && thread.waits == Waits::kEnded;
  thread.waits = Waits::kNot;
  if (kept) return;
  if (thread.memory == nullptr) thread.memory = std::make_unique<unsigned char[]>(kStack);
    // What change_stack pops: six registers, then the function it returns to, which finds its own
    // return address above.
#ifdef TSR_ADDRESS_SANITIZER
  // The thread before may have stopped at any depth.
  ASAN_UNPOISON_MEMORY_REGION(thread.memory.get(), kStack);
#endif
  void** const top = reinterpret_cast<void**>(thread.memory.get() + kStack) - 8;
  std::fill(top, top + 8, nullptr);
  top[6] = reinterpret_cast<void*>(&enter);
  thread.stack = top;
}

void resume(Block& b, unsigned i) {
  b.running = i;
  *b.index = i;
  change_stack(&b.scheduler, b.threads[i].stack);
}

// Lets the threads go on that wait for nothing any more; false if there are none.
bool release(Block& b) {
  bool any = false;
  bool whole = true;  // all threads that have not ended wait for the block
  bool waiting = false;
  for (unsigned i = 0; i < b.count; ++i) {
    waiting = waiting || b.threads[i].waits == Waits::kForBlock;
    whole =
        whole && (b.threads[i].waits == Waits::kForBlock || b.threads[i].waits == Waits::kEnded);
  }
  const auto let_go = [&](unsigned begin, unsigned end) {
    for (unsigned i = begin; i < end; ++i) {
      if (b.threads[i].waits != Waits::kEnded) b.threads[i].waits = Waits::kNot;
    }
    any = true;
  };
  if (whole) {
    if (waiting) let_go(0, b.count);
    return any;
  }
  for (unsigned first = 0; first < b.count; first += kLanes) {
    bool all = true;
    for (unsigned i = first; i < first + kLanes; ++i)
      all = all && i < b.count && b.threads[i].waits == Waits::kForWarp;
    if (all) let_go(first, first + kLanes);
  }
  return any;
}

}  // namespace

bool run_block(unsigned threads, unsigned* index, void (*body)(const void*), const void* argument) {
  Block& b = block();
  b.count = threads < kThreadsOfBlock ? threads : kThreadsOfBlock;
  b.index = index;
  b.body = body;
  b.argument = argument;
  for (unsigned i = 0; i < b.count; ++i) prepare(b.threads[i]);
  bool forward = true;
  do {
    for (unsigned i = 0; i < b.count; ++i) {
      const unsigned next = forward ? i : b.count - 1 - i;
      if (b.threads[next].waits == Waits::kNot) resume(b, next);
    }
    forward = !forward;
  } while (release(b));
  bool ended = true;
  for (unsigned i = 0; i < b.count; ++i) ended = ended && b.threads[i].waits == Waits::kEnded;
  *index = 0;
  return ended;
}

int lane() {
  return static_cast<int>(block().running % kLanes);
}

const unsigned char* exchange(const void* value, unsigned size) {
  Block& b = block();
  const unsigned me = b.running;
  unsigned char* const values = b.warps[me / kLanes].values[b.threads[me].exchanges++ % 2];
  std::memcpy(values + me % kLanes * size, value, size);
  pause(Waits::kForWarp);
  return values;
}

}  // namespace tsr::cuda::on_host

void __syncthreads() {
  tsr::cuda::on_host::pause(tsr::cuda::on_host::Waits::kForBlock);
}
