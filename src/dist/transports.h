// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Transports by name: the library's own, and plugins that are loaded when they are first asked for.
#pragma once

#include <string_view>

#include "dist/contract.h"

namespace tsr::dist {

// "threads", or the transport of the plugin libtessera_<backend>.so, which stays loaded. Throws
// kValue for a name that is none, kIo when the plugin is not found or cannot be loaded, kBackend
// when it refuses this machine or was built for another version of the contract.
const Table& find_transport(std::string_view backend);
// The same for a plugin in a file of its own.
const Table& load_transport(const std::string& path);

}  // namespace tsr::dist
