// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Plugins: backends in shared libraries of their own, loaded on request or when their device is
// first used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/kernels.h"

namespace tsr::kernel {

// A folder in which a plugin may be, with a slash at its end.
struct PluginPlace {
  std::string folder;
  const char* source;  // where the folder comes from, for error messages
};
// The folders of TESSERA_PLUGIN_PATH and those beside the library, as load_default_backend says.
// `build_folder`: the plugin's folder in the build tree, as "src/backend/cuda/".
std::vector<PluginPlace> plugin_places(const char* build_folder);

// Loads a plugin and registers it; one that is registered already is left alone. Throws kIo if the
// file cannot be loaded or exports no entry, and the errors of register_backend. Thread-safe.
const Backend& load_backend(std::string_view path);

// At the first call for a type, looks for its plugin in the folders of TESSERA_PLUGIN_PATH
// (separated by colons). Then it looks in `tessera/` beside the library's own file, in that file's
// folder, and in the plugin's folder of the build tree; then in the same three beside the link
// through which the library was opened. Loads the first plugin found. Returns null if no plugin
// works; missing_plugin then says why, with every folder that was searched. Thread-safe.
const Backend* load_default_backend(DeviceType type) noexcept;
// Why load_default_backend found nothing; empty for types without a plugin of ours.
std::string missing_plugin(DeviceType type);

}  // namespace tsr::kernel
