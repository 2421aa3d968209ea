# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Random programs as data: lists of calls on numbered tensors, a generator of them, and their text.

A step says which method of a backend (program_backends.py) is called with which registers. The generator knows shapes
and which registers share memory, but nothing about gradients: a backend refuses a step that is not allowed, and all
steps that need its result are skipped.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

WINDOWS = ("cut", "permute", "expand", "diagonal", "flatten", "unbind", "chunk")
MODES = ("", "", "", "", "", "", "", "", "no_grad", "no_grad", "enable_grad", "inference_mode")


@dataclass(frozen=True)
class Step:
    """outs = op(*args, **data), inside a `with` of that mode. Writing steps have no outs: they change args[0]."""

    op: str
    outs: tuple[int, ...]
    args: tuple[int, ...]
    data: tuple[tuple[str, Any], ...] = ()
    mode: str = ""

    def __str__(self) -> str:
        given = [f"t{i}" for i in self.args] + [f"{key}={value!r}" for key, value in self.data]
        made = ", ".join(f"t{i}" for i in self.outs)
        return (f"with {self.mode}(): " if self.mode else "") + (f"{made} = " if made else "") + f"{self.op}({', '.join(given)})"


Program = list[Step]


def text_of(program: Program) -> str:
    return "\n".join(f"  {step}" for step in program)


@dataclass
class Register:
    shape: tuple[int, ...]
    family: int  # of registers that may share memory
    window: bool = False  # a view that a backend tracks


class Generator:
    """Makes the program of a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.registers: list[Register] = []
        self.steps: Program = []
        self.mode = ""

    def program(self) -> Program:
        for shape in ((3, 3), self.random.choice([(3,), (2, 3), (3, 1)])):
            self.emit("leaf", (), shape, shape=shape, seed=self.random.randrange(1000))
        self.emit("constant", (), (3, 3), shape=(3, 3), seed=self.random.randrange(1000))
        for _ in range(self.random.randint(3, 12)):
            self.mode = self.random.choice(MODES)
            kind = self.random.choices((self.compute, self.view, self.write, self.change), (6, 7, 8, 3))[0]
            kind()
        return self.steps

    # ---- the parts of steps ----

    def emit(self, op: str, args: tuple[int, ...], *shapes: tuple[int, ...], view: bool = False, **data: Any) -> None:
        outs = tuple(range(len(self.registers), len(self.registers) + len(shapes)))
        for out, shape in zip(outs, shapes):
            family = self.registers[args[0]].family if view else out
            self.registers.append(Register(shape, family, op in WINDOWS))
        mode = "" if op in ("leaf", "constant") else self.mode
        self.steps.append(Step(op, outs, args, tuple(data.items()), mode))

    def pick(self, fits: Callable[[Register], bool] = lambda r: True) -> int | None:
        found = [i for i, register in enumerate(self.registers) if fits(register)]
        if not found:
            return None
        # Picks recent registers more often, so that programs become deep.
        return found[max(self.random.randrange(len(found)), self.random.randrange(len(found)))]

    def any(self) -> int:
        found = self.pick()
        assert found is not None
        return found

    def operand(self, target: int, apart: bool) -> int:
        """A register that broadcasts to the target; for writes one with other memory, or the target itself."""
        shape, family = self.registers[target].shape, self.registers[target].family
        found = self.pick(lambda r: expands(r.shape, shape) and not (apart and r.family == family))
        if found is None or self.random.random() < 0.1:
            if apart and self.random.random() < 0.3:
                return target
            mode, self.mode = self.mode, ""
            self.emit("constant", (), shape, shape=shape, seed=self.random.randrange(1000))
            self.mode = mode
            return len(self.registers) - 1
        return found

    def mask(self, shape: tuple[int, ...]) -> Any:
        if not shape:
            return self.random.random() < 0.5
        return [self.mask(shape[1:]) for _ in range(shape[0])]

    def index(self, shape: tuple[int, ...]) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        """A basic index and the shape of its result."""
        items: list[Any] = []
        result: list[int] = []
        for size in shape[: self.random.randint(0, len(shape))]:
            if size == 0:
                break
            if self.random.randrange(4) == 0:
                items.append(self.random.randrange(-size, size))
                continue
            start = self.random.randrange(size)
            step = self.random.choice((1, 1, 1, 2))
            stop = self.random.randint(start + 1, size)
            items.append(("slice", start, stop, step))
            result.append(len(range(start, stop, step)))
        result += shape[len(items) :]
        if self.random.random() < 0.15 and len(result) < 3:
            items.insert(0, None)
            result.insert(0, 1)
        return tuple(items), tuple(result)

    # ---- kinds of steps ----

    def compute(self) -> None:
        a = self.any()
        shape = self.registers[a].shape
        op = self.random.choice(
            ("sin", "tanh", "sigmoid", "scale", "add", "add", "multiply", "multiply", "subtract", "where", "total",
             "pick", "take", "join", "stack", "clone", "custom", "hooked", "matmul", "masked")
        )  # fmt: skip
        if op in ("add", "multiply", "subtract", "custom"):
            self.emit(op, (a, self.operand(a, False)), shape)
        elif op == "where":
            self.emit(op, (a, self.operand(a, False)), shape, mask=self.mask(shape))
        elif op == "masked":
            self.emit(op, (a,), shape, mask=self.mask(shape), value=0.5)
        elif op == "total":
            self.total(a, shape)
        elif op == "pick" and shape:
            mask = self.mask(shape)
            self.emit(op, (a,), (flat(mask).count(True),), mask=mask)
        elif op == "take" and shape and shape[0]:
            rows = [self.random.randrange(shape[0]) for _ in range(self.random.randint(1, 3))]
            self.emit(op, (a,), (len(rows), *shape[1:]), rows=rows)
        elif op in ("join", "stack") and shape:
            self.join(op, a, shape)
        elif op == "matmul":
            if len(shape) == 2:
                b = self.pick(lambda r: len(r.shape) == 2 and r.shape[0] == shape[1])
                if b is not None:
                    self.emit(op, (a, b), (shape[0], self.registers[b].shape[1]))
        elif op in ("scale", "hooked"):
            self.emit(op, (a,), shape, by=self.random.choice((0.75, -1.5)))
        elif op in ("sin", "tanh", "sigmoid", "clone"):
            self.emit(op, (a,), shape)

    def total(self, a: int, shape: tuple[int, ...]) -> None:
        if not shape:
            return
        axis, keep = self.random.randrange(len(shape)), self.random.random() < 0.5
        rest = (*shape[:axis], *([1] if keep else []), *shape[axis + 1 :])
        self.emit("total", (a,), rest, axis=axis, keepdims=keep)

    def join(self, op: str, a: int, shape: tuple[int, ...]) -> None:
        others = [self.pick(lambda r: r.shape == shape) for _ in range(self.random.randint(1, 2))]
        parts = (a, *(i for i in others if i is not None))
        if op == "stack" and len(shape) < 3:
            axis = self.random.randint(0, len(shape))
            self.emit(op, parts, (*shape[:axis], len(parts), *shape[axis:]), axis=axis)
        elif op == "join" and shape[0] <= 4:
            self.emit(op, parts, (shape[0] * len(parts), *shape[1:]))

    def view(self) -> None:
        a = self.any()
        shape = self.registers[a].shape
        op = self.random.choice(("cut", "cut", "cut", "permute", "expand", "diagonal", "flatten", "unbind", "chunk"))
        if op == "cut":
            index, result = self.index(shape)
            self.emit(op, (a,), result, view=True, index=index)
        elif op == "permute":
            axes = list(range(len(shape)))
            self.random.shuffle(axes)
            self.emit(op, (a,), tuple(shape[i] for i in axes), view=True, axes=tuple(axes))
        elif op == "expand" and len(shape) < 3:
            wide = (2, *(3 if n == 1 else n for n in shape))
            self.emit(op, (a,), wide, view=True, shape=wide)
        elif op == "diagonal" and len(shape) == 2:
            self.emit(op, (a,), (min(shape),), view=True)
        elif op == "flatten":
            self.emit(op, (a,), (product(shape),), view=True)
        elif op == "unbind" and shape and shape[0] <= 3:
            self.emit(op, (a,), *(shape[1:] for _ in range(shape[0])), view=True)
        elif op == "chunk" and shape and shape[0] > 1:
            self.emit(op, (a,), (1, *shape[1:]), (shape[0] - 1, *shape[1:]), view=True)

    def write(self) -> None:
        a = self.any()
        shape = self.registers[a].shape
        op = self.random.choice(
            ("add_", "add_", "multiply_", "multiply_", "copy_", "copy_", "scale_", "scale_", "fill_", "sin_", "put",
             "put", "put_number", "masked_", "put_mask", "add_out", "custom_", "put_rows")
        )  # fmt: skip
        if op in ("add_", "multiply_", "copy_"):
            self.emit(op, (a, self.operand(a, True)))
        elif op in ("scale_", "custom_"):
            self.emit(op, (a,), by=self.random.choice((0.75, -1.5)))
        elif op == "fill_":
            self.emit(op, (a,), value=0.25)
        elif op == "sin_":
            self.emit(op, (a,))
        elif op in ("masked_", "put_mask"):
            if shape or op == "masked_":
                self.emit(op, (a,), mask=self.mask(shape), value=0.5)
        elif op == "add_out":
            b = self.pick(lambda r: r.shape == shape and r.family != self.registers[a].family)
            if b is not None:
                self.emit(op, (a, b, self.operand(a, True)))
        elif op == "put_rows":
            if shape and shape[0] >= 2:
                rows = self.random.sample(range(shape[0]), 2)
                part = (2, *shape[1:])
                b = self.pick(lambda r: expands(r.shape, part) and r.family != self.registers[a].family)
                if b is not None:
                    self.emit(op, (a, b), rows=rows)
        else:
            index, part = self.index(shape)
            if op == "put_number":
                self.emit(op, (a,), index=index, value=0.5)
                return
            b = self.pick(lambda r: expands(r.shape, part) and r.family != self.registers[a].family)
            if b is not None:
                self.emit(op, (a, b), index=index)

    def change(self) -> None:
        a = self.any()
        shape = self.registers[a].shape
        op = self.random.choice(("detach", "detach", "require", "require", "freeze", "retain"))
        if op == "detach":
            self.emit(op, (a,), shape, view=True)
        elif op == "require":
            # Not a view: the meaning of a leaf that is a view is unclear in PyTorch and NumPy after a write to its
            # base.
            leaf = self.pick(lambda r: not r.window)
            if leaf is not None:
                self.emit("require", (leaf,), value=True)
        elif op == "freeze":
            self.emit("require", (a,), value=False)
        elif not self.registers[a].window:  # PyTorch 1.13 crashes on views that it forbids to use
            self.emit(op, (a,))


def flat(mask: Any) -> list[bool]:
    return [x for part in mask for x in flat(part)] if isinstance(mask, list) else [mask]


def product(shape: tuple[int, ...]) -> int:
    result = 1
    for size in shape:
        result *= size
    return result


def expands(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether `shape` broadcasts to `to`."""
    lead = len(to) - len(shape)
    return lead >= 0 and all(n in (1, m) for n, m in zip(shape, to[lead:]))


def generate(seed: int) -> Program:
    return Generator(seed).program()


def minimised(program: Program, fails: Callable[[Program], bool]) -> Program:
    """Removes steps as long as the program still fails. Steps that need a removed result are not run."""
    size = max(len(program) // 2, 1)
    while True:
        at = 0
        while at < len(program):
            shorter = program[:at] + program[at + size :]
            if fails(shorter):
                program = shorter
            else:
                at += size
        if size == 1:
            break
        size //= 2
    plain = [Step(s.op, s.outs, s.args, s.data) for s in program]
    for i in range(len(program)):
        simpler = [*program[:i], plain[i], *program[i + 1 :]]
        if program[i].mode and fails(simpler):
            program = simpler
    return program
