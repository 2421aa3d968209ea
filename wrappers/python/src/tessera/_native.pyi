# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# What cffi makes of tessera_ffi.h; it has no types of its own.

from typing import Any

ffi: Any
lib: Any
