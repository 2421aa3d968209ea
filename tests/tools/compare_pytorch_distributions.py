#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the distributions, divergences, constraints and transforms of tessera.torch with PyTorch.

By hand, in the environment of compare_pytorch.py. The examples are below: PyTorch installs none. Random values are compared
in shape and dtype alone; everything else at the values that PyTorch draws, with gradients.

Usage: compare_pytorch_distributions.py [--match REGEX] [--parts distributions,kl,constraints,transforms] [--show N]
"""

from __future__ import annotations

import argparse
import copy
import itertools
import pickle
import re
import warnings

import torch
from compare_pytorch import to_ours
from compare_pytorch_modules import Faults, Pair, gradients
from torch.distributions import kl as torch_kl

import tessera.torch as ours


def examples(m: object, t: object) -> dict[str, list]:
    """Makers of distributions by name, for the module m; t(values) makes a tensor that needs a gradient."""
    d = m.distributions
    eye = [[1.0, 0.0], [0.0, 1.0]]
    cov = [[2.0, 0.3], [0.3, 1.0]]
    low = [[1.2, 0.0], [0.4, 0.9]]
    return {
        "Bernoulli": [
            lambda: d.Bernoulli(t([0.7, 0.2, 0.4])),
            lambda: d.Bernoulli(logits=t([[-1.0], [2.0]])),
            lambda: d.Bernoulli(0.3),
            lambda: d.Bernoulli(t([0.0, 1.0])),
        ],
        "Beta": [
            lambda: d.Beta(t([0.5, 2.0]), t([1.5, 3.0])),
            lambda: d.Beta(t([[1.0], [4.0]]), t([2.0, 0.7])),
            lambda: d.Beta(2.0, 3.0),
        ],
        "Binomial": [
            lambda: d.Binomial(10, t([0.1, 0.5, 0.9])),
            lambda: d.Binomial(t([3.0, 5.0]).detach(), logits=t([0.3, -1.0])),
            lambda: d.Binomial(5, t([0.0, 1.0])),
        ],
        "Categorical": [
            lambda: d.Categorical(t([[0.1, 0.2, 0.3], [0.5, 0.3, 0.2]])),
            lambda: d.Categorical(logits=t([0.1, -2.0, 0.4, 1.0])),
            lambda: d.Categorical(t([0.0, 1.0, 3.0])),
        ],
        "Cauchy": [lambda: d.Cauchy(t([0.0, 1.0]), t([1.0, 2.5])), lambda: d.Cauchy(0.0, 1.0)],
        "Chi2": [lambda: d.Chi2(t([0.5, 3.0, 8.0])), lambda: d.Chi2(2.0)],
        "ContinuousBernoulli": [
            lambda: d.ContinuousBernoulli(t([0.7, 0.2, 0.4, 0.5, 0.499])),
            lambda: d.ContinuousBernoulli(logits=t([[-1.0], [2.0]])),
        ],
        "Dirichlet": [lambda: d.Dirichlet(t([0.5, 2.0, 3.0])), lambda: d.Dirichlet(t([[1.0, 2.0], [4.0, 0.3]]))],
        "Exponential": [lambda: d.Exponential(t([0.7, 3.0])), lambda: d.Exponential(1.0)],
        "FisherSnedecor": [lambda: d.FisherSnedecor(t([3.0, 8.0]), t([5.0, 1.5])), lambda: d.FisherSnedecor(2.0, 5.0)],
        "Gamma": [lambda: d.Gamma(t([0.5, 2.0]), t([1.5, 3.0])), lambda: d.Gamma(2.0, 1.0)],
        "GeneralizedPareto": [
            lambda: d.GeneralizedPareto(t([0.0, 1.0]), t([1.0, 2.0]), t([0.3, -0.4])),
            lambda: d.GeneralizedPareto(t([0.0]), t([1.0]), t([0.0])),
        ],
        "Geometric": [
            lambda: d.Geometric(t([0.7, 0.2])),
            lambda: d.Geometric(logits=t([-1.0, 2.0])),
            lambda: d.Geometric(0.3),
        ],
        "Gumbel": [lambda: d.Gumbel(t([0.0, 1.0]), t([1.0, 2.5])), lambda: d.Gumbel(0.5, 1.0)],
        "HalfCauchy": [lambda: d.HalfCauchy(t([1.0, 2.5])), lambda: d.HalfCauchy(1.0)],
        "HalfNormal": [lambda: d.HalfNormal(t([1.0, 2.5])), lambda: d.HalfNormal(1.0)],
        "Independent": [
            lambda: d.Independent(d.Normal(t([[0.0, 1.0]]), t([[1.0, 2.0]])), 1),
            lambda: d.Independent(d.Normal(t([[0.0, 1.0]]), t([[1.0, 2.0]])), 2),
            lambda: d.Independent(d.Bernoulli(t([0.3, 0.6])), 1),
            lambda: d.Independent(d.Normal(t([0.0]), t([1.0])), 0),
        ],
        "InverseGamma": [lambda: d.InverseGamma(t([0.5, 2.5]), t([1.5, 3.0])), lambda: d.InverseGamma(2.0, 1.0)],
        "Kumaraswamy": [lambda: d.Kumaraswamy(t([0.5, 2.0]), t([1.5, 3.0])), lambda: d.Kumaraswamy(1.0, 1.0)],
        "LKJCholesky": [lambda: d.LKJCholesky(3, t([0.5, 2.0])), lambda: d.LKJCholesky(2, 1.0)],
        "Laplace": [lambda: d.Laplace(t([0.0, 1.0]), t([1.0, 2.5])), lambda: d.Laplace(0.0, 1.0)],
        "LogNormal": [lambda: d.LogNormal(t([0.0, 1.0]), t([1.0, 0.5])), lambda: d.LogNormal(0.0, 1.0)],
        "LogisticNormal": [
            lambda: d.LogisticNormal(t([0.0, 1.0]), t([1.0, 0.5])),
            lambda: d.LogisticNormal(t([[0.1, -1.0, 0.3]]), t([[1.0, 2.0, 0.4]])),
        ],
        "LogitRelaxedBernoulli": [lambda: d.relaxed_bernoulli.LogitRelaxedBernoulli(t([0.5]).detach(), t([0.7, 0.2]))],
        "LowRankMultivariateNormal": [
            lambda: d.LowRankMultivariateNormal(t([0.0, 1.0, 2.0]), t([[1.0], [0.5], [2.0]]), t([1.0, 0.4, 2.0]))
        ],
        "MixtureSameFamily": [
            lambda: d.MixtureSameFamily(d.Categorical(t([0.3, 0.7])), d.Normal(t([0.0, 1.0]), t([1.0, 0.5]))),
            lambda: d.MixtureSameFamily(
                d.Categorical(t([0.3, 0.7])),
                d.Independent(d.Normal(t([[0.0, 1.0], [1.0, 3.0]]), t([[1.0, 0.5], [1.0, 1.0]])), 1),
            ),
        ],
        "Multinomial": [
            lambda: d.Multinomial(10, t([0.1, 0.2, 0.3])),
            lambda: d.Multinomial(5, logits=t([[0.1, -2.0], [0.4, 1.0]])),
        ],
        "MultivariateNormal": [
            lambda: d.MultivariateNormal(t([0.0, 1.0]), t(cov)),
            lambda: d.MultivariateNormal(t([0.0, 1.0]), precision_matrix=t(cov)),
            lambda: d.MultivariateNormal(t([[0.0, 1.0], [2.0, 2.0]]), scale_tril=t(low)),
        ],
        "NegativeBinomial": [
            lambda: d.NegativeBinomial(t([3.0, 5.5]).detach(), t([0.1, 0.6])),
            lambda: d.NegativeBinomial(4, logits=t([0.3, -1.0])),
            lambda: d.NegativeBinomial(2, 0.4),
        ],
        "Normal": [
            lambda: d.Normal(t([0.0, 1.0]), t([1.0, 2.5])),
            lambda: d.Normal(0.0, 1.0),
            lambda: d.Normal(t([[0.0], [3.0]]), t([1.0, 2.0, 3.0])),
        ],
        "OneHotCategorical": [
            lambda: d.OneHotCategorical(t([[0.1, 0.2, 0.3], [0.5, 0.3, 0.2]])),
            lambda: d.OneHotCategorical(logits=t([0.1, -2.0, 0.4])),
        ],
        "OneHotCategoricalStraightThrough": [lambda: d.OneHotCategoricalStraightThrough(t([0.1, 0.2, 0.3]))],
        "Pareto": [lambda: d.Pareto(t([1.0, 2.0]), t([3.0, 0.5])), lambda: d.Pareto(1.0, 2.5)],
        "Poisson": [lambda: d.Poisson(t([0.3, 4.0, 20.0])), lambda: d.Poisson(2.0), lambda: d.Poisson(t([0.0, 1.0]))],
        "RelaxedBernoulli": [
            lambda: d.RelaxedBernoulli(t([0.5]).detach(), t([0.7, 0.2])),
            lambda: d.RelaxedBernoulli(m.tensor(2.0), logits=t([0.3, -1.0])),
        ],
        "RelaxedOneHotCategorical": [
            lambda: d.RelaxedOneHotCategorical(t([0.5]).detach(), t([0.1, 0.2, 0.7])),
            lambda: d.RelaxedOneHotCategorical(m.tensor(1.3), logits=t([[0.3, -1.0], [0.0, 2.0]])),
        ],
        "StudentT": [
            lambda: d.StudentT(t([1.5, 3.0, 0.7]), t([0.0, 1.0, 2.0]), t([1.0, 2.0, 0.3])),
            lambda: d.StudentT(4.0),
        ],
        "TransformedDistribution": [
            lambda: d.TransformedDistribution(
                d.Normal(t([0.0, 1.0]), t([1.0, 0.5])), [d.ExpTransform(), d.AffineTransform(t([1.0]), t([-2.0]))]
            ),
            lambda: d.TransformedDistribution(
                d.Uniform(t([0.0]), t([1.0])), [d.SigmoidTransform().inv, d.AffineTransform(0.5, 2.0)]
            ),
            lambda: d.TransformedDistribution(d.Normal(t([0.0, 1.0]), t([1.0, 0.5])), d.StickBreakingTransform()),
            lambda: d.TransformedDistribution(
                d.Independent(d.Normal(t([[0.0, 1.0]]), t([[1.0, 0.5]])), 1), [d.TanhTransform()]
            ),
        ],
        "Uniform": [lambda: d.Uniform(t([0.0, 1.0]), t([1.0, 3.5])), lambda: d.Uniform(-1.0, 1.0)],
        "VonMises": [lambda: d.VonMises(t([0.0, 1.0]), t([0.5, 5.0])), lambda: d.VonMises(0.0, 1.0)],
        "Weibull": [lambda: d.Weibull(t([1.0, 2.0]), t([0.7, 3.0])), lambda: d.Weibull(1.0, 1.0)],
        "Wishart": [
            lambda: d.Wishart(m.tensor(3.5), covariance_matrix=t(cov)),
            lambda: d.Wishart(t([3.0, 4.0]), precision_matrix=t(cov)),
            lambda: d.Wishart(m.tensor(3.0), scale_tril=t(low)),
            lambda: d.Wishart(m.tensor(2.5), t(eye)),
        ],
    }


def maker(m: object) -> tuple[object, list]:
    """t() of examples(), and the list of the tensors that it has made."""
    made: list[object] = []

    def t(values: object) -> object:
        made.append(m.tensor(values, dtype=m.float64, requires_grad=True))
        return made[-1]

    return t, made


PROPERTIES = (
    "mean",
    "mode",
    "variance",
    "stddev",
    "support",
    "batch_shape",
    "event_shape",
    "has_rsample",
    "has_enumerate_support",
    "param_shape",
)


def plain(value: object) -> object:
    """Shapes as tuples, constraints by what they say of themselves, other objects by their kind."""
    if hasattr(value, "is_discrete"):
        return bool(value.is_discrete), int(value.event_dim)
    if isinstance(value, (torch.Tensor, ours.Tensor, bool)):
        return value
    if isinstance(value, (tuple, list)):
        return tuple(value)
    return re.sub(r"\W.*", "", str(value))


def compare(pair: Pair, what: str, theirs: object, mine: object, tensors: tuple[list, list] | None = None) -> object:
    """Compares a result, with its gradients by the parameters if these are given."""
    found = pair.both(what, theirs, mine)
    if found is None:
        return None
    expected, result = map(plain, found)
    if isinstance(expected, torch.Tensor):
        pair.values(what, result, expected)
        if not isinstance(result, ours.Tensor):
            return found
        if tensors is not None and expected.requires_grad:
            grads = pair.both(
                f"gradient of {what}",
                lambda: gradients(torch, expected, tensors[0], True),
                lambda: gradients(ours, result, tensors[1], True),
            )
            for n, (one, other) in enumerate(zip(*grads)) if grads else ():
                if one is None or other is None:
                    pair.same(
                        f"gradient {n} of {what}", all(g is None or not bool(g.any()) for g in (one, other)), True
                    )
                else:
                    pair.values(f"gradient {n} of {what}", other, one)
        elif tensors is not None:
            pair.same(f"needs a gradient: {what}", result.requires_grad, False)
    elif isinstance(expected, (tuple, list)) and expected and isinstance(expected[0], torch.Tensor):
        pair.values(what, result, expected)
    else:
        pair.same(what, result, expected)
    return found


def odd_values(theirs: object, drawn: torch.Tensor) -> list[torch.Tensor]:
    """Values of which some are outside the support."""
    found = [drawn, drawn[0], torch.zeros_like(drawn), torch.ones_like(drawn), drawn * 3 - 1.3]
    if drawn.dtype == torch.float64:
        found.append(torch.full_like(drawn, float("nan")))
    return found


def compare_distribution(sweep: Faults, name: str, number: int, makers: list) -> None:
    pair = Pair(sweep, name, f"example {number}")
    (t1, made1), (t2, made2) = maker(torch), maker(ours)
    both = pair.both("constructor", makers[0](torch, t1)[name][number], makers[0](ours, t2)[name][number])
    if both is None:
        return
    theirs, mine = both
    tensors = (made1, made2)
    for what in PROPERTIES:
        if hasattr(type(theirs), what) or hasattr(theirs, what):
            compare(pair, what, lambda what=what: getattr(theirs, what), lambda what=what: getattr(mine, what), tensors)
    for what in theirs.arg_constraints:
        compare(pair, what, lambda what=what: getattr(theirs, what), lambda what=what: getattr(mine, what), tensors)
        pair.same(f"constraint of {what}", plain(mine.arg_constraints.get(what)), plain(theirs.arg_constraints[what]))
    compare(pair, "entropy", theirs.entropy, mine.entropy, tensors)
    compare(pair, "perplexity", theirs.perplexity, mine.perplexity, tensors)
    if theirs.has_enumerate_support:
        for expand in (True, False):
            compare(
                pair,
                "enumerate_support",
                lambda e=expand: theirs.enumerate_support(e),
                lambda e=expand: mine.enumerate_support(e),
                tensors,
            )
    torch.manual_seed(3)
    drawn = theirs.sample((4,))
    for shape in ((), (4,), (2, 3)):
        found = pair.both("sample", lambda s=shape: theirs.sample(s), lambda s=shape: mine.sample(s))
        if found is not None:
            pair.values("sample", found[1], found[0], values=False)
            pair.same("gradient of a sample", found[1].requires_grad, found[0].requires_grad)
            inside = pair.both("support", lambda f=found: True, lambda f=found: bool(mine.support.check(f[1]).all()))
            pair.same("sample in the support", inside and inside[1], True)
    found = pair.both("rsample", lambda: theirs.rsample((4,)), lambda: mine.rsample((4,)))
    if found is not None:
        pair.values("rsample", found[1], found[0], values=False)
        pair.same("gradient of an rsample", found[1].requires_grad, found[0].requires_grad)
    compare_at_values(pair, theirs, mine, drawn, tensors)
    wide = (2, *theirs.batch_shape)
    larger = pair.both("expand", lambda: theirs.expand(wide), lambda: mine.expand(wide))
    if larger is not None:
        for what in ("mean", "batch_shape", "event_shape"):
            compare(
                pair,
                f"expanded {what}",
                lambda what=what: getattr(larger[0], what),
                lambda what=what: getattr(larger[1], what),
            )
        compare(
            pair,
            "expanded log_prob",
            lambda: larger[0].log_prob(drawn[:2]),
            lambda: larger[1].log_prob(to_ours(drawn[:2])),
        )
    compare(
        pair,
        "pickle",
        lambda: pickle.loads(pickle.dumps(theirs)).log_prob(drawn),
        lambda: pickle.loads(pickle.dumps(mine)).log_prob(to_ours(drawn)),
    )
    compare(pair, "copy", lambda: theirs.mean, lambda: copy.copy(mine).mean)


def compare_at_values(
    pair: Pair, theirs: object, mine: object, drawn: torch.Tensor, tensors: tuple[list, list]
) -> None:
    for n, values in enumerate(odd_values(theirs, drawn)):
        for checks in (True, False):
            theirs._validate_args = mine._validate_args = checks
            one = values.clone().requires_grad_(values.dtype.is_floating_point)
            other = to_ours(one)
            withs = (
                ([*tensors[0], one], [*tensors[1], other])
                if one.requires_grad and n < 2
                else tensors
                if n < 2
                else None
            )
            for what in ("log_prob", "cdf"):
                label = f"{what} of value {n}{'' if checks else ' unchecked'}"
                if n < 2 or not checks or what == "log_prob":
                    compare(
                        pair,
                        label,
                        lambda w=what, v=one: getattr(theirs, w)(v),
                        lambda w=what, v=other: getattr(mine, w)(v),
                        withs,
                    )
        theirs._validate_args = mine._validate_args = True
        compare(
            pair,
            f"support of value {n}",
            lambda v=values: theirs.support.check(v),
            lambda v=values: mine.support.check(to_ours(v)),
        )
    shares = torch.tensor([0.01, 0.3, 0.5, 0.77, 0.999, 0.0, 1.0], dtype=torch.float64).reshape(
        -1, *[1] * len(theirs.batch_shape)
    )
    compare(pair, "icdf", lambda: theirs.icdf(shares), lambda: mine.icdf(to_ours(shares)), tensors)


def distributions(sweep: Faults, match: str) -> None:
    table = examples(torch, maker(torch)[0])
    for name, makers in table.items():
        for number in range(len(makers)) if re.search(match, name) else ():
            compare_distribution(sweep, name, number, [examples])
    print(
        "distributions without an example:",
        sorted(
            {
                n
                for n in torch.distributions.__all__
                if isinstance(getattr(torch.distributions, n), type)
                and issubclass(getattr(torch.distributions, n), torch.distributions.Distribution)
            }
            - set(table)
        ),
    )


def kl(sweep: Faults, match: str) -> None:
    names = {type(makers[0]()).__name__: name for name, makers in examples(torch, maker(torch)[0]).items()}
    for one, other in torch_kl._KL_REGISTRY:
        if one.__name__ not in names or other.__name__ not in names:
            print("no examples:", one.__name__, other.__name__)
            continue
        if not re.search(match, one.__name__):
            continue
        counts = [len(examples(torch, maker(torch)[0])[names[kind.__name__]]) for kind in (one, other)]
        for i, j in itertools.product(*map(range, counts)):
            pair = Pair(sweep, f"kl {one.__name__} {other.__name__}", f"examples {i} and {j}")
            results, tensors = [], []
            for m in (torch, ours):
                t, made = maker(m)
                table = examples(m, t)
                p, q = table[names[one.__name__]][i](), table[names[other.__name__]][j]()
                results.append(lambda m=m, p=p, q=q: m.distributions.kl_divergence(p, q))
                tensors.append(made)
            compare(pair, "kl_divergence", *results, tuple(tensors))


def constraint_list(m: object) -> dict[str, object]:
    c = m.distributions.constraints
    return {
        **{
            name: getattr(c, name)
            for name in (
                "boolean",
                "nonnegative_integer",
                "positive_integer",
                "real",
                "positive",
                "nonnegative",
                "unit_interval",
                "simplex",
                "lower_triangular",
                "lower_cholesky",
                "corr_cholesky",
                "square",
                "symmetric",
                "positive_semidefinite",
                "positive_definite",
                "real_vector",
                "one_hot",
            )
        },
        "greater_than": c.greater_than(0.5),
        "greater_than_eq": c.greater_than_eq(1.0),
        "less_than": c.less_than(0.5),
        "interval": c.interval(-1.0, 2.0),
        "half_open_interval": c.half_open_interval(0.0, 1.0),
        "integer_interval": c.integer_interval(0, 3),
        "multinomial": c.multinomial(3),
        "independent": c.independent(c.positive, 1),
        "cat": c.cat([c.positive, c.real], -1, [1, 1]),
        "stack": c.stack([c.positive, c.real], -1),
    }


VALUES = [
    [[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [0.6, 0.8]], [[-1.0, 2.0], [3.0, 0.5]], [[0.25, 0.75], [0.5, 0.5]],
    [[1.0, 2.0], [3.0, 0.0]], [[float("nan"), 1.0], [float("inf"), 0.0]],
]  # fmt: skip


def constraints(sweep: Faults, match: str) -> None:
    table, mine = constraint_list(torch), constraint_list(ours)
    for name, constraint in table.items():
        if not re.search(match, name):
            continue
        pair, other = Pair(sweep, f"constraint {name}", ""), mine[name]
        for what in ("is_discrete", "event_dim"):
            pair.same(what, getattr(other, what), getattr(constraint, what))
        for values in VALUES:
            pair.case = str(values)
            value = torch.tensor(values, dtype=torch.float64)
            compare(
                pair, "check", lambda v=value, c=constraint: c.check(v), lambda v=value, c=other: c.check(to_ours(v))
            )
        for way in ("biject_to", "transform_to"):
            made = pair.both(
                way,
                lambda w=way, c=constraint: getattr(torch.distributions, w)(c),
                lambda w=way, c=other: getattr(ours.distributions, w)(c),
            )
            if made is not None:
                pair.same(f"{way} kind", plain(made[1]), plain(made[0]))
                compare_transform(pair, *made)


def transform_list(m: object) -> dict[str, object]:
    d = m.distributions
    tensor = lambda v: m.tensor(v, dtype=m.float64)  # noqa: E731
    return {
        "Abs": d.AbsTransform(),
        "Affine": d.AffineTransform(1.0, -2.0),
        "Affine tensors": d.AffineTransform(tensor([0.0, 1.0]), tensor([3.0, -1.0])),
        "Affine event": d.AffineTransform(1.0, 2.0, event_dim=1),
        "Exp": d.ExpTransform(),
        "Sigmoid": d.SigmoidTransform(),
        "Tanh": d.TanhTransform(),
        "Softplus": d.SoftplusTransform(),
        "Softmax": d.SoftmaxTransform(),
        "Power": d.PowerTransform(2.0),
        "Power tensor": d.PowerTransform(tensor([2.0, -0.5])),
        "StickBreaking": d.StickBreakingTransform(),
        "LowerCholesky": d.LowerCholeskyTransform(),
        "PositiveDefinite": d.transforms.PositiveDefiniteTransform(),
        "CorrCholesky": d.CorrCholeskyTransform(),
        "Identity": d.transforms.identity_transform,
        "Compose": d.ComposeTransform([d.AffineTransform(1.0, 2.0), d.ExpTransform()]),
        "Compose none": d.ComposeTransform([]),
        "Independent": d.IndependentTransform(d.ExpTransform(), 1),
        "Reshape": d.ReshapeTransform((2,), (2, 1)),
        "Cat": d.CatTransform([d.ExpTransform(), d.SigmoidTransform()], -1, [1, 1]),
        "Stack": d.StackTransform([d.ExpTransform(), d.AffineTransform(0.0, 2.0)], -1),
        "CumulativeDistribution": d.CumulativeDistributionTransform(d.Normal(0.0, 1.0)),
    }


def compare_transform(pair: Pair, theirs: object, mine: object) -> None:
    for what in ("bijective", "sign", "domain", "codomain"):
        compare(
            pair, f"{what} of {plain(theirs)[:40]}", lambda w=what: getattr(theirs, w), lambda w=what: getattr(mine, w)
        )
    for shape in ((2,), (3, 2), (2, 2), (1,), (3,)):
        torch.manual_seed(4)
        for x in (
            torch.randn(shape, dtype=torch.float64),
            torch.randn(shape, dtype=torch.float64).abs() * 0.3 + 0.1,
            torch.tensor([-30.0, 40.0], dtype=torch.float64).expand(3, 2).contiguous(),
        ):
            pair.case = f"{plain(theirs)[:60]}, {shape}, {x.flatten()[0].item():.3f}"
            x.requires_grad_()
            other = to_ours(x)
            inputs = ([x], [other])
            found = compare(pair, "forward", lambda x=x: theirs(x), lambda x=other: mine(x), inputs)
            compare(
                pair,
                "forward_shape",
                lambda s=shape: tuple(theirs.forward_shape(s)),
                lambda s=shape: tuple(mine.forward_shape(s)),
            )
            if found is not None and all(isinstance(f, kind) for f, kind in zip(found, (torch.Tensor, ours.Tensor))):
                compare(
                    pair,
                    "log_abs_det_jacobian",
                    lambda x=x, f=found: theirs.log_abs_det_jacobian(x, f[0]),
                    lambda x=other, f=found: mine.log_abs_det_jacobian(x, f[1]),
                    inputs,
                )
                compare(
                    pair, "inverse", lambda f=found: theirs.inv(f[0].detach()), lambda f=found: mine.inv(f[1].detach())
                )


def transforms(sweep: Faults, match: str) -> None:
    table, mine = transform_list(torch), transform_list(ours)
    for name, transform in table.items():
        if re.search(match, name):
            pair = Pair(sweep, f"transform {name}", "")
            pair.same("text", plain(mine[name]), plain(transform))
            compare_transform(pair, transform, mine[name])
            pair.case = "inverse"
            compare_transform(pair, transform.inv, mine[name].inv)
            pair.same("equal to itself", mine[name] == mine[name], transform == transform)
            pair.same("cached", type(mine[name].with_cache()).__name__, type(transform.with_cache()).__name__)


PARTS = {"distributions": distributions, "kl": kl, "constraints": constraints, "transforms": transforms}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--match", default="")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--show", type=int, default=6)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sweep = Faults(options.show)
    for part in options.parts.split(","):
        PARTS[part](sweep, options.match)
    for key, texts in sweep.found.items():
        for text in texts:
            print(f"{key}: {text}")
    print(dict(sweep.counts))


if __name__ == "__main__":
    main()
