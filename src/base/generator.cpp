// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/generator.h"

namespace tsr {

Generator& default_generator() {
  static auto* const kDefault = new Generator(0);  // never destroyed: handles may outlive main
  return *kDefault;
}

}  // namespace tsr
