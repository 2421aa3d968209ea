# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.torch.func answers as functorch, which became torch.func, does: values, shapes and structures."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
import pytest

import tessera.torch as ours

theirs = pytest.importorskip("torch")
functorch = pytest.importorskip("functorch")

CALLS = """
func.vmap(lambda a: a.sin() @ a)(x)
func.vmap(lambda a, b: a * b, (0, 1))(x, x.t())
func.vmap(lambda a, b: a + b, (None, 0))(w, x)
func.vmap(lambda a, b: a + b, (0, None), 1)(x, w)
func.vmap(lambda d: {"s": d["a"] + d["b"][0], "t": (d["b"][0].sum(),)}, ({"a": 0, "b": (None,)},))({"a": x, "b": (w,)})
func.vmap(func.vmap(lambda a, b: (a - b).abs().sum(), (None, 0)), (0, None))(x, x)
func.vmap(lambda a: torch.ones(2))(x)
func.vmap(lambda a: a.max(0))(x)
func.vmap(lambda a: a.sort(descending=True))(x)
func.vmap(lambda a: a[1:] * a[0] + a[[0, 1]].sum())(x)
func.vmap(lambda a, i: a.gather(0, i))(x, i[:, None])
func.vmap(lambda a, i: a.index_select(0, i))(x, i[:, None])
func.vmap(lambda a: a.view(2, 2).t().reshape(-1).flip(0))(x)
func.vmap(lambda a: torch.cat([a, w]).unsqueeze(0).expand(2, 8).softmax(-1))(x)
func.vmap(lambda a: torch.stack([a, w], 1).cumsum(0))(x)
func.vmap(lambda a: torch.where(a > 0, a, -a).clamp(max=0.5).std())(x)
func.vmap(torch.linalg.inv)(m)
func.vmap(torch.det)(m)
func.vmap(lambda a, b: torch.linalg.solve(a, b))(m, x[:, :3])
func.vmap(lambda a: torch.einsum("ij,jk->ik", a, a))(m)
func.vmap(lambda a: F.layer_norm(a, (4,)))(x)
func.vmap(lambda a: F.conv1d(a[None, None], w[None, None, :2]))(x)
func.vmap(lambda k: F.conv2d(im, k))(k)
func.vmap(lambda a, k: F.conv2d(a, k, padding=1))(ims, k)
func.vmap(lambda a: F.max_pool2d(a, 2))(ims)
func.vmap(lambda a: F.group_norm(a, 2))(ims)
func.vmap(lambda a, t: F.cross_entropy(a, t))(x, i)
func.vmap(lambda a: F.mse_loss(a, w, reduction="sum"))(x)
func.vmap(lambda a: F.embedding(j, a))(m)
func.grad(lambda a: (a ** 3).sum())(w)
func.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(w, x[0])
func.grad(lambda a: ((a ** 2).sum(), a * 2), has_aux=True)(w)
func.grad_and_value(lambda a: a.exp().sum())(w)
func.grad(func.grad(lambda a: a.sin() * a))(w[0])
func.vmap(func.grad(lambda a: a.norm()))(x)
func.vmap(func.grad(lambda w, a: (w * a).sum().tanh()), (None, 0))(w, x)
func.vmap(func.vmap(func.grad(torch.sin)))(x)
func.grad(lambda w: func.vmap(lambda a: (w * a).sum().tanh())(x).sum())(w)
func.grad(lambda d: (d["a"] * d["b"][0]).sum())({"a": w, "b": [x[0]]})
func.vjp(lambda a: a.sin(), w)[1](x[0])
func.vjp(lambda a, b: (a * b, a.sum()), w, x[0])[1]((x[1], w[0]))
func.jvp(lambda a: a.sin() * a, (w,), (x[0],))
func.jvp(lambda a, b: (a * b, a.sum()), (w, x[0]), (x[1], x[2]))
func.jacrev(lambda a: a.sin() * a.sum())(w)
func.jacfwd(lambda a: a.sin() * a.sum())(w)
func.jacrev(lambda a, b: (a * b, a.sum()), argnums=(0, 1))(w, x[0])
func.jacfwd(lambda a, b: (a * b, a.sum()), argnums=(0, 1))(w, x[0])
func.jacrev(lambda a: (a.sin(), a * 2), has_aux=True)(w)
func.jacfwd(lambda a: (a.sin(), a * 2), has_aux=True)(w)
func.hessian(lambda a: (a.sin() * a).sum())(w)
func.vmap(func.jacrev(lambda a: a.sin() * a.sum()))(x)
func.vmap(func.jacfwd(lambda a: a.sin() * a.sum()))(x)
func.vmap(func.hessian(lambda a: (a ** 3).sum()))(x)
func.jacfwd(func.jacrev(lambda a: (a ** 3).sum()))(w)
func.jacrev(func.jacfwd(lambda a: (a ** 3).sum()))(w)
func.vmap(lambda v: func.jvp(lambda a: a.sin() * a, (w,), (v,))[1])(x)
func.vmap(lambda v: func.vjp(lambda a: a.sin() * a.sum(), w)[1](v))(x)
func.vmap(func.vjp(lambda a: a.sin() * a.sum(), w)[1])(x)
""".strip().splitlines()


@functools.cache
def known(name: str) -> dict[str, Any]:
    torch: Any = ours if name == "ours" else theirs
    rng = np.random.default_rng(5)

    def real(*shape: int) -> Any:
        return torch.from_numpy(rng.standard_normal(shape).astype(np.float32))

    return {
        "func": ours.func if name == "ours" else functorch, "torch": torch, "F": torch.nn.functional, "x": real(3, 4),
        "w": real(4), "m": real(5, 3, 3)[:3] + 3 * torch.eye(3), "i": torch.tensor([2, 0, 3]), "j": torch.tensor([1, 0, 1]),
        "im": real(2, 2, 5, 5), "ims": real(3, 2, 2, 4, 4), "k": real(3, 3, 2, 3, 3),
    }  # fmt: skip


def same(got: Any, expected: Any) -> None:
    if isinstance(expected, theirs.Tensor):
        assert isinstance(got, ours.Tensor)
        assert tuple(got.shape) == tuple(expected.shape)
        assert str(got.dtype).rpartition(".")[2] == str(expected.dtype).rpartition(".")[2]
        np.testing.assert_allclose(got.detach().numpy(), expected.detach().numpy(), 1e-4, 1e-5)
    elif isinstance(expected, dict):
        assert got.keys() == expected.keys()
        for key in expected:
            same(got[key], expected[key])
    else:
        assert isinstance(expected, (tuple, list)) and isinstance(got, (tuple, list))
        assert len(got) == len(expected)
        for one, other in zip(got, expected):
            same(one, other)


@pytest.mark.parametrize("call", CALLS)
def test_a_transform_gives_what_pytorch_gives(call: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same(eval(call, dict(known("ours"))), eval(call, dict(known("theirs"))))
