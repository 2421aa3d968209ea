// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/linalg/cusolver.h"

#include <dlfcn.h>

#include <cstdio>

#include "backend/cuda/handle_pool.h"

namespace tsr::cuda {

using kernel::Status;

namespace {

// Finds functions by name; after the first one that is missing nothing more is looked up.
class Finder {
 public:
  explicit Finder(void* file) : file_(file), complete_(file != nullptr) {}

  template <class Function>
  void find(Function& function, const char* name) {
    if (!complete_) return;
    function = reinterpret_cast<Function>(dlsym(file_, name));
    complete_ = function != nullptr;
  }
  // `letter` is the type's; `complex` types have other names for orthogonal and symmetric.
  template <class T>
  void find_all(Solver<T>& solver, char letter, bool complex) {
    const auto typed = [&](auto& function, const char* rest) {
      char name[64];
      std::snprintf(name, sizeof name, "cusolverDn%c%s", letter, rest);
      find(function, name);
    };
    typed(solver.potrf_size, "potrf_bufferSize");
    typed(solver.potrf, "potrf");
    typed(solver.getrf_size, "getrf_bufferSize");
    typed(solver.getrf, "getrf");
    typed(solver.getrs, "getrs");
    typed(solver.geqrf_size, "geqrf_bufferSize");
    typed(solver.geqrf, "geqrf");
    typed(solver.orgqr_size, complex ? "ungqr_bufferSize" : "orgqr_bufferSize");
    typed(solver.orgqr, complex ? "ungqr" : "orgqr");
    typed(solver.syevd_size, complex ? "heevd_bufferSize" : "syevd_bufferSize");
    typed(solver.syevd, complex ? "heevd" : "syevd");
    typed(solver.gesvdj_size, "gesvdj_bufferSize");
    typed(solver.gesvdj, "gesvdj");
  }
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  void* file_;
  bool complete_;
};

struct Library {
  SolverLibrary functions{};
  bool complete = false;

  Library() {
    char name[32];
    std::snprintf(name, sizeof name, "libcusolver.so.%d", CUSOLVER_VER_MAJOR);
    Finder finder(dlopen(name, RTLD_NOW | RTLD_LOCAL));
    finder.find(functions.create, "cusolverDnCreate");
    finder.find(functions.destroy, "cusolverDnDestroy");
    finder.find(functions.set_stream, "cusolverDnSetStream");
    finder.find(functions.create_gesvdj, "cusolverDnCreateGesvdjInfo");
    finder.find(functions.destroy_gesvdj, "cusolverDnDestroyGesvdjInfo");
    finder.find_all(functions.s, 'S', false);
    finder.find_all(functions.d, 'D', false);
    finder.find_all(functions.c, 'C', true);
    finder.find_all(functions.z, 'Z', true);
    complete = finder.complete();
  }
};

HandlePool<cusolverDnHandle_t>& pool() {
  static auto& one = *new HandlePool<cusolverDnHandle_t>;
  return one;
}

bool lacks_memory(cusolverStatus_t status) {
  return status == CUSOLVER_STATUS_NOT_INITIALIZED || status == CUSOLVER_STATUS_ALLOC_FAILED;
}

}  // namespace

const SolverLibrary* load_solver() noexcept {
  static const auto& one = *new Library;  // never unloaded: its threads may outlive us
  return one.complete ? &one.functions : nullptr;
}

Status solver_failure(cusolverStatus_t status) noexcept {
  const Code code = status == CUSOLVER_STATUS_ALLOC_FAILED ? Code::kOutOfMemory : Code::kBackend;
  return failure(code, "a call of cuSOLVER failed", static_cast<int64_t>(status));
}

SolverHandle::SolverHandle(const SolverLibrary& library, kernel::Place place)
    : library_(library), device_(place.device), handle_(pool().take(device_)) {
  if (handle_ == nullptr)
    status_ = make_with_room(
        place, [&] { return library.create(&handle_); }, lacks_memory);
  if (status_ == CUSOLVER_STATUS_SUCCESS)
    status_ = library.set_stream(handle_, static_cast<cudaStream_t>(place.stream));
}

SolverHandle::~SolverHandle() {
  if (handle_ != nullptr && !pool().give(device_, handle_))
    static_cast<void>(library_.destroy(handle_));
}

}  // namespace tsr::cuda
