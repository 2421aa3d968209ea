// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>

#include "base/host_stack.h"

namespace tsr::profile::test_recorder {
namespace {

// A span of its scope.
class Traced {
 public:
  explicit Traced(const char* name, TraceKind kind = TraceKind::kCall, int32_t id = 7) {
    if (!(traced_ = is_traced(kind))) return;
    TraceEvent event{};
    event.kind = kind;
    event.id = id;
    event.name = name;
    begin_span(span_, event);
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;
  ~Traced() {
    if (traced_) end_span(span_, 0);
  }

 private:
  bool traced_;
  TraceSpan span_;
};

RecordOptions options(int64_t capacity = 1 << 16) {
  RecordOptions made;
  made.capacity = capacity;
  return made;
}

Profile finish() {
  stop_recording();
  return take_recording();
}

std::vector<std::string> names(const Profile& profile) {
  std::vector<std::string> all;
  for (const Event& event : profile.events) all.emplace_back(event.name);
  return all;
}

TEST(Recorder, R11_events_come_outer_first_with_their_parents) {
  start_recording(options());
  {
    const Traced outer("outer");
    const Traced inner("inner", TraceKind::kLaunch);
    trace_memory(TraceKind::kAllocate, Device{}, 64, nullptr);
  }
  const Profile profile = finish();
  ASSERT_EQ(names(profile), (std::vector<std::string>{"outer", "inner", "memory"}));
  EXPECT_EQ(profile.events[1].parent, profile.events[0].correlation);
  EXPECT_EQ(profile.events[2].parent, profile.events[1].correlation);
  EXPECT_EQ(profile.events[2].value, 64);
  EXPECT_LE(profile.begin, profile.events[0].begin);
  EXPECT_LE(profile.events[0].end, profile.end);
  EXPECT_EQ(profile.threads.count(profile.events[0].thread), 1U);
}

TEST(Recorder, R11_ranges_nest_keep_their_names_and_end_in_any_order) {
  start_recording(options());
  const int64_t first = begin_range(std::string("first ") + "range");
  const int64_t second = begin_range("second");
  { const Traced call("call"); }
  end_range(first);
  { const Traced call("later"); }
  end_range(second);
  end_range(second);
  end_range(-5);
  const Profile profile = finish();
  ASSERT_EQ(names(profile), (std::vector<std::string>{"first range", "second", "call", "later"}));
  EXPECT_EQ(profile.events[2].parent, profile.events[1].correlation);
  EXPECT_EQ(profile.events[1].parent, profile.events[0].correlation);
  EXPECT_EQ(profile.events[3].parent, profile.events[1].correlation);
  EXPECT_EQ(begin_range("not traced"), 0);
}

TEST(Recorder, R11_a_range_may_outlive_the_call_in_which_it_began) {
  start_recording(options());
  int64_t range = 0;
  {
    const Traced call("callback");
    range = begin_range("long");
  }
  { const Traced call("after"); }
  end_range(range);
  const Profile profile = finish();
  ASSERT_EQ(names(profile), (std::vector<std::string>{"callback", "long", "after"}));
  EXPECT_EQ(profile.events[2].parent, profile.events[1].correlation);
}

TEST(Recorder, a_thread_may_end_with_open_ranges) {
  start_recording(options());
  std::thread([] { static_cast<void>(begin_range("never ended")); }).join();
  EXPECT_TRUE(finish().events.empty());
}

TEST(Recorder, R11_counts_events_for_which_there_is_no_room) {
  start_recording(options(512));
  for (int i = 0; i < 600; ++i) const Traced call("call");
  const Profile profile = finish();
  EXPECT_EQ(profile.events.size(), 512U);
  EXPECT_EQ(profile.lost, 88);
  start_recording(options(512));
  { const Traced call("again"); }
  const Profile second = finish();
  EXPECT_EQ(second.events.size(), 1U);
  EXPECT_EQ(second.lost, 0);
}

TEST(Recorder, R11_many_threads_write_while_recordings_are_taken) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 20000;
  start_recording(options(kThreads * kCalls * 2));
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&running] {
      for (int k = 0; k < kCalls; ++k) const Traced call("call");
      --running;
    });
  }
  std::set<uint64_t> seen;
  size_t taken = 0;
  const auto take = [&] {
    const Profile profile = take_recording();
    taken += profile.events.size();
    for (const Event& event : profile.events) EXPECT_TRUE(seen.insert(event.correlation).second);
    for (size_t i = 1; i < profile.events.size(); ++i) {
      const Event &a = profile.events[i - 1], &b = profile.events[i];
      EXPECT_TRUE(a.thread < b.thread || (a.thread == b.thread && a.begin <= b.begin));
    }
  };
  while (running != 0) take();
  for (auto& thread : threads) thread.join();
  // What ends while a recording is being taken is missing, which may be all of the threads' calls.
  { const Traced call("call"); }
  stop_recording();
  take();
  EXPECT_GT(taken, 0U);
  EXPECT_LE(taken, static_cast<size_t>(kThreads * kCalls) + 1);
}

thread_local const char* t_place = "main.py:1 in main";

TEST(Recorder, R11_arguments_and_stacks_are_those_of_the_call) {
  set_host_stack(std::make_shared<const HostStackSource>(
      [] { return std::string(t_place) + "\nmain.py:9 in <module>\n"; }));
  RecordOptions with = options();
  with.describe = [](const TraceEvent& event, std::string& shapes, std::string& dtypes) {
    if (std::string_view(event.name) != "call") return;
    shapes = "[[2]]";
    dtypes = "[\"float32\"]";
  };
  with.stacks = true;
  start_recording(with);
  { const Traced call("call"); }
  { const Traced call("other"); }
  std::thread([] {
    t_place = "work.py:1 in run";
    const Traced call("call");
  }).join();
  const Profile profile = finish();
  set_host_stack(nullptr);
  ASSERT_EQ(profile.events.size(), 3U);
  for (const Event& event : profile.events) {
    const bool here = event.thread == gettid();
    EXPECT_EQ(event.stack(), std::string(here ? "main.py:1 in main" : "work.py:1 in run") +
                                 "\nmain.py:9 in <module>");
    const bool call = std::string_view(event.name) == "call";
    EXPECT_STREQ(event.shapes(), call ? "[[2]]" : "");
    EXPECT_STREQ(event.dtypes(), call ? "[\"float32\"]" : "");
  }
}

TEST(Recorder, the_profilers_own_calls_are_not_recorded) {
  RecordOptions with = options();
  with.first_own_id = 500;
  with.last_own_id = 510;
  start_recording(with);
  { const Traced call("own", TraceKind::kCall, 505); }
  { const Traced call("other", TraceKind::kCall, 511); }
  EXPECT_EQ(names(finish()), (std::vector<std::string>{"other"}));
}

TEST(Recorder, works_in_a_child_of_a_process_that_records) {
  start_recording(options());
  { const Traced call("parent"); }
  const pid_t child = fork();
  if (child == 0) {
    { const Traced call("child"); }
    const auto seen = names(finish());
    _exit(seen == std::vector<std::string>{"parent", "child"} ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(names(finish()), (std::vector<std::string>{"parent"}));
}

// They may have been writing at the fork.
TEST(Recorder, a_child_has_no_events_of_other_threads_of_its_parent) {
  start_recording(options());
  std::atomic<int> stage{0};
  std::thread other([&stage] {
    { const Traced call("other"); }
    stage = 1;
    while (stage != 2) std::this_thread::yield();
  });
  while (stage != 1) std::this_thread::yield();
  { const Traced call("parent"); }
  const pid_t child = fork();
  if (child == 0) {
    { const Traced call("child"); }
    const auto seen = names(finish());
    start_recording(options());
    { const Traced call("again"); }
    const auto again = names(finish());
    _exit(seen == std::vector<std::string>{"parent", "child"} &&
                  again == std::vector<std::string>{"again"}
              ? 0
              : 1);
  }
  stage = 2;
  other.join();
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(finish().events.size(), 2U);
}

}  // namespace
}  // namespace tsr::profile::test_recorder
