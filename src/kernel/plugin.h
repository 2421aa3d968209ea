// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Plugins: backends in shared libraries of their own, loaded on demand or at the first use of their
// device.
#pragma once

#include <string>
#include <string_view>

#include "kernel/kernels.h"

namespace tsr::kernel {

// Loads a plugin and registers it. Throws kIo when the file cannot be loaded or exports no entry,
// and what register_backend throws.
const Backend& load_backend(std::string_view path);

// The first time it is asked for a type: looks for its plugin in the folders of TESSERA_PLUGIN_PATH
// (separated by colons); in `tessera/` beside the library's own file, in that file's folder, and in
// that of the build tree; in the same three beside the link through which the library was opened.
// Loads the first there is. Null when there is none that works; then missing_plugin says why, with
// every place that was looked at. Thread-safe.
const Backend* load_default_backend(DeviceType type) noexcept;
// Why load_default_backend found nothing; empty for types that have no plugin of ours.
std::string missing_plugin(DeviceType type);

}  // namespace tsr::kernel
