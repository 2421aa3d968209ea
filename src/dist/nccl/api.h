// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The part of NCCL that we use. Declared here, so that the plugin is built without NCCL's header;
// where that is there, a test compares both. The library is opened at the first group.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tsr::dist::nccl {

inline constexpr int kUniqueIdBytes = 128;
struct UniqueId {
  char internal[kUniqueIdBytes];
};
using Comm = struct ncclComm*;
using Result = int32_t;
inline constexpr Result kSuccess = 0;
inline constexpr Result kUnhandledCudaError = 1;
inline constexpr Result kInProgress = 7;

enum DataType : int32_t {
  kInt8 = 0,
  kUint8 = 1,
  kInt32 = 2,
  kUint32 = 3,
  kInt64 = 4,
  kUint64 = 5,
  kFloat16 = 6,
  kFloat32 = 7,
  kFloat64 = 8,
  kBfloat16 = 9,
};
enum RedOp : int32_t { kSum = 0, kProd = 1, kMax = 2, kMin = 3, kAvg = 4 };

struct Api {
  Result (*get_version)(int* version);
  Result (*get_unique_id)(UniqueId* id);
  Result (*comm_init_rank)(Comm* comm, int size, UniqueId id, int rank);
  Result (*comm_split)(Comm comm, int color, int key, Comm* part, void* config);
  Result (*comm_destroy)(Comm comm);
  Result (*comm_abort)(Comm comm);
  Result (*comm_count)(Comm comm, int* size);
  Result (*comm_user_rank)(Comm comm, int* rank);
  Result (*comm_get_async_error)(Comm comm, Result* error);
  const char* (*get_error_string)(Result result);
  Result (*all_reduce)(const void* send, void* recv, size_t count, int32_t type, int32_t op,
                       Comm comm, void* stream);
  Result (*reduce)(const void* send, void* recv, size_t count, int32_t type, int32_t op, int root,
                   Comm comm, void* stream);
  Result (*broadcast)(const void* send, void* recv, size_t count, int32_t type, int root, Comm comm,
                      void* stream);
  Result (*all_gather)(const void* send, void* recv, size_t count, int32_t type, Comm comm,
                       void* stream);
  Result (*reduce_scatter)(const void* send, void* recv, size_t count, int32_t type, int32_t op,
                           Comm comm, void* stream);
  Result (*send)(const void* data, size_t count, int32_t type, int peer, Comm comm, void* stream);
  Result (*recv)(void* data, size_t count, int32_t type, int peer, Comm comm, void* stream);
  Result (*group_start)();
  Result (*group_end)();
  // Of the CUDA runtime.
  int32_t (*get_device)(int* device);
  int32_t (*set_device)(int device);
};

// Null with a reason when NCCL or the CUDA runtime cannot be opened. TESSERA_NCCL names another
// file than libnccl.so.2.
const Api* find_api(char* why, size_t size);

}  // namespace tsr::dist::nccl
