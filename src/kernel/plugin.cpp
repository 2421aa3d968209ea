// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel/plugin.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "base/guarded_mutex.h"
#include "base/immortal.h"
#include "kernel/registry.h"

namespace tsr::kernel {
namespace {

constexpr const char* kCudaPlugin = "libtessera_cuda.so";

// The search for the CUDA plugin, which happens once. Registering a backend takes a lock below it.
struct CudaSearch {
  GuardedMutex mutex{LockLevel::kOuter};
  bool done = false;
  std::string reason;  // why there is none
};

// The folder of the library this code is in, with a slash behind it.
std::string own_folder() {
  Dl_info where{};
  if (dladdr(reinterpret_cast<void*>(&own_folder), &where) == 0 || where.dli_fname == nullptr)
    return {};
  const std::string file = where.dli_fname;
  const size_t slash = file.rfind('/');
  return slash == std::string::npos ? std::string() : file.substr(0, slash + 1);
}

std::vector<std::string> plugin_folders() {
  std::vector<std::string> folders;
  if (const char* listed = std::getenv("TESSERA_PLUGIN_PATH"); listed != nullptr) {
    const std::string_view all = listed;
    for (size_t begin = 0; begin <= all.size();) {
      const size_t end = std::min(all.find(':', begin), all.size());
      if (end != begin) folders.push_back(std::string(all.substr(begin, end - begin)) + "/");
      begin = end + 1;
    }
  }
  if (const std::string own = own_folder(); !own.empty()) {
    for (const char* below : {"tessera/", "", "src/backend/cuda/"}) folders.push_back(own + below);
  }
  return folders;
}

// Loads the plugin or returns why not.
std::string try_cuda() {
  std::string searched;
  for (const std::string& folder : plugin_folders()) {
    const std::string path = folder + kCudaPlugin;
    if (access(path.c_str(), R_OK) != 0) {
      searched += (searched.empty() ? "" : ", ") + folder;
      continue;
    }
    try {
      load_backend(path);
      return {};
    } catch (const Error& error) {
      return concat(" (", path, ": ", error.message(), ")");
    }
  }
  return concat(" (", kCudaPlugin, " is in none of ", searched, ")");
}

}  // namespace

const Backend& load_backend(std::string_view path) {
  const std::string file(path);
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    fail(Code::kIo, "path", __FILE__, __LINE__, "expected a loadable backend, got ", path, ": ",
         reason == nullptr ? "unknown reason" : reason);
  }
  auto entry = reinterpret_cast<BackendEntry>(dlsym(library, kBackendEntryName));
  if (entry == nullptr) {
    dlclose(library);
    fail(Code::kIo, "path", __FILE__, __LINE__, "expected a library that exports ",
         kBackendEntryName, ", got ", path);
  }
  return register_backend(
      entry);  // stays loaded: its kernels may be entered until the process ends
}

const Backend* load_default_backend(DeviceType type) noexcept {
  if (type != DeviceType::kCuda) return nullptr;
  try {
    auto& search = immortal<CudaSearch>();
    const std::lock_guard lock(search.mutex);
    if (!search.done) {
      search.done = true;
      search.reason = try_cuda();
    }
  } catch (...) {
    return nullptr;  // no memory for names: as if there were no plugin
  }
  return find_backend(type);
}

std::string missing_plugin(DeviceType type) {
  if (type != DeviceType::kCuda) return {};
  auto& search = immortal<CudaSearch>();
  const std::lock_guard lock(search.mutex);
  return search.reason;
}

}  // namespace tsr::kernel
