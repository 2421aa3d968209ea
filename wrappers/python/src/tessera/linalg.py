# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Linear algebra, with the names of the Python Array API standard's extension."""

from __future__ import annotations

from ._ops import matmul, matrix_transpose, outer, vector_norm

__all__ = ["matmul", "matrix_transpose", "outer", "vector_norm"]
