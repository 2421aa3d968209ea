// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/linalg/blas.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>

#include "backend/cpu/host.h"
#include "backend/cpu/linalg/blas_kernels.h"
#include "backend/cpu/nn/onednn/sgemm.h"
#include "base/guarded_mutex.h"
#include "base/immortal.h"
#include "base/parallel.h"

namespace tsr::cpu {
namespace {

using kernel::Status;

// Note [A BLAS of our own]
// A program may define cblas_sgemm itself, or link a BLAS with 64-bit integers. The linker has one
// namespace, so these functions would replace the ones that we call, and even those that OpenBLAS
// calls inside. Therefore OpenBLAS is not a linked dependency: we open it so that it prefers its
// own symbols (RTLD_DEEPBIND) and hides them from others (RTLD_LOCAL), and call it by address. It
// stays open for the life of the process.

// Tried in this order. A name without a slash is searched for in the system's library path, and
// beside this library.
constexpr const char* kCandidates[] = {TSR_BLAS_CANDIDATES};

#ifdef TSR_BLAS_SERIAL
constexpr int kWantedFlavour = 0;
#else
constexpr int kWantedFlavour = 2;  // OpenMP: it shares its threads with oneDNN and with us
#endif
constexpr int kNoOpenBlas = -1;

// The buffer that OpenBLAS maps for each thread that calls it. Without memory OpenBLAS retries for
// ever.
constexpr size_t kBufferBytes = size_t{128} << 20;
// The library itself and its dependencies, with a margin.
constexpr size_t kLibraryBytes = size_t{64} << 20;

struct Loaded {
  GuardedMutex mutex;
  void* handle = nullptr;
  int flavour = kNoOpenBlas;
  void (*set_num_threads)(int) = nullptr;
  Blas blas;
  std::atomic<bool> ready{false};
  // The number of threads for which OpenBLAS has buffers: its own threads, and concurrent callers.
  std::atomic<int32_t> workers{1};
  std::atomic<int64_t> callers{0};
};
Loaded& loaded() {
  return immortal<Loaded>();
}

// ---- Products of float32 ----

// From this many multiplications on oneDNN is faster than OpenBLAS, unless both operands are
// transposed (docs/adr/0018).
constexpr int64_t kForOneDnn = int64_t{1} << 15;
// The library's own; written before `ready`.
Blas::Gemm<float> g_library_sgemm = nullptr;

// oneDNN reads rows: columns in order are the transposed product of rows.
void sgemm(BlasOrder order, BlasTranspose transpose_a, BlasTranspose transpose_b, int m, int n,
           int k, float alpha, const float* a, int lda, const float* b, int ldb, float beta,
           float* c, int ldc) {
  const bool turned_a = transpose_a == BlasTranspose::kYes;
  const bool turned_b = transpose_b == BlasTranspose::kYes;
  if (int64_t{m} * n * k >= kForOneDnn && !(turned_a && turned_b) && !ForeignCall::ending()) {
    const bool done =
        order == BlasOrder::kRows
            ? onednn::sgemm(turned_a, turned_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
            : onednn::sgemm(turned_b, turned_a, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc);
    if (done) return;
  }
  g_library_sgemm(order, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

// ---- The library ----

template <class Function>
bool bind(void* handle, const char* name, Function*& function) noexcept {
  function = reinterpret_cast<Function*>(dlsym(handle, name));
  return function != nullptr;
}

bool bind_all(void* handle, Blas& blas) noexcept {
  return bind(handle, "cblas_sgemm", blas.sgemm) && bind(handle, "cblas_dgemm", blas.dgemm) &&
         bind(handle, "cblas_cgemm", blas.cgemm) && bind(handle, "cblas_zgemm", blas.zgemm) &&
         bind(handle, "cblas_sgemv", blas.sgemv) && bind(handle, "cblas_dgemv", blas.dgemv);
}

int flavour_of(void* handle) noexcept {
  int (*parallel)() = nullptr;
  return bind(handle, "openblas_get_parallel", parallel) ? parallel() : kNoOpenBlas;
}

// Sanitizers abort when a library is opened with RTLD_DEEPBIND.
int open_flags() noexcept {
  const bool sanitized = dlsym(RTLD_DEFAULT, "__sanitizer_set_death_callback") != nullptr;
  return RTLD_NOW | RTLD_LOCAL | (sanitized ? 0 : RTLD_DEEPBIND);
}

// Opens a library with CBLAS's functions; null if it is none.
void* open_candidate(const char* name) noexcept {
  void* const shared = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  void* const handle = dlopen(name, open_flags());
  if (shared != nullptr) dlclose(shared);
  Blas blas;
  if (handle == nullptr || !bind_all(handle, blas)) return nullptr;
  if (shared == nullptr) choose_blas_kernels(handle);
  return handle;
}

// Opens the first candidate of the wanted flavour, else the first of any flavour; null if there is
// none.
void* open_library() noexcept {
  void* other = nullptr;
  for (const char* candidate : kCandidates) {
    void* handle = open_candidate(candidate);
    if (handle == nullptr) continue;
    if (flavour_of(handle) == kWantedFlavour) return handle;
    if (other == nullptr) other = handle;
  }
  return other;
}

Status no_library() noexcept {
  if (!can_map(kLibraryBytes)) {
    return failure(Code::kOutOfMemory, "expected memory for the BLAS library, got none");
  }
  char text[512];
  int length = std::snprintf(text, sizeof text,
                             "expected a BLAS library with CBLAS functions, got "
                             "none of");
  for (const char* candidate : kCandidates) {
    if (length < 0 || static_cast<size_t>(length) >= sizeof text) break;
    length +=
        std::snprintf(text + length, sizeof text - static_cast<size_t>(length), " %s", candidate);
  }
  return failure(Code::kBackend, text);
}

// Called under the lock.
Status load(Loaded& library) noexcept {
  const auto first = static_cast<size_t>(2 * num_threads());
  if (!can_map(kLibraryBytes + first * kBufferBytes)) {
    return failure(Code::kOutOfMemory,
                   "expected address space for the BLAS library and its buffers of 128 MiB a "
                   "thread, got less");
  }
  void* handle = open_library();
  if (handle == nullptr) return no_library();
  library.handle = handle;
  library.flavour = flavour_of(handle);
  bind_all(handle, library.blas);
  g_library_sgemm = std::exchange(library.blas.sgemm, &sgemm);
  if (library.flavour > 0) bind(handle, "openblas_set_num_threads", library.set_num_threads);
  library.ready.store(true, std::memory_order_release);
  return kernel::kOk;
}

// Called under the lock. OpenBLAS never unmaps a buffer.
Status get_buffers(Loaded& library, int32_t workers, int64_t callers) noexcept {
  const int64_t missing_workers =
      std::max<int64_t>(0, workers - library.workers.load(std::memory_order_relaxed));
  const int64_t missing_callers =
      std::max<int64_t>(0, callers - library.callers.load(std::memory_order_relaxed));
  const auto missing =
      static_cast<size_t>(missing_workers + missing_callers + (missing_workers > 0 ? 1 : 0));
  if (!can_map(missing * kBufferBytes)) {
    return failure(Code::kOutOfMemory,
                   "expected address space for the buffers of the BLAS library, 128 MiB a thread, "
                   "got less");
  }
  if (missing_workers > 0) {
    if (library.set_num_threads != nullptr) library.set_num_threads(workers);
    library.workers.store(workers, std::memory_order_relaxed);
  }
  library.callers.store(std::max(callers, library.callers.load(std::memory_order_relaxed)),
                        std::memory_order_relaxed);
  return kernel::kOk;
}

bool has_buffers(const Loaded& library, int32_t workers, int64_t callers) noexcept {
  return library.flavour == kNoOpenBlas ||
         (callers <= library.callers.load(std::memory_order_relaxed) &&
          workers <= library.workers.load(std::memory_order_relaxed));
}

}  // namespace

BlasUse::BlasUse(BlasCalls calls) noexcept : threads_(calls == BlasCalls::kSideBySide) {
  if (call_.refused()) {
    status_ = ForeignCall::refuse();
    return;
  }
  const int32_t workers = threads_.count();
  const int64_t callers =
      ForeignCall::running() * (calls == BlasCalls::kSideBySide ? num_threads() : 1);
  Loaded& library = loaded();
  if (!library.ready.load(std::memory_order_acquire) || !has_buffers(library, workers, callers))
      [[unlikely]] {
    const std::lock_guard lock(library.mutex);
    if (!library.ready.load(std::memory_order_acquire)) status_ = load(library);
    if (status_ == kernel::kOk && !has_buffers(library, workers, callers)) {
      status_ = get_buffers(library, workers, callers);
    }
    if (status_ != kernel::kOk) return;
  }
  blas_ = &library.blas;
}

void* BlasUse::find(const char* name) const noexcept {
  return dlsym(loaded().handle, name);
}

BlasLibrary blas_library() noexcept {
  const BlasUse use(BlasCalls::kInTurn);
  Dl_info where{};
  if (!use || dladdr(reinterpret_cast<void*>(use->dgemm), &where) == 0) return {"", kNoOpenBlas};
  return {where.dli_fname, loaded().flavour};
}

}  // namespace tsr::cpu
