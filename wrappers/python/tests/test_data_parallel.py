# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training, sharded optimizers and checkpoints, on ranks that are threads."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import distributed as dist
from tessera import nn, optim
from tessera.amp import GradScaler
from tessera.distributed import checkpoint
from tessera.nn.parallel import DistributedDataParallel
from tessera.optim import ZeroRedundancyOptimizer
from tessera.utils.checkpoint import checkpoint as recompute
from tessera.utils.data import DistributedSampler

_numbers = iter(range(10**6))


def on_ranks(size: int, body: Callable[[int], Any]) -> list[Any]:
    """What body(rank) returns on a thread for each rank; raises the first error."""
    name, results, errors = f"ddp {next(_numbers)}", [None] * size, []

    def run(rank: int) -> None:
        try:
            group = dist.init_process_group("threads", name, timeout=60, world_size=size, rank=rank)
            try:
                results[rank] = body(rank)
            except BaseException as error:
                group.abort(str(error))
                raise
            finally:
                dist.destroy_process_group()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


class Net(nn.Module):
    def __init__(self, seed: int, normalized: bool = False) -> None:
        super().__init__()
        ts.manual_seed(seed)
        self.first, self.second = nn.Linear(12, 16), nn.Linear(16, 4)
        self.norm = nn.BatchNorm1d(16) if normalized else nn.Identity()

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        return self.second(ts.tanh(self.norm(self.first(x))))


# Buckets so small that each layer of a Net fills one.
FEW_BYTES = 128 / 2**20

_build = threading.Lock()  # the seed is the process's


def net(seed: int = 0, normalized: bool = False) -> Net:
    with _build:
        return Net(seed, normalized)


def batch(step: int, rows: int = 12) -> ts.Tensor:
    return ts.from_numpy(np.random.default_rng(step).standard_normal((rows, 12)).astype(np.float32))


def share(x: ts.Tensor) -> ts.Tensor:
    rows = len(x) // dist.get_world_size()
    return x[rows * dist.get_rank() : rows * (dist.get_rank() + 1)]


def values(model: nn.Module) -> list[np.ndarray]:
    return [p.detach().numpy().copy() for p in model.parameters()]


def train(model: nn.Module, optimizer: optim.Optimizer, data: Callable[[int], ts.Tensor], steps: int = 10) -> list[np.ndarray]:
    for step in range(steps):
        optimizer.zero_grad()
        (model(data(step)) ** 2).mean().backward()
        optimizer.step()
    return values(model)


def assert_close(got: list[np.ndarray], expected: list[np.ndarray]) -> None:
    assert len(got) == len(expected)
    for a, b in zip(got, expected):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_D9_ten_steps_equal_those_of_one_process_with_the_whole_batch(size: int) -> None:
    alone = net()
    expected = train(alone, optim.Adam(alone.parameters(), lr=0.01), batch)

    def body(rank: int) -> list[np.ndarray]:
        model = DistributedDataParallel(net(rank), bucket_cap_mb=FEW_BYTES, gradient_as_bucket_view=size == 3)
        return train(model, optim.Adam(model.parameters(), lr=0.01), lambda step: share(batch(step)))

    for got in on_ranks(size, body):
        assert_close(got, expected)


def test_buckets_are_reduced_while_the_backward_goes_on() -> None:
    def body(rank: int) -> list[tuple[str, int]]:
        model = DistributedDataParallel(net(rank), bucket_cap_mb=FEW_BYTES)
        model(batch(0)).sum().backward()
        return [(event["kind"], event["number"]) for event in model.report()["events"]]

    for events in on_ranks(2, body):
        kinds = [kind for kind, _ in events]
        assert kinds.index("launched") < len(kinds) - 1 - kinds[::-1].index("ready")


def test_keys_of_the_state_begin_with_module() -> None:
    def body(rank: int) -> None:
        model = DistributedDataParallel(net(rank))
        assert [*model.state_dict()] == ["module." + key for key in net().state_dict()]
        model.load_state_dict({"module." + key: value for key, value in net(7).state_dict().items()})

    on_ranks(1, body)


def test_no_sync_adds_up_gradients_of_several_backwards() -> None:
    alone = net()
    (alone(batch(0)) ** 2).sum().backward()

    def body(rank: int) -> list[np.ndarray]:
        model = DistributedDataParallel(net(rank))
        mine = share(batch(0))
        with model.no_sync():
            (model(mine[:3]) ** 2).sum().backward()
        (model(mine[3:]) ** 2).sum().backward()
        return [p.grad.numpy() * 2 for p in model.parameters()]

    for got in on_ranks(2, body):
        for a, b in zip(got, alone.parameters()):
            np.testing.assert_allclose(a, b.grad.numpy(), rtol=1e-4, atol=1e-5)


def test_ranks_with_fewer_samples_join_the_others() -> None:
    def body(rank: int) -> list[np.ndarray]:
        model = DistributedDataParallel(net(rank, normalized=True))
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        with model.join(divide_by_initial_world_size=False):
            for step in range(2 + 2 * rank):
                optimizer.zero_grad()
                (model(batch(step)) ** 2).mean().backward()
                optimizer.step()
        return [*values(model), model.module.norm.running_mean.numpy().copy()]

    alone = net(0, normalized=True)
    expected = train(alone, optim.SGD(alone.parameters(), lr=0.1), batch, 4)
    expected.append(alone.norm.running_mean.numpy())
    for got in on_ranks(2, body):
        assert_close(got, expected)


def test_unused_parameters_and_outputs_in_dicts() -> None:
    def body(rank: int) -> None:
        class Two(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.a, self.b = nn.Linear(3, 1, bias=False), nn.Linear(3, 1, bias=False)

            def forward(self, x: ts.Tensor) -> dict[str, list[ts.Tensor]]:
                return {"out": [self.b(x) if rank else self.a(x)]}

        model = DistributedDataParallel(Two(), find_unused_parameters=True)
        for _ in range(2):
            model.zero_grad()
            model(ts.ones((1, 3)))["out"][0].sum().backward()
            for p in model.parameters():
                assert p.grad.tolist() == [[0.5, 0.5, 0.5]]

    on_ranks(2, body)


def test_a_parameter_without_gradient_is_an_error_that_names_it() -> None:
    def body(rank: int) -> None:
        model = DistributedDataParallel(net(rank))
        model.module.first.weight.sum().backward()  # outside a forward: nothing is averaged
        model(batch(0))
        with pytest.raises(ts.AutogradError, match="no gradient for parameters 1, 2, 3"):
            model.module.first.weight.sum().backward()

    on_ranks(2, body)


def test_recomputed_parts_are_reduced_too() -> None:
    alone = net()
    expected = train(alone, optim.SGD(alone.parameters(), lr=0.1), batch, 3)

    def body(rank: int) -> list[np.ndarray]:
        class Recomputed(Net):
            def forward(self, x: ts.Tensor) -> ts.Tensor:
                return self.second(recompute(lambda v: ts.tanh(self.first(v)), x))

        with _build:
            inner = Recomputed(rank)
        model = DistributedDataParallel(inner, bucket_cap_mb=FEW_BYTES)
        return train(model, optim.SGD(model.parameters(), lr=0.1), lambda step: share(batch(step)), 3)

    for got in on_ranks(2, body):
        assert_close(got, expected)


def test_scaled_losses_skip_the_step_on_all_ranks() -> None:
    def body(rank: int) -> tuple[float, bool]:
        model = DistributedDataParallel(net(rank))
        optimizer, scaler = optim.SGD(model.parameters(), lr=0.1), GradScaler()
        before = values(model)
        scaler.scale(model(batch(0)).sum() * (float("inf") if rank else 1.0)).backward()
        scaler.step(optimizer)
        scaler.update()
        return scaler.get_scale(), all((a == b).all() for a, b in zip(before, values(model)))

    assert on_ranks(2, body) == [(32768.0, True)] * 2


def test_zero_redundancy_optimizer_equals_the_whole_one_and_divides_its_state() -> None:
    alone = net()
    expected = train(alone, optim.Adam(alone.parameters(), lr=0.01), batch)

    def body(rank: int) -> int:
        model = DistributedDataParallel(net(rank))
        optimizer = ZeroRedundancyOptimizer(model.parameters(), optim.Adam, lr=0.01)
        first = train(model, optimizer, lambda step: share(batch(step)), 5)
        with pytest.raises(ts.InvalidValueError):
            optimizer.state_dict()
        optimizer.consolidate_state_dict(-1)
        again = ZeroRedundancyOptimizer(model.parameters(), optim.Adam, lr=0.5)
        again.load_state_dict(optimizer.state_dict())
        assert again.param_groups[0]["lr"] == 0.01
        got = train(model, again, lambda step: share(batch(step + 5)), 5)
        assert_close(got, expected)
        assert len(first) == 4
        return int(again.report()["state_bytes"])

    bytes_of_all = sum(p.nbytes for p in net().parameters()) * 2
    found = on_ranks(2, body)
    assert sum(found) == bytes_of_all
    assert max(found) < bytes_of_all


def test_saving_the_whole_state_leaves_the_divided_optimizer_its_options(tmp_path: Path) -> None:
    def body(rank: int) -> float:
        p = nn.Parameter(ts.zeros(1))
        optimizer = ZeroRedundancyOptimizer([p], optim.SGD, lr=1.0)
        optimizer.consolidate_state_dict()
        optimizer.param_groups[0]["lr"] = 0.25
        optimizer.save(tmp_path / "state.safetensors")
        p.grad = ts.ones(1)
        optimizer.step()
        return float(p.item())

    assert on_ranks(1, body) == [-0.25]


def test_scaler_with_a_divided_optimizer() -> None:
    def body(rank: int) -> bool:
        model = DistributedDataParallel(net(rank))
        optimizer, scaler = ZeroRedundancyOptimizer(model.parameters(), optim.Adam), GradScaler()
        before = values(model)
        scaler.scale(model(batch(0)).sum()).backward()
        scaler.step(optimizer)
        return any((a != b).any() for a, b in zip(before, values(model)))

    assert on_ranks(2, body) == [True, True]


def test_checkpoints_of_four_ranks_are_read_by_two_and_then_by_three(tmp_path: Path) -> None:
    whole = batch(3, 10)

    def part(rank: int, size: int) -> tuple[ts.Tensor, dict[str, Any]]:
        first, end = 10 * rank // size, 10 * (rank + 1) // size
        return whole[first:end].clone(), {"w": ((first, 0), (10, 12))}

    def first(rank: int) -> None:
        mine, slices = part(rank, 4)
        checkpoint.save({"w": mine, "b": whole}, tmp_path, slices, {"step": "7"})

    def later(rank: int) -> None:
        expected, slices = part(rank, dist.get_world_size())
        mine, same = ts.zeros_like(expected), ts.zeros_like(whole)
        checkpoint.load({"w": mine, "b": same}, tmp_path, slices)
        assert (mine == expected).all() and (same == whole).all()
        dist.barrier()
        checkpoint.save({"w": mine, "b": same}, tmp_path, slices, checkpoint.load_metadata(tmp_path))

    on_ranks(4, first)
    on_ranks(2, later)
    on_ranks(3, later)
    assert checkpoint.load_metadata(tmp_path) == {"step": "7"}
    assert len([*tmp_path.iterdir()]) == 4
    alone = ts.zeros_like(whole)
    checkpoint.load({"w": alone}, tmp_path)
    assert (alone == whole).all()
    with pytest.raises(ts.TesseraError):
        checkpoint.load({"other": alone}, tmp_path)
    index = json.loads((tmp_path / "index.json").read_text())
    assert index == checkpoint.index(tmp_path)


def test_checkpoints_of_one_process(tmp_path: Path) -> None:
    model, other = net(1), net(2)
    checkpoint.save(model.state_dict(), tmp_path / "here")
    checkpoint.load(other.state_dict(), tmp_path / "here")
    assert_close(values(other), values(model))


@pytest.mark.parametrize("count", [0, 1, 7, 12])
@pytest.mark.parametrize("shuffle", [True, False])
def test_distributed_sampler_gives_each_sample_to_one_rank(count: int, shuffle: bool) -> None:
    parts = [[*DistributedSampler(range(count), 3, rank, shuffle)] for rank in range(3)]
    assert {len(part) for part in parts} == {-(-count // 3)}
    assert {index for part in parts for index in part} == set(range(count))
    short = [[*DistributedSampler(range(count), 3, rank, shuffle, drop_last=True)] for rank in range(3)]
    assert sorted({index for part in short for index in part}) == sorted(index for part in short for index in part)
    sampler = DistributedSampler(range(100), 2, 0)
    before = [*sampler]
    sampler.set_epoch(1)
    assert before != [*sampler] and len(sampler) == 50
    with pytest.raises(ts.InvalidValueError):
        DistributedSampler(range(3), 2, 2)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("even", [True, False])
def test_D9_sync_batch_norm_is_batch_norm_of_the_whole_batch(size: int, even: bool) -> None:
    rng = np.random.default_rng(size)
    whole, slopes = (rng.standard_normal((12, 4, 3)) * 3 + 100 for _ in range(2))
    cuts = [12 * r // size for r in range(size + 1)] if even else [0, *range(1, size), 12]

    def run(norm: nn.Module, rows: slice) -> list[np.ndarray]:
        norm.weight.data.copy_(ts.arange(4.0) + 0.5)
        results = []
        for _ in range(2):
            x = ts.from_numpy(whole[rows].copy()).requires_grad_()
            y = norm(x)
            (y * ts.from_numpy(slopes[rows].copy())).sum().backward()
            results += [y.detach().numpy(), x.grad.numpy()]
        return [*results, norm.weight.grad.numpy(), norm.bias.grad.numpy(), norm.running_mean.numpy(), norm.running_var.numpy()]

    expected = run(nn.BatchNorm1d(4, momentum=0.3, dtype=ts.float64), slice(None))

    def body(rank: int) -> list[np.ndarray]:
        norm = nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm1d(4, momentum=0.3, dtype=ts.float64))
        assert type(norm) is nn.SyncBatchNorm
        return run(norm, slice(cuts[rank], cuts[rank + 1]))

    got = on_ranks(size, body)
    for place in range(4):
        np.testing.assert_allclose(np.concatenate([each[place] for each in got]), expected[place], 1e-8, 1e-8)
    for place in (4, 5):  # gradients of parameters are each rank's own, for DistributedDataParallel to add up
        np.testing.assert_allclose(sum(each[place] for each in got), expected[place], 1e-8, 1e-6)
    for each in got:
        for place in (6, 7):
            np.testing.assert_allclose(each[place], expected[place], 1e-10)


def test_sync_batch_norm_converts_models_and_alone_it_is_batch_norm() -> None:
    model = nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3, momentum=None), nn.Sequential(nn.BatchNorm1d(2, affine=False)))
    twin = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert twin is model and type(model[1]) is nn.SyncBatchNorm and type(model[2][0]) is nn.SyncBatchNorm
    assert model[2][0].weight is None and model[1].momentum is None and [*model.state_dict()] == [
        "0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var", "1.num_batches_tracked",
        "2.0.running_mean", "2.0.running_var", "2.0.num_batches_tracked",
    ]  # fmt: skip
    x = batch(0)
    alone, plain = nn.SyncBatchNorm(12), nn.BatchNorm1d(12)
    np.testing.assert_array_equal(alone(x).detach().numpy(), plain(x).detach().numpy())
    np.testing.assert_array_equal(alone.eval()(x).detach().numpy(), plain.eval()(x).detach().numpy())
    with pytest.raises(ValueError, match=r"\(N, 12, ...\)"):
        alone(ts.ones(12))

    def body(rank: int) -> None:
        with pytest.raises(ValueError, match="more than 1 value"):
            nn.SyncBatchNorm(12)(x[:1] if rank == 0 else x[:0])

    on_ranks(2, body)
