# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.torch with integers, truth values, complex numbers and 16-bit floats; the expected values are PyTorch 2.15's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessera.torch as torch
import tessera.torch.nn.functional as F

WHOLE = [torch.uint8, torch.int8, torch.int32, torch.int64]


def near(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found.detach().numpy(), np.asarray(expected), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
def test_activations_of_integers(dtype: Any) -> None:
    x = torch.tensor([1, 2, 7], dtype=dtype)
    for limited, expected in [
        (F.threshold(x, 1, 9), [9, 2, 7]),
        (F.hardtanh(x, 0.5, 2.5), [1, 2, 2]),
        (F.relu6(x), [1, 2, 6]),
    ]:
        assert limited.dtype is dtype
        assert limited.tolist() == expected
    assert F.softsign(x).dtype is torch.float32
    near(F.softsign(x), [1 / 2, 2 / 3, 7 / 8])
    near(F.tanhshrink(x), [1 - np.tanh(1), 2 - np.tanh(2), 7 - np.tanh(7)])
    y = x.clone()
    assert F.relu6(y, inplace=True) is y or y.tolist() == [1, 2, 6]
    assert y.tolist() == [1, 2, 6]


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
def test_the_largest_of_integers_in_windows(dtype: Any) -> None:
    x = torch.tensor([[[[3, 1, 4, 1], [5, 9, 2, 6]]]], dtype=dtype)
    values, places = F.max_pool2d(x, 2, return_indices=True)
    assert (values.dtype, values.tolist(), places.tolist()) == (dtype, [[[[9, 6]]]], [[[[5, 7]]]])
    assert F.max_pool1d(x[0], 2).tolist() == [[[3, 4], [9, 6]]]
    assert torch.max_pool3d(x, (1, 2, 2)).tolist() == [[[[9, 6]]]]


def test_pooling_refuses_integers_that_float64_does_not_hold() -> None:
    x = torch.tensor([[[2**53 + 1, 2**53]]])
    with pytest.raises(TypeError, match="2\\^53"):
        F.max_pool1d(x, 2)


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
def test_losses_and_distances_of_integers(dtype: Any) -> None:
    x, y = torch.tensor([[1, 2, 2]], dtype=dtype), torch.tensor([[0, 0, 0]], dtype=dtype)
    near(F.pairwise_distance(x, y, eps=0), [3])
    near(torch.pairwise_distance(x, y, p=1, eps=0), [5])
    near(F.triplet_margin_loss(x, y, x, margin=1, eps=0), 4)
    near(F.cosine_embedding_loss(x, x, torch.ones(1)), 0)
    near(F.poisson_nll_loss(x, x, log_input=False, eps=0, reduction="sum"), 1 + 2 * (2 - 2 * np.log(2)))
    with pytest.raises(ValueError, match="reduction"):
        F.margin_ranking_loss(x, x, x, reduction="product")
    near(F.margin_ranking_loss(x.reshape(3), y.reshape(3), torch.ones(3, dtype=torch.int64), margin=1.5), 0.5 / 3)


def test_truth_values() -> None:
    truths = torch.tensor([True, False])
    assert torch.sign(truths).tolist() == torch.sgn(truths).tolist() == truths.clone().sign_().tolist() == [True, False]
    torch.manual_seed(0)
    drawn = torch.randint(0, 2, (1000,), dtype=torch.bool)
    assert drawn.dtype is torch.bool
    assert 400 < int(drawn.sum()) < 600
    assert torch.randint_like(drawn, 1).tolist() == [False] * 1000
    assert torch.randint_like(truths, 5, dtype=torch.int8).dtype is torch.int8
    with pytest.raises(ValueError, match="between 0 and 2"):
        torch.randint(3, (2,), dtype=torch.bool)


def test_a_negative_number_wraps_where_it_fills_an_unsigned_tensor() -> None:
    assert torch.scalar_tensor(-5, dtype=torch.uint8).item() == torch.full((), -5, dtype=torch.uint8).item() == 251
    assert torch.scalar_tensor(True).item() == 1.0
    assert torch.scalar_tensor(2.5, dtype=torch.int64).item() == 2


def test_addr_of_truth_values_joins_them() -> None:
    x, a, b = torch.tensor([[True, False], [False, False]]), torch.tensor([False, True]), torch.tensor([True, False])
    assert torch.addr(x, a, b).tolist() == [[True, False], [True, False]]
    assert x.addr(a, b, beta=0).tolist() == [[False, False], [True, False]]
    assert x.clone().addr_(a, b, alpha=0).tolist() == x.tolist()


def test_sum_to_size_sums_integers_as_int64() -> None:
    x = torch.tensor([[100, 200], [100, 200]], dtype=torch.uint8)
    assert (x.sum_to_size(1, 2).dtype, x.sum_to_size(1, 2).tolist()) == (torch.int64, [[200, 400]])
    assert x.sum_to_size(2, 2).dtype is torch.uint8
    assert torch.tensor(3, dtype=torch.uint8).sum_to_size(()).dtype is torch.int64


@pytest.mark.parametrize(
    ("equation", "count", "dtype", "first"),
    [
        ("ij->", 1, torch.int64, 900),
        ("ij -> i", 1, torch.int64, 300),
        ("ii", 1, torch.int64, 300),
        ("ij->ji", 1, torch.uint8, 100),
        ("ij,kl->ik", 2, torch.int64, 90000),
        ("ij,kj->ik", 2, torch.uint8, 30000 % 256),
    ],
)
def test_einsum_sums_integers_of_one_operand_as_int64(equation: str, count: int, dtype: Any, first: int) -> None:
    x = torch.full((3, 3), 100, dtype=torch.uint8)
    for found in (torch.einsum(equation, *[x] * count), torch.einsum(equation, [x] * count)):
        assert found.dtype is dtype
        assert found.flatten()[0].item() == first


def test_covariance_has_the_dtype_of_observations_and_weights_together() -> None:
    found = torch.cov(torch.tensor([1.0, 2.0, 4.0]).half(), aweights=torch.tensor([1.0, 1.0, 2.0]))
    assert found.dtype is torch.float32


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_matrix_exp_of_16_bits(dtype: Any) -> None:
    x = torch.tensor([[0.0, 1.0], [0.0, 0.0]], dtype=dtype, requires_grad=True)
    found = torch.linalg.matrix_exp(x)
    assert found.dtype is torch.matrix_exp(x).dtype is dtype
    assert found.tolist() == [[1, 1], [0, 1]]
    found.sum().backward()
    assert x.grad.dtype is dtype


# ---- complex numbers ----

Z = np.array([0.3 - 2.5j, -1.2 + 0.4j, 2 + 1j])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (F.softsign, Z / (1 + np.abs(Z))),
        (F.tanhshrink, Z - np.tanh(Z)),
        (F.silu, Z / (1 + np.exp(-Z))),
        (lambda z: F.pairwise_distance(z, z * 1j, eps=0), np.linalg.norm(Z - Z * 1j)),
        (lambda z: F.triplet_margin_loss(z, z * 1j, z + 1, margin=2.0, eps=0), 2 + np.linalg.norm(Z - Z * 1j) - np.sqrt(3)),
        # The value beyond pi is PyTorch's: the larger number plus the logarithm of what the other adds.
        (lambda z: torch.logaddexp(z, z - 5j), Z + np.log1p(np.exp(-5j))),
        (lambda z: torch.logaddexp(z * 0 - np.inf, z), Z),
    ],
)
def test_functions_of_complex_numbers(function: Callable[..., Any], expected: Any) -> None:
    z = torch.tensor(Z.tolist(), dtype=torch.complex128, requires_grad=True)
    found = function(z)
    near(found, expected)
    slope = torch.autograd.grad(found.abs().sum(), z)[0]
    assert bool(torch.isfinite(torch.view_as_real(slope)).all())


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_convolutions_of_complex_numbers(axes: int, transposed: bool) -> None:
    convolve = getattr(F, f"conv_transpose{axes}d" if transposed else f"conv{axes}d")
    rng = np.random.default_rng(axes)

    def draw(*shape: int) -> Any:
        values = rng.standard_normal((2, *shape))
        return torch.complex(*(torch.tensor(part) for part in values))

    x, w, b = draw(2, 2, *[4] * axes), draw(2, 2, *[2] * axes), draw(2)
    found = convolve(x, w, b, stride=2)
    # A real matrix of twice the channels: (v + iw)(x + iy) = (vx - wy) + i(wx + vy).
    parts = torch.cat([x.real, x.imag], 1)
    axis = 0 if transposed else 1  # of the channels of the input
    upper, lower = torch.cat([w.real, -w.imag], axis), torch.cat([w.imag, w.real], axis)
    both = convolve(parts, torch.cat([upper, lower], 1 - axis), torch.cat([b.real, b.imag]), stride=2)
    near(found.real, both[:, :2].numpy())
    near(found.imag, both[:, 2:].numpy())
    assert getattr(torch, convolve.__name__)(x, w, b, stride=2).tolist() == found.tolist()


def test_dropout_of_channels_keeps_both_parts_or_none() -> None:
    x = torch.ones(20, 10, 2, 2, dtype=torch.complex64) * (1 + 2j)
    torch.manual_seed(0)
    found = F.dropout2d(x, 0.5)
    kept = found.abs() > 0
    assert 0 < int(kept.sum()) < kept.numel()
    near(found, np.where(kept.numpy(), 2 + 4j, 0))
    assert bool((kept == kept[:, :, :1, :1]).all())


def test_lerp_by_a_complex_number_in_place() -> None:
    x, end = torch.tensor([1 + 1j]), torch.tensor([3 + 1j])
    assert x.lerp_(end, 0.5j) is x
    assert x.tolist() == [1 + 2j]


def test_random_complex_numbers_in_place() -> None:
    torch.manual_seed(0)
    z = torch.empty(20000, dtype=torch.complex64)
    assert z.normal_(1, 2) is z
    assert abs(complex(z.mean()) - (1 + 1j)) < 0.1
    assert abs(float(z.real.var()) - 2) < 0.1
    z.uniform_(-3, -2)
    for part in (z.real, z.imag):
        assert -3 <= float(part.min()) < -2.9 < -2.1 < float(part.max()) <= -2


def test_a_two_sided_spectrum_counts_by_its_first_half() -> None:
    torch.manual_seed(0)
    z = torch.randn(10, 3, dtype=torch.complex64)
    assert torch.istft(z, 10, center=False).tolist() == torch.istft(z[:6], 10, center=False, onesided=True).tolist()


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_a_multiple_of_complex_numbers_is_added(dtype: Any) -> None:
    x, y = torch.tensor([1 + 2j, 3 - 1j], dtype=dtype), torch.tensor([[1j, 2 + 1j], [3 + 1j, 4]], dtype=dtype)
    expected = [[1 + 4j, 7 + 1j], [7 + 4j, 11 - 1j]]
    for found in (x.add(y, alpha=2), torch.sub(x, y, alpha=-2.0), y.new_zeros(2, 2).add_(x).add_(y, alpha=2)):
        assert found.dtype is dtype and found.tolist() == expected
    z = x.clone()
    assert z.sub_(z, alpha=2) is z and z.tolist() == [-1 - 2j, -3 + 1j]
    assert torch.add(x, y.mT[0], alpha=3).shape == (2,) and torch.add(x[0], x[1], alpha=2).item() == 7
    assert x[:0].add(x[:0], alpha=2).shape == (0,)
    assert x.add(x, alpha=1j).tolist() == [-1 + 3j, 4 + 2j]
    into = torch.empty(2, dtype=dtype)
    assert torch.add(x, x, alpha=2, out=into) is into and into.tolist() == [3 + 6j, 9 - 3j]
    x.requires_grad_()
    torch.view_as_real(torch.add(x, x * 1j, alpha=2)).sum().backward()
    assert x.grad.tolist() == [3 - 1j, 3 - 1j]


def test_a_multiple_is_one_of_the_dtype_of_the_sum() -> None:
    x, y = torch.ones(2), torch.tensor([200, 3], dtype=torch.uint8)
    assert torch.add(x, y, alpha=2).tolist() == [401, 7] and torch.sub(x, y, alpha=2).tolist() == [-399, -5]
    assert torch.add(x, y, alpha=-3).tolist() == torch.sub(x, y, alpha=3).tolist() == [-599, -8]
    assert torch.rsub(y, x, alpha=2).tolist() == [-399, -5]
    assert x.clone().add_(y, alpha=2).tolist() == [401, 7] and x.clone().sub_(y, alpha=-2).tolist() == [401, 7]
    assert torch.add(x.long(), y, alpha=2).tolist() == [401, 7]
    half = torch.tensor([1 / 3], dtype=torch.float16)
    assert torch.add(torch.zeros(1, dtype=torch.float64), half, alpha=2.1).item() == half.item() * 2.1
    # Unsigned integers wrap around.
    assert torch.add(y, y, alpha=-2).tolist() == y.sub(y, alpha=2).tolist() == [56, 253]
    assert y.clone().add_(y, alpha=-2).tolist() == [56, 253]
    y = y.double().requires_grad_()
    torch.add(x, y, alpha=3).sum().backward()
    assert y.grad.tolist() == [3, 3]
