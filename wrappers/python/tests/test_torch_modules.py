# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules and classes of tessera.torch beside its functions: storages, switches, absent modules, bases of layers, workers."""

from __future__ import annotations

import collections
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessera.torch as torch
import tessera.torch.nn.functional as F
from tessera.torch import nn
from tessera.torch.utils import data

# ---- powers of integers: what PyTorch 2.15 computes ----


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda t: 2 ** t([-1, 0, 2]), [0, 1, 4]),
        (lambda t: t([2, 1, -1, 0, -1]) ** t([-2, -3, -4, -1, -3]), [0, 1, 1, 0, -1]),
        (lambda t: torch.pow(-1, t([-1, -2])), [-1, 1]),
        (lambda t: torch.pow(t([-1], dtype=torch.int8), t([-128], dtype=torch.int8)), [1]),
        (lambda t: t([True]) ** t([-1]), [1]),
        (lambda t: t([[2, 1]]) ** t([[-1], [1]]), [[0, 1], [2, 1]]),
        (lambda t: t([2, 3]).pow_(t([1, -1])), [2, 0]),
        (lambda t: torch.pow(t([2, 3]), t([-1, 1]), out=torch.empty(2, dtype=torch.int64)), [0, 3]),
        (lambda t: t([2]) ** -1.0, [0.5]),
        (lambda t: 2.0 ** t([-1]), [0.5]),
    ],
)
def test_negative_powers_of_integers_are_cut(call: Any, expected: list[Any]) -> None:
    assert call(torch.tensor).tolist() == expected


def test_numbers_as_negative_exponents_of_integers_are_refused() -> None:
    x = torch.tensor([2, 3])
    for call in (lambda: x**-1, lambda: x.pow(-2), lambda: x.pow_(-1)):
        with pytest.raises(RuntimeError):
            call()
    x **= torch.tensor([-1, 2])
    assert x.tolist() == [0, 9]


def test_positive_is_the_tensor_itself_and_refuses_bools() -> None:
    x = torch.ones(2)
    assert +x is x and torch.positive(x) is x and x.positive() is x
    for call in (lambda: +torch.tensor([True]), lambda: torch.positive(torch.tensor([True]))):
        with pytest.raises(NotImplementedError):
            call()


# ---- errors that programs catch ----


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (NotImplementedError, lambda: torch.ones(2, dtype=torch.int64).mean()),
        (NotImplementedError, lambda: -torch.tensor([True])),
        (NotImplementedError, lambda: torch.ones(2) & torch.ones(2)),
        (TypeError, lambda: torch.ones(2)["a"]),
        (IndexError, lambda: torch.ones(2)[5]),
        (TypeError, lambda: f"{torch.ones(2):.2f}"),
        (RuntimeError, lambda: "a" in torch.ones(2)),
        (ValueError, lambda: torch.ones(2).type("nope")),
        (RuntimeError, lambda: torch.isclose(torch.ones(2), torch.tensor([1, 1]))),
        (AssertionError, lambda: data.TensorDataset(torch.ones(2), torch.ones(3))),
        (ValueError, lambda: data.RandomSampler([])),
        (ValueError, lambda: data.DataLoader([], shuffle=True)),
        (TypeError, lambda: data.RandomSampler([1], replacement=1)),  # type: ignore[arg-type]
    ],
)
def test_an_error_has_pytorchs_class(kind: type[Exception], call: Any) -> None:
    with pytest.raises(kind):
        call()


# ---- storages ----


def test_a_storage_is_the_memory_of_all_views() -> None:
    x = torch.ones(4, 3)
    bytes_ = x[2:].detach().untyped_storage()
    assert bytes_.nbytes() == bytes_.size() == len(bytes_) == 48
    assert bytes_.data_ptr() == x.data_ptr() and bytes_ == x.t().untyped_storage() and torch.is_storage(bytes_)
    elements = x[1].storage()
    assert elements.size() == 12 and elements.nbytes() == 48 and elements[0] == 1.0 and elements.dtype is torch.float32
    assert elements.untyped() == bytes_ and torch.empty(0).untyped_storage().size() == 0
    assert torch.tensor(3, dtype=torch.int16).untyped_storage().nbytes() == 2
    bytes_.resize_(48)
    with pytest.raises(NotImplementedError, match="resize_"):
        bytes_.resize_(0)


# ---- switches ----


def test_switches_of_attention_keep_what_they_are_told() -> None:
    cuda = torch.backends.cuda
    with nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH):
        assert [cuda.math_sdp_enabled(), cuda.flash_sdp_enabled(), cuda.mem_efficient_sdp_enabled(), cuda.cudnn_sdp_enabled()] == [
            True, False, False, False,
        ]  # fmt: skip
    with cuda.sdp_kernel(enable_flash=False):
        assert not cuda.flash_sdp_enabled() and cuda.math_sdp_enabled()
    assert cuda.flash_sdp_enabled()
    cuda.enable_cudnn_sdp(False)
    assert not cuda.cudnn_sdp_enabled()
    cuda.enable_cudnn_sdp(True)
    with torch.backends.cudnn.flags(enabled=False):
        assert not torch.backends.cudnn.enabled
    assert torch.backends.cudnn.enabled


def test_the_older_profiler_and_autocast() -> None:
    with torch.autograd.profiler.profile(record_shapes=True) as recorded:
        with torch.autograd.profiler.record_function("mine"):
            torch.ones(4, 4) @ torch.ones(4, 4)
    assert "mine" in recorded.key_averages().table(sort_by="self_cpu_time_total") and recorded.self_cpu_time_total > 0
    with torch.autograd.profiler.profile(enabled=False) as recorded:
        pass
    with pytest.raises(RuntimeError):
        recorded.key_averages()
    with torch.cpu.amp.autocast():
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.bfloat16


# ---- modules of which nothing is here ----


@pytest.mark.parametrize(
    ("path", "name"),
    [("fx", "symbolic_trace"), ("onnx", "export"), ("export", "export"), ("jit", "load"), ("distributed.fsdp", "FullyShardedDataParallel")],
)
def test_an_absent_module_is_imported_and_its_names_say_what_is_missing(path: str, name: str) -> None:
    module = importlib.import_module(f"tessera.torch.{path}")
    with pytest.raises(NotImplementedError, match=rf"^torch\.{path}\.{name} is not in tessera\.torch: there|parameters"):
        getattr(module, name)
    assert not hasattr(module, name)
    with pytest.raises(ImportError):
        exec(f"from tessera.torch.{path} import {name}")


def test_scripts_and_futures_of_torch_jit_run_at_once() -> None:
    class Double(torch.jit.ScriptModule):
        @torch.jit.script_method
        def forward(self, x: Any) -> Any:
            return x * 2

    assert Double()(torch.ones(1)).item() == 2
    assert torch.jit.wait(torch.jit.fork(torch.add, torch.ones(1), 1)).item() == 2
    assert not isinstance(nn.Linear(1, 1), torch.jit.ScriptModule)


# ---- bases of layers ----


@pytest.mark.parametrize(("mode", "kind"), [("RNN_TANH", "RNN"), ("GRU", "GRU"), ("LSTM", "LSTM")])
def test_a_recurrent_base_of_a_mode_is_the_layer(mode: str, kind: str) -> None:
    base, layer = nn.RNNBase(mode, 3, 4, num_layers=2, bidirectional=True), getattr(nn, kind)(3, 4, 2, bidirectional=True)
    base.load_state_dict(layer.state_dict())
    x = torch.randn(5, 2, 3)
    assert torch.equal(base(x)[0], layer(x)[0])
    assert isinstance(layer, nn.RNNBase) and base.mode == layer.mode == mode
    cell = getattr(nn, f"{kind}Cell")(3, 4)
    assert isinstance(cell, nn.RNNCellBase)
    assert nn.RNNCellBase(3, 4, True, 3).weight_ih.shape == (12, 3)


def test_attention_of_several_heads_as_a_function() -> None:
    layer, x = nn.MultiheadAttention(8, 2).eval(), torch.randn(5, 2, 8)
    weights = (layer.in_proj_weight, layer.in_proj_bias, None, None, False, 0.0, layer.out_proj.weight, layer.out_proj.bias)
    got, expected = F.multi_head_attention_forward(x, x, x, 8, 2, *weights, training=False), layer(x, x, x)
    assert torch.equal(got[0], expected[0]) and torch.equal(got[1], expected[1])
    assert F.multi_head_attention_forward(x, x, x, 8, 2, *weights, need_weights=False)[1] is None
    with pytest.raises(RuntimeError):
        F.multi_head_attention_forward(x, x, x, 6, 2, *weights)


def test_linear_cross_entropy_is_a_layer_and_a_loss() -> None:
    x, w, b, target = torch.randn(4, 3), torch.randn(5, 3), torch.randn(5), torch.tensor([0, 4, 2, 1])
    assert F.linear_cross_entropy(x, w, target, linear_bias=b) == F.cross_entropy(F.linear(x, w, b), target)


def test_containers_and_packed_sequences_have_pytorchs_methods() -> None:
    table = nn.ParameterDict({"a": torch.ones(1)})
    assert table.get("b") is None and table.setdefault("b", torch.ones(2)).shape == (2,)
    assert table.popitem()[0] == "b" and len(table) == 1
    packed = nn.utils.rnn.pack_sequence([torch.ones(2), torch.ones(1)])
    assert packed.double().data.dtype is torch.float64 and not packed.is_cuda and packed.cpu().batch_sizes.tolist() == [2, 1]
    assert not nn.Conv2d(1, 1, 1).transposed and nn.ConvTranspose1d(1, 1, 1).transposed


@pytest.mark.parametrize(
    "make",
    [
        lambda *last: nn.Linear(2, 3, True, *last),
        lambda *last: nn.Conv2d(1, 1, 1, 1, 0, 1, 1, True, "zeros", *last),
        lambda *last: nn.BatchNorm2d(3, 1e-5, 0.1, True, True, *last),
        lambda *last: nn.GroupNorm(1, 2, 1e-5, True, *last),
        lambda *last: nn.LSTMCell(1, 2, True, *last),
        lambda *last: nn.MultiheadAttention(4, 2, 0.0, True, False, False, None, None, True, *last),
    ],
)
def test_device_and_dtype_of_a_layer_may_be_given_by_their_places(make: Any) -> None:
    assert {p.dtype for p in make(None, torch.float64).parameters()} == {torch.float64}
    assert {p.dtype for p in make("cpu").parameters()} == {torch.float32}
    with pytest.raises(TypeError):
        make(None, None, 3)


def test_functions_with_an_underscore_that_programs_call() -> None:
    a = [torch.ones(2), torch.ones(1)]
    assert [t.tolist() for t in torch._foreach_add_(a, 1)] == [[2, 2], [2]] and a[0].tolist() == [2, 2]
    assert [t.tolist() for t in torch._foreach_add(a, [1.0, 2.0])] == [[3, 3], [4]]
    assert [t.tolist() for t in torch._foreach_addcmul(a, a, a, [1.0, 2.0])] == [[6, 6], [10]]
    assert [t.tolist() for t in torch._foreach_pow(2.0, a)] == [[4, 4], [4]]
    torch._assert(True, "right")
    with pytest.raises(AssertionError, match="wrong"):
        torch._assert(False, "wrong")
    with pytest.raises(RuntimeError, match="wrong"):
        torch._check(False, lambda: "wrong")
    torch._dynamo.config.suppress_errors = True
    with pytest.raises(NotImplementedError):
        torch._foreach_nothing  # noqa: B018


# ---- loading ----


def test_a_random_sampler_without_replacement_goes_on_with_another_order() -> None:
    drawn = list(data.RandomSampler(range(3), num_samples=7))
    assert sorted(drawn[:3]) == sorted(drawn[3:6]) == [0, 1, 2] and len(drawn) == 7


Pair = collections.namedtuple("Pair", "a b")


class Record(dict[str, Any]):
    pass


def texts(value: Any) -> Any:
    """The value with lists for tensors."""
    if isinstance(value, dict):
        return {key: texts(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [texts(item) for item in value]
    return value.tolist() if isinstance(value, torch.Tensor) else value


@pytest.mark.parametrize(
    ("batch", "kind", "expected"),
    [
        ([1.5, 2], torch.Tensor, [1.5, 2]),
        ([np.float32(1), np.float32(2)], torch.Tensor, [1, 2]),
        ([{"a": 1, "b": [1, 2.0]}, {"a": 3, "b": [4, 5.0]}], dict, {"a": [1, 3], "b": [[1, 4], [2, 5]]}),
        ([Record(a=1), Record(a=2)], Record, {"a": [1, 2]}),
        ([collections.OrderedDict(a=1), collections.OrderedDict(a=2)], collections.OrderedDict, {"a": [1, 2]}),
        ([Pair(1, "x"), Pair(2, "y")], Pair, [[1, 2], ["x", "y"]]),
        ([(1, (2, [3])), (4, (5, [6]))], list, [[1, 4], [[2, 5], [[3, 6]]]]),
        ([range(2), range(2)], list, [[0, 0], [1, 1]]),
    ],
)
def test_default_collate_of_nested_samples(batch: Any, kind: type, expected: Any) -> None:
    made = data.default_collate(batch)
    assert type(made) is kind and texts(made) == expected


def test_default_collate_refuses_as_pytorch_does_and_takes_more_types() -> None:
    wrong: list[tuple[type[Exception], Any]] = [
        (TypeError, [None]), (RuntimeError, [[1, 2], [3]]), (TypeError, [torch.ones(1), 2.0]), (KeyError, [{"a": 1}, {"b": 1}]),
    ]  # fmt: skip
    for error, batch in wrong:
        with pytest.raises(error):
            data.default_collate(batch)
    assert isinstance(data.default_collate([("a", 1), ("b", 2)])[0], tuple)
    table = {**data._utils.collate.default_collate_fn_map, complex: lambda batch, *, collate_fn_map: "made"}
    assert data._utils.collate.collate([1j, 2j], collate_fn_map=table) == "made"
    assert isinstance(data.default_convert([(1, "a")])[0], list)


def test_a_loader_keeps_what_collate_fn_makes_and_knows_its_length() -> None:
    rows = data.TensorDataset(torch.arange(4))
    assert isinstance(next(iter(data.DataLoader(rows, 2))), list)
    assert isinstance(next(iter(data.DataLoader(rows, 2, collate_fn=lambda batch: (1, 2)))), tuple)
    batches = iter(data.DataLoader(rows, 3))
    assert len(batches) == 2 and len(next(batches)[0]) == 3
    loader = data.DataLoader(rows, batch_sampler=[[0, 1], [3]])
    assert loader.batch_size is None and loader.prefetch_factor is None and len(loader) == 2
    for wrong in ({"batch_size": None, "drop_last": True}, {"prefetch_factor": 2}):
        with pytest.raises(ValueError):
            data.DataLoader(rows, **wrong)
    with pytest.raises(ValueError):
        data.random_split(range(10), [0.5, 0.6])
    assert list(data.distributed.DistributedSampler(range(10), 3, 1, shuffle=False)) == [1, 4, 7, 0]


_WORKERS = """
import torch, torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

class Squares(Dataset):
    def __len__(self):
        return 5
    def __getitem__(self, i):
        return torch.tensor(float(i * i))

def work(rank, queue):
    queue.put(str(torch.full((1,), rank)))

if __name__ == "__main__":
    for start in (None, "spawn"):
        collate = None if start else lambda batch: torch.stack(batch)
        loader = DataLoader(Squares(), 2, num_workers=2, multiprocessing_context=start, collate_fn=collate)
        print([batch.tolist() for batch in loader])
    queue = mp.get_context("spawn").SimpleQueue()
    mp.spawn(work, (queue,), nprocs=1)
    print(queue.get())
"""


def test_workers_of_an_unchanged_program_import_the_same_torch(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(_WORKERS)
    done = subprocess.run([sys.executable, "-m", "tessera.torch", str(program)], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [*["[[0.0, 1.0], [4.0, 9.0], [16.0]]"] * 2, "tensor([0])"], done.stderr
