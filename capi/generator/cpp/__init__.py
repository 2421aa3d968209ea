# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ wrapper."""

from .ops import outputs

__all__ = ["outputs"]
