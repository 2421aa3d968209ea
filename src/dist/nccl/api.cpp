// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "dist/nccl/api.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace tsr::dist::nccl {
namespace {

struct Library {
  Api functions{};
  bool complete = false;
  char why[256] = "";

  Library() {
    const char* named = std::getenv("TESSERA_NCCL");
    const char* const name = named != nullptr ? named : "libnccl.so.2";
    void* const file = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    complete = file != nullptr && find(file, "ncclGetVersion", functions.get_version) &&
               find(file, "ncclGetUniqueId", functions.get_unique_id) &&
               find(file, "ncclCommInitRank", functions.comm_init_rank) &&
               find(file, "ncclCommSplit", functions.comm_split) &&
               find(file, "ncclCommDestroy", functions.comm_destroy) &&
               find(file, "ncclCommAbort", functions.comm_abort) &&
               find(file, "ncclCommCount", functions.comm_count) &&
               find(file, "ncclCommUserRank", functions.comm_user_rank) &&
               find(file, "ncclCommGetAsyncError", functions.comm_get_async_error) &&
               find(file, "ncclGetErrorString", functions.get_error_string) &&
               find(file, "ncclAllReduce", functions.all_reduce) &&
               find(file, "ncclReduce", functions.reduce) &&
               find(file, "ncclBroadcast", functions.broadcast) &&
               find(file, "ncclAllGather", functions.all_gather) &&
               find(file, "ncclReduceScatter", functions.reduce_scatter) &&
               find(file, "ncclSend", functions.send) && find(file, "ncclRecv", functions.recv) &&
               find(file, "ncclGroupStart", functions.group_start) &&
               find(file, "ncclGroupEnd", functions.group_end);
    if (!complete) {
      const char* const error = dlerror();
      std::snprintf(why, sizeof why, "expected NCCL (%s), got none: %s", name,
                    error == nullptr ? "a function is missing" : error);
      return;
    }
    complete = find_runtime(file);
    if (!complete) std::snprintf(why, sizeof why, "expected the CUDA runtime, got none");
  }

  // The runtime that the CUDA backend uses is loaded already.
  bool find_runtime(void* nccl) {
    for (const char* name : {"libcudart.so.13", "libcudart.so.12"}) {
      void* const file = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
      if (file != nullptr && find_runtime_in(file)) return true;
    }
    return find_runtime_in(nccl) || find_runtime_in(RTLD_DEFAULT);
  }
  bool find_runtime_in(void* file) {
    return find(file, "cudaGetDevice", functions.get_device) &&
           find(file, "cudaSetDevice", functions.set_device);
  }

  template <class Function>
  static bool find(void* file, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(file, name));
    return function != nullptr;
  }
};

}  // namespace

const Api* find_api(char* why, size_t size) {
  static const Library* const library = new Library;
  if (library->complete) return &library->functions;
  std::snprintf(why, size, "%s", library->why);
  return nullptr;
}

}  // namespace tsr::dist::nccl
