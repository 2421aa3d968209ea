# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""capi/schema as typed data: load() reads it into model.Schema."""

from .reader import load

__all__ = ["load"]
