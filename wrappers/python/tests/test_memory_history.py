# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of memory: operations, shapes and Python's stacks of blocks; holders, pages, out of memory."""

import ctypes
import json
import re
import subprocess
import threading
from pathlib import Path

import pytest

import tessera as ts
from tessera import memory, nn

MIB = 1 << 20


@pytest.fixture(autouse=True)
def _stopped():
    yield
    memory.stop_history()


def lines(holder):
    return [frame.rsplit("/", 1)[-1] for frame in holder.stack]


def make_block():
    return ts.zeros((512, 1024))


def test_a_block_has_its_operation_shape_and_stack():
    with memory.record_history():
        assert memory.is_recording()
        kept = make_block()
        top = memory.holders(1)[0]
    assert not memory.is_recording()
    assert (top.operation, top.tensor) == ("zeros", "float32[512, 1024]")
    assert (top.bytes, top.count, top.largest) == (2 * MIB, 1, 2 * MIB)
    assert re.fullmatch(r"test_memory_history.py:\d+ in make_block", lines(top)[0])
    assert lines(top)[1].endswith("test_a_block_has_its_operation_shape_and_stack")
    assert kept.shape == (512, 1024)


def test_a_stack_begins_with_the_programs_own_line():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(256, 4096)

        def forward(self, x):
            return self.layer(x)

    net, x = Net(), ts.ones((128, 256))
    with memory.record_history():
        y = net(x)
        top = memory.holders(1)[0]
    assert top.tensor == "float32[128, 4096]"
    assert top.stack[0].endswith("Net.forward")
    assert any("Module.__call__" in frame for frame in top.stack), "inside, the package's frames are shown"
    assert y.shape == (128, 4096)


def test_blocks_of_a_backward_name_the_node_and_the_line_of_the_backward():
    x = ts.ones((512, 1024), requires_grad=True)
    loss = ts.exp(x).sum()
    with memory.record_history():
        loss.backward()
        top = memory.holders(1)[0]
    assert top.path.startswith("tsr_backward > ")
    assert "Backward" in top.path
    assert any("test_blocks_of_a_backward" in frame for frame in top.stack)


def test_holders_are_sorted_and_freed_blocks_leave_them():
    with memory.record_history(stacks=0):
        large = ts.ones((1024, 1024))
        small = [ts.exp(ts.ones((64,))) for _ in range(3)]
        found = memory.holders()
        assert [row.bytes for row in found] == sorted((row.bytes for row in found), reverse=True)
        assert found[0].operation == "ones"
        assert found[0].stack == ()
        exp = next(row for row in found if row.operation == "exp")
        assert exp.count == len(small)
        del large
        assert max(row.bytes for row in memory.holders()) < MIB


def test_ring_keeps_the_latest_events():
    with memory.record_history(entries=100, stacks=0):
        for _ in range(1000):
            ts.ones((10,))
        taken = memory.snapshot()
    assert len(taken["history"]) == 100
    assert taken["recording"]["recorded"] >= 2000
    assert taken["version"] == 2


def test_threads_have_their_own_stacks():
    kept = []

    def work_in_thread():
        kept.append(ts.ones((256, 1024)))

    with memory.record_history():
        threads = [threading.Thread(target=work_in_thread) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        top = memory.holders(1)[0]
        live = [block for block in memory.snapshot()["live"] if block["size"] == MIB]
    assert top.count == 4
    assert any("work_in_thread" in frame for frame in top.stack)
    assert len(live) == 4


def test_out_of_memory_names_the_holders():
    limit = memory.memory_limit()
    memory.empty_cache()
    with memory.record_history():
        kept = ts.ones((2048, 1024))
        memory.set_memory_limit(memory.memory_reserved() + 4 * MIB)
        try:
            with pytest.raises(ts.OutOfMemoryError) as caught:
                ts.ones((64, 1024, 1024))
        finally:
            memory.set_memory_limit(limit)
    message = str(caught.value)
    assert "asked for 256.00 MiB" in message
    assert re.search(r"8\.00 MiB in 1 block by ones, float32\[2048, 1024\], at .*test_memory_history\.py:\d+ in", message)
    assert kept.shape == (2048, 1024)


def test_a_snapshot_makes_the_same_page_later(tmp_path):
    with memory.record_history():
        kept = make_block()
        memory.viewer(tmp_path / "now.html")
        taken = json.loads(json.dumps(memory.snapshot()))
    memory.viewer(tmp_path / "later.html", snapshot=taken)
    for name in ("now.html", "later.html"):
        page = Path(tmp_path / name).read_text()
        assert page.startswith("<!DOCTYPE html>")
        assert "http://" not in page.replace("http://www.w3.org", "")
        assert "float32[512, 1024]" in page
    assert kept.shape == (512, 1024)
    with pytest.raises(ts.InvalidValueError):
        memory.viewer(tmp_path / "none.html", snapshot=[])


def test_a_recording_does_not_grow():
    model = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
    x = ts.ones((4, 16))

    def step():
        model(x).sum().backward()
        model.zero_grad()

    with memory.record_history(entries=1000):
        for _ in range(5):
            step()
        before = memory.snapshot()
        for _ in range(200):
            step()
        after = memory.snapshot()
    assert len(after["live"]) == len(before["live"])
    assert after["recording"]["lost"] == 0
    assert len(after["stacks"]) < 100


def test_wrong_arguments_are_typed_errors():
    with pytest.raises(ts.InvalidValueError):
        memory.holders()
    with pytest.raises(ts.InvalidValueError):
        memory.record_history(entries=-1)
    with pytest.raises(ts.InvalidValueError):
        memory.record_history(stacks=-1)
    assert not memory.is_recording()


def test_r14_memory_is_given_back_with_the_last_reference():
    before = memory.memory_allocated()
    x = ts.ones((1024, 1024))
    view = x[0]
    assert memory.memory_allocated() == before + 4 * MIB
    del x
    assert memory.memory_allocated() == before + 4 * MIB, "a view shares the storage"
    del view
    assert memory.memory_allocated() == before


def test_r9_settings_change_one_by_one():
    before = memory.allocator_settings()
    memory.set_allocator_settings(roundup_power2_divisions=4)
    try:
        assert memory.allocator_settings() == {**before, "roundup_power2_divisions": 4}
        with pytest.raises(ts.InvalidValueError):
            memory.set_allocator_settings(roundup_power2_divisions=3)
        with pytest.raises(ts.InvalidValueError):
            memory.set_allocator_settings(expandable_segments=True)
        with pytest.raises(ts.InvalidValueError):
            memory.set_allocator_settings(no_such_setting=1)
    finally:
        memory.set_allocator_settings(roundup_power2_divisions=0)
    assert memory.allocator_settings() == before


def test_r9_fraction_of_the_memory_is_a_limit():
    memory.set_memory_fraction(0.5)
    try:
        assert memory.memory_limit() < (1 << 62)
        with pytest.raises(ts.InvalidValueError):
            memory.set_memory_fraction(1.5)
    finally:
        memory.set_memory_limit((1 << 63) - 1)


def test_r10_later_training_steps_take_nothing_from_the_system():
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1),
        nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10),
    )  # fmt: skip
    optimizer = ts.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x = ts.ones((8, 3, 64, 64))

    def step():
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    counts = []
    for _ in range(6):
        step()
        counts.append(memory.memory_stats()["num_device_alloc"])
    assert counts[0] > 0
    assert counts[1:] == [counts[1]] * 5
    held = memory.memory_reserved()
    for _ in range(20):
        step()
    assert memory.memory_reserved() == held


def test_the_dialects_names_record_the_same(tmp_path):
    from tessera import torch

    torch.cuda.memory._record_memory_history(max_entries=1000)
    kept = torch.ones(512, 1024)
    torch.cuda.memory._dump_snapshot(tmp_path / "snapshot.json")
    taken = torch.cuda.memory._snapshot()
    torch.cuda.memory._record_memory_history(enabled=None)
    assert json.loads((tmp_path / "snapshot.json").read_text())["version"] == taken["version"] == 2
    if not torch.cuda.is_available():
        assert any(block.get("tensor") == "float32[512, 1024]" for block in taken["live"])
    assert torch.cuda.memory_stats()["num_ooms"] >= 0
    assert not memory.is_recording()
    assert kept.shape == (512, 1024)
    with pytest.raises(AttributeError):
        torch.cuda.memory.no_such_name  # noqa: B018


PLUGGED = """
#include <stdlib.h>
long lent = 0, calls = 0;
void* my_malloc(long nbytes, int device, void* stream) {
  ++lent, ++calls;
  return aligned_alloc(64, (nbytes + 63) / 64 * 64);
}
void my_free(void* block, long nbytes, int device, void* stream) {
  --lent;
  free(block);
}
"""


def test_an_allocator_of_a_shared_library_serves_the_device(tmp_path):
    (tmp_path / "plugged.c").write_text(PLUGGED)
    path = tmp_path / "plugged.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, tmp_path / "plugged.c"], check=True)
    counts = ctypes.CDLL(str(path))
    lent, calls = ctypes.c_long.in_dll(counts, "lent"), ctypes.c_long.in_dll(counts, "calls")
    memory.change_allocator(memory.PluggableAllocator(path, "my_malloc", "my_free"))
    try:
        x = ts.ones((100, 100))
        y = (x + x).sum()
        assert lent.value >= 2
        assert float(y) == 20000
        with memory.record_history():
            z = ts.exp(x)
            assert memory.holders(1)[0].operation == "exp"
        del y, z
    finally:
        memory.reset_allocator()
    seen = calls.value
    ts.ones((100, 100))
    assert calls.value == seen, "the library's own allocator serves again"
    assert lent.value == 1, "x is left, and goes back to the allocator that it came from"
    del x
    assert lent.value == 0
    with pytest.raises(ts.InvalidValueError):
        memory.PluggableAllocator(path, "my_malloc", "no_such_function")
    with pytest.raises(ts.InvalidValueError):
        memory.PluggableAllocator(tmp_path / "none.so", "my_malloc", "my_free")
