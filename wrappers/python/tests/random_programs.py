# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs random programs on Tessera, on PyTorch if it can be imported, and on NumPy with tangents, and compares the steps
that they refuse, their values, and their gradients. The first program that differs is minimised and printed.

Usage: random_programs.py [--count N] [--seed FIRST]
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import re
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
from program_backends import Library, Ours, Reference, torch_backend, values_of
from program_model import WINDOWS, Program, Step, generate, minimised, text_of

import tessera as ts

# The allowed differences between the libraries: (who refuses, words of its error, reason).
DIFFERENCES = [
    ("ours", "only leaves can stop requiring grad, got the result of AsStridedBackward",
     "PyTorch takes a view for a leaf until it asks the base for a new history"),
    ("theirs", "A view was created in (no_grad|inference) mode and its base or another view of its base",
     "in PyTorch a write that was not recorded counts too, once the base is made a leaf"),
    ("ours", "requires_grad: .* the gradient of such a write is ambiguous", "PyTorch says so at the first use"),
    ("theirs", "INTERNAL ASSERT FAILED", "PyTorch's own fault"),
    ("ours", "without overlapping elements", "PyTorch writes to expanded tensors by index or mask with a warning"),
    ("ours", "got one made inside it", "in PyTorch, detach makes an ordinary tensor of one made in inference mode"),
    ("ours", "node_attach: a view of a leaf", "PyTorch's custom functions may write to a leaf through a view"),
    ("ours", "a graph that still exists", "PyTorch lets a frozen leaf that a graph owns get a history, and leaks both"),
    ("theirs", "output of a function that returns multiple views. Such functions do not allow",
     "PyTorch also refuses such a view after a write that was not recorded, which changes no history"),
]


OURS = Ours()
REACHED = [0, 0, 0]  # number of programs by the extent of the comparison


class Difference(Exception):
    """Two backends disagree."""


class PartWays(Exception):
    """A documented difference: PyTorch is not compared from here on."""


def documented(ours: Exception | None, theirs: Exception | None) -> bool:
    who, error = ("ours", ours) if ours is not None else ("theirs", theirs)
    return any(who == side and re.search(words, str(error)) for side, words, _ in DIFFERENCES)


def compare_errors(what: str, ours: Exception | None, theirs: Exception | None) -> None:
    if (ours is None) == (theirs is None):
        return
    if documented(ours, theirs):
        raise PartWays
    raise Difference(f"{what}: ours {describe(ours)}, PyTorch {describe(theirs)}")


def describe(error: Exception | None) -> str:
    return "accepts it" if error is None else f"refuses it ({type(error).__name__}: {error})"[:400]


class Run:
    """One backend's registers, and the outcome of the last step."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self.at: dict[int, Any] = {}
        self.error: Exception | None = None

    def step(self, step: Step) -> None:
        args = [self.at[i] for i in step.args]
        self.error = None
        try:
            with self.backend.mode(step.mode):
                made = getattr(self.backend, step.op)(*args, **dict(step.data))
        except Exception as error:  # noqa: BLE001 (any exception of a library is its answer)
            self.error = error
            return
        outs = made if isinstance(made, (list, tuple)) else [made]
        if step.outs:
            self.at.update(zip(step.outs, outs))

    def attempt(self, call: Any) -> Any:
        self.error = None
        try:
            return call()
        except Exception as error:  # noqa: BLE001
            self.error = error
            return None


def weight_of(register: int, shape: Any) -> Any:
    return values_of(tuple(shape), 9000 + register)


def losses(run: Run) -> dict[int, tuple[Any, Exception | None]]:
    """A number computed from each register that requires grad, or the error if it cannot be used."""
    result = {}
    for i, tensor in run.at.items():
        shape = tuple(tensor.shape)
        loss = run.attempt(lambda: run.backend.loss_of(tensor, weight_of(i, shape)))
        result[i] = (loss, run.error)
    return result


def backward(run: Run, found: dict[int, Any]) -> None:
    total = None
    for loss, _ in found.values():
        if loss is not None and loss.requires_grad:
            total = loss if total is None else total + loss
    run.error = None
    if total is not None:
        run.attempt(total.backward)


def leaves(run: Run) -> dict[int, Any]:
    """Leaves that require grad, each tensor once."""
    found: dict[int, Any] = {}
    for i, tensor in run.at.items():
        if tensor.is_leaf and tensor.requires_grad and not any(tensor is t for t in found.values()):
            found[i] = tensor
    return found


def gradient(run: Run, tensor: Any) -> Any:
    return None if tensor.grad is None else run.backend.array(tensor.grad)


def same(a: Any, b: Any, tolerance: float) -> bool:
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=tolerance, atol=tolerance))


class Foreign:
    """Registers that are differentiable in PyTorch but not here: views made in no_grad or inference mode of tensors
    that require grad, views of a leaf made before it required grad, and tensors computed from them."""

    def __init__(self) -> None:
        self.windows: set[int] = set()
        self.registers: set[int] = set()
        self.roots: dict[int, int] = {}  # of windows

    def look(self, ours: Run, theirs: Run) -> None:
        for i in self.windows - self.registers:
            if i in ours.at and i in theirs.at and ours.at[i].requires_grad != theirs.at[i].requires_grad:
                self.registers.add(i)

    def step(self, step: Step, ours: Run, theirs: Run) -> None:
        if step.op in WINDOWS and step.mode in ("no_grad", "inference_mode"):
            self.windows.update(step.outs)
        if step.op == "require" and step.mode == "inference_mode":
            raise PartWays  # PyTorch records ops on such a leaf only if they do not save it
        if step.op == "require" and shares_places(ours.at[step.args[0]]):
            raise PartWays  # PyTorch may divide the gradient of such a leaf among elements that share memory
        if step.op == "require" and dict(step.data)["value"]:
            self.windows.update(i for i, root in self.roots.items() if root == step.args[0])
        if not self.registers.intersection(step.args):
            return
        if step.op in ("require", "retain"):
            raise PartWays
        if step.mode in ("no_grad", "inference_mode"):
            return
        if step.outs:
            self.registers.update(step.outs)
        elif self.registers.intersection((*step.args[1:], self.roots.get(step.args[0], step.args[0]))):
            raise PartWays


def shares_places(tensor: Any) -> bool:
    return any(step == 0 and size > 1 for size, step in zip(tensor.shape, tensor._strides))


def run_step(step: Step, ours: Run, theirs: Run, foreign: Foreign) -> None:
    foreign.step(step, ours, theirs)
    theirs.step(step)
    if ours.error is not None and "nference" in str(theirs.error):
        raise PartWays  # PyTorch refuses a write to an inference tensor only after it has written
    if step.outs and foreign.registers.intersection(step.args) and theirs.error is not None:
        raise PartWays
    if "a leaf Variable" in str(theirs.error) and not ours.at[step.args[0]].is_leaf:
        raise PartWays  # PyTorch treats a view as a leaf until it gets a new grad_fn from the base
    compare_errors(str(step), ours.error, theirs.error)
    if ours.error is not None and step.op == "custom_":
        raise PartWays  # both had written before they refused


def run_both(program: Program, ours: Run, theirs: Run | None) -> tuple[list[Step], Run | None, Foreign]:
    """The steps that our library has run and that changed something, and the backend and registers for further
    comparison."""
    done: list[Step] = []
    foreign = Foreign()
    for step in program:
        if any(i not in ours.at for i in step.args):
            continue
        idle = step.op == "require" and ours.at[step.args[0]].requires_grad == dict(step.data)["value"]
        if step.op in WINDOWS:
            foreign.roots.update((i, foreign.roots.get(step.args[0], step.args[0])) for i in step.outs)
        if theirs is not None:
            foreign.look(ours, theirs)
        before = ours.backend.array(ours.at[step.args[0]]) if step.op == "custom_" else None
        ours.step(step)
        if theirs is not None:
            try:
                run_step(step, ours, theirs, foreign)
            except PartWays:
                theirs = None
        if ours.error is None and not idle:
            done.append(step)
        if ours.error is not None and before is not None and (before != ours.backend.array(ours.at[step.args[0]])).any():
            done.append(replace(step, mode="no_grad"))  # it had written before it was refused
    if theirs is not None:
        foreign.look(ours, theirs)
    return done, theirs, foreign


def compare_values(ours: Run, other: Run, name: str, array: Any) -> None:
    for i, tensor in ours.at.items():
        mine, value = ours.backend.array(tensor), array(other.at[i])
        if not same(mine, value, 1e-9):
            raise Difference(f"value of t{i}: ours {mine.tolist()}, {name} {value.tolist()}")


def compare_gradients(ours: Run, theirs: Run, foreign: Foreign) -> None:
    for i, tensor in ours.at.items():
        if i in foreign.registers:
            continue
        is_leaf = theirs.attempt(lambda: theirs.at[i].is_leaf)
        if theirs.error is not None:
            raise PartWays  # PyTorch forbids any use of this view; our library raises when it is used
        if tensor.is_leaf != is_leaf:
            raise Difference(f"t{i} is a leaf: ours {tensor.is_leaf}, PyTorch {is_leaf}")
        if not tensor.is_leaf:
            continue
        mine, value = gradient(ours, tensor), gradient(theirs, theirs.at[i])
        if (mine is None) != (value is None) or (mine is not None and not same(mine, value, 1e-9)):
            raise Difference(f"gradient of t{i}: ours {mine}, PyTorch {value}")


def compare_slope(done: list[Step], ours: Run, found: dict[int, Any]) -> None:
    """Compares the gradients of all leaves along a direction with NumPy's slope."""
    wanted = leaves(ours)
    made_leaf = {i: i for i in ours.at}
    slope, directions, values = reference_slope(done, wanted, found, made_leaf)
    compare_values(ours, values, "NumPy", lambda dual: dual.val)
    mine = sum(
        float((gradient(ours, t) * directions[i]).sum()) for i, t in wanted.items() if t.grad is not None
    )
    if not np.isclose(mine, slope, rtol=1e-5, atol=1e-6):
        raise Difference(f"slope along a direction: ours {mine}, NumPy {slope}")


def reference_slope(done: list[Step], wanted: Any, found: Any, names: Any) -> tuple[float, Any, Run]:
    frozen = frozenset(i for i in names if i not in wanted)
    run = Run(Reference(frozen))
    backend = run.backend
    for step in done:
        backend.number = step.outs[0] if step.op == "leaf" else step.args[0] if step.op == "require" else -1
        if step.op == "require":
            require(run, step)
            continue
        run.step(step)
        if run.error is not None:
            raise Difference(f"{step}: NumPy {describe(run.error)}")
    slope = 0.0
    for i, (loss, _) in found.items():
        if loss is not None and loss.requires_grad:
            dual = run.at[i]
            slope += float((dual.tan * weight_of(i, dual.val.shape)).sum())
    return slope, backend.directions, run


def require(run: Run, step: Step) -> None:
    """Sets whether a leaf requires grad."""
    register, value = step.args[0], dict(step.data)["value"]
    backend, dual = run.backend, run.at[register]
    if value:
        backend.before[register] = dual.tan  # which views of it share
        dual.tan = backend.direction(dual.val)
    else:
        dual.tan = backend.before.pop(register, np.zeros(dual.val.shape))


def check(program: Program, torch: Library | None, library: Library = OURS) -> int:
    """Raises Difference. Returns the extent of the comparison: 0 if the backward was refused, 1 for gradients compared
    with NumPy's, 2 for gradients compared with NumPy's and PyTorch's."""
    ours, theirs = Run(library), Run(torch) if torch is not None else None
    done, theirs, foreign = run_both(program, ours, theirs)
    found = {i: (None, None) if i in foreign.registers else loss for i, loss in losses(ours).items()}
    backward(ours, found)
    reached = 1
    if theirs is not None:
        with contextlib.suppress(PartWays):
            compare_backward(ours, found, theirs, foreign)
            reached = 2
    if ours.error is not None:
        return 0
    compare_slope(done, ours, found)
    return reached


def compare_backward(ours: Run, found: dict[int, Any], theirs: Run, foreign: Foreign) -> None:
    their_losses = losses(theirs)
    for i in list(their_losses):
        if i in foreign.registers:
            their_losses[i] = (None, None)
        else:
            compare_errors(f"use of t{i}", found[i][1], their_losses[i][1])
    compare_values(ours, theirs, "PyTorch", theirs.backend.array)
    backward(theirs, their_losses)
    compare_errors("backward", ours.error, theirs.error)
    if ours.error is None:
        compare_gradients(ours, theirs, foreign)


def failure(program: Program, torch: Library | None, library: Library = OURS) -> str | None:
    try:
        REACHED[check(program, torch, library)] += 1
    except Difference as difference:
        return str(difference)
    except ts.TesseraError as error:
        return f"a question that should have an answer: {describe(error)}"
    return None


def kind_of(message: str | None) -> str:
    return re.sub(r"[-\d.e+]+|t\d+|\[.*?\]", "#", message.split(":")[0]) if message else ""


def report(seed: int, program: Program, message: str, torch: Library | None, library: Library = OURS) -> str:
    kind = kind_of(message)
    shortest = minimised(program, lambda p: kind_of(failure(p, torch, library)) == kind)
    return f"program {seed}: {failure(shortest, torch, library)}\n{text_of(shortest)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--findings", type=int, default=1, help="how many to print before stopping")
    given = parser.parse_args()
    torch = torch_backend()
    begin = time.monotonic()
    nodes, handles = ts.memory.live_nodes(), ts.memory.live_handles()
    findings = 0
    for seed in range(given.seed, given.seed + given.count):
        program = generate(seed)
        message = failure(program, torch)
        if message is not None:
            findings += 1
            print(report(seed, program, message, torch), flush=True)
            if findings == given.findings:
                break
    gc.collect()
    left = ts.memory.live_nodes() - nodes, ts.memory.live_handles() - handles
    if left != (0, 0):
        print(f"{left[0]} nodes and {left[1]} handles were left behind")
    beside = "PyTorch and NumPy" if torch is not None else "NumPy"
    print(
        f"{given.count} programs beside {beside}: {findings} differ; {REACHED[2]} compared to the end with both, "
        f"{REACHED[1]} with NumPy, {REACHED[0]} refuse the backward; {time.monotonic() - begin:.1f} s"
    )
    return 1 if findings or left != (0, 0) else 0


if __name__ == "__main__":
    sys.exit(main())
