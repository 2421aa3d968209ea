# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of neural-network ops, losses and matrix products; the reference is PyTorch if it is installed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import special
from op_engine import ALL_FLOATS, COMPLEX, FLOATS, SIGNED, Fixed, Make, Row, Sample, find, sample

import tessera as ts

# Sums of products, rounded once more in 16 bits.
PRODUCTS = {"float32": (1e-5, 2e-5), "float16": (4e-3, 1e-2), "bfloat16": (3e-2, 8e-2), "complex64": (1e-5, 1e-5)}
ROUNDED = {"float32": (1e-5, 1e-5), "float16": (4e-3, 4e-3), "bfloat16": (3e-2, 3e-2)}
STRIDED = ("contiguous", "transposed", "sliced", "reversed")


def by_torch(function: str | Callable[..., Any]) -> Callable[..., Any]:
    """A reference that calls PyTorch in double precision: a name of torch.nn.functional, or a function whose first
    argument is that module."""

    def tensors(value: Any) -> Any:
        import torch

        return torch.from_numpy(np.array(value)) if isinstance(value, np.ndarray) else value

    def reference(*args: Any, **kwargs: Any) -> Any:
        functional = pytest.importorskip("torch").nn.functional
        call = getattr(functional, function) if isinstance(function, str) else partial(function, functional)
        result = call(*map(tensors, args), **{k: tensors(v) for k, v in kwargs.items()})
        return tuple(r.numpy() for r in result) if isinstance(result, tuple) else result.numpy()

    return reference


# ---- convolution ----


def conv_reference(name: str) -> Callable[..., Any]:
    def call(functional: Any, x: Any, w: Any, b: Any = None, same: bool = False, **options: Any) -> Any:
        return getattr(functional, name)(x, w, b, **({"padding": "same", **options} if same else options))

    return by_torch(call)


def conv_samples(make: Make) -> list[Sample]:
    return [
        sample(make(2, 2, 4, 3), make(3, 2, 3, 2), make(3)),
        sample(make(1, 2, 4, 4), make(2, 2, 3, 3), stride=[2], padding=[1]),
        sample(make(1, 4, 3, 3), make(2, 2, 2, 2), make(2), dilation=[2, 1], groups=2, padding=[1, 0]),
        sample(make(1, 2, 4, 5), make(3, 2, 2, 2), same=True),
        sample(make(1, 3, 2, 2), make(2, 3, 1, 1)),
        sample(make(2, 4, 5), make(3, 2, 2, 2)),
        sample(make(0, 2, 3, 3), make(2, 2, 2, 2)),
    ]


def transpose_samples(make: Make) -> list[Sample]:
    return [
        sample(make(2, 2, 3, 2), make(2, 3, 2, 2), make(3)),
        sample(make(1, 2, 2, 3), make(2, 2, 3, 3), stride=[2], padding=[1], output_padding=[1]),
        sample(make(1, 4, 2, 2), make(4, 1, 2, 2), make(2), groups=2, dilation=[2]),
    ]


def lines(axes: int) -> Callable[[Make], list[Sample]]:
    """Samples along another number of axes."""

    def made(make: Make) -> list[Sample]:
        shape, kernel = (4, 3, 2)[:axes], (2, 2, 1)[:axes]
        return [
            sample(make(1, 2, *shape), make(2, 2, *kernel), make(2)),
            sample(make(1, 2, *shape), make(2, 2, *kernel), stride=[2], padding=[1] + [0] * (axes - 1)),
        ]

    return made


CONV: dict[str, Any] = {"dtypes": ALL_FLOATS, "tolerance": PRODUCTS, "layouts": STRIDED}
ONE = lambda *shape: ts.ones(shape)  # noqa: E731

ROWS = [
    Row("conv2d", conv_reference("conv2d"), conv_samples, **CONV,
        errors=[(ValueError, lambda: find("conv2d")(ONE(1, 3, 4, 4), ONE(2, 2, 3, 3))),
                (ValueError, lambda: find("conv2d")(ONE(1, 1, 2, 2), ONE(1, 1, 3, 3)))]),
    Row("conv1d", conv_reference("conv1d"), lines(1), **CONV),
    Row("conv3d", conv_reference("conv3d"), lines(3), **CONV),
    Row("conv_transpose2d", by_torch("conv_transpose2d"), transpose_samples, **CONV),
    Row("conv_transpose1d", by_torch("conv_transpose1d"), lines(1), **CONV),
    Row("conv_transpose3d", by_torch("conv_transpose3d"), lines(3), **CONV),
]  # fmt: skip


# ---- pooling ----

WINDOWS: tuple[dict[str, Any], ...] = (
    {"kernel_size": [2]},
    {"kernel_size": [3, 2], "stride": [1, 2], "padding": [1, 0]},
    {"kernel_size": [2], "stride": [2], "ceil_mode": True},
)


def windows(make: Make, *more: dict[str, Any]) -> list[Sample]:
    return [sample(make.distinct(1, 2, 5, 4), **w) for w in (*WINDOWS, *more)] + [sample(make.distinct(2, 4, 4), kernel_size=[2])]


def max_reference(F: Any, x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
                  positions: bool = False) -> Any:  # fmt: skip
    return F.max_pool2d(x, kernel_size, stride, padding, dilation, ceil_mode, positions)


POOL: dict[str, Any] = {"dtypes": ALL_FLOATS, "tolerance": ROUNDED, "layouts": ("contiguous", "transposed", "sliced")}
ROWS += [
    Row("max_pool2d", by_torch(max_reference), lambda m: windows(m, {"kernel_size": [2], "stride": [1], "dilation": [2]}), **POOL,
        errors=[(ValueError, lambda: find("max_pool2d")(ONE(1, 1, 2, 2), [3]))]),
    Row("max_pool2d_with_positions", by_torch(lambda *a, **k: max_reference(*a, positions=True, **k)), windows, **POOL),
    Row("avg_pool2d", by_torch("avg_pool2d"), lambda m: windows(m, {"kernel_size": [2], "padding": [1], "count_include_pad": False},
                                                                {"kernel_size": [2], "divisor_override": 3}), **POOL),
    Row("adaptive_avg_pool2d", by_torch(lambda F, x, size: F.adaptive_avg_pool2d(x, size if len(size) == 2 else size[0])),
        lambda m: [sample(m(1, 2, 5, 3), [3, 2]), sample(m(2, 4, 5), [1]), sample(m(1, 1, 2, 2), [3, 3])], **POOL),
]  # fmt: skip


# ---- normalisation ----


def fixed_statistics(make: Make) -> list[Sample]:
    """Evaluation and training without running statistics; float32 ones go with 16-bit input."""
    found = [
        sample(make(3, 2, 2), None, None, make(2), make(2), training=True),
        sample(make(4, 3), None, None, None, None, training=True, eps=1e-3),
        sample(make(2, 3, 2, 2), None, None, make(3), None, training=True),
    ]
    if make.dtype in FLOATS:
        found.append(sample(make(3, 2, 2), make(2), make(2, low=0.5, high=2), make(2), make(2)))
    return found


def batch_norm(F: Any, x: Any, mean: Any, var: Any, w: Any, b: Any, **options: Any) -> Any:
    return F.batch_norm(x, mean, var, w, b, **options)


NORM: dict[str, Any] = {"dtypes": ALL_FLOATS, "tolerance": {**ROUNDED, "float32": (1e-4, 1e-5)}}
ROWS += [
    Row("batch_norm", by_torch(batch_norm), fixed_statistics, grad_args=(0, 3, 4), **NORM, layouts=("contiguous", "transposed", "sliced"),
        errors=[(ValueError, lambda: find("batch_norm")(ONE(1, 3), training=True))]),
    Row("layer_norm", by_torch("layer_norm"),
        lambda m: [sample(m(3, 4), [4], m(4), m(4)), sample(m(2, 2, 3), [2, 3], m(2, 3)), sample(m(5, 3), [3], eps=1e-3),
                   sample(m(0, 3), [3])], **NORM, layouts=("contiguous", "transposed", "sliced")),
]  # fmt: skip


# ---- softmax and losses ----


def axes(make: Make) -> list[Sample]:
    return [sample(make(3, 4), axis=a) for a in (0, 1, -1)] + [sample(make(2, 3, 2), axis=1), sample(make(), axis=0),
                                                               sample(make(0, 3), axis=1), sample(make(7))]  # fmt: skip


def classes(make: Make) -> list[Sample]:
    weight = np.linspace(0.5, 1.5, 3)
    return [
        sample(make(4, 3), make.index(4, high=3)),
        sample(make(4, 3), make.index(4, high=3), reduction="sum"),
        sample(make(2, 3, 2, 2), make.index(2, 2, 2, high=3), reduction="none"),
        sample(make(4, 3), Fixed(np.array([0, -100, 2, -100]))),
        sample(make(3), make.index(high=3)),
        sample(make(4, 3), make.index(4, high=3), weight.astype("float32").astype(float)),
    ]


def smoothed(make: Make) -> list[Sample]:
    return [*classes(make), sample(make(4, 3), make.index(4, high=3), label_smoothing=0.2)]


def loss(name: str) -> Callable[..., Any]:
    return by_torch(lambda F, x, t, w=None, **options: getattr(F, name)(x, t, w, **options))


def pairs(make: Make) -> list[Sample]:
    return [sample(make(2, 3), make(2, 3), reduction=r) for r in ("none", "sum", "mean")] + [sample(make(4), make(4))]


def logits(make: Make) -> list[Sample]:
    goal = lambda: make(2, 3, low=0, high=1)  # noqa: E731
    weight = lambda: make(3, low=0.5, high=2)  # noqa: E731
    return [sample(make(2, 3), goal(), reduction=r) for r in ("none", "sum", "mean")] + [
        sample(make(2, 3), goal(), weight(), weight()), sample(make(2, 3), goal(), None, weight(), reduction="none")
    ]  # fmt: skip


LOSS: dict[str, Any] = {"tolerance": {**ROUNDED, "float32": (1e-5, 1e-5)}, "layouts": ("contiguous", "transposed", "sliced")}
ROWS += [
    Row("softmax", lambda x, axis=-1: special.softmax(x, axis) if x.size else x, axes, dtypes=(*ALL_FLOATS, *SIGNED), result="float",
        tolerance=ROUNDED, errors=[(IndexError, lambda: ts.softmax(ONE(2), axis=1))]),
    Row("log_softmax", lambda x, axis=-1: special.log_softmax(x, axis) if x.size else x, axes,
        dtypes=(*ALL_FLOATS, *SIGNED), result="float",
        tolerance=ROUNDED),
    Row("cross_entropy", loss("cross_entropy"), smoothed, dtypes=ALL_FLOATS, grad_args=(0,), **LOSS,
        errors=[(IndexError, lambda: find("cross_entropy")(ONE(1, 2), ts.asarray([2])))]),
    Row("nll_loss", loss("nll_loss"), classes, dtypes=ALL_FLOATS, grad_args=(0,), **LOSS),
    Row("mse_loss", by_torch("mse_loss"), pairs, dtypes=ALL_FLOATS,
        **{**LOSS, "tolerance": {**ROUNDED, "float16": (5e-3, 2e-2), "bfloat16": (5e-2, 2e-1)}}),
    Row("binary_cross_entropy_with_logits",
        by_torch(lambda F, x, t, w=None, p=None, **o: F.binary_cross_entropy_with_logits(x, t, weight=w, pos_weight=p, **o)), logits,
        dtypes=ALL_FLOATS, grad_args=(0, 1), **{**LOSS, "tolerance": {**ROUNDED, "float16": (5e-3, 2e-2), "bfloat16": (5e-2, 2e-1)}}),
]  # fmt: skip


# ---- dropout: random results are compared by shape here and by statistics in test_nn.py ----

ROWS += [
    Row("dropout", lambda x, p=0.5, training=True: x if not training else x * 0,
        lambda m: [sample(m(3, 4), training=False), sample(m(2, 3), p=1.0), sample(m(2, 2), p=0.0, training=False)],
        errors=[(ValueError, lambda: find("dropout")(ONE(2), p=1.5))]),
]  # fmt: skip


# ---- matrix products ----


def products(make: Make) -> list[Sample]:
    return [sample(make(2, 3), make(3, 4)), sample(make(3, 2, 4), make(3, 4, 2))]


GEMM: dict[str, Any] = {"dtypes": (*ALL_FLOATS, "int64", *COMPLEX), "tolerance": PRODUCTS}
ROWS += [
    Row("linear", lambda x, w, b=0: x @ w.T + b,
        lambda m: [sample(m(3, 4), m(2, 4), m(2)), sample(m(4), m(2, 4)), sample(m(2, 2, 3), m(2, 3), m(2)), sample(m(0, 3), m(2, 3))],
        **GEMM, errors=[(ValueError, lambda: find("linear")(ONE(2, 3), ONE(2, 4)))]),
    Row("addmm", lambda x, a, b, beta=1, alpha=1: beta * x + alpha * (a @ b),
        lambda m: [sample(m(2, 4), m(2, 3), m(3, 4)), sample(m(4), m(2, 3), m(3, 4), beta=2, alpha=3)], **GEMM),
    Row("bmm", lambda a, b: a @ b, lambda m: [sample(m(2, 3, 4), m(2, 4, 2)), sample(m(0, 2, 3), m(0, 3, 1))], **GEMM,
        errors=[(ValueError, lambda: ts.bmm(ONE(2, 3), ONE(3, 4)))]),
    Row("dot", lambda a, b: np.sum(a * b), lambda m: [sample(m(5), m(5)), sample(m(0), m(0))], **GEMM,
        errors=[(ValueError, lambda: ts.dot(ONE(2), ONE(3)))]),
    Row("outer", np.outer, lambda m: [sample(m(3), m(2)), sample(m(0), m(2))], **GEMM),
]  # fmt: skip


# ---- optimizer steps: the row runs two of them on copies and returns the parameter ----

STEP: dict[str, Any] = {"dtypes": FLOATS, "grad": False, "why_no_grad": "changes its arguments in place", "tolerance": ROUNDED}


def torch_steps(name: str, **renamed: str) -> Callable[..., Any]:
    def reference(p: Any, g: Any, **options: Any) -> Any:
        torch = pytest.importorskip("torch")
        parameter = torch.nn.Parameter(torch.from_numpy(p.copy()))
        options = {renamed.get(k, k): v for k, v in options.items()}
        if "beta1" in options:
            options["betas"] = (options.pop("beta1"), 0.999)
        optimizer = getattr(torch.optim, name)([parameter], **options)
        for factor in (1.0, -0.5):
            parameter.grad = torch.from_numpy(g * factor)
            optimizer.step()
        return parameter.detach().numpy()

    return reference


def our_steps(name: str) -> Callable[..., Any]:
    def call(p: Any, g: Any, *, learning_rate: float, amsgrad: bool = False, **options: Any) -> Any:
        parameter, states = [p.clone()], [[ts.zeros_like(p)] for _ in range(3)]
        for number, factor in enumerate((1.0, -0.5)):
            gradient = [g * factor]
            if name == "sgd_step":
                find(name)(parameter, gradient, states[0], learning_rate, first_step=number == 0, **options)
            else:
                largest = states[2] if amsgrad else []
                find(name)(parameter, gradient, states[0], states[1], largest, number + 1, learning_rate, **options)
        return parameter[0]

    return call


def steps(*options: dict[str, Any]) -> Callable[[Make], list[Sample]]:
    return lambda make: [sample(make(3, 4), make(3, 4), learning_rate=0.1, **o) for o in options]


def clipped(*grads: Any, max_norm: float, norm_type: float = 2.0) -> Any:
    parameters = [ts.ones_like(g).requires_grad_() for g in grads]
    for parameter, grad in zip(parameters, grads):
        parameter.grad = grad.clone()
    norm = find("clip_grad_norm")(parameters, max_norm, norm_type)
    return (*(parameter.grad for parameter in parameters), norm)


def clip_reference(*grads: Any, max_norm: float, norm_type: float = 2.0) -> Any:
    norm = np.linalg.norm(np.concatenate([g.reshape(-1) for g in grads]), norm_type)
    return (*(g * min(1.0, max_norm / (norm + 1e-6)) for g in grads), norm)


ADAM = ({}, {"weight_decay": 0.1, "amsgrad": True}, {"beta1": 0.5, "eps": 1e-3, "maximize": True})
ROWS += [
    Row("sgd_step", torch_steps("SGD", learning_rate="lr"), steps({}, {"momentum": 0.9, "weight_decay": 0.1},
        {"momentum": 0.9, "nesterov": True}, {"momentum": 0.5, "dampening": 0.25, "maximize": True}), call=our_steps("sgd_step"), **STEP,
        errors=[(ValueError, lambda: find("sgd_step")([ONE(2)], [], [], 0.1))]),
    Row("adam_step", torch_steps("Adam", learning_rate="lr"), steps(*ADAM), call=our_steps("adam_step"), **STEP),
    Row("adamw_step", torch_steps("AdamW", learning_rate="lr"), steps(*({"weight_decay": 0.01, **o} for o in ADAM)),
        call=our_steps("adamw_step"), **STEP),
    Row("clip_grad_norm_", clip_reference, lambda m: [sample(m(3, 4), m(2), max_norm=0.5), sample(m(3), m(2), max_norm=100.0),
        sample(m(3), max_norm=0.5, norm_type=float("inf"))], call=clipped, **STEP),
]  # fmt: skip
