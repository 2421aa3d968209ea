# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of the schema as replays of no language, and as the files that the languages read."""

from .files import outputs

__all__ = ["outputs"]
