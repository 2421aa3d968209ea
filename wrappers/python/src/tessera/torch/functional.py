# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.functional: some functions of torch under PyTorch's name for the file that has them."""

from typing import Any

from ._namespace import functions, lookup

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod", "cdist",
    "chain_matmul", "einsum", "istft", "lu", "meshgrid", "norm", "pca_lowrank", "split", "stft", "svd_lowrank", "tensordot",
    "unique", "unique_consecutive", "unravel_index",
]  # fmt: skip


def _find(name: str) -> Any:
    return functions.get(name) if name in __all__ else None


__getattr__, _ = lookup(__name__, {}, _find)
