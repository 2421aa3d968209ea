#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the modules, optimizers and schedulers of tessera.torch with PyTorch's own inputs, and compares with PyTorch.

By hand, in the environment of compare_pytorch.py. The inputs are those of PyTorch's tests (module_db, optim_db); schedulers
have a table here. A module is compared in its attributes, text, names, state, results, gradients, copies and pickles; an
optimizer in its parameters after ten steps, its groups and its state; a scheduler in its rates and its state.

Usage: compare_pytorch_modules.py [--match REGEX] [--parts modules,optimizers,schedulers] [--dtypes float32,...] [--show N]
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import inspect
import io
import itertools
import math
import pickle
import re
import types
import warnings

import torch
from compare_pytorch import Missing, Sweep, attribute, difference, to_ours
from pytorch_module_samples import older_samples, own_samples
from torch.testing._internal.common_modules import ModuleErrorEnum, module_db
from torch.testing._internal.common_optimizers import OptimizerErrorEnum, optim_db

import tessera.torch as ours

# Modules that draw random numbers while they train: shapes only.
RANDOM = re.compile(r"Dropout|RReLU|FractionalMaxPool")


# ---- the same arguments in both libraries ----


def recorded(cls: type) -> None:
    """Lets a class of PyTorch's keep its arguments: a module inside another one's arguments is made again with them."""
    made = cls.__init__

    def __init__(self: object, *args: object, **options: object) -> None:
        made(self, *args, **options)
        self.__dict__["_given"] = (args, options)

    cls.__init__ = __init__


for _cls in (torch.nn.TransformerEncoderLayer, torch.nn.TransformerDecoderLayer, torch.nn.PairwiseDistance):
    recorded(_cls)


KNOWN: dict[int, object] = {}  # what the tensors of a sample have become: one that is given twice stays one


def mine_of(value: object) -> object:
    """An argument for tessera.torch; more kinds than to_ours() knows."""
    if type(value) is torch.Tensor and value.requires_grad:
        if id(value) not in KNOWN:
            KNOWN[id(value)] = to_ours(value.contiguous() if 0 in value.stride() else value)
        return KNOWN[id(value)]
    if isinstance(value, torch.nn.utils.rnn.PackedSequence):
        return ours.nn.utils.rnn.PackedSequence(*[mine_of(item) for item in value])
    if isinstance(value, torch.nn.Module) and "_given" in value.__dict__:
        args, options = value._given
        made = getattr(ours.nn, type(value).__name__)(*mine_of(args), **mine_of(options))
        made.load_state_dict(mine_of(dict(value.state_dict())))
        return made
    if isinstance(value, torch.nn.LinearCrossEntropyOptions):
        names = [field.name for field in dataclasses.fields(value)]
        return ours.nn.LinearCrossEntropyOptions(**{name: mine_of(getattr(value, name)) for name in names})
    if isinstance(value, torch.nn.Parameter):
        return ours.nn.Parameter(to_ours(value.detach()), value.requires_grad)
    if isinstance(value, torch.Tensor) and 0 in value.stride():  # an expanded mask
        return to_ours(value.contiguous())
    if isinstance(value, types.FunctionType) and value.__module__.startswith("torch.testing"):
        names = {"torch": ours, "F": ours.nn.functional, "nn": ours.nn}
        return types.FunctionType(
            value.__code__, {**value.__globals__, **names}, value.__name__, value.__defaults__, value.__closure__
        )
    if callable(value) and hasattr(torch.nn.functional, getattr(value, "__name__", "")):
        return attribute(ours.nn.functional, value.__name__)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(mine_of(item) for item in value) if type(value) in (list, tuple) else to_ours(value)
    if isinstance(value, dict):
        return {key: mine_of(item) for key, item in value.items()}
    return to_ours(value)


def flat(value: object) -> list:
    """The tensors of a result."""
    if hasattr(value, "batch_sizes"):
        return [value.data, value.batch_sizes]
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in flat(item)]
    return [value] if hasattr(value, "requires_grad") else []


def leaves(value: object) -> list:
    if isinstance(value, dict):
        return leaves(list(value.values()))
    return [t for t in flat(value) if t.requires_grad]


def gradients(module: object, outputs: object, inputs: list, retain_graph: bool = False) -> list:
    """Gradients of a weighted sum of the results; without weights some layers have none."""
    total: object = 0
    for output in flat(outputs):
        if output.requires_grad:
            real = module.view_as_real(output) if output.is_complex() else output
            weights = module.cos(module.arange(real.numel(), dtype=module.float64)).to(real.dtype).reshape(real.shape)
            total = total + (real * weights).sum()
    options = {"allow_unused": True, "retain_graph": retain_graph}
    return list(module.autograd.grad(total, inputs, **options)) if flat(total) else []


def line_of(found: str, expected: str) -> tuple[str, str]:
    """The first lines of two texts that differ."""
    lines = itertools.zip_longest(found.split("\n"), expected.split("\n"), fillvalue="")
    return next(((one.strip(), other.strip()) for one, other in lines if one != other), ("", ""))


def text_of(args: object, options: object) -> str:
    def short(value: object) -> str:
        if isinstance(value, torch.Tensor):
            return f"{str(value.dtype)[6:]}{list(value.shape)}"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(short, value)) + "]"
        return repr(value).replace("\n", " ")[:80]

    return ", ".join([*map(short, args), *[f"{k}={short(v)}" for k, v in options.items()]])[:240]


class Faults(Sweep):
    """The differences of objects, of which none is known by its text: the list is of functions."""

    def known(self, key: str, text: str) -> bool:
        return False


class Pair:
    """One comparison after the other for a case; what is found is reported with it."""

    def __init__(self, sweep: Sweep, key: str, case: str) -> None:
        self.sweep, self.key, self.case = sweep, key, case

    def same(self, what: str, found: object, expected: object) -> bool:
        if found != expected:
            self.sweep.report(self.key, f"{what}: {str(found)[:300]!r}, not {str(expected)[:300]!r} | {self.case}")
            return False
        self.sweep.counts["same"] += 1
        return True

    def values(self, what: str, found: object, expected: object, values: bool = True) -> None:
        if text := difference(found, expected, values):
            small = text.startswith("value") and isinstance(expected, torch.Tensor) and expected.numel() <= 15
            text = f"value: {found.tolist()}, not {expected.tolist()}"[:400] if small else text
            self.sweep.report(self.key, f"{what}: {text} | {self.case}")
        else:
            self.sweep.counts["same"] += 1

    def both(self, what: str, theirs: object, mine: object) -> tuple[object, object] | None:
        """The results of both, or None after a report if one raises an error or both do."""
        return self.sweep.both(self.key, theirs, mine, self.case, f"{what}: ")


# ---- modules ----


def plain_value(value: object) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(plain_value, value))
    return value is None or isinstance(value, (bool, int, float, str))


def compare_attributes(pair: Pair, theirs: object, mine: object) -> None:
    for name, value in vars(theirs).items():
        if name.startswith("_") or name == "training":
            continue
        if not hasattr(mine, name):
            pair.sweep.report(pair.key, f"attribute: no {name} = {str(value)[:60]!r} | {pair.case}")
        elif plain_value(value):
            found = getattr(mine, name)
            if found != value or type(found) is not type(value) and not isinstance(found, (int, float)):
                pair.sweep.report(pair.key, f"attribute: {name}: {found!r}, not {value!r} | {pair.case}")


def compare_layout(pair: Pair, theirs: object, mine: object) -> None:
    pair.same("text", *line_of(repr(mine), repr(theirs)))
    pair.same("keys of the state", list(mine.state_dict()), list(theirs.state_dict()))
    for walk in ("named_parameters", "named_buffers", "named_modules", "named_children"):
        pair.same(walk, [n for n, _ in getattr(mine, walk)()], [n for n, _ in getattr(theirs, walk)()])
    classes = [[type(part).__name__ for part in module.modules()] for module in (mine, theirs)]
    pair.same("classes", *classes)
    mine_meta, their_meta = mine.state_dict()._metadata, theirs.state_dict()._metadata
    pair.same("metadata of the state", mine_meta, their_meta)
    compare_attributes(pair, theirs, mine)


def compare_state(pair: Pair, what: str, theirs: object, mine: object, values: bool = True) -> None:
    expected, found = theirs.state_dict(), mine.state_dict()
    for name in expected:
        if name in found and isinstance(expected[name], torch.Tensor):
            pair.values(f"{what} {name}", found[name], expected[name], values)


def compare_module(sweep: Sweep, info: object, sample: object, training: bool, dtype: object) -> None:
    cls, given = info.module_cls, sample.constructor_input
    name = cls.__name__
    case = f"{text_of(given.args, given.kwargs)} | {'train' if training else 'eval'}"
    pair = Pair(sweep, f"nn.{name} {str(dtype)[6:]}", case)

    def make_mine() -> object:
        made = attribute(ours.nn, name)(*mine_of(given.args), **mine_of(given.kwargs))
        return made.to(to_ours(dtype)).train(training)

    made = pair.both("constructor", lambda: cls(*given.args, **given.kwargs).to(dtype).train(training), make_mine)
    if made is None:
        return
    theirs, mine = made
    if not info.is_lazy:
        compare_layout(pair, theirs, mine)
        compare_state(pair, "first state", theirs, mine, values=False)
        if (
            pair.both("load_state_dict", lambda: 0, lambda: mine.load_state_dict(mine_of(dict(theirs.state_dict()))))
            is None
        ):
            return
    forward = sample.forward_input
    if forward is None:
        return
    KNOWN.clear()
    pair.case += " | " + text_of(forward.args, forward.kwargs)
    values = not (RANDOM.search(name) and training or "FractionalMaxPool" in name or info.is_lazy)
    args, options = mine_of(forward.args), mine_of(forward.kwargs)
    results = pair.both("forward", lambda: theirs(*forward.args, **forward.kwargs), lambda: mine(*args, **options))
    if results is None:
        return
    expected, found = results
    pair.same("count of results", len(flat(found)), len(flat(expected)))
    pair.same("type of results", type(found).__name__, type(expected).__name__)
    pair.values("result", flat(found), flat(expected), values)
    if info.is_lazy:
        compare_layout(pair, theirs, mine)
    compare_state(pair, "state after", theirs, mine, values)
    names = [n for n, p in theirs.named_parameters() if p.requires_grad]
    inputs = [leaves(list(forward.args)) + leaves(forward.kwargs), leaves(list(args)) + leaves(options)]
    if pair.same("leaves", len(inputs[1]), len(inputs[0])) and (inputs[0] or names):
        wanted = [[*ins, *[dict(m.named_parameters())[n] for n in names]] for ins, m in zip(inputs, (theirs, mine))]
        found = pair.both(
            "backward", lambda: gradients(torch, expected, wanted[0]), lambda: gradients(ours, results[1], wanted[1])
        )
        if found is not None:
            for place, (theirs_grad, mine_grad) in enumerate(zip(*found)):
                label = names[place - len(inputs[0])] if place >= len(inputs[0]) else f"input {place}"
                if theirs_grad is None:
                    pair.same(f"gradient of {label}", mine_grad is None or not bool(mine_grad.any()), True)
                else:
                    pair.values(f"gradient of {label}", mine_grad, theirs_grad, values)
    compare_copies(pair, mine, args, options, values)


def compare_copies(pair: Pair, mine: object, args: object, options: object, values: bool) -> None:
    """A copy, a pickle and a file of ours give what it gives itself."""

    def saved(module: object) -> object:
        file = io.BytesIO()
        ours.save(module, file)
        file.seek(0)
        return ours.load(file, weights_only=False)

    def unpickled(module: object) -> object:
        try:
            text = pickle.dumps(module)
        except Exception as error:
            if "Can't pickle" in str(error):
                raise Missing("pickle of a function of this file") from error
            raise
        return pickle.loads(text)

    with ours.no_grad():
        ways = {"deepcopy": copy.deepcopy, "pickle": unpickled, "save": saved}
        for way, function in ways.items() if callable(mine) else ():
            kept = copy.deepcopy(mine.state_dict())
            again = pair.both(way, lambda: None, lambda function=function: function(mine))
            if again is None:
                continue
            pair.same(f"{way} text", repr(again[1]), repr(mine))
            results = []
            for module in (mine, again[1]):
                module.load_state_dict(copy.deepcopy(kept))
                results.append(flat(module(*args, **options)))
            if values:
                for one, other in zip(*results):
                    pair.same(f"{way} result", bool(ours.allclose(one, other, equal_nan=True)), True)


def compare_errors(sweep: Sweep, info: object, training: bool) -> None:
    if info.module_error_inputs_func is None:
        return
    for entry in info.module_error_inputs_func(info, "cpu", torch.float32, False, training):
        sample, name = entry.module_error_input, info.module_cls.__name__
        given, forward = sample.constructor_input, sample.forward_input
        case = text_of(given.args, given.kwargs) + (f" | {text_of(forward.args, forward.kwargs)}" if forward else "")
        pair = Pair(sweep, f"nn.{name} errors", case)

        def run(
            cls: object, convert: object, given: object = given, forward: object = forward, on: object = entry.error_on
        ) -> None:
            made = cls(*convert(given.args), **convert(given.kwargs))
            if on == ModuleErrorEnum.FORWARD_ERROR:
                made(*convert(forward.args), **convert(forward.kwargs))

        pair.both(
            "errors",
            lambda run=run: run(info.module_cls, lambda v: v),
            lambda run=run: run(attribute(ours.nn, name), mine_of),
        )


def compare_signatures(sweep: Sweep, cls: type) -> None:
    """The names and defaults of the arguments, in their order; each of ours also takes a device and a dtype."""
    pair = Pair(sweep, f"nn.{cls.__name__} signature", "")

    def texts(kind: type) -> list[str]:
        found = [p for p in inspect.signature(kind).parameters.values() if p.name not in ("device", "dtype")]
        return [p.name if p.default is p.empty or callable(p.default) else f"{p.name}={p.default}" for p in found]

    both = pair.both("signature", lambda: texts(cls), lambda: texts(attribute(ours.nn, cls.__name__)))
    if both is not None:
        pair.same("signature", both[1], both[0])


def modules(sweep: Sweep, match: str, dtypes: list) -> None:
    torch.manual_seed(1)
    for info, sample in [*older_samples(match), *own_samples(match)]:
        for training in (True, False):
            compare_module(sweep, info, sample, training, torch.float32)
    for info in module_db:
        if not info.module_cls.__module__.startswith("torch.nn.") or not re.search(match, info.module_cls.__name__):
            continue
        compare_signatures(sweep, info.module_cls)
        for dtype, training in itertools.product(dtypes, (True, False)):
            if dtype not in info.supported_dtypes("cpu"):
                continue
            torch.manual_seed(1)
            for sample in info.module_inputs_func(info, "cpu", dtype, True, training):
                compare_module(sweep, info, sample, training, dtype)
        for training in (True, False):
            compare_errors(sweep, info, training)


# ---- optimizers ----

STEPS = 10
SHAPES = [(5, 3), (3,), (2, 2, 2), ()]


def problem(info: object, dtype: object) -> list[object]:
    """Parameters of PyTorch's; those of Muon are matrices."""
    shapes = [(5, 3), (2, 4)] if info.name == "Muon" else SHAPES
    return [torch.nn.Parameter(torch.randn(shape, dtype=dtype)) for shape in shapes]


def as_groups(params: list, form: str) -> object:
    """The argument `params` in the forms that PyTorch takes; the second group has another rate."""
    if form == "named":
        return [(f"p{n}", p) for n, p in enumerate(params)]
    if form == "groups":
        return [{"params": params[:1]}, {"params": params[1:], "lr": 0.02}]
    if form == "named groups":
        return [
            {"params": [("first", params[0])]},
            {"params": [(f"p{n}", p) for n, p in enumerate(params[1:])], "lr": 0.02},
        ]
    return iter(params) if form == "iterator" else params


def loss_of(module: object, params: list) -> object:
    """A loss that is not convex, of all parameters."""
    total: object = 0
    for n, p in enumerate(params):
        square = (p * p.conj()).real if p.is_complex() else p * p
        total = total + (module.sin(square * (n + 1)) + square).sum()
    return total


class Run:
    """Steps of an optimizer in one of the libraries."""

    def __init__(self, module: object, cls: object, params: list, grouped: object, options: dict) -> None:
        self.module, self.params = module, params
        self.optimizer = cls(grouped, **options)

    def step(self, grads: list | None) -> object:
        def closure() -> object:
            self.optimizer.zero_grad()
            loss = loss_of(self.module, self.params)
            loss.backward()
            return loss

        if grads is None:
            return self.optimizer.step(closure)
        for p, g in zip(self.params, grads):
            p.grad = g
        return self.optimizer.step()


def compare_state_dicts(pair: Pair, theirs: object, mine: object, steps: int, dtype: object) -> None:
    expected, found = theirs.state_dict(), mine.state_dict()
    pair.same("keys of the state dict", list(found), list(expected))
    for n, (one, other) in enumerate(zip(found["param_groups"], expected["param_groups"])):
        pair.same(f"keys of the group after {steps} steps", sorted(one), sorted(other))
        for name, value in other.items():
            if name in one and not isinstance(value, torch.Tensor):
                pair.same(f"{name} of group {n}", one[name], value)
    if not pair.same(f"states after {steps} steps", list(found["state"]), list(expected["state"])):
        return
    for n, entry in expected["state"].items():
        pair.same(f"names of state {n} after {steps} steps", list(found["state"][n]), list(entry))
        for name, value in entry.items():
            if name in found["state"][n]:
                mine_value = found["state"][n][name]
                pair.same(f"type of {name}", type(mine_value).__name__, type(value).__name__)
                pair.values(f"state {name}", mine_value, value)


def option_sets(info: object) -> list[tuple[dict, str]]:
    """The options of PyTorch's tests, each also with every implementation, and the forms of params."""
    found = []
    for entry in info.optim_inputs_func("cpu"):
        found.append((entry.kwargs, "list"))
        for flag in ("foreach", "differentiable", "fused"):
            if flag in info.supported_impls and (flag != "fused" or "cpu" in info.supports_fused_on):
                found += [({**entry.kwargs, flag: value}, "list") for value in (True, False)]
        if info.has_capturable_arg:
            found.append(({**entry.kwargs, "capturable": True}, "list"))
        found += [({**entry.kwargs}, form) for form in ("named", "groups", "named groups", "iterator")]
    return found


def compare_optimizer(sweep: Sweep, info: object, options: dict, form: str, dtype: object) -> None:
    pair = Pair(sweep, f"optim.{info.name} {str(dtype)[6:]}", f"{text_of((), options)} | {form}")
    params = problem(info, dtype)
    copies = [mine_of(p) for p in params]
    made = pair.both(
        "constructor",
        lambda: Run(torch, info.optim_cls, params, as_groups(params, form), options),
        lambda: Run(ours, attribute(ours.optim, info.name), copies, as_groups(copies, form), mine_of(options)),
    )
    if made is None:
        return
    theirs, mine = made
    pair.same("text", *line_of(repr(mine.optimizer), repr(theirs.optimizer)))
    defaults = {k: v for k, v in theirs.optimizer.defaults.items() if not isinstance(v, torch.Tensor)}
    for name, value in defaults.items():
        pair.same(f"default {name}", mine.optimizer.defaults.get(name, "absent"), value)
    compare_state_dicts(pair, theirs.optimizer, mine.optimizer, 0, dtype)
    for step in range(STEPS):
        grads = None
        if not info.step_requires_closure and step % 4 != 3:
            grads = [torch.randn_like(p) for p in params]
            if info.only_supports_sparse_grads:
                grads = [g if g.dim() else None for g in grads]
            grads[-1] = None if step == 2 else grads[-1]
        mine_grads = None if grads is None else [None if g is None else to_ours(g) for g in grads]
        if info.only_supports_sparse_grads and grads is not None:
            grads = [None if g is None else g.to_sparse() for g in grads]
        if options.get("differentiable") and grads is None:
            continue
        losses = pair.both("step", lambda: theirs.step(grads), lambda: mine.step(mine_grads))
        if losses is None:
            return
        pair.values(f"loss of step {step}", *[None if x is None else x for x in reversed(losses)])
        before = len(sweep.found.get(pair.key, []))
        for n, (one, other) in enumerate(zip(copies, params)):
            pair.values(f"parameter {n} after step {step}", one, other)
        if len(sweep.found.get(pair.key, [])) > before:
            return
        if step in (0, STEPS - 1):
            compare_state_dicts(pair, theirs.optimizer, mine.optimizer, step + 1, dtype)
    compare_loaded(pair, info, params, theirs, options, form)


def compare_loaded(pair: Pair, info: object, params: list, theirs: Run, options: dict, form: str) -> None:
    """An optimizer of ours goes on with PyTorch's state; so do a copy and a pickle of it."""
    state = copy.deepcopy(theirs.optimizer.state_dict())
    starts = [[mine_of(p) for p in params] for _ in range(2)]
    runs = [Run(ours, attribute(ours.optim, info.name), s, as_groups(s, form), mine_of(options)) for s in starts]
    if pair.both("load_state_dict", lambda: 0, lambda: runs[0].optimizer.load_state_dict(mine_of(state))) is None:
        return
    if pair.both("deepcopy", lambda: 0, lambda: copy.deepcopy(runs[0].optimizer)) is None:
        return
    file = io.BytesIO()
    ours.save(runs[0].optimizer.state_dict(), file)
    file.seek(0)
    if pair.both("load of a file", lambda: 0, lambda: runs[1].optimizer.load_state_dict(ours.load(file))) is None:
        return
    for _ in range(3):
        grads = None if info.step_requires_closure else [torch.randn_like(p) for p in params]
        if info.only_supports_sparse_grads:
            grads = [g if g.dim() else None for g in grads]
        mine_grads = None if grads is None else [None if g is None else to_ours(g) for g in grads]
        if info.only_supports_sparse_grads:
            grads = [None if g is None else g.to_sparse() for g in grads]
        if pair.both("step", lambda: theirs.step(grads), lambda: [run.step(mine_grads) for run in runs]) is None:
            return
    for what, found in zip(("load_state_dict", "load of a file"), starts):
        for one, other in zip(found, params):
            pair.values(f"parameter after {what}", one, other)


def optimizer_errors(sweep: Sweep, info: object) -> None:
    for entry in info.optim_error_inputs_func("cpu", torch.float32):
        given = entry.optimizer_error_input
        pair = Pair(sweep, f"optim.{info.name} errors", f"{given.desc} {text_of((), given.kwargs)}")

        def run(cls: object, convert: object, given: object = given, on: object = entry.error_on) -> None:
            known: dict[int, object] = {}

            def params(value: object) -> object:
                if isinstance(value, torch.Tensor):
                    made = known.setdefault(id(value), convert(value))
                    if value.grad is not None and made is not value:
                        made.grad = convert(value.grad)
                    return made
                if isinstance(value, dict):
                    return {k: params(v) for k, v in value.items()}
                return type(value)(map(params, value)) if isinstance(value, (list, tuple, set)) else value

            shape = (1, 1) if info.name == "Muon" else (1,)
            optimizer = cls(
                params([torch.nn.Parameter(torch.ones(shape))] if given.params is None else given.params),
                **convert(given.kwargs),
            )
            if on == OptimizerErrorEnum.STEP_ERROR:
                optimizer.step()

        warns = issubclass(entry.error_type, Warning)
        with warnings.catch_warnings():
            warnings.simplefilter("error" if warns else "ignore", entry.error_type if warns else Warning)
            pair.both(
                "errors",
                lambda run=run: run(info.optim_cls, lambda v: v),
                lambda run=run: run(attribute(ours.optim, info.name), mine_of),
            )


def optimizers(sweep: Sweep, match: str, dtypes: list) -> None:
    for info in optim_db:
        if not re.search(match, info.name):
            continue
        for dtype in dtypes:
            if dtype.is_complex and not info.supports_complex:
                continue
            for options, form in option_sets(info):
                torch.manual_seed(2)
                compare_optimizer(sweep, info, options, form, dtype)
        optimizer_errors(sweep, info)


# ---- schedulers ----


def schedulers_of(m: object) -> dict[str, object]:
    """Makers of schedulers for an optimizer of the module m, which is torch or tessera.torch."""
    s = m.optim.lr_scheduler
    half = lambda epoch: 0.5 / (epoch + 1)  # noqa: E731
    cyclic = {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 3}
    return {
        "LambdaLR": lambda o: s.LambdaLR(o, half),
        "LambdaLR two": lambda o: s.LambdaLR(o, [half, lambda e: 0.9**e]),
        "MultiplicativeLR": lambda o: s.MultiplicativeLR(o, lambda e: 0.95),
        "StepLR": lambda o: s.StepLR(o, 3, 0.5),
        "MultiStepLR": lambda o: s.MultiStepLR(o, [2, 5, 5, 11], 0.3),
        "ConstantLR": lambda o: s.ConstantLR(o, 0.25, 4),
        "LinearLR": lambda o: s.LinearLR(o, 0.2, 0.9, 7),
        "ExponentialLR": lambda o: s.ExponentialLR(o, 0.8),
        "PolynomialLR": lambda o: s.PolynomialLR(o, 12, 2.0),
        "CosineAnnealingLR": lambda o: s.CosineAnnealingLR(o, 6, 0.001),
        "CosineAnnealingWarmRestarts": lambda o: s.CosineAnnealingWarmRestarts(o, 3, 2, 0.001),
        "CyclicLR": lambda o: s.CyclicLR(o, **cyclic),
        "CyclicLR triangular2": lambda o: s.CyclicLR(o, **cyclic, mode="triangular2", step_size_down=2),
        "CyclicLR exp_range": lambda o: s.CyclicLR(o, **cyclic, mode="exp_range", gamma=0.9, cycle_momentum=False),
        "CyclicLR scale_fn": lambda o: s.CyclicLR(o, **cyclic, scale_fn=lambda x: 0.5**x, scale_mode="iterations"),
        "OneCycleLR": lambda o: s.OneCycleLR(o, 0.1, total_steps=25),
        "OneCycleLR linear": lambda o: s.OneCycleLR(
            o, [0.1, 0.2], epochs=5, steps_per_epoch=5, anneal_strategy="linear"
        ),
        "OneCycleLR three": lambda o: s.OneCycleLR(
            o, 0.1, total_steps=25, three_phase=True, pct_start=0.2, cycle_momentum=False
        ),
        "SequentialLR": lambda o: s.SequentialLR(
            o, [s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9), s.StepLR(o, 2)], [4, 9]
        ),
        "ChainedScheduler": lambda o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9)]),
        "ReduceLROnPlateau": lambda o: s.ReduceLROnPlateau(o, factor=0.5, patience=1),
        "ReduceLROnPlateau max": lambda o: s.ReduceLROnPlateau(o, "max", 0.5, 2, 0.1, "abs", 2, [0.001, 0.002], 1e-5),
        "SWALR": lambda o: m.optim.swa_utils.SWALR(o, 0.05, 5),
        "SWALR linear": lambda o: m.optim.swa_utils.SWALR(o, [0.05, 0.06], 5, "linear"),
        # refused
        "StepLR last_epoch": lambda o: s.StepLR(o, 3, 0.5, last_epoch=4),
        "OneCycleLR nothing": lambda o: s.OneCycleLR(o, 0.1),
        "OneCycleLR strategy": lambda o: s.OneCycleLR(o, 0.1, total_steps=5, anneal_strategy="no"),
        "CyclicLR mode": lambda o: s.CyclicLR(o, **cyclic, mode="no"),
        "ConstantLR factor": lambda o: s.ConstantLR(o, 1.5),
        "LinearLR start": lambda o: s.LinearLR(o, 0.0),
        "LinearLR end": lambda o: s.LinearLR(o, 0.5, 1.5),
        "LambdaLR count": lambda o: s.LambdaLR(o, [half]),
        "CosineAnnealingWarmRestarts zero": lambda o: s.CosineAnnealingWarmRestarts(o, 0),
        "CosineAnnealingWarmRestarts part": lambda o: s.CosineAnnealingWarmRestarts(o, 3, 1.5),
        "ReduceLROnPlateau factor": lambda o: s.ReduceLROnPlateau(o, factor=1.0),
        "ReduceLROnPlateau mode": lambda o: s.ReduceLROnPlateau(o, "no"),
        "ReduceLROnPlateau rates": lambda o: s.ReduceLROnPlateau(o, min_lr=[0.1]),
        "SequentialLR milestones": lambda o: s.SequentialLR(o, [s.ExponentialLR(o, 0.9)], [4]),
        "SequentialLR plateau": lambda o: s.SequentialLR(o, [s.ReduceLROnPlateau(o), s.StepLR(o, 2)], [4]),
        "ChainedScheduler none": lambda o: s.ChainedScheduler([]),
        "no optimizer": lambda o: s.StepLR(3, 2),
        "SWALR strategy": lambda o: m.optim.swa_utils.SWALR(o, 0.05, 5, "no"),
    }


METRICS = [3.0, 2.5, 2.6, 2.4, 2.4, 2.4, 2.5, 2.6, 2.3, 2.3, 2.3, 2.3, 2.2, 2.2, 2.2, 2.2, math.inf, math.nan, 2.0, 2.0]


def plain_state(state: dict) -> dict:
    """A state dict without functions and schedulers."""
    inner = "_schedulers"
    kept = {k: v for k, v in state.items() if k != inner and not callable(v) and "fn" not in k and k != "lr_lambdas"}
    if inner in state:
        kept[inner] = [plain_state(part) for part in state[inner]]
    return kept


def close(found: object, expected: object) -> bool:
    if isinstance(expected, (list, tuple)):
        return isinstance(found, (list, tuple)) and len(found) == len(expected) and all(map(close, found, expected))
    if isinstance(expected, dict):
        return (
            isinstance(found, dict)
            and list(found) == list(expected)
            and all(close(found[k], v) for k, v in expected.items())
        )
    if isinstance(expected, float) and isinstance(found, (int, float)):
        return math.isclose(found, expected, rel_tol=1e-6, abs_tol=1e-9)
    return found == expected


def compare_scheduler(sweep: Sweep, name: str, kind: str, by_epoch: bool) -> None:
    pair = Pair(sweep, f"lr_scheduler.{name}", f"{kind}{' by epoch' if by_epoch else ''}")

    def optimizer(m: object) -> object:
        params = [m.nn.Parameter(m.ones(2)) for _ in range(2)]
        options = {"SGD": {"momentum": 0.9}, "Adam": {}, "tensor": {}}[kind]
        lr = m.tensor(0.05) if kind == "tensor" else 0.05
        made = getattr(m.optim, "Adam" if kind == "tensor" else kind)
        return made([{"params": params[:1]}, {"params": params[1:], "lr": 0.5 * lr}], lr=lr, **options)

    optimizers = [optimizer(m) for m in (torch, ours)]
    made = pair.both(
        "constructor", *[lambda o=o, m=m: schedulers_of(m)[name](o) for o, m in zip(optimizers, (torch, ours))]
    )
    if made is None:
        return
    plateau = name.startswith("ReduceLROnPlateau")

    def numbers(scheduler: object) -> list:
        found = [float(rate) for rate in scheduler.get_last_lr()]
        for group in scheduler.optimizer.param_groups if hasattr(scheduler, "optimizer") else ():
            found += [float(group["lr"]), float(group.get("momentum", 0)), *map(float, group.get("betas", ()))]
            found.append(float(group.get("initial_lr", -1)))
        return found

    def walk(scheduler: object, start: int, end: int) -> list:
        rows = [numbers(scheduler)]
        for step in range(start, end):
            scheduler.optimizer.step() if hasattr(scheduler, "optimizer") else None
            scheduler.step(*([METRICS[step]] if plateau else [step * 2 if step % 3 else step] if by_epoch else []))
            rows.append(numbers(scheduler))
        return rows

    for one, other in ((0, 8), (8, 20)):
        rows = pair.both("step", *[lambda s=s: walk(s, one, other) for s in made])
        if rows is None:
            return
        for n, (theirs, mine) in enumerate(zip(*rows)):
            if not close(mine, theirs):
                pair.sweep.report(pair.key, f"rates: {mine}, not {theirs} at step {one + n} | {pair.case}")
                return
        if one == 0:
            states = [scheduler.state_dict() for scheduler in made]
            if kind != "tensor":
                expected, found = [plain_state(state) for state in states]
                pair.same("keys of the state", sorted(states[1]), sorted(states[0]))
                for key in expected:
                    if key in found and not close(found[key], expected[key]):
                        pair.sweep.report(
                            pair.key, f"state: {key}: {found[key]!r}, not {expected[key]!r} | {pair.case}"
                        )
            again = pair.both(
                "load", *[lambda m=m, n=n: schedulers_of(m)[name](optimizer(m)) for n, m in enumerate((torch, ours))]
            )
            if again is None:
                return
            loaded = pair.both(
                "load_state_dict",
                *[lambda s=s, d=d: s.load_state_dict(copy.deepcopy(d)) for s, d in zip(again, states)],
            )
            if loaded is None:
                return
            if name not in ("LambdaLR", "LambdaLR two", "MultiplicativeLR"):
                pair.both(
                    "state of PyTorch",
                    lambda: 0,
                    lambda: again[1].load_state_dict(plain_state(copy.deepcopy(states[0]))),
                )
            rows = pair.both("step", *[lambda s=s: walk(s, 8, 12) for s in again])
            if rows is not None and not close(rows[1], rows[0]):
                pair.sweep.report(pair.key, f"rates after load: {rows[1]}, not {rows[0]} | {pair.case}")


def schedulers(sweep: Sweep, match: str, dtypes: list) -> None:
    for name, kind, by_epoch in itertools.product(schedulers_of(torch), ("SGD", "Adam", "tensor"), (False, True)):
        if re.search(match, name):
            compare_scheduler(sweep, name, kind, by_epoch)
    theirs = {n for n in dir(torch.optim.lr_scheduler) if n.endswith("LR") or n in torch.optim.lr_scheduler.__all__}
    covered = {name.split()[0] for name in schedulers_of(torch)}
    print("schedulers without a row:", sorted(theirs - covered))


PARTS = {"modules": modules, "optimizers": optimizers, "schedulers": schedulers}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--match", default="")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--dtypes", default="float32")
    parser.add_argument("--show", type=int, default=4)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sweep = Faults(options.show)
    for part in options.parts.split(","):
        PARTS[part](sweep, options.match, [getattr(torch, name) for name in options.dtypes.split(",")])
    for key, texts in sweep.found.items():
        for text in texts:
            print(f"{key}: {text}")
    print(dict(sweep.counts))


if __name__ == "__main__":
    main()
