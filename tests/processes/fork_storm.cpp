// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Forks while three threads repeat one kind of work without pause, and does the same work in each
// child. A lock that a thread held at the fork would block the child until its alarm ends it.
// Usage: fork_storm <what>; the exit status is 0 if every child ended by itself.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "tessera/tessera.h"

namespace {

constexpr int kForks = 120;
constexpr unsigned kSecondsPerChild = 20;

void need(tsr_status status, const char* what) {
  if (status == TSR_OK) return;
  std::printf("%s: status %d\n", what, status);
  _exit(3);
}

const int64_t kOne[] = {1};
constexpr tsr_device_type kCuda = TSR_DEVICE_CUDA;

void draw_numbers() {
  tsr_generator generator = nullptr;
  tsr_tensor numbers = nullptr;
  need(tsr_generator_default(&generator), "tsr_generator_default");
  need(tsr_generator_seed(generator, 1), "tsr_generator_seed");
  tsr_generator_release(generator);
  need(tsr_rand(kOne, 1, TSR_FLOAT32, -1, -1, nullptr, &numbers), "tsr_rand");
  tsr_tensor_release(numbers);
}

void make_generators() {
  tsr_generator generator = nullptr;
  need(tsr_generator_new(1, &generator), "tsr_generator_new");
  tsr_generator_release(generator);
}

void load_a_plugin() {
  if (tsr_plugin_load("/nonexistent.so", -1) == TSR_OK) _exit(4);
}

// Works with and without a backend; the search for one takes a lock.
void count_devices() {
  int32_t count = 0;
  tsr_tensor tensor = nullptr;
  need(tsr_device_count(kCuda, &count), "tsr_device_count");
  if (count == 0 && tsr_ones(kOne, 1, TSR_FLOAT32, kCuda, 0, &tensor) == TSR_OK) _exit(5);
}

void convolve() {
  static thread_local int64_t size = 8;
  size = size < 48 ? size + 1 : 8;
  const int64_t image[] = {2, 3, size, 8}, filter[] = {4, 3, 3, 3}, one[] = {1, 1}, none[] = {0, 0};
  tsr_tensor x = nullptr, w = nullptr, y = nullptr;
  need(tsr_ones(image, 4, TSR_FLOAT32, -1, -1, &x), "tsr_ones");
  need(tsr_ones(filter, 4, TSR_FLOAT32, -1, -1, &w), "tsr_ones");
  need(tsr_conv2d(x, w, nullptr, one, 2, none, 2, one, 2, 1, 0, &y), "tsr_conv2d");
  tsr_tensor_release(x);
  tsr_tensor_release(w);
  tsr_tensor_release(y);
}

// In short-lived threads, because each is added to a list and removed from it.
void count_nodes() {
  std::thread([] {
    tsr_tensor x = nullptr, y = nullptr;
    need(tsr_ones(kOne, 1, TSR_FLOAT32, -1, -1, &x), "tsr_ones");
    need(tsr_tensor_set_requires_grad(x, 1), "tsr_tensor_set_requires_grad");
    need(tsr_exp(x, &y), "tsr_exp");
    tsr_tensor_release(x);
    tsr_tensor_release(y);
  }).join();
  if (tsr_live_nodes() < 0) _exit(6);
}

void set_log() {
  need(
      tsr_log_set([](void*, tsr_log_level, const char*, const char*, int64_t) {}, nullptr, nullptr),
      "tsr_log_set");
}

void change_pressure() {
  int64_t id = 0;
  const auto ignore = [](void*, const tsr_memory_event*) -> tsr_pressure_action {
    return TSR_PRESSURE_NOTHING;
  };
  need(tsr_memory_pressure_add(TSR_DEVICE_CPU, 0, ignore, nullptr, nullptr, &id),
       "tsr_memory_pressure_add");
  need(tsr_memory_pressure_remove(id), "tsr_memory_pressure_remove");
}

void defer_and_poll() {
  static float memory = 0;
  int64_t count = 0;
  tsr_tensor tensor = nullptr;
  need(tsr_defer_drops(1), "tsr_defer_drops");
  need(tsr_tensor_from_data(
           &memory, TSR_FLOAT32, TSR_DEVICE_CPU, 0, kOne, 1, nullptr, -1, 0, nullptr, [](void*) {},
           &tensor),
       "tsr_tensor_from_data");
  tsr_tensor_release(tensor);
  need(tsr_poll(&count), "tsr_poll");
}

void reset_allocator() {
  need(tsr_memory_allocator_reset(TSR_DEVICE_CPU, 0), "tsr_memory_allocator_reset");
}

// All threads and all children share the leaf.
tsr_tensor the_leaf() {
  tsr_tensor leaf = nullptr;
  need(tsr_ones(kOne, 1, TSR_FLOAT32, -1, -1, &leaf), "tsr_ones");
  need(tsr_tensor_set_requires_grad(leaf, 1), "tsr_tensor_set_requires_grad");
  return leaf;
}
const tsr_tensor kLeaf = the_leaf();

void differentiate_one_leaf() {
  const auto ignore = [](void*, tsr_tensor, tsr_tensor*) -> tsr_status { return TSR_OK; };
  tsr_tensor y = nullptr;
  int64_t id = 0;
  need(tsr_tensor_hook_add(kLeaf, ignore, nullptr, nullptr, &id), "tsr_tensor_hook_add");
  need(tsr_exp(kLeaf, &y), "tsr_exp");
  need(tsr_backward(&y, 1, nullptr, -1, nullptr, 0, 0), "tsr_backward");
  need(tsr_tensor_hook_remove(kLeaf, id), "tsr_tensor_hook_remove");
  tsr_tensor_release(y);
}

void use_scopes() {
  tsr_scope scope = nullptr;
  tsr_tensor made = nullptr;
  need(tsr_scope_begin(&scope), "tsr_scope_begin");
  for (int i = 0; i < 2; ++i) {
    need(tsr_ones(kOne, 1, TSR_FLOAT32, -1, -1, &made), "tsr_ones");
    if (i == 0) tsr_tensor_release(made);
  }
  need(tsr_scope_end(scope, nullptr, 0), "tsr_scope_end");
}

// In short-lived threads, each of which keeps an error record.
void fail_in_threads() {
  std::thread([] {
    tsr_tensor out = nullptr;
    if (tsr_abs(nullptr, &out) != TSR_INVALID_ARGUMENT) _exit(7);
  }).join();
}

struct Step {
  const char* name;
  void (*run)();
};
constexpr Step kSteps[] = {
    {"draw_numbers", draw_numbers},
    {"make_generators", make_generators},
    {"load_a_plugin", load_a_plugin},
    {"count_devices", count_devices},
    {"convolve", convolve},
    {"count_nodes", count_nodes},
    {"set_log", set_log},
    {"change_pressure", change_pressure},
    {"defer_and_poll", defer_and_poll},
    {"reset_allocator", reset_allocator},
    {"differentiate_one_leaf", differentiate_one_leaf},
    {"use_scopes", use_scopes},
    {"fail_in_threads", fail_in_threads},
};

int bad_children(void (*run)()) {
  int bad = 0;
  for (int i = 0; i < kForks && bad == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(kSecondsPerChild);
      run();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status == 0) continue;
    ++bad;
    std::printf("child %d ended with wait status %d (%s)\n", i, status,
                WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit");
  }
  return bad;
}

}  // namespace

int main(int count, char** arguments) {
  for (const Step& step : kSteps) {
    if (count != 2 || std::strcmp(arguments[1], step.name) != 0) continue;
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        while (!stop) step.run();
      });
    }
    const int bad = bad_children(step.run);
    stop = true;
    for (std::thread& thread : threads) thread.join();
    return bad == 0 ? 0 : 1;
  }
  std::printf("usage: fork_storm <step>\n");
  return 2;
}
