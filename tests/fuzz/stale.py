# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Released handles under TSR_DEBUG=handles: every call that gets one fails with INVALID_ARGUMENT."""

from __future__ import annotations

import random

from binding import Fault, Library
from calls import Call, Handles, c_arguments
from tensors import Tensors


class Stale:
    """Only valid in a process with TSR_DEBUG=handles in its environment."""

    def __init__(self, library: Library, tensors: Tensors, rng: random.Random) -> None:
        self.library = library
        self.tensors = tensors
        self.rng = rng

    def step(self, call: Call) -> None:
        function = call.function(call.op.forms[0])
        handles = Handles(self.tensors, call)
        if function is None or not handles.one:
            return
        name = self.rng.choice(sorted(handles.one))
        handle = handles.one[name]
        self.tensors.owned.remove(handle)
        if handle in self.tensors.leaves:
            self.tensors.leaves.remove(handle)
        self.library.lib.tsr_tensor_release(handle)
        # Other tensors are made in between: none of them may get the address of the released one.
        fresh = [self.tensors.empty((2,), "f32") for _ in range(3)]
        if handle in fresh:
            raise Fault("the memory of a released handle was handed out again")
        args = c_arguments(self.library, self.tensors, call, function, handles)
        places = [self.tensors.keep("tsr_tensor[64]") for _ in call.op.returns]
        outs = [*places, 64, self.tensors.keep("int32_t*")] if call.op.returns_list else places
        status = self.library.call(function.name, *args, *(outs if function.form == "functional" else []))
        if status == 0:
            self.tensors.owned += [h for place in places for h in place if h]
        # TYPE: the check of a number's kind may come before the check of the handle.
        if status not in (self.library.codes["INVALID_ARGUMENT"], self.library.codes["TYPE"]):
            raise Fault(f"{call}: '{name}' was released: {self.library.names[status]}")
