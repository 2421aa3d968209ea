# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Backward through drawn calls, with hooks, custom functions and saved-tensor hooks that fail, throw or call back."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
from binding import OK, Fault, Library
from calls import Call, Handles, c_arguments
from forms import LARGEST, Forms
from generator.cases.replay import number_fields
from tensors import FLOATING, STATES, Tensors, Value, encode, same

BEHAVIOURS = ("fine", "fine", "replace", "fail", "throw", "unknown status", "call back")
RETAIN_GRAPH, CREATE_GRAPH = 1, 2


class Thrown(Exception):
    """An exception of a Python callback at the library's boundary; cffi turns it into a status."""


class Callbacks:
    """Host functions of every kind that the library calls, each with a randomly chosen behaviour."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.drops = 0
        self.expected_drops = 0
        ffi = library.ffi
        self.drop = ffi.callback("tsr_drop_fn", self._drop)
        quiet = {"error": library.codes["CALLBACK"], "onerror": lambda *_: None}
        self.hook = ffi.callback("tsr_hook_fn", self._hook, **quiet)
        self.prehook = ffi.callback("tsr_node_prehook_fn", self._prehook, **quiet)
        self.forward = ffi.callback("tsr_node_forward_fn", self._forward, **quiet)
        self.backward = ffi.callback("tsr_node_backward_fn", self._backward, **quiet)
        self.pack = ffi.callback("tsr_saved_pack_fn", self._pack, **quiet)
        self.unpack = ffi.callback("tsr_saved_unpack_fn", self._unpack, **quiet)
        self.packed: dict[int, Any] = {}
        self.drop_packed = ffi.callback("tsr_drop_fn", self._drop_packed)

    def user(self, behaviour: str) -> Any:
        """A user pointer that stands for the behaviour; it must be dropped exactly once."""
        self.expected_drops += 1
        return self.library.ffi.cast("void*", BEHAVIOURS.index(behaviour) + 1)

    def _drop(self, _user: Any) -> None:
        self.drops += 1

    def _behave(self, user: Any) -> tuple[int, str]:
        """Does what the behaviour says; the callback must return a status other than 0."""
        behaviour = BEHAVIOURS[int(self.library.ffi.cast("intptr_t", user)) - 1]
        lib = self.library.lib
        if behaviour == "throw":
            raise Thrown
        if behaviour == "fail":
            lib.tsr_error_set(
                self.library.codes["CANCELLED"], b"stop here", -1, self.library.ffi.NULL, self.library.ffi.NULL
            )
            return self.library.codes["CANCELLED"], behaviour
        if behaviour == "unknown status":
            return 77, behaviour
        if behaviour == "call back":
            self._nested()
        return OK, behaviour

    def _nested(self) -> None:
        """A separate backward inside the running one."""
        library, ffi = self.library, self.library.ffi
        out = ffi.new("tsr_tensor[3]")
        try:
            library.check("tsr_ones", [2], 1, -1, -1, -1, out)
            library.check("tsr_tensor_set_requires_grad", out[0], 1)
            previous = ffi.new("int32_t*")
            library.check("tsr_grad_mode_set", 1, previous)
            library.check("tsr_multiply", out[0], out[0], out + 1)
            library.check("tsr_sum", out[1], ffi.NULL, -1, 0, -1, out + 2)
            library.check("tsr_backward", out + 2, 1, ffi.NULL, 0, ffi.NULL, 0, 0)
            library.check("tsr_grad_mode_set", previous[0], previous)
        finally:
            library.lib.tsr_tensor_release_many(out, 3)

    def _hook(self, user: Any, grad: Any, replacement: Any) -> int:
        status, behaviour = self._behave(user)
        if behaviour == "replace":
            return int(self.library.call("tsr_multiply_scalar", grad, [number_fields(2.0)], replacement))
        return status

    def _prehook(self, user: Any, grads: Any, n_grads: int, replacements: Any, replaced: Any) -> int:
        status, behaviour = self._behave(user)
        for i in range(n_grads if behaviour == "replace" else 0):
            if grads[i] != self.library.ffi.NULL:
                status = int(
                    self.library.call("tsr_multiply_scalar", grads[i], [number_fields(2.0)], replacements + i)
                )
            replaced[0] = 1
            if status != OK:  # what it has made stays its own
                self.library.lib.tsr_tensor_release_many(replacements, n_grads)
                break
        return status

    def _forward(self, user: Any, node: Any, inputs: Any, n_inputs: int, outputs: Any, n_outputs: int) -> int:
        status, _ = self._behave(user)
        if status != OK:
            return status
        self.library.check("tsr_node_save", node, inputs, n_inputs)
        for i in range(n_outputs):
            self.library.check("tsr_multiply", inputs[i % n_inputs], inputs[i % n_inputs], outputs + i)
        return OK

    def _backward(self, user: Any, node: Any, grad_out: Any, n_out: int, grad_in: Any, n_in: int) -> int:
        status, _ = self._behave(user)
        if status != OK:
            return status
        saved = self.library.ffi.new("tsr_tensor*")
        for i in range(min(n_in, n_out)):
            if not grad_out[i]:
                continue
            if status := self.library.call("tsr_node_saved", node, i, saved):
                return status
            status = self.library.call("tsr_multiply", grad_out[i], saved[0], grad_in + i)
            self.library.lib.tsr_tensor_release(saved[0])
            if status != OK:
                return status
        return OK

    def _pack(self, user: Any, tensor: Any, payload: Any, drop: Any) -> int:
        status, _ = self._behave(user)
        if status != OK:
            return status
        key = len(self.packed) + 1
        while key in self.packed:
            key += 1
        self.library.lib.tsr_tensor_retain(tensor)
        self.packed[key] = tensor
        payload[0], drop[0] = self.library.ffi.cast("void*", key), self.drop_packed
        return OK

    def _unpack(self, user: Any, payload: Any, tensor: Any) -> int:
        status, _ = self._behave(user)
        if status != OK:
            return status
        kept = self.packed[int(self.library.ffi.cast("intptr_t", payload))]
        self.library.lib.tsr_tensor_retain(kept)
        tensor[0] = kept
        return OK

    def _drop_packed(self, payload: Any) -> None:
        self.library.lib.tsr_tensor_release(self.packed.pop(int(self.library.ffi.cast("intptr_t", payload))))


class Graphs:
    def __init__(self, library: Library, tensors: Tensors, forms: Forms, rng: random.Random) -> None:
        self.library = library
        self.tensors = tensors
        self.forms = forms
        self.rng = rng
        self.callbacks = Callbacks(library)
        names = ("AUTOGRAD", "CALLBACK", "CANCELLED", "NOT_IMPLEMENTED", "DTYPE", "SHAPE")
        self._refusals = {library.codes[n] for n in names} | {77}

    def step(self, call: Call) -> None:
        """One call on leaves and nodes, then backward, once or twice."""
        call = replace(call, args=dict(call.args))
        for name in call.tensors:
            value = call.args[name]
            if value.dtype in FLOATING + ("c64", "c128") and self.rng.random() < 0.7:
                call.args[name] = replace(value, state=self.rng.choice(STATES))
        saving = self.rng.random() < 0.15 and self._push_saved_hooks()
        handles = Handles(self.tensors, call)
        outcome = self.forms.functional(call, handles)
        if saving:
            self.library.check("tsr_saved_hooks_pop")
        small = [h for h in outcome.handles if h and self.tensors.numel(h) <= LARGEST]
        roots = [h for h in small if self.tensors.requires_grad(h)]
        if self.rng.random() < 0.3:
            roots += self._custom(handles)
        if not roots:
            return
        self._add_hooks([*roots, *handles.all()])
        flags = self.rng.choice([0, 0, RETAIN_GRAPH, CREATE_GRAPH])
        seeds = [self._ones_like(root) for root in roots]
        first = self._backward(roots, seeds, flags)
        if self.rng.random() < 0.5:
            again = self._backward(roots, seeds, 0)
            # The first one may have failed likewise: the adjoint of a matrix that can just be solved may be singular.
            if again not in (OK, first, *self._refusals):
                raise Fault(f"{call}: a second backward: {self.library.names[again]}: {self.library.message()}")

    def _backward(self, roots: list[Any], seeds: list[Any], flags: int) -> int:
        lists = self.tensors.keep("tsr_tensor[]", roots), self.tensors.keep("tsr_tensor[]", seeds)
        return self.forms.call(
            "tsr_backward", lists[0], len(roots), lists[1], len(seeds), self.library.ffi.NULL, 0, flags
        )

    def _ones_like(self, handle: Any) -> Any:
        value = self.tensors.read(handle)
        return self.tensors.make(Value(encode(np.ones(value.shape, "f4"), value.dtype), value.dtype))

    def _add_hooks(self, handles: list[Any]) -> None:
        ffi, number = self.library.ffi, self.library.ffi.new("int64_t*")
        for handle in handles:
            if self.rng.random() < 0.25 and handle != ffi.NULL and self.tensors.requires_grad(handle):
                user = self.callbacks.user(self.rng.choice(BEHAVIOURS))
                self.library.check(
                    "tsr_tensor_hook_add", handle, self.callbacks.hook, user, self.callbacks.drop, number
                )
                if self.rng.random() < 0.2:
                    self.library.check("tsr_tensor_hook_remove", handle, number[0])
                if self.rng.random() < 0.5:
                    self._add_prehook(handle, number)

    def _add_prehook(self, handle: Any, number: Any) -> None:
        node, output = self.library.ffi.new("tsr_node*"), self.library.ffi.new("int64_t*")
        self.library.check("tsr_tensor_gradient_edge", handle, node, output)
        user = self.callbacks.user(self.rng.choice(BEHAVIOURS))
        self.library.check("tsr_node_prehook_add", node[0], self.callbacks.prehook, user, self.callbacks.drop, number)
        self.library.lib.tsr_node_release(node[0])
        if self.rng.random() < 0.2:
            self.library.check("tsr_hook_remove", number[0])

    def _custom(self, handles: Handles) -> list[Any]:
        """A custom function over the floating inputs; its results, when it ran."""
        ffi, inputs = self.library.ffi, [h for h in handles.one.values() if self.tensors.requires_grad(h)]
        if not inputs:
            return []
        vtable = self.tensors.keep("tsr_node_vtable*", {"struct_size": ffi.sizeof("tsr_node_vtable")})
        vtable.forward, vtable.backward = self.callbacks.forward, self.callbacks.backward
        vtable.drop = self.callbacks.drop
        results = self.tensors.keep("tsr_tensor[]", len(inputs))
        user = self.callbacks.user(self.rng.choice(BEHAVIOURS))
        given = self.tensors.keep("tsr_tensor[]", inputs)
        if self.forms.call("tsr_function_apply", b"Fuzzed", -1, vtable, user, given, len(inputs), len(inputs), results):
            return []
        self.tensors.owned += list(results)
        return [h for h in results if self.tensors.requires_grad(h)]

    def _push_saved_hooks(self) -> bool:
        ffi = self.library.ffi
        vtable = self.tensors.keep("tsr_saved_hooks_vtable*", {"struct_size": ffi.sizeof("tsr_saved_hooks_vtable")})
        vtable.pack, vtable.unpack, vtable.drop = self.callbacks.pack, self.callbacks.unpack, self.callbacks.drop
        user = self.callbacks.user(self.rng.choice(BEHAVIOURS))
        self.library.check("tsr_saved_hooks_push", vtable, user)
        return True

    def compare_inplace_gradient(self, call: Call) -> None:
        """The gradients of the in-place form and the functional form are equal."""
        function = call.function("inplace")
        first = call.op.args[0].name if call.op.args else ""
        value = call.args.get(first)
        if function is None or call.op.forms[0] == "inplace" or not isinstance(value, Value):
            return
        if value.dtype not in ("f32", "f64") or value.layout == "expanded":
            return
        both = []
        for form in ("functional", "inplace"):
            leaf = self.tensors.make(replace(value, layout="plain", state="constant"))
            self.library.check("tsr_tensor_set_requires_grad", leaf, 1)
            handles = Handles(self.tensors, call)
            handles.one[first] = self.tensors.made("tsr_multiply_scalar", leaf, [number_fields(1.0)])
            both.append(self._gradient(call, form, handles, leaf))
        if both[0] is not None and both[1] is not None and not same(both[0], both[1]):
            raise Fault(f"{call}: gradient {both[0]} of the functional form, {both[1]} of the in-place form")

    def _gradient(self, call: Call, form: str, handles: Handles, leaf: Any) -> Value | None:
        library, first = self.library, call.op.args[0].name
        if form == "functional":
            outcome = self.forms.functional(call, handles)
            if outcome.status != OK or not outcome.results:
                return None
            root = outcome.handles[0]
        else:
            function = call.function("inplace")
            assert function is not None
            args = c_arguments(library, self.tensors, call, function, handles)
            self.forms.seed(call)
            if self.forms.call(function.name, *args) != OK:
                return None
            root = handles.one[first]
        value = self.tensors.read(root)
        if value.dtype not in ("f32", "f64") or not self.tensors.requires_grad(root):
            return None
        if self._backward([root], [self._ones_like(root)], 0) != OK:
            return None
        grad = library.ffi.new("tsr_tensor*")
        library.check("tsr_tensor_grad", leaf, grad)
        if not grad[0]:
            return None
        self.tensors.owned.append(grad[0])
        return self.tensors.read(grad[0])

    def check_drops(self) -> None:
        """After everything is released, every user pointer has been dropped once."""
        callbacks = self.callbacks
        if callbacks.drops != callbacks.expected_drops:
            said = f"{callbacks.expected_drops} callbacks were given, {callbacks.drops} were dropped"
            callbacks.expected_drops = callbacks.drops
            raise Fault(said)
        if callbacks.packed:
            callbacks.packed.clear()
            raise Fault("a packed tensor was never dropped")
