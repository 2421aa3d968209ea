# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Results of 16-bit floats are those of float32, rounded once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tessera as ts
import tessera.nn.functional as F

SHORT = [ts.float16, ts.bfloat16]


def numbers(seed: int, shape: tuple[int, ...], dtype: ts.DType) -> ts.Tensor:
    return ts.astype(ts.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32)), dtype)


CASES = {
    "lerp by a number": lambda a, b, c: ts.lerp(a, b, 0.4),
    "lerp in place": lambda a, b, c: a.clone().lerp_(b, 0.6),
    "cross": lambda a, b, c: ts.linalg.cross(a, b, axis=-1),
    "binary_cross_entropy_with_logits": lambda a, b, c: F.binary_cross_entropy_with_logits(
        a, ts.astype(b > 0, a.dtype), pos_weight=ts.abs(c), reduction="none"
    ),
}


@pytest.mark.parametrize("dtype", SHORT, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_a_result_is_rounded_once(name: str, dtype: ts.DType) -> None:
    call: Callable[..., ts.Tensor] = CASES[name]
    given = [numbers(seed, (50, 3), dtype) for seed in range(3)]
    found = call(*given)
    expected = ts.astype(call(*(ts.astype(x, ts.float32) for x in given)), dtype)
    assert found.dtype is dtype
    assert ts.astype(found, ts.float32).tolist() == ts.astype(expected, ts.float32).tolist()


BESIDE_A_NUMBER = {
    "add": lambda x: x + 0.4,
    "subtract": lambda x: x - 0.4,
    "subtract from": lambda x: 0.4 - x,
    "multiply": lambda x: x * 0.4,
    "multiply by 1e5": lambda x: 1e5 * x,  # infinite in float16, the product is not
    "divide": lambda x: x / 0.4,
    "divide a number": lambda x: 0.4 / x,
    "floor_divide": lambda x: x // 0.4,
    "remainder": lambda x: x % 0.4,
    "pow": lambda x: ts.abs(x) ** 0.4,
    "power of a number": lambda x: 0.4**x,
    "maximum": lambda x: ts.maximum(x, 0.4),
    "hypot": lambda x: ts.hypot(x, 0.4),
    "atan2": lambda x: ts.atan2(0.4, x),
}
# Each a way of its own through memory.
LAYOUTS = {
    "one element": lambda x: x[:1],
    "no axes": lambda x: x[0],
    "a few": lambda x: x[:37],
    "contiguous": lambda x: x[:30000],
    "many, on threads": lambda x: x,
    "every third": lambda x: x[::3],
    "backwards": lambda x: ts.flip(x[:3000]),
    "transposed": lambda x: x[:40000].reshape((200, 200)).mT,
    "short rows": lambda x: x[:600].reshape((100, 6))[:, 1:5],
    "one element for all": lambda x: ts.broadcast_to(x[:1], (300,)),
    "one element for each row": lambda x: ts.broadcast_to(x[:7].reshape((7, 1)), (7, 300)),
    "one row for all": lambda x: ts.broadcast_to(x[:200], (50, 200)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", SHORT, ids=str)
def test_a_number_beside_short_floats_is_not_rounded_itself(dtype: ts.DType, layout: str) -> None:
    x = LAYOUTS[layout](numbers(0, (70_000,), dtype))
    for name, call in BESIDE_A_NUMBER.items():
        found, expected = call(x), ts.astype(call(ts.astype(x, ts.float32)), dtype)
        assert found.dtype is dtype
        assert np.array_equal(ts.astype(found, ts.float32).numpy(), ts.astype(expected, ts.float32).numpy()), name


@pytest.mark.parametrize("dtype", SHORT, ids=str)
def test_a_number_that_short_floats_are_compared_with_is_an_element(dtype: ts.DType) -> None:
    x = ts.tensor([0.1, 0.2], dtype=dtype)
    for count in (2, 100_000):
        values = ts.broadcast_to(x[:1], (count,))
        assert ts.all(values == 0.1) and ts.all(0.1 == values) and ts.all(values <= 0.1) and ts.all(values >= 0.1)
        assert not ts.any(values != 0.1) and not ts.any(values < 0.1) and not ts.any(values > 0.1)
    assert ts.nextafter(x, 0.1)[0] == 0.1  # not the element beside it


@pytest.mark.parametrize("dtype", SHORT, ids=str)
def test_a_gradient_of_logits_is_rounded_once(dtype: ts.DType) -> None:
    def gradients(kind: ts.DType) -> list[list[float]]:
        given = [ts.astype(numbers(seed, (50, 3), dtype), kind) for seed in range(2)]
        x, weight = given[0].requires_grad_(), ts.abs(given[1]).requires_grad_()
        target = ts.astype(numbers(2, (50, 3), dtype) > 0, kind)
        F.binary_cross_entropy_with_logits(x, target, pos_weight=weight, reduction="none").backward(ts.ones((50, 3), dtype=kind))
        return [ts.astype(ts.astype(t.grad, dtype), ts.float32).tolist() for t in (x, weight)]

    assert gradients(dtype) == gradients(ts.float32)


@pytest.mark.parametrize("dtype", SHORT, ids=str)
@pytest.mark.parametrize("last", [False, True])
def test_a_transposed_convolution_adds_its_bias_before_it_rounds(dtype: ts.DType, last: bool) -> None:
    x, weight, bias = numbers(0, (2, 32, 9, 7), dtype), numbers(1, (32, 24, 3, 3), dtype), 300 * numbers(2, (24,), dtype)
    if last:
        x = x.permute_dims((0, 2, 3, 1)).contiguous().permute_dims((0, 3, 1, 2))
    found = F.conv_transpose2d(x, weight, bias, stride=2, padding=1)
    wide = F.conv_transpose2d(*(ts.astype(t, ts.float64) for t in (x, weight, bias)), stride=2, padding=1).numpy()
    digits = 10 if dtype is ts.float16 else 7
    unit = np.exp2(np.floor(np.log2(np.abs(wide))) - digits)
    assert found.dtype is dtype
    assert np.max(np.abs(ts.astype(found, ts.float64).numpy() - wide) / unit) < 0.51


def test_lerp_by_a_number_takes_the_memory_order_and_the_dtypes_of_both() -> None:
    a, b = numbers(0, (4, 3), ts.float16).T, numbers(1, (3, 1), ts.float32)
    found = ts.lerp(a, b, 0.25)
    assert found.dtype is ts.float32
    assert found.shape == (3, 4)
    expected = a.numpy().astype(np.float32) * np.float32(0.75) + b.numpy() * np.float32(0.25)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6, atol=1e-6)
    assert ts.lerp(a, b, 1).tolist() == ts.broadcast_to(b, (3, 4)).tolist()
    into = ts.empty((3, 4), dtype=ts.float32)
    ts.lerp(a, b, 0.25, out=into)
    assert into.tolist() == found.tolist()
