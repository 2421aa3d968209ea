# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The public C headers and the linker map."""

from .headers import outputs

__all__ = ["outputs"]
