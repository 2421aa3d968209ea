# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Sequences of several lengths as one tensor: padded to the longest, or packed, which recurrent layers compute without
the padding. Names and arguments are PyTorch's."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple, Union

from ... import _ops
from ..._creation import arange
from ..._dtypes import ALL, int64
from ..._errors import ArgumentTypeError, InvalidValueError, ShapeError, as_int, as_list
from ..._interop import asarray
from ..._tensor import Tensor

Lengths = Union[Tensor, Sequence[int]]


class PackedSequence(NamedTuple):
    """The rows of all sequences at the first time step, then those at the second, and so on, the longest sequence
    first. batch_sizes (int64) says how many sequences each step has; sorted_indices how the batch was sorted, and
    unsorted_indices how to undo it. Both are None if the batch was sorted already."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """With the data converted by Tensor.to; indices follow it to its device."""
        data = self.data.to(*args, **kwargs)
        indices = [None if t is None else t.to(device=data.device) for t in self[2:]]
        return PackedSequence(data, self.batch_sizes, *indices)

    def cpu(self) -> PackedSequence:
        return self.to(device="cpu")

    def cuda(self) -> PackedSequence:
        return self.to(device="cuda")

    def pin_memory(self) -> PackedSequence:
        data, sizes, *indices = [None if part is None else part.pin_memory() for part in self]
        assert data is not None and sizes is not None
        return PackedSequence(data, sizes, *indices)

    @property
    def is_cuda(self) -> bool:
        return self.data.device.type == "cuda"

    def is_pinned(self) -> bool:
        return self.data.is_pinned()


for _name, _dtype in {"half": "float16", "float": "float32", "double": "float64", "int": "int32", "long": "int64"}.items():
    setattr(PackedSequence, _name, functools.partialmethod(PackedSequence.to, dtype=ALL[_dtype]))


def _checked(value: Any, what: str, axes: int = 0) -> Tensor:
    """The value, which must be a tensor with at least so many axes."""
    if not isinstance(value, Tensor):
        raise ArgumentTypeError(f"{what}: expected a tensor, got {type(value).__name__}")
    if value.ndim < axes:
        raise ShapeError(f"{what}: expected at least {axes} axes, got shape {tuple(value.shape)}")
    return value


def _sizes(lengths: Any) -> list[int]:
    given = lengths.flatten().tolist() if isinstance(lengths, Tensor) else as_list(lengths, "lengths")
    return [as_int(n, "lengths") for n in given]


def _packed(value: Any, what: str) -> PackedSequence:
    if not isinstance(value, PackedSequence):
        raise ArgumentTypeError(f"{what}: expected a PackedSequence, got {type(value).__name__}")
    return value


def _sequences(value: Any) -> list[Tensor]:
    parts = [_checked(part, "sequences", 1) for part in as_list(value, "sequences")]
    if not parts:
        raise InvalidValueError("sequences: expected at least 1 tensor, got none")
    return parts


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes `permutation`."""
    return None if permutation is None else _ops.argsort(_checked(permutation, "permutation"))


def _present(lengths: Tensor, steps: int) -> Tensor:
    """(time, batch): whether a sequence has that time step."""
    return _ops.expand_dims(arange(steps), 1) < _ops.expand_dims(lengths, 0)


def _positions(present: Tensor) -> Tensor:
    """The positions of the packed rows in the flattened padded batch."""
    return _ops.nonzero(_ops.flatten(present))[0]


def pack_padded_sequence(
    input: Tensor, lengths: Lengths, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Packs a batch (time, batch, ...), with batch_first (batch, time, ...). With enforce_sorted the lengths must not
    rise; otherwise the batch is sorted."""
    padded = _checked(input, "input", 2).transpose(0, 1) if batch_first else _checked(input, "input", 2)
    sizes = _sizes(lengths)
    steps, batch = padded.shape[0], padded.shape[1]
    if len(sizes) != batch:
        raise ShapeError(f"lengths: expected {batch} numbers for an input of shape {tuple(input.shape)}, got {len(sizes)}")
    if not sizes or min(sizes) < 1 or max(sizes) > steps:
        raise InvalidValueError(f"lengths: expected numbers from 1 to {steps}, got {sizes}")
    order = sorted(range(batch), key=lambda b: -sizes[b])
    sorted_indices = None
    if not enforce_sorted:
        sorted_indices = asarray(order, dtype=int64).to(device=input.device)
        padded, sizes = _ops.index_select(padded, 1, sorted_indices), [sizes[b] for b in order]
    elif any(a < b for a, b in zip(sizes, sizes[1:])):
        raise InvalidValueError(f"lengths: expected numbers that do not rise unless enforce_sorted=False, got {sizes}")
    present = _present(asarray(sizes, dtype=int64), sizes[0])
    rows = padded.reshape((steps * batch, *padded.shape[2:]))
    data = _ops.index_select(rows, 0, _positions(present).to(device=input.device))
    return PackedSequence(data, _ops.sum(present, 1), sorted_indices, invert_permutation(sorted_indices))


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """The reverse of pack_padded_sequence: the padded batch, as long as its longest sequence or as total_length, and the
    lengths."""
    data, batch_sizes = _packed(sequence, "sequence").data, sequence.batch_sizes
    longest, batch = batch_sizes.shape[0], int(batch_sizes[0])
    steps = longest if total_length is None else as_int(total_length, "total_length")
    if steps < longest:
        raise InvalidValueError(f"total_length: expected at least {longest}, the longest sequence, got {steps}")
    present = _ops.expand_dims(arange(batch), 0) < _ops.expand_dims(batch_sizes, 1)
    lengths = _ops.sum(present, 0)
    rows = _ops.full((steps * batch, *data.shape[1:]), padding_value, dtype=data.dtype, device=data.device)
    rows[_positions(present).to(device=data.device)] = data
    padded = rows.reshape((steps, batch, *data.shape[1:]))
    if sequence.unsorted_indices is not None:
        padded = _ops.index_select(padded, 1, sequence.unsorted_indices)
        lengths = _ops.index_select(lengths, 0, sequence.unsorted_indices.to(device=lengths.device))
    return padded.transpose(0, 1) if batch_first else padded, lengths


def pad_sequence(
    sequences: Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Tensors (time, ...) as one batch (longest, batch, ...), with batch_first (batch, longest, ...)."""
    parts = _sequences(sequences)
    if padding_side not in ("left", "right"):
        raise InvalidValueError(f"padding_side: expected 'left' or 'right', got {padding_side!r}")
    longest = max(part.shape[0] for part in parts)

    def padded(part: Tensor) -> Tensor:
        missing = longest - part.shape[0]
        if missing == 0:
            return part
        rest = _ops.full((missing, *part.shape[1:]), padding_value, dtype=part.dtype, device=part.device)
        return _ops.concat([part, rest] if padding_side == "right" else [rest, part], 0)

    return _ops.stack([padded(part) for part in parts], 0 if batch_first else 1)


def unpad_sequence(padded: Tensor, lengths: Lengths, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded batch without their padding."""
    batch = _checked(padded, "padded", 2) if batch_first else _checked(padded, "padded", 2).transpose(0, 1)
    sizes = _sizes(lengths)
    if len(sizes) != batch.shape[0]:
        raise ShapeError(f"lengths: expected {batch.shape[0]} numbers for a batch of shape {tuple(padded.shape)}, got {len(sizes)}")
    return [batch[b, :size] for b, size in enumerate(sizes)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs tensors (time, ...)."""
    parts = _sequences(sequences)
    return pack_padded_sequence(pad_sequence(parts), [part.shape[0] for part in parts], enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The reverse of pack_sequence."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences))
