# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.distributed (rows D9 and P18): every function with ranks that are threads; test_distributed_mpi.py has processes."""

import threading
from datetime import timedelta

import pytest
import tessera
import tessera.distributed as dist
import tessera.torch as torch
from tessera.distributed import ReduceOp

NAMES = iter(range(10**6))


def on_ranks(size, body, **options):
    """Runs body(rank) on one thread for each rank, inside a default group, and raises the first failure."""
    address, failures = f"test_distributed {next(NAMES)}", []

    def run(rank):
        try:
            dist.init_process_group("threads", address, rank=rank, world_size=size, **{"timeout": 60, **options})
            try:
                body(rank)
            finally:
                dist.destroy_process_group()
        except BaseException as error:  # noqa: BLE001 (a thread has nobody to raise to)
            failures.append(error)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def listed(tensor):
    return tensor.numpy().tolist()


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("module", [tessera, torch], ids=["tessera", "torch"])
def test_d9_collectives_equal_the_plain_computation(size, module):
    """[D9]"""

    def body(rank):
        def of(r):
            return module.tensor([float(r), r + 1.0])

        everyone = [of(r) for r in range(size)]
        total = listed(sum(everyone[1:], everyone[0]))
        x = of(rank)
        assert dist.all_reduce(x) is None and listed(x) == total
        for op, expected in ((ReduceOp.MAX, size - 1.0), (ReduceOp.MIN, 0.0), (ReduceOp.AVG, total[0] / size)):
            x = of(rank)
            dist.all_reduce(x, op)
            assert listed(x)[0] == expected
        x = of(rank)
        dist.reduce(x, dst=size - 1)
        assert listed(x) == (total if rank == size - 1 else listed(of(rank)))
        x = of(rank)
        dist.broadcast(x, src=size - 1)
        assert listed(x) == listed(of(size - 1))
        outputs = [module.zeros(2) for _ in range(size)]
        dist.all_gather(outputs, of(rank))
        assert [listed(o) for o in outputs] == [listed(e) for e in everyone]
        flat = module.zeros(2 * size)
        dist.all_gather_into_tensor(flat, of(rank))
        assert listed(flat) == [v for e in everyone for v in listed(e)]
        part = module.zeros(2)
        dist.reduce_scatter(part, [of(rank + r) for r in range(size)])
        assert listed(part)[0] == sum(rank + r for r in range(size))
        dist.reduce_scatter_tensor(part, flat)
        assert listed(part) == [size * v for v in listed(of(rank))]
        outputs = [module.zeros(2) for _ in range(size)] if rank == 0 else None
        dist.gather(of(rank), outputs, dst=0)
        assert rank != 0 or [listed(o) for o in outputs] == [listed(e) for e in everyone]
        dist.scatter(part, everyone if rank == 0 else None, src=0)
        assert listed(part) == listed(of(rank))
        outputs = [module.zeros(2) for _ in range(size)]
        dist.all_to_all(outputs, [of(10 * rank + r) for r in range(size)])
        assert [listed(o)[0] for o in outputs] == [10 * r + rank for r in range(size)]
        rows = module.zeros(size)
        dist.all_to_all_single(rows, module.tensor([float(10 * rank + r) for r in range(size)]))
        assert listed(rows) == [10 * r + rank for r in range(size)]
        uneven = module.zeros(sum(r + 1 for r in range(size)))
        sent = module.full((size * (rank + 1),), float(rank))
        dist.all_to_all_single(uneven, sent, [r + 1 for r in range(size)], [rank + 1] * size)
        assert listed(uneven) == [r for r in range(size) for _ in range(r + 1)]
        dist.barrier()

    on_ranks(size, body)


def test_d9_operations_under_way():
    """[D9]"""

    def body(rank):
        x, y = tessera.ones(1000), tessera.full((3, 4), float(rank)).T
        works = [dist.all_reduce(x, async_op=True), dist.all_reduce_coalesced([y], ReduceOp.MAX, async_op=True)]
        assert all(work.wait() for work in works) and all(work.is_completed() for work in works)
        assert works[0].is_success() and works[0].exception() is None
        assert x.numpy().sum() == 2000 and y.numpy().min() == 1
        assert dist.barrier(async_op=True).wait(timedelta(seconds=30))

    on_ranks(2, body)


def test_d9_messages():
    """[D9]"""

    def body(rank):
        other = 1 - rank
        x, y = tessera.tensor([float(rank)]), tessera.zeros(1)
        if rank == 0:
            dist.send(x, 1, tag=3)
            assert dist.recv(y) == 1
        else:
            assert dist.recv(y, 0, tag=3) == 0
            dist.send(x, 0)
        assert listed(y) == [other]
        for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, x, other), dist.P2POp(dist.irecv, y, other)]):
            work.wait()
        with pytest.raises(tessera.InvalidValueError, match="isend or irecv"):
            dist.P2POp(dist.send, x, other)

    on_ranks(2, body)


def test_dist_objects_travel_as_pickles():
    def body(rank):
        found = [None, None]
        dist.all_gather_object(found, {"rank": rank, "text": "x" * rank * 1000})
        assert [one["rank"] for one in found] == [0, 1] and len(found[1]["text"]) == 1000
        objects = [rank, "a" * rank] if rank == 1 else [None, None]
        dist.broadcast_object_list(objects, src=1)
        assert objects == [1, "a"]
        gathered = [None, None] if rank == 0 else None
        dist.gather_object(("of", rank), gathered, dst=0)
        assert rank != 0 or gathered == [("of", 0), ("of", 1)]
        mine = [None]
        dist.scatter_object_list(mine, ["first", "second"] if rank == 0 else None)
        assert mine == [["first", "second"][rank]]

    on_ranks(2, body)


def test_dist_groups_of_some_ranks():
    def body(rank):
        assert dist.get_rank() == rank and dist.get_world_size() == 3 and dist.get_backend() == "threads"
        assert dist.is_initialized() and dist.group.WORLD.timeout == timedelta(seconds=60)
        part = dist.new_group([2, 0])
        x = tessera.ones(1)
        dist.all_reduce(x, group=part)
        if rank == 1:
            assert part is dist.GroupMember.NON_GROUP_MEMBER and listed(x) == [1]
            assert dist.get_rank(part) == -1 and dist.get_world_size(part) == -1
        else:
            assert listed(x) == [2] and dist.get_process_group_ranks(part) == [0, 2]
            assert dist.get_rank(part) == (0, None, 1)[rank]
            y = tessera.tensor([float(rank)])
            dist.broadcast(y, src=2, group=part)  # a rank of the default group
            assert listed(y) == [2]
            assert dist.get_global_rank(part, 1) == 2 and dist.get_group_rank(part, 2) == 1
            with pytest.raises(tessera.InvalidValueError, match=r"ranks \[0, 2\], got 1"):
                dist.broadcast(y, src=1, group=part)
        dist.barrier()
        with pytest.raises(tessera.InvalidValueError, match="different ranks"):
            dist.new_group([0, 0])

    on_ranks(3, body)


def test_d9_errors_are_typed():
    """[D9]"""

    def body(rank):
        with pytest.raises(tessera.ShapeError, match="2 float32 .sum. on rank 0 and all_reduce of 3 float32"):
            dist.all_reduce(tessera.ones(2 + rank))
        with pytest.raises(tessera.DTypeError):
            dist.all_reduce(tessera.ones(2, dtype=tessera.int64), ReduceOp.AVG)
        with pytest.raises(tessera.ArgumentTypeError):
            dist.all_reduce([1.0, 2.0])
        with pytest.raises(tessera.InvalidValueError, match="there already"):
            dist.init_process_group("threads", "again", rank=0, world_size=1)
        failed = dist.all_reduce(tessera.ones(2 + rank), async_op=True)
        while not failed.is_completed():
            pass
        assert not failed.is_success() and isinstance(failed.exception(), tessera.ShapeError)

    on_ranks(2, body)


def test_d9_a_rank_that_does_not_come_ends_the_others():
    """[D9]"""
    ended = threading.Event()

    def body(rank):
        if rank == 1:
            ended.wait(60)
            return
        with pytest.raises(tessera.CancelledError, match="after 0.2 s: of 2 ranks these did not come: 1"):
            dist.barrier(async_op=True).wait(0.2)
        assert dist.group.WORLD.aborted()
        with pytest.raises(tessera.CancelledError, match="did not come"):
            dist.monitored_barrier(timeout=1)
        ended.set()

    on_ranks(2, body)


def test_dist_the_default_group_begins_and_ends():
    assert not dist.is_initialized() and dist.is_available()
    with pytest.raises(tessera.InvalidValueError, match="init_process_group"):
        dist.get_rank()
    with pytest.raises(tessera.InvalidValueError):
        dist.init_process_group("threads", rank=0, world_size=0)
    with pytest.raises(tessera.FileError, match="libtessera_none.so is in none of"):
        dist.init_process_group("none")
    with pytest.raises(tessera.CancelledError, match="of 2 ranks only 1 came within 0.05 s"):
        dist.init_process_group("threads", "alone", rank=0, world_size=2, timeout=0.05)
    own = dist.init_process_group("threads", "alone", rank=0, world_size=1)
    own.abort("enough")
    with pytest.raises(tessera.CancelledError, match="enough"):
        dist.barrier()
    dist.destroy_process_group()
    assert not torch.distributed.is_initialized()
    with pytest.raises(tessera.InvalidValueError, match="destroyed"):
        own.name()


def test_p18_gradients_of_two_ranks_equal_those_of_the_whole_batch():
    """[P18]"""
    x, y = tessera.ones((4, 3)) * tessera.arange(4).reshape((4, 1)), tessera.ones(4)

    def gradient(x, y):
        w = tessera.tensor([0.5, -1.0, 2.0]).requires_grad_()
        ((x @ w - y) ** 2).mean().backward()
        return w.grad

    whole = gradient(x, y)

    def body(rank):
        own = gradient(x[2 * rank : 2 * rank + 2], y[2 * rank : 2 * rank + 2])
        dist.all_reduce(own, ReduceOp.AVG)
        assert tessera.allclose(own, whole, rtol=1e-6, atol=1e-6)

    on_ranks(2, body)


@pytest.mark.parametrize("module", [tessera, torch], ids=["tessera", "torch"])
def test_d9_collectives_with_derivatives(module):
    """[D9]"""
    functional = module.distributed.nn.functional if module is torch else dist.nn.functional

    def body(rank):
        def gradient(collective):
            x = module.tensor([float(rank), 3.0]).requires_grad_()
            y = collective(x)
            assert type(y) is type(x)
            (y * (1.0 + rank)).sum().backward()
            return listed(x.grad)

        empty = module.zeros(1)
        assert gradient(functional.all_reduce) == [3, 3]
        assert gradient(lambda x: functional.all_reduce(x, ReduceOp.MAX)) == [3.0 * rank, 1.5]
        assert gradient(lambda x: functional.all_gather(x)[1]) == [3.0 * rank, 3.0 * rank]
        assert gradient(lambda x: functional.reduce(x, 1)) == [2, 2]
        assert gradient(lambda x: functional.broadcast(x, 1)) == [3.0 * rank, 3.0 * rank]
        assert gradient(lambda x: functional.reduce_scatter(empty, list(x.reshape(2, 1)))) == [1, 2]
        assert gradient(lambda x: functional.all_to_all([empty, empty], list(x.reshape(2, 1)))[1]) == [rank, 2.0 * rank]
        assert gradient(lambda x: functional.all_to_all_single(None, x)) == [1, 2]
        told = functional.all_to_all_single(None, module.tensor([rank, 5]), input_split_sizes=[1, 1])
        assert listed(told) == ([0, 1] if rank == 0 else [5, 5])
        x = module.tensor([1.0, 2.0]).requires_grad_()
        if rank == 0:
            functional.send(x * 3, 1, tag=2).backward()
            assert listed(x.grad) == [12, 12]
        else:
            (functional.recv(x, 0, tag=2) * 4).sum().backward()
        with pytest.raises(ValueError, match="src"):
            functional.broadcast(x, 2)

    on_ranks(2, body)


def test_d9_a_layer_divided_among_ranks_equals_the_whole():
    """[D9] A tensor-parallel pair of linear layers: columns of the first, rows of the second."""
    F = tessera.nn.functional
    x = tessera.arange(12, dtype=tessera.float32).reshape(3, 4) / 10
    first, second = tessera.arange(32).reshape(8, 4) / 40.0, tessera.arange(24).reshape(3, 8) / 30.0
    whole = [t.clone().requires_grad_() for t in (x, first, second)]
    F.linear(tessera.tanh(F.linear(whole[0], whole[1])), whole[2]).square().sum().backward()

    def body(rank):
        part = slice(4 * rank, 4 * rank + 4)
        own = [x.clone().requires_grad_(), first[part].clone().requires_grad_(), second[:, part].clone().requires_grad_()]
        # Every rank has the same input: its gradients are summed by the derivative of a broadcast.
        shared = dist.nn.functional.broadcast(own[0], 0)
        output = dist.nn.functional.all_reduce(F.linear(tessera.tanh(F.linear(shared, own[1])), own[2]))
        (output.square().sum() / 2).backward()  # both ranks have this loss
        expected = (whole[0].grad * (rank == 0), whole[1].grad[part], whole[2].grad[:, part])
        for tensor, wanted in zip(own, expected):
            assert tessera.allclose(tensor.grad, wanted, rtol=1e-5, atol=1e-6)

    on_ranks(2, body)
