# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Transforms and what distributions make of them, beside PyTorch's; constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.distributions as reference

import tessera as ts
from tessera import distributions
from tessera.distributions import constraints

RNG = np.random.default_rng(7)
PLAIN = RNG.standard_normal((4, 3))
Make = Any  # a function of a namespace of transforms, and of a function that makes tensors

CASES: dict[str, tuple[Make, Any]] = {
    "exp": (lambda t, a: t.ExpTransform(), PLAIN),
    "power": (lambda t, a: t.PowerTransform(a(np.array(1.7))), np.exp(PLAIN)),
    "sigmoid": (lambda t, a: t.SigmoidTransform(), PLAIN),
    "tanh": (lambda t, a: t.TanhTransform(), PLAIN),
    "softplus": (lambda t, a: t.SoftplusTransform(), PLAIN),
    "abs": (lambda t, a: t.AbsTransform(), PLAIN),
    "affine": (lambda t, a: t.AffineTransform(1.5, -2.0), PLAIN),
    "affine of tensors": (lambda t, a: t.AffineTransform(a(PLAIN[0]), a(np.exp(PLAIN[1])), event_dim=1), PLAIN),
    "softmax": (lambda t, a: t.SoftmaxTransform(), PLAIN),
    "stick breaking": (lambda t, a: t.StickBreakingTransform(), PLAIN),
    "lower cholesky": (lambda t, a: t.LowerCholeskyTransform(), RNG.standard_normal((2, 3, 3))),
    "reshape": (lambda t, a: t.ReshapeTransform((3,), (1, 3)), PLAIN),
    "independent": (lambda t, a: t.IndependentTransform(t.ExpTransform(), 1), PLAIN),
    "composed": (lambda t, a: t.ComposeTransform([t.AffineTransform(0.5, 2.0), t.TanhTransform(), t.StickBreakingTransform()]), PLAIN),
    "inverse": (lambda t, a: t.ExpTransform().inv, np.exp(PLAIN)),
    "stacked": (lambda t, a: t.StackTransform([t.ExpTransform(), t.TanhTransform(), t.AffineTransform(1.0, 3.0)], 1), PLAIN),
    "cat": (lambda t, a: t.CatTransform([t.ExpTransform(), t.TanhTransform()], 1, [1, 2]), PLAIN),
    "cat of events": (lambda t, a: t.CatTransform([t.AffineTransform(0.5, 2.0, event_dim=1), t.ExpTransform()], -1, [2, 1]), PLAIN),
    "corr cholesky": (lambda t, a: t.CorrCholeskyTransform(), PLAIN),
    "corr cholesky of two": (lambda t, a: t.CorrCholeskyTransform(), PLAIN[:, :1]),
    "distribution function": (lambda t, a: t.CumulativeDistributionTransform(normal(t)), PLAIN),
}  # fmt: skip


def normal(namespace: Any) -> Any:
    kinds = distributions if namespace is distributions.transforms else reference
    return kinds.Normal(0.5, 2.0)


def ours_of(array: Any) -> ts.Tensor:
    return ts.from_numpy(np.array(array))


def same(ours: Any, theirs: Any, rtol: float = 1e-9) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol, 1e-12)


@pytest.mark.parametrize("name", CASES)
def test_transforms_are_pytorchs(name: str) -> None:
    make, array = CASES[name]
    one, two = make(distributions.transforms, ours_of), make(reference.transforms, torch.tensor)
    x, peer = ours_of(array), torch.tensor(array)
    y, wanted = one(x), two(peer)
    exact = 1e-5 if name == "distribution function" else 1e-9  # PyTorch's parameters are float32 there
    same(y, wanted, exact)
    assert one.bijective == two.bijective
    assert (one.domain.event_dim, one.codomain.event_dim) == (two.domain.event_dim, two.codomain.event_dim)
    assert one.forward_shape(x.shape) == tuple(wanted.shape) and one.inverse_shape(y.shape) == tuple(two.inverse_shape(wanted.shape))
    if two.bijective:
        same(one.log_abs_det_jacobian(x, y), two.log_abs_det_jacobian(peer, wanted), exact)
        np.testing.assert_allclose(one.inv(y).numpy(), array, exact)
        same(one.inv.log_abs_det_jacobian(y, x), two.inv.log_abs_det_jacobian(wanted, peer), exact)
        assert one.inv.inv == one
    elif name != "abs":
        np.testing.assert_allclose(one(one.inv(y)).numpy(), y.numpy(), 1e-9)
    assert one == make(distributions.transforms, ours_of) or name == "distribution function"
    assert one != distributions.SigmoidTransform() or name == "sigmoid"


def test_signs_tell_whether_a_transform_falls() -> None:
    t = distributions.transforms
    assert t.AffineTransform(0.0, -2.0).sign == -1 and t.ExpTransform().inv.sign == 1
    assert t.ComposeTransform([t.AffineTransform(0.0, -2.0), t.AffineTransform(0.0, -2.0)]).sign == 1
    assert t.PowerTransform(-1.0).sign == -1
    with pytest.raises(NotImplementedError):
        t.SoftmaxTransform().sign  # noqa: B018


def test_caches_keep_the_exact_input() -> None:
    t = distributions.TanhTransform(cache_size=1)
    x = ts.tensor([20.0])
    y = t(x)
    assert t.inv(y) is x and t(x) is y
    assert distributions.TanhTransform()._inv_call(distributions.TanhTransform()(x)).item() == np.inf
    assert t.with_cache(0)._cache_size == 0 and t.with_cache(1) is t
    with pytest.raises(ValueError):
        distributions.ExpTransform(cache_size=2)


DISTRIBUTIONS: dict[str, Make] = {
    "log-normal by hand": lambda d, t, a: d.TransformedDistribution(d.Normal(a(PLAIN[0]), 1.0), t.ExpTransform()),
    "falling": lambda d, t, a: d.TransformedDistribution(d.Normal(a(PLAIN[0]), 1.0), [t.AffineTransform(1.0, -2.0)]),
    "logistic": lambda d, t, a: d.TransformedDistribution(d.Uniform(a(np.array(0.0)), 1.0), [t.SigmoidTransform().inv, t.AffineTransform(1.0, 2.0)]),
    "on the simplex": lambda d, t, a: d.TransformedDistribution(d.Normal(a(PLAIN), 1.0), [t.StickBreakingTransform()]),
    "of vectors": lambda d, t, a: d.TransformedDistribution(d.MultivariateNormal(a(PLAIN[0]), a(np.eye(3))), [t.ExpTransform(), t.AffineTransform(0.5, 2.0)]),
    "reshaped": lambda d, t, a: d.TransformedDistribution(d.Independent(d.Normal(a(PLAIN), 1.0), 1), [t.ReshapeTransform((3,), (3, 1))]),
    "wider than its base": lambda d, t, a: d.TransformedDistribution(d.Normal(a(np.array(0.0)), 1.0), [t.AffineTransform(a(PLAIN[0]), 2.0)]),
    "nothing": lambda d, t, a: d.TransformedDistribution(d.Normal(a(PLAIN[0]), 1.0), []),
}  # fmt: skip


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_transformed_distributions_are_pytorchs(name: str) -> None:
    ours = DISTRIBUTIONS[name](distributions, distributions.transforms, ours_of)
    theirs = DISTRIBUTIONS[name](reference, reference.transforms, torch.tensor)
    assert (ours.batch_shape, ours.event_shape) == (tuple(theirs.batch_shape), tuple(theirs.event_shape))
    torch.manual_seed(0)
    value = theirs.sample((5,))
    same(ours.log_prob(ours_of(value.numpy())), theirs.log_prob(value), 1e-8)
    ts.manual_seed(0)
    drawn = ours.rsample((2,))
    assert drawn.shape == (2, *ours.batch_shape, *ours.event_shape) and bool(ours.support.check(drawn).all())
    larger = ours.expand((7, *ours.batch_shape))
    assert larger.sample().shape == (7, *ours.batch_shape, *ours.event_shape)
    same(larger.log_prob(ours_of(value.numpy()[0])), theirs.expand((7, *theirs.batch_shape)).log_prob(value[0]), 1e-8)
    if not ours.event_shape:
        share = theirs.cdf(value)
        same(ours.cdf(ours_of(value.numpy())), share, 1e-8)
        same(ours.icdf(ours_of(share.numpy())), value, 1e-6)


def test_gradients_pass_through_transforms() -> None:
    loc = ts.tensor([0.5, -0.5]).requires_grad_()
    made = distributions.TransformedDistribution(distributions.Normal(loc, 1.0), [distributions.ExpTransform()])
    made.rsample((3,)).sum().backward()
    assert loc.grad is not None and bool((loc.grad > 0).all())


def test_transforms_that_do_not_fit_are_refused() -> None:
    for call in (
        lambda: distributions.ReshapeTransform((3,), (2,)), lambda: distributions.ReshapeTransform((3,), (1, 3))(ts.ones(4)),
        lambda: distributions.TransformedDistribution(distributions.Normal(0.0, 1.0), distributions.StickBreakingTransform()),
        lambda: distributions.StackTransform([distributions.ExpTransform()])(ts.ones(2)),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError):
        distributions.TransformedDistribution(distributions.Normal(0.0, 1.0), [abs])  # type: ignore[list-item]


CHECKS: dict[str, tuple[Any, Any, Any]] = {
    "boolean": (constraints.boolean, [0.0, 1.0, 0.5], [1, 1, 0]),
    "one_hot": (constraints.one_hot, [[0.0, 1.0], [1.0, 1.0], [0.5, 0.5]], [1, 0, 0]),
    "nonnegative_integer": (constraints.nonnegative_integer, [0.0, 2.0, -1.0, 0.5], [1, 1, 0, 0]),
    "positive_integer": (constraints.positive_integer, [0.0, 2.0], [0, 1]),
    "real": (constraints.real, [0.0, np.inf, np.nan], [1, 1, 0]),
    "real_vector": (constraints.real_vector, [[0.0, 1.0], [np.nan, 1.0]], [1, 0]),
    "positive": (constraints.positive, [0.0, 1e-30, -1.0], [0, 1, 0]),
    "nonnegative": (constraints.nonnegative, [0.0, -0.0, -1.0], [1, 1, 0]),
    "less_than": (constraints.less_than(2.0), [1.0, 2.0], [1, 0]),
    "interval": (constraints.interval(0.0, 1.0), [0.0, 1.0, 1.5], [1, 1, 0]),
    "half_open_interval": (constraints.half_open_interval(0.0, 1.0), [0.0, 1.0], [1, 0]),
    "integer_interval": (constraints.integer_interval(0, 2), [0.0, 0.5, 3.0], [1, 0, 0]),
    "simplex": (constraints.simplex, [[0.25, 0.75], [0.5, 0.75], [-0.5, 1.5]], [1, 0, 0]),
    "multinomial": (constraints.multinomial(3), [[1.0, 2.0], [2.0, 2.0], [0.5, 1.0], [-1.0, 1.0]], [1, 0, 1, 0]),
    "lower_cholesky": (constraints.lower_cholesky, [[[1.0, 0.0], [5.0, 2.0]], [[1.0, 1.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, -1.0]]], [1, 0, 0]),
    "symmetric": (constraints.symmetric, [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.0], [2.0, 1.0]]], [1, 0]),
    "positive_definite": (constraints.positive_definite, [[[2.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]], [1, 0]),
    "positive_semidefinite": (constraints.positive_semidefinite, [[[1.0, 0.0], [0.0, 0.0]], [[1.0, 2.0], [2.0, 1.0]]], [1, 0]),
    "lower_triangular": (constraints.lower_triangular, [[[1.0, 0.0], [5.0, -2.0]], [[1.0, 1.0], [0.0, 1.0]]], [1, 0]),
    "corr_cholesky": (constraints.corr_cholesky, [[[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [0.6, 0.7]], [[1.0, 0.0], [0.6, -0.8]]], [1, 0, 0]),
    "cat": (constraints.cat([constraints.positive, constraints.unit_interval], 0, [1, 2]), [-1.0, 0.5, 2.0], [0, 1, 0]),
    "stack": (constraints.stack([constraints.positive, constraints.unit_interval], 1), [[1.0, 2.0], [-0.5, 0.5]], [[1, 0], [0, 1]]),
    "square": (constraints.square, [[[1.0, 2.0]]], [0]),
}  # fmt: skip


@pytest.mark.parametrize("name", CHECKS)
def test_constraints_tell_each_value(name: str) -> None:
    constraint, values, wanted = CHECKS[name]
    np.testing.assert_array_equal(constraint.check(ts.tensor(values)).numpy(), np.array(wanted, bool))


@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
def test_registries_lead_to_the_values_of_a_constraint(registry: str) -> None:
    ours, theirs = getattr(distributions, registry), getattr(reference, registry)
    for name in ("real", "positive", "nonnegative", "unit_interval", "simplex", "lower_cholesky", "real_vector"):
        x = RNG.standard_normal((4, 3, 3))
        one, two = (getattr(kinds, name) for kinds in (constraints, reference.constraints))
        if name == "nonnegative":
            two = reference.constraints.greater_than_eq(0.0)
        y = ours(one)(ours_of(x))
        assert bool(one.check(y).all())
        if name != "lower_cholesky":  # PyTorch 1.13 has it in transform_to alone
            same(y, theirs(two)(torch.tensor(x)))
    for one, two in (
        (constraints.less_than(2.0), reference.constraints.less_than(2.0)), (constraints.interval(-1.0, 3.0), reference.constraints.interval(-1.0, 3.0)),
        (constraints.greater_than(0.5), reference.constraints.greater_than(0.5)), (constraints.half_open_interval(0.0, 4.0), reference.constraints.half_open_interval(0.0, 4.0)),
    ):  # fmt: skip
        same(ours(one)(ours_of(PLAIN)), theirs(two)(torch.tensor(PLAIN)))
    with pytest.raises(NotImplementedError):
        ours(constraints.boolean)
    with pytest.raises(TypeError):
        ours.register(5)


def test_positive_definite_matrices_are_products_of_their_factors() -> None:
    t, x = distributions.PositiveDefiniteTransform(), RNG.standard_normal((2, 3, 3))
    y = t(ours_of(x))
    factor = distributions.LowerCholeskyTransform()(ours_of(x)).numpy()
    np.testing.assert_allclose(y.numpy(), factor @ factor.transpose(0, 2, 1), 1e-12)
    np.testing.assert_allclose(t.inv(y).numpy(), np.tril(x), 1e-9)
    assert bool(constraints.positive_definite.check(y).all())


@pytest.mark.parametrize("registry", [distributions.biject_to, distributions.transform_to])
def test_registries_know_matrices_and_joined_constraints(registry: Any) -> None:
    matrix = ours_of(RNG.standard_normal((2, 3, 3)))
    assert bool(constraints.positive_definite.check(registry(constraints.positive_definite)(matrix)).all())
    factor = registry(constraints.corr_cholesky)(ours_of(PLAIN))
    assert factor.shape == (4, 3, 3) and bool(constraints.corr_cholesky.check(factor).all())
    joined = constraints.cat([constraints.positive, constraints.unit_interval], 1, [1, 2])
    assert bool(joined.check(registry(joined)(ours_of(PLAIN))).all())
    stacked = constraints.stack([constraints.positive, constraints.less_than(0.5), constraints.unit_interval], 1)
    assert bool(stacked.check(registry(stacked)(ours_of(PLAIN))).all())


def test_a_property_can_be_a_constraint_that_depends_on_the_instance() -> None:
    class Bounded(distributions.Uniform):
        @constraints.dependent_property(is_discrete=True, event_dim=1)
        def support(self) -> constraints.Constraint:
            return constraints.interval(self.low, self.high)

    assert constraints.is_dependent(Bounded.support) and Bounded.support.event_dim == 1 and Bounded.support.is_discrete
    assert Bounded(0.0, 2.0).support.check(ts.tensor([1.0, 3.0])).tolist() == [True, False]
    assert constraints.dependent(event_dim=2).event_dim == 2


def test_dependent_constraints_check_nothing() -> None:
    assert constraints.is_dependent(constraints.dependent) and not constraints.is_dependent(constraints.real)
    with pytest.raises(NotImplementedError):
        constraints.dependent.check(ts.ones(1))
