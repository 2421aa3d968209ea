# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of C compile."""

from .functions import outputs

__all__ = ["outputs"]
