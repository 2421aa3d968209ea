# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Helpers for training."""

from . import checkpoint, data, deterministic
from ._summary import Summary, summary

__all__ = ["Summary", "checkpoint", "data", "deterministic", "summary"]
