# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""ZeroRedundancyOptimizer: each rank keeps the state of its share of the parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .._errors import ArgumentTypeError, InvalidValueError, as_int
from .._tensor import Tensor
from ..capi import check, document, ffi, lib, out
from ..io._safetensors import Path
from .core import CoreOptimizer
from .optimizer import Group, Optimizer, State


class ZeroRedundancyOptimizer(Optimizer):
    """An optimizer of `optimizer_class` whose state is divided among the ranks of a group.

        optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=Adam, lr=1e-3)

    Each rank updates its share of the parameters and then all get the new values. The gradients must be equal on all ranks,
    as DistributedDataParallel makes them. All ranks call it together.
    """

    def __init__(
        self, params: Iterable[Any], optimizer_class: type[CoreOptimizer], process_group: Any = None,
        parameters_as_bucket_view: bool = False, overlap_with_ddp: bool = False, **defaults: Any,
    ) -> None:
        if not (isinstance(optimizer_class, type) and issubclass(optimizer_class, CoreOptimizer)):
            raise ArgumentTypeError(f"optimizer_class: expected an optimizer of the library, got {optimizer_class!r}")
        if overlap_with_ddp:
            raise InvalidValueError("overlap_with_ddp: expected False, got True")
        self.process_group = process_group
        self.optim: CoreOptimizer = optimizer_class(params, **defaults)
        self.defaults = self.optim.defaults
        self._sharded: tuple[Any, Any] | None = None  # the optimizer's handle, and that of its division
        self._whole: CoreOptimizer | None = None  # gathered
        self._handle_of_division()

    @property
    def param_groups(self) -> list[Group]:  # type: ignore[override]
        """The groups of the optimizer."""
        return self.optim.param_groups

    @property
    def state(self) -> State:
        """The states that this rank keeps."""
        return self.optim.state

    def _handle_of_division(self) -> Any:
        from ..nn.distributed import group_handle

        self.optim._tell()
        own = self.optim._handle
        if self._sharded is None or self._sharded[0] != own:  # groups that change make another optimizer
            made = out("tsr_sharded_optimizer", lib.tsr_optimizer_shard, own, group_handle(self.process_group))
            self._sharded = own, ffi.gc(made, lib.tsr_sharded_optimizer_release)
        return self._sharded[1]

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Updates this rank's share of the parameters that have a gradient, and gives all ranks the new values."""
        loss = self._loss(closure)
        self.optim._call(lib.tsr_sharded_optimizer_step, self._handle_of_division())
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Sets the gradients of all parameters to None, or fills existing ones with zeros."""
        self.optim.zero_grad(set_to_none)

    def add_param_group(self, param_group: Group) -> None:
        """Adds parameters with their own options, and divides them too."""
        self.optim.add_param_group(param_group)

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Gathers the states on rank `to` (-1: on all ranks), where state_dict() then gives them."""
        cell = ffi.new("tsr_optimizer*")
        check(lib.tsr_sharded_optimizer_gather(self._handle_of_division(), as_int(to, "to"), cell))
        self._whole = None
        if cell[0] != ffi.NULL:
            whole = object.__new__(type(self.optim))  # a copy would make another optimizer of the library
            whole.__dict__.update(self.optim.__dict__)
            whole._known = list(self.optim._known)  # save() changes it
            whole._states = None
            whole._handle = ffi.gc(cell[0], lib.tsr_optimizer_release)
            self._whole = whole

    def state_dict(self) -> dict[str, Any]:
        """Options and states of all parameters; after consolidate_state_dict(), on the rank that it gathered them on."""
        return self._gathered("state_dict").state_dict()

    def save(self, path: Path) -> None:
        """Writes what state_dict() has to a file that every language loads, with ranks or without."""
        self._gathered("save").save(path)

    def load(self, path: Path) -> None:
        """Reads options and the state of all parameters, of which each rank keeps its share."""
        self.optim.load(path)

    def _gathered(self, name: str) -> CoreOptimizer:
        if self._whole is None:
            raise InvalidValueError(f"{name}(): expected a call of consolidate_state_dict() on all ranks before, to this one")
        return self._whole

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Loads the state of all parameters, of which each rank keeps its share."""
        self.optim.load_state_dict(state_dict)

    def report(self) -> dict[str, Any]:
        """Which rank has which parameter, by group, and the bytes of the states of this rank."""
        found: dict[str, Any] = document(lib.tsr_sharded_optimizer_report, self._handle_of_division())
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_sharded": None, "_whole": None}

    def __repr__(self) -> str:
        return f"ZeroRedundancyOptimizer of {self.optim!r}"
