# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the op table on the device "cuda": values over dtypes and layouts, and first derivatives.

TESSERA_PLUGIN_PATH is the folder of the plugin: the CUDA backend on a machine with a GPU, or the same sources compiled
for the host (tests/support/cuda_on_host). An op may only raise NotImplementedError if MISSING lists its kernel family,
and a family in MISSING that works is a failure too.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from op_engine import Call, Make, Row, as_tuple, assert_same, prepare, reference_of
from op_table import ROWS

import tessera as ts

# Families that the CUDA backend does not have yet.
MISSING: set[str] = set()
met: set[str] = set()

# Rows whose calls make tensors themselves, on the host.
MIXED = {"setitem"}

TESTED = [row for row in ROWS if row.name not in MIXED]
VALUES = [pytest.param(row, dtype, id=f"{row.name}-{dtype}") for row in TESTED for dtype in row.dtypes]
GRAD = [pytest.param(row, id=row.name) for row in TESTED if row.grad]


def place(tensor: ts.Tensor, layout: str) -> ts.Tensor:
    """The tensor on the device, with its layout on the host."""
    if tensor.is_contiguous():
        return tensor.to("cuda")
    if layout == "transposed" and tensor.ndim > 1:
        axes = tuple(reversed(range(tensor.ndim)))
        return ts.permute_dims(ts.permute_dims(tensor, axes).to("cuda"), axes)
    if layout == "sliced" and tensor.ndim and 0 not in tensor.shape:
        room = ts.zeros([2 * n + 1 for n in tensor.shape], dtype=tensor.dtype, device="cuda")
        window = room[tuple(slice(1, 2 * n + 1, 2) for n in tensor.shape)]
        window.copy_(tensor.to("cuda"))
        return window
    if layout == "reversed" and tensor.ndim and 0 not in tensor.shape:
        return tensor[::-1].to("cuda")[::-1]
    if layout == "expanded" and tensor.ndim and tensor.shape[0] > 0:
        return ts.broadcast_to(tensor[:1].to("cuda"), tensor.shape)
    return tensor.to("cuda")


def moved(item: Any, layout: str) -> Any:
    if isinstance(item, ts.Tensor):
        return place(item, layout)
    if isinstance(item, (list, tuple)):
        return type(item)(moved(i, layout) for i in item)
    return item


def on_device(call: Call, layout: str) -> tuple[list[Any], dict[str, Any]]:
    return [moved(a, layout) for a in call.args], {k: moved(v, layout) for k, v in call.kwargs.items()}


def on_host(value: Any) -> Any:
    if isinstance(value, ts.Tensor):
        return value.to("cpu")
    if isinstance(value, (tuple, list)):
        return tuple(on_host(v) for v in value)
    return value


def allowed(error: NotImplementedError) -> None:
    """Passes if the error names a family that is known to be missing."""
    family = re.search(r"not implemented on cuda:0: the (\w+) kernels", str(error))
    assert family is not None and family[1] in MISSING, f"{error}"
    met.add(family[1])


@pytest.mark.parametrize("row, dtype", VALUES)
def test_value_matches_the_reference_in_every_layout(row: Row, dtype: str) -> None:
    for number, given in enumerate(list(row.samples(Make(dtype)))):
        for layout in row.layouts:
            call = prepare(row, given, dtype, layout)
            try:
                args, kwargs = on_device(call, layout)
                result = row.function(*args, **kwargs)
                host = on_host(result)
            except NotImplementedError as error:
                allowed(error)
                continue
            assert_same(row, dtype, host, reference_of(row, call), f"{dtype}, sample {number}, {layout}")
            for tensor in as_tuple(result):
                if isinstance(tensor, ts.Tensor) and any(isinstance(a, ts.Tensor) for a in args):
                    assert str(tensor.device) == "cuda:0"


@pytest.mark.parametrize("row", GRAD)
def test_gradient_is_that_of_the_host(row: Row) -> None:
    for given in list((row.grad_samples or row.samples)(Make(row.grad_dtype))):
        call = prepare(row, given, row.grad_dtype)
        host_args = leaves_of(row, call.args)
        try:
            device_args = leaves_of(row, [moved(a, "contiguous") for a in call.args])
            ours = gradients(row, device_args, {k: moved(v, "contiguous") for k, v in call.kwargs.items()})
        except NotImplementedError as error:
            allowed(error)
            continue
        theirs = gradients(row, host_args, call.kwargs)
        assert len(ours) == len(theirs)
        for got, wanted in zip(ours, theirs):
            np.testing.assert_allclose(got.to("cpu").numpy(), wanted.numpy(), 1e-10, 1e-10, err_msg=row.name)


def leaves_of(row: Row, args: list[Any]) -> list[Any]:
    return [leaf(a) if row.grad_args is None or place in row.grad_args else a for place, a in enumerate(args)]


def leaf(item: Any) -> Any:
    if isinstance(item, ts.Tensor) and item.dtype in (ts.float64, ts.complex128):
        return item.detach().clone().requires_grad_()
    if isinstance(item, (list, tuple)):
        return type(item)(leaf(i) for i in item)
    return item


def gradients(row: Row, args: list[Any], kwargs: dict[str, Any]) -> list[ts.Tensor]:
    leaves = [t for a in args for t in as_tuple(a) if isinstance(t, ts.Tensor) and t.requires_grad]
    results = [t for t in as_tuple(row.function(*args, **kwargs)) if isinstance(t, ts.Tensor) and t.requires_grad]
    if not results or not leaves:
        return []
    squares = [ts.sum(ts.square(ts.abs(t) if t.dtype.is_complex else t)) for t in results]
    total = sum(squares[1:], squares[0])
    return [g for g in ts.autograd.grad([total], leaves, allow_unused=True) if g is not None]


def test_every_missing_family_is_met() -> None:
    assert met == MISSING, f"in MISSING but working: {sorted(MISSING - met)}"


def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(ts.TesseraError, match="device"):
        ts.zeros(3, device="cuda:7")


def test_copies_between_devices_keep_values_and_strides() -> None:
    x = ts.arange(12, dtype=ts.float32).reshape(3, 4)
    y = x.T.to("cuda")
    assert str(y.device) == "cuda:0" and (y.to("cpu") == x.T).all().item()
    assert (y * 2 + 1).sum().item() == float((x * 2 + 1).sum().item())


def test_training_on_the_device_lowers_the_loss() -> None:
    ts.manual_seed(0)
    x = ts.randn((64, 3)).to("cuda")
    y = x @ ts.asarray([[1.0], [-2.0], [0.5]]).to("cuda")
    w = ts.zeros((3, 1), device="cuda").requires_grad_()
    losses = []
    for _ in range(50):
        loss = ((x @ w - y) ** 2).mean()
        (gradient,) = ts.autograd.grad([loss], [w])
        with ts.no_grad():
            w -= gradient * 0.2
        losses.append(loss.item())
    assert losses[-1] < 1e-4 * losses[0]
