# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""LBFGS: a quasi-Newton method that calls a closure several times a step, with PyTorch's options and state.

Nocedal and Wright, "Numerical Optimization", 2nd edition: algorithm 7.4 (the two loops over the history), 3.5 and 3.6
(the line search for the strong Wolfe conditions), 3.59 (cubic interpolation).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .. import _ops
from .._errors import InvalidValueError, NotSupportedError, as_int, as_number
from .._tensor import Tensor
from .._modes import enable_grad, no_grad
from .optimizer import Optimizer

Evaluate = Callable[[float], "Point"]


class Point(NamedTuple):
    """What is known of one step length."""

    t: float
    loss: float
    grad: Tensor
    slope: float  # of the loss in the search direction


class LBFGS(Optimizer):
    """Limited-memory BFGS. All parameters are one vector, so there is one group; `step` needs a closure that clears the
    gradients, computes the loss, calls backward, and returns the loss."""

    def __init__(
        self, params: Iterable[Any], lr: float = 1.0, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None, *, maximize: bool = False,
    ) -> None:
        if line_search_fn not in (None, "strong_wolfe"):
            raise InvalidValueError(f"line_search_fn: expected 'strong_wolfe' or None, got {line_search_fn!r}")
        iterations = as_int(max_iter, "max_iter")
        super().__init__(params, {
            "lr": as_number(lr, "lr"), "max_iter": iterations,
            "max_eval": iterations * 5 // 4 if max_eval is None else as_int(max_eval, "max_eval"),
            "tolerance_grad": as_number(tolerance_grad, "tolerance_grad"),
            "tolerance_change": as_number(tolerance_change, "tolerance_change"),
            "history_size": as_int(history_size, "history_size"), "line_search_fn": line_search_fn,
            "maximize": bool(maximize),
        })  # fmt: skip
        if len(self.param_groups) != 1:
            raise InvalidValueError(f"LBFGS: expected one group of parameters, got {len(self.param_groups)}")
        self._params: list[Tensor] = self.param_groups[0]["params"]

    # ---- all parameters as one vector ----

    def _gather(self) -> Tensor:
        flat = [_ops.reshape(_reals(_ops.zeros_like(p) if p.grad is None else p.grad), (-1,)) for p in self._params]
        whole: Tensor = _ops.concat(flat, 0)
        return -whole if self.param_groups[0].get("maximize") else whole

    def _cost(self, loss: Tensor) -> float:
        """What the steps make small."""
        return -float(loss) if self.param_groups[0].get("maximize") else float(loss)

    def _move(self, length: float, direction: Tensor) -> None:
        begin = 0
        for p in self._params:
            reals = _reals(p)
            part = direction[begin : begin + reals.numel()]
            reals.add_(length * _ops.reshape(part, reals.shape))
            begin += reals.numel()

    def _evaluate(self, closure: Callable[[], Tensor], start: list[Tensor], t: float, direction: Tensor) -> Point:
        """The loss and its gradient at `t` along the direction; the parameters are left where they were."""
        self._move(t, direction)
        with enable_grad():
            loss = self._cost(closure())
        grad = self._gather()
        for p, value in zip(self._params, start):
            p.copy_(value)
        return Point(t, loss, grad, _dot(grad, direction))

    # ---- the step ----

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Minimises for up to max_iter iterations; returns the loss of the first evaluation."""
        if closure is None:
            raise NotSupportedError("LBFGS.step(): expected a closure that computes the loss again, got None")
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        with no_grad():
            with enable_grad():
                first = closure()
            loss, evaluations = self._cost(first), 1
            state["func_evals"] += 1
            grad = self._gather()
            if _largest(grad) <= group["tolerance_grad"]:
                return first
            for iteration in range(1, group["max_iter"] + 1):
                state["n_iter"] += 1
                d = self._direction(state, grad, group["history_size"])
                state["prev_flat_grad"], before = grad, loss
                rate = group["lr"]
                t = min(1.0, 1.0 / float(_ops.sum(_ops.abs(grad)))) * rate if state["n_iter"] == 1 else rate
                slope = _dot(grad, d)
                # Until the parameters have moved along d, the next direction must not count a step.
                state["d"], state["t"], state["prev_loss"] = d, 0.0, before
                if slope > -group["tolerance_change"]:
                    break
                last = iteration == group["max_iter"]
                now, more = self._advance(closure, Point(0.0, loss, grad, slope), d, t, last, group["max_eval"] - evaluations)
                loss, grad = now.loss, now.grad
                state["t"] = now.t
                evaluations += more
                state["func_evals"] += more
                if last or evaluations >= group["max_eval"] or self._finished(now, before, d):
                    break
        return first

    def _advance(
        self, closure: Callable[[], Tensor], start: Point, d: Tensor, t: float, last: bool, most: int
    ) -> tuple[Point, int]:
        """Moves the parameters along d; the point where they are now, and how often the closure was called. A search takes
        up to `most` steps."""
        if self.param_groups[0]["line_search_fn"] is not None:
            begin = [p.clone() for p in self._params]
            found, calls = strong_wolfe(
                lambda length: self._evaluate(closure, begin, length, d), start, t, _largest(d),
                tolerance_change=self.param_groups[0]["tolerance_change"], max_steps=most,
            )  # fmt: skip
            self._move(found.t, d)
            return found, calls
        self._move(t, d)
        if last:  # nobody needs the loss there
            return Point(t, start.loss, start.grad, start.slope), 0
        with enable_grad():
            loss = self._cost(closure())
        return Point(t, loss, self._gather(), 0.0), 1

    def _finished(self, now: Point, before: float, d: Tensor) -> bool:
        group = self.param_groups[0]
        flat = _largest(now.grad) <= group["tolerance_grad"]
        small = now.t * _largest(d) <= group["tolerance_change"]
        return bool(flat or small or abs(now.loss - before) < group["tolerance_change"])

    def _direction(self, state: dict[str, Any], grad: Tensor, size: int) -> Tensor:
        """The gradient times the approximate inverse of the matrix of second derivatives, negative."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
            return -grad
        y = grad - state["prev_flat_grad"]
        s = state["d"] * state["t"]
        curvature = _dot(y, s)
        if curvature > 1e-10:
            state["H_diag"] = curvature / _dot(y, y)
            for name, item in (("old_dirs", y), ("old_stps", s), ("ro", 1.0 / curvature)):
                state[name] = [*state[name], item][-size:] if size > 0 else []
        history = list(zip(state["old_dirs"], state["old_stps"], state["ro"]))
        q, weights = -grad, []
        for y, s, rho in reversed(history):
            weights.append(rho * _dot(s, q))
            q = q - weights[-1] * y
        q = q * state["H_diag"]
        for y, s, rho in history:
            q = q + (weights.pop() - rho * _dot(y, q)) * s
        return q

    def _load(self, groups: list[dict[str, Any]], entries: dict[Tensor, dict[str, Any]]) -> None:
        super()._load(groups, entries)
        for entry in self._own_state.values():
            for name in ("old_dirs", "old_stps"):
                if name in entry:
                    entry[name] = [item.clone() for item in entry[name]]


def _reals(tensor: Tensor) -> Tensor:
    """The real numbers of a tensor: a complex one has two for each element, in the same memory."""
    return _ops.view_as_real(tensor) if tensor.is_complex() else tensor


def _dot(a: Tensor, b: Tensor) -> float:
    return float(_ops.vecdot(a, b))


def _largest(vector: Tensor) -> float:
    return float(_ops.max(_ops.abs(vector))) if vector.numel() else 0.0


# ---- the line search ----


def _cubic(one: Point, two: Point, low: float, high: float) -> float:
    """Where the cubic through two points with their slopes is lowest, in [low, high]; the middle if it has no such place."""
    if one.t > two.t:
        one, two = two, one
    d1 = one.slope + two.slope - 3 * (one.loss - two.loss) / (one.t - two.t)
    square = d1 * d1 - one.slope * two.slope
    if not square >= 0:
        return (low + high) / 2
    d2 = math.sqrt(square)
    place = two.t - (two.t - one.t) * ((two.slope + d2 - d1) / (two.slope - one.slope + 2 * d2))
    return min(max(place, low), high)


def _too_high(point: Point, start: Point, c1: float) -> bool:
    return point.loss > start.loss + c1 * point.t * start.slope


def strong_wolfe(
    evaluate: Evaluate, start: Point, t: float, largest: float, *, c1: float = 1e-4, c2: float = 0.9,
    tolerance_change: float = 1e-9, max_steps: int = 25,
) -> tuple[Point, int]:
    """A point that lowers the loss enough and has a flat enough slope, and how many points were tried: the first one and up to
    max_steps more. `largest` is the largest element of the direction."""
    before, now, calls = start, evaluate(t), 1
    bracket: list[Point] = []
    while calls <= max_steps:
        if _too_high(now, start, c1) or (calls > 2 and now.loss >= before.loss):
            bracket = [before, now]
            break
        if abs(now.slope) <= -c2 * start.slope:
            return now, calls
        if now.slope >= 0:
            bracket = [before, now]
            break
        t = _cubic(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10)
        before, now = now, evaluate(t)
        calls += 1
    if not bracket:
        bracket = [start, now]
    return _zoom(evaluate, start, bracket, calls, (c1, c2, tolerance_change, largest, max_steps))


def _zoom(
    evaluate: Evaluate, start: Point, bracket: list[Point], calls: int, limits: tuple[float, float, float, float, int]
) -> tuple[Point, int]:
    """Narrows a bracket until a point meets both conditions."""
    c1, c2, tolerance, largest, max_steps = limits
    stuck = False
    low, high = sorted(bracket, key=lambda p: p.loss)
    while calls <= max_steps:
        width = abs(high.t - low.t)
        if width * largest < tolerance:
            break
        left, right = min(low.t, high.t), max(low.t, high.t)
        t = _cubic(low, high, left, right)
        # A place near an end, twice in a row or at the end itself, moves inwards by a tenth of the width.
        if min(right - t, t - left) < 0.1 * width:
            if stuck or t >= right or t <= left:
                t = right - 0.1 * width if abs(t - right) < abs(t - left) else left + 0.1 * width
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        now = evaluate(t)
        calls += 1
        if _too_high(now, start, c1) or now.loss >= low.loss:
            high = now
            if high.loss < low.loss:
                low, high = high, low
        else:
            if abs(now.slope) <= -c2 * start.slope:
                return now, calls
            if now.slope * (high.t - low.t) >= 0:
                high = low
            low = now
    return low, calls
