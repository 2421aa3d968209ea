#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls the functions of tessera.torch with the sample inputs of PyTorch's own tests, and compares with PyTorch.

By hand, in the environment that tests/bench/peer.sh makes, with `pip install expecttest pytest`. The samples are those of
torch.testing (op_db), also the inputs that PyTorch refuses. A call differs if its result has another structure, dtype,
shape or value, if a gradient does, or if only one of the two libraries raises an error. Names that tessera.torch does
not have are counted apart.

Usage: compare_pytorch.py [--match REGEX] [--dtypes float32,int64,...] [--forms function,method,inplace,gradient,errors,out]
                          [--json FILE] [--show N]
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import re
import types
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db

import tessera.torch as ours

FORMS = ("function", "method", "inplace", "gradient", "errors", "out")
# Results that depend on a generator or on memory that nobody has written: dtype and shape only.
WITHOUT_VALUES = re.compile(
    r"^(bernoulli|cauchy|empty|empty_.*|exponential|geometric|log_normal|multinomial|new_empty.*|normal|rand.*|uniform"
    r"|nn\.functional\.(.*dropout.*|rrelu|fractional_max_pool.*)|resize_.*|svd_lowrank|pca_lowrank)$"
)


class Missing(Exception):
    """tessera.torch has no such name."""


def attribute(root: object, dotted: str) -> object:
    for name in dotted.split("."):
        try:
            root = getattr(root, name)
        except (AttributeError, NotImplementedError) as error:
            raise Missing(dotted) from error
    return root


def to_ours(value: object) -> object:
    """The same argument for tessera.torch: tensors are copied with their strides."""
    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided or value.device.type != "cpu":
            raise Missing("layout or device")
        plain = value.detach().resolve_conj().resolve_neg()
        copy = torch.empty_strided(plain.shape, plain.stride(), dtype=plain.dtype).copy_(plain) if plain.numel() else plain
        made = ours.from_dlpack(copy.contiguous() if any(s == 0 for s in copy.stride()) else copy)
        if any(s == 0 for s in copy.stride()):
            made = made.clone()
        return made.requires_grad_() if value.requires_grad else made
    if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
        return attribute(ours, str(value).removeprefix("torch."))
    if isinstance(value, torch.device):
        return ours.device(str(value))
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(to_ours(item) for item in value)
    if isinstance(value, dict):
        return {key: to_ours(item) for key, item in value.items()}
    if isinstance(value, torch.Generator):
        raise Missing("generator")
    return value


def function_of(info: object) -> object:
    """The function of tessera.torch that an entry of op_db calls; a lambda is run with our module in place of torch."""
    op = info.op
    if isinstance(op, types.FunctionType) and op.__module__.startswith("torch.testing"):
        return types.FunctionType(op.__code__, {**op.__globals__, "torch": ours}, op.__name__, op.__defaults__, op.__closure__)
    if info.name.startswith("__"):
        return lambda first, *rest, **options: attribute(type(first), info.name)(first, *rest, **options)
    name = getattr(op, "__name__", info.name)
    for root, path in ((ours, info.name), (ours, name)):
        try:
            return attribute(root, path)
        except Missing:
            pass
    return lambda first, *rest, **options: attribute(first, info.name)(*rest, **options)


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
    if isinstance(expected, (bool, int, complex)):
        return None if found == expected or not values else f"value: {found}, not {expected}"
    return None


def differentiable(result: object, tensor: type) -> list:
    items = result if isinstance(result, (list, tuple)) else [result]
    return [t for t in items if isinstance(t, tensor) and t.requires_grad]


def gradients(module: object, tensor: type, call: object, inputs: list) -> list:
    outputs = differentiable(call(), tensor)
    if not outputs:
        return []
    total = sum((module.view_as_real(o) if o.is_complex() else o).sum() for o in outputs)
    return list(module.autograd.grad(total, inputs, allow_unused=True))


def leaves(value: object, tensor: type) -> list:
    if isinstance(value, tensor):
        return [value] if value.requires_grad else []
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in leaves(item, tensor)]
    if isinstance(value, dict):
        return leaves(list(value.values()), tensor)
    return []


class Sweep:
    def __init__(self, show: int):
        self.counts: collections.Counter = collections.Counter()
        self.found: dict[str, list[str]] = {}
        self.show = show

    def report(self, key: str, text: str) -> None:
        self.counts[text.partition(":")[0]] += 1
        shown = self.found.setdefault(key, [])
        if len(shown) < self.show and text not in [s.partition(" | ")[0] for s in shown]:
            shown.append(text)

    def call(self, key: str, theirs: object, mine: object, values: bool, sample: str) -> None:
        try:
            expected, refused = theirs(), None
        except Exception as error:  # noqa: BLE001 - any error of the peer is an answer
            expected, refused = None, error
        try:
            found = mine()
        except Missing as error:
            self.counts["missing"] += 1
            self.found.setdefault(key, ["missing: " + str(error)])
            return
        except NotImplementedError as error:
            if refused is None:
                self.report(key, f"not implemented: {str(error)[:200]} | {sample}")
            return
        except Exception as error:  # noqa: BLE001
            if refused is None:
                self.report(key, f"error: {type(error).__name__}: {str(error)[:240]} | {sample}")
            else:
                self.counts["both refuse"] += 1
            return
        if refused is not None:
            self.report(key, f"no error: PyTorch says {type(refused).__name__}: {str(refused)[:160]} | {sample}")
            return
        if text := difference(found, expected, values):
            self.report(key, f"{text} | {sample}")
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


def run_sample(sweep: Sweep, info: object, mine: object, sample: object, forms: set[str], values: bool, dtype: str) -> None:
    text = text_of(sample)
    key = f"{info.name}{'.' + info.variant_test_name if info.variant_test_name else ''}"

    def arguments(wrap: object) -> tuple:
        return wrap(sample.input), wrap(tuple(sample.args)), wrap(dict(sample.kwargs))

    def caller(function: object, wrap: object) -> object:
        def call() -> object:
            first, rest, options = arguments(wrap)
            return function(first, *rest, **options)

        return call

    def same(value: object) -> object:
        return value

    def fresh(value: object) -> object:
        if isinstance(value, torch.Tensor):
            return value.detach().clone()
        if isinstance(value, (list, tuple)):
            return type(value)(fresh(item) for item in value)
        return value

    if "function" in forms:
        sweep.call(f"{key} {dtype}", caller(info.op, same), caller(mine, to_ours), values, text)
    if "method" in forms and info.method_variant is not None and isinstance(sample.input, torch.Tensor):
        name = info.name
        sweep.call(
            f"Tensor.{key} {dtype}", caller(info.method_variant, same),
            caller(lambda t, *a, **k: attribute(t, name)(*a, **k), to_ours), values, text,
        )  # fmt: skip
    if "inplace" in forms and info.inplace_variant is not None and isinstance(sample.input, torch.Tensor):
        name = getattr(info.inplace_variant, "__name__", info.name + "_")
        plain = types.SimpleNamespace(input=fresh(sample.input), args=sample.args, kwargs=sample.kwargs)
        sweep.call(
            f"Tensor.{key}_ {dtype}",
            lambda: info.inplace_variant(fresh(plain.input), *plain.args, **plain.kwargs),
            lambda: attribute(to_ours(plain.input), name)(*to_ours(tuple(plain.args)), **to_ours(dict(plain.kwargs))),
            values, text,
        )  # fmt: skip
    if "out" in forms and info.supports_out:
        try:
            expected = caller(info.op, same)()
        except Exception:  # noqa: BLE001 - seen by the form "function"
            return
        if isinstance(expected, torch.Tensor):

            def theirs() -> object:
                out = torch.full_like(expected.detach(), 7) if expected.numel() else torch.empty_like(expected.detach())
                with torch.no_grad():
                    info.op(sample.input, *sample.args, **sample.kwargs, out=out)
                return out

            def ours_out() -> object:
                out = to_ours(torch.full_like(expected.detach(), 7))
                with ours.no_grad():
                    first, rest, options = arguments(to_ours)
                    mine(first, *rest, **options, out=out)
                return out

            sweep.call(f"{key} out= {dtype}", theirs, ours_out, values, text)
    if "gradient" in forms:
        inputs = leaves([sample.input, list(sample.args), sample.kwargs], torch.Tensor)
        if inputs:

            def ours_gradient() -> object:
                first, rest, options = arguments(to_ours)
                return gradients(ours, ours.Tensor, lambda: mine(first, *rest, **options),
                                 leaves([first, list(rest), options], ours.Tensor))  # fmt: skip

            sweep.call(
                f"{key} gradient {dtype}",
                lambda: gradients(torch, torch.Tensor, caller(info.op, same), inputs), ours_gradient, values, text,
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
    sweep = Sweep(options.show)
    for info in op_db:
        if not re.search(options.match, info.name):
            continue
        values = not WITHOUT_VALUES.match(info.name)
        mine = function_of(info)
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
                run_sample(sweep, info, mine, sample, forms, values, name)
        if "errors" in forms and info.error_inputs_func:
            try:
                refused = list(info.error_inputs("cpu"))
            except Exception:  # noqa: BLE001
                continue
            for entry in refused:
                sample = entry.sample_input
                run_sample(sweep, info, mine, sample, {"function"}, values, "error input")
    for key, texts in sweep.found.items():
        for text in texts:
            print(f"{key}: {text}")
    print(dict(sweep.counts))
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"counts": sweep.counts, "found": sweep.found}, file, indent=1)


if __name__ == "__main__":
    main()
