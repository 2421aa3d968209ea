// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The history of an allocator: which operation and which place of the host asked for each block.
#include "memory/history.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/host_stack.h"
#include "base/trace.h"
#include "memory/external_allocator.h"
#include "memory/simulated_fixture.h"
#include "tensor/tensor.h"

namespace tsr::test::test_history {
namespace {

using nlohmann::json;

// An open span, as a function of the library makes it.
class Span {
 public:
  Span(TraceKind kind, const char* name) : open_(is_traced(kind)) {
    TraceEvent event{};
    event.kind = kind;
    event.name = name;
    if (open_) begin_span(span_, event);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() {
    if (open_) end_span(span_, 0);
  }

 private:
  TraceSpan span_;
  bool open_;
};

// ---- The host ----

thread_local int t_asked = 0;
thread_local std::string t_place = "main.py:1 in main";
std::string host_place() {
  ++t_asked;
  return t_place + "\nmain.py:90 in <module>\nrun.py:3 in start";
}

class MemoryHistoryTest : public SimulatedMemory {
 protected:
  MemoryHistoryTest() {
    set_host_stack(std::make_shared<const HostStackSource>(host_place));
    t_asked = 0;
    t_place = "main.py:1 in main";
  }
  ~MemoryHistoryTest() override {
    allocator_->stop_history();
    set_host_stack(nullptr);
  }
  json snapshot() { return json::parse(allocator_->snapshot()); }
  json holders(size_t most = 10) { return json::parse(allocator_->history()->holders_json(most)); }
  // A block that an operation of this name asked for.
  void* take_in(const char* operation, uint64_t nbytes) {
    const Span call(TraceKind::kCall, operation);
    return take(nbytes);
  }
};

TEST_F(MemoryHistoryTest, records_the_life_of_a_block_and_forgets_the_oldest) {
  allocator_->start_history({.entries = 5});
  void* block = take(100);
  give(block, 100);
  allocator_->trim(0);
  json events = snapshot()["history"];
  const char* expected[] = {"segment_alloc", "alloc", "free_requested", "free_completed",
                            "segment_free"};
  ASSERT_EQ(events.size(), 5U);
  for (size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i]["action"], expected[i]);
  EXPECT_EQ(events[1]["size"], 100) << "what was asked for";
  EXPECT_EQ(events[1]["address"], reinterpret_cast<uintptr_t>(block));
  EXPECT_THROW((void)allocator_->allocate(uint64_t{1} << 60, nullptr), Error);
  events = snapshot()["history"];
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0]["action"], "alloc") << "the oldest made room";
  EXPECT_EQ(events[4]["action"], "oom");
}

TEST_F(MemoryHistoryTest, stays_readable_after_its_end_and_is_dropped_by_the_next) {
  allocator_->start_history({});
  EXPECT_TRUE(allocator_->history()->running());
  void* block = take_in("zeros", 1000);
  allocator_->stop_history();
  EXPECT_FALSE(allocator_->history()->running());
  give(block, 1000);
  json after = snapshot();
  EXPECT_EQ(after["version"], 2);
  EXPECT_EQ(after["history"].size(), 2U) << "a segment and a block; nothing after the end";
  EXPECT_TRUE(after["live"].empty()) << "it may be gone";
  EXPECT_FALSE(after["recording"]["running"].get<bool>());
  allocator_->start_history({});
  EXPECT_TRUE(snapshot()["history"].empty());
}

TEST_F(MemoryHistoryTest, names_the_operations_around_a_block) {
  allocator_->start_history({});
  {
    const Span call(TraceKind::kCall, "backward");
    const Span node(TraceKind::kNode, "Conv2dBackward0");
    const Span kernel(TraceKind::kLaunch, "conv2d");
    take(4096);
  }
  take_in("zeros", 512);
  take(512);
  const json report = snapshot();
  ASSERT_EQ(report["live"].size(), 3U);
  const json& first = report["operations"][report["live"][0]["operation"].get<size_t>()];
  EXPECT_EQ(first["name"], "conv2d kernel");
  EXPECT_EQ(first["path"], "backward > Conv2dBackward0 > conv2d kernel");
  const json& second = report["operations"][report["live"][1]["operation"].get<size_t>()];
  EXPECT_EQ(second["name"], "zeros");
  EXPECT_FALSE(report["live"][2].contains("operation")) << "outside every call";
}

TEST_F(MemoryHistoryTest, leaves_out_what_the_host_annotates) {
  allocator_->start_history({});
  const Span step(TraceKind::kAnnotation, "step 17");
  take_in("zeros", 512);
  EXPECT_EQ(snapshot()["operations"][0]["path"], "zeros");
}

TEST_F(MemoryHistoryTest, keeps_stacks_once_each_and_cuts_them) {
  allocator_->start_history({.stack_frames = 2});
  t_place = "model.py:12 in forward";
  take_in("matmul", 4096);
  take_in("matmul", 4096);
  t_place = "model.py:13 in forward";
  take_in("relu", 4096);
  const json report = snapshot();
  EXPECT_EQ(report["stacks"],
            json::array({json::array({"model.py:12 in forward", "main.py:90 in <module>"}),
                         json::array({"model.py:13 in forward", "main.py:90 in <module>"})}));
  EXPECT_EQ(report["live"][0]["stack"], 0);
  EXPECT_EQ(report["live"][1]["stack"], 0);
  EXPECT_EQ(report["live"][2]["stack"], 1);
}

TEST_F(MemoryHistoryTest, asks_the_host_once_in_a_call_and_never_inside_a_node) {
  allocator_->start_history({.stack_frames = 5});
  {
    const Span call(TraceKind::kCall, "matmul");
    take(512);
    take(512);
  }
  EXPECT_EQ(t_asked, 1);
  take(512);
  EXPECT_EQ(t_asked, 1) << "outside every call";
  const Span call(TraceKind::kCall, "backward");
  {
    const Span node(TraceKind::kNode, "MulBackward0");
    EXPECT_EQ(t_asked, 2) << "when the first node began";
    take(512);
  }
  const Span node(TraceKind::kNode, "ExpBackward0");
  take(512);
  EXPECT_EQ(t_asked, 2);
  const json report = snapshot();
  EXPECT_EQ(report["live"][3]["stack"], 0) << "blocks of nodes have the stack of the backward";
}

TEST_F(MemoryHistoryTest, asks_nobody_when_no_stacks_are_wanted) {
  allocator_->start_history({});
  take_in("zeros", 512);
  const Span call(TraceKind::kCall, "backward");
  const Span node(TraceKind::kNode, "ExpBackward0");
  EXPECT_EQ(t_asked, 0);
  EXPECT_TRUE(snapshot()["stacks"].empty());
}

TEST_F(MemoryHistoryTest, notes_events_only_when_that_is_wanted) {
  allocator_->start_history({.operations = false});
  take_in("zeros", 512);
  EXPECT_FALSE(snapshot()["live"][0].contains("operation"));
}

TEST_F(MemoryHistoryTest, lists_holders_largest_first) {
  allocator_->start_history({.stack_frames = 1});
  t_place = "a.py:1 in f";
  take_in("matmul", 3 * kMiB);
  t_place = "a.py:2 in f";
  std::vector<void*> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(take_in("matmul", 2 * kMiB));
  t_place = "a.py:3 in g";
  take_in("exp", 100);
  json all = holders();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0]["bytes"], 8 * kMiB);
  EXPECT_EQ(all[0]["count"], 4);
  EXPECT_EQ(all[0]["largest"], 2 * kMiB);
  EXPECT_EQ(all[0]["operation"], "matmul");
  EXPECT_EQ(all[0]["stack"], json({"a.py:2 in f"}));
  EXPECT_EQ(all[1]["stack"], json({"a.py:1 in f"})) << "another place is another holder";
  EXPECT_EQ(all[2]["operation"], "exp");
  EXPECT_EQ(all[2]["bytes"], 100);
  EXPECT_EQ(holders(1).size(), 1U);
  for (void* block : blocks) give(block, 2 * kMiB);
  EXPECT_EQ(holders()[0]["bytes"], 3 * kMiB) << "what is freed is held no more";
}

TEST_F(MemoryHistoryTest, threads_are_told_apart) {
  allocator_->start_history({.stack_frames = 1});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      t_place = "worker.py:" + std::to_string(i);
      for (int step = 0; step < 200; ++step) {
        const Span call(TraceKind::kCall, i % 2 == 0 ? "even" : "odd");
        void* block = allocator_->allocate(512, nullptr);
        if (step < 199) allocator_->deallocate(block, 512);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const json report = snapshot();
  ASSERT_EQ(report["live"].size(), 4U);
  std::set<int64_t> numbers;
  for (const json& block : report["live"]) {
    numbers.insert(block["thread"].get<int64_t>());
    const std::string place = report["stacks"][block["stack"].get<size_t>()][0];
    const std::string name = report["operations"][block["operation"].get<size_t>()]["name"];
    EXPECT_EQ(name, (place.back() - '0') % 2 == 0 ? "even" : "odd");
  }
  EXPECT_EQ(numbers.size(), 4U);
  allocator_->verify();
}

TEST_F(MemoryHistoryTest, does_not_grow) {
  allocator_->start_history({.entries = 64});
  for (int i = 0; i < 10'000; ++i) {
    const Span call(TraceKind::kCall, "exp");
    give(allocator_->allocate(512 + static_cast<uint64_t>(i) % 100, nullptr), 512);
  }
  const json report = snapshot();
  EXPECT_EQ(report["history"].size(), 64U);
  EXPECT_EQ(report["operations"].size(), 1U);
  EXPECT_TRUE(report["live"].empty());
  EXPECT_EQ(report["recording"]["recorded"], 20'000);
  EXPECT_EQ(report["recording"]["lost"], 0);
}

TEST_F(MemoryHistoryTest, texts_are_bounded) {
  const std::string first = "bounded text 0";
  const uint32_t number = history_text(first);
  for (int i = 1; i < 70'000; ++i) (void)history_text("bounded text " + std::to_string(i));
  EXPECT_EQ(history_text(first), number);
  EXPECT_EQ(text_of_history(history_text("one too many")), "...");
  EXPECT_EQ(operation_name(number), first);
  EXPECT_EQ(text_of_history(kNoText), "");
  allocator_->start_history({});
  EXPECT_EQ(text_of_history(history_text("again there is room")), "again there is room");
  EXPECT_EQ(text_of_history(number), "...") << "texts of an earlier recording are gone";
}

TEST_F(MemoryHistoryTest, out_of_memory_names_the_holders) {
  restart(96 * kMiB);
  allocator_->start_history({.stack_frames = 4});
  t_place = "net.py:7 in forward";
  void* one = take_in("conv2d", 32 * kMiB);
  allocator_->history()->describe(one, DType::kFloat32, std::vector<int64_t>{8, 1024, 1024});
  void* two = take_in("conv2d", 16 * kMiB);
  void* three = take(4 * kMiB);
  const Span call(TraceKind::kCall, "matmul");
  const Error error = failure_of(64 * kMiB);
  EXPECT_EQ(error.message(),
            "out of memory on simulated:0: asked for 64.00 MiB, held 68.00 MiB of which 52.00 MiB "
            "in use and 16.00 MiB cached; free 28.00 MiB of 96.00 MiB; limit none"
            "\nThe largest holders:"
            "\n  48.00 MiB in 2 blocks by conv2d, the largest float32[8, 1024, 1024], at "
            "net.py:7 in forward"
            "\n  4.00 MiB in 1 block by code outside every operation");
  const json last = snapshot()["history"].back();
  EXPECT_EQ(last["action"], "oom");
  EXPECT_TRUE(last.contains("stack"));
  give(one, 32 * kMiB);
  give(two, 16 * kMiB);
  give(three, 4 * kMiB);
}

TEST_F(MemoryHistoryTest, out_of_memory_names_ten_holders_at_most) {
  restart(64 * kMiB);
  allocator_->start_history({.stack_frames = 1});
  for (int i = 0; i < 20; ++i) {
    t_place = "line " + std::to_string(i);
    take_in("exp", 1 * kMiB);
  }
  const std::string message = failure_of(60 * kMiB).message();
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 11);
}

TEST_F(MemoryHistoryTest, out_of_memory_tells_fragmented_memory) {
  restart(40 * kMiB);
  std::vector<void*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(take(5 * kMiB));
  for (size_t i = 0; i < blocks.size(); i += 2) give(blocks[i], 5 * kMiB);
  const std::string message = failure_of(12 * kMiB).message();
  EXPECT_NE(message.find("; the cached memory is fragmented: its largest free piece has 5.00 MiB"),
            std::string::npos)
      << message;
  const std::string larger = failure_of(30 * kMiB).message();
  EXPECT_EQ(larger.find("fragmented"), std::string::npos) << "more than all that is free";
}

TEST_F(MemoryHistoryTest, of_a_failed_start_leaves_nothing_behind) {
  EXPECT_THROW(allocator_->start_history({.entries = SIZE_MAX / 2}), std::exception);
  EXPECT_FALSE(allocator_->history()->running());
  EXPECT_FALSE(is_traced(TraceKind::kAllocate));
  allocator_->start_history({});
  EXPECT_TRUE(is_traced(TraceKind::kAllocate));
  allocator_->start_history({});
  allocator_->stop_history();
  EXPECT_FALSE(is_traced(TraceKind::kAllocate)) << "started twice, stopped once";
  allocator_->stop_history();
}

TEST_F(MemoryHistoryTest, ends_with_its_allocator) {
  allocator_->start_history({});
  allocator_.emplace(sim::device(), sim::device_interface());
  EXPECT_FALSE(is_traced(TraceKind::kAllocate));
}

// ---- Tensors and the CPU ----

TEST(CpuHistory, notes_tensors_of_the_small_lists_and_of_the_pools) {
  Allocator& cpu = allocator_for(Device{});
  cpu.start_history({});
  {
    const Span call(TraceKind::kCall, "zeros");
    const Tensor small = empty(Dims{2, 3}, DType::kFloat32, Device{});
    const Tensor large = empty(Dims{1024, 1024}, DType::kInt64, Device{});
    const Tensor like = empty_dense_like(small, DType::kFloat64, Device{});
    const json report = json::parse(cpu.snapshot());
    ASSERT_EQ(report["live"].size(), 3U);
    EXPECT_EQ(report["live"][0]["tensor"], "float32[2, 3]");
    EXPECT_EQ(report["live"][0]["address"], reinterpret_cast<uintptr_t>(small.storage()->data));
    EXPECT_EQ(report["live"][1]["tensor"], "int64[1024, 1024]");
    EXPECT_EQ(report["live"][1]["size"], 8 << 20);
    EXPECT_EQ(report["live"][2]["tensor"], "float64[2, 3]");
    EXPECT_EQ(report["operations"][0]["name"], "zeros");
    EXPECT_EQ(report["history"].back()["tensor"], "float64[2, 3]");
  }
  EXPECT_TRUE(json::parse(cpu.snapshot())["live"].empty()) << "freed at the last reference";
  cpu.stop_history();
}

TEST(CpuHistory, blocks_from_before_have_no_operation) {
  Allocator& cpu = allocator_for(Device{});
  Tensor before = empty(Dims{5}, DType::kFloat32, Device{});
  cpu.start_history({});
  before = Tensor();
  const json report = json::parse(cpu.snapshot());
  ASSERT_FALSE(report["history"].empty());
  EXPECT_EQ(report["history"][0]["action"], "free_requested");
  EXPECT_FALSE(report["history"][0].contains("operation"));
  cpu.stop_history();
}

TEST(ExternalHistory, records_what_the_hosts_functions_lend) {
  ExternalFunctions functions;
  functions.allocate = [](void*, int32_t, int64_t nbytes, int64_t alignment, void*, void** block) {
    const auto size = static_cast<size_t>((nbytes + alignment - 1) / alignment * alignment);
    *block = std::aligned_alloc(static_cast<size_t>(alignment), size);
    return 0;
  };
  functions.deallocate = [](void*, int32_t, void* block, int64_t, void*) { std::free(block); };
  ExternalAllocator allocator(Device{}, functions);
  allocator.start_history({});
  void* block = allocator.allocate(1000, nullptr);
  EXPECT_EQ(json::parse(allocator.snapshot())["live"].size(), 1U);
  allocator.deallocate(block, 1000);
  const json report = json::parse(allocator.snapshot());
  EXPECT_TRUE(report["live"].empty());
  EXPECT_EQ(report["history"].size(), 2U);
  allocator.stop_history();
}

}  // namespace
}  // namespace tsr::test::test_history
