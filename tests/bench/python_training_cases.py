# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The calls of a training program that bench_python.py compares; see python_cases.py for how they are written."""

from __future__ import annotations

import copy
import pickle
import tempfile
from collections.abc import Callable
from typing import Any

from python_cases import Names, leaves, section


def enabled(t: Any) -> Callable[[], None]:
    @t.no_grad()  # type: ignore[untyped-decorator]
    def nothing() -> None:
        pass

    return nothing


def exponential(t: Any) -> Any:
    """A custom function as in the manuals of both libraries."""

    class Exponential(t.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (y,) = ctx.saved_tensors
            return grad * y

    return Exponential


def chain(x: Any) -> None:
    """Forward and backward through 100 multiplications."""
    y = x
    for _ in range(100):
        y = y * x
    y.sum().backward()


@section(
    "with t.no_grad(): pass", "with t.enable_grad(): pass", "with t.inference_mode(): pass", "decorated()",
    "t.is_grad_enabled()", "with t.set_grad_enabled(False): pass", "(g * b).sum().backward()", "(g * b).backward(b)",
    "t.autograd.grad((g * b).sum(), g)", "t.autograd.grad((g * b).sum(), (g, h), allow_unused=True)",
    "t.autograd.grad((g * g).sum(), g, create_graph=True)", "chain(g)", "g.register_hook(hook).remove()",
    "(hooked * b).sum().backward()", "exponential(g)", "exponential(g).sum().backward()", "exponential(b)",
    "g.detach().requires_grad_()", "(g * b).grad_fn", "(g @ g + h).relu().mean().backward()",
)
def autograd(t: Any) -> Names:
    g, h, hooked = leaves(t, (4, 4), (4, 4), (4, 4))
    hooked.register_hook(lambda grad: None)
    return {
        "g": g, "h": h, "b": t.rand((4, 4)), "hooked": hooked, "chain": chain, "hook": lambda grad: None,
        "exponential": exponential(t).apply, "decorated": enabled(t),
    }


def perceptron(t: Any) -> Any:
    nn = t.nn
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4))


@section(
    "linear(x)", "relu(x)", "mlp(x)", "with_grad_off()", "mlp.zero_grad()", "mlp.state_dict()",
    "mlp.load_state_dict(state)", "list(mlp.parameters())", "list(mlp.named_parameters())", "mlp.train()",
    "mlp.eval()", "linear.weight", "linear.training", "linear.note = 1", "linear.weight = weight",
    "t.nn.Linear(8, 16)", "t.nn.ReLU()", "criterion(x, classes)", "convolution(image)", "norm(image)",
    "flatten(image)", "dropout(x)", "layer_norm(x)", "embedding(classes)", "pool(image)", "own(x)", "mlp[0]",
    "for layer in mlp: pass", "copy.deepcopy(linear)", "pickle.dumps(linear)", "pickle.loads(bytes)",
    "t.nn.Parameter(x)", "mlp.to(t.float32)", "mlp.requires_grad_(True)", "len(mlp)",
    "sum(p.numel() for p in mlp.parameters())", "hooked(x)",
    ("t.save_file(state, path); t.load_file(path)", "t.save(state, path); t.load(path)"),
)
def modules(t: Any) -> Names:
    nn, mlp = t.nn, perceptron(t)

    class Own(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 4)

        def forward(self, x: Any) -> Any:
            return self.second(self.first(x).relu())

    linear, hooked, x = nn.Linear(8, 16), nn.Linear(8, 16), t.rand((4, 8))
    hooked.register_forward_hook(lambda module, args, result: None)

    def with_grad_off() -> Any:
        with t.no_grad():
            return mlp(x)

    return {
        "linear": linear, "relu": nn.ReLU(), "mlp": mlp, "x": x, "state": mlp.state_dict(), "weight": linear.weight,
        "criterion": nn.CrossEntropyLoss(), "classes": t.tensor([0, 1, 2, 3]), "convolution": nn.Conv2d(2, 3, 3),
        "norm": nn.BatchNorm2d(2), "image": t.rand((1, 2, 6, 6)), "flatten": nn.Flatten(), "dropout": nn.Dropout(0.5),
        "layer_norm": nn.LayerNorm(8), "embedding": nn.Embedding(10, 4), "pool": nn.MaxPool2d(2), "own": Own(),
        "copy": copy, "pickle": pickle, "bytes": pickle.dumps(linear), "hooked": hooked, "with_grad_off": with_grad_off,
        "path": f"{tempfile.mkdtemp()}/state",
    }


def many(t: Any, count: int = 50) -> list[Any]:
    """Parameters of 100 elements with gradients."""
    made = [t.nn.Parameter(t.rand((10, 10))) for _ in range(count)]
    for parameter in made:
        parameter.grad = t.rand((10, 10))
    return made


@section(
    "sgd.step()", "momentum.step()", "adam.step()", "adamw.step()", "adam_of_one.step()", "empty.zero_grad()",
    "t.nn.utils.clip_grad_norm_(params, 1.0)", "clip(one, 1.0)", "t.optim.SGD(params, lr=0.1)",
    "t.optim.Adam(params)", "adam.state_dict()", "[p.grad for p in params]",
)
def optimizers(t: Any) -> Names:
    params, one, optim = many(t), many(t, 1), t.optim
    # PyTorch's fast implementation, which is not its default in this version.
    fast = {} if t.__name__ == "tessera" else {"foreach": True}
    adam = optim.Adam(params, **fast)
    adam.step()
    return {
        "params": params, "one": one, "adam": adam, "sgd": optim.SGD(params, lr=1e-6, **fast),
        "empty": optim.SGD(many(t), lr=1.0),
        "momentum": optim.SGD(params, lr=1e-6, momentum=0.9, **fast), "adamw": optim.AdamW(params, **fast),
        "adam_of_one": optim.Adam(one, **fast), "clip": t.nn.utils.clip_grad_norm_,
    }


def convolutional(t: Any) -> Any:
    """The network of the digits programs."""
    nn = t.nn
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1),
        nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1024, 128), nn.ReLU(), nn.Dropout(0.3),
        nn.Linear(128, 10),
    )  # fmt: skip


def trainer(t: Any, model: Any, x: Any, classes: int) -> Callable[[], None]:
    """A training step on one batch."""
    criterion, optimizer = t.nn.CrossEntropyLoss(), t.optim.AdamW(model.parameters(), lr=1e-3)
    y = t.arange(len(x)) % classes

    def step() -> None:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()

    return step


@section(
    "mlp_1()", "mlp_64()", "cnn_1()", "cnn_64()", "dataset[3]", "len(dataset)", "for x, y in loader: pass",
    "for x, y in shuffled: pass", "for x, y in by_sample: pass", "for x in numbers: pass", "for x in plain: pass",
    "next(iter(loader))", "t.utils.data.DataLoader(dataset, batch_size=16, shuffle=True)", "collate(samples)",
    "for x, y in one_by_one: pass",
)
def training(t: Any) -> Names:
    data = t.utils.data
    dataset = data.TensorDataset(t.rand((256, 8)), t.arange(256) % 4)

    class Samples(data.Dataset):  # type: ignore[misc]
        """A data set of single samples (a tensor and a number), as users write it."""

        def __getitem__(self, index: int) -> Any:
            return dataset.tensors[0][index], index % 4

        def __len__(self) -> int:
            return 256

    def image(count: int) -> Callable[[], None]:
        return trainer(t, convolutional(t), t.rand((count, 1, 8, 8)), 10)

    collate = data.default_collate
    return {
        "mlp_1": trainer(t, perceptron(t), t.rand((1, 8)), 4), "mlp_64": trainer(t, perceptron(t), t.rand((64, 8)), 4),
        "cnn_1": image(1), "cnn_64": image(64), "dataset": dataset, "t": t, "collate": collate,
        "loader": data.DataLoader(dataset, batch_size=16), "one_by_one": data.DataLoader(dataset),
        "shuffled": data.DataLoader(dataset, batch_size=16, shuffle=True),
        "by_sample": data.DataLoader(Samples(), batch_size=16), "numbers": data.DataLoader(range(256), batch_size=16),
        "plain": data.DataLoader([float(i) for i in range(256)], batch_size=16),
        "samples": [dataset[i] for i in range(16)],
    }
