# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.distributions where it once differed from PyTorch; the expected values are PyTorch 2.15's."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest

import tessera.torch as torch
from tessera.torch import distributions as d


def tensor(*values: float) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_the_files_of_pytorchs_package_give_pytorchs_classes() -> None:
    assert d.categorical.Categorical is d.Categorical
    assert d.relaxed_bernoulli.LogitRelaxedBernoulli is d.LogitRelaxedBernoulli
    drawn = d.normal.Normal(torch.zeros(2), torch.ones(2)).sample()
    assert type(drawn) is torch.Tensor and drawn.dim() == 1


def test_a_class_whose_base_computes_its_support_has_its_own() -> None:
    shares = d.RelaxedOneHotCategorical(torch.tensor(0.5), torch.tensor([0.1, 0.2, 0.7]))
    assert shares.support.check(torch.tensor([[0.2, 0.3, 0.5], [1.0, 1.0, 1.0]])).tolist() == [True, False]
    with pytest.raises(ValueError, match="support"):
        shares.log_prob(torch.ones(3))
    again = pickle.loads(pickle.dumps(shares))
    assert type(again) is d.RelaxedOneHotCategorical and again.probs.tolist() == shares.probs.tolist()
    assert d.RelaxedBernoulli(torch.tensor(0.5), torch.tensor(0.3)).support.check(torch.tensor([0.5, 1.5])).tolist() == [True, False]


def test_an_infinite_divergence_has_the_dtype_of_the_distribution() -> None:
    found = d.kl_divergence(d.Normal(tensor(0.0, 1.0), tensor(1.0, 2.0)), d.Uniform(-1.0, 1.0))
    assert found.dtype is torch.float64 and found.tolist() == [math.inf, math.inf]


def test_divergences_of_sure_outcomes_have_gradients() -> None:
    sure, likely = tensor(0.0, 1.0), tensor(0.3, 0.3)
    d.kl_divergence(d.Bernoulli(sure), d.Bernoulli(likely)).sum().backward()
    assert sure.grad.tolist() == pytest.approx([math.log(0.7), math.log(1 / 0.3)])
    assert likely.grad.tolist() == pytest.approx([1 / 0.7, -1 / 0.3])
    counts, other = tensor(0.0, 1.0), tensor(0.5, 1.0)
    d.kl_divergence(d.Binomial(5, counts), d.Binomial(5, other)).sum().backward()
    assert all(math.isfinite(g) for g in counts.grad.tolist() + other.grad.tolist())


def test_constraints_and_transforms_give_pytorchs_tensors() -> None:
    value = torch.eye(2)
    assert type(d.constraints.square.check(value)) is torch.Tensor and d.constraints.square.check(value).item()
    assert d.constraints.square.check(torch.ones(3, 2, 4)).tolist() == [False] * 3
    reshaped = d.ReshapeTransform((2,), (2, 1)).log_abs_det_jacobian(torch.ones(3, 2), torch.ones(3, 2, 1))
    assert type(reshaped) is torch.Tensor and reshaped.tolist() == [0.0] * 3
    assert type(d.biject_to(d.constraints.unit_interval)).__name__ == "SigmoidTransform"


def test_whole_numbers_are_finite_and_a_multinomial_takes_fewer_counts() -> None:
    assert d.constraints.nonnegative_integer.check(torch.tensor([0.0, math.inf, math.nan, 1.5])).tolist() == [True, False, False, False]
    few = d.Multinomial(4, torch.tensor([0.5, 0.5])).log_prob(torch.tensor([0.5, 1.0]))
    assert few.item() == pytest.approx(math.lgamma(2.5) - math.lgamma(1.5) + 1.5 * math.log(0.5), rel=1e-5)


def test_distributions_know_the_shape_of_their_parameters() -> None:
    for made in (d.Bernoulli(torch.ones(2, 3) / 2), d.Geometric(torch.ones(2, 3) / 2), d.Categorical(logits=torch.ones(2, 3))):
        assert made.param_shape == torch.Size([2, 3])


ONE, TWO = torch.tensor([1.5, 2.0]), torch.tensor([0.5, 3.0])


# The values of the base distribution that PyTorch 2.15 has behind 0.7 and 0.9.
@pytest.mark.parametrize(
    ("made", "base", "expected"),
    [
        (d.Gumbel(ONE, TWO), "Uniform", [0.00706196, 0.236238]),
        (d.HalfCauchy(TWO), "Cauchy", [0.7, 0.9]),
        (d.HalfNormal(TWO), "Normal", [0.7, 0.9]),
        (d.InverseGamma(ONE, TWO), "Gamma", [1.42857, 1.11111]),
        (d.Kumaraswamy(ONE, TWO), "Uniform", [0.643691, 0.00685901]),
        (d.Pareto(TWO, ONE), "Exponential", [0.336472, -1.20397]),
        (d.Weibull(ONE, TWO), "Exponential", [0.68313, 0.091125]),
        (d.LogNormal(ONE, TWO), "Normal", [-0.356675, -0.105361]),
    ],
)  # fmt: skip
def test_distributions_are_transformed_ones_where_they_are_in_pytorch(made: Any, base: str, expected: list[float]) -> None:
    assert isinstance(made, d.TransformedDistribution) and type(made.base_dist).__name__ == base
    value = torch.tensor([0.7, 0.9])
    for transform in reversed(made.transforms):
        value = transform.inv(value)
    assert value.tolist() == pytest.approx(expected, rel=1e-4) and type(made.base_dist.sample()) is torch.Tensor
    assert made.expand((3, 2)).base_dist.batch_shape == torch.Size([3, 2])
