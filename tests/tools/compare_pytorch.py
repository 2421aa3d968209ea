#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls the functions of tessera.torch with the sample inputs of PyTorch's own tests, and compares with PyTorch.

By hand, in the environment that tests/bench/peer.sh makes, with `pip install expecttest pytest`. The samples are those of
torch.testing (op_db), also the inputs that PyTorch refuses. A call differs if its result has another structure, dtype,
shape or value, if a gradient does, or if only one of the two libraries raises an error. Names that tessera.torch does
not have are counted apart, and so are differences on purpose.

Usage: compare_pytorch.py [--match REGEX] [--dtypes float32,int64,...] [--forms function,method,...]
                          [--json FILE] [--show N]

FORMS: function (positional arguments), keywords (arguments by their names), strided (inputs that are not contiguous), memory
(whether a result shares the inputs' memory and whether it has a history), method, inplace (values, and the gradient through
it), gradient, twice (the gradient of the gradient; with float64), forward (derivatives of forward mode), errors (inputs that
PyTorch refuses), out (out=), resized (out= of another shape).
"""

from __future__ import annotations

import argparse
import collections
import functools
import inspect
import json
import math
import re
import types
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db

import tessera.torch as ours
from pytorch_known import LEFT_OUT, ON_PURPOSE, UP_TO_SIGNS, WITHOUT_VALUES

FORMS = ("function", "keywords", "strided", "memory", "method", "inplace", "gradient", "twice", "forward", "errors", "out", "resized")
OVERRIDES = torch.overrides.get_testing_overrides()


class Missing(Exception):
    """tessera.torch has no such name."""


def attribute(root: object, dotted: str) -> object:
    for name in dotted.split("."):
        try:
            root = getattr(root, name)
        except (AttributeError, NotImplementedError) as error:
            raise Missing(dotted) from error
    return root


class Copies:
    """The arguments of one call for tessera.torch. What shares memory, or is one tensor, does and is so here, too."""

    def __init__(self) -> None:
        self.memory: dict[int, tuple] = {}
        self.tensors: dict[int, tuple] = {}

    def __call__(self, value: object) -> object:
        if isinstance(value, torch.Tensor):
            if id(value) not in self.tensors:
                self.tensors[id(value)] = (self.copy(value), value)
            return self.tensors[id(value)][0]
        if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
            return attribute(ours, str(value).removeprefix("torch."))
        if isinstance(value, torch.device):
            return ours.device(str(value))
        if isinstance(value, torch.Size):
            return tuple(value)
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            return type(value)(self(item) for item in value)
        if isinstance(value, dict):
            return {key: self(item) for key, item in value.items()}
        if isinstance(value, torch.nn.Module):
            return attribute(ours.nn, type(value).__name__)()
        if isinstance(value, torch.Generator):
            raise Missing("generator")
        return with_our_module(value)

    def copy(self, tensor: torch.Tensor) -> object:
        if tensor.layout != torch.strided or tensor.device.type != "cpu":
            raise Missing("layout or device")
        plain = tensor.detach().resolve_conj().resolve_neg()
        storage = plain.untyped_storage()
        key = (storage.data_ptr(), plain.dtype)
        if not plain.numel():
            made = ours.from_dlpack(plain)
        else:
            if key not in self.memory:
                whole = torch.empty(0, dtype=plain.dtype).set_(storage, 0, (storage.nbytes() // plain.itemsize,))
                self.memory[key] = (ours.from_dlpack(whole.clone()), plain)
            made = self.memory[key][0].as_strided(plain.shape, plain.stride(), plain.storage_offset())
        return made.requires_grad_() if tensor.requires_grad else made


def to_ours(value: object) -> object:
    """An argument by itself."""
    return Copies()(value)


def with_our_module(function: object) -> object:
    """A function of the samples with our module in place of torch."""
    if not isinstance(function, types.FunctionType) or not function.__module__.startswith("torch.testing"):
        return function
    names = {**function.__globals__, "torch": ours}
    return types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)


def function_of(info: object) -> object:
    """The function of tessera.torch that an entry of op_db calls."""
    op = info.op
    if with_our_module(op) is not op:
        return with_our_module(op)
    if info.name.startswith("__"):
        return lambda first, *rest: attribute(first, info.name)(*rest)
    name = getattr(op, "__name__", info.name)
    for root, path in ((ours, info.name), (ours, name)):
        try:
            found = attribute(root, path)
        except Missing:
            continue
        if callable(found) and not isinstance(found, ours.dtype):
            return found
    return lambda first, *rest, **options: attribute(first, info.name)(*rest, **options)


def in_place_of(info: object) -> object:
    """The function of tessera.torch that is the in-place form of an entry of op_db."""
    form = info.inplace_variant
    if isinstance(form, functools.partial):  # of the function, with inplace=True
        return functools.partial(function_of(info), *form.args, **form.keywords)
    if with_our_module(form) is not form:
        return with_our_module(form)
    name = getattr(form, "__name__", info.name + "_")
    return lambda first, *rest, **options: attribute(first, name)(*rest, **options)


def is_random(info: object, sample: object) -> bool:
    """Whether the values depend on random numbers, or on memory that nobody has written."""
    if WITHOUT_VALUES.match(info.name):
        return True
    if info.name == "nn.functional.multi_head_attention_forward":
        return sample.args[9] > 0 and sample.kwargs.get("training", True)
    return bool(sample.kwargs.get("dropout_p"))


def difference(found: object, expected: object, values: bool) -> str | None:
    """What differs between a result of ours and PyTorch's, in words."""
    if isinstance(expected, torch.Tensor):
        if not isinstance(found, ours.Tensor):
            return f"type: {type(found).__name__}, not a tensor"
        dtype = str(expected.dtype).removeprefix("torch.")
        if str(found.dtype).rpartition(".")[2] != dtype:
            return f"dtype: {found.dtype}, not {dtype}"
        if tuple(found.shape) != tuple(expected.shape):
            return f"shape: {tuple(found.shape)}, not {tuple(expected.shape)}"
        if not values or expected.layout != torch.strided:
            return None
        theirs = expected.detach().resolve_conj().resolve_neg()
        mine = torch.from_dlpack(found.detach().contiguous()) if found.numel() else torch.empty_like(theirs)
        low = theirs.dtype in (torch.float16, torch.bfloat16)
        loose = {"rtol": 2e-2 if theirs.dtype == torch.bfloat16 else 4e-3, "atol": 1e-2} if low else {}
        if theirs.dtype in (torch.float32, torch.complex64):
            loose = {"rtol": 1e-4, "atol": 1e-4}
        if theirs.dtype in (torch.float64, torch.complex128):
            loose = {"rtol": 1e-6, "atol": 1e-8}
        try:
            torch.testing.assert_close(mine, theirs, equal_nan=True, **loose)
        except AssertionError as error:
            return "value: " + str(error).replace("\n", " ")[:240]
        return None
    if isinstance(expected, (list, tuple)):
        if not isinstance(found, (list, tuple)):
            return f"type: {type(found).__name__}, not {type(expected).__name__}"
        if len(found) != len(expected):
            return f"length: {len(found)}, not {len(expected)}"
        fields = [n for n in dir(type(expected)) if isinstance(getattr(type(expected), n), types.MemberDescriptorType)]
        if "return_types" in type(expected).__module__ + str(type(expected)) and fields:
            lacking = [n for n in fields if not hasattr(found, n)]
            if lacking:
                return f"fields: no {lacking}"
        return next((d for a, b in zip(found, expected) if (d := difference(a, b, values))), None)
    if isinstance(expected, float) and isinstance(found, (int, float)):
        same = math.isclose(found, expected, rel_tol=1e-4, abs_tol=1e-6) or (math.isnan(found) and math.isnan(expected))
        return None if same or not values else f"value: {found}, not {expected}"
    if isinstance(expected, (bool, int, complex, str)):
        return None if found == expected or not values else f"value: {found}, not {expected}"
    return None


def differentiable(result: object, tensor: type) -> list:
    items = result if isinstance(result, (list, tuple)) else [result]
    return [t for t in items if isinstance(t, tensor) and t.requires_grad]


def weighted_sum(module: object, tensor: object) -> object:
    """A sum in which each element has a weight, so that few gradients vanish by symmetry; real for complex numbers."""
    weights = (module.arange(tensor.numel(), dtype=module.float64) % 7 + 1) / 4
    total = (tensor * weights.reshape(tensor.shape).to(tensor.dtype)).sum()
    return total.real + total.imag / 2 if total.is_complex() else total


def gradients(module: object, tensor: type, outputs: object, inputs: list) -> list:
    """The gradients of a weighted sum; zeros where a result does not depend on an input, of which one library says None."""
    outputs = differentiable(outputs, tensor)
    found = [None] * len(inputs)
    if outputs:
        total = sum(weighted_sum(module, o).to(module.float64) for o in outputs)
        found = module.autograd.grad(total, inputs, allow_unused=True)
    return [module.zeros_like(i) if g is None else g for i, g in zip(inputs, found)]


def second_gradients(module: object, tensor: type, outputs: object, inputs: list) -> list:
    outputs = differentiable(outputs, tensor)
    if not outputs:
        return []
    total = sum(weighted_sum(module, o).to(module.float64) for o in outputs)
    found = module.autograd.grad(total, inputs, allow_unused=True, create_graph=True)
    return gradients(module, tensor, [g for g in found if g is not None], inputs)


def replaced(value: object, duals: dict, wrap: object) -> object:
    """The arguments with a dual tensor in place of each tensor that has one."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(replaced(item, duals, wrap) for item in value)
    if isinstance(value, dict):
        return {key: replaced(item, duals, wrap) for key, item in value.items()}
    return duals[id(value)] if id(value) in duals else wrap(value)


def leaves(value: object, tensor: type) -> list:
    if isinstance(value, tensor):
        return [value] if value.requires_grad else []
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in leaves(item, tensor)]
    if isinstance(value, dict):
        return leaves(list(value.values()), tensor)
    return []


def tensors_in(value: object, tensor: type) -> list:
    if isinstance(value, tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for item in value for t in tensors_in(item, tensor)] if isinstance(value, (list, tuple)) else []


def traits(results: object, given: list, tensor: type) -> list[str]:
    """Of each tensor of the results: whether it has memory of an input, and a history."""
    addresses = {t.untyped_storage().data_ptr() for t in given if t.numel()}
    found = []
    for t in tensors_in(results, tensor):
        shares = bool(t.numel()) and t.untyped_storage().data_ptr() in addresses
        found.append(f"{'shared' if shares else 'own'} memory, {'with' if t.requires_grad else 'without'} history")
    return found


def parameters_of(function: object) -> list[str]:
    """The names of the parameters, those of functions in C++ from PyTorch's table for overriding them."""
    function = OVERRIDES.get(function, function)
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


class Sweep:
    def __init__(self, show: int, forms: set[str] = frozenset()):
        self.counts: collections.Counter = collections.Counter()
        self.found: dict[str, list[str]] = {}
        self.show, self.forms = show, forms

    def known(self, key: str, text: str) -> bool:
        """Whether a difference is one on purpose."""
        return any(re.search(call, key) and re.search(words, text, re.DOTALL) for call, words in ON_PURPOSE)

    def report(self, key: str, text: str) -> None:
        """Counts a difference, and keeps the first of each kind. The text ends with " | " and the arguments."""
        if self.known(key, text):
            self.counts["on purpose"] += 1
            return
        self.counts[text.partition(":")[0]] += 1
        shown = self.found.setdefault(key, [])
        if len(shown) < self.show and text.partition(" | ")[0] not in [s.partition(" | ")[0] for s in shown]:
            shown.append(text)

    def both(self, key: str, theirs: object, mine: object, case: str, what: str = "") -> tuple[object, object] | None:
        """The results of both, or None after a report if one raises an error or both do."""
        try:
            expected, refused = theirs(), None
        except Exception as error:  # noqa: BLE001 - any error of the peer is an answer
            expected, refused = None, error
        try:
            found = mine()
        except Missing as error:
            self.counts["missing"] += 1
            self.found.setdefault(key, [f"missing: {error}"])
            return None
        except Exception as error:  # noqa: BLE001
            kind = "not implemented" if isinstance(error, NotImplementedError) else f"error: {type(error).__name__}"
            if refused is None:
                self.report(key, f"{what}{kind}: {str(error)[:240]} | {case}")
            else:
                self.counts["both refuse"] += 1
            return None
        if refused is not None:
            self.report(key, f"{what}no error: PyTorch says {type(refused).__name__}: {str(refused)[:160]} | {case}")
            return None
        return expected, found

    def call(self, key: str, theirs: object, mine: object, values: bool, case: str) -> None:
        results = self.both(key, theirs, mine, case)
        if results is None:
            return
        if text := difference(results[1], results[0], values):
            self.report(key, f"{text} | {case}")
        else:
            self.counts["same"] += 1


def text_of(sample: object) -> str:
    def short(value: object) -> str:
        if isinstance(value, torch.Tensor):
            contiguous = value.layout != torch.strided or value.is_contiguous()
            return f"{str(value.dtype)[6:]}{list(value.shape)}" + ("" if contiguous else f"/{list(value.stride())}")
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(short, value)) + "]"
        return repr(value)[:60]

    options = [f"{k}={short(v)}" for k, v in sample.kwargs.items()]
    return ", ".join([short(sample.input), *map(short, sample.args), *options])[:300]


def fresh(value: object) -> object:
    """Tensors without history and with memory of their own."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, (list, tuple)):
        return type(value)(fresh(item) for item in value)
    return value


class Pair:
    """One sample of an entry of op_db, and the functions of both libraries that it is for."""

    def __init__(self, sweep: Sweep, info: object, sample: object, dtype: str):
        self.sweep, self.info, self.sample, self.dtype = sweep, info, sample, dtype
        self.mine = function_of(info)
        self.key = info.name + ("." + info.variant_test_name if info.variant_test_name else "")

    def compare(self, key: str, theirs: object, mine: object) -> None:
        self.sweep.call(f"{key} {self.dtype}", theirs, mine, not is_random(self.info, self.sample), text_of(self.sample))

    def sample_dtype(self) -> torch.dtype:
        return getattr(torch, self.dtype, torch.float32)

    def call(
        self, function: object, wrap: object = lambda value: value, first: object = None, sample: object = None, **more: object
    ) -> object:
        sample = sample or self.sample
        input = sample.input if first is None else first
        return function(wrap(input), *wrap(tuple(sample.args)), **wrap({**sample.kwargs, **more}))

    def processed(self, results: object) -> object:
        return with_our_module(self.sample.output_process_fn_grad)(results)

    def unique(self, results: object) -> object:
        return self.processed(results) if UP_TO_SIGNS.match(self.info.name) else results

    def function(self) -> None:
        self.compare(
            self.key, lambda: self.unique(self.call(self.info.op)), lambda: self.unique(self.call(self.mine, Copies()))
        )  # fmt: skip

    def keywords(self) -> None:
        names = parameters_of(self.info.op)[1 : len(self.sample.args) + 1]
        if not self.sample.args or len(names) < len(self.sample.args) or self.info.name.startswith("__"):
            return
        sample = types.SimpleNamespace(
            input=self.sample.input, args=(), kwargs={**dict(zip(names, self.sample.args)), **self.sample.kwargs}
        )
        try:
            self.info.op(sample.input, **sample.kwargs)
        except Exception:  # noqa: BLE001 - PyTorch has other names than it documents
            return
        self.compare(
            self.key + " keywords", lambda: self.unique(self.info.op(sample.input, **sample.kwargs)),
            lambda: self.unique(self.call(self.mine, Copies(), sample=sample)),
        )  # fmt: skip

    def strided(self) -> None:
        sample = self.sample.noncontiguous()
        self.compare(
            self.key + " strided", lambda: self.unique(self.call(self.info.op, sample=sample)),
            lambda: self.unique(self.call(self.mine, Copies(), sample=sample)),
        )  # fmt: skip

    def memory(self) -> None:
        given = tensors_in([self.sample.input, list(self.sample.args), self.sample.kwargs], torch.Tensor)

        def theirs() -> object:
            return traits(self.call(self.info.op), given, torch.Tensor)

        def mine() -> object:
            copies = Copies()
            return traits(self.call(self.mine, copies), [copies(t) for t in given], ours.Tensor)

        self.compare(self.key + " memory", theirs, mine)

    def method(self) -> None:
        name = self.info.name
        if self.info.method_variant is not None and isinstance(self.sample.input, torch.Tensor):
            self.compare(
                "Tensor." + self.key, lambda: self.unique(self.call(self.info.method_variant)),
                lambda: self.unique(self.call(lambda t, *a, **k: attribute(t, name)(*a, **k), Copies())),
            )  # fmt: skip

    def inplace(self) -> None:
        if self.info.inplace_variant is not None and isinstance(self.sample.input, torch.Tensor):
            first = fresh(self.sample.input)
            self.compare(
                f"Tensor.{self.key}_", lambda: self.call(self.info.inplace_variant, first=fresh(first)),
                lambda: self.call(in_place_of(self.info), Copies(), first),
            )  # fmt: skip
            theirs, mine = self.info.inplace_variant, in_place_of(self.info)
            if "gradient" in self.sweep.forms and self.info.supports_inplace_autograd:
                self.compare_gradients(
                    "_ gradient", lambda t, *a, **k: theirs(t.clone(), *a, **k), lambda t, *a, **k: mine(t.clone(), *a, **k),
                    gradients,
                )  # fmt: skip

    def out(self) -> None:
        self.compare_out(" out=", lambda t: torch.full_like(t, 7) if t.numel() else torch.empty_like(t))

    def resized(self) -> None:
        self.compare_out(" out= resized", lambda t: torch.empty(0, dtype=t.dtype))
        self.compare_out(" out= strided", lambda t: torch.stack([t, t], -1)[..., 0].fill_(7))

    def compare_out(self, form: str, make: object) -> None:
        if not self.info.supports_out:
            return
        try:
            expected = self.call(self.info.op)
        except Exception:  # noqa: BLE001 - seen by the form "function"
            return
        items = expected if isinstance(expected, tuple) else (expected,)
        if not all(isinstance(item, torch.Tensor) for item in items):
            return

        def outputs() -> object:
            made = tuple([make(item.detach()) for item in items])
            return made if isinstance(expected, tuple) else made[0]

        def theirs() -> object:
            out = outputs()
            with torch.no_grad():
                self.call(self.info.op, out=out)
            return self.unique(out)

        def mine() -> object:
            copies, given = Copies(), outputs()
            with ours.no_grad():
                self.call(self.mine, copies, out=given)
            return self.unique(copies(given))

        self.compare(self.key + form, theirs, mine)

    def inputs(self) -> list:
        return leaves([self.sample.input, list(self.sample.args), self.sample.kwargs], torch.Tensor)

    def gradient(self) -> None:
        self.compare_gradients(" gradient", self.info.op, self.mine, gradients)

    def twice(self) -> None:
        if self.info.supports_gradgrad and self.sample_dtype() in (torch.float64, torch.complex128):
            self.compare_gradients(" twice", self.info.op, self.mine, second_gradients)

    def compare_gradients(self, form: str, theirs: object, mine: object, derive: object) -> None:
        inputs = self.inputs()

        def of_mine() -> object:
            copies = Copies()
            results = self.processed(self.call(mine, copies))
            return derive(ours, ours.Tensor, results, [copies(t) for t in inputs])

        if inputs:
            self.compare(
                self.key + form, lambda: derive(torch, torch.Tensor, self.processed(self.call(theirs)), inputs), of_mine
            )  # fmt: skip

    def forward(self) -> None:
        inputs = self.inputs()
        if not inputs or not self.info.supports_forward_ad:
            return

        def tangent_of(t: torch.Tensor) -> torch.Tensor:
            return (torch.arange(t.numel(), dtype=torch.float64) % 5 / 4 - 0.5).reshape(t.shape).to(t.dtype)

        def derivatives(module: object, function: object, wrap: object) -> object:
            with module.autograd.forward_ad.dual_level():
                duals = {id(t): module.autograd.forward_ad.make_dual(wrap(t).detach(), wrap(tangent_of(t))) for t in inputs}
                results = self.processed(self.call(function, lambda value: replaced(value, duals, wrap)))
                tensor = ours.Tensor if module is ours else torch.Tensor
                unpacked = [module.autograd.forward_ad.unpack_dual(t) for t in tensors_in(results, tensor)]
                return [module.zeros_like(p) if t is None else t for p, t in unpacked if p.is_floating_point() or p.is_complex()]

        self.compare(
            self.key + " forward", lambda: derivatives(torch, self.info.op, lambda value: value),
            lambda: derivatives(ours, self.mine, Copies()),
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--match", default="")
    parser.add_argument("--dtypes", default="float32")
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--json")
    parser.add_argument("--show", type=int, default=4)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    forms = set(options.forms.split(","))
    sweep = Sweep(options.show, forms)
    for info in op_db:
        if not re.search(options.match, info.name) or LEFT_OUT.match(info.name):
            continue
        for name in options.dtypes.split(","):
            dtype = getattr(torch, name)
            if dtype not in info.supported_dtypes("cpu"):
                continue
            wants = "gradient" in forms and dtype in info.supported_backward_dtypes("cpu")
            torch.manual_seed(1)
            try:
                samples = list(info.sample_inputs("cpu", dtype, requires_grad=wants))
            except Exception as error:  # noqa: BLE001 - samples for another device
                sweep.counts["no samples"] += 1
                print(f"{info.name} {name}: no samples: {str(error)[:100]}")
                continue
            for sample in samples:
                pair = Pair(sweep, info, sample, name)
                for form in (form for form in FORMS if form in forms and form != "errors"):
                    getattr(pair, form)()
        if "errors" in forms and info.error_inputs_func:
            try:
                refused = list(info.error_inputs("cpu"))
            except Exception:  # noqa: BLE001
                continue
            for entry in refused:
                Pair(sweep, info, entry.sample_input, "error input").function()
    for key, texts in sweep.found.items():
        for text in texts:
            print(f"{key}: {text}")
    print(dict(sweep.counts))
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"counts": sweep.counts, "found": sweep.found}, file, indent=1)


if __name__ == "__main__":
    main()
