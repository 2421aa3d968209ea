# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tests/conformance in Python: makes its cases as calls of the package, loads its tensors by key, and compares them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import tessera as ts

FOLDER = Path(__file__).resolve().parents[3] / "tests" / "conformance"
FILE = FOLDER / "vectors.safetensors"
SLICE, NEW_AXIS, ELLIPSIS, ARRAY = 1, 2, 3, 4  # of the schema's index_kind

# ---- The tensors ----


@lru_cache(maxsize=1)
def vectors() -> dict[str, ts.Tensor]:
    return dict(ts.io.load_file(str(FILE)))


def copy(key: str) -> ts.Tensor:
    """A stored tensor that the test may write to."""
    return vectors()[key].clone()


def complex_copy(key: str) -> ts.Tensor:
    """A complex128 tensor; the file stores it as pairs."""
    pairs = vectors()[key].numpy()
    return ts.asarray(pairs[..., 0] + 1j * pairs[..., 1])


def same(found: Any, key: str, rtol: float | None = None, atol: float | None = None) -> None:
    """Asserts that dtype, shape and values equal those of the stored tensor."""
    assert isinstance(found, ts.Tensor), f"{key}: {found!r} is no tensor"
    expected = complex_copy(key) if found.dtype is ts.complex128 else vectors()[key]
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), key
    usual = families()[0]["tolerances"].get(expected.dtype.name, (0.0, 0.0))
    bounds = [u if given is None else given for given, u in zip((rtol, atol), usual)]
    np.testing.assert_allclose(_parts(found), _parts(expected), *bounds, err_msg=key)


def _parts(tensor: ts.Tensor) -> Any:
    """The numbers for a comparison; a complex one by its real and imaginary part."""
    plain = tensor.detach()
    array = (plain.astype(ts.float32) if plain.dtype is ts.bfloat16 else plain).numpy()
    return np.stack([array.real, array.imag]) if plain.dtype.is_complex else array


# ---- The cases ----


@lru_cache(maxsize=1)
def families() -> list[dict[str, Any]]:
    found = [json.loads(path.read_text("utf-8")) for path in sorted((FOLDER / "cases").glob("*.json"))]
    assert found, f"no cases in {FOLDER}"
    return found


def replays() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """(op, case) of each call that every language makes."""
    ops = [op for family in families() for op in family["ops"]]
    return [(op, case) for op in ops for case in op["cases"] if "form" in case]


def keys(value: Any) -> Iterator[str]:
    """The tensors that a part of a case names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from keys(one)


def value_of(kind: str, value: Any, is_leaf: bool) -> Any:
    """An argument of that schema type; tests/conformance/README.md describes the notation."""
    if isinstance(value, dict):
        if "pairs" in value:
            return complex_copy(value["pairs"])
        return complex(*value["complex"]) if "complex" in value else float(value["float"])
    if isinstance(value, list):
        return [value_of(kind, one, is_leaf) for one in value]
    if isinstance(value, str) and kind.startswith("tensor"):
        return copy(value).requires_grad_(is_leaf)
    if isinstance(value, str) and kind.startswith("dtype"):
        return getattr(ts, value + "_" * (value == "bool"))
    return value


# ---- The call ----


def call(op: dict[str, Any], case: dict[str, Any], values: dict[str, Any]) -> Any:
    if op["python"] is None or op["op"] in ("einsum", "tensordot"):
        return call_by_hand(op["op"], values)
    name, keyword = op["python"]["name"], op["python"].get("keyword")
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for place, arg in enumerate(op["args"]):
        if arg["name"] in values:
            leads = place == 0 or arg["type"] in ("tensor", "tensor?", "scalar")
            if leads and arg["name"] != keyword and len(positional) == place:
                positional.append(values[arg["name"]])
            else:
                named[arg["name"]] = values[arg["name"]]
    if case["form"] == "inplace":
        return getattr(positional[0], name)(*positional[1:], **named)
    function: Any = ts
    for part in name.split("."):
        function = getattr(function, part)
    return function(*positional, **named)


def call_by_hand(name: str, values: dict[str, Any]) -> Any:
    """Calls an op that the package has under another name, or as indexing."""
    if name == "arange":
        return ts.arange(*[values.pop(n) for n in ("start", "stop", "step") if n in values], **values)
    if name == "einsum":
        path = values.get("path")
        pairs = None if path is None else list(zip(path[::2], path[1::2]))
        return ts.einsum(values["equation"], *values["operands"], path=pairs)
    if name == "tensordot":
        return ts.tensordot(values["input"], values["other"], axes=(values["input_axes"], values["other_axes"]))
    first = values.pop(next(iter(values)))
    if name in ("asarray", "to"):
        return (ts.asarray if name == "asarray" else ts.Tensor.to)(first, **values)
    if name == "getitem_boolean":
        return first[values["mask"]]
    if name == "getitem_integer":
        return first[tuple(slice(None) if i is None else i for i in values["indices"])]
    if name in ("getitem", "getitem_basic"):
        return first[index_of(values)]
    assert name == "setitem", f"{name} has no name in Python and no line in call_by_hand"
    first[index_of(values)] = values["value"]
    return None


def index_of(values: dict[str, Any]) -> tuple[Any, ...]:
    arrays = iter(values.get("arrays", ()))
    found: list[Any] = []
    for kind, start, stop, step in zip(*[iter(values["items"])] * 4, strict=True):
        if kind == ARRAY:
            found.append(next(arrays))
        else:
            found.append({SLICE: slice(start, stop, step), NEW_AXIS: None, ELLIPSIS: ...}.get(kind, start))
    return tuple(found)


# ---- One replay ----


def replay(op: dict[str, Any], case: dict[str, Any]) -> None:
    """Runs a case as tests/conformance/README.md describes."""
    types = {arg["name"]: arg["type"] for arg in op["args"]}
    grads = case.get("grads", {})
    leaves = {n: value_of(types[n], v, n in grads or n in case.get("grad", ())) for n, v in case["in"].items()}
    for name, given in case.get("grad", {}).items():
        for tensor, key in zip(leaves[name], given, strict=True):
            tensor.grad = None if key is None else copy(key)
    changes = set(case.get("changes", ())) & set(grads)  # a leaf must not change
    values = {name: value.clone() if name in changes else value for name, value in leaves.items()}
    found = call(op, case, dict(values))
    expected = case.get("out", {}) | case.get("after", {})
    results = dict(zip(case.get("out", ()), found if len(case.get("out", ())) > 1 else [found]))
    results |= {name: values[name] for name in case.get("after", ())}
    bounds = {name: case[name] for name in ("rtol", "atol") if name in case}
    for name, tensors in results.items():
        each(tensors, expected[name], bounds)
    for name, given in case.get("after_grad", {}).items():
        each([tensor.grad for tensor in values[name]], given, bounds)
    roots = [tensor for name in case.get("weights", ()) for tensor in listed(results[name])]
    if roots:
        ts.autograd.backward(roots, [vectors()[key] for key in keys(case["weights"])])
    for name, given in grads.items():
        each([tensor.grad for tensor in listed(leaves[name])], listed(given), bounds)


def listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def each(found: Any, expected: Any, bounds: dict[str, float]) -> None:
    """Compares a tensor or a list of tensors with the stored ones; None: there is no tensor."""
    for tensor, key in zip(listed(found), listed(expected), strict=True):
        if key is None:
            assert tensor is None, "a tensor where none is expected"
        else:
            same(tensor, *keys(key), **bounds)
