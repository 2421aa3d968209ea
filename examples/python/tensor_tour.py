# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A tour of tensors: making, indexing, sharing memory with NumPy, differentiating."""

from __future__ import annotations

import numpy as np

import tessera as ts


def main() -> None:
    # Tensors come from numbers, shapes and arrays.
    a = ts.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    print("a =", a, "\nshape", a.shape, "dtype", a.dtype, "device", a.device)
    print("zeros:", ts.zeros(3), " integers:", ts.arange(5), " equally spaced:", ts.linspace(0, 1, 5))

    # Arithmetic broadcasts, and numbers keep the tensor's dtype.
    print("a * 10 + [0, 1, 2] =", a * 10 + ts.arange(3))
    print("row sums:", a.sum(axis=1), " matrix product:", a @ a.T)

    # Indexing makes views: writing to one writes to the tensor.
    a[0, 1:] = -1
    column = a[:, 0]
    column *= 2
    print("after writing through views:", a, "\nwhere positive:", a[a > 0])

    # NumPy sees the same memory, and so does anything that speaks DLPack.
    array = a.numpy()
    array[1, 1] = 50
    print("written by NumPy:", a[1, 1].item(), " back from NumPy:", ts.from_numpy(np.eye(2)))

    # Gradients: y = sum(x^3) has dy/dx = 3 x^2, and a second derivative of 6 x.
    x = ts.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = (x**3).sum()
    (first,) = ts.autograd.grad(y, x, create_graph=True)
    (second,) = ts.autograd.grad(first.sum(), x)
    print("y =", y, "\ndy/dx =", first.detach(), "\nd2y/dx2 =", second)

    # Errors say what was expected and what came.
    try:
        a + ts.ones(4)
    except ts.ShapeError as error:
        print("ShapeError:", error)


if __name__ == "__main__":
    main()
