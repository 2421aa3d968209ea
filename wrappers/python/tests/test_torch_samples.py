# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's own samples of its operators showed to differ; the expected values are those of PyTorch 2.15."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tessera.torch as torch
from tessera.torch.signal import windows


def near(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found.detach().numpy(), np.asarray(expected), rtol=1e-5, atol=1e-6)


# ---- windows ----

WINDOWS = [
    ("bartlett(5)", [0, 0.5, 1, 0.5, 0]),
    ("bartlett(4, sym=False)", [0, 0.5, 1, 0.5]),
    ("blackman(5)", [0, 0.34, 1, 0.34, 0]),
    ("cosine(4)", [0.3826834, 0.9238795, 0.9238795, 0.3826834]),
    ("cosine(3, sym=False)", [0.3826834, 0.9238795, 0.9238795]),
    ("exponential(3)", [0.3678795, 1, 0.3678795]),
    ("exponential(4, center=1, tau=2.0, sym=False)", [0.6065307, 1, 0.6065307, 0.3678795]),
    ("gaussian(4, std=2.0)", [0.7548396, 0.9692332, 0.9692332, 0.7548396]),
    ("gaussian(3, sym=False)", [0.3246525, 0.8824969, 0.8824969]),
    ("general_cosine(5, a=[0.5, 0.25, 0.25])", [0.5, 0.25, 1, 0.25, 0.5]),
    ("general_hamming(4, alpha=0.6)", [0.2, 0.8, 0.8, 0.2]),
    ("hamming(3)", [0.08, 1, 0.08]),
    ("hann(4, sym=False)", [0, 0.5, 1, 0.5]),
    ("kaiser(4, beta=3.0)", [0.2048847, 0.8712419, 0.8712419, 0.2048847]),
    ("nuttall(5)", [0.0003628, 0.2269824, 1, 0.2269824, 0.0003628]),
    ("hann(0)", []),
    ("nuttall(1)", [1]),
]


@pytest.mark.parametrize(("call", "expected"), WINDOWS, ids=[call for call, _ in WINDOWS])
def test_a_window_has_pytorchs_values(call: str, expected: list[float]) -> None:
    found = eval(f"windows.{call}", {"windows": windows})
    assert type(found) is torch.Tensor and found.dtype is torch.float32
    near(found, expected)


def test_windows_take_dtypes_and_refuse_what_pytorch_refuses() -> None:
    assert torch.signal.windows.hann(3, dtype=torch.float64, requires_grad=True).requires_grad
    for call in (
        lambda: windows.hann(-1), lambda: windows.hann(3, dtype=torch.int64), lambda: windows.gaussian(3, std=0),
        lambda: windows.exponential(3, center=1), lambda: windows.exponential(3, tau=0), lambda: windows.kaiser(3, beta=-1),
        lambda: windows.general_cosine(3, a=[]),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            call()
