# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers and cells; names, options, defaults and initial values are PyTorch's."""

from __future__ import annotations

import math
from typing import Any, Union

from .. import _ops
from .._errors import ArgumentTypeError, InvalidValueError, ShapeError, as_int, as_number
from .._tensor import Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter
from .utils.rnn import PackedSequence

State = Union[Tensor, tuple[Tensor, Tensor]]


def _uniform(module: Module, hidden_size: int) -> None:
    bound = 1 / math.sqrt(hidden_size) if hidden_size > 0 else 0.0
    for parameter in module.parameters():
        init.uniform_(parameter, -bound, bound)


def _tensors(hx: State) -> tuple[Tensor, ...]:
    return (hx,) if isinstance(hx, Tensor) else tuple(hx)


class _Recurrent(Module):
    """The base class of the networks. Layer k has weight_ih_lk (blocks * hidden_size, features), weight_hh_lk, bias_ih_lk and
    bias_hh_lk; with bidirectional also those with the suffix _reverse."""

    _blocks = 1

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int, bias: bool, batch_first: bool, dropout: float,
        bidirectional: bool, proj_size: int, dtype: Any,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size = as_int(input_size, "input_size"), as_int(hidden_size, "hidden_size")
        self.num_layers, self.proj_size = as_int(num_layers, "num_layers"), as_int(proj_size, "proj_size")
        self.bias, self.batch_first, self.bidirectional = bias, batch_first, bidirectional
        self.dropout = as_number(dropout, "dropout")
        if not 0 <= self.dropout <= 1:
            raise InvalidValueError(f"dropout: expected a probability between 0 and 1, got {dropout}")
        for name, flag in (("bias", bias), ("batch_first", batch_first)):
            if not isinstance(flag, bool):
                raise ArgumentTypeError(f"{name}: expected a bool, got {flag!r}")
        for name in ("input_size", "hidden_size", "num_layers"):
            if getattr(self, name) < 1:
                raise InvalidValueError(f"{name}: expected at least 1, got {getattr(self, name)}")
        if not 0 <= self.proj_size < self.hidden_size:
            raise InvalidValueError(f"proj_size: expected a number from 0 to {self.hidden_size - 1}, got {proj_size}")
        self._names: list[str] = []
        for layer in range(self.num_layers):
            for suffix in ("", "_reverse")[: self._directions]:
                self._add_layer(layer, suffix, dtype)
        self.reset_parameters()

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _outputs(self) -> int:
        return self.proj_size or self.hidden_size

    def _add_layer(self, layer: int, suffix: str, dtype: Any) -> None:
        rows = self._blocks * self.hidden_size
        features = self.input_size if layer == 0 else self._directions * self._outputs
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, features), "weight_hh": (rows, self._outputs)}
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        for name, shape in shapes.items():
            self._names.append(f"{name}_l{layer}{suffix}")
            self.register_parameter(self._names[-1], Parameter(_ops.empty(shape, dtype=dtype)))

    def reset_parameters(self) -> None:
        _uniform(self, self.hidden_size)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        each = len(self._names) // (self.num_layers * self._directions)
        flat = [getattr(self, name) for name in self._names]
        return [flat[i : i + each] for i in range(0, len(flat), each)]

    def flatten_parameters(self) -> None:
        """Does nothing: the parameters may lie anywhere. For programs written for PyTorch."""

    def forward(self, input: Tensor | PackedSequence, hx: State | None = None) -> tuple[Any, Any]:
        """The outputs of the last layer at all time steps, and the last state of every layer and direction."""
        if not isinstance(input, PackedSequence):
            return self._run(input, hx, None)
        order, back = input.sorted_indices, input.unsorted_indices
        if hx is not None and order is not None:
            hx = self._permuted(hx, order)
        output, state = self._run(input.data, hx, [int(n) for n in input.batch_sizes.tolist()])
        packed = PackedSequence(output, input.batch_sizes, order, back)
        return packed, state if back is None else self._permuted(state, back)

    @staticmethod
    def _permuted(hx: State, order: Tensor) -> State:
        moved = tuple(_ops.index_select(state, 1, order) for state in _tensors(hx))
        return moved[0] if isinstance(hx, Tensor) else (moved[0], moved[1])

    def _run(self, input: Tensor, hx: State | None, batch_sizes: list[int] | None) -> tuple[Tensor, State]:
        return self._plain_run(getattr(F, self._function), input, hx, batch_sizes)

    _function = ""

    def _plain_run(self, function: Any, input: Tensor, hx: Any, batch_sizes: list[int] | None) -> tuple[Tensor, State]:
        if hx is None:
            hx = self._zero_state(input, batch_sizes)
        output, state = function(input, hx, self._flat(), *self._options(), batch_sizes=batch_sizes)
        return output, state

    def _flat(self) -> list[Parameter]:
        return [getattr(self, name) for name in self._names]

    def _options(self) -> tuple[Any, ...]:
        return self.bias, self.num_layers, self.dropout, self.training, self.bidirectional, self.batch_first

    def _zero_state(self, input: Tensor, batch_sizes: list[int] | None) -> Tensor:
        rows = self.num_layers * self._directions
        shape: tuple[int, ...] = (rows, self.hidden_size)
        if batch_sizes is not None or input.ndim == 3:
            batch = batch_sizes[0] if batch_sizes else input.shape[0 if self.batch_first else 1]
            shape = (rows, batch, self.hidden_size)
        return _ops.zeros(shape, dtype=input.dtype, device=input.device)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        defaults = {
            "proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0, "bidirectional": False,
        }  # fmt: skip
        changed = [f", {name}={getattr(self, name)}" for name, value in defaults.items() if getattr(self, name) != value]
        return text + "".join(changed)


class RNN(_Recurrent):
    """h = tanh(weight_ih x + bias_ih + weight_hh h + bias_hh), or relu in place of tanh. The input is (time, batch, input_size),
    with batch_first (batch, time, input_size), (time, input_size) for one sequence, or a PackedSequence."""

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, dtype: Any = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise InvalidValueError(f"nonlinearity: expected 'tanh' or 'relu', got {nonlinearity!r}")
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, dtype)
        self.nonlinearity, self._function = nonlinearity, f"rnn_{nonlinearity}"


class GRU(_Recurrent):
    """Gated recurrent units, blocks r z n; input as that of RNN."""

    _blocks = 3
    _function = "gru"

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, dtype)


class LSTM(_Recurrent):
    """Long short-term memory, blocks i f g o; input as that of RNN, states are pairs (h, c). With proj_size, weight_hr_lk
    (proj_size, hidden_size) projects h, and outputs have proj_size numbers."""

    _blocks = 4

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, dtype)

    def _run(self, input: Tensor, hx: Any, batch_sizes: list[int] | None) -> tuple[Tensor, State]:
        states = [] if hx is None else list(hx)
        output, h, c = F.lstm(input, states, self._flat(), *self._options(), batch_sizes=batch_sizes)
        return output, (h, c)


class _Cell(Module):
    """The base class of the cells, which compute one time step."""

    _blocks = 1

    def __init__(self, input_size: int, hidden_size: int, bias: bool, dtype: Any) -> None:
        super().__init__()
        self.input_size, self.hidden_size = as_int(input_size, "input_size"), as_int(hidden_size, "hidden_size")
        self.bias = bias
        rows = self._blocks * self.hidden_size
        self.weight_ih = Parameter(_ops.empty((rows, self.input_size), dtype=dtype))
        self.weight_hh = Parameter(_ops.empty((rows, self.hidden_size), dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(_ops.empty((rows,), dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        _uniform(self, self.hidden_size)

    def _weights(self) -> tuple[Any, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _zero_state(self, input: Tensor) -> Tensor:
        if input.ndim not in (1, 2):
            raise ShapeError(f"input: expected (batch, features) or (features), got shape {tuple(input.shape)}")
        return _ops.zeros((*input.shape[:-1], self.hidden_size), dtype=input.dtype, device=input.device)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class RNNCell(_Cell):
    """One step of RNN: input (batch, input_size) or (input_size), state (batch, hidden_size) or (hidden_size)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", dtype: Any = None
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise InvalidValueError(f"nonlinearity: expected 'tanh' or 'relu', got {nonlinearity!r}")
        super().__init__(input_size, hidden_size, bias, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        cell = F.rnn_tanh_cell if self.nonlinearity == "tanh" else F.rnn_relu_cell
        return cell(input, self._zero_state(input) if hx is None else hx, *self._weights())

    def extra_repr(self) -> str:
        text = super().extra_repr()
        return text if self.nonlinearity == "tanh" else f"{text}, nonlinearity={self.nonlinearity}"


class GRUCell(_Cell):
    """One step of GRU."""

    _blocks = 3

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return F.gru_cell(input, self._zero_state(input) if hx is None else hx, *self._weights())


class LSTMCell(_Cell):
    """One step of LSTM; states are pairs (h, c)."""

    _blocks = 4

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        states = [self._zero_state(input)] * 2 if hx is None else list(hx)
        h, c = F.lstm_cell(input, states, *self._weights())
        return h, c
