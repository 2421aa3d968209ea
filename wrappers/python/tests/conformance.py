# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What the replay of tests/conformance needs: its tensors by key, comparison, and a backward with stored weights."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import tessera as ts

FILE = Path(__file__).resolve().parents[3] / "tests" / "conformance" / "vectors.safetensors"

# (rtol, atol) by the dtype of what is expected; the others must be equal.
TOLERANCES = {
    ts.float16: (1e-3, 1e-5),
    ts.bfloat16: (1.6e-2, 1e-5),
    ts.float32: (1.3e-6, 1e-5),
    ts.complex64: (1.3e-6, 1e-5),
    ts.float64: (1e-7, 1e-7),
    ts.complex128: (1e-7, 1e-7),
}


@lru_cache(maxsize=1)
def vectors() -> dict[str, ts.Tensor]:
    return dict(ts.io.load_file(str(FILE)))


def copy(key: str) -> ts.Tensor:
    """A stored tensor that the test may write to."""
    return vectors()[key].clone()


def complex_copy(key: str) -> ts.Tensor:
    """A complex128 tensor, which is stored as pairs."""
    pairs = vectors()[key].numpy()
    return ts.asarray(pairs[..., 0] + 1j * pairs[..., 1])


def leaf(key: str) -> ts.Tensor:
    """A stored tensor that gets a gradient."""
    return copy(key).requires_grad_()


def backward(roots: list[ts.Tensor], weights: list[str]) -> None:
    """Backward of the sum of all root * weight."""
    ts.autograd.backward(roots, [vectors()[key] for key in weights])


def same(found: Any, key: str, rtol: float | None = None, atol: float | None = None) -> None:
    """dtype, shape and values are those of the stored tensor."""
    assert isinstance(found, ts.Tensor), f"{key}: {found!r} is no tensor"
    pairs = found.dtype is ts.complex128
    expected = complex_copy(key) if pairs else vectors()[key]
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), key
    usual = TOLERANCES.get(expected.dtype, (0.0, 0.0))
    relative = usual[0] if rtol is None else rtol
    absolute = usual[1] if atol is None else atol
    one, other = _parts(found), _parts(expected)
    np.testing.assert_allclose(one, other, relative, absolute, err_msg=key)


def _parts(tensor: ts.Tensor) -> Any:
    """The numbers for a comparison; a complex one by its real and imaginary part."""
    plain = tensor.detach()
    array = (plain.astype(ts.float32) if plain.dtype is ts.bfloat16 else plain).numpy()
    return np.stack([array.real, array.imag]) if plain.dtype.is_complex else array
