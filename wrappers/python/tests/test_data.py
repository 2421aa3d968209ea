# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Data sets and loading: order, batches, workers."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera.utils.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
    get_worker_info,
    random_split,
)


class Squares(Dataset[int]):
    def __getitem__(self, index: int) -> int:
        return index * index

    def __len__(self) -> int:
        return 10


def test_batches_come_in_order_and_the_last_may_be_short() -> None:
    loader = DataLoader(Squares(), batch_size=4)
    assert len(loader) == 3 and [b.tolist() for b in loader] == [[0, 1, 4, 9], [16, 25, 36, 49], [64, 81]]
    dropped = DataLoader(Squares(), batch_size=4, drop_last=True)
    assert len(dropped) == 2 and len(list(dropped)) == 2
    assert list(DataLoader(Squares(), batch_size=None)) == [i * i for i in range(10)]


def test_shuffling_is_a_permutation_and_follows_the_seed() -> None:
    def order(seed: int) -> list[list[int]]:
        loader = DataLoader(Squares(), batch_size=5, shuffle=True, generator=ts.Generator(seed))
        return [sum((b.tolist() for b in loader), []) for _ in range(2)]

    first = order(1)
    assert sorted(first[0]) == [i * i for i in range(10)] and first[0] != first[1]
    assert order(1) == first and order(2) != first


def test_samplers() -> None:
    assert list(SequentialSampler(Squares())) == list(range(10))
    assert list(BatchSampler(range(5), 2)) == [[0, 1], [2, 3], [4]] and len(BatchSampler(range(5), 2, True)) == 2
    drawn = list(RandomSampler(Squares(), replacement=True, num_samples=30, generator=ts.Generator(0)))
    assert len(drawn) == 30 and set(drawn) <= set(range(10))
    loader = DataLoader(Squares(), batch_sampler=[[1, 2], [3]])
    assert [b.tolist() for b in loader] == [[1, 4], [9]] and len(loader) == 2
    assert [b.tolist() for b in DataLoader(Squares(), sampler=[5, 1], batch_size=2)] == [[25, 1]]


def test_D3_datasets() -> None:
    pair = TensorDataset(ts.arange(4), ts.arange(4) * 10)
    assert [t.item() for t in pair[2]] == [2, 20] and len(pair) == 4
    whole = ConcatDataset([Squares(), Subset(Squares(), [3])])
    assert len(whole) == 11 and whole[10] == 9 and whole[-1] == 9
    with pytest.raises(IndexError):
        whole[11]
    parts = random_split(Squares(), [7, 3], ts.Generator(0))
    assert sorted([*parts[0].indices, *parts[1].indices]) == list(range(10))
    for bad in (lambda: TensorDataset(ts.ones(2), ts.ones(3)), lambda: random_split(Squares(), [1, 2])):
        with pytest.raises(ValueError):
            bad()
    with pytest.raises(NotImplementedError):
        Dataset()[0]


def test_arrays_are_rows_like_tensors() -> None:
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    data = TensorDataset(rows, np.array([5, 6, 7]))
    assert isinstance(data[1][0], ts.Tensor) and data.tensors[0].data_ptr() == rows.ctypes.data
    x, y = next(iter(DataLoader(data, 2)))
    assert (x.tolist(), y.tolist()) == ([[0, 1], [2, 3]], [5, 6])


class Tenfold(TensorDataset):
    """Defines samples only, no batches."""

    def __getitem__(self, index: Any) -> tuple[ts.Tensor, ...]:
        return tuple(t * 10 for t in super().__getitem__(index))


class ManyAtOnce(Tenfold):
    def __getitems__(self, indices: list[int]) -> list[tuple[int, ...]]:
        return [(i + 100,) for i in indices]


@pytest.mark.parametrize("workers", [0, 1])
def test_a_subclass_of_a_tensor_dataset_says_what_its_samples_are(workers: int) -> None:
    def batches(dataset: TensorDataset) -> list[Any]:
        return [b[0].tolist() for b in DataLoader(dataset, 2, num_workers=workers)]

    assert batches(TensorDataset(ts.arange(3.0))) == [[0, 1], [2]]
    assert batches(Tenfold(ts.arange(3.0))) == [[0, 10], [20]]
    assert batches(ManyAtOnce(ts.arange(3.0))) == [[100, 101], [102]]


def test_many_samples_at_once_are_collated_like_single_ones() -> None:
    loader = DataLoader(ManyAtOnce(ts.arange(3.0)), 3, collate_fn=lambda samples: [s[0] for s in samples])
    assert list(loader) == [[100, 101, 102]]

    class Again(ManyAtOnce):
        def __getitem__(self, index: Any) -> Any:
            return (index,)

    assert [b[0].tolist() for b in DataLoader(Again(ts.arange(3.0)), 3)] == [[0, 1, 2]]


def test_collating() -> None:
    batch = default_collate([{"x": ts.ones(2), "y": (1, 2.5), "z": "a"}, {"x": ts.zeros(2), "y": (3, 4.5), "z": "b"}])
    assert batch["x"].shape == (2, 2) and batch["y"][0].dtype is ts.int64 and batch["y"][1].tolist() == [2.5, 4.5]
    assert batch["z"] == ["a", "b"]
    assert default_collate([np.ones(2), np.zeros(2)]).shape == (2, 2) and default_collate([True, False]).dtype is ts.bool
    with pytest.raises(TypeError):
        default_collate([object()])
    with pytest.raises(ValueError, match="expected 2 parts in each sample, got 1 in one"):
        default_collate([(1, 2), (1,)])
    with pytest.raises(ts.ShapeError, match=r"shapes \(2,\) and \(3,\); give a collate_fn"):
        default_collate([np.ones(2), np.ones(3)])


def test_a_float_among_integers_makes_a_batch_of_floats() -> None:
    assert default_collate([1, 2.5, 3.75]).tolist() == [1, 2.5, 3.75]
    assert default_collate([True, 2.5]).tolist() == [1, 2.5]
    assert default_collate([1, True]).dtype is ts.int64 and default_collate([2**40]).item() == 2**40


def test_text_of_numpy_stays_text() -> None:
    assert default_collate(list(np.array(["a", "b"]))) == ["a", "b"]
    assert default_convert([np.str_("a"), np.bytes_(b"b")]) == ["a", b"b"]


class Doubles(Dataset[Any]):
    """A sample for any key: twice the key."""

    def __getitem__(self, key: Any) -> Any:
        return key * 2

    def __len__(self) -> int:
        return 3


def negative(sample: int) -> int:
    return -sample


@pytest.mark.parametrize("workers", [0, 1])
def test_the_kind_of_sampler_says_whether_keys_are_a_batch(workers: int) -> None:
    keys = [(1, 2), (3,)]
    assert list(DataLoader(Doubles(), None, sampler=keys, num_workers=workers)) == [(1, 2, 1, 2), (3, 3)]
    for batch in ([np.array([0, 2])], [range(0, 3, 2)]):
        assert [b.tolist() for b in DataLoader(Doubles(), batch_sampler=batch, num_workers=workers)] == [[0, 4]]
    whole = DataLoader(TensorDataset(ts.arange(3.0)), batch_sampler=[np.array([0, 2])], num_workers=workers)
    assert [b[0].tolist() for b in whole] == [[0, 2]]


@pytest.mark.parametrize("workers", [0, 1])
def test_a_stream_without_batches_goes_through_collate_fn(workers: int) -> None:
    assert list(DataLoader(Counting(1, 4), None, num_workers=workers, collate_fn=negative)) == [-1, -2, -3]


def test_a_random_sampler_follows_the_length_of_its_data() -> None:
    data = [0, 1]
    sampler = RandomSampler(data)
    data.append(2)
    assert len(sampler) == sampler.num_samples == 3 and sorted(sampler) == [0, 1, 2]
    assert len(RandomSampler(data, num_samples=2)) == 2


@pytest.mark.parametrize("options, text", [
    ({"num_workers": -1}, "num_workers: expected at least 0, got -1"), ({"timeout": -0.5}, "timeout: expected at least 0, got -0.5"),
    ({"prefetch_factor": 0}, "prefetch_factor: expected at least 1, got 0"), ({"batch_size": 0}, "batch_size"),
    ({"shuffle": True, "sampler": [1]}, "sampler: expected shuffle=False"), ({"persistent_workers": True}, "persistent_workers"),
    ({"batch_sampler": [[1]], "batch_size": 3}, "batch_sampler: expected no batch_size"),
    ({"num_workers": 1, "multiprocessing_context": "thread"}, "thread"),
])  # fmt: skip
def test_contradictions_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        list(DataLoader(Squares(), **options))


def test_a_seed_is_no_generator() -> None:
    with pytest.raises(TypeError, match="generator: expected a Generator, got int"):
        DataLoader(Squares(), shuffle=True, generator=3)  # type: ignore[arg-type]


# ---- Workers; everything they need must be importable in a new process ----


class Slow(Dataset[Any]):
    """Early samples take longer than late ones."""

    def __getitem__(self, index: int) -> Any:
        time.sleep(0.02 if index < 4 else 0)
        info = get_worker_info()
        assert info is not None
        return ts.full((2,), float(index)), os.getpid(), info.id

    def __len__(self) -> int:
        return 12


class Broken(Dataset[int]):
    def __getitem__(self, index: int) -> int:
        if index == 5:
            raise KeyError("sample five")
        return index

    def __len__(self) -> int:
        return 8


class Stream(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        step, start = (1, 0) if info is None else (info.num_workers, info.id)
        return iter(range(start, 10, step))

    def __len__(self) -> int:
        return 10


class Dying(Dataset[int]):
    def __getitem__(self, index: int) -> int:
        os._exit(3)

    def __len__(self) -> int:
        return 4


@pytest.mark.parametrize("context", ["spawn", "forkserver", "fork"])
def test_D4_workers_keep_the_order_of_the_sampler(context: str) -> None:
    loader = DataLoader(Slow(), batch_size=2, num_workers=2, multiprocessing_context=context)
    batches = list(loader)
    assert [b[0][:, 0].tolist() for b in batches] == [[float(i), float(i + 1)] for i in range(0, 12, 2)]
    assert os.getpid() not in set(batches[0][1].tolist())


def test_D4_exceptions_in_workers_arrive_with_their_traceback() -> None:
    seen = []
    with pytest.raises(KeyError, match="sample five"):
        for batch in DataLoader(Broken(), batch_size=2, num_workers=1):
            seen.append(batch.tolist())
    assert seen == [[0, 1], [2, 3]]


def test_D4_dead_workers_are_noticed() -> None:
    with pytest.raises(RuntimeError, match="died"):
        list(DataLoader(Dying(), num_workers=1))


def test_D3_streams_come_whole_from_several_workers() -> None:
    assert [b.tolist() for b in DataLoader(Stream(), batch_size=4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    found = [v for b in DataLoader(Stream(), batch_size=2, num_workers=2) for v in b.tolist()]
    assert sorted(found) == list(range(10))


def test_D4_leaving_early_stops_the_workers() -> None:
    import multiprocessing

    iterator = iter(DataLoader(Slow(), batch_size=1, num_workers=2))
    next(iterator)
    assert multiprocessing.active_children()
    del iterator
    deadline = time.monotonic() + 5
    while multiprocessing.active_children() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("workers", [0, 2])
def test_D4_orders_are_those_of_every_language(workers: int) -> None:
    table = Path(__file__).parents[3] / "tests/conformance/orders.txt"
    rows = [[int(word) for word in line.split()] for line in table.read_text().splitlines() if line[0] != "#"]
    loader: Any = None
    for seed, count, size, number, *expected in rows:
        if number == 0:
            data = TensorDataset(ts.arange(count))
            loader = DataLoader(data, size, shuffle=True, generator=ts.Generator(seed), num_workers=workers)
        assert [sample for batch in loader for sample in batch[0].tolist()] == expected
    assert len(rows) == 12


class Counting(IterableDataset[int]):
    def __init__(self, start: int, stop: int) -> None:
        self.range = range(start, stop)

    def __iter__(self) -> Iterator[int]:
        return iter(self.range)

    def __len__(self) -> int:
        return len(self.range)


def test_D3_data_sets_chain_stack_and_concatenate() -> None:
    both = Squares() + Subset(Squares(), [3, 4])
    assert isinstance(both, ConcatDataset) and len(both) == 12 and both[10] == 9 and both[-1] == 16
    assert both.cumulative_sizes == [10, 12]
    chained = Counting(0, 2) + Counting(5, 7)
    assert isinstance(chained, ChainDataset) and list(chained) == [0, 1, 5, 6] and len(chained) == 4
    assert [b.tolist() for b in DataLoader(chained, 3)] == [[0, 1, 5], [6]]
    assert StackDataset(Squares(), Squares())[3] == (9, 9)
    assert StackDataset(a=Squares(), b=TensorDataset(ts.arange(10)))[2]["a"] == 4
    for bad in (
        lambda: ConcatDataset([]), lambda: ConcatDataset([Counting(0, 1)]), lambda: StackDataset(),
        lambda: StackDataset(Squares(), [1]), lambda: StackDataset(Squares(), a=Squares()),
        lambda: list(ChainDataset([Squares()])), lambda: both[12],  # type: ignore[list-item]
    ):  # fmt: skip
        with pytest.raises(ts.TesseraError):
            bad()


def test_D4_random_split_takes_fractions() -> None:
    parts = random_split(Squares(), [0.55, 0.45], generator=ts.Generator(1))
    assert [len(p) for p in parts] == [6, 4]
    assert sorted(i for p in parts for i in p.indices) == list(range(10))
    assert [len(p) for p in random_split(Squares(), [1 / 3, 1 / 3, 1 / 3])] == [4, 3, 3]
    for lengths in ([0.5, 0.4], [5, 4], [1.5, -0.5]):
        with pytest.raises((ValueError, TypeError)):
            random_split(Squares(), lengths)


def test_D4_samplers_with_weights_and_subsets() -> None:
    drawn = list(WeightedRandomSampler([0.0, 3.0, 1.0], 4000, generator=ts.Generator(5)))
    assert len(drawn) == 4000 and 0 not in drawn and 0.7 < drawn.count(1) / 4000 < 0.8
    assert sorted(WeightedRandomSampler([1.0, 2.0, 3.0], 3, replacement=False)) == [0, 1, 2]
    subset = SubsetRandomSampler([4, 7, 9], ts.Generator(2))
    assert sorted(subset) == [4, 7, 9] and len(subset) == 3
    assert len({tuple(subset) for _ in range(20)}) > 1
    for bad in (lambda: WeightedRandomSampler([[1.0]], 1), lambda: WeightedRandomSampler([1.0], 0)):
        with pytest.raises(ValueError):
            bad()


def test_D4_conversion_without_batches() -> None:
    found = default_convert({"a": np.ones(2), "b": [np.float32(2), "text"]})
    assert found["a"].tolist() == [1, 1] and found["b"][0].item() == 2 and found["b"][1] == "text"
