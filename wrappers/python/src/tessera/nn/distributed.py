# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel: each rank has the model and other samples; backward() averages the gradients over the ranks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from .._core import TensorBase
from .._dtypes import DType
from .._errors import InvalidValueError, as_number
from ..capi import check, document, ffi, handles, lib, out
from .module import Module

MIB = 1 << 20


class DistributedDataParallel(Module):
    """Wraps a module so that every rank trains the same one on its own samples.

        distributed.init_process_group("mpi")
        model = DistributedDataParallel(Net())
        for images, classes in loader:  # with a DistributedSampler
            optimizer.zero_grad()
            loss(model(images), classes).backward()
            optimizer.step()

    At first all ranks get the parameters and buffers of rank 0. A backward averages the gradients in buckets of
    `bucket_cap_mb` while it runs. Buffers are those of rank 0 at each forward, unless `broadcast_buffers` is false. With
    `find_unused_parameters` a parameter may get no gradient. With `gradient_as_bucket_view` gradients are memory of the
    buckets. With a `reduce_dtype`, bfloat16 say, they travel in it. The keys of state_dict() begin with "module.".

    All ranks call it together. Without process_group: the default group.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        reduce_dtype: DType | None = None,
    ) -> None:
        super().__init__()
        if device_ids is not None and len(device_ids) > 1:
            raise InvalidValueError(f"device_ids: expected one device for each process, got {len(device_ids)}")
        self.module = module
        self.process_group = process_group
        self.broadcast_buffers, self.find_unused_parameters = bool(broadcast_buffers), bool(find_unused_parameters)
        self.gradient_as_bucket_view = bool(gradient_as_bucket_view)
        self._sync = True
        params, buffers = [*module.parameters()], [*module.buffers()]
        options = ffi.new("tsr_data_parallel_options*", {"struct_size": ffi.sizeof("tsr_data_parallel_options")})
        check(lib.tsr_data_parallel_defaults(options))
        if bucket_cap_mb is not None:
            options.bucket_bytes = int(as_number(bucket_cap_mb, "bucket_cap_mb") * MIB)
            options.first_bucket_bytes = min(options.first_bucket_bytes, options.bucket_bytes)
        options.find_unused = self.find_unused_parameters
        options.broadcast_buffers = self.broadcast_buffers
        options.gradient_as_bucket_view = self.gradient_as_bucket_view
        if reduce_dtype is not None:
            options.reduce_dtype = reduce_dtype.bits
        made = out(
            "tsr_data_parallel", lib.tsr_data_parallel_new, group_handle(process_group), handles(params), len(params),
            handles(buffers), len(buffers), options,
        )
        self._handle = ffi.gc(made, lib.tsr_data_parallel_release)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module's forward. With grad mode on, the backward from its result averages the gradients."""
        check(lib.tsr_data_parallel_forward_begin(self._handle))
        results = self.module(*inputs, **kwargs)
        outputs = [*_tensors(results)] if self.find_unused_parameters else []
        check(lib.tsr_data_parallel_forward_end(self._handle, handles(outputs), len(outputs)))
        return results

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Forwards inside have backwards that add to the gradients of this rank only. The first backward of a forward
        outside averages the sums."""
        before = out("int32_t", lib.tsr_data_parallel_sync_set, self._handle, False)
        try:
            yield
        finally:
            out("int32_t", lib.tsr_data_parallel_sync_set, self._handle, before)

    @contextlib.contextmanager
    def join(
        self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False
    ) -> Iterator[None]:
        """Ranks may have different numbers of forwards inside. A rank that reaches the end takes part in the collectives
        of the others until they do. Then all have the model of one that ran to the end."""
        if not enable:
            yield
            return
        check(lib.tsr_data_parallel_join_begin(self._handle, bool(divide_by_initial_world_size), bool(throw_on_early_termination)))
        yield
        check(lib.tsr_data_parallel_join_end(self._handle))

    def report(self) -> dict[str, Any]:
        """The buckets, and the events of the last backward that averaged, in their order."""
        found: dict[str, Any] = document(lib.tsr_data_parallel_report, self._handle)
        return found


def group_handle(group: Any) -> Any:
    """The handle of a process group; None: the default group."""
    from ..distributed._group import group_or_default

    found = group_or_default(group)
    if found is None:
        raise InvalidValueError("process_group: expected a group with this rank, got one without")
    return found.handle


def _tensors(results: Any) -> Iterator[Any]:
    """The tensors in tuples, lists, dicts and the fields of objects."""
    if isinstance(results, TensorBase):
        yield results
    elif isinstance(results, Mapping):
        for value in results.values():
            yield from _tensors(value)
    elif isinstance(results, (tuple, list)):
        for value in results:
            yield from _tensors(value)
    elif hasattr(results, "__dict__"):
        yield from _tensors(vars(results))
