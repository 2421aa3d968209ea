# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the products of matrices and vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from op_engine import ALL_FLOATS, COMPLEX, Make, Row, Sample, Samples, sample

import tessera as ts

DTYPES = (*ALL_FLOATS, "int32", "int64", *COMPLEX)
# A sum of products rounds in proportion to its terms, not to its value.
SUMS = {"float32": (1e-5, 1e-5), "float16": (2e-3, 2e-2), "bfloat16": (2e-2, 2e-1), "complex64": (1e-5, 1e-5)}


def shapes(*calls: tuple[Any, ...]) -> Samples:
    """Each call is (shape, shape, ...) or (shape, ..., {keywords})."""

    def samples(make: Make) -> list[Sample]:
        found = []
        for call in calls:
            keywords = call[-1] if isinstance(call[-1], dict) else {}
            found.append(sample(*(make(*s) for s in call if not isinstance(s, dict)), **keywords))
        return found

    return samples


def product(name: str, reference: Any, samples: Samples, **options: Any) -> Row:
    return Row(name, reference, samples, **{"dtypes": DTYPES, "tolerance": SUMS, **options})


def added(combine: Any) -> Any:
    """The reference of an op that adds alpha times a product to beta times its input."""
    return lambda x, a, b, beta=1, alpha=1: (beta * x if beta else 0) + alpha * combine(a, b)


def moved_vecdot(x: Any, y: Any, axis: int = -1) -> Any:
    x, y = np.broadcast_arrays(x, y)
    return (np.conj(x) * y).sum(axis)


def np_trace(x: Any, offset: int = 0) -> Any:
    return np.diagonal(x, offset, -2, -1).sum(-1)


def einsum_samples(make: Make) -> list[Sample]:
    calls: list[tuple[str, list[tuple[int, ...]]]] = [
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]),
        ("bij,bjk->bki", [(2, 3, 4), (2, 4, 5)]),
        ("ii->i", [(3, 3)]),
        ("iji,j->i", [(3, 2, 3), (2,)]),
        ("...ij,...jk", [(2, 1, 2, 3), (3, 3, 2)]),
        ("ba,ac", [(2, 3), (3, 2)]),
        ("ij,ij->", [(3, 4), (3, 4)]),
        ("i,j", [(2,), (3,)]),
        ("ij->ji", [(2, 3)]),
        ("ij->", [(2, 3)]),
        ("ab,cd,ef->", [(2, 3), (3, 2), (1, 2)]),
        ("ij,jk->ik", [(2, 1), (3, 2)]),
        ("ij,j->ij", [(2, 3), (3,)]),
        ("i,->i", [(3,), ()]),
        ("ij,jk->ik", [(2, 0), (0, 3)]),
        ("A b, b c -> A c", [(2, 3), (3, 2)]),
    ]
    return [sample(equation, [np.asarray(make(*s)) for s in operands]) for equation, operands in calls]


def np_einsum(equation: str, operands: Any) -> Any:
    return np.einsum(equation, *operands, dtype=np.result_type(*operands))


def chains(make: Make) -> list[Sample]:
    calls = [[(2, 3), (3, 4)], [(2, 3), (3, 4), (4, 2), (2, 2)], [(3,), (3, 2), (2,)], [(1, 5), (5, 1), (1, 3)]]
    return [sample([np.asarray(make(*s)) for s in call]) for call in calls]


def np_chain(tensors: Any) -> Any:
    result = tensors[0]
    for tensor in tensors[1:]:
        result = result @ tensor
    return result


def powers(make: Make) -> list[Sample]:
    return [sample(make(2, 3, 3), 3), sample(make(2, 2), 0), sample(make(3, 3), 1), sample(make(0, 2, 2), 5)]


ROWS = [
    product("mm", np.matmul, shapes(((2, 3), (3, 4)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((17, 9), (9, 5))),
        errors=[(ValueError, lambda: ts.mm(ts.ones(2), ts.ones(2, 3))), (TypeError, lambda: ts.mm(ts.ones(2, 2) > 0, ts.ones(2, 2) > 0)),
                (TypeError, lambda: ts.mm(ts.ones(2, 2), ts.ones(2, 2, dtype=ts.float64)))]),
    product("mv", np.matmul, shapes(((2, 3), (3,)), ((0, 3), (3,)), ((2, 0), (0,))),
        errors=[(ValueError, lambda: ts.mv(ts.ones(2, 2), ts.ones(2, 2)))]),
    product("addmv", added(np.matmul),
        shapes(((2,), (2, 3), (3,)), ((), (2, 3), (3,), {"beta": 2, "alpha": 3}), ((2,), (2, 0), (0,), {"beta": 2})),
        errors=[(ValueError, lambda: ts.addmv(ts.ones(3), ts.ones(2, 2), ts.ones(2)))]),
    product("addr", added(np.multiply.outer),
        shapes(((2, 3), (2,), (3,)), ((3,), (2,), (3,), {"beta": 2, "alpha": 3}), ((2, 3), (2,), (3,), {"beta": 0})),
        errors=[(ValueError, lambda: ts.addr(ts.ones(3), ts.ones(2, 2), ts.ones(2)))]),
    product("baddbmm", added(np.matmul),
        shapes(((2, 2, 2), (2, 2, 3), (2, 3, 2)), ((2,), (2, 1, 3), (2, 3, 2), {"beta": 2, "alpha": 3}),
               ((0, 1, 1), (0, 1, 2), (0, 2, 1))),
        errors=[(ValueError, lambda: ts.baddbmm(ts.ones(1), ts.ones(2, 2, 2), ts.ones(3, 2, 2)))]),
    product("addbmm", added(lambda a, b: (a @ b).sum(0)),
        shapes(((2, 2), (2, 2, 3), (2, 3, 2)), ((2,), (2, 1, 3), (2, 3, 2), {"beta": 2, "alpha": 3}), ((1, 1), (0, 1, 2), (0, 2, 1))),
        errors=[(ValueError, lambda: ts.addbmm(ts.ones(1), ts.ones(2, 2, 2), ts.ones(2, 3, 2)))]),
    product("vdot", np.vdot, shapes(((3,), (3,)), ((0,), (0,)), ((19,), (19,))),
        errors=[(ValueError, lambda: ts.vdot(ts.ones(2), ts.ones(3)))]),
    product("vecdot", moved_vecdot,
        shapes(((3,), (3,)), ((2, 3), (3,)), ((2, 1, 3), (4, 3)), ((2, 3), (2, 1), {"axis": 0}), ((0, 3), (3,)), ((2, 0), (2, 0)),
               ((3,), (1, 2, 3)), ((4, 3), (2, 4, 1), {"axis": -2})),
        errors=[(ValueError, lambda: ts.vecdot(ts.ones(2), ts.ones(3))),
                (ValueError, lambda: ts.vecdot(ts.ones(3), ts.ones(2, 1), axis=0)), (IndexError, lambda: ts.vecdot(ts.ones(2), ts.ones(2), axis=1))]),
    product("inner", np.inner, shapes(((3,), (3,)), ((2, 3), (4, 3)), ((), (2, 3)), ((2, 2, 3), (3,)), ((2, 0), (3, 0))),
        errors=[(ValueError, lambda: ts.inner(ts.ones(2), ts.ones(3)))]),
    product("tensordot", np.tensordot,
        lambda m: [sample(m(2, 3), m(3, 2), axes=1), sample(m(2, 3), m(2, 3), axes=2), sample(m(2,), m(3,), axes=0),
                   sample(m(2, 3, 4), m(4, 2), axes=((0, 2), (1, 0))), sample(m(2, 0), m(0, 3), axes=1)],
        call=ts.tensordot,
        errors=[(ValueError, lambda: ts.tensordot(ts.ones(2), ts.ones(3), axes=1)),
                (ValueError, lambda: ts.tensordot(ts.ones(2), ts.ones(3), axes=2)),
                (ValueError, lambda: ts.tensordot(ts.ones(2, 2), ts.ones(2, 2), axes=((0, 0), (0, 1))))]),
    product("kron", np.kron, shapes(((2, 3), (3, 2)), ((9, 12), (10, 11)), ((2,), (2, 2)), ((), (2,)), ((2, 2, 1), (3,)), ((0, 2), (2, 2)))),
    product("cross", lambda a, b, axis=-1: np.cross(a, b, axis=axis),
        shapes(((3,), (3,)), ((2, 3), (2, 3)), ((3, 2), (3, 2), {"axis": 0}), ((0, 3), (0, 3)), ((2, 3), (3,)), ((1, 3), (4, 3))),
        errors=[(ValueError, lambda: ts.cross(ts.ones(2), ts.ones(2))), (IndexError, lambda: ts.cross(ts.ones(3), ts.ones(3), axis=1))]),
    product("trace", np_trace,
        shapes(((3, 3),), ((2, 3, 4), {"offset": 1}), ((3, 2), {"offset": -1}), ((0, 0),), ((2, 2), {"offset": 5})),
        result=lambda dtype: "int64" if dtype == "int32" else dtype,
        errors=[(ValueError, lambda: ts.trace(ts.ones(3)))]),
    product("einsum", np_einsum, einsum_samples, call=ts.einsum, dtypes=(*ALL_FLOATS, "int64", *COMPLEX),
        errors=[(ValueError, lambda: ts.einsum("ij,jk", ts.ones(2, 2))), (ValueError, lambda: ts.einsum("i1", ts.ones(2, 2))),
                (ValueError, lambda: ts.einsum("i->ij", ts.ones(2))), (ValueError, lambda: ts.einsum("ij->ii", ts.ones(2, 2))),
                (ValueError, lambda: ts.einsum("ii", ts.ones(2, 3))), (ValueError, lambda: ts.einsum("i,i", ts.ones(2), ts.ones(3))),
                (ValueError, lambda: ts.einsum("i,i,i", *[ts.ones(2)] * 3, path=[(0, 1)])),
                (ValueError, lambda: ts.einsum("i,i", *[ts.ones(2)] * 2, path=[(0, 2)])),
                (TypeError, lambda: ts.einsum("i,i", ts.ones(2), ts.ones(2, dtype=ts.float64)))]),
    product("multi_dot", np_chain, chains, call=ts.linalg.multi_dot, tolerance={**SUMS, "float16": (1e-2, 1e-1), "bfloat16": (5e-2, 1)},
        errors=[(ValueError, lambda: ts.linalg.multi_dot([ts.ones(2, 2)])),
                (ValueError, lambda: ts.linalg.multi_dot([ts.ones(2, 2), ts.ones(3, 2)])),
                (ValueError, lambda: ts.linalg.multi_dot([ts.ones(2, 2), ts.ones(2), ts.ones(2)]))]),
    product("matrix_power", np.linalg.matrix_power, powers, call=ts.linalg.matrix_power,
        tolerance={**SUMS, "float16": (1e-2, 2e-1), "bfloat16": (5e-2, 2)},
        grad_samples=lambda m: [sample(m(2, 2) + 3 * np.eye(2), n) for n in (1, 2, 5, -1, -3)],
        errors=[(ValueError, lambda: ts.linalg.matrix_power(ts.ones(2, 3), 2)),
                (TypeError, lambda: ts.linalg.matrix_power(ts.ones(2, 2) > 0, 2)),
                (ts.LinAlgError, lambda: ts.linalg.matrix_power(ts.ones(2, 2), -1))]),
]  # fmt: skip
