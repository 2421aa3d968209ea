# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""How the tensors are kept that nodes of the graph save."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .. import _core
from .._device import Device, device_pair
from ..capi import check, lib

if TYPE_CHECKING:
    from .._tensor import Tensor


class _Pushed:
    """A block in which hooks are pushed on this thread; may be entered again."""

    def _push(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Any:
        self._push()
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _core.pop_saved_hooks()


class saved_tensors_hooks(_Pushed):  # noqa: N801  (PyTorch's name)
    """Inside the block, two callables replace the tensors that functions of this thread save for the backward.

    `pack_hook(tensor)` returns any object, which is saved instead of the tensor; it must not modify the tensor in place.
    `unpack_hook(packed)` must return a tensor of the same shape, dtype and device, and is called once for each use. An
    exception of either comes out of the function or of the backward. Blocks can be nested; the innermost applies.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def _push(self) -> None:
        _core.push_saved_hooks(self.pack_hook, self.unpack_hook)


class save_on_device(_Pushed):  # noqa: N801
    """Inside the block, saved tensors are kept on a device, and come back to their own when the backward needs them.

    What is on the device already, and leaves that require grad, are saved as they are. `pin_memory` puts copies in host
    memory that is pinned for the device they come from.
    """

    def __init__(self, device: Device | str, pin_memory: bool = False) -> None:
        self._device, self._pinned = device_pair(device), bool(pin_memory)

    def _push(self) -> None:
        check(lib.tsr_saved_hooks_push_device(*self._device, self._pinned, 0))


class save_on_cpu(save_on_device):  # noqa: N801  (PyTorch's name)
    """save_on_device("cpu", pin_memory): the memory of a device holds what its functions save only while they need it.

    `device_type` is accepted for PyTorch's sake: memory is pinned for the device that a tensor comes from.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__("cpu", pin_memory)


class save_to_disk(_Pushed):  # noqa: N801
    """Inside the block, saved tensors are safetensors files in a folder, each until no node needs it any more.

    Tensors of fewer than `min_bytes` bytes, and leaves that require grad, stay in memory. Files of a process that was
    killed remain in the folder.
    """

    def __init__(self, folder: str | os.PathLike[str], min_bytes: int = 1 << 16) -> None:
        self._folder, self._min_bytes = os.fsencode(folder), min_bytes

    def _push(self) -> None:
        check(lib.tsr_saved_hooks_push_disk(self._folder, len(self._folder), self._min_bytes))


class disable_saved_tensors_hooks(_Pushed):  # noqa: N801  (PyTorch's name)
    """Inside the block, pushing hooks on this thread raises an AutogradError with this message; so do checkpoints."""

    def __init__(self, error_message: str) -> None:
        self._message = error_message.encode()

    def _push(self) -> None:
        check(lib.tsr_saved_hooks_disable(self._message, len(self._message)))


class allow_mutation_on_saved_tensors(_Pushed):  # noqa: N801  (PyTorch's name)
    """Inside the block, functions save copies: a program may then write in place to what they have saved.

    PyTorch copies a tensor when it is written to; here it is copied when it is saved.
    """

    def _push(self) -> None:
        check(lib.tsr_saved_hooks_push_device(-1, -1, 0, 1))


__all__ = [
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "save_on_cpu",
    "save_on_device",
    "save_to_disk",
    "saved_tensors_hooks",
]
