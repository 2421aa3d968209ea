# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Worker processes of data loaders: their lifetime, shared memory, and that nothing is left behind."""

from __future__ import annotations

import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    TensorDataset,
    WorkerError,
    default_collate,
    get_worker_info,
)
from tessera.utils.data import transport


class Rows(Dataset[Any]):
    """Large rows, with the process that made them."""

    def __getitem__(self, index: int) -> Any:
        return ts.full((4096,), float(index)), np.full(4096, index), os.getpid()

    def __len__(self) -> int:
        return 8


class Random(Dataset[Any]):
    def __getitem__(self, index: int) -> Any:
        info = get_worker_info()
        assert info is not None
        return ts.rand(()), info.seed

    def __len__(self) -> int:
        return 4


class Stream(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        assert info is not None
        return iter(range(info.id, 10, info.num_workers))


class Broken(Dataset[int]):
    def __getitem__(self, index: int) -> int:
        if index == 3:
            raise KeyError("sample three")
        return index

    def __len__(self) -> int:
        return 6


class TwoPartError(Exception):
    def __init__(self, what: str, code: int) -> None:
        super().__init__(what, code)


class Raising(Dataset[int]):
    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __getitem__(self, index: int) -> int:
        if self.kind == "two parts":
            raise TwoPartError("no disk", 7)
        if self.kind == "stop":
            raise StopIteration("no more")
        if self.kind == "decode":
            b"\xff".decode("utf-8")
        if self.kind == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        raise SystemExit(9)

    def __len__(self) -> int:
        return 4


class Nested(Dataset[Any]):
    def __init__(self, workers: int) -> None:
        self.workers = workers

    def __getitem__(self, index: int) -> Any:
        return [batch.tolist() for batch in DataLoader([index, index + 10], 1, num_workers=self.workers)]

    def __len__(self) -> int:
        return 2


class Uneven(IterableDataset[tuple[int, int]]):
    """Worker i has as many samples as counts[i]."""

    def __init__(self, *counts: int) -> None:
        self.counts = counts

    def __iter__(self) -> Iterator[tuple[int, int]]:
        info = get_worker_info()
        assert info is not None
        return iter([(info.id, i) for i in range(self.counts[info.id])])


class Long(Dataset[int]):
    """Receives and returns lists that are larger than a pipe's buffer."""

    def __getitem__(self, index: int) -> int:
        return index

    def __getitems__(self, indices: list[int]) -> list[str]:
        return [str(i) for i in indices]

    def __len__(self) -> int:
        return 600_000


class Sleeping(Dataset[int]):
    def __getitem__(self, index: int) -> int:
        time.sleep(60)
        return index

    def __len__(self) -> int:
        return 4


def plain(samples: list[Any]) -> Any:
    return samples


def fail_at_start(number: int) -> None:
    raise OSError(f"worker {number} cannot start")


def open_files() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def assert_nothing_left(files: int) -> None:
    gc.collect()
    assert multiprocessing.active_children() == []
    assert open_files() <= files
    maps = Path("/proc/self/maps").read_text()
    assert "memfd:tessera" not in maps


# ---- How long workers live ----


def test_D4_persistent_workers_serve_every_pass() -> None:
    loader = DataLoader(Rows(), 2, num_workers=2, persistent_workers=True)
    passes = [{p for b in loader for p in b[2].tolist()} for _ in range(3)]
    assert passes[0] == passes[1] == passes[2] and len(passes[0]) == 2
    for batch in loader:  # left early: batches on their way must not come in the next pass
        assert batch[0][0, 0].item() == 0
        break
    assert [b[0][0, 0].item() for b in loader] == [0, 2, 4, 6]
    del loader, batch
    gc.collect()
    assert multiprocessing.active_children() == []


def test_a_pass_within_a_pass_of_persistent_workers() -> None:
    loader = DataLoader(TensorDataset(ts.arange(4)), 2, num_workers=1, persistent_workers=True)
    found = [(a[0].tolist(), b[0].tolist()) for a in loader for b in loader]
    assert found == [([0, 1], [0, 1]), ([0, 1], [2, 3]), ([2, 3], [0, 1]), ([2, 3], [2, 3])]
    assert len(multiprocessing.active_children()) == 1


def test_without_them_every_pass_has_workers_of_its_own() -> None:
    loader = DataLoader(Rows(), 4, num_workers=1)
    first, second = ({p for b in loader for p in b[2].tolist()} for _ in range(2))
    assert first.isdisjoint(second) and multiprocessing.active_children() == []


def test_streams_begin_anew_in_every_pass() -> None:
    loader = DataLoader(Stream(), 2, num_workers=2, persistent_workers=True)
    for _ in range(3):
        assert sorted(v for b in loader for v in b.tolist()) == list(range(10))


def test_D4_random_numbers_differ_from_pass_to_pass_and_follow_the_generator() -> None:
    def drawn(seed: int) -> list[Any]:
        loader = DataLoader(Random(), 2, num_workers=2, persistent_workers=True, generator=ts.Generator(seed))
        return [[b[0].tolist() for b in loader] for _ in range(2)]

    one = drawn(1)
    assert one[0] != one[1] and one == drawn(1) and one != drawn(2)


def test_D4_a_persistent_pool_goes_on_after_an_exception_of_the_data_set() -> None:
    loader = DataLoader(Broken(), 2, num_workers=1, persistent_workers=True)
    for _ in range(2):
        seen = []
        with pytest.raises(KeyError, match=r"(?s)in worker 0.*Traceback.*__getitem__.*sample three"):
            for batch in loader:
                seen.append(batch.tolist())
        assert seen == [[0, 1]]


@pytest.mark.parametrize("kind, told", [
    ("two parts", "TwoPartError: \\('no disk', 7\\)"), ("stop", "StopIteration: no more"),
    ("decode", "UnicodeDecodeError: 'utf-8' codec"), ("killed", "exit code -9"), ("exit", "exit code 9"),
])  # fmt: skip
def test_D4_what_cannot_be_raised_as_it_was_is_a_worker_error(kind: str, told: str) -> None:
    """Exceptions whose constructor takes more than a text, and ends of the process."""
    with pytest.raises(WorkerError, match=told):
        list(DataLoader(Raising(kind), 1, num_workers=2))


def test_D4_a_loader_inside_a_worker_has_no_workers() -> None:
    assert list(DataLoader(Nested(0), None, num_workers=2)) == [[[0], [10]], [[1], [11]]]
    with pytest.raises(WorkerError, match="in worker 0(.|\n)*cannot start processes: use num_workers=0"):
        list(DataLoader(Nested(1), None, num_workers=2))


@pytest.mark.parametrize("counts", [(1, 3, 3), (0, 0, 2), (4, 1, 2), (0, 0, 0)])
def test_D4_workers_whose_samples_end_are_left_out_of_the_turns(counts: tuple[int, ...]) -> None:
    found = [tuple(batch) for batch in DataLoader(Uneven(*counts), None, num_workers=3, prefetch_factor=2)]
    assert found == [(w, i) for i in range(max(counts)) for w in range(3) if i < counts[w]]


def test_D4_a_pool_that_was_interrupted_in_a_message_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    loader = DataLoader(Rows(), 2, num_workers=2, persistent_workers=True)
    wanted = [batch[0][:, 0].tolist() for batch in loader]

    def interrupted(pipe: Any) -> Any:
        pipe.recv_bytes()  # the files of the message are still to come
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(transport, "receive", interrupted)
        list(loader)
    assert [batch[0][:, 0].tolist() for batch in loader] == wanted


def test_D4_loaders_on_several_threads_get_their_own_memory() -> None:
    failures: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(5):
                for number, (tensor, array, _) in enumerate(DataLoader(Rows(), 1, num_workers=1)):
                    assert tensor.tolist() == [[float(number)] * 4096] and array.tolist() == [[number] * 4096]
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_D4_a_failing_start_is_told() -> None:
    with pytest.raises(OSError, match="cannot start"):
        list(DataLoader(Rows(), num_workers=2, worker_init_fn=fail_at_start))


def test_long_lists_go_both_ways_at_once() -> None:
    loader = DataLoader(Long(), 200_000, num_workers=1, collate_fn=plain, prefetch_factor=3)
    assert [len(b) for b in loader] == [200_000] * 3


def test_D4_a_batch_that_does_not_come_in_time_is_told() -> None:
    list(DataLoader(Rows(), 2, num_workers=1))
    files = open_files()
    with pytest.raises(WorkerError, match="timeout=0.5"):
        list(DataLoader(Sleeping(), num_workers=1, timeout=0.5))
    assert_nothing_left(files)


# ---- Shared memory ----


def test_D4_large_batches_lie_in_shared_memory_as_long_as_they_are_used() -> None:
    list(DataLoader(Rows(), 2, num_workers=1))  # starts the helper processes of multiprocessing
    files = open_files()
    kept: list[Any] = []
    for batch in DataLoader(Rows(), 2, num_workers=1):
        kept.append(batch)
    assert "memfd:tessera " in Path("/proc/self/maps").read_text()
    assert open_files() <= files  # however many batches are kept
    for number, (tensor, array, pids) in enumerate(kept):
        assert tensor.tolist()[1][:2] == [2 * number + 1] * 2 and array.tolist()[0][:2] == [2 * number] * 2
        tensor += 1  # it is ours
    del kept, batch, tensor, array, pids
    assert_nothing_left(files)


def described(samples: list[Any]) -> Any:
    """A batch, and whether it lay in shared memory when it was made."""
    batch = default_collate(samples)
    return (*batch[:2], batch[0].is_shared(), batch[1].is_shared(), len(transport.Message(batch).data))


def test_D4_workers_build_batches_in_the_memory_that_the_loader_maps() -> None:
    for tensor, array, first, second, pickled in DataLoader(Rows(), 8, num_workers=1, collate_fn=described):
        assert first and second and pickled < 2000 and tensor.is_shared() and array.is_shared()
        assert tensor[:, 5].tolist() == array[:, 7].tolist() == list(range(8))
    for (part,) in DataLoader(TensorDataset(ts.arange(40_000).reshape(20_000, 2)), 20_000, num_workers=1, shuffle=True):
        assert part.is_shared() and sorted(part[:, 0].tolist()) == list(range(0, 40_000, 2))


class Filled(Dataset[Any]):
    """Large rows of one number each; the process ends at the sample `last`."""

    def __init__(self, last: int = 1000) -> None:
        self.last = last

    def __getitem__(self, index: int) -> Any:
        if index == self.last:
            os.kill(os.getpid(), signal.SIGKILL)
        return ts.full((20_000,), float(index))

    def __len__(self) -> int:
        return 60


def file_of(tensor: Any) -> str:
    """The number of the file that a tensor's memory is mapped from."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        begin, end = (int(part, 16) for part in line.split()[0].split("-"))
        if begin <= tensor.data_ptr() < end:
            return line.split()[4]
    raise AssertionError("not mapped")


def test_D4_a_worker_fills_memory_again_that_was_released() -> None:
    list(DataLoader(Rows(), 2, num_workers=1))
    files = open_files()
    loader = DataLoader(Filled(), 1, num_workers=1, persistent_workers=True)
    kept: list[Any] = []
    for number in range(2):
        places = []
        for index, batch in enumerate(loader):
            assert batch[0, 0].item() == batch[0, 19_999].item() == index
            places.append(file_of(batch))
            batch += 1000  # it is ours
            if index % 20 == 0:
                kept.append(batch)
        assert len(set(places)) <= 12, number
        assert {file_of(batch) for batch in kept}.isdisjoint(places[41:])
    assert [batch[0, 777].item() for batch in kept] == [1000, 1020, 1040] * 2
    del loader, batch
    gc.collect()
    assert [batch[0, 777].item() for batch in kept] == [1000, 1020, 1040] * 2
    del kept
    assert_nothing_left(files)


@pytest.mark.parametrize("how", ["left early", "killed"])
def test_D4_no_kept_memory_is_left_behind(how: str) -> None:
    list(DataLoader(Rows(), 2, num_workers=1))
    files = open_files()
    batches = iter(DataLoader(Filled(40 if how == "killed" else 1000), 1, num_workers=2))
    if how == "killed":
        with pytest.raises(WorkerError, match="exit code -9"):
            for batch in batches:
                last = batch
    else:
        last = next(batch for batch in batches if batch[0, 0].item() == 30)
    batches.close()  # type: ignore[attr-defined]
    assert last[0, 5].item() >= 30
    batch = last = None
    del batches
    assert_nothing_left(files)


def test_D4_a_batch_that_another_process_has_is_not_filled_again() -> None:
    """A child that was forked, and one that got the batch through a pipe."""
    from tessera import multiprocessing as mp

    ours, theirs = mp.get_context("fork").Pipe()
    batches = iter(DataLoader(Filled(), 1, num_workers=1))
    batch = next(batches)
    child = os.fork()
    if child == 0:
        sent = theirs.recv()
        theirs.recv()
        same = batch.min().item() == batch.max().item() == 0 and sent.min().item() == sent.max().item() == 1
        os._exit(0 if same else 1)
    batch = next(batches)
    ours.send(batch)
    del batch
    assert [int(b[0, 0].item()) for b in batches] == list(range(2, 60))
    ours.send(None)
    assert os.waitpid(child, 0)[1] == 0
    ours.close()
    theirs.close()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64", "bool", "uint8"])
def test_D4_every_dtype_comes_through_as_it_was(dtype: str) -> None:
    value = {"x": ts.arange(300 * 300).reshape(300, 300).to(dtype).T, "y": np.ones((200, 200), order="F"), "z": [ts.ones(3)]}
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    message = transport.Message(value)
    assert message.own >= 0 and len(message.files) == 1
    transport.send(theirs, message)
    found = transport.receive(ours)
    assert found["x"].dtype.name == dtype and (found["x"] == value["x"]).all()  # type: ignore[attr-defined]
    assert (found["y"] == value["y"]).all() and found["z"][0].tolist() == [1, 1, 1]
    found["y"][0] = 2  # it is ours


@pytest.mark.parametrize("call", ["memfd_create", "ftruncate", "pwrite"])
def test_D4_without_shared_memory_all_goes_through_the_pipe(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any) -> Any:
        raise OSError(28, "No space left on device")

    def no_share(*arguments: Any) -> Any:
        raise ts.OutOfMemoryError("no shared memory")

    files = open_files()
    monkeypatch.setattr(os, call, full)
    monkeypatch.setattr(transport._shared, "share", no_share)
    message = transport.Message((ts.ones(100_000), np.ones(3)))
    assert message.own == -1 and message.files == [] and open_files() == files
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    sender = threading.Thread(target=transport.send, args=(theirs, message))
    sender.start()
    tensor, array = transport.receive(ours)
    sender.join()
    assert tensor.sum().item() == 100_000 and array.tolist() == [1, 1, 1]


def test_D4_a_process_without_free_descriptors_is_told_and_keeps_none() -> None:
    import resource

    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    files = open_files()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    transport.send(theirs, transport.Message([ts.ones(20_000) for _ in range(8)]))
    free = os.dup(0)  # the smallest free number
    os.close(free)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + 4, limits[1]))
        with pytest.raises(OSError, match="Too many open files"):
            transport.receive(ours)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert open_files() <= files
    transport.send(theirs, transport.Message(ts.full((20_000,), 3.0)))
    assert transport.receive(ours)[5].item() == 3


class Hidden:
    """Cannot be pickled, and need not be where workers are forked."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __getitem__(self, index: int) -> Any:
        return ts.full((20_000,), float(index))

    def __len__(self) -> int:
        return 4


def test_D4_forked_workers_need_no_pickle() -> None:
    loader = DataLoader(Hidden(), 2, num_workers=2, multiprocessing_context="fork", collate_fn=lambda s: ts.stack(s))
    assert [b[:, 9].tolist() for b in loader] == [[0, 1], [2, 3]]
    assert multiprocessing.active_children() == []


class Seeds(Dataset[Any]):
    def __getitem__(self, index: int) -> Any:
        info = get_worker_info()
        assert info is not None
        return info.id, info.seed, random.random(), float(np.random.rand()), ts.get_num_threads()

    def __len__(self) -> int:
        return 2


def test_D4_each_worker_has_the_base_seed_and_its_number() -> None:
    def rows() -> list[Any]:
        return [tuple(b[0]) for b in DataLoader(Seeds(), 1, num_workers=2, collate_fn=plain, generator=ts.Generator(3))]

    (zero, one), again = rows(), rows()
    assert (zero[0], one[0]) == (0, 1) and one[1] == zero[1] + 1 and zero[2] != one[2] and zero[3] != one[3]
    assert again == [zero, one] and zero[4] == 1


# ---- What is left ----


@pytest.mark.parametrize("how", ["exception", "interrupt", "close", "del"])
def test_D4_no_process_and_no_memory_is_left(how: str) -> None:
    list(DataLoader(Rows(), 2, num_workers=1))  # starts the helper processes of multiprocessing
    files = open_files()
    batches = iter(DataLoader(Rows(), 1, num_workers=2))
    next(batches)
    assert len(multiprocessing.active_children()) == 2
    if how in ("exception", "interrupt"):
        kind = ValueError if how == "exception" else KeyboardInterrupt
        with pytest.raises(kind):
            batches.throw(kind())  # type: ignore[attr-defined]
    elif how == "close":
        batches.close()  # type: ignore[attr-defined]
    del batches
    assert_nothing_left(files)


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_D4_passes_and_failures_keep_no_descriptor(method: str) -> None:
    def once() -> None:
        list(DataLoader(Rows(), 2, num_workers=2, multiprocessing_context=method))
        with pytest.raises(KeyError):
            list(DataLoader(Broken(), 2, num_workers=2, multiprocessing_context=method))
        with pytest.raises(WorkerError):
            list(DataLoader(Raising("killed"), 1, num_workers=2, multiprocessing_context=method))

    once()  # starts the helper processes of multiprocessing
    files = open_files()
    for _ in range(3):
        once()
    assert_nothing_left(files)


def run(program: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], input=program, capture_output=True, text=True, timeout=60, **options)


OWN = """
class Own:
    def __len__(self): return 4
    def __getitem__(self, i): return i
"""
USE = """
import tessera as ts
from tessera.utils.data import DataLoader, TensorDataset
print([b[0].tolist() for b in DataLoader(TensorDataset(ts.arange(4)), 2, num_workers=1)])
"""


def test_data_sets_of_modules_need_neither_a_file_nor_a_guard(tmp_path: Path) -> None:
    file = tmp_path / "no_guard.py"
    file.write_text(USE)
    for found in (run("", str(file)), run(USE, "-")):
        assert found.stdout == "[[0, 1], [2, 3]]\n", found.stderr


def test_a_data_set_of_the_prompt_is_refused_with_the_way_out() -> None:
    found = run(OWN + USE.replace("TensorDataset(ts.arange(4))", "Own()"), "-")
    assert "ArgumentTypeError" in found.stderr and "notebook" in found.stderr and "num_workers=0" in found.stderr


def test_a_program_without_a_guard_is_told_about_it(tmp_path: Path) -> None:
    file = tmp_path / "own_no_guard.py"
    file.write_text(OWN + USE.replace("TensorDataset(ts.arange(4))", "Own()").replace("b[0]", "b"))
    found = run("", str(file))
    assert found.returncode != 0 and "__name__ == '__main__'" in found.stderr.splitlines()[-1]
    guarded = OWN + "if __name__ == '__main__':\n" + "".join(f"    {line}\n" for line in USE.splitlines())
    file.write_text(guarded.replace("TensorDataset(ts.arange(4))", "Own()").replace("b[0]", "b"))
    assert run("", str(file)).stdout == "[[0, 1], [2, 3]]\n"


def test_what_cannot_be_pickled_is_told() -> None:
    class Local(Rows):
        pass

    for loader in (DataLoader(Local(), num_workers=1), DataLoader(Rows(), num_workers=1, collate_fn=lambda s: s)):
        with pytest.raises(ts.ArgumentTypeError, match=r"pickled.*module"):
            list(loader)


def test_D4_workers_end_when_the_program_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "killed.py"
    file.write_text(
        "import multiprocessing, time\n" + USE.replace("print(", "batches = iter(").replace("[b[0].tolist() for b in ", "")
        .replace(")])", "))").replace("num_workers=1", "num_workers=2")
        + "next(batches)\nprint(*[p.pid for p in multiprocessing.active_children()], flush=True)\ntime.sleep(60)\n"
    )
    program = subprocess.Popen([sys.executable, str(file)], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    workers = [int(pid) for pid in program.stdout.readline().split()]
    assert len(workers) == 2
    program.send_signal(signal.SIGKILL)
    program.wait()
    program.stdout.close()

    def alive(pid: int) -> bool:
        try:
            return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
        except FileNotFoundError:
            return False

    wait_for(lambda: not any(alive(pid) for pid in workers))


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 15
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_loader_can_be_copied_and_pickled_while_its_workers_live() -> None:
    import pickle

    loader = DataLoader(TensorDataset(ts.arange(4)), 2, num_workers=1, persistent_workers=True)
    list(loader)
    again = pickle.loads(pickle.dumps(loader))
    assert [b[0].tolist() for b in again] == [[0, 1], [2, 3]]
