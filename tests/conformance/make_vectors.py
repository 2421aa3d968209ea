# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes vectors.safetensors; README.md describes its contents.

Inputs and results of cases are the schema's numbers. Results and gradients of the gradient replays are computed in
float64 by the library; the script fails if central differences or PyTorch disagree with one of them.

Usage: make_vectors.py [path]     (in the environment .venv, which has PyTorch)
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "capi")]

from generator.cases.replay import Replay, Stored, op_records  # noqa: E402
from generator.schema import load  # noqa: E402
from raw_calls import call, of  # noqa: E402

import tessera as ts  # noqa: E402

FILE = HERE / "vectors.safetensors"
STEP = 6e-6  # near the cube root of the machine epsilon, where the error of central differences is smallest
DIFFERENCES = {"rtol": 1e-7, "atol": 1e-8}
AGREEMENT = {"rtol": 1e-10, "atol": 1e-11}  # of two libraries in float64
DIGITS = 12  # significant digits of computed numbers: the last bits differ between processors


def load_records() -> list[Replay]:
    """Every line of cases/, in order."""
    schema = load(ROOT / "capi" / "schema")
    return [record for op in schema.ops for record in op_records(schema, op)]


# ---- From literals to arrays ----


def array_of(stored: Stored) -> np.ndarray[Any, Any]:
    """A literal of the schema, as it is stored in the file."""
    literal = stored.literal
    assert literal.data is not None, stored.key
    if stored.pairs:
        return np.array([[z.real, z.imag] for z in literal.data], np.float64).reshape(*literal.shape, 2)
    dtype = ts.float32 if literal.dtype == "bf16" else dtype_of(literal.dtype)
    return np.array(literal.data, dtype.numpy).reshape(literal.shape)


def tensor_of(stored: Stored) -> ts.Tensor:
    """As array_of, as a tensor of the file."""
    tensor = ts.asarray(array_of(stored), copy=True)
    return tensor.astype(ts.bfloat16) if stored.literal.dtype == "bf16" else tensor


def argument_of(stored: Stored) -> ts.Tensor:
    """As tensor_of, in the dtype of the argument."""
    if not stored.pairs:
        return tensor_of(stored)
    pairs = array_of(stored)
    return ts.asarray(pairs[..., 0] + 1j * pairs[..., 1])


def dtype_of(short: str) -> Any:
    from generator.schema.reader import DTYPES

    return getattr(ts, {"bool": "bool_"}.get(short, DTYPES[short][0]))


# ---- Gradients by the library ----


@dataclasses.dataclass
class Computed:
    """A gradient replay after its backward."""

    arguments: dict[str, np.ndarray[Any, Any]]  # by key
    results: dict[str, np.ndarray[Any, Any]]
    grads: dict[str, np.ndarray[Any, Any]]


def arguments_of(replay: Replay) -> dict[str, ts.Tensor]:
    return {s.key: argument_of(s) for given in replay.args for s in of(given.value)}


def outcomes(replay: Replay, results: dict[str, Any], arguments: dict[str, ts.Tensor]) -> Iterator[Any]:
    """(what the file has, tensor of this run) for each result and changed argument."""
    for name, expected in replay.results.items():
        found = results[name]
        yield from zip(of(expected), found if isinstance(found, tuple) else (found,), strict=True)
    for given in replay.args:
        if given.arg.name in replay.after:
            expected = replay.after[given.arg.name]
            yield from zip(of(expected), (arguments[s.key] for s in of(given.value)), strict=True)


def weights_of(replay: Replay) -> dict[str, Stored]:
    """By the key of the result that each belongs to."""
    assert replay.gradient is not None
    expected = {**replay.results, **replay.after}
    return {
        result.key: weight
        for name, weights in replay.gradient.weights.items()
        for result, weight in zip(of(expected[name]), of(weights), strict=True)
    }


def leaves_of(replay: Replay) -> dict[str, str]:
    """Key of the gradient by key of the argument."""
    assert replay.gradient is not None
    return {
        one.key: grad.key
        for given in replay.args
        if given.arg.name in replay.gradient.grads
        for one, grad in zip(of(given.value), of(replay.gradient.grads[given.arg.name]), strict=True)
    }


def differentiate(replay: Replay) -> Computed:
    """Forward and backward through the C ABI."""
    leaves = arguments_of(replay)
    grads = leaves_of(replay)
    for key in grads:
        leaves[key].requires_grad = True
    changed = {s.key for given in replay.args if given.changes for s in of(given.value)}
    used = {key: leaf.clone() if key in changed else leaf for key, leaf in leaves.items()}
    pairs = list(outcomes(replay, call(replay, used), used))
    weights = weights_of(replay)
    roots = [(tensor, tensor_of(weights[stored.key])) for stored, tensor in pairs if stored.key in weights]
    ts.autograd.backward([t for t, _ in roots], [w for _, w in roots])
    found = {}
    for key, grad in grads.items():
        given = leaves[key].grad
        if given is None:
            raise SystemExit(f"{replay.name}: {key} gets no gradient")
        found[grad] = rounded(given.numpy())
    return Computed(
        arguments={key: leaf.detach().numpy() for key, leaf in leaves.items()},
        results={stored.key: rounded(tensor.detach().numpy()) for stored, tensor in pairs},
        grads=found,
    )


def rounded(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Rounded to DIGITS significant digits, so that every processor writes the same file; -0 becomes 0."""
    if array.dtype != np.float64:
        return array.copy()
    return np.array([float(f"{x:.{DIGITS - 1}e}") for x in array.flat]).reshape(array.shape) + 0.0


# ---- The two checks ----


def weighted_sum(replay: Replay, arguments: dict[str, ts.Tensor]) -> float:
    weights = weights_of(replay)
    changed = {s.key for given in replay.args if given.changes for s in of(given.value)}
    used = {key: t.clone() if key in changed else t for key, t in arguments.items()}
    return sum(
        float((tensor.numpy() * array_of(weights[stored.key])).sum())
        for stored, tensor in outcomes(replay, call(replay, used), used)
        if stored.key in weights
    )


def check_differences(replay: Replay, computed: Computed) -> None:
    """Compares every gradient with central differences of the weighted sum."""
    arguments = arguments_of(replay)
    for key, grad in leaves_of(replay).items():
        place = arguments[key].numpy()
        slopes = np.empty_like(place)
        for index in np.ndindex(place.shape):
            middle = place[index]
            place[index] = middle + STEP
            above = weighted_sum(replay, arguments)
            place[index] = middle - STEP
            below = weighted_sum(replay, arguments)
            place[index] = middle
            slopes[index] = (above - below) / (2 * STEP)
        agree(f"{replay.name}: central differences, {key}", computed.grads[grad], slopes, DIFFERENCES)


def check_torch(replay: Replay, computed: Computed) -> bool:
    """Compares results and gradients with PyTorch's; False if PyTorch has no such op."""
    import torch
    import torch_calls

    theirs = torch_calls.call_of(replay.op)
    if theirs is None:
        return False
    grads = leaves_of(replay)
    leaves = {key: torch.tensor(array, requires_grad=key in grads) for key, array in computed.arguments.items()}

    def passed(given: Any) -> Any:
        if isinstance(given.value, Stored):
            leaf = leaves[given.value.key]
            return leaf.clone() if given.changes else leaf
        if given.arg.type.is_tensor_list:
            return [leaves[s.key] for s in of(given.value)]
        return given.value

    arguments = SimpleNamespace(**{given.arg.name: passed(given) for given in replay.args})
    result = theirs(arguments)
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    weights = weights_of(replay)
    roots = []
    for stored, tensor in zip(all_outcomes(replay), results, strict=True):
        agree(f"{replay.name}: PyTorch, {stored.key}", computed.results[stored.key], tensor.detach().numpy(), AGREEMENT)
        if stored.key in weights:
            roots.append((tensor, torch.from_numpy(array_of(weights[stored.key]))))
    torch.autograd.backward([t for t, _ in roots], [w for _, w in roots])
    for key, grad in grads.items():
        agree(f"{replay.name}: PyTorch, {key}", computed.grads[grad], leaves[key].grad.numpy(), AGREEMENT)
    return True


def all_outcomes(replay: Replay) -> list[Stored]:
    return [s for tensors in (*replay.results.values(), *replay.after.values()) for s in of(tensors)]


def agree(what: str, found: Any, expected: Any, tolerance: dict[str, float]) -> None:
    try:
        assert found.shape == expected.shape, f"shapes {found.shape} and {expected.shape}"
        np.testing.assert_allclose(found, expected, **tolerance)
    except AssertionError as error:
        raise SystemExit(f"{what}: {error}") from None


# ---- The file ----


def stated(found: list[Replay]) -> dict[str, ts.Tensor]:
    """All tensors that the schema states."""
    return {s.key: tensor_of(s) for replay in found for s in replay.stored() if s.literal.data is not None}


def main() -> int:
    records = load_records()
    tensors = stated(records)
    gradients = [record for record in records if record.gradient is not None]
    compared = 0
    for record in gradients:
        computed = differentiate(record)
        check_differences(record, computed)
        compared += check_torch(record, computed)
        for key, array in (computed.results | computed.grads).items():
            if key in tensors:  # an in-place form has the values of the functional one
                agree(f"{record.name}: the functional form, {key}", array, tensors[key].numpy(), AGREEMENT)
            else:
                tensors[key] = ts.asarray(array)
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    ts.io.save_file(dict(sorted(tensors.items())), str(path))
    print(
        f"{len(records)} records, {len(tensors)} tensors, {path.stat().st_size} bytes; {len(gradients)} gradients agree "
        f"with central differences, {compared} with PyTorch"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
