# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Helpers for training."""

from . import checkpoint, data

__all__ = ["checkpoint", "data"]
