// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "dist/nccl/meeting.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "dist/transport.h"

namespace tsr::dist::nccl {
namespace {

// Written beside and renamed, so that nobody reads half of it.
bool write_id(const std::string& path, const UniqueId& id) {
  const std::string beside = path + ".part";
  {
    std::ofstream file(beside, std::ios::binary | std::ios::trunc);
    file.write(id.internal, kUniqueIdBytes);
    if (!file.flush()) return false;
  }
  return std::rename(beside.c_str(), path.c_str()) == 0;
}

bool read_id(const std::string& path, UniqueId* id) {
  std::ifstream file(path, std::ios::binary);
  file.read(id->internal, kUniqueIdBytes);
  return file.gcount() == kUniqueIdBytes;
}

}  // namespace

Status exchange_id(const Api& api, const InitOptions& options,
                   std::chrono::steady_clock::time_point deadline, UniqueId* id, Failure* failure) {
  const std::string path = options.address;
  if (path.empty() && options.size > 1) {
    return failure->set(Code::kValue,
                        "expected the path of a file that all ranks can read as the address");
  }
  if (options.rank == 0) {
    if (const Result result = api.get_unique_id(id); result != kSuccess) {
      return failure->set(Code::kBackend, api.get_error_string(result), result);
    }
    if (options.size > 1 && !write_id(path, *id)) {
      return failure->set(Code::kIo, "expected a file that can be written, got " + path);
    }
    return kOk;
  }
  while (!read_id(path, id)) {
    if (std::chrono::steady_clock::now() > deadline) {
      return failure->set(Code::kCancelled, "rank 0 did not write " + path + " in time");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return kOk;
}

void forget_id(const InitOptions& options) noexcept {
  if (options.rank == 0 && options.size > 1) std::remove(options.address);
}

}  // namespace tsr::dist::nccl
