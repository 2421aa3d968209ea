# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What programs written for PyTorch reach for beside the tables: layers without sizes, weights of losses, mixtures."""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tessera as ts
import tessera.torch as ours
import tessera.torch.nn.functional as F

theirs = pytest.importorskip("torch")
RNG = np.random.default_rng(4)


def array(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def near(found: Any, wanted: Any, rtol: float = 1e-5) -> None:
    assert tuple(found.shape) == tuple(wanted.shape)
    np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(), rtol=rtol, atol=1e-6)


# ---- layers that learn their sizes ----

LAZY = [
    ("Linear", "3", (5, 4)), ("Linear", "3, bias=False", (2, 5, 4)), ("Conv1d", "3, 2", (2, 4, 6)),
    ("Conv2d", "6, 3, padding=1", (2, 4, 5, 5)), ("Conv2d", "6, 3", (4, 5, 5)), ("Conv3d", "2, 2", (1, 4, 3, 3, 3)),
    ("ConvTranspose1d", "3, 2", (2, 4, 6)), ("ConvTranspose2d", "3, 2, stride=2", (2, 4, 5, 5)),
    ("ConvTranspose3d", "3, 2", (1, 4, 3, 3, 3)), ("BatchNorm1d", "", (5, 4)), ("BatchNorm2d", "1e-3", (2, 4, 3, 3)),
    ("BatchNorm3d", "", (2, 4, 2, 2, 2)), ("InstanceNorm1d", "affine=True", (2, 4, 5)), ("InstanceNorm2d", "affine=False", (2, 4, 5, 5)),
    ("InstanceNorm3d", "", (2, 4, 2, 2, 2)),
]  # fmt: skip


@pytest.mark.parametrize("name, arguments, shape", LAZY, ids=[f"{n}-{i}" for i, (n, *_) in enumerate(LAZY)])
def test_a_lazy_layer_is_the_layer_of_its_first_input(name: str, arguments: str, shape: tuple[int, ...]) -> None:
    made = [eval(f"torch.nn.Lazy{name}({arguments})", {"torch": torch}) for torch in (ours, theirs)]
    before = list(made[0].parameters())
    x = array(*shape)
    made[1](theirs.from_numpy(x))
    made[0](ours.from_numpy(x))
    assert all(p is q for p, q in zip(before, made[0].parameters()))
    assert {k: tuple(v.shape) for k, v in made[0].state_dict().items()} == {
        k: tuple(v.shape) for k, v in made[1].state_dict().items()
    }
    made[0].load_state_dict({k: ours.from_numpy(v.numpy().copy()) for k, v in made[1].state_dict().items()})
    near(made[0](ours.from_numpy(x)), made[1](theirs.from_numpy(x)), 1e-4)


def test_an_optimizer_made_before_the_first_input_trains_a_lazy_layer() -> None:
    layer = ours.nn.LazyLinear(1)
    optimizer = ours.optim.SGD(layer.parameters(), lr=0.1)
    x = ours.from_numpy(array(8, 3))
    first = layer(x).pow(2).mean()
    for _ in range(20):
        optimizer.zero_grad()
        layer(x).pow(2).mean().backward()
        optimizer.step()
    assert layer.in_features == 3 and layer(x).pow(2).mean() < 0.5 * first


# ---- optional arguments ----


@pytest.mark.parametrize("output_size", [(9, 10), (10, 9), [2, 3, 10, 10]])
def test_output_size_chooses_the_padding_of_a_transposed_convolution(output_size: Any) -> None:
    layers = [torch.nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1) for torch in (ours, theirs)]
    layers[0].load_state_dict({k: ours.from_numpy(v.numpy().copy()) for k, v in layers[1].state_dict().items()})
    x = array(2, 4, 5, 5)
    near(layers[0](ours.from_numpy(x), output_size), layers[1](theirs.from_numpy(x), output_size))
    for wrong in (8, 11, (10, 10, 10)):
        with pytest.raises(ValueError, match="output_size"):
            layers[0](ours.from_numpy(x), wrong)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "huber_loss"])
def test_weights_of_losses(name: str, reduction: str) -> None:
    a, b, w = array(3, 4), array(3, 4), np.abs(array(3, 4))
    parts = getattr(theirs.nn.functional, name)(theirs.tensor(a), theirs.tensor(b), reduction="none").numpy() * w
    wanted = {"none": parts, "sum": parts.sum(), "mean": parts.sum() / w.sum()}[reduction]
    found = getattr(F, name)(*map(ours.tensor, (a, b)), reduction=reduction, weight=ours.tensor(w))
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5)


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss"])
def test_losses_of_two_shapes_broadcast_and_warn(name: str) -> None:
    a, b = array(4, 1), array(4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = getattr(theirs.nn.functional, name)(theirs.tensor(a), theirs.tensor(b))
    with pytest.warns(UserWarning, match="target size"):
        near(getattr(F, name)(ours.tensor(a), ours.tensor(b)), wanted)


@pytest.mark.parametrize("padding_idx", [None, 1, -3])
def test_embedding_divides_the_gradient_by_the_frequency(padding_idx: int | None) -> None:
    table, index = array(4, 2), np.array([[0, 1, 1], [3, 1, 0]])
    grads = []
    for torch in (ours, theirs):
        weight = torch.tensor(table, requires_grad=True)
        found = torch.nn.functional.embedding(torch.tensor(index), weight, padding_idx, scale_grad_by_freq=True)
        np.testing.assert_array_equal(found.detach().numpy(), table[index])
        found.sum().backward()
        grads.append(weight.grad)
    near(*grads)


@pytest.mark.parametrize("mode, share", [("sum", 1.0), ("mean", 1 / 3)])
def test_bags_divide_the_gradient_by_the_frequency(mode: str, share: float) -> None:
    weight = ours.tensor(array(4, 2), requires_grad=True)
    index = ours.tensor([[0, 1, 1], [3, 1, 0]])
    F.embedding_bag(index, weight, scale_grad_by_freq=True, mode=mode).sum().backward()
    np.testing.assert_allclose(weight.grad.numpy(), np.array([[1], [1], [0], [1]]) * share * [1, 1], rtol=1e-6)


def test_rrelu_draws_a_slope_for_each_element_in_training() -> None:
    x = ours.from_numpy(-1 - np.abs(array(200)))
    slopes = (F.rrelu(x, 0.25, 0.75, training=True) / x).numpy()
    assert slopes.min() >= 0.25 and slopes.max() <= 0.75 and slopes.std() > 0.1
    layer = ours.nn.RReLU(0.25, 0.75).eval()
    near(layer(x), x * 0.5)
    copy = x.clone()
    assert F.rrelu_(copy, 0.5, 0.5) is copy and (copy == x * 0.5).all()
    assert repr(layer) == "RReLU(lower=0.25, upper=0.75)"
    with pytest.raises(ValueError, match="lower"):
        F.rrelu(x, 0.5, 0.25)


def test_small_names() -> None:
    assert importlib.import_module("tessera.torch").autograd.functional.jacobian is ts.autograd.functional.jacobian
    weight = ours.nn.init.constant_(ours.empty(2), val=3.0)
    assert weight.tolist() == [3, 3]
    x = array(2, 3, 2, 2)
    near(ours.nn.Softmax2d()(ours.tensor(x)), theirs.nn.Softmax2d()(theirs.tensor(x)))
    with pytest.raises(ValueError, match="Softmax2d"):
        ours.nn.Softmax2d()(ours.ones(2, 3))
    triples = [array(4, 3) for _ in range(3)]

    def taxicab(a: Any, b: Any) -> Any:
        return (a - b).abs().sum(-1)

    for distance in (None, taxicab):
        found, wanted = (
            torch.nn.TripletMarginWithDistanceLoss(distance_function=distance, margin=0.5, swap=True)(*map(torch.tensor, triples))
            for torch in (ours, theirs)
        )
        near(found, wanted)
    parameter = ours.nn.Parameter(ours.ones(1))
    optimizer = ours.optim.SGD([parameter], lr=1.0)
    schedulers = [ours.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)]
    assert ours.optim.lr_scheduler.ChainedScheduler(schedulers, optimizer).get_last_lr() == [1.0]


# ---- distributions that PyTorch makes of others ----


def mixtures(torch: Any, event: bool) -> Any:
    d = torch.distributions
    weights = d.Categorical(probs=torch.tensor([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]))
    loc = torch.tensor([[0.0, 1.0, 4.0], [2.0, -1.0, 0.5]])
    if not event:
        return d.MixtureSameFamily(weights, d.Normal(loc, loc.abs() + 0.5))
    wide = torch.stack([loc, loc + 1], -1)
    return d.MixtureSameFamily(weights, d.Independent(d.Normal(wide, wide.abs() + 0.5), 1))


@pytest.mark.parametrize("event", [False, True])
def test_mixtures_are_pytorchs(event: bool) -> None:
    found, wanted = mixtures(ours, event), mixtures(theirs, event)
    assert found.batch_shape == tuple(wanted.batch_shape) and found.event_shape == tuple(wanted.event_shape)
    assert type(found.batch_shape) is ours.Size
    value = array(5, 2, 2) if event else array(5, 2)
    near(found.log_prob(ours.tensor(value)), wanted.log_prob(theirs.tensor(value)))
    near(found.mean, wanted.mean)
    near(found.variance, wanted.variance)
    if not event:
        near(found.cdf(ours.tensor(value)), wanted.cdf(theirs.tensor(value)))
    ours.manual_seed(0)
    drawn = found.sample((20000,)).numpy()
    assert drawn.shape == (20000, *wanted.batch_shape, *wanted.event_shape)
    np.testing.assert_allclose(drawn.mean(0), wanted.mean.numpy(), atol=0.15)
    near(found.expand((3, 2)).log_prob(ours.tensor(value[0])), wanted.expand((3, 2)).log_prob(theirs.tensor(value[0])))
    with pytest.raises(ValueError, match="components"):
        ours.distributions.MixtureSameFamily(found.mixture_distribution, ours.distributions.Normal(ours.zeros(2), ours.ones(2)))


def test_logistic_normal_is_pytorchs() -> None:
    loc, scale = array(2, 3), np.abs(array(2, 3)) + 0.5
    found, wanted = (torch.distributions.LogisticNormal(torch.tensor(loc), torch.tensor(scale)) for torch in (ours, theirs))
    value = np.array([[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.4, 0.1]], np.float32)
    near(found.log_prob(ours.tensor(value)), wanted.log_prob(theirs.tensor(value)), 1e-4)
    near(found.loc, wanted.loc)
    assert found.rsample((5,)).shape == (5, 2, 4) and tuple(found.event_shape) == (4,)


def test_inverse_gamma_is_scipys() -> None:
    a, b = np.array([2.5, 4.0]), np.array([0.5, 3.0])
    found = ours.distributions.InverseGamma(*map(ours.tensor, (a, b)))
    law, x = stats.invgamma(a, scale=b), np.array([0.4, 1.5])
    for ours_value, wanted in (
        (found.log_prob(ours.tensor(x)), law.logpdf(x)), (found.cdf(ours.tensor(x)), law.cdf(x)), (found.mean, law.mean()),
        (found.variance, law.var()), (found.entropy(), law.entropy()), (found.mode, b / (a + 1)),
    ):  # fmt: skip
        np.testing.assert_allclose(ours_value.numpy(), wanted, rtol=1e-6)
    ours.manual_seed(0)
    np.testing.assert_allclose(found.sample((20000,)).numpy().mean(0), law.mean(), rtol=0.05)


# ---- small parts of linalg, fft and nn.utils ----


def test_factorizations_with_info_tell_which_matrix_failed() -> None:
    good = array(3, 3)
    good = good @ good.T + 3 * np.eye(3, dtype=np.float32)
    batch = np.stack([good, -good])
    for name, fields, bad in (("cholesky_ex", ("L", "info"), batch), ("inv_ex", ("inverse", "info"), np.stack([good, 0 * good]))):
        call = getattr(ours.linalg, name)
        found, wanted = call(ours.tensor(good)), getattr(theirs.linalg, name)(theirs.tensor(good))
        near(found[0], wanted[0], 1e-4)
        assert found._fields == fields and found.info.dtype is ours.int32 and found.info.item() == 0
        several = call(ours.tensor(bad))
        assert several.info.tolist() == [0, 1]
        near(several[0][0], wanted[0], 1e-4)
        with pytest.raises(ours.linalg.LinAlgError):
            call(ours.tensor(bad), check_errors=True)


def test_tensors_are_solved_and_inverted() -> None:
    a, b = array(2, 3, 6), array(2, 3)
    near(*(t.linalg.tensorsolve(t.tensor(a), t.tensor(b)) for t in (ours, theirs)), 1e-3)
    turned = a.transpose(0, 2, 1).copy()
    near(*(t.linalg.tensorsolve(t.tensor(turned), t.tensor(b), (1,)) for t in (ours, theirs)), 1e-3)
    near(*(t.linalg.tensorinv(t.tensor(a), 2) for t in (ours, theirs)), 1e-3)


@pytest.mark.parametrize("norm", [None, "forward", "ortho"])
def test_transforms_of_hermitian_signals_of_several_axes(norm: str | None) -> None:
    x, c = array(4, 5), array(4, 5) + 1j * array(4, 5)
    for name in ("hfft2", "hfftn"):
        near(*(getattr(t.fft, name)(t.tensor(c), norm=norm) for t in (ours, theirs)), 1e-4)
    for name in ("ihfft2", "ihfftn"):
        near(*(getattr(t.fft, name)(t.tensor(x), norm=norm) for t in (ours, theirs)), 1e-4)


def test_helpers_of_gradients_and_of_fused_layers() -> None:
    utils = ours.nn.utils
    layer = ours.nn.Linear(3, 2)
    layer(ours.ones(4, 3)).sum().backward()
    grads = [p.grad.clone() for p in layer.parameters()]
    total = utils.get_total_norm(grads)
    near(total, ours.cat([g.flatten() for g in grads]).norm())
    utils.clip_grads_with_norm_(layer.parameters(), 1.0, total)
    near(utils.get_total_norm([p.grad for p in layer.parameters()]), ours.tensor(1.0), 1e-4)
    with pytest.raises(RuntimeError, match="finite"):
        utils.get_total_norm([ours.tensor([ours.inf])], error_if_nonfinite=True)
    conv, norm, x = ours.nn.Conv2d(2, 3, 3), ours.nn.BatchNorm2d(3), ours.tensor(array(4, 2, 5, 5))
    norm(conv(x))
    conv.eval(), norm.eval()
    near(utils.fuse_conv_bn_eval(conv, norm)(x), norm(conv(x)), 1e-4)
    turned = ours.nn.ConvTranspose2d(2, 3, 3, bias=False).eval()
    near(utils.fuse_conv_bn_eval(turned, norm, transpose=True)(x), norm(turned(x)), 1e-4)
    linear, line = ours.nn.Linear(2, 3).eval(), ours.nn.BatchNorm1d(3).eval()
    near(utils.fuse_linear_bn_eval(linear, line)(x[:, :, 0, 0]), line(linear(x[:, :, 0, 0])), 1e-4)
    with pytest.raises(ValueError, match="eval"):
        utils.fuse_conv_bn_eval(conv.train(), norm)
    model = ours.nn.DataParallel(ours.nn.Sequential(linear))
    assert model.module[0] is linear and list(model.state_dict()) == ["module.0.weight", "module.0.bias"]
    assert model(x[:, :, 0, 0]).shape == (4, 3)


# Names that programs import from PyTorch's own files.
IMPORTS = """
import torch
import torch.distributions.constraints as constraints
import torch.nn.modules.conv as conv
import torch.nn.utils.prune as prune
from torch.distributions import constraints as same
from torch.distributions.kl import kl_divergence
from torch.distributions.normal import Normal
from torch.distributions.utils import broadcast_all
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.loss import _Loss
from torch.nn.modules.utils import _pair
from torch.nn.utils import parametrizations, parametrize
from torch.nn.utils.stateless import functional_call
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn, update_bn
from torch.testing import assert_close
from torch.types import Number
from torch.utils.dlpack import from_dlpack, to_dlpack

assert same is constraints and Normal is torch.distributions.Normal
layer = torch.nn.Conv2d(1, 1, 1)
assert isinstance(layer, conv._ConvNd) and isinstance(torch.nn.BatchNorm2d(3), (_BatchNorm, torch.nn.modules.batchnorm._BatchNorm))
assert _pair(3) == (3, 3) and _pair((1, 2)) == (1, 2) and torch.nn.modules.Linear is torch.nn.Linear
with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]), sdpa_kernel(SDPBackend.MATH):
    pass

class Squared(_Loss):
    def forward(self, a, b):
        return getattr((a - b) ** 2, self.reduction)()

x = torch.randn(3)
assert Squared(reduction="sum")(x, x + 1).item() > 2.9 and from_dlpack(to_dlpack(x)).equal(x)
assert parametrize.is_parametrized(parametrizations.weight_norm(torch.nn.Linear(2, 2)))
averaged = AveragedModel(torch.nn.Sequential(layer), multi_avg_fn=get_ema_multi_avg_fn(0.9))
averaged.update_parameters(torch.nn.Sequential(layer))
assert isinstance(averaged.n_averaged, torch.Tensor) and "module.0.weight" in averaged.state_dict()
assert isinstance(torch.distributions.LKJCholesky(3).sample(), torch.Tensor)
assert torch.get_num_interop_threads() >= 1
assert_close({"a": [x, 1.0]}, {"a": [x + 1e-7, 1.0]})
assert_close(torch.tensor([float("nan")]), torch.tensor([float("nan")]), equal_nan=True)
for one, two, text in (
    (x, x + 1, "Mismatched elements: 3 / 3"), (x, x.double(), "dtype"), (x, x[:2], "shape"), ([x], [x, x], "length"),
    (1, 2, "Expected 2 but got 1"), ({"a": 1}, {"b": 1}, "keys"), (1.0, float("nan"), "not close"),
):
    try:
        assert_close(one, two)
    except AssertionError as error:
        assert text in str(error), error
    else:
        raise SystemExit(f"{one} and {two} were close")
try:
    assert_close(1.0, torch.tensor(1.0))
except TypeError:
    print("done")
"""


def test_names_that_programs_import_are_where_pytorch_has_them(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(IMPORTS)
    done = subprocess.run([sys.executable, "-m", "tessera.torch", str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradients_of_samples_are_pytorchs(edge_order: int) -> None:
    x, places = array(4, 5), np.array([0.0, 0.5, 2.0, 2.5], np.float32)
    for options in ({}, {"dim": 0}, {"spacing": 0.5, "dim": (1,)}, {"spacing": (2.0, 0.5)}, {"spacing": "places", "dim": 0}):
        found, wanted = (
            kinds.gradient(
                kinds.tensor(x), edge_order=edge_order,
                **{k: (kinds.tensor(places),) if v == "places" else v for k, v in options.items()},
            )
            for kinds in (ours, theirs)
        )
        assert len(found) == len(wanted)
        for own, other in zip(found, wanted):
            near(own, other)
    with pytest.raises(ValueError, match="at least"):
        ours.gradient(ours.ones(1))
    with pytest.raises(ValueError, match="spacing"):
        ours.gradient(ours.ones(3, 3), spacing=(1.0,))
    for count in (2, 4):  # 2 would stretch along the differences of 3 values
        with pytest.raises(ts.ShapeError, match="3 coordinates for axis 0"):
            ours.gradient(ours.ones(3, 4), spacing=(ours.arange(count), ours.arange(4)))


@pytest.mark.parametrize("dtype", (np.float16, np.float32, np.float64))
def test_mantissas_and_exponents_are_pytorchs(dtype: Any) -> None:
    limits, below = np.finfo(dtype), np.nextafter(dtype(8), dtype(0))
    ends = [limits.max, limits.tiny, limits.tiny / 2, limits.smallest_subnormal, -3 * limits.smallest_subnormal]
    x = np.array([0.0, -0.0, 1.0, 8.0, 0.7, -3.3, *ends, np.inf, -np.inf, np.nan, below], dtype)
    found, wanted = ours.frexp(ours.tensor(x)), theirs.frexp(theirs.tensor(x))
    assert found.mantissa.numpy().dtype == dtype
    np.testing.assert_array_equal(found.mantissa.numpy(), wanted.mantissa.numpy())
    finite = np.isfinite(x)
    np.testing.assert_array_equal(found.exponent.numpy()[finite], wanted.exponent.numpy()[finite])
    given = ours.tensor(x[2:6], requires_grad=True)
    ours.frexp(given).mantissa.sum().backward()
    np.testing.assert_array_equal(given.grad.numpy(), np.ldexp(dtype(1), -wanted.exponent.numpy()[2:6]))


def test_a_tensor_of_its_own_size_is_not_changed_by_resizing() -> None:
    for library in (ours, theirs):
        x = library.zeros(2, 3).T
        assert x.resize_(3, 2).stride() == (1, 3) and x.resize_as_(library.ones(3, 2)).stride() == (1, 3)
        assert tuple(library.ones(4).resize_as_(x).shape) == (3, 2)


def test_factors_of_low_rank_are_those_of_the_matrix() -> None:
    a = ours.tensor(array(12, 3)) @ ours.tensor(array(3, 8)) + 5
    for factors, whole in ((ours.svd_lowrank(a, q=4), a), (ours.pca_lowrank(a, q=3), a - a.mean(0, keepdim=True))):
        near(factors.U @ ours.diag(factors.S) @ factors.V.T, whole, 1e-4)
        near(factors.S[:3], ours.linalg.svdvals(whole)[:3], 1e-4)
    batch = ours.svd_lowrank(ours.tensor(array(2, 6, 5)), q=5)
    assert batch.U.size() == (2, 6, 5) and batch.V.size() == (2, 5, 5)


@pytest.mark.parametrize("norm_type", [2.0, 1.0])
def test_rows_of_embeddings_are_limited_as_pytorchs(norm_type: float) -> None:
    table, places = array(6, 4) * 3, np.array([[0, 2], [2, 5]])
    slopes = array(2, 2, 4)
    results = []
    for kinds in (ours, theirs):
        layer = kinds.nn.Embedding.from_pretrained(kinds.tensor(table), freeze=False, max_norm=1.5, norm_type=norm_type, padding_idx=5)
        bag = kinds.nn.EmbeddingBag.from_pretrained(kinds.tensor(table), max_norm=2.0, norm_type=norm_type, mode="sum")
        assert not bag.weight.requires_grad and layer.weight.requires_grad
        (layer(kinds.tensor(places)) * kinds.tensor(slopes)).sum().backward()
        results.append([layer.weight.detach(), layer.weight.grad, bag(kinds.tensor(places)), bag.weight])
        plain = kinds.tensor(table)
        results[-1] += [kinds.nn.functional.embedding(kinds.tensor(places), plain, max_norm=1.0), plain]
    for own, other in zip(*results):
        near(own, other)
    shared = ours.tensor(table)
    assert ours.nn.Embedding.from_pretrained(shared).weight.data_ptr() == shared.data_ptr()
    with pytest.raises(ValueError, match="matrix"):
        ours.nn.Embedding.from_pretrained(ours.ones(3))


def test_checkpoints_hold_numbers_and_arrays_of_numpy(tmp_path: Path) -> None:
    ours.save({"best": np.float64(0.25), "epoch": np.int64(3), "done": np.bool_(True), "losses": np.arange(3.0)}, tmp_path / "saved.pt")
    found = ours.load(tmp_path / "saved.pt")
    assert (found["best"], found["epoch"], found["done"]) == (0.25, 3, True)
    assert isinstance(found["losses"], np.ndarray) and found["losses"].tolist() == [0.0, 1.0, 2.0]


def test_loading_takes_a_function_of_places(tmp_path: Path) -> None:
    ours.save({"a": ours.ones(2)}, tmp_path / "saved.pt")
    seen = []
    found = ours.load(tmp_path / "saved.pt", map_location=lambda storage, loc: (seen.append(loc), storage)[1])
    assert found["a"].tolist() == [1.0, 1.0] and isinstance(found["a"], ours.Tensor) and seen == ["cpu"]
    assert ours.load(tmp_path / "saved.pt", map_location=lambda storage, loc: None)["a"].tolist() == [1.0, 1.0]


def test_jacobians_take_pytorchs_options() -> None:
    x = ours.tensor([1.0, 2.0])
    functional = ours.autograd.functional
    assert functional.jacobian(lambda t: t**2, x, vectorize=True, strategy="forward-mode").tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert functional.hessian(lambda t: (t**3).sum(), x, vectorize=True).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    with pytest.raises(ValueError, match="strategy"):
        functional.jacobian(lambda t: t, x, strategy="none")
def test_shapes_of_views_change_in_place() -> None:
    x = ours.arange(12.0).reshape(3, 4)
    assert x.unsqueeze_(0).shape == (1, 3, 4) and x.squeeze_().t_().transpose_(0, 1).shape == (3, 4)
    base = ours.zeros(3, 4)
    view = base[1:].t_()
    view[0, 1] = 5.0
    assert view.shape == (4, 2) and base[2, 0] == 5
    # A write to the base gives the view its history, in the layout that it has by then.
    base, weight = ours.zeros(2, 3), ours.ones(2, 3, requires_grad=True)
    row = base[0].unsqueeze_(0)
    base.add_(weight * 2)
    (row * ours.tensor([[1.0, 2.0, 3.0]])).sum().backward()
    assert weight.grad is not None and weight.grad.tolist() == [[2, 4, 6], [0, 0, 0]]
    column, other = ours.zeros(2, 3)[0].unsqueeze_(1), ours.ones(3, 1, requires_grad=True)
    column.add_(other).sum().backward()
    assert other.grad is not None and other.grad.tolist() == [[1], [1], [1]]
    with pytest.raises(RuntimeError, match="is no view"):
        ours.zeros(3)[1:].data = ours.zeros(5)


LOSSES_OF_PAIRS = {
    **dict.fromkeys(["MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss"], True),
    **dict.fromkeys(["KLDivLoss", "PoissonNLLLoss", "SoftMarginLoss", "HingeEmbeddingLoss"], False),
}


@pytest.mark.parametrize("name", LOSSES_OF_PAIRS)
def test_layers_of_losses_broadcast_as_their_functions(name: str) -> None:
    loss = getattr(ours.nn, name)()
    x, row = ours.arange(6.0).reshape(2, 3), ours.tensor([[0.25, 0.5, 1.0]])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = loss(x, row)
        assert ["seldom what is meant" in str(warning.message) for warning in caught] == [True] * LOSSES_OF_PAIRS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert found.tolist() == loss(x, row.expand(2, 3).clone()).tolist()
