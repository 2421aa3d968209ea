# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A tour of tensors from Python. The tours in C, C++, Rust and Julia print the same lines."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import tessera as ts


def show(label: str, tensor: ts.Tensor) -> None:
    """A line such as `row sums: float32 [2] = 6.0000 15.0000`."""
    values = np.asarray(tensor).reshape(-1)
    print(f"{label}: {tensor.dtype.name} {list(tensor.shape)} =", *(f"{v:.4f}" for v in values))


def creation() -> None:
    print("-- creation")
    show("zeros", ts.zeros((2, 3)))
    show("counted", ts.arange(5))
    show("spaced", ts.linspace(0, 1, 5))
    show("filled", ts.full((2,), 2.5, dtype=ts.float64))
    show("numbers", ts.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    show("random", ts.rand((3,), generator=ts.Generator(7)))


def views() -> None:
    print("-- views")
    a = ts.arange(12).reshape((3, 4))
    show("row", a[1])
    show("column", a[:, 1])
    show("every other", a[..., ::2])
    show("new axis", a[None, 0])
    show("transposed", a.T)
    show("above seven", a[a > 7])
    a.T[0].fill_(-1)
    show("written through a view", a)


def broadcasting() -> None:
    print("-- broadcasting")
    a = ts.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    show("times ten plus a row", a * 10 + ts.tensor([0.0, 1.0, 2.0]))
    show("plus a column", a + ts.tensor([[10.0], [20.0]]))
    show("row sums", a.sum(axis=1))
    show("matrix product", a @ a.T)
    show("integers divided", ts.arange(1, 4) / 2)


def in_place() -> None:
    print("-- in place")
    a = ts.tensor([1.0, 2.0, 3.0])
    same = a
    a += 1
    a *= ts.tensor([1.0, 10.0, 100.0])
    show("seen by every reference", same)
    a[1:] = 0
    show("assigned to a part", a)


def autograd() -> None:
    print("-- autograd")
    x = ts.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = (x**3).sum()
    show("sum of cubes", y.detach())
    (first,) = ts.autograd.grad(y, x, create_graph=True)
    show("3 x^2", first.detach())
    (second,) = ts.autograd.grad(first.sum(), x)
    show("6 x", second)
    with ts.no_grad():
        print("recorded without gradients:", "yes" if (x * 2).requires_grad else "no")


def refuse(gradient: ts.Tensor) -> None:
    raise RuntimeError("no gradient today")


def hooks() -> None:
    print("-- hooks")
    x = ts.tensor([1.0, 2.0], requires_grad=True)
    doubling = x.register_hook(lambda gradient: gradient * 2)
    (x * x).sum().backward()
    assert x.grad is not None
    show("doubled on the way", x.grad)
    doubling.remove()
    x.register_hook(refuse)
    try:
        (x * x).sum().backward()
    except RuntimeError as error:
        print("the hook's own error:", error)


class Cube(ts.autograd.Function):
    """A cube with a custom derivative."""

    @staticmethod
    def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, gradient: ts.Tensor) -> ts.Tensor:
        (x,) = ctx.saved_tensors
        return gradient * x * x * 3


def custom_function() -> None:
    print("-- custom function")
    x = ts.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = Cube.apply(x)
    y.sum().backward()
    assert x.grad is not None
    show("cubes", y.detach())
    show("their gradient", x.grad)


def safetensors() -> None:
    print("-- safetensors")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tensor_tour.safetensors"
        ts.save_file({"weight": ts.ones((2, 2)), "bias": ts.arange(2)}, path, {"made by": "the tour"})
        for name, tensor in sorted(ts.load_file(path).items()):
            show(name, tensor)
        print("made by:", ts.io.load_metadata(path)["made by"])


def zero_copy() -> None:
    print("-- zero copy")
    ours = np.array([1, 2, 3, 4], dtype=np.float32)
    x = ts.from_numpy(ours).reshape((2, 2))
    x += 1
    ours[3] = 50
    print("our memory:", *(f"{v:.4f}" for v in ours))
    show("the tensor on it", x)
    again = ts.from_dlpack(x)
    again[0].zero_()
    show("after a round trip through DLPack", x)


def errors() -> None:
    print("-- errors")
    try:
        ts.ones((2, 3)) @ ts.ones((2, 3))
    except ts.ShapeError as error:
        print(f"SHAPE: {error}")


def main() -> None:
    creation()
    views()
    broadcasting()
    in_place()
    autograd()
    hooks()
    custom_function()
    safetensors()
    zero_copy()
    errors()


if __name__ == "__main__":
    main()
