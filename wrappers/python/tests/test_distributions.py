# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Random numbers: known answers from an implementation of their own here, distributions, and what must not matter."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import tessera as ts

SEED, OFFSET = 0x123456789ABCDEF0, 0xFFFFFFF9  # the counter passes into its high word


def philox(seed: int, counter: int, attempt: int = 0) -> list[int]:
    """Philox4x32-10 as Salmon et al. (2011) define it."""
    key = [seed & 0xFFFFFFFF, seed >> 32]
    c = [counter & 0xFFFFFFFF, counter >> 32, attempt, 0]
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(b >> 32) ^ c[1] ^ key[0], b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ key[1], a & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def units(i: int, attempt: int = 0) -> tuple[float, float]:
    """The two open uniform numbers of element i."""
    w = philox(SEED, OFFSET + i, attempt)
    return tuple((((w[k] | w[k + 1] << 32) >> 12) + 0.5) / 2**52 for k in (0, 2))  # type: ignore[return-value]


def generator() -> ts.Generator:
    made = ts.Generator(SEED)
    made.set_state((SEED, OFFSET))
    return made


def poisson(rate: float, i: int) -> float:
    if rate < 10:
        return float(stats.poisson.ppf(units(i)[0], rate)) if rate else 0.0
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    for attempt in range(1000):
        u, v = units(i, attempt)
        u -= 0.5
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        if math.log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / us**2 + b)) <= k * math.log(rate) - rate - math.lgamma(
            k + 1
        ):
            return k
    raise AssertionError("no attempt succeeded")


def normal_between(u: float, mean: float, std: float, low: float, high: float) -> float:
    return float(stats.truncnorm.ppf(u, (low - mean) / std, (high - mean) / std, mean, std))


COUNT = 37
KNOWN: dict[str, tuple[Callable[[ts.Tensor, ts.Generator], Any], Callable[[int], float]]] = {
    "exponential": (lambda x, g: x.exponential_(2.5, generator=g), lambda i: -math.log(units(i)[0]) / 2.5),
    "cauchy": (lambda x, g: x.cauchy_(1.0, 3.0, generator=g), lambda i: 1 + 3 * math.tan(math.pi * (units(i)[0] - 0.5))),
    "log_normal": (lambda x, g: x.log_normal_(0.5, 0.75, generator=g),
                   lambda i: math.exp(0.5 + 0.75 * math.sqrt(-2 * math.log(units(i)[0])) * math.cos(2 * math.pi * units(i)[1]))),
    "geometric": (lambda x, g: x.geometric_(0.3, generator=g), lambda i: math.floor(math.log(units(i)[0]) / math.log1p(-0.3)) + 1),
    "trunc_normal": (lambda x, g: x.trunc_normal_(1.0, 2.0, -1.0, 4.0, generator=g), lambda i: normal_between(units(i)[0], 1, 2, -1, 4)),
    "trunc_normal far out": (lambda x, g: x.trunc_normal_(0.0, 1.0, 8.0, 9.0, generator=g),
                             lambda i: -special.ndtri(special.ndtr(-9) + units(i)[0] * (special.ndtr(-8) - special.ndtr(-9)))),
    "poisson of low rates": (lambda x, g: ts.poisson(x * 0 + 3.5, generator=g), lambda i: poisson(3.5, i)),
    "poisson of high rates": (lambda x, g: ts.poisson(x * 0 + 41.5, generator=g), lambda i: poisson(41.5, i)),
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("dtype", [ts.float64, ts.float32, ts.float16, ts.bfloat16], ids=str)
def test_numbers_are_those_of_the_definition(name: str, dtype: ts.DType) -> None:
    draw, wanted = KNOWN[name]
    drawn = draw(ts.empty(COUNT, dtype=dtype).fill_(0), generator())
    assert drawn.dtype is dtype
    expected = np.array([wanted(i) for i in range(COUNT)])
    rtol = {ts.float64: 1e-12, ts.float32: 1e-6, ts.float16: 1e-3, ts.bfloat16: 8e-3}[dtype]
    np.testing.assert_allclose(drawn.astype(ts.float64).numpy(), expected, rtol, atol=0)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 255, 256, 257, 1000])
def test_a_permutation_is_fishers_and_yates(n: int) -> None:
    wanted = list(range(n))
    for i in range(n):
        words = philox(SEED, OFFSET + i)
        number = (words[0] | words[1] << 32) * (2**64 - 1) >> 64
        j = i + (number * (n - i) >> 64)
        wanted[i], wanted[j] = wanted[j], wanted[i]
    assert ts.randperm(n, generator=generator()).tolist() == wanted
    assert ts.randperm(n, dtype=ts.float32, generator=generator()).tolist() == wanted


def test_all_permutations_are_equally_likely() -> None:
    ts.manual_seed(11)
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(6000):
        key = tuple(ts.randperm(3).tolist())
        counts[key] = counts.get(key, 0) + 1
    assert len(counts) == 6 and stats.chisquare(list(counts.values())).pvalue > 0.01


LAW: dict[str, tuple[Callable[[ts.Tensor], Any], Any]] = {
    "exponential": (lambda x: x.exponential_(0.5), stats.expon(scale=2)),
    "cauchy": (lambda x: x.cauchy_(2, 0.5), stats.cauchy(2, 0.5)),
    "log_normal": (lambda x: x.log_normal_(0, 1), stats.lognorm(1)),
    "trunc_normal": (lambda x: x.trunc_normal_(), stats.truncnorm(-2, 2)),
}


@pytest.mark.parametrize("name", LAW)
def test_continuous_numbers_follow_their_law(name: str) -> None:
    draw, law = LAW[name]
    ts.manual_seed(7)
    numbers = draw(ts.empty(20000, dtype=ts.float64)).numpy()
    assert stats.kstest(numbers, law.cdf).pvalue > 0.01


@pytest.mark.parametrize("rate", [0.05, 1.0, 9.9, 10.0, 33.0, 1e4, 1e9])
def test_poisson_has_its_mean_and_variance(rate: float) -> None:
    ts.manual_seed(3)
    numbers = ts.poisson(ts.full((20000,), rate, dtype=ts.float64)).numpy()
    assert (numbers == np.floor(numbers)).all() and (numbers >= 0).all()
    assert abs(numbers.mean() - rate) < 4 * math.sqrt(rate / 20000)
    assert abs(numbers.var() / rate - 1) < 0.06 + 0.06 / math.sqrt(rate)
    if rate < 100:
        top = int(rate + 5 * math.sqrt(rate) + 5)
        found = np.bincount(np.minimum(numbers, top).astype(int), minlength=top + 1)
        law = stats.poisson(rate).pmf(np.arange(top + 1)) * 20000
        law[top] += 20000 - law.sum()
        likely = law > 5
        assert (
            stats.chisquare([*found[likely], found[~likely].sum()], [*law[likely], law[~likely].sum()]).pvalue > 0.001
        )


def test_geometric_counts_trials() -> None:
    ts.manual_seed(5)
    numbers = ts.empty(20000, dtype=ts.int64).geometric_(0.25).numpy()
    assert numbers.min() == 1
    assert abs(numbers.mean() - 4) < 0.1 and abs((numbers == 1).mean() - 0.25) < 0.015


def test_multinomial_draws_by_weight() -> None:
    ts.manual_seed(11)
    weights = ts.tensor([[1.0, 0.0, 3.0, 4.0], [5.0, 5.0, 0.0, 0.0]])
    drawn = ts.multinomial(weights, 20000, True).numpy()
    for row, share in zip(drawn, ([1 / 8, 0, 3 / 8, 1 / 2], [1 / 2, 1 / 2, 0, 0])):
        np.testing.assert_allclose(np.bincount(row, minlength=4) / 20000, share, atol=0.015)


def test_multinomial_without_replacement_draws_each_once_in_order_of_weight() -> None:
    ts.manual_seed(11)
    weights = ts.tensor([1.0, 0.0, 3.0, 4.0]).broadcast_to((5000, 4))
    drawn = ts.multinomial(weights, 3).numpy()
    assert all(sorted(row) == [0, 2, 3] for row in drawn.tolist())
    np.testing.assert_allclose(np.bincount(drawn[:, 0], minlength=4) / 5000, [1 / 8, 0, 3 / 8, 1 / 2], atol=0.025)
    second = drawn[drawn[:, 0] == 3][:, 1]  # what is left after the heaviest: 1 to 3
    assert abs((second == 0).mean() - 0.25) < 0.03


def test_multinomial_takes_weights_of_any_size() -> None:
    ts.manual_seed(11)
    huge, tiny = 1e308, 5e-324
    weights = ts.tensor([[huge, huge, 0.0], [0.0, tiny, tiny], [tiny, tiny, 0.0]], dtype=ts.float64)
    drawn = ts.multinomial(weights, 2000, True).numpy()
    for row, share in zip(drawn, ([1 / 2, 1 / 2, 0], [0, 1 / 2, 1 / 2], [1 / 2, 1 / 2, 0])):
        np.testing.assert_allclose(np.bincount(row, minlength=3) / 2000, share, atol=0.05)
    weights = ts.tensor([0.0, tiny, huge, tiny], dtype=ts.float64).broadcast_to((200, 4))
    assert all(row[0] == 2 and sorted(row) == [1, 2, 3] for row in ts.multinomial(weights, 3).tolist())


def test_multinomial_with_replacement_is_a_search_of_uniform_numbers() -> None:
    weights = ts.tensor(np.random.default_rng(0).uniform(0, 1, 1000))
    state = ts.Generator(9).get_state()
    numbers = ts.rand(500, dtype=ts.float64, generator=ts.Generator(state[0])).numpy()
    sums = weights.cumulative_sum(0).numpy()
    drawn = ts.multinomial(weights, 500, True, generator=ts.Generator(9)).numpy()
    np.testing.assert_array_equal(drawn, np.searchsorted(sums, numbers * sums[-1], "right"))


def test_random_fills_the_range_of_the_dtype() -> None:
    ts.manual_seed(2)
    assert set(ts.empty(2000, dtype=ts.uint8).random_().tolist()) == set(range(256))
    assert set(ts.empty(50, dtype=ts.bool).random_().tolist()) == {False, True}
    assert set(ts.empty(200, dtype=ts.int8).random_(-2, 2).tolist()) == {-2, -1, 0, 1}
    halves = ts.empty(5000, dtype=ts.float16).random_()
    assert float(halves.max()) <= 2048 and bool((halves == halves.round()).all())
    assert int(ts.empty(100, dtype=ts.int64).random_().min()) >= 0
    assert ts.empty(4, dtype=ts.uint8).random_(255).tolist() == [255] * 4


FILLS: list[Callable[[ts.Tensor], Any]] = [
    lambda x: x.exponential_(), lambda x: x.cauchy_(), lambda x: x.log_normal_(), lambda x: x.geometric_(0.4),
    lambda x: x.trunc_normal_(), lambda x: x.random_(), lambda x: x.bernoulli_(0.4), lambda x: x.copy_(ts.poisson(ts.full(x.shape, 12.0))),
]  # fmt: skip


@pytest.mark.parametrize("fill", FILLS)
def test_numbers_know_nothing_of_layout_and_threads(fill: Callable[[ts.Tensor], Any]) -> None:
    threads = ts.get_num_threads()
    try:
        results = []
        for count in (1, max(threads, 2)):
            ts.set_num_threads(count)
            for x in (ts.empty((300, 70)), ts.empty((70, 300)).T, ts.empty((600, 140))[::2, ::-2]):
                ts.manual_seed(1)
                fill(x)
                results.append(np.array(x.numpy()))
                assert ts.get_rng_state() == (1, 21000)
    finally:
        ts.set_num_threads(threads)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


def test_bounds_of_truncated_numbers_hold_in_every_dtype() -> None:
    ts.manual_seed(0)
    for dtype in (ts.float16, ts.bfloat16, ts.float32, ts.float64):
        x = ts.empty(5000, dtype=dtype).trunc_normal_(0, 1, 0.5, 0.75)
        assert float(x.min()) >= 0.5 and float(x.max()) <= 0.75


def test_parameters_start_from_truncated_numbers() -> None:
    ts.manual_seed(0)
    weight = ts.nn.Parameter(ts.zeros((50, 40)))
    assert ts.nn.init.trunc_normal_(weight, std=0.02, a=-0.04, b=0.04) is weight and weight.requires_grad
    assert 0.015 < float(weight.std()) < 0.02 and float(weight.abs().max()) <= 0.04


def test_normal_takes_a_mean_and_a_deviation_for_each() -> None:
    mean = ts.tensor([0.0, 10.0, -5.0])
    numbers = ts.randn((4, 3), generator=ts.Generator(4))
    std = ts.tensor([[1.0], [2.0], [0.0], [0.5]])
    drawn = ts.normal(mean.requires_grad_(), std, generator=ts.Generator(4))
    assert not drawn.requires_grad
    np.testing.assert_allclose(drawn.numpy(), numbers.numpy() * std.numpy() + mean.detach().numpy(), rtol=1e-6)
    assert ts.normal(2.0, ts.ones(3, dtype=ts.float64)).dtype is ts.float64


def test_overwritten_values_get_no_gradient() -> None:
    x = ts.ones(3, requires_grad=True)
    y = x * 2
    y.exponential_()
    (y.sum() + x.sum()).backward()
    assert x.grad is not None and x.grad.tolist() == [1, 1, 1]
