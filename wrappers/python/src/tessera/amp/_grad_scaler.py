# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""GradScaler: scales the loss, so that small gradients of float16 do not become zero, and steps only by finite gradients."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

from .._core import TensorBase
from .._errors import ArgumentTypeError, InvalidValueError, NotSupportedError, about_file, as_int, as_number
from ..capi import check, ffi, handle, handles, lib, made, out
from ..io._safetensors import Path, _encoded
from ..optim.core import CoreOptimizer
from ..optim.optimizer import Optimizer

FIELDS = ("scale", "growth_factor", "backoff_factor", "growth_interval")  # of the struct, as state_dict() names them


class GradScaler:
    """Multiplies a loss by a scale and divides the gradients by it; a step whose gradients are not finite is skipped.

        scaler = GradScaler()
        with autocast("cpu", float16):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    The scale shrinks by `backoff_factor` after gradients that are not finite, and grows by `growth_factor` after
    `growth_interval` iterations in a row with finite ones. `device` is for programs that name one: any device will do.
    """

    def __init__(
        self,
        device: Any = None,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        struct = _struct()
        check(lib.tsr_grad_scaler_defaults(struct))
        struct.enabled = bool(enabled)
        struct.scale = as_number(init_scale, "init_scale")
        struct.growth_factor = as_number(growth_factor, "growth_factor")
        struct.backoff_factor = as_number(backoff_factor, "backoff_factor")
        struct.growth_interval = as_int(growth_interval, "growth_interval")
        self._begin(struct)

    def _begin(self, struct: Any) -> None:
        self._handle = ffi.gc(out("tsr_grad_scaler", lib.tsr_grad_scaler_new, struct), lib.tsr_grad_scaler_release)
        # Optimizers of Python, each with its parameters and an optimizer of the library that has the same.
        self._lent: weakref.WeakKeyDictionary[Any, tuple[list[Any], Any]] = weakref.WeakKeyDictionary()

    def _numbers(self) -> Any:
        struct = _struct()
        check(lib.tsr_grad_scaler_state_get(self._handle, struct))
        return struct

    def _change(self, **fields: Any) -> None:
        struct = self._numbers()
        for name, value in fields.items():
            setattr(struct, name, value)
        check(lib.tsr_grad_scaler_state_set(self._handle, struct))

    def _params_of(self, optimizer: Any) -> Any:
        """An optimizer of the library with the parameters of the given one: its own, or one that only lists them."""
        if isinstance(optimizer, CoreOptimizer):
            optimizer._tell()
            if optimizer._handle is not None:
                return optimizer._handle
        if not hasattr(optimizer, "param_groups"):
            raise ArgumentTypeError(f"optimizer: expected an Optimizer, got {type(optimizer).__name__}")
        params = [p for group in optimizer.param_groups for p in group["params"]]
        known = self._lent.get(optimizer)
        if known is None or len(known[0]) != len(params) or any(a is not b for a, b in zip(known[0], params)):
            struct = ffi.new("tsr_optimizer_options*", {"struct_size": ffi.sizeof("tsr_optimizer_options")})
            check(lib.tsr_optimizer_defaults(lib.TSR_OPTIMIZER_SGD, struct))
            listed = out("tsr_optimizer", lib.tsr_optimizer_new, struct, handles(params), len(params))
            known = self._lent[optimizer] = (params, ffi.gc(listed, lib.tsr_optimizer_release))
        return known[1]

    # ---- an iteration ----

    def scale(self, outputs: Any) -> Any:
        """The loss times the scale; of a list or tuple, every tensor in it. A scaler that is not enabled gives its argument."""
        if not self.is_enabled():
            return outputs
        if isinstance(outputs, TensorBase):
            return made("tsr_tensor", lib.tsr_grad_scaler_scale, self._handle, handle(outputs))  # type: ignore[arg-type]
        if isinstance(outputs, Iterable) and not isinstance(outputs, str):  # a string's items are strings
            scaled = [self.scale(one) for one in outputs]
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ArgumentTypeError(f"scale(): expected a Tensor or Tensors, got {type(outputs).__name__}")

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divides the gradients of the optimizer by the scale, for example before they are clipped."""
        if self.is_enabled():
            check(lib.tsr_grad_scaler_unscale(self._handle, self._params_of(optimizer)))

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """optimizer.step(*args, **kwargs) if its gradients are finite, and what that returns; else None."""
        if not self.is_enabled():
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs or any(map(callable, args)):
            raise NotSupportedError("step(): expected no closure, because it would compute gradients without the scale")
        finite = out("int32_t", lib.tsr_grad_scaler_begin_step, self._handle, self._params_of(optimizer))
        return optimizer.step(*args, **kwargs) if finite else None

    def update(self, new_scale: Any = None) -> None:
        """Ends the iteration: changes the scale by what the steps found, or to `new_scale`."""
        given: Any = new_scale.item() if isinstance(new_scale, TensorBase) else new_scale
        number = 0.0 if given is None else as_number(given, "new_scale")
        check(lib.tsr_grad_scaler_update(self._handle, number, given is not None))

    # ---- the numbers ----

    def is_enabled(self) -> bool:
        return bool(self._numbers().enabled)

    def get_scale(self) -> float:
        """The scale; 1 of a scaler that is not enabled."""
        numbers = self._numbers()
        return float(numbers.scale) if numbers.enabled else 1.0

    def get_growth_factor(self) -> float:
        return float(self._numbers().growth_factor)

    def set_growth_factor(self, new_factor: float) -> None:
        self._change(growth_factor=as_number(new_factor, "new_factor"))

    def get_backoff_factor(self) -> float:
        return float(self._numbers().backoff_factor)

    def set_backoff_factor(self, new_factor: float) -> None:
        self._change(backoff_factor=as_number(new_factor, "new_factor"))

    def get_growth_interval(self) -> int:
        return int(self._numbers().growth_interval)

    def set_growth_interval(self, new_interval: int) -> None:
        self._change(growth_interval=as_int(new_interval, "new_interval"))

    def _get_growth_tracker(self) -> int:
        return int(self._numbers().growth_tracker)

    def state_dict(self) -> dict[str, Any]:
        """The numbers, under PyTorch's names; {} of a scaler that is not enabled."""
        numbers = self._numbers()
        if not numbers.enabled:
            return {}
        return {**{name: getattr(numbers, name) for name in FIELDS}, "_growth_tracker": numbers.growth_tracker}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Loads what state_dict() of a scaler returned, also of PyTorch."""
        if not self.is_enabled():
            return
        if missing := [name for name in (*FIELDS, "_growth_tracker") if name not in state_dict]:
            raise InvalidValueError(f"load_state_dict(): expected the state of an enabled GradScaler, got one without {missing}")
        numbers = {name: as_number(state_dict[name], name) for name in FIELDS[:3]}
        counts = {name: as_int(state_dict[name], name) for name in ("growth_interval", "_growth_tracker")}
        self._change(**numbers, growth_interval=counts["growth_interval"], growth_tracker=counts["_growth_tracker"])

    def save(self, path: Path) -> None:
        """Writes the numbers to a file that every language loads."""
        encoded = _encoded(path, "save")
        with about_file(path):
            check(lib.tsr_grad_scaler_save(self._handle, encoded, len(encoded)))

    def load(self, path: Path) -> None:
        """Reads the numbers from a file that save() of any language wrote."""
        encoded = _encoded(path, "load")
        with about_file(path):
            check(lib.tsr_grad_scaler_load(self._handle, encoded, len(encoded)))

    def __getstate__(self) -> dict[str, Any]:
        numbers = self._numbers()
        return {name: getattr(numbers, name) for name in ("enabled", *FIELDS, "growth_tracker")}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        struct = _struct()
        for name, value in kept.items():
            setattr(struct, name, value)
        self._begin(struct)


def _struct() -> Any:
    return ffi.new("tsr_grad_scaler_state*", {"struct_size": ffi.sizeof("tsr_grad_scaler_state")})
