# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""DataLoader: batches of a data set, in this process or made by workers."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ... import _ops
from ..._random import Generator, manual_seed
from .collate import default_collate
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler

Collate = Callable[[list[Any]], Any]


@dataclass
class WorkerInfo:
    """What a worker process knows of itself."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """The worker this process is; None in the main process."""
    return _info


class DataLoader:
    """Iterates over batches of a data set.

    shuffle draws a new order for each pass, from `generator` when given. Workers are processes made
    by spawn or forkserver, never by fork; batches come in the order of the sampler whatever the
    workers' timing, and an exception in a worker is raised here with its traceback. For worker
    processes the data set, collate_fn and worker_init_fn must be picklable.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool = False,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Collate | None = None,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: str | Any = None,
        generator: Generator | None = None,
        prefetch_factor: int = 2,
    ) -> None:
        if num_workers < 0 or prefetch_factor < 1 or timeout < 0:
            raise ValueError("num_workers and timeout must be at least 0, prefetch_factor at least 1")
        if sampler is not None and shuffle:
            raise ValueError("give either a sampler or shuffle")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ValueError("a batch_sampler excludes batch_size, shuffle, sampler and drop_last")
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.num_workers, self.timeout, self.prefetch_factor = num_workers, timeout, prefetch_factor
        self.worker_init_fn, self.generator = worker_init_fn, generator
        self.collate_fn = collate_fn
        self.multiprocessing_context = multiprocessing_context
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            if shuffle or sampler is not None or batch_sampler is not None:
                raise ValueError("an IterableDataset decides on its order itself")
            self.sampler, self.batch_sampler = None, None
        else:
            default = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
            self.sampler = default if sampler is None else sampler
            self.batch_sampler = batch_sampler
            if batch_sampler is None and batch_size is not None:
                self.batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)

    def __len__(self) -> int:
        if self._iterable:
            count = len(self.dataset)
            if self.batch_size is None:
                return count
            return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
        return len(self.batch_sampler if self.batch_sampler is not None else self.sampler)

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers > 0:
            return _from_workers(self)
        if self._iterable:
            return _stream(iter(self.dataset), self.batch_size, self.drop_last, self.collate_fn)
        return (fetch(self.dataset, keys, self.collate_fn) for keys in self._keys())

    def _keys(self) -> Iterator[Any]:
        return iter(self.batch_sampler if self.batch_sampler is not None else self.sampler)


def fetch(dataset: Any, keys: Any, collate: Collate | None) -> Any:
    """One batch of the samples `keys`; one sample when that is a single key."""
    if not isinstance(keys, (list, tuple)):
        sample = dataset[keys]
        return sample if collate is None else collate(sample)
    many = _many(type(dataset))
    if many == "_batch" and collate is None:
        return dataset._batch(keys)
    samples = dataset.__getitems__(keys) if many == "__getitems__" else [dataset[k] for k in keys]
    return (collate or default_collate)(samples)


def _many(kind: type) -> str:
    """How a data set of this class gives several samples: by the method that the most derived class defines, so that a
    subclass which defines __getitem__ alone is asked for each sample."""
    for base in kind.__mro__:
        for name in ("_batch", "__getitems__", "__getitem__"):
            if name in base.__dict__:
                return name
    return "__getitem__"


def _stream(samples: Iterator[Any], size: int | None, drop_last: bool, collate: Collate | None) -> Iterator[Any]:
    if size is None:
        yield from samples
        return
    batch: list[Any] = []
    for sample in samples:
        batch.append(sample)
        if len(batch) == size:
            yield (collate or default_collate)(batch)
            batch = []
    if batch and not drop_last:
        yield (collate or default_collate)(batch)


# ---- Worker processes ----


class _Failure:
    """An exception on its way from a worker, with the text of its traceback."""

    def __init__(self, error: BaseException) -> None:
        self.text = traceback.format_exc()
        self.kind = type(error)

    def reraise(self, worker: int) -> None:
        message = f"in worker {worker} of a DataLoader:\n{self.text}"
        try:
            made = self.kind(message)
        except Exception:
            made = RuntimeError(message)
        raise made


def _work(number: int, options: dict[str, Any], keys: Any, results: Any) -> None:
    """The life of a worker: batches for keys until a None comes."""
    global _info
    _info = WorkerInfo(number, options["count"], options["seed"] + number, options["dataset"])
    manual_seed(_info.seed)
    source = None
    try:
        if options["init"] is not None:
            options["init"](number)
        if options["iterable"]:
            source = _stream(iter(options["dataset"]), options["size"], options["drop_last"], options["collate"])
    except Exception as error:
        results.put((-1, number, _Failure(error)))
        return
    while (job := keys.get()) is not None:
        index, wanted = job
        try:
            value = next(source, None) if source else fetch(options["dataset"], wanted, options["collate"])
            # The queue pickles in a thread of its own, where a failure would be lost: pickle here.
            results.put((index, number, multiprocessing.reduction.ForkingPickler.dumps(value).tobytes()))
        except Exception as error:
            results.put((index, number, _Failure(error)))


def _from_workers(loader: DataLoader) -> Iterator[Any]:
    kind = loader.multiprocessing_context
    context = multiprocessing.get_context(kind or "spawn") if kind is None or isinstance(kind, str) else kind
    if context.get_start_method() == "fork":
        raise ValueError("multiprocessing_context: the library's threads do not survive fork; use spawn or forkserver")
    seed = int(_ops.randint(0, 2**62, (), generator=loader.generator).item())
    options = {
        "count": loader.num_workers, "seed": seed, "dataset": loader.dataset, "init": loader.worker_init_fn,
        "iterable": loader._iterable, "size": loader.batch_size, "drop_last": loader.drop_last,
        "collate": loader.collate_fn,
    }
    results = context.Queue()
    queues = [context.Queue() for _ in range(loader.num_workers)]
    workers = [
        context.Process(target=_work, args=(n, options, queues[n], results), daemon=True)
        for n in range(loader.num_workers)
    ]
    for worker in workers:
        worker.start()
    try:
        yield from _in_order(loader, workers, queues, results)
    finally:
        for queue in queues:
            queue.cancel_join_thread()
            queue.put(None)
        for worker in workers:
            worker.join(timeout=0.5)
            if worker.is_alive():
                worker.terminate()
                worker.join()
        for queue in [*queues, results]:
            queue.cancel_join_thread()
            queue.close()


def _in_order(loader: DataLoader, workers: list[Any], queues: list[Any], results: Any) -> Iterator[Any]:
    """Hands keys out round robin and gives the batches back in that order."""
    endless = iter(lambda: 0, 1)
    keys = iter(enumerate(endless if loader._iterable else loader._keys()))
    live = set(range(len(workers)))
    sent = done = 0
    ready: dict[int, Any] = {}
    owner: dict[int, int] = {}

    def send() -> bool:
        nonlocal sent
        if not live:
            return False
        job = next(keys, None)
        if job is None:
            return False
        number = sorted(live)[sent % len(live)]
        owner[job[0]] = number
        queues[number].put(job)
        sent += 1
        return True

    for _ in range(loader.prefetch_factor * len(workers)):
        send()
    while done < sent:
        while done not in ready:
            index, number, value = _receive(loader, workers, results)
            if isinstance(value, _Failure):
                if index < 0:
                    value.reraise(number)
                ready[index] = value
            else:
                ready[index] = multiprocessing.reduction.ForkingPickler.loads(value)
        value = ready.pop(done)
        number = owner.pop(done)
        done += 1
        if isinstance(value, _Failure):
            value.reraise(number)
        if value is None and loader._iterable:
            live.discard(number)
        else:
            send()
            yield value


def _receive(loader: DataLoader, workers: list[Any], results: Any) -> Any:
    import queue

    waited = 0.0
    while True:
        try:
            return results.get(timeout=1.0)
        except queue.Empty:
            waited += 1.0
            for number, worker in enumerate(workers):
                if not worker.is_alive() and results.empty():
                    raise RuntimeError(
                        f"worker {number} of a DataLoader died (exit code {worker.exitcode})"
                    ) from None
            if loader.timeout and waited >= loader.timeout:
                raise RuntimeError(f"no batch came within timeout={loader.timeout} seconds") from None
