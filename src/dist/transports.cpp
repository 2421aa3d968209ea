// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "dist/transports.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "dist/threads.h"
#include "kernel/plugin.h"

namespace tsr::dist {
namespace {

void check_name(std::string_view backend) {
  const bool plain = !backend.empty() && std::all_of(backend.begin(), backend.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  TSR_CHECK(plain, Code::kValue, "backend",
            "expected 'threads' or the name of a plugin, as 'mpi' or 'nccl', got '", backend, "'");
}

}  // namespace

const Table& load_transport(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    fail(Code::kIo, "backend", __FILE__, __LINE__, "expected a transport that can be loaded, got ",
         path, ": ", reason == nullptr ? "unknown reason" : reason);
  }
  const auto entry = reinterpret_cast<TransportEntry>(dlsym(library, kTransportEntryName));
  if (entry == nullptr) {
    dlclose(library);
    fail(Code::kIo, "backend", __FILE__, __LINE__, "expected a library that exports ",
         kTransportEntryName, ", got ", path);
  }
  Failure failure;
  const Table* table = entry(kTransportAbi, &failure);
  TSR_CHECK(table != nullptr, Code::kBackend, "backend", path, ": ", failure.text);
  TSR_CHECK(table->abi == kTransportAbi, Code::kBackend, "backend",
            "expected a transport of version ", kTransportAbi, ", got ", path, " of version ",
            table->abi);
  return *table;
}

const Table& find_transport(std::string_view backend) {
  if (backend == "threads") return threads_transport();
  check_name(backend);
  const std::string file = concat("libtessera_", backend, ".so");
  std::string searched;
  for (const kernel::PluginPlace& place :
       kernel::plugin_places(concat("src/dist/", backend, "/").c_str())) {
    const std::string path = place.folder + file;
    // The first plugin found decides: skipping a broken one would hide its fault.
    if (access(path.c_str(), F_OK) == 0) return load_transport(path);
    searched += concat(searched.empty() ? "" : ", ", place.folder, place.source);
  }
  fail(Code::kIo, "backend", __FILE__, __LINE__, "expected a backend that is there, got '", backend,
       "' (", file, " is in none of ", searched, ")");
}

}  // namespace tsr::dist
