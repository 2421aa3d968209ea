# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Distributions of angles, pixels, tails, covariances and correlations, beside PyTorch's and SciPy's."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributions as reference
from scipy import integrate, stats

import tessera as ts
from tessera import distributions
from tessera.distributions import constraints

RNG = np.random.default_rng(9)
SQUARE = RNG.standard_normal((2, 3, 3)) * 0.3
COVARIANCE = SQUARE @ SQUARE.transpose(0, 2, 1) + np.eye(3)
FACTOR = RNG.standard_normal((2, 4, 2))
PROBS = np.array([0.01, 0.3, 0.4999, 0.5, 0.50005, 0.9, 0.999])

CASES: list[tuple[str, dict[str, Any]]] = [
    ("VonMises", {"loc": np.array([[-1.0], [2.0]]), "concentration": np.array([0.1, 3.0, 50.0])}),
    ("ContinuousBernoulli", {"probs": PROBS}),
    ("ContinuousBernoulli", {"logits": np.array([[-9.0, 0.0, 0.002], [3.0, -0.4, 1.5]])}),
    ("Wishart", {"df": np.array([3.5, 7.0]), "covariance_matrix": COVARIANCE}),
    ("Wishart", {"df": np.array([[4.0], [9.0]]), "precision_matrix": COVARIANCE}),
    ("Wishart", {"df": np.array(5.0), "scale_tril": np.linalg.cholesky(COVARIANCE)}),
    ("LKJCholesky", {"dim": 3, "concentration": np.array([0.5, 1.0, 4.0])}),
    ("LKJCholesky", {"dim": 2, "concentration": np.array(1.5)}),
    ("LowRankMultivariateNormal", {"loc": np.ones(4), "cov_factor": FACTOR, "cov_diag": np.array([0.5, 1.0, 2.0, 0.25])}),
]
IDS = [f"{name}-{i}" for i, (name, _) in enumerate(CASES)]


def ours_of(array: Any) -> ts.Tensor:
    return ts.from_numpy(np.array(array, dtype=np.float64))


def pair(name: str, parameters: dict[str, Any]) -> tuple[Any, Any]:
    def build(kinds: Any, tensor: Any) -> Any:
        return getattr(kinds, name)(**{k: tensor(v) if isinstance(v, np.ndarray) else v for k, v in parameters.items()})

    return build(distributions, ours_of), build(reference, torch.tensor)


def same(ours: Any, theirs: Any, rtol: float = 1e-8) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), rtol, 1e-10)


# PyTorch takes the Bessel functions from a polynomial of seven digits.
TOLERANCE = {"VonMises": 1e-5}


@pytest.mark.parametrize("name, parameters", CASES, ids=IDS)
def test_shapes_and_densities_are_pytorchs(name: str, parameters: dict[str, Any]) -> None:
    ours, theirs = pair(name, parameters)
    assert ours.batch_shape == tuple(theirs.batch_shape) and ours.event_shape == tuple(theirs.event_shape)
    torch.manual_seed(0)
    ts.manual_seed(0)
    for shape in [(), (4,), (2, 3)]:
        value = theirs.sample(shape)
        same(ours.log_prob(ours_of(value.numpy())), theirs.log_prob(value), TOLERANCE.get(name, 1e-7))
        drawn = ours.sample(shape)
        assert drawn.shape == tuple(value.shape) and drawn.dtype is ts.float64 and not drawn.requires_grad
        assert bool(ours.support.check(drawn).all())
    assert repr(ours).startswith(name)


@pytest.mark.parametrize("name, parameters", CASES, ids=IDS)
def test_moments_are_pytorchs(name: str, parameters: dict[str, Any]) -> None:
    ours, theirs = pair(name, parameters)
    for quantity in ("mean", "variance", "stddev", "mode", "entropy"):
        try:
            wanted = getattr(theirs, quantity)
            wanted = wanted() if callable(wanted) else wanted
        except (NotImplementedError, ValueError):
            continue
        found = getattr(ours, quantity)
        # PyTorch's series near the probability 0.5 is short.
        same(found() if callable(found) else found, wanted, 1e-4 if name in ("VonMises", "ContinuousBernoulli") else 1e-8)


@pytest.mark.parametrize("name, parameters", CASES, ids=IDS)
def test_expanding_keeps_the_law(name: str, parameters: dict[str, Any]) -> None:
    ours, theirs = pair(name, parameters)
    larger = ours.expand((5, *ours.batch_shape))
    assert type(larger) is type(ours) and larger.batch_shape == (5, *ours.batch_shape)
    value = larger.sample((2,))
    assert value.shape == (2, 5, *ours.batch_shape, *ours.event_shape)
    same(larger.log_prob(value), theirs.log_prob(torch.tensor(value.numpy())), TOLERANCE.get(name, 1e-7))


@pytest.mark.parametrize("name, parameters", CASES, ids=IDS)
def test_samples_have_mean_and_variance(name: str, parameters: dict[str, Any]) -> None:
    ours, _ = pair(name, parameters)
    if name in ("VonMises", "LKJCholesky"):
        return  # whose mean is that of directions, or which have none; the laws below are theirs
    ts.manual_seed(3)
    drawn = ours.sample((20000,)).numpy()
    mean, variance = ours.mean.numpy(), ours.variance.numpy()
    assert (np.abs(drawn.mean(0) - mean) < 5 * np.sqrt(variance / 20000)).all()
    np.testing.assert_allclose(drawn.var(0), variance, 0.15)


@pytest.mark.parametrize("kappa", [1e-7, 0.3, 4.0, 800.0, 1e8])
def test_angles_follow_scipys_law(kappa: float) -> None:
    ts.manual_seed(8)
    drawn = distributions.VonMises(ours_of(0.5), ours_of(kappa)).sample((5000,)).numpy()
    assert (drawn >= -math.pi).all() and (drawn <= math.pi).all()
    law = stats.vonmises(kappa) if kappa < 1e6 else stats.norm(0, kappa**-0.5)
    around = (drawn - 0.5 + math.pi) % (2 * math.pi) - math.pi
    assert stats.kstest(around, law.cdf).pvalue > 0.005


def test_angles_have_scipys_density_and_entropy_and_wrong_ones_end() -> None:
    law, ours = stats.vonmises([0.3, 40.0], loc=0.5), distributions.VonMises(ours_of(0.5), ours_of([0.3, 40.0]))
    value = np.array([[-3.0], [0.0], [2.5]])
    np.testing.assert_allclose(ours.log_prob(ours_of(value)).numpy(), law.logpdf(value), 1e-12)
    np.testing.assert_allclose(ours.entropy().numpy(), law.entropy(), 1e-10)
    nan = distributions.VonMises(ours_of([0.0, math.nan]), ours_of([math.nan, 1.0]), validate_args=False)
    assert bool(ts.isnan(nan.sample((3,))).all())


def test_continuous_bernoulli_is_exact_near_one_half() -> None:
    logits = np.array([0.0, 1e-9, -1e-4, 0.05, -0.999, 1.0, -7.0, 30.0, -200.0])
    ours = distributions.ContinuousBernoulli(logits=ours_of(logits))
    for i, n in enumerate(logits):
        scale = integrate.quad(lambda x, n=n: math.exp(n * x - max(n, 0)), 0, 1, epsabs=0, epsrel=1e-12, limit=200)[0]
        mean = integrate.quad(lambda x, n=n: x * math.exp(n * x - max(n, 0)), 0, 1, epsabs=0, epsrel=1e-12, limit=200)[0] / scale
        spread = integrate.quad(
            lambda x, n=n, mean=mean: (x - mean) ** 2 * math.exp(n * x - max(n, 0)), 0, 1, epsabs=0, epsrel=1e-12, limit=200
        )[0]
        np.testing.assert_allclose(ours.mean[i].item(), mean, 1e-10)
        np.testing.assert_allclose(ours.variance[i].item(), spread / scale, 1e-9)
        at = ours.log_prob(ours_of(0.25))[i].item()
        np.testing.assert_allclose(at, n * 0.25 - math.log(scale) - max(n, 0), 1e-10, 1e-12)
    share = ours_of([[0.0], [0.1], [0.5], [0.99], [1.0]])
    back = ours.cdf(ours.icdf(share)).numpy()
    np.testing.assert_allclose(back, np.broadcast_to(share.numpy(), back.shape), 1e-9, 1e-12)


def test_gradients_of_continuous_bernoulli_are_those_of_differences() -> None:
    logits = ours_of([-2.0, 0.0, 0.3, 1.0, 5.0]).requires_grad_()

    def values(n: ts.Tensor) -> ts.Tensor:
        law = distributions.ContinuousBernoulli(logits=n)
        return law.log_prob(ours_of(0.3)) + law.cdf(ours_of(0.3)) * 2 + law.icdf(ours_of(0.6)) * 3

    values(logits).sum().backward()
    step = 1e-6
    with ts.no_grad():
        slopes = (values(logits + step) - values(logits - step)) / (2 * step)
    found = logits.grad.numpy()
    keep = np.array([0, 2, 3, 4])  # at the logit 0 the distribution function is taken as that of equal densities
    np.testing.assert_allclose(found[keep], slopes.numpy()[keep], 1e-5)


SHAPES = np.array([-1.0, -0.5, 0.0, 0.25, 2.0])


def test_generalized_pareto_is_scipys() -> None:
    law = stats.genpareto(SHAPES, loc=0.5, scale=2.0)
    ours = distributions.GeneralizedPareto(ours_of(0.5), ours_of(2.0), ours_of(SHAPES))
    value = law.ppf([[0.01], [0.5], [0.999]])
    np.testing.assert_allclose(ours.log_prob(ours_of(value)).numpy(), law.logpdf(value), 1e-9)
    np.testing.assert_allclose(ours.cdf(ours_of(value)).numpy(), law.cdf(value), 1e-9)
    np.testing.assert_allclose(ours.log_survival_function(ours_of(value)).numpy(), law.logsf(value), 1e-9)
    np.testing.assert_allclose(ours.log_cdf(ours_of(value)).numpy(), law.logcdf(value), 1e-9)
    np.testing.assert_allclose(ours.icdf(ours_of([[0.01], [0.5], [0.999]])).numpy(), value, 1e-9)
    np.testing.assert_allclose(ours.entropy().numpy(), law.entropy(), 1e-9)
    mean, variance = law.stats("mv")
    np.testing.assert_allclose(ours.mean.numpy()[:4], mean[:4], 1e-9)
    np.testing.assert_allclose(ours.variance.numpy()[:4], variance[:4], 1e-9)
    assert math.isnan(ours.mean[4].item()) and math.isnan(ours.variance[4].item())
    ts.manual_seed(4)
    drawn = ours.sample((4000,)).numpy()
    for i in range(len(SHAPES)):
        assert stats.kstest(drawn[:, i], stats.genpareto(SHAPES[i], loc=0.5, scale=2.0).cdf).pvalue > 0.005
    with pytest.raises(ValueError):
        ours.log_prob(ours_of(2.6))  # beyond the end of the first one
    assert constraints.is_dependent(distributions.GeneralizedPareto.support)


@pytest.mark.parametrize("dim, concentration", [(2, 0.5), (3, 1.0), (4, 2.5)])
def test_each_correlation_has_the_law_of_lewandowski_kurowicka_and_joe(dim: int, concentration: float) -> None:
    ts.manual_seed(2)
    factor = distributions.LKJCholesky(dim, ours_of(concentration)).sample((4000,)).numpy()
    matrix = factor @ factor.transpose(0, 2, 1)
    np.testing.assert_allclose(np.diagonal(matrix, 0, 1, 2), 1, 1e-12)
    shape = concentration + 0.5 * dim - 1
    for i in range(dim):
        for j in range(i):
            assert stats.kstest((matrix[:, i, j] + 1) / 2, stats.beta(shape, shape).cdf).pvalue > 0.002


def test_densities_of_correlations_add_up_to_one() -> None:
    law = distributions.LKJCholesky(2, ours_of(1.5))

    def density(r: float) -> float:
        factor = ours_of([[1.0, 0.0], [r, math.sqrt(1 - r * r)]])
        return math.exp(law.log_prob(factor).item())

    assert math.isclose(integrate.quad(density, -1, 1)[0], 1, rel_tol=1e-6)


def test_wishart_is_scipys() -> None:
    ours = distributions.Wishart(ours_of(5.0), covariance_matrix=ours_of(COVARIANCE[0]))
    law = stats.wishart(5.0, COVARIANCE[0])
    value = law.rvs(4, random_state=0)
    np.testing.assert_allclose(ours.log_prob(ours_of(value)).numpy(), law.logpdf(np.moveaxis(value, 0, -1)), 1e-9)
    np.testing.assert_allclose(ours.entropy().item(), law.entropy(), 1e-9)
    ts.manual_seed(1)
    logs = ts.linalg.slogdet(ours.sample((20000,)))[1].mean().item()
    assert abs(logs - ours.expected_log_det().item()) < 0.02


def test_gradients_reach_the_parameters_of_wishart() -> None:
    ts.manual_seed(5)
    factor = ours_of(np.linalg.cholesky(COVARIANCE[0])).requires_grad_()
    distributions.Wishart(ours_of(6.0), scale_tril=factor).rsample((20000,)).mean(0).sum().backward()
    # The mean is 6 L L^T, and the sum of its elements has the derivative 12 times the sums of L's columns.
    wanted = np.tril(np.broadcast_to(12 * factor.detach().numpy().sum(0), (3, 3)))
    np.testing.assert_allclose(np.tril(factor.grad.numpy()), wanted, atol=0.5)


def test_low_rank_normals_are_the_full_ones() -> None:
    _, parameters = CASES[-1]
    low, _ = pair("LowRankMultivariateNormal", parameters)
    covariance = FACTOR @ FACTOR.transpose(0, 2, 1) + np.diag(parameters["cov_diag"])
    np.testing.assert_allclose(low.covariance_matrix.numpy(), covariance, 1e-12)
    np.testing.assert_allclose(low.precision_matrix.numpy(), np.linalg.inv(covariance), 1e-9)
    np.testing.assert_allclose(low.scale_tril.numpy(), np.linalg.cholesky(covariance), 1e-9)


DIVERGENCES = [
    (("ContinuousBernoulli", (0.3,)), ("ContinuousBernoulli", (0.8,))), (("Beta", (2.0, 3.0)), ("ContinuousBernoulli", (0.8,))),
    (("ContinuousBernoulli", (0.3,)), ("Normal", (0.5, 2.0))), (("ContinuousBernoulli", (0.3,)), ("Exponential", (1.5,))),
    (("ContinuousBernoulli", (0.3,)), ("Uniform", (-0.5, 2.0))), (("ContinuousBernoulli", (0.3,)), ("Uniform", (0.5, 2.0))),
    (("ContinuousBernoulli", (0.3,)), ("Pareto", (0.5, 2.0))), (("Uniform", (0.2, 0.9)), ("ContinuousBernoulli", (0.8,))),
    (("Uniform", (-0.2, 0.9)), ("ContinuousBernoulli", (0.8,))), (("Beta", (2.0, 3.0)), ("Uniform", (0.0, 1.5))),
    (("Uniform", (0.2, 0.9)), ("Beta", (2.0, 3.0))), (("Uniform", (0.2, 1.5)), ("Beta", (2.0, 3.0))),
    (("Uniform", (0.2, 1.5)), ("Gamma", (2.0, 3.0))), (("Uniform", (-0.2, 1.5)), ("Gumbel", (2.0, 3.0))),
    (("Uniform", (1.2, 3.5)), ("Pareto", (1.0, 3.0))), (("Uniform", (0.2, 3.5)), ("Pareto", (1.0, 3.0))),
    (("Pareto", (1.0, 3.0)), ("Pareto", (0.5, 2.0))), (("Pareto", (1.0, 3.0)), ("Pareto", (1.5, 2.0))),
    (("Pareto", (1.0, 3.0)), ("Exponential", (0.5,))), (("Pareto", (1.0, 3.0)), ("Gamma", (1.5, 2.0))),
    (("Pareto", (1.0, 3.0)), ("Normal", (1.5, 2.0))), (("Pareto", (1.0, 3.0)), ("Uniform", (0.5, 2.0))),
    (("Normal", (0.0, 1.0)), ("ContinuousBernoulli", (0.5,))), (("Normal", (0.0, 1.0)), ("Pareto", (0.5, 1.0))),
    (("HalfCauchy", (0.5,)), ("HalfCauchy", (2.0,))),
]  # fmt: skip


@pytest.mark.parametrize("p, q", DIVERGENCES, ids=[f"{p[0]}-{q[0]}-{i}" for i, (p, q) in enumerate(DIVERGENCES)])
def test_divergences_are_pytorchs(p: tuple[str, Any], q: tuple[str, Any]) -> None:
    ours = [getattr(distributions, name)(*map(ours_of, given)) for name, given in (p, q)]
    found = distributions.kl_divergence(*ours).item()
    if (p[0], q[0]) in {("Uniform", "Beta"), ("Beta", "ContinuousBernoulli")} and math.isfinite(found):
        ts.manual_seed(6)
        drawn = ours[0].sample((200000,))
        assert abs((ours[0].log_prob(drawn) - ours[1].log_prob(drawn)).mean().item() - found) < 0.01
        return
    theirs = reference.kl_divergence(
        *(getattr(reference, name)(*(torch.tensor(v, dtype=torch.float64) for v in given)) for name, given in (p, q))
    )
    assert math.isclose(found, theirs.item(), rel_tol=1e-6)


def test_divergences_of_reciprocals_are_those_of_the_numbers() -> None:
    parameters = [ours_of(v) for v in (2.0, 3.0, 0.5, 1.5)]
    gamma, inverse = ([getattr(distributions, n)(*parameters[i : i + 2]) for i in (0, 2)] for n in ("Gamma", "InverseGamma"))
    assert distributions.kl_divergence(*inverse).item() == distributions.kl_divergence(*gamma).item()


def test_infinite_divergences_have_the_dtype_of_the_parameters() -> None:
    p, q = distributions.Normal(ours_of([0.0, 1.0]), 1.0), distributions.Exponential(ours_of(2.0))
    found = distributions.kl_divergence(p, q)
    assert found.dtype is ts.float64 and found.tolist() == [math.inf, math.inf]


def test_the_shape_of_the_parameter_is_told() -> None:
    for name in ("Bernoulli", "Geometric", "ContinuousBernoulli"):
        assert tuple(getattr(distributions, name)(ours_of([0.25, 0.5])).param_shape) == (2,)


def test_divergences_of_matrices_and_of_low_ranks() -> None:
    p, q = pair(*CASES[3]), pair("Wishart", {"df": np.array(6.0), "covariance_matrix": COVARIANCE[::-1].copy()})
    ts.manual_seed(6)
    drawn = p[0].sample((100000,))  # PyTorch's formula gives negative ones
    means = (p[0].log_prob(drawn) - q[0].log_prob(drawn)).mean(0).numpy()
    np.testing.assert_allclose(distributions.kl_divergence(p[0], q[0]).numpy(), means, 0.02)
    low, other = pair(*CASES[-1]), pair("LowRankMultivariateNormal", {**CASES[-1][1], "loc": np.zeros(4), "cov_factor": FACTOR[::-1].copy()})
    full = pair("MultivariateNormal", {"loc": np.zeros(4), "covariance_matrix": np.eye(4) * 2})
    for one, two in ((low, other), (low, full), (full, low)):
        same(distributions.kl_divergence(one[0], two[0]), reference.kl_divergence(one[1], two[1]))


def test_an_exponential_family_has_its_entropy_and_divergence_from_its_normalizer() -> None:
    class Rate(distributions.ExponentialFamily):
        arg_constraints = {"rate": constraints.positive}  # noqa: RUF012
        _mean_carrier_measure = 0

        def __init__(self, rate: ts.Tensor) -> None:
            self.rate = rate
            super().__init__(rate.shape)

        @property
        def _natural_params(self) -> tuple[ts.Tensor, ...]:
            return (-self.rate,)

        def _log_normalizer(self, *natural_params: ts.Tensor) -> ts.Tensor:
            return -ts.log(-natural_params[0])

    one, two = ours_of([0.5, 3.0]), ours_of([2.0, 1.0])
    same(Rate(one).entropy(), reference.Exponential(torch.tensor(one.numpy())).entropy())
    wanted = distributions.kl_divergence(distributions.Exponential(one), distributions.Exponential(two))
    np.testing.assert_allclose(distributions.kl_divergence(Rate(one), Rate(two)).numpy(), wanted.numpy(), 1e-12)
    leaf = ours_of([0.5, 3.0]).requires_grad_()
    Rate(leaf).entropy().sum().backward()
    np.testing.assert_allclose(leaf.grad.numpy(), -1 / one.numpy(), 1e-12)  # of 1 - log(rate)
    with pytest.raises(NotImplementedError, match="Rate and ContinuousBernoulli"):
        distributions.kl_divergence(Rate(one), distributions.ContinuousBernoulli(0.5))
    with pytest.raises(NotImplementedError, match="_natural_params"):
        distributions.ExponentialFamily().entropy()


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(ValueError, match="above 2"):
        distributions.Wishart(ours_of(2.0), covariance_matrix=ours_of(np.eye(3)))
    with pytest.raises(ValueError, match="got none"):
        distributions.Wishart(ours_of(5.0))
    with pytest.raises(ValueError, match="square"):
        distributions.Wishart(ours_of(5.0), scale_tril=ours_of(np.ones((2, 3))))
    with pytest.warns(UserWarning, match="singular"):
        distributions.Wishart(ours_of(2.5), covariance_matrix=ours_of(np.eye(3)))
    with pytest.raises(ValueError, match="at least 2"):
        distributions.LKJCholesky(1)
    with pytest.raises(ValueError, match="shapes"):
        distributions.LowRankMultivariateNormal(ours_of(np.zeros(3)), ours_of(np.ones((2, 1))), ours_of(np.ones(3)))
    with pytest.raises(ValueError):
        distributions.VonMises(0.0, -1.0)
    with pytest.raises(ValueError):
        distributions.ContinuousBernoulli(probs=1.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert distributions.LKJCholesky(3).sample().shape == (3, 3)


@pytest.mark.parametrize("events", [0, 1])
def test_a_mixture_that_all_of_the_batch_shares_chooses_for_each_alone(events: int) -> None:
    ts.manual_seed(0)
    loc = ts.asarray([[0.0, 100.0], [10.0, 110.0], [20.0, 120.0]])
    component: Any = distributions.Normal(loc if not events else loc.unsqueeze(-1).expand(3, 2, 4), 0.01)
    if events:
        component = distributions.Independent(component, 1)
    mixture = distributions.MixtureSameFamily(distributions.Categorical(ts.asarray([0.3, 0.7])), component)
    drawn = mixture.sample((3000,))
    assert drawn.shape == (3000, 3, *[4] * events)
    chosen = (drawn if not events else drawn[..., 0]).numpy() > 50
    assert np.allclose(chosen.mean(0), 0.7, atol=0.05)
    assert np.abs(np.corrcoef(chosen.T) - np.eye(3)).max() < 0.1
    assert mixture.sample().shape == (3, *[4] * events)
