# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of complex numbers that are made of other functions: derivatives, forms, limits, random numbers."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessera as ts
import tessera.nn.functional as F
from tessera.autograd import gradcheck, gradgradcheck

INF, NAN = math.inf, math.nan


def numbers(*shape: int) -> Any:
    parts = np.random.default_rng(sum(shape)).normal(size=(2, *shape))
    return ts.asarray(parts[0] + 1j * parts[1]).requires_grad_()


def rows(count: int) -> list[Any]:
    return [numbers(3, 4 + i)[:, :4].detach().requires_grad_() for i in range(count)]


CALLS: dict[str, tuple[Callable[..., Any], Callable[[], list[Any]]]] = {
    "sinc": (ts.sinc, lambda: [numbers(5)]),
    "silu": (F.silu, lambda: [numbers(5)]),
    "softsign": (F.softsign, lambda: [numbers(5)]),
    "tanhshrink": (F.tanhshrink, lambda: [numbers(5)]),
    "logaddexp": (ts.logaddexp, lambda: [numbers(5), numbers(5, 1)]),
    "logaddexp of a real number": (ts.logaddexp, lambda: [numbers(5), ts.linspace(-1, 1, 5, dtype=ts.float64).requires_grad_()]),
    "ldexp": (ts.ldexp, lambda: [numbers(5), numbers(1, 5)]),
    "ldexp of a real number": (ts.ldexp, lambda: [ts.linspace(-1, 1, 5, dtype=ts.float64).requires_grad_(), numbers(5)]),
    "logcumsumexp": (lambda x: ts.logcumsumexp(x, 1), lambda: [numbers(2, 5)]),
    "poisson_nll_loss": (F.poisson_nll_loss, lambda: rows(2)),
    "poisson_nll_loss of a rate": (lambda x, t: F.poisson_nll_loss(x, t, log_input=False), lambda: rows(2)),
    "soft_margin_loss": (F.soft_margin_loss, lambda: rows(2)),
    "triplet_margin_loss": (lambda *x: F.triplet_margin_loss(*x, swap=True, margin=3), lambda: rows(3)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_derivatives_of_both_orders_and_of_forward_mode(name: str) -> None:
    call, inputs = CALLS[name]
    assert gradcheck(call, inputs(), check_forward_ad=True)
    assert gradgradcheck(call, inputs())


def test_sinc_has_its_derivatives_at_zero_and_near_it() -> None:
    x = ts.asarray([0j, 1e-9 + 0j, 1e-5j, 0.4 + 0.2j, 0.4 + 0.5j], dtype=ts.complex128).requires_grad_()
    assert gradcheck(ts.sinc, [x]) and gradgradcheck(ts.sinc, [x])
    slope = ts.autograd.grad(ts.sinc(x).real.sum(), x)[0]
    wanted = np.conj(-(np.pi**2) / 3 * x.detach().numpy()[:3])  # the first term of the series
    assert np.allclose(slope.numpy()[:3], wanted, rtol=1e-9, atol=0)


@pytest.mark.parametrize("function", [ts.sinc, F.silu, F.softsign, F.tanhshrink, lambda x, **o: ts.logaddexp(x, 1j, **o),
                                      lambda x, **o: ts.ldexp(x, 2, **o), lambda x, **o: ts.logcumsumexp(x, 0, **o)])  # fmt: skip
def test_out_may_be_the_input_and_any_layout_is_taken(function: Callable[..., Any]) -> None:
    x = numbers(4, 3).detach()
    wanted = function(x).numpy()
    for other in (x.clone(), ts.flip(ts.flip(x, 1).contiguous(), 1), ts.matrix_transpose(ts.matrix_transpose(x).contiguous())):
        assert np.allclose(function(other).numpy(), wanted)
    assert np.array_equal(function(x, out=x).numpy(), wanted)


@pytest.mark.parametrize("function", [lambda x: x.sinc_(), lambda x: x.silu_(), F.softsign_, F.tanhshrink_, lambda x: x.logaddexp_(1j),
                                      lambda x: x.ldexp_(2)])  # fmt: skip
def test_in_place_forms_have_the_gradient_of_the_values_before(function: Callable[..., Any]) -> None:
    assert gradcheck(lambda x: function(x.clone()), [numbers(4)])
    x = numbers(4).detach()
    assert function(x) is x


def test_logaddexp_keeps_infinities() -> None:
    a = ts.asarray([complex(-INF, 0), complex(INF, 0), complex(NAN, 0), 1 + 0j, 1000 + 2j])
    b = ts.asarray([complex(-INF, 0), 1 + 0j, 1 + 0j, complex(-INF, 1), 1000 + 0j])
    found = ts.logaddexp(a, b).numpy()
    assert found[0].real == -INF and found[1].real == INF and np.isnan(found[2].real)
    assert found[3] == 1 and np.allclose(found[4], 1000 + np.log(1 + np.exp(2j)))
    sums = ts.logcumsumexp(ts.asarray([1000 + 1j, 1000 - 1j, -1000 + 0j]), 0).numpy()
    assert np.allclose(sums, 1000 + np.array([1j, np.log(2 * np.cos(1)), np.log(2 * np.cos(1))]))


def test_ldexp_has_the_range_of_the_complex_number() -> None:
    found = ts.ldexp(ts.asarray([1e-300 + 2e-300j], dtype=ts.complex128), ts.asarray([900]))
    assert found.numpy() == np.array([1e-300 + 2e-300j]) * 2.0**900


def test_normal_numbers_have_half_of_the_variance_in_each_part() -> None:
    ts.manual_seed(0)
    for x in (ts.empty(40000, dtype=ts.complex64).normal_(1, 2), ts.randn(40000, dtype=ts.complex128) * 2 + (1 + 1j)):
        values = x.numpy()
        for part in (values.real, values.imag):
            assert abs(part.mean() - 1) < 0.05 and abs(part.var() - 2) < 0.1
        assert abs(np.corrcoef(values.real, values.imag)[0, 1]) < 0.03
    turned = ts.matrix_transpose(ts.zeros((3, 4), dtype=ts.complex64)).uniform_(1, 2).numpy()
    assert (turned.real >= 1).all() and (turned.imag >= 1).all() and (turned.real < 2).all()
    with pytest.raises(TypeError):
        ts.zeros(3, dtype=ts.int64).normal_()


def test_what_has_no_complex_form_says_so() -> None:
    z, x = numbers(3).detach(), ts.ones(3, dtype=ts.float64)
    for call in (lambda: F.poisson_nll_loss(z, z, full=True), lambda: F.soft_margin_loss(x, z), lambda: ts.logaddexp2(z, z),
                 lambda: F.hardtanh(z), lambda: F.hardswish(z)):  # fmt: skip
        with pytest.raises(ts.DTypeError):
            call()


@pytest.mark.parametrize("count", [1, 37])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_a_divisor_of_zero_divides_each_part(dtype: str, count: int) -> None:
    parts = [0.0, 1.0, -2.0, INF, -INF, NAN]
    above = np.array([complex(a, b) for a in parts for b in parts] * 2)[:, None].astype(dtype).repeat(count, 1)
    with np.errstate(all="ignore"):
        expected = above / np.zeros_like(above)
    zero = ts.zeros(above.shape, dtype=getattr(ts, dtype))
    for found in (ts.asarray(above) / zero, ts.asarray(above) / zero[:, :1], ts.asarray(above) / 0j):
        np.testing.assert_array_equal(found.numpy().view(found.real.numpy().dtype), expected.view(expected.real.dtype))
