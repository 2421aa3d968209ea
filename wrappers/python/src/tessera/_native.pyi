# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# The module that cffi makes from tessera_ffi.h; cffi gives it no types.

from typing import Any

ffi: Any
lib: Any
