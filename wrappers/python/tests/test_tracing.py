# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Traces: the content of a block's records, events of other threads, and that the block always ends its trace."""

from __future__ import annotations

import threading
import time

import pytest

import tessera as ts
from tessera import tracing


def only(records: tracing.Records, kind: str, name: str) -> tracing.Record:
    (found,) = [r for r in records if (r.kind, r.name) == (kind, name)]
    return found


def test_a_call_has_its_kernel_and_its_arguments() -> None:
    x = ts.ones((2, 3))
    before = time.monotonic_ns()
    with tracing.record(arguments=True) as records:
        y = ts.exp(x)
        ts.sum(y, axis=1, keepdims=True)
    after = time.monotonic_ns()
    call, kernel = only(records, "call", "exp"), only(records, "launch", "exp")
    assert before <= call.begin <= kernel.begin <= kernel.end <= call.end <= after
    assert kernel.family == "unary" and kernel.device == ts.Device("cpu")
    assert kernel.parent == call.correlation and call.parent == 0
    assert call.thread == threading.get_native_id()
    assert call.args[0] == (ts.float32, (2, 3))
    assert only(records, "call", "sum").args == ((ts.float32, (2, 3)), (1,), True, None)
    assert any(r.kind == "allocate" and r.value > 0 and r.parent == call.correlation for r in records)
    assert records.lost == 0


def test_a_backward_shows_its_nodes_and_other_threads_their_calls() -> None:
    x = ts.ones((2, 3), requires_grad=True)
    y = ts.exp(x).sum()
    thread = threading.Thread(target=lambda: ts.negative(x))
    with tracing.record(kinds=("call", "node")) as records:
        y.backward()
        thread.start()
        thread.join()
    assert only(records, "node", "ExpBackward").parent == only(records, "call", "tsr_backward").correlation
    assert only(records, "call", "negative").thread != threading.get_native_id()
    assert {r.kind for r in records} == {"call", "node"}


def test_an_integer_that_only_uint64_can_hold_is_shown_whole() -> None:
    x = ts.ones(1, dtype=ts.uint64)
    with tracing.record(arguments=True) as records:
        x + (2**64 - 2)
    (call,) = (r for r in records if r.kind == "call" and r.name == "add")
    assert call.args[1] == 2**64 - 2


def test_functions_that_are_no_operators_show_their_arguments() -> None:
    x = ts.ones((2, 3), requires_grad=True)
    y = x.sum()
    x.grad = ts.ones((2, 3))
    with tracing.record(kinds=("call", "launch"), arguments=True) as records:
        y.backward(retain_graph=True)
        optimizer = ts.optim.SGD([x], lr=0.5)
        optimizer.step()
    assert only(records, "call", "tsr_backward").args[0] == ((ts.float32, ()),)
    options, params = only(records, "call", "tsr_optimizer_new").args
    assert isinstance(options, tracing.Address) and options != 0
    assert params == ((ts.float32, (2, 3)),)
    assert only(records, "launch", "sgd").family == "optim"


def test_more_events_than_one_read_takes_and_more_than_there_is_room_for() -> None:
    x = ts.ones(1)
    with tracing.record(kinds=["launch"], capacity=2500) as records:
        for _ in range(3000):
            ts.exp(x)
    assert len(records) == 2500 and records.lost == 500


def test_the_trace_ends_with_the_block() -> None:
    with pytest.raises(ZeroDivisionError), tracing.record() as records:
        ts.exp(ts.ones(1))
        raise ZeroDivisionError
    assert only(records, "launch", "exp")
    with tracing.record(kinds=["launch"]) as outer:
        with pytest.raises(ValueError, match="running"), tracing.record():
            pass
        ts.exp(ts.ones(1))
    assert only(outer, "launch", "exp")


def test_what_cannot_be_traced_is_refused() -> None:
    with pytest.raises(ts.InvalidValueError, match="kinds"), tracing.record(kinds=["everything"]):
        pass
    with pytest.raises(ValueError, match="capacity"), tracing.record(capacity=0):
        pass
