# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Cases that are too large for the op table: kernels over several blocks, tiles and launches must give the CPU's
results. Also ties. The plugin is found as in test_op_table.py."""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import _ops, optim

rng = np.random.default_rng(0)


def numbers(*shape: int, dtype: str = "float64") -> ts.Tensor:
    return ts.asarray(rng.uniform(-2, 2, shape).astype(dtype))


def channels_last(x: ts.Tensor) -> ts.Tensor:
    spatial = tuple(range(2, x.ndim))
    return ts.permute_dims(ts.permute_dims(x, (0, *spatial, 1)).contiguous(), (0, x.ndim - 1, *range(1, x.ndim - 1)))


def below(high: int, *shape: int) -> ts.Tensor:
    return ts.asarray(rng.integers(0, high, shape))


def same(function: Callable[..., Any], *args: Any, rtol: float = 1e-12) -> None:
    """Checks that function(*args) gives the same tensors on both devices."""
    there = [a.to("cuda") if isinstance(a, ts.Tensor) else a for a in args]
    ours, theirs = function(*there), function(*args)
    pairs = zip(ours, theirs) if isinstance(theirs, (tuple, list)) else [(ours, theirs)]
    for got, wanted in pairs:
        np.testing.assert_allclose(got.to("cpu").numpy(), wanted.numpy(), rtol, rtol)


# ---- indexing ----


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "complex128"])
def test_embedding_like_reads_and_sums_agree(dtype: str) -> None:
    table, index = numbers(50, 33).astype(getattr(ts, dtype)), below(50, 700)
    same(lambda t, i: ts.index_select(t, 0, i), table, index)
    same(lambda t, i, v: ts.index_put(t, [i], v, True), table, index, ts.index_select(table, 0, index), rtol=1e-6)


def test_of_equal_indices_the_last_wins() -> None:
    index = below(10, 5000)
    values = ts.arange(5000, dtype=ts.int64)
    same(lambda a, i, v: ts.index_put(a, [i], v), ts.zeros(10, dtype=ts.int64), index, values)
    same(lambda a, i, v: ts.index_put(a, [i], v), ts.zeros((10, 3), dtype=ts.int64), index, values.reshape(5000, 1))


def test_sums_come_in_the_order_of_the_walk() -> None:
    # In another order, small numbers would be lost in large ones at other positions.
    values = ts.asarray(np.array([1e16, 1.0, -1e16, 1.0] * 500))
    index = ts.asarray(np.arange(2000) % 4 // 2)
    same(lambda a, i, v: ts.scatter_add(a, 0, i, v), ts.zeros(2, dtype=ts.float64), index, values, rtol=0)


def test_several_index_arrays_and_negative_strides_agree() -> None:
    array = numbers(20, 30, 7)[::-1, :, ::-1]
    rows, columns = below(20, 400) - 20, below(30, 400)
    same(lambda a, i, j: a[i, j], array, rows, columns)
    same(lambda a, i, j, v: ts.index_put(a, [i, j], v, True), array, rows, columns, numbers(400, 7))


def test_nonzero_over_many_chunks_agrees() -> None:
    array = numbers(7, 100, 101)
    same(lambda a: ts.nonzero(a > 1.9), array)
    same(lambda a: ts.nonzero(a[:, ::-1, ::3] > 0), array)
    same(lambda a: ts.argwhere(a > 5), array)


# ---- sorting ----


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint16", "int32", "int64", "uint64", "bool_"])
@pytest.mark.parametrize("descending", [False, True])
def test_sorting_rows_is_stable_and_puts_nan_last(dtype: str, descending: bool) -> None:
    array = np.round(rng.uniform(-3, 3, (5, 700)))
    if dtype.startswith("float"):
        array[:, ::17], array[0, 3], array[1, 4] = np.nan, np.inf, -np.inf
    rows = ts.asarray(np.abs(array) if dtype[0] == "u" else array).astype(getattr(ts, dtype))
    same(lambda x: ts.argsort(x, -1, descending), rows)
    same(lambda x: ts.argsort(x, 0, descending), rows)
    same(lambda x: tuple(ts.topk(x, 9, -1, descending)), rows)


# ---- losses ----


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("shape", [(9, 100), (3, 50, 70), (2, 3, 9000)])
def test_cross_entropy_over_teams_and_parts_agrees(reduction: str, shape: tuple[int, ...]) -> None:
    scores, weight = numbers(*shape), numbers(shape[1]) + 3
    target = below(shape[1], shape[0], *shape[2:])

    def both(x: ts.Tensor, t: ts.Tensor, w: ts.Tensor) -> tuple[ts.Tensor, ...]:
        x = x.detach().clone().requires_grad_()
        loss = _ops.cross_entropy(x, t, w, ignore_index=1, reduction=reduction, label_smoothing=0.1)
        return loss.detach(), *ts.autograd.grad([loss.sum()], [x])

    same(both, scores, target, weight, rtol=1e-10)


# ---- 16-bit floats ----


def passes(function: Callable[..., ts.Tensor]) -> Callable[..., tuple[ts.Tensor, ...]]:
    """The value of a function and its gradients, in float32."""

    def run(*args: ts.Tensor) -> tuple[ts.Tensor, ...]:
        leaves = [a.detach().clone().requires_grad_() for a in args]
        value = function(*leaves)
        gradients = ts.autograd.grad([value.sum()], leaves)
        return tuple(t.detach().astype(ts.float32) for t in (value, *gradients))

    return run


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("parameters", ["float32", "short"])
def test_normalisations_take_parameters_of_either_dtype(dtype: str, parameters: str) -> None:
    kind = getattr(ts, dtype)
    weight, bias = (numbers(33).astype(ts.float32 if parameters == "float32" else kind) for _ in range(2))
    rtol = {"float16": 4e-3, "bfloat16": 3e-2}[dtype]
    images = numbers(3, 33, 5, 7).astype(kind)
    for x in (images, channels_last(images)):
        same(passes(lambda a, w, b: _ops.batch_norm(a, None, None, w, b, True)), x, weight, bias, rtol=rtol)
    same(passes(lambda a, w, b: _ops.layer_norm(a, (33,), w, b)), numbers(200, 33).astype(kind), weight, bias, rtol=rtol)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_images_of_16_bits_agree(dtype: str) -> None:
    kind, rtol = getattr(ts, dtype), {"float16": 4e-3, "bfloat16": 3e-2}[dtype]
    images = numbers(3, 4, 9, 11).astype(kind)
    weight, bias = numbers(6, 4, 3, 3).astype(kind), numbers(6).astype(kind)
    back, bias_back = numbers(4, 6, 3, 3).astype(kind), numbers(6).astype(kind)
    for x in (images, channels_last(images)):
        same(passes(lambda a: _ops.max_pool2d(a, (3,), (2,), (1,))), x, rtol=rtol)
        same(passes(lambda a: _ops.avg_pool2d(a, (3,), (2,), (1,))), x, rtol=rtol)
        same(passes(lambda a: _ops.adaptive_avg_pool2d(a, (4, 5))), x, rtol=rtol)
        same(passes(lambda a, w, b: _ops.conv2d(a, w, b)), x, weight, bias, rtol=10 * rtol)
        same(passes(lambda a, w, b: _ops.conv_transpose2d(a, w, b)), x, back, bias_back, rtol=10 * rtol)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_losses_and_sums_of_16_bits_agree(dtype: str) -> None:
    kind, rtol = getattr(ts, dtype), {"float16": 4e-3, "bfloat16": 3e-2}[dtype]
    scores, weight, target = numbers(300, 50).astype(kind), numbers(50).astype(kind) + 3, below(50, 300)
    for reduction in ("none", "mean"):
        same(
            lambda x, t, w, reduction=reduction: passes(
                lambda a: _ops.cross_entropy(a, t, w, reduction=reduction, label_smoothing=0.1)
            )(x),
            scores,
            target,
            weight,
            rtol=rtol,
        )
    same(passes(lambda a: ts.softmax(a, 1)), scores, rtol=rtol)
    index = below(7, 3000)
    same(lambda a, i, v: ts.scatter_add(a, 0, i, v).astype(ts.float32), ts.zeros(7, dtype=kind), index, numbers(3000).astype(kind), rtol=rtol)


# ---- optimizers ----


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_a_hundred_parameters_in_one_step_agree(dtype: str) -> None:
    sizes = [1, 0, 5000, 17] * 25
    kind, rtol = getattr(ts, dtype), {"float32": 1e-6, "float64": 1e-12, "float16": 2e-3}[dtype]

    def step(name: str) -> Callable[..., list[ts.Tensor]]:
        def run(*both: ts.Tensor) -> list[ts.Tensor]:
            half = len(both) // 2
            params, grads = [b.clone() for b in both[:half]], list(both[half:])
            states = [[ts.zeros_like(p) for p in params] for _ in range(3)]
            if name == "sgd_step":
                _ops.sgd_step(params, grads, states[0], 0.1, 0.9, first_step=True)
            else:
                getattr(_ops, name)(params, grads, *states, 1, 0.1, weight_decay=0.01)
            return params + states[0]

        return run

    tensors = [numbers(n).astype(kind) for n in sizes * 2]
    for name in ("sgd_step", "adam_step", "adamw_step"):
        same(step(name), *tensors, rtol=rtol)


# LBFGS steps with a closure and has no kernel of its own.
OTHERS = ("LBFGS", "Optimizer", "ZeroRedundancyOptimizer", "functional", "lr_scheduler")  # no optimizers of the core
OPTIMIZERS = [k for k in optim.__all__ if k not in OTHERS]
OPTIMIZER_OPTIONS: list[dict[str, Any]] = [{}, {"momentum": 0.9}, {"amsgrad": True}, {"centered": True, "momentum": 0.9}]


def takes(kind: str, options: dict[str, Any]) -> bool:
    return options.keys() <= inspect.signature(getattr(optim, kind)).parameters.keys()


@pytest.mark.parametrize(("kind", "options"), [(k, o) for k in OPTIMIZERS for o in OPTIMIZER_OPTIONS if takes(k, o)], ids=str)
def test_optimizers_agree(kind: str, options: dict[str, Any]) -> None:
    make = getattr(optim, kind)
    starts, grads = [numbers(3, 4), numbers(70, 90)], [numbers(3, 4), numbers(70, 90)]

    def train(*both: ts.Tensor) -> list[ts.Tensor]:
        params = [b.clone() for b in both[:2]]
        optimizer = make(params, lr=0.1, **options)
        for _ in range(3):
            for p, g in zip(params, both[2:]):
                p.grad = g
            optimizer.step()
        return params

    same(train, *starts, *grads, rtol=1e-9)


@pytest.mark.parametrize("norm_type", [0.0, 1.0, 2.0, 3.0, float("inf"), float("-inf")])
def test_the_norm_of_many_gradients_agrees(norm_type: float) -> None:
    def clip(*grads: ts.Tensor) -> list[ts.Tensor]:
        copies = [g.clone() for g in grads]
        return [*copies, _ops.clip_norm(copies, 0.5, norm_type)]

    grads = [numbers(n) for n in [1, 5000, 17] * 30]
    same(clip, *grads, rtol=1e-10)
    grads[40][7] = float("nan")
    same(clip, *grads, rtol=1e-10)


# ---- normalisation ----


def differentiated(function: Callable[..., ts.Tensor]) -> Callable[..., tuple[ts.Tensor, ...]]:
    """The value of a sum with unequal weights, and its gradients with respect to all arguments."""

    def run(*args: ts.Tensor) -> tuple[ts.Tensor, ...]:
        leaves = [a.detach().clone().requires_grad_() for a in args]
        value = function(*leaves)
        return value.detach(), *ts.autograd.grad([(value * value).sum()], leaves)

    return run


@pytest.mark.parametrize("shape", [(7, 3, 50, 40), (300, 5), (1, 2, 9000), (2000, 700)])
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_over_parts_agrees(shape: tuple[int, ...], training: bool) -> None:
    def run(x: ts.Tensor, w: ts.Tensor, b: ts.Tensor, mean: ts.Tensor, var: ts.Tensor) -> tuple[ts.Tensor, ...]:
        mean, var = mean.clone(), var.clone()
        norm = differentiated(lambda x, w, b: _ops.batch_norm(x, mean, var, w, b, training=training))
        return *norm(x, w, b), mean, var

    channels = [numbers(shape[1]) + 3 for _ in range(4)]
    same(run, numbers(*shape) + 100, *channels, rtol=1e-8)
    if len(shape) == 4:
        same(run, channels_last(numbers(*shape)), *channels, rtol=1e-8)


@pytest.mark.parametrize("shape", [(3, 1000), (20000, 5), (1, 40)])
def test_layer_norm_over_teams_agrees(shape: tuple[int, ...]) -> None:
    norm = differentiated(lambda x, w, b: _ops.layer_norm(x, [shape[1]], w, b))
    same(norm, numbers(*shape) + 100, numbers(shape[1]), numbers(shape[1]), rtol=1e-8)


@pytest.mark.parametrize("shape", [(3, 6, 50, 40), (2, 6, 9000), (300, 6), (1, 6, 3, 2)])
@pytest.mark.parametrize("groups", [1, 3, 6])
def test_group_norm_over_planes_agrees(shape: tuple[int, ...], groups: int) -> None:
    norm = differentiated(lambda x, w, b: _ops.group_norm(x, groups, w, b))
    x = numbers(*shape) + 100
    for images in [x, channels_last(x)] if len(shape) == 4 else [x]:
        same(norm, images, numbers(6), numbers(6), rtol=1e-8)


@pytest.mark.parametrize("shape", [(3, 1000), (20000, 5), (1, 40)])
def test_rms_norm_over_teams_agrees(shape: tuple[int, ...]) -> None:
    norm = differentiated(lambda x, w: _ops.rms_norm(x, [shape[1]], w))
    same(norm, numbers(*shape) + 1, numbers(shape[1]), rtol=1e-8)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_norms_of_groups_and_rows_take_parameters_of_either_dtype(dtype: str) -> None:
    kind, rtol = getattr(ts, dtype), {"float16": 4e-3, "bfloat16": 3e-2}[dtype]
    images = numbers(3, 32, 5, 7).astype(kind)
    for weight, bias in [(numbers(32).astype(t), numbers(32).astype(t)) for t in (kind, ts.float32)]:
        for x in (images, channels_last(images)):
            same(passes(lambda a, w, b: _ops.group_norm(a, 4, w, b)), x, weight, bias, rtol=rtol)
        same(passes(lambda a, w: _ops.rms_norm(a, (32,), w)), numbers(200, 32).astype(kind), weight, rtol=rtol)


# ---- pooling ----


@pytest.mark.parametrize("last", [False, True])
def test_pooling_of_volumes_and_lines_agrees(last: bool) -> None:
    x = numbers(2, 5, 7, 9, 11)
    if last:
        axes = (0, 2, 3, 4, 1)
        x = x.permute(*axes).contiguous().permute(0, 4, 1, 2, 3)
    same(differentiated(lambda x: _ops.max_pool3d(x, [3, 2, 3], [2, 1, 2], [1, 1, 0])), x)
    same(differentiated(lambda x: _ops.avg_pool3d(x, [3, 2, 3], [2, 1, 2], [1, 1, 0])), x)
    same(differentiated(lambda x: _ops.adaptive_max_pool3d(x, [3, 4, 5])), x)
    same(differentiated(lambda x: _ops.adaptive_max_pool1d(x, [13])), x[0, 0])
    same(differentiated(lambda x: _ops.lp_pool1d(x * x + 1, 3.0, 2)), x[0, 0], rtol=1e-10)
    values, places = _ops.max_pool3d_with_positions(x, [2])
    same(differentiated(lambda x: _ops.max_unpool3d(x, places.to(x.device), [2], output_size=[7, 9, 11])), values)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("kernel, stride, padding", [([3, 2], [2, 1], [1, 1]), ([2, 5], [3, 5], [0, 2]), ([4, 4], [1, 3], [2, 0])])
def test_pooling_of_many_planes_agrees(last: bool, kernel: list[int], stride: list[int], padding: list[int]) -> None:
    x = numbers(3, 5, 23, 19)
    if last:
        x = channels_last(x)
    for options in ({}, {"ceil_mode": True}):
        same(differentiated(lambda x: _ops.avg_pool2d(x, kernel, stride, padding, **options)), x)
        same(differentiated(lambda x: _ops.avg_pool2d(x, kernel, stride, padding, count_include_pad=False, **options)), x)
        for dilation in ([1, 1], [2, 3]):
            same(differentiated(lambda x: _ops.max_pool2d(x, kernel, stride, padding, dilation, **options)), x)
    same(lambda x: tuple(_ops.max_pool2d_with_positions(ts.round(x), kernel, stride, padding)), x)
    for size in ([7, 5], [30, 19], [1, 1]):
        same(differentiated(lambda x: _ops.adaptive_avg_pool2d(x, size)), x)


# ---- convolution ----


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stride": [3, 2], "padding": [2, 1]},
        {"dilation": [2, 3], "groups": 2, "padding": [1, 3]},
        {"same": True},
        {"same": True, "dilation": [1, 2], "groups": 4},
    ],
)
def test_convolution_and_its_gradients_agree(last: bool, options: dict[str, Any]) -> None:
    x, w = numbers(2, 4, 9, 8), numbers(8, 4 // options.get("groups", 1), 2, 3)
    convolve = differentiated(lambda x, w, b: _ops.conv2d(x, w, b, **options))
    for _ in range(2):  # the second call uses the engine that the first one chose
        same(convolve, channels_last(x) if last else x, w, numbers(8), rtol=1e-10)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"stride": [2], "output_padding": [1]},
        {"dilation": [3, 2], "output_padding": [2, 0], "padding": [1, 0]},  # inputs that no window reaches
        {"groups": 2, "stride": [3, 1], "padding": [1, 2]},
    ],
)
def test_transposed_convolution_and_its_gradients_agree(last: bool, options: dict[str, Any]) -> None:
    x, w = numbers(2, 4, 5, 6), numbers(4, 3, 3, 2)
    convolve = differentiated(lambda x, w, b: _ops.conv_transpose2d(x, w, b, **options))
    same(convolve, channels_last(x) if last else x, w, numbers(3 * options.get("groups", 1)), rtol=1e-10)


def test_a_transposed_convolution_whose_windows_all_lie_in_the_padding_agrees() -> None:
    convolve = differentiated(lambda x, w, b: _ops.conv_transpose2d(x, w, b, padding=2, output_padding=4, dilation=5))
    same(convolve, numbers(2, 3, 1, 1), numbers(3, 4, 1, 1), numbers(4), rtol=1e-10)


@pytest.mark.parametrize("name, shape", [("conv1d", (2, 4, 11)), ("conv3d", (2, 4, 5, 4, 6)), ("conv2d", (3, 4, 1, 1))])
def test_convolution_along_other_numbers_of_axes_agrees(name: str, shape: tuple[int, ...]) -> None:
    kernel = [min(2, n) for n in shape[2:]]
    convolve = differentiated(lambda x, w, b: getattr(_ops, name)(x, w, b))
    for x in (numbers(*shape), channels_last(numbers(*shape)), numbers(*shape)[:, 1:2]):
        same(convolve, x, numbers(6, x.shape[1], *kernel), numbers(6), rtol=1e-10)


# ---- attention ----


@pytest.mark.parametrize("queries, keys", [(3, 40), (20, 100)])
@pytest.mark.parametrize("which", [1, 2])
def test_keys_that_no_query_sees_do_not_matter(queries: int, keys: int, which: int) -> None:
    def attend(*operands: ts.Tensor) -> ts.Tensor:
        return _ops.scaled_dot_product_attention(*operands, is_causal=True)

    operands = [numbers(queries, 5), numbers(keys, 5), numbers(keys, 70)]
    operands[which][queries:] = float("nan")
    assert all(np.isfinite(t.numpy()).all() for t in differentiated(attend)(*operands))
    same(differentiated(attend), *operands, rtol=1e-10)


# ---- distances ----


def test_a_distance_of_many_components_does_not_stop_at_a_large_sum() -> None:
    far = ts.ones((1, 1001), device="cuda")
    far[0, 0] = 2.0**24  # after which float32 has no odd numbers
    assert ts.cdist(ts.zeros((1, 1001), device="cuda"), far, 1.0).item() == 2**24 + 1000


# ---- folds by index, distributions ----


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "uint64"])
def test_folds_by_index_agree(reduce: str, dtype: str) -> None:
    def wide(*shape: int) -> ts.Tensor:
        return ts.asarray(rng.uniform(1, 1.25, shape) * (1 if "float" in dtype else 8)).astype(getattr(ts, dtype))

    for own in (True, False):
        fold = lambda x, i, s, own=own: ts.scatter_reduce(x, 0, i, s, reduce, own)  # noqa: E731
        same(fold, wide(40, 33), below(40, 200, 33), wide(200, 33), rtol=2e-3 if dtype == "float16" else 1e-12)


def test_amax_by_index_lets_nan_win() -> None:
    x, source = ts.zeros(2), ts.tensor([1.0, float("nan"), 5.0, 7.0])
    found = ts.scatter_reduce(x.to("cuda"), 0, ts.asarray([0, 0, 0, 1]), source.to("cuda"), "amax").to("cpu").numpy()
    assert np.isnan(found[0]) and found[1] == 7


DRAWS: dict[str, Callable[[ts.Tensor, ts.Generator], ts.Tensor]] = {
    "exponential": lambda x, g: x.exponential_(2.0, generator=g),
    "cauchy": lambda x, g: x.cauchy_(1.0, 2.0, generator=g),
    "log_normal": lambda x, g: x.log_normal_(0.0, 0.5, generator=g),
    "geometric": lambda x, g: x.geometric_(0.25, generator=g),
    "trunc_normal": lambda x, g: x.trunc_normal_(0.0, 1.0, 0.5, 3.0, generator=g),
    "random": lambda x, g: x.random_(generator=g),
    "bernoulli": lambda x, g: x.bernoulli_(0.3, generator=g),
    "poisson of low rates": lambda x, g: ts.poisson(x.fill_(2.5), generator=g),
    "poisson of high rates": lambda x, g: ts.poisson(x.fill_(200.0), generator=g),
    "multinomial": lambda x, g: ts.multinomial(x.fill_(1.0).reshape((10, -1)), 50, generator=g),
    "multinomial with replacement": lambda x, g: ts.multinomial(x.fill_(1.0).reshape((10, -1)), 50, True, generator=g),
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_numbers_of_a_seed_are_those_of_the_cpu(name: str, dtype: str) -> None:
    found = []
    for device in ("cpu", "cuda"):
        drawn = DRAWS[name](ts.empty(20000, dtype=getattr(ts, dtype), device=device), ts.Generator(5))
        found.append(drawn.to("cpu").astype(ts.float64).numpy())
    rtol = {"float64": 1e-11, "float32": 1e-6, "bfloat16": 8e-3}[dtype]
    np.testing.assert_allclose(found[1], found[0], rtol, 0)


def without(name: str, folder: Path, program: str) -> list[str]:
    """The lines that a program prints where the plugin finds no library of this name."""
    plugin = Path(os.environ["TESSERA_PLUGIN_PATH"].split(":")[0]) / "libtessera_cuda.so"
    if not (plugin.parent / name).exists():
        pytest.skip(f"{name} cannot be taken away here")
    for file in plugin.parent.glob("lib*.so*"):
        if file.name != name:
            shutil.copy(file, folder)
    result = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "TESSERA_PLUGIN_PATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout.splitlines()


def test_without_cudnn_everything_but_convolution_works(tmp_path: Path) -> None:
    program = """
import tessera as ts
x = ts.ones((1, 1, 3, 3), device="cuda")
assert (x @ x).sum().item() == 27
try:
    ts._ops.conv2d(x, x)
except ts.TesseraError as error:
    print(error)
"""
    (line,) = without("libcudnn.so.900", tmp_path, program)
    assert "conv2d: expected cuDNN (libcudnn.so.900) for a convolution, got none" in line


def test_without_cusolver_factorizations_go_to_the_cpu_and_triangles_stay(tmp_path: Path) -> None:
    program = """
import tessera as ts
from tessera import tracing
x = 2 * ts.eye(3, device="cuda")
with tracing.record(kinds=["launch"]) as records:
    print(ts.linalg.inv(x).sum().item(), ts.linalg.solve_triangular(x, x, upper=True).sum().item())
for r in records:
    if r.family == "factor":
        print(r.name, r.device.type)
"""
    lines = without("libcusolver.so.900", tmp_path, program)
    assert lines == ["1.5 3.0", "inverse cuda", "inverse cpu", "solve_triangular cuda"]
