# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""[AMP] Mixed precision: the lists of autocast, its regions and its cache, and GradScaler. [E12] A backward keeps its dtypes."""

from __future__ import annotations

import copy
import itertools
import json
import math
import pickle
import threading
import warnings
from pathlib import Path
from typing import Any

import conformance
import numpy as np
import pytest

import tessera as ts
import tessera.nn.functional as F
from tessera import nn, optim
from tessera.amp import (
    GradScaler,
    autocast,
    clear_autocast_cache,
    custom_bwd,
    custom_fwd,
    get_autocast_dtype,
    is_autocast_available,
    is_autocast_cache_enabled,
    is_autocast_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)

HALVES = [ts.float16, ts.bfloat16]
SCHEMA = json.loads((Path(__file__).resolve().parents[3] / "capi/generated/schema.json").read_text("utf-8"))
LISTS = {name: op["autocast"] for name, op in SCHEMA["ops"].items() if op["autocast"]}
LISTED = [name for name, kind in LISTS.items() if kind != "refuse"]

# ---- every listed operator ----


def cases(name: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The calls of an operator on real floating tensors, without an explicit dtype; also those whose results are random."""
    ops = [op for family in conformance.families() for op in family["ops"] if op["op"] == name]
    return [
        (op, {**case, "form": "functional"})
        for op in ops
        for case in op["cases"]
        if "functional" in case["functions"] and "error" not in case and "dtype" not in case["in"] and floating(op, case)
    ]


def floating(op: dict[str, Any], case: dict[str, Any]) -> list[str]:
    """The keys of the real floating tensors of a case, none if a complex one is among its tensors."""
    types = {arg["name"]: arg["type"] for arg in op["args"]}
    tensors = {n: v for n, v in case["in"].items() if types[n].startswith("tensor")}
    if any(isinstance(v, dict) and "pairs" in v for v in tensors.values()):
        return []
    found = [key for key in conformance.keys(list(tensors.values())) if key in conformance.vectors()]
    dtypes = {conformance.vectors()[key].dtype for key in found}
    return [] if any(d.is_complex for d in dtypes) else [k for k in found if conformance.vectors()[k].dtype.is_floating_point]


WITHOUT_DERIVATIVE = {"geqrf", "ldl_factor", "ldl_factor_ex", "ldl_solve"}  # they refuse tensors that require grad


def arguments(op: dict[str, Any], case: dict[str, Any], dtypes: Any) -> tuple[dict[str, Any], list[ts.Tensor]]:
    """The arguments of a case, its floating tensors as leaves of the dtypes, in turn; and these leaves."""
    types = {arg["name"]: arg["type"] for arg in op["args"]}
    leaves: list[ts.Tensor] = []

    def changed(value: Any) -> Any:
        if isinstance(value, list):
            return [changed(one) for one in value]
        if not isinstance(value, ts.Tensor) or not value.dtype.is_floating_point:
            return value
        leaves.append(value.astype(next(dtypes), copy=True).requires_grad_(op["op"] not in WITHOUT_DERIVATIVE))
        return leaves[-1]

    given = {n: conformance.value_of(types[n], v, False) for n, v in case["in"].items()}
    return {n: changed(v) if types[n].startswith("tensor") else v for n, v in given.items()}, leaves


def results(found: Any) -> list[ts.Tensor]:
    listed = found if isinstance(found, (list, tuple)) else [found]
    return [t for t in listed if isinstance(t, ts.Tensor) and (t.dtype.is_floating_point or t.dtype.is_complex)]


@pytest.mark.parametrize("name", LISTED)
def test_operator_gives_the_dtype_of_its_list(name: str) -> None:
    """[AMP] The results have the dtype that the list says, gradients that of the tensors that were given."""
    kind = LISTS[name]
    given = {"lower": [ts.float32], "float32": [ts.bfloat16], "promote": [ts.bfloat16, ts.float32]}[kind]
    expected = {ts.bfloat16} if kind == "lower" else {ts.float32, ts.complex64}
    looked = 0
    for op, case in cases(name):
        values, leaves = arguments(op, case, itertools.cycle(given))
        if len({leaf.dtype for leaf in leaves}) < len(given):
            continue
        with autocast("cpu", ts.bfloat16):
            found = results(conformance.call(op, case, values))
        assert {t.dtype for t in found} <= expected, case["name"]
        roots = [t for t in found if t.requires_grad]
        if roots:
            ts.autograd.backward(roots, [ts.ones_like(t) for t in roots])
        for leaf in leaves:
            assert leaf.grad is None or leaf.grad.dtype is leaf.dtype, case["name"]
        looked += 1
    assert looked or name == "fft_irfft2", f"{name}: no case with floating tensors"


def test_results_of_the_lists_that_no_case_shows() -> None:
    with autocast("cpu", ts.bfloat16):
        assert ts.fft.irfft2(ts.ones((2, 2), dtype=ts.bfloat16)).dtype is ts.float32  # its cases are complex
        assert ts.linalg.matrix_rank(ts.ones((2, 2), dtype=ts.bfloat16)).item() == 1  # it returns integers


def test_lists_hold_what_pytorch_documents() -> None:
    """[AMP] Rows of the specification, under the library's names."""
    lower = "matmul addmm mm bmm mv linear conv1d conv2d conv3d conv_transpose2d prelu lstm gru lstm_cell gru_cell rnn_tanh_cell"
    float32 = "pow exp log log1p softmax log_softmax sum prod cumulative_sum cumulative_prod norm layer_norm group_norm cdist rsqrt"
    losses = "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss kl_div binary_cross_entropy_with_logits ctc_loss"
    promote = "addcmul addcdiv concat stack dot index_put scatter_add atan2 grid_sample cross bilinear tensordot"
    for kind, names in (("lower", lower), ("float32", float32), ("float32", losses), ("promote", promote)):
        assert {LISTS.get(name) for name in names.split()} == {kind}
    assert [name for name, kind in LISTS.items() if kind == "refuse"] == ["binary_cross_entropy"]
    assert not {"add", "multiply", "relu", "mean", "batch_norm", "dropout", "max_pool2d"} & LISTS.keys()


def test_promotion_leaves_one_dtype_alone() -> None:
    halves = [ts.ones(2, dtype=ts.bfloat16)] * 2
    with autocast("cpu", ts.bfloat16):
        assert ts.stack(halves).dtype is ts.bfloat16
        assert ts.concat([halves[0], ts.ones(2)]).dtype is ts.float32
        assert ts.concat([halves[0], ts.ones(2, dtype=ts.float16)]).dtype is ts.float32


def test_refused_operator_names_the_safe_one() -> None:
    p, t = ts.full((2,), 0.5), ts.ones(2)
    with autocast("cpu"):
        with pytest.raises(ts.DTypeError, match="binary_cross_entropy_with_logits"):
            F.binary_cross_entropy(p, t)
        assert F.binary_cross_entropy(p.astype(ts.float64), t.astype(ts.float64)).dtype is ts.float64
        assert F.binary_cross_entropy_with_logits(p.astype(ts.bfloat16), t).dtype is ts.float32


@pytest.mark.parametrize("dtype", [ts.float64, ts.int64, ts.complex64])
def test_other_dtypes_are_not_eligible(dtype: ts.DType) -> None:
    a = ts.ones((2, 2), dtype=dtype)
    with autocast("cpu"):
        assert (a @ a).dtype is dtype
        # Nor is the other factor cast, except beside integers.
        with pytest.raises(ts.DTypeError, match="got bfloat16" if dtype is ts.int64 else "got float32"):
            ts.mm(a, ts.ones((2, 2)))


def test_in_place_and_out_forms_are_not_eligible() -> None:
    a, b = ts.ones((2, 2)), ts.ones((2, 2))
    with autocast("cpu"):
        assert ts.matmul(a, a, out=b).dtype is ts.float32
        assert a.exp_().dtype is ts.float32
        half = ts.ones(2, dtype=ts.bfloat16)
        assert half.exp_().dtype is ts.bfloat16


# ---- regions ----


def product() -> ts.DType:
    a = ts.ones((2, 2))
    return (a @ a).dtype


@pytest.mark.parametrize("dtype", HALVES)
def test_regions_nest(dtype: ts.DType) -> None:
    with autocast("cpu", dtype):
        assert product() is dtype
        with autocast("cpu", enabled=False):
            assert product() is ts.float32
            with autocast("cpu", ts.bfloat16):
                assert product() is ts.bfloat16
        assert product() is dtype
        with autocast("cuda", ts.float16):  # another kind of device
            assert product() is dtype
    assert product() is ts.float32


def test_one_object_may_be_entered_again() -> None:
    region = autocast("cpu", ts.float16)
    with region, region:
        assert product() is ts.float16
    assert product() is ts.float32


def test_decorator() -> None:
    @autocast("cpu", ts.float16)
    def inside(times: int) -> ts.DType:
        """A docstring."""
        return product() if times == 0 else inside(times - 1)

    assert inside(2) is ts.float16
    assert inside.__doc__ == "A docstring."
    assert product() is ts.float32


def test_region_ends_with_an_exception() -> None:
    with pytest.raises(ZeroDivisionError), autocast("cpu"):
        raise ZeroDivisionError
    assert not is_autocast_enabled("cpu")


def test_state_belongs_to_the_thread() -> None:
    seen = []
    with autocast("cpu", ts.float16):
        thread = threading.Thread(target=lambda: seen.append(product()))
        thread.start()
        thread.join()
        assert product() is ts.float16
    assert seen == [ts.float32]


def test_settings() -> None:
    assert is_autocast_available("cpu")
    assert not is_autocast_available("toaster")
    assert (get_autocast_dtype("cpu"), get_autocast_dtype("cuda")) == (ts.bfloat16, ts.float16)
    assert is_autocast_cache_enabled()
    with autocast("cpu", cache_enabled=False):
        assert not is_autocast_cache_enabled()
    assert is_autocast_cache_enabled()
    set_autocast_dtype("cpu", ts.float16)
    set_autocast_enabled("cpu", True)
    try:
        assert product() is ts.float16
    finally:
        set_autocast_enabled("cpu", False)
        set_autocast_dtype("cpu", ts.bfloat16)
    assert product() is ts.float32


def test_wrong_settings() -> None:
    with pytest.raises(ts.DTypeError, match="float16 or bfloat16"):
        autocast("cpu", ts.float32).__enter__()
    with pytest.raises(ts.DeviceError, match="toaster"):
        autocast("toaster")
    with pytest.raises(TypeError):
        autocast(1)  # type: ignore[arg-type]


# ---- the cache ----


def test_gradient_of_a_cached_cast_reaches_the_float32_weight() -> None:
    weight = ts.ones((2, 2), requires_grad=True)
    x = ts.ones((2, 2))
    with autocast("cpu", ts.bfloat16):
        for _ in range(2):
            ((x @ weight).sum() + (x @ weight).sum()).backward()
    assert weight.grad.dtype is ts.float32
    np.testing.assert_array_equal(weight.grad.numpy(), np.full((2, 2), 8.0))


def test_written_weight_is_cast_again() -> None:
    weight = ts.ones((1, 1), requires_grad=True)
    x = ts.ones((1, 1))
    with autocast("cpu", ts.bfloat16):
        assert (x @ weight).item() == 1
        with ts.no_grad():
            weight.fill_(3)
        assert (x @ weight).item() == 3
        clear_autocast_cache()
        assert (x @ weight).item() == 3


def test_cache_of_no_grad_is_not_used_for_training() -> None:
    layer = nn.Linear(2, 1)
    x = ts.ones((1, 2))
    with autocast("cpu"):
        with ts.no_grad():
            layer(x)
        layer(x).sum().backward()
    assert layer.weight.grad is not None
    np.testing.assert_array_equal(layer.weight.grad.numpy(), [[1.0, 1.0]])


# ---- derivatives and custom functions ----


def test_backward_is_not_cast() -> None:
    """[E12] The formulas of a backward compute in the dtypes of the forward, whatever holds when it runs."""
    a = ts.full((1, 1), 1 / 3, requires_grad=True)
    out = a @ ts.full((1, 1), 1 / 3)
    with autocast("cpu", ts.bfloat16):
        out.backward()
    assert a.grad.item() == np.float32(1 / 3)


def test_double_backward() -> None:
    x = ts.ones((2, 2), requires_grad=True)
    with autocast("cpu", ts.bfloat16):
        (g,) = ts.autograd.grad((x @ x).sum(), x, create_graph=True)
        (g * g).sum().backward()
    assert x.grad.dtype is ts.float32
    np.testing.assert_array_equal(x.grad.numpy(), np.full((2, 2), 32.0))


class Product(ts.autograd.Function):
    """Notes the dtypes of its products."""

    seen: list[ts.DType] = []

    @staticmethod
    @custom_fwd(device_type="cpu")
    def forward(ctx: Any, a: ts.Tensor, b: ts.Tensor) -> ts.Tensor:
        ctx.save_for_backward(a, b)
        out = a @ b
        Product.seen.append(out.dtype)
        return out

    @staticmethod
    @custom_bwd(device_type="cpu")
    def backward(ctx: Any, grad: ts.Tensor) -> Any:
        a, b = ctx.saved_tensors
        Product.seen.append((a @ b).dtype)
        return grad.astype(ts.float32) @ b.astype(ts.float32).T, a.astype(ts.float32).T @ grad.astype(ts.float32)


def test_custom_function_runs_in_the_state_of_its_forward() -> None:
    Product.seen.clear()
    a = ts.ones((2, 2), requires_grad=True)
    with autocast("cpu", ts.float16):
        out = Product.apply(a, a)
    out.sum().backward()
    assert Product.seen == [ts.float16, ts.float16]
    Product.seen.clear()
    out = Product.apply(a, a)
    with autocast("cpu", ts.float16):
        out.sum().backward()
    assert Product.seen == [ts.float32, ts.float32]


class Exact(ts.autograd.Function):
    @staticmethod
    @custom_fwd(device_type="cpu", cast_inputs=ts.float32)
    def forward(ctx: Any, a: ts.Tensor, others: Any) -> ts.Tensor:
        assert not is_autocast_enabled("cpu")
        assert others["b"][0].dtype is ts.float32
        assert others["d"].dtype is ts.float64
        return a @ a

    @staticmethod
    @custom_bwd(device_type="cpu")
    def backward(ctx: Any, grad: ts.Tensor) -> Any:
        assert not is_autocast_enabled("cpu")
        return grad, None


def test_custom_function_with_cast_inputs() -> None:
    a = ts.ones((2, 2), dtype=ts.bfloat16, requires_grad=True)
    with autocast("cpu", ts.bfloat16):
        out = Exact.apply(a, {"b": [a.detach()], "d": ts.ones(1, dtype=ts.float64)})
        assert out.dtype is ts.float32
        out.sum().backward()
    assert a.grad.dtype is ts.bfloat16


# ---- GradScaler ----


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.float16, ts.bfloat16])
@pytest.mark.parametrize("count", [1, 7, 8, 1023, 1025, 100003])
def test_unscale_sees_every_element(count: int, dtype: ts.DType) -> None:
    """One pass divides and looks; a number that is not finite is found wherever it stands, among several gradients."""
    for bad, place in itertools.product([None, math.inf, -math.inf, math.nan], [0, count // 2, count - 1]):
        numbers = (np.arange(count) % 64).astype(np.float64)
        if bad is not None:
            numbers[place] = bad
        gradients = [ts.ones((2, 3), dtype=dtype), ts.asarray(numbers).astype(dtype), ts.zeros(0, dtype=dtype)]
        found = ts.zeros(())
        optim.functional.amp_unscale_(gradients, found, ts.full((), 0.5))
        assert found.item() == (bad is not None)
        np.testing.assert_array_equal(gradients[1].astype(ts.float64).numpy(), numbers * 0.5)
        np.testing.assert_array_equal(gradients[0].astype(ts.float64).numpy(), np.full((2, 3), 0.5))



def trained_once(
    gradient: float, *, scaler: GradScaler, dtype: ts.DType = ts.float32
) -> tuple[ts.Tensor, optim.Optimizer, Any]:
    w = ts.ones(2, dtype=dtype, requires_grad=True)
    optimizer = optim.SGD([w], lr=1.0)
    scaler.scale(ts.ones(()))
    w.grad = ts.asarray([gradient, 8.0], dtype=dtype)
    return w, optimizer, scaler.step(optimizer)


def test_scaler_divides_and_steps() -> None:
    scaler = GradScaler(init_scale=8.0)
    assert scaler.scale(ts.asarray(3.0)).item() == 24
    first, second = scaler.scale([ts.asarray(1.0), ts.asarray(2.0)])
    assert (first.item(), second.item()) == (8, 16)
    for wrong in (3.0, "loss", {"loss": ts.ones(())}):
        with pytest.raises(TypeError, match="expected a Tensor or Tensors, got (float|str)"):
            scaler.scale(wrong)
    w, _, _ = trained_once(16.0, scaler=scaler)
    np.testing.assert_array_equal(w.detach().numpy(), [-1.0, 0.0])
    scaler.update()
    assert (scaler.get_scale(), scaler._get_growth_tracker()) == (8, 1)


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.bfloat16])
@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_scaler_skips_what_is_not_finite(bad: float, dtype: ts.DType) -> None:
    scaler = GradScaler(init_scale=8.0, backoff_factor=0.25)
    w, _, returned = trained_once(bad, scaler=scaler, dtype=dtype)
    assert returned is None
    np.testing.assert_array_equal(w.detach().astype(ts.float32).numpy(), [1.0, 1.0])
    scaler.update()
    assert scaler.get_scale() == 2


def test_scaler_grows() -> None:
    scaler = GradScaler(init_scale=8.0, growth_factor=4.0, growth_interval=3)
    for expected in (8, 8, 32, 32, 32, 128):
        trained_once(1.0, scaler=scaler)
        scaler.update()
        assert scaler.get_scale() == expected


def test_scaler_works_with_optimizers_of_python() -> None:
    class Own(optim.Optimizer):
        def __init__(self, params: Any) -> None:
            super().__init__(params, {"lr": 1.0})

        def step(self, closure: Any = None) -> Any:
            for group in self.param_groups:
                for p in group["params"]:
                    with ts.no_grad():
                        p -= group["lr"] * p.grad
            return "stepped"

    w = ts.ones(1, requires_grad=True)
    optimizer, scaler = Own([w]), GradScaler(init_scale=8.0)
    scaler.scale(ts.ones(()))
    w.grad = ts.asarray([4.0])
    scaler.unscale_(optimizer)
    assert w.grad.item() == 0.5
    assert scaler.step(optimizer) == "stepped"
    assert w.item() == 0.5
    scaler.update()
    w.grad = ts.asarray([math.inf])
    assert scaler.step(optimizer) is None
    assert w.item() == 0.5
    scaler.update(new_scale=3.0)
    assert scaler.get_scale() == 3


def test_scaler_clips_between_unscale_and_step() -> None:
    w = ts.ones(2, requires_grad=True)
    optimizer, scaler = optim.SGD([w], lr=1.0), GradScaler(init_scale=8.0)
    scaler.scale(ts.ones(()))
    w.grad = ts.asarray([24.0, 32.0])
    scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_([w], 1.0)
    assert norm.item() == 5
    scaler.step(optimizer)
    np.testing.assert_allclose(w.detach().numpy(), [0.4, 0.2], rtol=1e-5)


def test_scaler_refuses_calls_out_of_order() -> None:
    w = ts.ones(1, requires_grad=True)
    optimizer, scaler = optim.SGD([w], lr=1.0), GradScaler()
    w.grad = ts.ones(1)
    with pytest.raises(RuntimeError, match="before the first"):
        scaler.step(optimizer)
    scaler.scale(ts.ones(()))
    with pytest.raises(RuntimeError, match="since the last update, got none"):
        scaler.update()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="after the step"):
        scaler.unscale_(optimizer)
    with pytest.raises(NotImplementedError, match="closure"):
        scaler.step(optimizer, closure=lambda: 0)
    scaler.update()
    w.grad = None
    with pytest.raises(RuntimeError, match="gradient"):
        scaler.step(optimizer)
    half = ts.ones(1, dtype=ts.float16, requires_grad=True)
    half.grad = ts.ones(1, dtype=ts.float16)
    with pytest.raises(ValueError, match="float16"):
        scaler.unscale_(optim.SGD([half], lr=1.0))


def test_scaler_that_is_not_enabled() -> None:
    scaler = GradScaler(enabled=False)
    loss = ts.ones(1, requires_grad=True)
    assert scaler.scale(loss) is loss or scaler.scale(loss).item() == 1
    assert (scaler.get_scale(), scaler.is_enabled(), scaler.state_dict()) == (1.0, False, {})
    optimizer = optim.SGD([loss], lr=1.0)
    loss.grad = ts.asarray([math.inf])
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert loss.item() == -math.inf


def test_scaler_state() -> None:
    scaler = GradScaler(init_scale=1024.0, growth_factor=3.0, backoff_factor=0.25, growth_interval=7)
    trained_once(1.0, scaler=scaler)
    scaler.update()
    saved = scaler.state_dict()
    assert saved == {
        "scale": 1024.0, "growth_factor": 3.0, "backoff_factor": 0.25, "growth_interval": 7, "_growth_tracker": 1,
    }  # fmt: skip
    other = GradScaler()
    other.load_state_dict(saved)
    assert other.state_dict() == saved
    assert pickle.loads(pickle.dumps(scaler)).state_dict() == saved
    assert copy.deepcopy(scaler).state_dict() == saved
    with pytest.raises(ValueError, match="enabled"):
        other.load_state_dict({})
    for change in ({"growth_factor": 1.0}, {"backoff_factor": 1.0}, {"growth_interval": 0}, {"scale": math.inf}):
        with pytest.raises(ValueError, match="expected"):
            other.load_state_dict(saved | change)
        assert other.state_dict() == saved
    other.set_growth_factor(5.0)
    other.set_backoff_factor(0.125)
    other.set_growth_interval(9)
    assert (other.get_growth_factor(), other.get_backoff_factor(), other.get_growth_interval()) == (5, 0.125, 9)


def test_scaler_file(tmp_path: Path) -> None:
    """The file is JSON in the metadata of a safetensors file."""
    scaler = GradScaler(init_scale=1024.0, growth_interval=7)
    path = tmp_path / "scaler.safetensors"
    scaler.save(path)
    assert json.loads(ts.io.load_metadata(path)["tessera.grad_scaler"]) == scaler.state_dict()
    other = GradScaler()
    other.load(path)
    assert other.state_dict() == scaler.state_dict()
    GradScaler(enabled=False).save(path)
    with pytest.raises(ValueError, match="enabled"):
        other.load(path)
    assert other.state_dict() == scaler.state_dict()
    with pytest.raises(FileNotFoundError):
        other.load(tmp_path / "none")


def test_scaler_file_of_all_languages(tmp_path: Path) -> None:
    """The shared test: every language reads tests/conformance/grad_scaler.safetensors and writes the same bytes."""
    shared = conformance.FOLDER / "grad_scaler.safetensors"
    scaler = GradScaler()
    scaler.load(shared)
    assert scaler.state_dict() == {
        "scale": 1024.0, "growth_factor": 3.0, "backoff_factor": 0.25, "growth_interval": 7, "_growth_tracker": 5,
    }  # fmt: skip
    scaler.save(tmp_path / "scaler")
    assert (tmp_path / "scaler").read_bytes() == shared.read_bytes()


# ---- training ----


def digits(dtype: ts.DType | None) -> float:
    """A smaller run of examples/python/digits.py: the accuracy on images that were not trained on."""
    from sklearn.datasets import load_digits

    images, classes = load_digits(return_X_y=True)
    x = ts.from_numpy((images / 16).astype(np.float32).reshape(-1, 1, 8, 8)[:1200])
    y = ts.from_numpy(classes.astype(np.int64)[:1200])
    ts.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(256, 10)
    )
    optimizer = optim.AdamW(model.parameters(), lr=1e-2)
    scaler = GradScaler(enabled=dtype is ts.float16)
    for _, start in itertools.product(range(5), range(0, 1000, 100)):
        optimizer.zero_grad()
        with autocast("cpu", dtype, enabled=dtype is not None):
            loss = F.cross_entropy(model(x[start : start + 100]), y[start : start + 100])
        assert loss.dtype is ts.float32
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    assert all(p.dtype is ts.float32 for p in model.parameters())
    model.eval()
    with ts.no_grad():
        right = ts.argmax(model(x[1000:]), axis=1) == y[1000:]
    return float(right.astype(ts.float32).mean().item())


def test_training_of_digits_reaches_the_accuracy_of_float32() -> None:
    """[AMP] float16 and bfloat16; examples/python/digits.py --amp is the whole run."""
    exact = digits(None)
    assert exact > 0.93
    for dtype in HALVES:
        assert abs(digits(dtype) - exact) <= 0.02


# ---- tessera.torch ----


def test_torch_names() -> None:
    import tessera.torch as torch

    a = torch.ones(2, 2)
    with torch.autocast("cpu", dtype=torch.float16):
        assert torch.is_autocast_enabled("cpu")
        assert torch.is_autocast_cpu_enabled()
        assert torch.get_autocast_dtype("cpu") is torch.float16
        assert (a @ a).dtype is torch.float16
        assert isinstance(a @ a, torch.Tensor)
    with torch.cuda.amp.autocast():
        assert torch.is_autocast_enabled()
        assert torch.get_autocast_gpu_dtype() is torch.float16
        assert (a @ a).dtype is torch.float32
    with torch.amp.autocast("cpu"):
        assert (a @ a).dtype is torch.bfloat16
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with torch.autocast("cpu", dtype=torch.float32):
            assert (a @ a).dtype is torch.float32
    assert len(caught) == 1
    assert torch.amp.GradScaler("cpu", init_scale=4.0).get_scale() == 4
    assert torch.cuda.amp.GradScaler(4.0).get_scale() == 4
    assert torch.GradScaler().state_dict()["scale"] == 65536

    @torch.cuda.amp.autocast()
    def inside() -> bool:
        return bool(torch.is_autocast_enabled())

    assert inside()
    torch.set_autocast_cpu_enabled(True)
    try:
        assert (a @ a).dtype is torch.get_autocast_cpu_dtype()
    finally:
        torch.set_autocast_enabled("cpu", False)


def test_torch_training_step() -> None:
    import tessera.torch as torch

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    before = model.weight.detach().clone()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = torch.nn.functional.mse_loss(model(torch.ones(2, 4)), torch.zeros(2, 1))
    assert loss.dtype is torch.float32
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    assert not bool((model.weight == before).all())
