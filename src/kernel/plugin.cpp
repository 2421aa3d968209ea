// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernel/plugin.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "base/guarded_mutex.h"
#include "base/immortal.h"
#include "kernel/device_graph.h"
#include "kernel/registry.h"
#include "tensor/ipc_storage.h"

namespace tsr::kernel {
namespace {

constexpr const char* kCudaPlugin = "libtessera_cuda.so";

struct Loaded {
  BackendEntry entry;
  const Backend* backend;
};

// The lock is an outer one: registering a backend takes an inner lock while this one is held.
struct Plugins {
  GuardedMutex mutex{LockLevel::kOuter};
  std::vector<Loaded> loaded;
  bool searched_cuda = false;  // the search for the CUDA plugin is done once
  std::string no_cuda;         // why there is none
};

// Under the lock. A plugin that is loaded already is not entered again: its kernels may be running.
const Backend& load_into(Plugins& plugins, const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
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
  for (const Loaded& each : plugins.loaded) {
    if (each.entry != entry) continue;
    dlclose(library);  // the first load keeps it
    return *each.backend;
  }
  plugins.loaded.reserve(plugins.loaded.size() + 1);
  const Backend& backend = register_backend(entry);
  plugins.loaded.push_back({entry, &backend});
  if (auto ipc = reinterpret_cast<IpcEntry>(dlsym(library, kIpcEntryName)); ipc != nullptr)
    install_ipc(backend.device_type, *ipc());
  if (auto graphs = reinterpret_cast<GraphEntry>(dlsym(library, kGraphEntryName));
      graphs != nullptr)
    install_graphs(backend.device_type, *graphs());
  return backend;  // stays loaded: its kernels may run until the process ends
}

std::string folder_of(const std::string& file) {
  return file.substr(0, file.rfind('/') + 1);
}

// The folders of the library that contains this code, each with a slash at its end: the folder of
// the file itself and, if it was opened through a symbolic link, the folder of the link. A build
// tool (cargo) makes a link without the plugin beside it; a farm of links (GNU stow) has the
// plugin's link in the same folder.
std::vector<std::string> own_folders() {
  Dl_info where{};
  if (dladdr(reinterpret_cast<void*>(&own_folders), &where) == 0 || where.dli_fname == nullptr)
    return {};
  const std::string opened = where.dli_fname;
  std::vector<std::string> folders;
  if (char* real = realpath(opened.c_str(), nullptr); real != nullptr) {
    const std::unique_ptr<char, void (*)(void*)> owner(real, std::free);
    folders.push_back(folder_of(real));
  }
  const std::string link = folder_of(opened);
  if (!link.empty() && (folders.empty() || folders[0] != link)) folders.push_back(link);
  return folders;
}

// Loads the plugin, or returns the reason why it cannot.
std::string try_cuda(Plugins& plugins) {
  std::string searched;
  for (const PluginPlace& place : plugin_places("src/backend/cuda/")) {
    const std::string path = place.folder + kCudaPlugin;
    if (access(path.c_str(), F_OK) != 0) {
      searched += concat(searched.empty() ? "" : ", ", place.folder, place.source);
      continue;
    }
    // The first plugin found decides: skipping a broken one would hide its fault.
    try {
      load_into(plugins, path);
      return {};
    } catch (const Error& error) {
      return concat(": the CUDA plugin cannot serve it (", path, place.source, ": ",
                    error.message(), searched.empty() ? "" : "; there was none in ", searched, ")");
    }
  }
  return concat(": the CUDA plugin was not found (", kCudaPlugin, " is in none of ", searched, ")");
}

}  // namespace

std::vector<PluginPlace> plugin_places(const char* build_folder) {
  std::vector<PluginPlace> places;
  if (const char* listed = std::getenv("TESSERA_PLUGIN_PATH"); listed != nullptr) {
    const std::string_view all = listed;
    for (size_t begin = 0; begin <= all.size();) {
      const size_t end = std::min(all.find(':', begin), all.size());
      if (end != begin) {
        places.push_back(
            {std::string(all.substr(begin, end - begin)) + "/", " (TESSERA_PLUGIN_PATH)"});
      }
      begin = end + 1;
    }
  }
  // cmake/TesseraInstall.cmake and the wheel use the first two; the build tree uses the third.
  for (const std::string& own : own_folders()) {
    for (const char* below : {"tessera/", "", build_folder}) {
      places.push_back({own + below, ""});
    }
  }
  return places;
}

const Backend& load_backend(std::string_view path) {
  auto& plugins = immortal<Plugins>();
  const std::lock_guard lock(plugins.mutex);
  return load_into(plugins, std::string(path));
}

const Backend* load_default_backend(DeviceType type) noexcept {
  if (type != DeviceType::kCuda) return nullptr;
  try {
    auto& plugins = immortal<Plugins>();
    const std::lock_guard lock(plugins.mutex);
    if (!plugins.searched_cuda) {
      plugins.searched_cuda = true;
      plugins.no_cuda = try_cuda(plugins);
    }
  } catch (...) {
    return nullptr;  // no memory for names: the same as no plugin
  }
  return find_backend(type);
}

std::string missing_plugin(DeviceType type) {
  if (type != DeviceType::kCuda) return {};
  auto& plugins = immortal<Plugins>();
  const std::lock_guard lock(plugins.mutex);
  return plugins.no_cuda;
}

}  // namespace tsr::kernel
