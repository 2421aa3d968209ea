# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.RNNBase and RNNCellBase: classes of torch.nn between Module and the recurrent layers."""

from __future__ import annotations

from typing import Any

from tessera.nn import recurrent as _plain

from ._module import Module

_MODES = {"RNN_TANH": ("rnn_tanh", 1), "RNN_RELU": ("rnn_relu", 1), "GRU": ("gru", 3), "LSTM": ("", 4)}


class RNNBase(_plain._Recurrent, Module):
    """A recurrent network of a mode: RNN_TANH, RNN_RELU, GRU or LSTM."""

    def __init__(
        self, mode: Any, input_size: int, hidden_size: int, num_layers: Any = 1, bias: Any = True, batch_first: Any = False,
        dropout: Any = 0.0, bidirectional: Any = False, proj_size: Any = 0, device: Any = None, dtype: Any = None,
    ) -> None:
        if not isinstance(mode, str):  # the library's layers have no mode
            super().__init__(mode, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size)
            return
        if mode not in _MODES:
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        self.__dict__.update(zip(("_function", "_blocks"), _MODES[mode]))
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, None)
        self.__dict__["_mode"] = mode
        if device is not None or dtype is not None:
            self.to(device=device, dtype=dtype)

    @property
    def mode(self) -> str:
        own: str = self.__dict__.get("_mode", "")
        return own or (self._function.upper() if isinstance(self, _plain.RNN) else type(self).__name__)

    def _run(self, input: Any, hx: Any, batch_sizes: Any) -> Any:
        if self.__dict__.get("_mode") == "LSTM":
            return _plain.LSTM._run(self, input, hx, batch_sizes)  # type: ignore[arg-type]
        return super()._run(input, hx, batch_sizes)


class RNNCellBase(_plain._Cell, Module):
    """A cell whose weights have rows for `num_chunks` gates."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: Any = 1, device: Any = None, dtype: Any = None
    ) -> None:
        if isinstance(num_chunks, int):
            self.__dict__["_blocks"] = num_chunks
        super().__init__(input_size, hidden_size, bias, None)
        if device is not None or dtype is not None:
            self.to(device=device, dtype=dtype)


BASES: dict[type, Any] = {_plain._Recurrent: RNNBase, _plain._Cell: RNNCellBase}

__all__ = ["BASES", "RNNBase", "RNNCellBase"]
