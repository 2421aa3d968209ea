// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The stopwatch of the benchmarks: runs our code and the peer's in turn, prints one JSON line for
// each case.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace tsr::bench {

struct Case {
  std::string name;
  std::string shape;         // the size of the data, such as "64MiB"
  std::string unit_of_work;  // what `count` counts, such as "pair"
  int64_t count = 1;         // units of work in one call
  double bytes = 0;          // moved in one call; 0: not limited by bandwidth
  int threads = 1;
  int rounds = 20;
  std::function<void()> ours;
  std::function<void()> prepare{};  // before each call of `ours`, not measured; optional
  std::function<void()> peer{};     // optional
  std::string peer_name{};
};

struct Times {
  double best = 0;  // least affected by other load of the machine
  double median = 0;
  double p10 = 0;
  double p90 = 0;
};

// TSR_BENCH_CLOCK=cpu measures the process's CPU time: for one thread on a busy machine.
inline double clock_seconds() {
  static const bool own_time = [] {
    const char* chosen = std::getenv("TSR_BENCH_CLOCK");
    return chosen != nullptr && std::string(chosen) == "cpu";
  }();
  timespec time{};
  clock_gettime(own_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

inline double seconds_of(const std::function<void()>& work) {
  const double begin = clock_seconds();
  work();
  return clock_seconds() - begin;
}

inline Times summarise(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const size_t last = seconds.size() - 1;
  return {seconds[0], seconds[last / 2], seconds[last / 10], seconds[last - last / 10]};
}

// Makes the compiler keep the value.
inline void keep(const void* value) {
  asm volatile("" : : "r"(value) : "memory");
}

// TSR_BENCH_ONLY lists the cases to run, separated by commas; all if unset.
inline bool is_chosen(const std::string& name) {
  const char* chosen = std::getenv("TSR_BENCH_ONLY");
  if (chosen == nullptr || *chosen == '\0') return true;
  return ("," + std::string(chosen) + ",").find("," + name + ",") != std::string::npos;
}

inline void run(const Case& c) {
  if (!is_chosen(c.name)) return;
  std::vector<double> ours;
  std::vector<double> peer;
  if (c.prepare) c.prepare();
  c.ours();  // warm-up
  if (c.peer) c.peer();
  for (int i = 0; i < c.rounds; ++i) {
    if (c.prepare) c.prepare();
    ours.push_back(seconds_of(c.ours));
    if (c.peer) peer.push_back(seconds_of(c.peer));
  }
  const Times times = summarise(ours);
  const double scale = 1e9 / static_cast<double>(c.count);
  std::printf(
      "{\"name\": \"%s\", \"shape\": \"%s\", \"device\": \"cpu\", \"threads\": %d, "
      "\"unit\": \"ns per %s\", \"best\": %.3f, \"median\": %.3f, \"p10\": %.3f, \"p90\": %.3f",
      c.name.c_str(), c.shape.c_str(), c.threads, c.unit_of_work.c_str(), times.best * scale,
      times.median * scale, times.p10 * scale, times.p90 * scale);
  if (c.bytes > 0) std::printf(", \"bytes_per_second\": %.4g", c.bytes / times.median);
  if (c.peer) {
    const Times other = summarise(peer);
    std::printf(", \"peer\": \"%s\", \"peer_best\": %.3f, \"peer_median\": %.3f, \"ratio\": %.3f",
                c.peer_name.c_str(), other.best * scale, other.median * scale,
                times.median / other.median);
  }
  std::printf("}\n");
  std::fflush(stdout);
}

}  // namespace tsr::bench
