# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Helpers around training."""

from . import data

__all__ = ["data"]
