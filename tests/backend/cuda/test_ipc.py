# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Device memory between processes. On the host's stand-in for CUDA queued work runs as late
as possible, so a missing event between the processes gives a wrong number every time."""

from __future__ import annotations

import gc
import os
import time
from typing import Any

import pytest

import tessera as ts
from tessera import _shared, memory
from tessera import multiprocessing as mp

CUDA = "cuda:0"


def add_and_return(pipe: Any) -> None:
    """Receives tensors, changes them and says what it saw."""
    while (received := pipe.recv()) is not None:
        pipe.send([t.to("cpu").tolist() for t in received])
        with ts.no_grad():
            for t in received:
                t += 1
        ts.synchronize(CUDA)
        del received, t
        gc.collect()
        mp.ipc_collect()
        pipe.send("released")


def hold(pipe: Any) -> None:
    kept = pipe.recv()
    pipe.send(kept.sum().item())
    time.sleep(60)


def open_twice(pipe: Any) -> None:
    handle = pipe.recv()
    first = _shared.ipc_open(handle, 0, (2,), (1,), ts.float32)
    try:
        _shared.ipc_open(handle, 0, (2,), (1,), ts.float32)
    except ts.TesseraError as error:
        pipe.send((first.tolist(), type(error).__name__, str(error)))


def use_after_fork(pipe: Any) -> None:
    try:
        pipe.recv()
        pipe.send("opened")
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")


def started(work: Any, method: str = "spawn") -> tuple[Any, Any]:
    context = mp.get_context(method)
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def test_D7_tensors_of_a_device_go_by_handle_and_are_the_same_memory() -> None:
    process, pipe = started(add_and_return)
    base = ts.arange(12.0).reshape(3, 4).to(CUDA)
    late = base * 2  # queued, not run
    sent = [late, late[1:, ::2], ts.nn.Parameter(late[0].detach().clone())]
    pipe.send(sent)
    wanted = [[[2.0 * (4 * r + c) for c in range(4)] for r in range(3)], [[8, 12], [16, 20]], [0, 2, 4, 6]]
    assert pipe.recv() == wanted
    assert pipe.recv() == "released"
    changed = late.to("cpu")
    assert changed[0].tolist() == [1, 3, 5, 7] and changed[1].tolist() == [10, 11, 14, 15]
    assert mp.ipc_collect() == 3 and mp.ipc_collect() == 0
    pipe.send(None)
    process.join()
    assert process.exitcode == 0


def test_D7_memory_stays_until_the_other_process_has_released_it() -> None:
    process, pipe = started(add_and_return)
    mp.ipc_collect()
    gc.collect()
    before = memory.memory_allocated(CUDA)
    sent = ts.ones((1000,)).to(CUDA)
    pipe.send([sent])
    del sent
    gc.collect()
    assert mp.ipc_collect() == 0 or pipe.poll()
    pipe.recv()
    assert pipe.recv() == "released"
    mp.ipc_collect()
    assert memory.memory_allocated(CUDA) == before
    pipe.send(None)
    process.join()


def test_D7_what_a_killed_process_held_is_given_up() -> None:
    process, pipe = started(hold)
    sent = ts.ones((64,)).to(CUDA)
    pipe.send(sent)
    assert pipe.recv() == 64
    assert mp.ipc_collect() == 0
    process.kill()
    process.join()
    assert mp.ipc_collect() == 1


def test_D7_a_handle_is_opened_once() -> None:
    process, pipe = started(open_twice)
    sent = ts.ones((2,)).to(CUDA)
    pipe.send(_shared.ipc_export(sent))
    values, kind, text = pipe.recv()
    assert values == [1, 1] and kind == "FileError" and "opened before" in text
    process.join()
    own = _shared.ipc_export(sent)
    same = _shared.ipc_open(own, 1, (1,), (1,), ts.float32)  # in the process that made it: the storage itself
    same += 4
    assert sent.tolist() == [1, 5]
    with pytest.raises(ts.FileError):
        _shared.ipc_open(own, 1, (1,), (1,), ts.float32)
    with pytest.raises(ts.ShapeError):
        _shared.ipc_open(_shared.ipc_export(sent), 1, (2,), (1,), ts.float32)


def test_D7_a_forked_process_gets_a_clear_error() -> None:
    ts.ones((1,)).to(CUDA)
    process, pipe = started(use_after_fork, "fork")
    pipe.send(ts.ones((2,)).to(CUDA))
    assert "fork" in pipe.recv()
    process.join()


def test_D7_wrong_handles_are_refused() -> None:
    sent = ts.ones((2,)).to(CUDA)
    good = _shared.ipc_export(sent).decode()
    words = good.split(" ")
    gone = words.copy()
    gone[1], gone[8] = str(os.getpid() + 1), "/tessera-1-2-3-4"
    short = words.copy()
    short[6] = short[6][:-2]
    for wrong in ("", "tessera-ipc-1", " ".join(short), " ".join(gone), good.replace("tessera", "other")):
        with pytest.raises((ts.InvalidValueError, ts.FileError)):
            _shared.ipc_open(wrong.encode(), 0, (2,), (1,), ts.float32)
    with pytest.raises(ts.NotSupportedError):
        _shared.ipc_export(ts.ones(2))
