# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Distributions beside PyTorch's and SciPy's: densities, moments, divergences, shapes and validation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributions as reference
from scipy import special, stats

import tessera as ts
from tessera import distributions

RNG = np.random.default_rng(5)
POSITIVE = np.array([[0.5, 2.0, 1.25]])
LOCATION = np.array([[-1.0], [0.5]])
WEIGHTS = np.array([[0.2, 0.3, 0.5], [0.7, 0.1, 0.2]])
SQUARE = RNG.standard_normal((2, 3, 3)) * 0.3
COVARIANCE = SQUARE @ SQUARE.transpose(0, 2, 1) + np.eye(3)
TRIL = np.linalg.cholesky(COVARIANCE)

# name, parameters (arrays become tensors of either library)
CASES: list[tuple[str, dict[str, Any]]] = [
    ("Normal", {"loc": LOCATION, "scale": POSITIVE}),
    ("HalfNormal", {"scale": POSITIVE}),
    ("LogNormal", {"loc": LOCATION, "scale": POSITIVE * 0.5}),
    ("StudentT", {"df": POSITIVE * 3, "loc": LOCATION, "scale": POSITIVE}),
    ("Uniform", {"low": LOCATION, "high": POSITIVE + 1}),
    ("Laplace", {"loc": LOCATION, "scale": POSITIVE}),
    ("Cauchy", {"loc": LOCATION, "scale": POSITIVE}),
    ("HalfCauchy", {"scale": POSITIVE}),
    ("Gumbel", {"loc": LOCATION, "scale": POSITIVE}),
    ("Exponential", {"rate": POSITIVE}),
    ("Gamma", {"concentration": POSITIVE, "rate": POSITIVE + LOCATION**2}),
    ("Chi2", {"df": POSITIVE * 3}),
    ("Pareto", {"scale": POSITIVE, "alpha": POSITIVE + 6}),
    ("Weibull", {"scale": POSITIVE, "concentration": POSITIVE[:, ::-1] + 1 + LOCATION**2}),
    ("FisherSnedecor", {"df1": POSITIVE * 4, "df2": POSITIVE + 20}),
    ("Kumaraswamy", {"concentration1": POSITIVE, "concentration0": POSITIVE[:, ::-1] + 0.5}),
    ("NegativeBinomial", {"total_count": 6, "probs": np.array([[0.25], [0.75]])}),
    ("NegativeBinomial", {"total_count": np.array([3.0, 7.5]), "logits": LOCATION}),
    ("Beta", {"concentration1": POSITIVE, "concentration0": POSITIVE[:, ::-1] + 0.5}),
    ("Dirichlet", {"concentration": np.array([[0.5, 2, 3], [1.5, 1, 4]])}),
    ("Bernoulli", {"probs": np.array([0.25, 0.75])}),
    ("Bernoulli", {"logits": LOCATION}),
    ("Categorical", {"probs": WEIGHTS}),
    ("Categorical", {"logits": np.log(WEIGHTS) + 3}),
    ("OneHotCategorical", {"probs": WEIGHTS}),
    ("Multinomial", {"total_count": 5, "probs": WEIGHTS}),
    ("Poisson", {"rate": POSITIVE * 4}),
    ("Geometric", {"probs": np.array([0.25, 0.75])}),
    ("Binomial", {"total_count": 6, "probs": np.array([[0.25], [0.75]])}),
    ("Binomial", {"total_count": np.array([3.0, 7.0]), "logits": LOCATION}),
    ("MultivariateNormal", {"loc": np.zeros(3), "covariance_matrix": COVARIANCE}),
    ("MultivariateNormal", {"loc": np.ones((2, 3)), "precision_matrix": COVARIANCE}),
    ("MultivariateNormal", {"loc": np.ones((4, 1, 3)), "scale_tril": TRIL}),
    ("LogitRelaxedBernoulli", {"temperature": np.array(0.5), "probs": np.array([0.25, 0.75])}),
    ("RelaxedBernoulli", {"temperature": np.array(0.5), "logits": LOCATION}),
    ("ExpRelaxedCategorical", {"temperature": np.array(0.5), "probs": WEIGHTS}),
    ("RelaxedOneHotCategorical", {"temperature": np.array(2.0), "logits": np.log(WEIGHTS)}),
]
IDS = [f"{name}-{i}" for i, (name, _) in enumerate(CASES)]
SCALAR = [case for case in CASES if case[0] not in ("Dirichlet", "Multinomial", "MultivariateNormal") and "Categorical" not in case[0]]
RELAXED = {"LogitRelaxedBernoulli", "RelaxedBernoulli", "ExpRelaxedCategorical", "RelaxedOneHotCategorical"}


def pair(name: str, parameters: dict[str, Any]) -> tuple[Any, Any]:
    """The same distribution of both libraries."""

    def build(kinds: Any, tensor: Any) -> Any:
        given = {k: tensor(v) if isinstance(v, np.ndarray) else v for k, v in parameters.items()}
        kind = getattr(kinds, name, None) or getattr(kinds.relaxed_bernoulli, name, None) or kinds.relaxed_categorical.ExpRelaxedCategorical
        return kind(**given)

    return build(distributions, lambda a: ts.from_numpy(a.copy())), build(reference, torch.tensor)


def same(ours: Any, theirs: Any, rtol: float = 1e-9) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), rtol, 1e-12)


@pytest.mark.parametrize("name, parameters", CASES, ids=IDS)
def test_shapes_and_densities_are_pytorchs(name: str, parameters: dict[str, Any]) -> None:
    ours, theirs = pair(name, parameters)
    assert ours.batch_shape == tuple(theirs.batch_shape)
    assert ours.event_shape == tuple(theirs.event_shape)
    assert ours.has_rsample == (theirs.has_rsample or name == "LogitRelaxedBernoulli")  # PyTorch's forgets to say so
    torch.manual_seed(0)
    for shape in [(), (4,), (2, 3)]:
        value = theirs.sample(shape)
        same(ours.log_prob(ts.from_numpy(value.numpy())), theirs.log_prob(value))
        ts.manual_seed(0)
        drawn = ours.sample(shape)
        assert drawn.shape == tuple(value.shape) and drawn.dtype.name == str(value.dtype)[6:]
        assert bool(ours.support.check(drawn).all()) and not drawn.requires_grad
    if name not in RELAXED:
        ours_text = repr(ours)
        assert ours_text.startswith(name)


@pytest.mark.parametrize("name, parameters", CASES, ids=IDS)
def test_moments_are_pytorchs(name: str, parameters: dict[str, Any]) -> None:
    ours, theirs = pair(name, parameters)
    for quantity in ("mean", "variance", "stddev", "mode", "entropy", "perplexity"):
        if (name, quantity) == ("Kumaraswamy", "mode"):
            continue  # PyTorch's is NaN everywhere
        try:
            wanted = getattr(theirs, quantity)
            wanted = wanted() if callable(wanted) else wanted
        except NotImplementedError:
            continue
        found = getattr(ours, quantity)
        # PyTorch moves the probabilities in the entropy of Multinomial away from 0 and 1.
        same(found() if callable(found) else found, wanted, 1e-6 if name == "Multinomial" else 1e-8)


def test_the_mode_of_kumaraswamys_distribution_has_the_largest_density() -> None:
    a, b = np.array([2.0, 1.5, 0.5]), np.array([2.5, 4.0, 2.0])
    law = distributions.Kumaraswamy(ts.from_numpy(a), ts.from_numpy(b))
    grid = np.linspace(0.001, 0.999, 999)
    density = law.log_prob(ts.from_numpy(grid[:, None])).numpy()
    found = law.mode.numpy()
    np.testing.assert_allclose(found[:2], grid[density.argmax(0)][:2], atol=0.001)
    assert np.isnan(found[2])


def test_geometric_of_the_moments_that_pytorch_lacks() -> None:
    p = np.array([0.25, 0.9])
    ours = distributions.Geometric(ts.from_numpy(p))
    np.testing.assert_allclose(ours.entropy().numpy(), stats.geom(p).entropy(), 1e-9, 1e-12)


@pytest.mark.parametrize("name, parameters", SCALAR, ids=[n for n, _ in SCALAR])
def test_distribution_functions_are_pytorchs(name: str, parameters: dict[str, Any]) -> None:
    ours, theirs = pair(name, parameters)
    torch.manual_seed(1)
    value = theirs.sample((5,))
    try:
        wanted = theirs.cdf(value)
    except NotImplementedError:
        if name in ("Gamma", "Chi2"):  # which PyTorch has since 2.0
            wanted = stats.gamma(ours.concentration.numpy(), scale=1 / ours.rate.numpy()).cdf(value.numpy())
            same(ours.cdf(ts.from_numpy(value.numpy())), torch.tensor(wanted))
            return
        with pytest.raises(NotImplementedError):
            ours.cdf(ts.from_numpy(value.numpy()))
        return
    same(ours.cdf(ts.from_numpy(value.numpy())), wanted)
    try:
        theirs.icdf(wanted)
    except NotImplementedError:
        return
    same(ours.icdf(ts.from_numpy(wanted.numpy())), value, 1e-6)


@pytest.mark.parametrize("name, parameters", CASES, ids=IDS)
def test_expanding_keeps_the_law(name: str, parameters: dict[str, Any]) -> None:
    ours, theirs = pair(name, parameters)
    larger = ours.expand((5, *ours.batch_shape))
    assert type(larger) is type(ours) and larger.event_shape == ours.event_shape
    assert larger.batch_shape == (5, *ours.batch_shape)
    value = larger.sample((2,))
    assert value.shape == (2, 5, *ours.batch_shape, *ours.event_shape)
    same(larger.log_prob(value), theirs.log_prob(torch.tensor(value.numpy())))


@pytest.mark.parametrize("name, parameters", [c for c in CASES if c[0] not in RELAXED], ids=[i for i in IDS if i.split("-")[0] not in RELAXED])
def test_samples_have_mean_and_variance(name: str, parameters: dict[str, Any]) -> None:
    ours, _ = pair(name, parameters)
    ts.manual_seed(3)
    count = 20000
    drawn = ours.sample((count,)).numpy()
    if name in ("Cauchy", "HalfCauchy"):
        wanted = ours.icdf(ts.full(ours.batch_shape, 0.75, dtype=ts.float64)).numpy()
        assert np.abs((drawn < wanted).mean(0) - 0.75).max() < 0.015
        return
    if name == "Categorical":
        shares = np.stack([(drawn == k).mean(0) for k in range(3)], -1)
        np.testing.assert_allclose(shares, WEIGHTS, atol=0.015)
        return
    mean, variance = ours.mean.numpy(), ours.variance.numpy()
    finite = np.isfinite(variance)
    assert (np.abs(drawn.mean(0) - mean)[finite] < 5 * np.sqrt(variance / count)[finite] + 1e-12).all()
    if name not in ("StudentT", "LogNormal"):  # their fourth moments are large or do not exist
        np.testing.assert_allclose(drawn.var(0), variance, 0.1)


LAWS = {
    "Gamma": stats.gamma(0.5), "Beta": stats.beta(2, 3), "StudentT": stats.t(4), "Laplace": stats.laplace(), "Gumbel": stats.gumbel_r(),
    "HalfNormal": stats.halfnorm(), "LogNormal": stats.lognorm(0.5), "Chi2": stats.chi2(3), "HalfCauchy": stats.halfcauchy(),
}  # fmt: skip
OF_LAW = {
    "Gamma": (0.5, 1.0), "Beta": (2.0, 3.0), "StudentT": (4.0,), "Laplace": (0.0, 1.0), "Gumbel": (0.0, 1.0), "HalfNormal": (1.0,),
    "LogNormal": (0.0, 0.5), "Chi2": (3.0,), "HalfCauchy": (1.0,),
}  # fmt: skip


@pytest.mark.parametrize("name", LAWS)
def test_samples_follow_scipys_law(name: str) -> None:
    ts.manual_seed(8)
    drawn = getattr(distributions, name)(*(ts.tensor(p, dtype=ts.float64) for p in OF_LAW[name])).sample((5000,)).numpy()
    assert stats.kstest(drawn, LAWS[name].cdf).pvalue > 0.005


REPARAMETERIZED = [
    ("Normal", {"loc": 0.5, "scale": 1.5}), ("HalfNormal", {"scale": 1.5}), ("LogNormal", {"loc": 0.25, "scale": 0.5}),
    ("Uniform", {"low": -1.0, "high": 2.0}), ("Laplace", {"loc": 0.5, "scale": 1.5}), ("Gumbel", {"loc": 0.5, "scale": 1.5}),
    ("Exponential", {"rate": 0.75}), ("Gamma", {"concentration": 0.75, "rate": 2.0}), ("Gamma", {"concentration": 3.0, "rate": 2.0}),
    ("Chi2", {"df": 3.0}), ("Beta", {"concentration1": 0.75, "concentration0": 2.0}),
]  # fmt: skip


@pytest.mark.parametrize("name, numbers", REPARAMETERIZED, ids=[n for n, _ in REPARAMETERIZED])
def test_gradients_of_samples_are_those_of_the_mean(name: str, numbers: dict[str, float]) -> None:
    def leaves() -> dict[str, ts.Tensor]:
        return {k: ts.tensor(v, dtype=ts.float64).requires_grad_() for k, v in numbers.items()}

    ts.manual_seed(2)
    drawn, exact = leaves(), leaves()
    kind = getattr(distributions, name)
    kind(**drawn).rsample((50000,)).mean().backward()
    kind(**exact).mean.backward()
    for key, leaf in exact.items():
        wanted = 0.0 if leaf.grad is None else leaf.grad.item()
        assert abs(drawn[key].grad.item() - wanted) < 0.03 * max(1, abs(wanted))


def test_gradients_of_gamma_numbers_are_exact() -> None:
    rng = np.random.default_rng(0)
    for low, high, limit in ((-2.0, 3.9, 1e-4), (4.0, 5.5, 1e-6)):
        shape = 10 ** rng.uniform(low, high, 200)
        share, step = rng.uniform(0.001, 0.999, 200), 1e-5 * shape
        number = special.gammaincinv(shape, share)
        above, below = (special.gammaincinv(shape + h, share) for h in (step, -step))
        slope = (above - below) / (2 * step)
        found = ts.standard_gamma_grad(ts.from_numpy(shape), ts.from_numpy(number)).numpy()
        np.testing.assert_allclose(found, slope, limit, 1e-200)


def test_dirichlet_gradients_follow_the_variance() -> None:
    # d E[x1^2] / d a against central differences of the exact second moment
    def second(a: np.ndarray) -> float:
        total = a.sum()
        return float(a[0] * (a[0] + 1) / (total * (total + 1)))

    start = np.array([1.5, 0.75, 2.0])
    a = ts.from_numpy(start.copy()).requires_grad_()
    ts.manual_seed(4)
    distributions.Dirichlet(a).rsample((100000,))[:, 0].square().mean().backward()
    step = 1e-5 * np.eye(3)
    wanted = [(second(start + h) - second(start - h)) / 2e-5 for h in step]
    np.testing.assert_allclose(a.grad.numpy(), wanted, atol=0.01)


KL = [
    ("Normal", (0.5, 2.0), "Normal", (1.0, 0.75)), ("HalfNormal", (2.0,), "HalfNormal", (0.75,)), ("Laplace", (0.5, 2.0), "Laplace", (1.0, 0.75)),
    ("Cauchy", (0.5, 2.0), "Cauchy", (1.0, 0.75)), ("Gumbel", (0.5, 2.0), "Gumbel", (1.0, 0.75)), ("Exponential", (0.5,), "Exponential", (2.0,)),
    ("Gamma", (1.5, 2.0), "Gamma", (0.75, 1.0)), ("Beta", (1.5, 2.0), "Beta", (0.75, 1.0)), ("Uniform", (0.25, 0.75), "Uniform", (0.0, 2.0)),
    ("Uniform", (0.25, 3.0), "Uniform", (0.0, 2.0)), ("Poisson", (2.0,), "Poisson", (3.5,)), ("Bernoulli", (0.25,), "Bernoulli", (0.5,)),
    ("Bernoulli", (0.25,), "Poisson", (0.5,)), ("Geometric", (0.25,), "Geometric", (0.5,)), ("Exponential", (0.5,), "Gamma", (2.0, 1.5)),
    ("Exponential", (0.5,), "Gumbel", (0.5, 1.5)), ("Exponential", (0.5,), "Normal", (0.5, 1.5)), ("Gamma", (1.5, 2.0), "Exponential", (0.75,)),
    ("Gamma", (1.5, 2.0), "Gumbel", (0.75, 2.0)), ("Gamma", (1.5, 2.0), "Normal", (0.75, 2.0)), ("Gumbel", (0.5, 2.0), "Normal", (0.75, 2.0)),
    ("Laplace", (0.5, 2.0), "Normal", (0.75, 2.0)), ("Normal", (0.5, 2.0), "Laplace", (0.75, 2.0)), ("Normal", (0.5, 2.0), "Gumbel", (0.75, 2.0)),
    ("Beta", (1.5, 2.0), "Normal", (0.75, 2.0)), ("Beta", (1.5, 2.0), "Exponential", (0.75,)), ("Beta", (1.5, 2.0), "Gamma", (0.75, 2.0)),
    ("Uniform", (0.25, 3.0), "Normal", (0.75, 2.0)), ("Uniform", (0.25, 3.0), "Exponential", (0.75,)), ("Uniform", (-0.25, 3.0), "Exponential", (0.75,)),
    ("Normal", (0.5, 2.0), "Gamma", (1.0, 1.0)), ("Exponential", (0.5,), "Beta", (1.0, 1.0)), ("LogNormal", (0.5, 2.0), "LogNormal", (1.0, 0.75)),
]  # fmt: skip


@pytest.mark.parametrize("p, given_p, q, given_q", KL, ids=[f"{row[0]}-{row[2]}" for row in KL])
def test_divergences_are_pytorchs_or_those_of_samples(p: str, given_p: Any, q: str, given_q: Any) -> None:
    def build(kinds: Any, tensor: Any, name: str, given: Any) -> Any:
        return getattr(kinds, name)(*(tensor(v) for v in given))

    def ours(v: float) -> ts.Tensor:
        return ts.tensor(v, dtype=ts.float64)

    one, two = build(distributions, ours, p, given_p), build(distributions, ours, q, given_q)
    found = distributions.kl_divergence(one, two).item()
    if (p, q) in {("Cauchy", "Cauchy"), ("Laplace", "Normal"), ("Normal", "Laplace"), ("Beta", "Gamma"), ("Exponential", "Gamma")}:
        ts.manual_seed(6)
        drawn = one.sample((200000,))
        assert abs((one.log_prob(drawn) - two.log_prob(drawn)).mean().item() - found) < 0.02
    else:
        theirs = reference.kl_divergence(
            *(build(reference, lambda v: torch.tensor(v, dtype=torch.float64), *row) for row in ((p, given_p), (q, given_q)))
        )
        assert math.isclose(found, theirs.item(), rel_tol=1e-9)


@pytest.mark.parametrize("name, key", [("Categorical", "probs"), ("OneHotCategorical", "probs"), ("Dirichlet", "concentration")])
def test_divergences_of_vectors_are_pytorchs(name: str, key: str) -> None:
    other = np.array([0.6, 0.2, 0.2])
    p, q = pair(name, {key: WEIGHTS}), pair(name, {key: other})
    same(distributions.kl_divergence(p[0], q[0]), reference.kl_divergence(p[1], q[1]))


def test_divergences_of_normal_vectors_and_independent_ones_are_pytorchs() -> None:
    p = pair("MultivariateNormal", {"loc": np.ones((2, 3)), "covariance_matrix": COVARIANCE})
    q = pair("MultivariateNormal", {"loc": np.zeros(3), "scale_tril": TRIL[0]})
    same(distributions.kl_divergence(p[0], q[0]), reference.kl_divergence(p[1], q[1]))
    n = pair("Normal", {"loc": LOCATION, "scale": POSITIVE})
    m = pair("Normal", {"loc": LOCATION + 1, "scale": POSITIVE * 2})
    ours = distributions.kl_divergence(*(distributions.Independent(d[0], 1) for d in (n, m)))
    same(ours, reference.kl_divergence(*(reference.Independent(d[1], 1) for d in (n, m))))


def test_unknown_divergences_are_refused_and_can_be_added() -> None:
    class Mine(distributions.Normal):
        pass

    with pytest.raises(NotImplementedError, match="Poisson and Normal"):
        distributions.kl_divergence(distributions.Poisson(1.0), distributions.Normal(0.0, 1.0))
    p, q = Mine(0.0, 1.0), distributions.Normal(1.0, 1.0)
    assert distributions.kl_divergence(p, q).item() == 0.5  # the formula of the base class

    @distributions.register_kl(Mine, distributions.Normal)
    def _(p: Mine, q: distributions.Normal) -> ts.Tensor:
        return ts.tensor(7.0)

    assert distributions.kl_divergence(p, q).item() == 7
    with pytest.raises(TypeError):
        distributions.register_kl(int, Mine)


def test_wrong_parameters_and_values_are_refused() -> None:
    for make in (
        lambda: distributions.Normal(0.0, -1.0), lambda: distributions.Normal(math.nan, 1.0), lambda: distributions.Bernoulli(1.5),
        lambda: distributions.Uniform(1.0, 1.0), lambda: distributions.Gamma(0.0, 1.0), lambda: distributions.Multinomial(-1, ts.ones(2)),
        lambda: distributions.MultivariateNormal(ts.zeros(2), -ts.eye(2)), lambda: distributions.Binomial(1.5, 0.5), lambda: distributions.Geometric(0.0),
        lambda: distributions.Bernoulli(), lambda: distributions.Bernoulli(0.5, 0.5), lambda: distributions.Categorical(ts.tensor(0.5)),
        lambda: distributions.MultivariateNormal(ts.zeros(2)), lambda: distributions.MultivariateNormal(ts.zeros(2), ts.eye(3)),
        lambda: distributions.Independent(distributions.Normal(0.0, 1.0), 1), lambda: distributions.Categorical(ts.tensor([-1.0, 2.0])),
        lambda: distributions.Categorical(ts.tensor([-1.0, -2.0])), lambda: distributions.Categorical(ts.tensor([math.inf, 1.0])),
        lambda: distributions.Categorical(ts.zeros(0)), lambda: distributions.Categorical(logits=ts.zeros((2, 0))),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            make()
    with pytest.raises(TypeError):
        distributions.Normal("0", 1.0)  # type: ignore[arg-type]
    normal = distributions.Normal(ts.zeros(3), 1.0)
    for value in (ts.zeros(2), ts.full((3,), math.nan)):
        with pytest.raises(ValueError):
            normal.log_prob(value)
    with pytest.raises(TypeError):
        normal.log_prob(0.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        distributions.Categorical(ts.ones(3)).log_prob(ts.tensor(3))
    unchecked = distributions.Exponential(1.0, validate_args=False)
    assert unchecked.log_prob(ts.tensor(-1.0)).item() == 1
    with pytest.raises(NotImplementedError):
        distributions.Bernoulli(0.5).rsample()
    with pytest.raises(ValueError):
        distributions.Distribution.set_default_validate_args(None)  # type: ignore[arg-type]


def test_a_default_of_validation_can_be_set() -> None:
    before = distributions.Distribution._validate_args
    try:
        distributions.Distribution.set_default_validate_args(False)
        assert distributions.Normal(0.0, -1.0).scale.item() == -1
    finally:
        distributions.Distribution.set_default_validate_args(before)


def test_values_of_discrete_distributions_are_listed() -> None:
    for name, parameters in [c for c in CASES if c[0] in ("Bernoulli", "Categorical", "OneHotCategorical")]:
        ours, theirs = pair(name, parameters)
        for expand in (False, True):
            same(ours.enumerate_support(expand), theirs.enumerate_support(expand))
    binomial = distributions.Binomial(3, ts.tensor([0.25, 0.5]))
    assert binomial.enumerate_support().shape == (4, 2)
    np.testing.assert_allclose(binomial.log_prob(binomial.enumerate_support()).exp().sum(0).numpy(), [1, 1], 1e-6)
    with pytest.raises(NotImplementedError):
        distributions.Binomial(ts.tensor([3.0, 4.0]), 0.5).enumerate_support()


def test_gradients_reach_parameters_through_log_prob() -> None:
    logits = ts.tensor([[0.5, -1.0, 2.0]]).requires_grad_()
    policy = distributions.Categorical(logits=logits)
    with ts.no_grad():
        action = ts.tensor([2])
    policy.log_prob(action).sum().backward()
    theirs = torch.tensor([[0.5, -1.0, 2.0]], requires_grad=True)
    reference.Categorical(logits=theirs).log_prob(torch.tensor([2])).sum().backward()
    same(logits.grad, theirs.grad, 1e-6)


def test_lazy_attributes_have_gradients_also_from_no_grad() -> None:
    probs = ts.tensor([0.25, 0.75]).requires_grad_()
    coin = distributions.Bernoulli(probs)
    with ts.no_grad():
        assert coin.logits.requires_grad  # computed here, used later
    coin.log_prob(ts.tensor([1.0, 0.0])).sum().backward()
    np.testing.assert_allclose(probs.grad.numpy(), [4, -4], 1e-5)


def test_empty_batches_and_samples() -> None:
    normal = distributions.Normal(ts.zeros((0, 3)), 1.0)
    assert normal.sample((2,)).shape == (2, 0, 3) and normal.log_prob(normal.sample()).shape == (0, 3)
    assert distributions.Categorical(ts.ones((2, 3))).sample((0,)).shape == (0, 2)
    assert distributions.Categorical(ts.ones((0, 3))).sample((4,)).shape == (4, 0)
