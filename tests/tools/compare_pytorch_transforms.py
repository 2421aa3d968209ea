#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the transforms of functions and mixed precision of tessera.torch with PyTorch, for every function of op_db.

By hand, in the environment of compare_pytorch.py, whose samples and differences this takes, and for PyTorch's examples of custom
functions. A batch of a sample has the sample's tensors, and two more of the same form: floating ones scaled, others with their
elements in reverse. The operators that run in a loop, where PyTorch has a batching rule, are listed at the end.

Usage: compare_pytorch_transforms.py [--match REGEX] [--forms vmap,loop,...] [--samples N] [--show N]

FORMS: vmap (with PyTorch's vmap: all tensors batched, or one of them, along the first axis or the last one), loop (with a loop
over the samples), nested, vmap_ (a method in place), chunks; per_sample (gradients inside vmap), jacrev, jacfwd, hessian, vjp, jvp,
linearize, rows (vmap of the function that vjp gave); autocast and autocast_half (dtypes and values), autocast_gradient; function
(custom functions alone); scenes (the programs of pytorch_*_scenes.py).
"""

from __future__ import annotations

import argparse
import inspect
import re
import types
import warnings

import compare_pytorch
import torch
from compare_pytorch import (
    Copies,
    Pair,
    Sweep,
    attribute,
    difference,
    in_place_of,
    is_random,
    replaced,
    tensors_in,
    text_of,
    weighted_sum,
)
from pytorch_known import LEFT_OUT, TRANSFORMS_ON_PURPOSE
import pytorch_function_scenes  # noqa: F401  (adds its programs to SCENES)
import pytorch_transform_scenes  # noqa: F401
from pytorch_autograd_scenes import SCENES
from torch.testing._internal import autograd_function_db as functions
from torch.testing._internal.common_methods_invocations import op_db

import tessera.torch as ours

BATCHES = ("vmap", "loop", "nested", "vmap_", "chunks")
DERIVATIVES = ("per_sample", "jacrev", "jacfwd", "hessian", "vjp", "jvp", "linearize", "rows")
CASTS = ("autocast", "autocast_half", "autocast_gradient")
FORMS = BATCHES + DERIVATIVES + CASTS + ("scenes",)
SAMPLES = 3  # in a batch
LARGEST = 40  # elements of the inputs of a Jacobian


def variants(tensor: torch.Tensor) -> list[torch.Tensor]:
    """The samples of a batch: tensors of one form with other values, which most operators take if they take the first."""
    tensor = tensor.detach()
    if tensor.is_floating_point() or tensor.is_complex():
        return [tensor.clone(), tensor * 0.5, tensor * 0.75]
    turned = tensor.flatten().flip(0).reshape(tensor.shape)
    return [tensor.clone(), turned, tensor.clone()]


def batch_of(tensor: torch.Tensor, axis: int) -> torch.Tensor:
    return torch.stack(variants(tensor), axis if axis >= 0 else tensor.ndim)


def items_of(result: object) -> list:
    return list(result) if isinstance(result, (list, tuple)) else [result]


class Fallbacks:
    """Which operators ran in a loop: those of ours warn, those of PyTorch raise an error."""

    def __init__(self) -> None:
        self.ours: dict[str, set[str]] = {}

    def note(self, key: str, caught: list) -> None:
        for warning in caught:
            if found := re.match(r"vmap: (\w+)\(?\)? has (no batching rule|neither)", str(warning.message)):
                self.ours.setdefault(found[1], set()).add(key)


class TransformPair(Pair):
    """One sample of an entry of op_db, and the transforms of both libraries."""

    fallbacks: Fallbacks

    def tensors(self) -> list[torch.Tensor]:
        found: dict[int, torch.Tensor] = {}
        for t in tensors_in([self.sample.input, list(self.sample.args), self.sample.kwargs], torch.Tensor):
            found[id(t)] = t
        return list(found.values())

    def of_tensors(self, function: object, wrap: object, places: list[torch.Tensor], first: object = None) -> object:
        """The call as a function of some of its tensors."""

        def run(*given: object) -> object:
            table = {id(t): g for t, g in zip(places, given)}
            result = self.call(function, lambda value: replaced(value, table, wrap), first)
            return tuple(result) if isinstance(result, (list, tuple)) else result

        return run

    def processed_of(self, function: object, wrap: object, places: list[torch.Tensor]) -> object:
        run = self.of_tensors(function, wrap, places)
        return lambda *given: self.unique(run(*given))

    # ---- batches ----

    def choices(self) -> list[tuple[tuple, int]]:
        """in_dims and out_dims: everything is batched along the first axis, along the last one, or one tensor alone is."""
        count = len(self.tensors())
        made = [((0,) * count, 0), ((-1,) * count, -1)]
        if count > 1:
            made += [(tuple(0 if i == j else None for j in range(count)), 0) for i in range(min(count, 3))]
        return made

    def mapped(
        self, module: object, function: object, wrap: object, dims: tuple, out: int, **options: object
    ) -> object:
        given = [t.detach() if d is None else batch_of(t, d) for t, d in zip(self.tensors(), dims)]
        given = [wrap(t) for t in given]
        run = self.processed_of(function, wrap, self.tensors())
        return module.vmap(run, in_dims=dims, out_dims=out, randomness="different", **options)(*given)

    def noted(self, call: object) -> object:
        """The result of a call of ours, after a look at the operators that ran in a loop."""
        from tessera.func import _dispatch

        _dispatch._warned.clear()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = call()
        if any("has no batching rule" in str(w.message) for w in caught) and self.peer_has_rule:
            self.fallbacks.note(self.key, caught)
        return result

    def vmap(self) -> None:
        for dims, out in self.choices() if self.tensors() else []:

            def theirs() -> object:
                self.peer_has_rule = True
                torch._C._functorch._set_vmap_fallback_enabled(False)
                try:
                    return self.mapped(torch, self.info.op, lambda value: value, dims, out)
                except RuntimeError:
                    self.peer_has_rule = False
                finally:
                    torch._C._functorch._set_vmap_fallback_enabled(True)
                return self.mapped(torch, self.info.op, lambda value: value, dims, out)

            def mine() -> object:
                return self.noted(lambda: self.mapped(ours, self.mine, Copies(), dims, out))

            self.compare(f"{self.key} vmap {short(dims)}", theirs, mine)

    def loop(self) -> None:
        """Against the same call of ours for each sample."""
        for dims, out in self.choices() if self.tensors() else []:
            copies = Copies()

            def each() -> object:
                found = []
                for place in range(SAMPLES):
                    given = [t.detach() if d is None else variants(t)[place] for t, d in zip(self.tensors(), dims)]
                    found.append(items_of(self.processed_of(self.mine, copies, self.tensors())(*map(Copies(), given))))
                return [ours.stack(list(items), out) for items in zip(*found)]

            try:
                wanted = each()
            except Exception:  # noqa: BLE001 - the samples do not fit, or their results have several shapes
                continue
            random = is_random(self.info, self.sample)

            def theirs() -> object:
                return [
                    torch.from_dlpack(t.detach().contiguous().clone())
                    if t.numel()
                    else torch.empty(tuple(t.shape), dtype=attribute(torch, str(t.dtype).rpartition(".")[2]))
                    for t in wanted
                ]

            self.sweep.call(
                f"{self.key} loop {short(dims)} {self.dtype}", theirs,
                lambda: items_of(self.mapped(ours, self.mine, copies, dims, out)), not random, text_of(self.sample),
            )  # fmt: skip

    def nested(self) -> None:
        places = self.tensors()
        if not places:
            return

        def run(module: object, function: object, wrap: object) -> object:
            outer = [0 if i == 0 else None for i in range(len(places))]
            given = [batch_of(t, 0) for t in places]
            given = [
                wrap(torch.stack([b, b * 0.5 if b.is_floating_point() else b], 1)) if i == 0 else wrap(b)
                for i, b in enumerate(given)
            ]
            inner = module.vmap(
                self.processed_of(function, wrap, places), in_dims=(0,) * len(places), randomness="different"
            )
            # The outer batch of the first tensor is its axis 1.
            return module.vmap(inner, in_dims=tuple(1 if d == 0 else None for d in outer), randomness="different")(
                *given
            )

        self.compare(
            f"{self.key} nested",
            lambda: run(torch, self.info.op, lambda value: value),
            lambda: run(ours, self.mine, Copies()),
        )

    def chunks(self) -> None:
        if self.tensors():
            dims, out = self.choices()[0]
            self.compare(
                f"{self.key} chunks", lambda: self.mapped(torch, self.info.op, lambda value: value, dims, out, chunk_size=2),
                lambda: self.mapped(ours, self.mine, Copies(), dims, out, chunk_size=2),
            )  # fmt: skip

    def vmap_(self) -> None:
        if self.info.inplace_variant is None or not isinstance(self.sample.input, torch.Tensor):
            return
        places = self.tensors()
        for dims, out in [c for c in self.choices() if c[0][0] is not None]:

            def run(module: object, function: object, wrap: object) -> object:
                def changed(*given: object) -> object:
                    table = {id(t): g for t, g in zip(places, given)}
                    table[id(self.sample.input)] = target = table[id(self.sample.input)].clone()
                    result = self.call(function, lambda value: replaced(value, table, wrap))
                    return result, target

                given = [wrap(t.detach() if d is None else batch_of(t, d)) for t, d in zip(places, dims)]
                return module.vmap(changed, in_dims=dims, out_dims=out, randomness="different")(*given)

            self.compare(
                f"{self.key}_ vmap {short(dims)}", lambda: run(torch, self.info.inplace_variant, lambda value: value),
                lambda: run(ours, in_place_of(self.info), Copies()),
            )  # fmt: skip

    # ---- derivatives ----

    def parts(self) -> tuple[list[torch.Tensor], object, object]:
        """The tensors to differentiate by, and the differentiable results of both libraries as functions of them."""
        inputs = [t for t in self.tensors() if t.requires_grad]

        def of(module: object, function: object, tensor: type, wrap: object) -> object:
            run = self.of_tensors(function, wrap, inputs)

            def results(*given: object) -> object:
                found = tensors_in(self.processed(run(*given)), tensor)
                return tuple(t for t in found if t.is_floating_point() or t.is_complex())

            return results

        return inputs, of(torch, self.info.op, torch.Tensor, lambda v: v), of(ours, self.mine, ours.Tensor, Copies())

    def transformed(self, form: str, transform: object, most: int = 10**6) -> None:
        """Compares a transform: a function of (module, function of tensors, inputs of that module)."""
        inputs, theirs, mine = self.parts()
        if not inputs or sum(t.numel() for t in inputs) > most:
            return

        def plain(module: object, function: object, wrap: object) -> object:
            return transform(module, function, [wrap(t.detach()) for t in inputs])

        self.compare(
            f"{self.key} {form}", lambda: plain(torch, theirs, lambda value: value),
            lambda: self.noted(lambda: plain(ours, mine, Copies())),
        )  # fmt: skip

    def per_sample(self) -> None:
        def gradients(module: object, function: object, inputs: list) -> object:
            def total(*given: object) -> object:
                return sum(weighted_sum(module, o).to(module.float64) for o in function(*given))

            batches = [module.stack([t, t * 0.5, t * 0.75]) for t in inputs]
            all_of = module.vmap(module.func.grad(total, argnums=tuple(range(len(inputs)))), randomness="different")(
                *batches
            )
            first = module.vmap(
                module.func.grad(total, argnums=tuple(range(len(inputs)))), in_dims=(0, *[None] * (len(inputs) - 1)),
                randomness="different",
            )(batches[0], *inputs[1:])  # fmt: skip
            return all_of, first

        self.transformed("per_sample", gradients)

    def rows(self) -> None:
        def pulled(module: object, function: object, inputs: list) -> object:
            result, pull = module.func.vjp(function, *inputs)
            return module.vmap(pull)(
                tuple(module.stack([direction(module, t), direction(module, t) * 2, t.detach()]) for t in result)
            )

        self.transformed("rows", pulled)

    def jacrev(self) -> None:
        self.transformed("jacrev", lambda m, f, t: m.func.jacrev(f, argnums=tuple(range(len(t))))(*t), LARGEST)

    def jacfwd(self) -> None:
        self.transformed(
            "jacfwd", lambda m, f, t: m.func.jacfwd(f, argnums=tuple(range(len(t))), randomness="same")(*t), LARGEST
        )

    def hessian(self) -> None:
        if self.info.supports_gradgrad and self.info.supports_forward_ad:
            self.transformed(
                "hessian", lambda m, f, t: m.func.hessian(f, argnums=tuple(range(len(t))))(*t), LARGEST // 4
            )

    def vjp(self) -> None:
        def pulled(module: object, function: object, inputs: list) -> object:
            result, pull = module.func.vjp(function, *inputs)
            return result, pull(tuple(direction(module, t) for t in result))

        self.transformed("vjp", pulled)

    def jvp(self) -> None:
        if self.info.supports_forward_ad:
            self.transformed("jvp", lambda m, f, t: m.func.jvp(f, tuple(t), tuple(direction(m, x) for x in t)))

    def linearize(self) -> None:
        if self.info.supports_forward_ad:

            def pushed(module: object, function: object, inputs: list) -> object:
                tangents = tuple(direction(module, t) for t in inputs)
                if module is torch:  # whose linearize traces the function, and crashes with some operators
                    return module.func.jvp(function, tuple(inputs), tangents)
                result, push = module.func.linearize(function, *inputs)
                return result, push(*tangents)

            self.transformed("linearize", pushed)

    # ---- mixed precision ----

    def autocast(self, name: str = "bfloat16") -> None:
        def run(module: object, function: object, wrap: object) -> object:
            with module.autocast("cpu", dtype=getattr(module, name)):
                results = self.unique(self.call(function, wrap))
            return rounded(module, results, torch.Tensor if module is torch else ours.Tensor)

        self.compare(
            f"{self.key} autocast {name}", lambda: run(torch, self.info.op, lambda value: value),
            lambda: run(ours, self.mine, Copies()),
        )  # fmt: skip

    def autocast_half(self) -> None:
        self.autocast("float16")

    def autocast_gradient(self) -> None:
        inputs = self.inputs()

        def run(module: object, tensor: type, function: object, wrap: object) -> object:
            with module.autocast("cpu", dtype=module.bfloat16):
                results = self.processed(self.call(function, wrap))
            given = [wrap(t) for t in inputs]
            outputs = [t for t in tensors_in(results, tensor) if t.requires_grad]
            if not outputs:
                return []
            vectors = [module.ones_like(t) for t in outputs]
            found = module.autograd.grad(outputs, given, vectors, allow_unused=True)
            found = [module.zeros_like(i) if g is None else g for i, g in zip(given, found)]
            return rounded(module, found, tensor)

        if inputs:
            self.compare(
                f"{self.key} autocast gradient", lambda: run(torch, torch.Tensor, self.info.op, lambda value: value),
                lambda: run(ours, ours.Tensor, self.mine, Copies()),
            )  # fmt: skip


class CustomPair(TransformPair):
    """The same of PyTorch's examples of custom functions, whose text is run with our module, too."""

    ours: dict = {}

    @classmethod
    def read(cls) -> None:
        text = inspect.getsource(functions).partition("autograd_function_db = [")[0]
        text = "\n".join(line for line in text.splitlines() if line != "import torch")
        cls.ours = {"torch": ours, "__name__": "ours"}
        exec(text, cls.ours)  # noqa: S102

    def __init__(self, sweep: Sweep, info: object, sample: object, dtype: str):
        super().__init__(sweep, info, sample, dtype)
        self.mine = self.as_ours(info.op)

    def as_ours(self, function: object) -> object:
        if isinstance(getattr(function, "__self__", None), type):
            return self.ours[function.__self__.__name__].apply
        return types.FunctionType(function.__code__, self.ours)

    def vmap_(self) -> None:
        """The forms in place are functions of their own here."""

    def function(self) -> None:
        self.compare(self.key, lambda: self.call(self.info.op), lambda: self.call(self.mine, Copies()))


def rounded(module: object, results: object, tensor: type) -> list:
    """The dtypes of results, and their values in the dtype in which parts of them were computed."""
    found = []
    for t in tensors_in(results, tensor):
        found.append(str(t.dtype).rpartition(".")[2])
        found.append(t.detach().to(module.bfloat16) if t.is_floating_point() else t)
    return found


def direction(module: object, tensor: object) -> object:
    """A vector or tangent for a tensor, the same in both libraries."""
    values = module.arange(tensor.numel(), dtype=module.float64) % 5 / 4 - 0.5
    return values.reshape(tensor.shape).to(tensor.dtype)


def short(dims: tuple) -> str:
    return "".join("." if d is None else "-" if d < 0 else "0" for d in dims)


def chosen(samples: list, most: int) -> list:
    step = max(1, -(-len(samples) // most)) if most else 1
    return samples[::step]


def play(sweep: Sweep, name: str, run: object) -> None:
    """Compares what a program gives, each of its results by itself."""
    results = sweep.both(name, lambda: run(torch), lambda: run(ours), "")
    if results is None:
        return
    expected, found = ([r] if not isinstance(r, (list, tuple)) else list(r) for r in results)
    if len(expected) != len(found):
        sweep.report(name, f"length: {len(found)}, not {len(expected)}")
    for place, (want, got) in enumerate(zip(expected, found)):
        if text := difference(got, want, True):
            sweep.report(f"{name}[{place}]", text)
        else:
            sweep.counts["same"] += 1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--match", default="")
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--samples", type=int, default=8, help="of an operator; 0 for all")
    parser.add_argument("--show", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    forms = options.forms.split(",")
    sweep, fallbacks = Sweep(options.show), Fallbacks()
    compare_pytorch.ON_PURPOSE.extend(TRANSFORMS_ON_PURPOSE)
    TransformPair.fallbacks = fallbacks
    CustomPair.read()
    if "scenes" in forms:
        for name, run in SCENES.items():
            if re.search(options.match, name):
                play(sweep, name, run)
    kinds = [(TransformPair, info) for info in op_db] + [(CustomPair, info) for info in functions.autograd_function_db]
    for kind, info in kinds:
        if not re.search(options.match, info.name) or LEFT_OUT.match(info.name):
            continue
        for form in [f for f in forms if f != "scenes"]:
            dtype = torch.float64 if form in DERIVATIVES else torch.float32
            wants = form in DERIVATIVES or form == "autocast_gradient"
            known = info.supported_backward_dtypes("cpu") if wants else info.supported_dtypes("cpu")
            if dtype not in known:
                if wants or torch.int64 not in known:
                    continue
                dtype = torch.int64
            torch.manual_seed(1)
            try:
                samples = list(info.sample_inputs("cpu", dtype, requires_grad=wants))
            except Exception:  # noqa: BLE001 - samples for another device
                sweep.counts["no samples"] += 1
                continue
            for sample in chosen(samples, options.samples):
                pair = kind(sweep, info, sample, str(dtype)[6:])
                pair.peer_has_rule = True
                try:
                    getattr(pair, form)()
                except Exception as error:  # noqa: BLE001 - of this tool
                    sweep.report(
                        pair.key, f"tool: {type(error).__name__}: {str(error)[:200]} | {form} {text_of(sample)}"
                    )
    for key, texts in sweep.found.items():
        for text in texts:
            print(f"{key}: {text}")
    print(dict(sweep.counts))
    print("In a loop, while PyTorch has a rule:")
    for name, keys in sorted(fallbacks.ours.items()):
        print(f"  {name}: {', '.join(sorted(keys))[:160]}")


if __name__ == "__main__":
    main()
