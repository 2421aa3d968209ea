# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The calls that bench_python.py compares: statements that both libraries run, by section.

A section is a function that makes the names of its statements from the namespace `t` of either library. If the
libraries spell a call differently, the statement is a pair: ours first.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

Names = dict[str, Any]
Statement = str | tuple[str, str]
SECTIONS: dict[str, tuple[Callable[[Any], Names], list[Statement]]] = {}


def section(*statements: Statement) -> Callable[[Callable[[Any], Names]], Callable[[Any], Names]]:
    def add(names: Callable[[Any], Names]) -> Callable[[Any], Names]:
        SECTIONS[names.__name__] = (names, list(statements))
        return names

    return add


def leaves(t: Any, *shapes: tuple[int, ...]) -> list[Any]:
    return [t.rand(shape).requires_grad_() for shape in shapes]


@section(
    "t.tensor([1.0, 2.0, 3.0, 4.0])", "t.tensor([[1, 2], [3, 4]])", "t.tensor(1.5)", "t.tensor(3)", "t.tensor(True)",
    "t.tensor(array)", "t.zeros((2, 3))", "t.zeros(2, 3)", "t.ones((2, 3))", "t.full((2, 3), 1.5)", "t.empty((2, 3))",
    "t.arange(10)", "t.arange(0.0, 1.0, 0.1)", "t.linspace(0.0, 1.0, 5)", "t.eye(3)", "t.rand((2, 3))",
    "t.randn((2, 3))", "t.randint(0, 10, (4,))", "t.zeros_like(a)", "t.ones_like(a)", "t.from_numpy(array)",
    "t.asarray(array)", "t.asarray([1.0, 2.0])", "t.zeros((2, 3), dtype=t.int64)", "a.new_zeros((2, 3))",
    "t.tensor(numbers)", "t.tensor(rows)", "t.manual_seed(0)",
)
def creation(t: Any) -> Names:
    rows = np.arange(64.0).reshape(8, 8).tolist()
    numbers = [float(i) for i in range(100)]
    return {"a": t.rand((2, 3)), "array": np.ones(4, np.float32), "numbers": numbers, "rows": rows}


@section(
    "m[0]", "m[-1]", "m[1, 2]", "a[1:3]", "m[:, 1]", "m[..., None]", "m[None]", "m[1:3, ::2]", "a[mask]", "a[index]",
    "a[[0, 2]]", "m[index, 1]", "a[0] = 1.0", "a[1:3] = 2.0", "m[0] = a", "m[:, 1] = a", "a[mask] = 0.0",
    "a[index] = 1.0", "a[index] = b", "m[1, 2] = 3.0", "for row in m: pass", "for x in a: pass", "list(m)",
    "x, y = pair", "t.index_select(m, 0, index)", "t.gather(m, 1, columns)", "t.masked_select(a, mask)",
    "t.nonzero(a)", "t.masked_fill(a, mask, 0.0)", "t.unbind(m)",
)
def indexing(t: Any) -> Names:
    a, m, index = t.rand((4,)), t.rand((4, 4)), t.tensor([0, 2])
    return {
        "a": a, "b": t.rand((2,)), "m": m, "index": index, "mask": a > 0.5, "pair": t.rand((2,)),
        "columns": t.zeros((4, 1), dtype=t.int64),
    }


@section(
    "a.shape", "a.dtype", "a.device", "a.ndim", "len(a)", "a.numel()", "a.stride()", "a.requires_grad", "a.grad",
    "p.grad", "a.is_leaf", "a.data_ptr()", "a.is_contiguous()", "a.dim()", ("a.shape[0]", "a.size(0)"),
    "a.dtype == t.float32", "a.grad_fn", "h.grad_fn", "a.is_floating_point()", "a.element_size()", "a.data",
    "isinstance(a, t.Tensor)", "a.requires_grad_()", "p.grad = None", "a.shape == b.shape", "a.device == b.device",
    "hash(a)", "t.is_tensor(a)",
)
def attributes(t: Any) -> Names:
    p, = leaves(t, (2, 3))
    (p * p).sum().backward()
    return {"a": t.rand((2, 3)), "b": t.rand((2, 3)), "p": p, "h": p * 2.0}


@section(
    "a.reshape(4, 3)", "a.reshape((4, 3))", "a.reshape(-1)", "a.view(2, 6)", "a.permute(1, 0)", "a.transpose(0, 1)",
    "a.T", "a.mT", "a.t()", "c.squeeze(0)", "a.unsqueeze(0)", "c.expand(5, 3, 4)", "a.flatten()", "t.cat([a, a])",
    "t.cat([a, a], dim=1)", "t.stack([a, a])", "a.split(1)", "a.chunk(3)", "a.contiguous()", "a.T.contiguous()",
    "t.broadcast_to(v, (3, 4))", "a.flip(0)", "a.roll(1, 0)", "a.tile((2, 1))", "t.tril(a)", "a.view_as(b)",
    "a.movedim(0, 1)", "a.narrow(0, 0, 2)", "a.diagonal()", "a.swapaxes(0, 1)",
)
def shapes(t: Any) -> Names:
    return {"a": t.rand((3, 4)), "b": t.rand((4, 3)).reshape(2, 6), "c": t.rand((1, 3, 4)), "v": t.rand((4,))}


@section(
    "a.sum()", "a.sum(0)", "a.sum(dim=1, keepdim=True)", "a.mean()", "a.mean(dim=-1)", "a.mean(dim=(0, 1))",
    "a.var()", "a.var(dim=1)", "a.std()", "a.prod()", "a.amax()", "a.amax(1)", "a.max()", "a.min()",
    ("a.amax(0)", "a.max(0)"), "a.argmax()", "a.argmax(dim=1)", ("t.linalg.vector_norm(a)", "a.norm()"),
    "t.any(mask)", "mask.all()", "t.logsumexp(a, 1)", "t.cumsum(a, 0)", "t.count_nonzero(a)", "t.sort(a)",
    "t.argsort(a)", "t.topk(a, 2)", "i.sum()",
)
def reductions(t: Any) -> Names:
    a = t.rand((3, 4))
    return {"a": a, "mask": a > 0.5, "i": t.arange(10)}


@section(
    "a + b", "a + 1.0", "2 * a", "a * b + c", "a / b", "a ** 2", "-a", "a - row", "a % 2.0", "a // 2.0", "i + i",
    "i + 1", "a > b", "a > 0.5", "a == b", "a != 0.0", "mask & mask", "~mask", "t.where(mask, a, b)",
    "t.where(mask, a, 0.0)", "t.exp(a)", "a.exp()", "t.log(a)", "t.sqrt(a)", "t.sin(a)", "t.tanh(a)", "t.sigmoid(a)",
    "a.abs()", "t.maximum(a, b)", "t.clamp(a, 0.0, 1.0)", "a.clamp(min=0.0)", "t.add(a, b)", "t.mul(a, 2.0)", "g + b",
    "g * g", "a + i", "t.isnan(a)", "t.lerp(a, b, 0.5)", "t.round(a)", "t.pow(a, 3.0)",
)
def elementwise(t: Any) -> Names:
    a = t.rand((2, 4))
    return {
        "a": a, "b": t.rand((2, 4)), "c": t.rand((2, 4)), "row": t.rand((4,)), "i": t.arange(4), "mask": a > 0.5,
        "g": t.rand((2, 4)).requires_grad_(),
    }


@section(
    "s.item()", "float(s)", "int(s)", "bool(s)", "a.tolist()", "m.tolist()", "repr(a)", "repr(m)", "str(s)",
    "f'{s:.3f}'", "a.numpy()", "np.asarray(a)", "a.clone()", "g.detach()", "a.to(t.float64)", "a.to(t.float32)",
    "a.float()", "a.double()", "a.to('cpu')", "a.cpu()", "a.long()", "a.copy_(b)", "a.fill_(1.0)", "a.zero_()",
    "a.add_(b)", "d = a; d += b", "d = a; d *= 1.0", "a.mul_(b)", "a.clamp_(0.0, 1.0)", "a.uniform_()", "a.normal_()",
    "a.relu_()", "t.from_dlpack(a)", "a.__dlpack__()", "np.from_dlpack(a)", "pickle.dumps(a)", "pickle.loads(bytes)",
    "copy.copy(a)", "copy.deepcopy(a)", "index[i]", "range(n)",
)
def values(t: Any) -> Names:
    a, g = t.rand((4,)), t.rand((4,)).requires_grad_()
    return {
        "a": a, "b": t.rand((4,)), "g": g, "m": t.rand((4, 4)), "s": t.tensor(1.5), "np": np,
        "pickle": pickle, "copy": copy, "bytes": pickle.dumps(a), "index": [1, 2, 3], "i": t.tensor(1),
        "n": t.tensor(3),
    }


@section(
    "a @ b", "t.matmul(a, b)", "a @ v", "v @ v", "t.dot(v, v)", "t.bmm(s, s)", "s @ s", "t.outer(v, v)",
    "t.addmm(a, a, b)", "a.T @ b", "a @ b.T", "g @ b", "s @ a",
)
def products(t: Any) -> Names:
    a, b, s = t.rand((4, 4)), t.rand((4, 4)), t.rand((2, 4, 4))
    return {"a": a, "b": b, "v": t.rand((4,)), "s": s, "g": leaves(t, (4, 4))[0]}


@section(
    "F.linear(x, w, b)", "F.relu(x)", "F.gelu(x)", "F.silu(x)", "F.leaky_relu(x, 0.1)", "F.softmax(x, dim=1)",
    "F.log_softmax(x, dim=1)", "F.cross_entropy(x, target)", "F.nll_loss(x, target)", "F.mse_loss(x, y)",
    "F.binary_cross_entropy_with_logits(x, y)", "F.conv2d(image, kernel)", "F.conv2d(image, kernel, bias, padding=1)",
    "F.conv1d(signal, filters)", "F.batch_norm(image, mean, var)",
    "F.batch_norm(image, mean, var, weight, shift, True)", "F.layer_norm(x, (4,), v, v)", "F.dropout(x, 0.5)",
    "F.dropout(x, 0.5, False)", "F.embedding(target, table)", "F.max_pool2d(image, 2)", "F.avg_pool2d(image, 2)",
    "F.adaptive_avg_pool2d(image, 1)", "F.pad(x, (1, 1))",
)
def functional(t: Any) -> Names:
    return {
        "F": t.nn.functional, "x": t.rand((3, 4)), "y": t.rand((3, 4)), "w": t.rand((5, 4)), "b": t.rand((5,)),
        "target": t.tensor([0, 1, 2]), "image": t.rand((1, 2, 6, 6)), "kernel": t.rand((3, 2, 3, 3)),
        "bias": t.rand((3,)),
        "mean": t.zeros((2,)), "var": t.ones((2,)), "weight": t.ones((2,)), "shift": t.zeros((2,)), "v": t.rand((4,)),
        "table": t.rand((10, 4)), "signal": t.rand((1, 2, 8)), "filters": t.rand((3, 2, 3)),
    }
