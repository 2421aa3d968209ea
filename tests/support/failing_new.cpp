// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A replacement of operator new: malloc, a count, and the failures that a test requests.
#include "support/failing_new.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include "memory/debug_flags.h"

namespace tsr::test {
namespace {

constinit thread_local bool t_may_fail = false;
constinit thread_local int64_t t_calls = 0;
constinit std::atomic<int64_t> g_live{0};

void* counted(void* data) {
  if (data == nullptr) throw std::bad_alloc();
  g_live.fetch_add(1, std::memory_order_relaxed);
  ++t_calls;
  return data;
}

}  // namespace

FailingNew::FailingNew() noexcept {
  t_may_fail = true;
}
FailingNew::~FailingNew() {
  t_may_fail = false;
}

int64_t live_new() noexcept {
  return g_live.load(std::memory_order_relaxed);
}

int64_t new_calls() noexcept {
  return t_calls;
}

}  // namespace tsr::test

void* operator new(std::size_t nbytes) {
  if (tsr::test::t_may_fail) tsr::check_injected_failure(nbytes);
  return tsr::test::counted(std::malloc(nbytes == 0 ? 1 : nbytes));
}
void* operator new(std::size_t nbytes, std::align_val_t alignment) {
  if (tsr::test::t_may_fail) tsr::check_injected_failure(nbytes);
  const auto unit = static_cast<std::size_t>(alignment);
  return tsr::test::counted(std::aligned_alloc(unit, (nbytes + unit - 1) / unit * unit));
}
// The standard library's temporary buffers use this form; a sanitizer would otherwise use its own.
void* operator new(std::size_t nbytes, const std::nothrow_t&) noexcept {
  try {
    return operator new(nbytes);
  } catch (...) {
    return nullptr;
  }
}
void operator delete(void* data) noexcept {
  if (data == nullptr) return;
  tsr::test::g_live.fetch_sub(1, std::memory_order_relaxed);
  std::free(data);
}
void operator delete(void* data, std::size_t) noexcept {
  operator delete(data);
}
void operator delete(void* data, std::align_val_t) noexcept {
  operator delete(data);
}
void operator delete(void* data, std::size_t, std::align_val_t) noexcept {
  operator delete(data);
}
