# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs: calls recorded while a function runs once, saved as one file, run without the function.

    program = tessera.program.record(model, (image,), dynamic={0: [0]})
    program.save("model.program")
    probabilities = tessera.program.load("model.program")(images)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Union

from . import _ops
from ._interop import tensor
from ._core import calling
from ._errors import ArgumentTypeError, InvalidValueError, about_file
from ._tensor import Tensor
from .capi import adopt_all, check, document, ffi, handles, lib, made, out, taken, text
from .io._safetensors import Path, _encoded
from .nn.module import Module

__all__ = ["Program", "from_bytes", "load", "record"]

Parameters = Union[Module, Mapping[str, Tensor], Iterable[Union[Module, Mapping[str, Tensor]]]]


class Program:
    """Recorded calls with their tensors. Call it with tensors in the order of `input_names`; several outputs are a tuple.

    A program without a backward records no gradients. A training step changes `parameters` in place.
    """

    def __init__(self, handle: Any) -> None:
        self._handle = ffi.gc(handle, lib.tsr_program_release)
        inputs, outputs = ffi.new("int64_t*"), ffi.new("int64_t*")
        check(lib.tsr_program_counts(handle, inputs, outputs))
        self._n_inputs, self._n_outputs = int(inputs[0]), int(outputs[0])
        self._places = ffi.new("tsr_tensor[]", max(self._n_outputs, 1))
        self._count = ffi.new("int32_t*")

    def __call__(self, *inputs: Tensor) -> Any:
        given = _tensors(inputs, "inputs")
        listed = handles(given)
        # Places of its own: another thread may run the same program.
        places = ffi.new("tsr_tensor[]", max(self._n_outputs, 1))
        count = ffi.new("int32_t*")
        calling(True)
        try:
            check(lib.tsr_program_run(self._handle, listed, len(given), places, self._n_outputs, count))
        finally:
            calling(False)
        outputs = adopt_all(places, count[0])
        return outputs[0] if self._n_outputs == 1 else tuple(outputs)

    def save(self, path: Path) -> None:
        """Writes the program, its tensors and the states of its optimizers as one safetensors file."""
        encoded = _encoded(path, "Program.save")
        with about_file(path):
            check(lib.tsr_program_save(self._handle, encoded, len(encoded)))

    def to_bytes(self) -> bytes:
        """The contents of the file that save() writes."""
        return taken(out("tsr_buffer", lib.tsr_program_to_bytes, self._handle))

    def describe(self) -> dict[str, Any]:
        """Inputs, outputs, parameters, constants and calls, and how the last run was made."""
        found: dict[str, Any] = document(lib.tsr_program_describe, self._handle)
        return found

    def __str__(self) -> str:
        buffer = ffi.gc(out("tsr_buffer", lib.tsr_program_text, self._handle), lib.tsr_buffer_release)
        return text(lib.tsr_buffer_data, buffer)

    def __repr__(self) -> str:
        head = str(self).splitlines()[0]
        return f"<{head}, {len(self.describe()['calls'])} calls>"

    @property
    def input_names(self) -> list[str]:
        return [row["name"] for row in self.describe()["inputs"]]

    @property
    def output_names(self) -> list[str]:
        return [row["name"] for row in self.describe()["outputs"]]

    def tensor(self, name: str) -> Tensor:
        """The parameter or constant of this name; the program and the result share it."""
        encoded = name.encode()
        found: Tensor = made("tsr_tensor", lib.tsr_program_tensor, self._handle, encoded, len(encoded))
        return found

    @property
    def parameters(self) -> dict[str, Tensor]:
        """The parameters by name."""
        return {row["name"]: self.tensor(row["name"]) for row in self.describe()["parameters"]}


def record(
    function: Callable[..., Any],
    example_inputs: Tensor | Sequence[Tensor],
    *,
    parameters: Parameters | None = None,
    dynamic: Mapping[int, Sequence[int] | Mapping[int, str]] | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
) -> Program:
    """The calls that function(*example_inputs) makes, as a Program.

    `parameters` names the tensors that keep their names: a Module, a dict, or several; of a Module that is recorded they
    are its own. `dynamic` gives the axes of inputs, by number, whose size a run may change: a list of axes, which all have
    one size, or a name for each, as in `{0: {0: "batch", 1: "length"}, 1: {0: "batch"}}`; equal names are one size. The
    function then runs several times, with examples of different sizes.
    """
    examples = [example_inputs] if isinstance(example_inputs, Tensor) else _tensors(example_inputs, "example_inputs")
    if parameters is None and isinstance(function, Module):
        parameters = function
    named = _named(parameters)
    if not dynamic:
        return _record(function, examples, named, input_names, output_names)
    for i in dynamic:
        if not 0 <= i < len(examples):
            raise InvalidValueError(f"dynamic: expected the number of one of {len(examples)} inputs, got {i}")
    axes = {i: _named_axes(dynamic[i], examples[i]) for i in dynamic}
    sizes = list(dict.fromkeys(axes[i][axis] for i in sorted(axes) for axis in sorted(axes[i])))
    programs = [
        _record(function, [_resized(x, axes.get(i, {}), more) for i, x in enumerate(examples)], named, input_names,
                output_names)
        for more in _growths(sizes)
    ]  # fmt: skip
    cells = ffi.new("tsr_program[]", [each._handle for each in programs])
    names = _listed(sizes)
    return Program(out("tsr_program", lib.tsr_program_unify_named, cells, len(programs), names, len(names)))


def load(path: Path) -> Program:
    """Reads a program that any language has saved."""
    encoded = _encoded(path, "load")
    with about_file(path):
        return Program(out("tsr_program", lib.tsr_program_load, encoded, len(encoded)))


def from_bytes(data: bytes) -> Program:
    """Reads a program from the contents of its file."""
    return Program(out("tsr_program", lib.tsr_program_from_bytes, data, len(data)))


# ---- recording ----


def _record(
    function: Callable[..., Any],
    examples: Sequence[Tensor],
    named: Mapping[str, Tensor],
    input_names: Sequence[str] | None,
    output_names: Sequence[str] | None,
) -> Program:
    inputs, params = handles(examples), handles(named.values())
    names, param_names = _listed(input_names), json.dumps(list(named)).encode()
    check(
        lib.tsr_program_record_begin(
            inputs, len(examples), names, len(names), params, len(named), param_names, len(param_names)
        )
    )
    try:
        result = function(*examples)
        if isinstance(result, Mapping):
            output_names = output_names or list(result)
            result = tuple(result.values())
        outputs = [] if result is None else [result] if isinstance(result, Tensor) else _tensors(result, "outputs")
        names = _listed(output_names)
        return Program(
            out("tsr_program", lib.tsr_program_record_end, handles(outputs), len(outputs), names, len(names))
        )
    finally:
        check(lib.tsr_program_record_cancel())


def _listed(names: Sequence[str] | None) -> bytes:
    return b"" if names is None else json.dumps(list(names)).encode()


def _tensors(values: Any, what: str) -> list[Tensor]:
    found = list(values)
    for value in found:
        if not isinstance(value, Tensor):
            raise ArgumentTypeError(f"{what}: expected Tensors, got {type(value).__name__}")
    return found


def _named(parameters: Parameters | None) -> dict[str, Tensor]:
    if parameters is None:
        return {}
    if isinstance(parameters, Module):
        return {**dict(parameters.named_parameters()), **dict(parameters.named_buffers())}
    if isinstance(parameters, Mapping):
        return dict(parameters)
    found: dict[str, Tensor] = {}
    for number, each in enumerate(parameters):
        found |= {f"{number}.{name}": tensor for name, tensor in _named(each).items()}
    return found


def _named_axes(axes: Sequence[int] | Mapping[int, str], example: Tensor) -> dict[int, str]:
    named = axes if isinstance(axes, Mapping) else dict.fromkeys(axes, "n")
    for axis in named:
        if not -example.ndim <= axis < example.ndim:
            raise InvalidValueError(f"dynamic: expected an axis of an example of shape {example.shape}, got {axis}")
    return {axis % example.ndim: name for axis, name in named.items()}


def _growths(sizes: Sequence[str]) -> list[dict[str, int]]:
    """By how much the examples of each recording are larger: one size alone, each pair, and all by different numbers.

    The last one confirms what the others say.
    """
    alone = [{name: 1} for name in sizes]
    pairs = [{a: 1, b: 1} for i, a in enumerate(sizes) for b in sizes[i + 1 :]]
    return [{}, *alone, *pairs, {name: 3 + i for i, name in enumerate(sizes)}]


def _resized(example: Tensor, axes: Mapping[int, str], more: Mapping[str, int]) -> Tensor:
    """The example with more samples: its own again. One sample alone might follow rules of its own."""
    for axis, name in axes.items():
        size = example.shape[axis]
        if size < 1:
            raise InvalidValueError(f"dynamic: expected an example with samples along axis {axis}, got {example.shape}")
        places = [i % size for i in range(max(size, 2) + more.get(name, 0))]
        example = _ops.index_select(example.detach(), axis, tensor(places))
    return example
