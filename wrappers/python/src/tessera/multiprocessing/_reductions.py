# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""How tensors are pickled for another process of this machine: by the handle of their memory."""

from __future__ import annotations

import os
from multiprocessing import context, reduction, resource_sharer
from typing import Any

from .. import _shared
from .._dtypes import dtype_of
from .._errors import AutogradError, FileError
from .._tensor import Tensor
from ..nn.parameter import Parameter

_MOST_FOR_FORKSERVER = 200  # descriptors at the start of a process, of the 256 that it takes


def register(*classes: type[Tensor]) -> None:
    """Makes multiprocessing send tensors of these classes by handle."""
    for kind in classes or (Tensor, Parameter):
        reduction.ForkingPickler.register(kind, reduce_tensor)


def reduce_tensor(tensor: Tensor) -> Any:
    if tensor.requires_grad and not tensor.is_leaf:
        raise AutogradError(
            "a tensor that requires grad and is not a leaf cannot go to another process, because no graph crosses "
            "processes; send tensor.detach()"
        )
    plain = tensor.detach()
    if tensor.device.type == "cuda":
        place: Any = _shared.ipc_export(plain)
        return _rebuild, (type(tensor), place, 0, _layout(plain), tensor.requires_grad, tensor.grad)
    if tensor.device.type != "cpu":
        return tensor.__reduce_ex__(4)
    _shared.share(plain)
    try:
        given = _shared.exported(plain, in_transit=True)
    except FileError:  # no descriptor is left, as of a batch of a DataLoader: a copy goes
        plain = plain.clone()
        _shared.share(plain)
        given = _shared.exported(plain, in_transit=True)
    if given.recycled:
        _shared.exported(plain)  # a handle that is not counted: the worker must not fill this memory again
    place = given.name if given.name is not None else _descriptor(given.file)
    return _rebuild, (type(tensor), place, given.nbytes, _layout(plain), tensor.requires_grad, tensor.grad)


def _layout(plain: Tensor) -> tuple[int, Any, Any, str]:
    return int(plain.storage_offset()), tuple(plain.shape), tuple(plain._strides), plain.dtype.name


def _descriptor(file: int) -> Any:
    """What is pickled for a file descriptor: for a process that is being started the number that it inherits, else an
    address at which this process hands it out. A process inherits each descriptor once, and forkserver takes few."""
    starting: Any = context.get_spawning_popen()
    inherited = getattr(starting, "_fds", ())
    if file in inherited or (len(inherited) > _MOST_FOR_FORKSERVER and starting.method == "forkserver"):
        return resource_sharer.DupFd(file)
    return reduction.DupFd(file)


def _rebuild(
    kind: type[Tensor], place: Any, nbytes: int, layout: tuple[int, Any, Any, str], requires_grad: bool, grad: Tensor | None
) -> Tensor:
    offset, shape, strides, dtype = layout
    if isinstance(place, bytes):  # memory of a device
        plain = _shared.ipc_open(place, offset, shape, strides, dtype_of(dtype))
    elif isinstance(place, str):
        given = _shared.Handle(-1, place, nbytes)
        plain = _shared.opened(given, offset, shape, strides, dtype_of(dtype), in_transit=True)
    else:
        file = place.detach()
        try:
            plain = _shared.opened(_shared.Handle(file, None, nbytes), offset, shape, strides, dtype_of(dtype))
        finally:
            os.close(file)
    made = kind(plain, requires_grad) if issubclass(kind, Parameter) else kind(plain)
    made.requires_grad = requires_grad
    if grad is not None:
        made.grad = grad
    return made
