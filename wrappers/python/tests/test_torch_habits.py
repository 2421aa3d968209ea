# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.torch: habits of PyTorch's programs that small programs, run under both libraries, found to be missing."""

from __future__ import annotations

import copy
import subprocess
import sys
from typing import Any

import pytest

import tessera as ts
import tessera.torch as torch
from tessera.torch import nn
from tessera.torch.utils.data import ConcatDataset


def under_tessera(program: str) -> list[str]:
    """The lines that a program prints which imports torch."""
    command = [sys.executable, "-c", f"from tessera.torch import _as_torch; _as_torch.install()\n{program}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


# ---- results ----


@pytest.mark.parametrize("module", [torch.nn, ts.nn])
def test_the_keys_of_load_state_dict_can_be_unpacked(module: Any) -> None:
    layer = module.Linear(2, 1)
    missing, unexpected = layer.load_state_dict({"bias": layer.bias.detach(), "other": layer.bias.detach()}, strict=False)
    assert (missing, unexpected) == (["weight"], ["other"])
    found = layer.load_state_dict({}, strict=False)
    assert found.missing_keys == found[0] == ["weight", "bias"] and len(found) == 2
    assert str(layer.load_state_dict(layer.state_dict())) == "<All keys matched successfully>"


def test_keys_that_do_not_match_print_as_pytorchs() -> None:
    found = nn.Linear(1, 1, bias=False).load_state_dict({}, strict=False)
    assert repr(found) == "_IncompatibleKeys(missing_keys=['weight'], unexpected_keys=[])"


def test_a_hook_after_loading_may_forgive_a_missing_key() -> None:
    layer = nn.Linear(1, 1)
    layer.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    assert layer.load_state_dict({}, strict=False).missing_keys == []


@pytest.mark.parametrize("name, fields", [
    ("qr", "Q R"), ("slogdet", "sign logabsdet"), ("eigh", "eigenvalues eigenvectors"), ("eig", "eigenvalues eigenvectors"),
    ("svd", "U S Vh"), ("lu", "P L U"), ("lu_factor", "LU pivots"), ("cholesky_ex", "L info"), ("inv_ex", "inverse info"),
])  # fmt: skip
def test_results_of_linalg_print_and_unpack_as_pytorchs(name: str, fields: str) -> None:
    found = getattr(torch.linalg, name)(torch.eye(2) * 2)
    assert repr(found).startswith(f"torch.return_types.linalg_{name}(\n{fields.split()[0]}=tensor(")
    assert [torch.equal(getattr(found, field), item) for field, item in zip(fields.split(), found, strict=True)].count(False) == 0
    given = [torch.empty(0, dtype=item.dtype) for item in found]
    assert torch.equal(getattr(torch.linalg, name)(torch.eye(2) * 2, out=given)[0], given[0])


def test_lstsq_prints_as_pytorchs() -> None:
    assert repr(torch.linalg.lstsq(torch.eye(2), torch.eye(2))).startswith("torch.return_types.linalg_lstsq(\nsolution=")


# ---- modules ----


def test_files_of_pytorchs_packages_are_attributes_too() -> None:
    assert callable(torch.nn.utils.clip_grad.clip_grad_norm_)
    assert callable(torch.nn.utils.convert_parameters.parameters_to_vector) and callable(torch.nn.utils.fusion.fuse_conv_bn_eval)
    assert torch.amp.autocast_mode.autocast is torch.autocast and torch.amp.grad_scaler.GradScaler is torch.amp.GradScaler
    assert torch.cuda.amp.grad_scaler.GradScaler is torch.cuda.amp.GradScaler
    assert not hasattr(torch.nn.utils, "no_such_file") and not hasattr(torch.amp, "no_such_file")


# ---- texts ----


def test_a_device_prints_as_pytorchs_in_programs_that_import_torch() -> None:
    assert under_tessera("import torch; print(repr(torch.device('cpu')), torch.device('cuda:1'), [torch.device('cuda:1')])") == [
        "device(type='cpu') cuda:1 [device(type='cuda', index=1)]"
    ]
    assert repr(torch.device("cpu")) == "device('cpu')"


def test_a_dict_of_parameters_names_their_types() -> None:
    assert "(w): Parameter containing: [torch.FloatTensor of size 2x3]" in repr(nn.ParameterDict({"w": torch.ones(2, 3)}))
    assert "(0): Parameter containing: [torch.float32 of size 2]" in repr(nn.ParameterList([torch.ones(2)]))


# ---- errors by their type ----


def test_an_index_before_the_first_sample_is_both_kinds_of_error() -> None:
    samples = ConcatDataset([[1, 2], [3]])
    assert [*samples] == [1, 2, 3] and samples[-3] == 1
    for kind in (ValueError, IndexError):
        with pytest.raises(kind):
            samples[-4]


# ---- tensors of another class, dtypes ----


class Marked(torch.Tensor):
    def marked(self) -> str:
        return "marked"


def test_as_subclass_is_the_same_tensor_as_an_object_of_the_class() -> None:
    x = torch.ones(3, requires_grad=True)
    y = (x * 2).as_subclass(Marked)
    assert type(y) is Marked and y.marked() == "marked" and y.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    z = torch.zeros(2)
    z.as_subclass(Marked).add_(1)
    assert z.tolist() == [1, 1] and type(torch.Tensor.as_subclass(y, torch.Tensor)) is torch.Tensor
    with pytest.raises(TypeError, match="as_subclass"):
        z.as_subclass(int)
    made = torch.Tensor._make_subclass(Marked, z, True)
    assert type(made) is Marked and made.requires_grad and made.is_leaf and not z.requires_grad
    made.detach().fill_(5)
    assert z.tolist() == [5, 5]


def test_dtypes_know_their_complex_and_their_real_one() -> None:
    assert torch.float64.to_complex() is torch.complex128 and torch.complex64.to_real() is torch.float32
    assert torch.float32.to_complex() is torch.complex64 and torch.complex128.to_real() is torch.float64
    assert torch.float32.to_real() is torch.float32 and torch.complex64.to_complex() is torch.complex64


def test_dense_tensors_answer_what_programs_ask_sparse_ones() -> None:
    x = torch.ones(2)
    assert x.to_dense() is x and x.to_dense(torch.float64).dtype is torch.float64
    assert not x.is_sparse_csr and not x.is_mkldnn and x.name is None


# ---- modes ----


@pytest.mark.parametrize("library", [torch, ts])
def test_inference_mode_false_records_whatever_is_around_it(library: Any) -> None:
    x = library.ones(2, requires_grad=True)
    with library.no_grad():
        with library.inference_mode(False):
            assert library.is_grad_enabled() and (x * 2).requires_grad
        assert not library.is_grad_enabled()
        with library.inference_mode():
            with library.inference_mode(False):
                assert library.is_grad_enabled() and not library.is_inference_mode_enabled()
                with library.no_grad(), library.inference_mode(False):
                    assert library.is_grad_enabled()
                assert library.is_grad_enabled()
            assert library.is_inference_mode_enabled() and not library.is_grad_enabled()
        assert not library.is_grad_enabled()
        assert library.inference_mode(False)(library.is_grad_enabled)() and not library.is_grad_enabled()
    assert library.is_grad_enabled()


def test_a_mode_can_be_cloned() -> None:
    mode = torch.no_grad()
    with mode, torch.enable_grad(), mode.clone():
        assert not torch.is_grad_enabled()
    assert torch.inference_mode(False).clone().mode is False


# ---- steps of optimizers that can be differentiated ----

STEPS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.1}), ("SGD", {"momentum": 0.9, "nesterov": True, "maximize": True}),
    ("Adam", {"weight_decay": 0.1}), ("Adam", {"amsgrad": True, "betas": (0.8, 0.9)}), ("AdamW", {"weight_decay": 0.1}),
    ("Adam", {"decoupled_weight_decay": True, "weight_decay": 0.1}), ("RMSprop", {"momentum": 0.9, "centered": True, "weight_decay": 0.1}),
    ("Adagrad", {"lr_decay": 0.1, "initial_accumulator_value": 0.1}), ("Adadelta", {"weight_decay": 0.1}), ("Adamax", {}),
    ("NAdam", {"weight_decay": 0.1}), ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}), ("RAdam", {"betas": (0.5, 0.8)}),
    ("ASGD", {"t0": 2, "weight_decay": 0.1}), ("Rprop", {}),
]  # fmt: skip


def stepped(name: str, options: dict[str, Any], start: Any, slope: Any, lr: Any = 0.1, **more: Any) -> tuple[Any, Any]:
    """The parameter after six steps, from a copy, with gradients that follow `slope`."""
    p = start.clone()
    optimizer = getattr(torch.optim, name)([p], lr=lr, **options, **more)
    if name == "SGD":  # the first gradient would be a constant in the buffer
        optimizer.state[p]["momentum_buffer"] = torch.full_like(start.detach(), 0.5)
    for factor in (1.0, 2.0, -1.0, -0.5, 1.5, 3.0):
        p.grad = slope * factor
        optimizer.step()
    return p, optimizer


def start_and_slope() -> tuple[Any, Any]:
    values = torch.tensor([[1.0, -2.0, 0.5], [0.3, -0.2, 0.7]], dtype=torch.float64)
    return values[0].clone().requires_grad_(), values[1].clone().requires_grad_()


@pytest.mark.parametrize("name, options", STEPS)
def test_a_differentiable_step_is_the_plain_one_with_gradients(name: str, options: dict[str, Any]) -> None:
    start, slope = start_and_slope()
    found, optimizer = stepped(name, options, start, slope, differentiable=True)
    wanted, plain = stepped(name, options, start.detach(), slope.detach())
    assert torch.allclose(found, wanted, rtol=1e-6) and found.requires_grad
    assert type(optimizer).__name__ == name and isinstance(optimizer, type(plain)) and optimizer.param_groups[0]["differentiable"]
    if name not in ("ASGD", "Rprop"):
        assert optimizer.state[found].keys() == plain.state[wanted].keys()
    assert torch.autograd.gradcheck(lambda x, g: stepped(name, options, x, g, differentiable=True)[0], (start, slope))


@pytest.mark.parametrize("name, options", [("SGD", {"momentum": 0.9}), ("Adam", {}), ("RMSprop", {}), ("NAdam", {})])
def test_a_learning_rate_may_be_learned(name: str, options: dict[str, Any]) -> None:
    start, slope = start_and_slope()
    rate = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    decay = torch.tensor(0.2, dtype=torch.float64, requires_grad=True)

    def after(lr: Any, weight_decay: Any) -> Any:
        return stepped(name, {**options, "weight_decay": weight_decay}, start, slope, lr, differentiable=True)[0]

    assert torch.autograd.gradcheck(after, (rate, decay))


def test_the_first_gradient_is_a_constant_in_the_buffer_of_sgd() -> None:
    start, slope = start_and_slope()
    p = start.clone()
    optimizer = torch.optim.SGD([p], lr=0.1, momentum=0.9, differentiable=True)
    p.grad = slope * 1
    optimizer.step()
    assert torch.equal(p, start - slope * 0.1)
    assert torch.autograd.grad(p.sum(), [start, slope], allow_unused=True)[1] is None


def test_a_differentiable_optimizer_has_a_state_dict_and_refuses_to_write_a_leaf() -> None:
    start, slope = start_and_slope()
    p, optimizer = stepped("Adam", {}, start, slope, differentiable=True)
    state = optimizer.state_dict()
    other = torch.optim.Adam([start.clone()], differentiable=True)
    other.load_state_dict(state)
    (entry,) = other.state.values()
    assert float(entry["step"]) == 6 and torch.equal(entry["exp_avg"], optimizer.state[p]["exp_avg"].detach())
    assert other.param_groups[0]["lr"] == 0.1
    other.zero_grad()
    leaf = nn.Parameter(torch.ones(1))
    leaf.grad = torch.ones(1)
    with pytest.raises(RuntimeError):
        torch.optim.SGD([leaf], lr=0.1, differentiable=True).step()
    with pytest.raises(ValueError, match="non-leaf"):
        torch.optim.SGD([start.clone()], lr=0.1)


# ---- layers and containers ----


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_running_statistics_have_the_dtype_of_the_layer(dtype: Any) -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    model.to(dtype)
    assert [buffer.dtype for buffer in model.buffers()] == [dtype, dtype, torch.int64]
    assert model(torch.ones(4, 2, dtype=dtype)).dtype is dtype and model.eval()(torch.ones(4, 2, dtype=dtype)).dtype is dtype
    assert model.float()[1].running_mean.dtype is torch.float32
    plain = ts.nn.BatchNorm1d(3).half()
    assert plain.running_mean.dtype is ts.float32


def test_parts_of_containers_are_of_torchs_classes() -> None:
    class Steps(nn.Sequential):
        pass

    layers = nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh()])
    assert type(layers[:2]) is nn.ModuleList and repr(layers[:2]) == "ModuleList(\n  (0-1): 2 x ReLU()\n)"
    assert type(Steps(nn.ReLU(), nn.Tanh())[1:]) is Steps and type(nn.Sequential(nn.ReLU())[:1]) is nn.Sequential
    assert type(Steps(nn.ReLU()) + nn.Sequential(nn.Tanh())) is nn.Sequential
    assert type(ts.nn.Sequential(ts.nn.ReLU()) + ts.nn.Sequential()) is ts.nn.Sequential


def test_losses_are_of_the_class_of_pytorchs_file() -> None:
    base = nn.modules.loss._Loss
    assert isinstance(nn.MSELoss(), base) and not isinstance(nn.ReLU(), base)
    assert issubclass(type("Own", (base,), {}), base) and not issubclass(nn.MSELoss, nn.modules.loss._WeightedLoss)


def test_a_softmax_without_an_axis_warns() -> None:
    with pytest.warns(UserWarning, match="Implicit dimension choice"):
        assert nn.functional.softmax(torch.zeros(2)).tolist() == [0.5, 0.5]


def test_a_scaler_that_is_off_gives_the_loss_itself() -> None:
    loss = torch.ones(1)
    assert torch.amp.GradScaler("cpu", enabled=False).scale(loss) is loss


# ---- optimizers and loaders ----


def test_states_of_schedules_have_pytorchs_keys() -> None:
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1, momentum=0.9)
    schedules = torch.optim.lr_scheduler
    common = {"base_lrs", "last_epoch", "_step_count", "_is_initial", "_get_lr_called_within_step", "_last_lr"}
    assert set(schedules.StepLR(optimizer, 3).state_dict()) == common | {"step_size", "gamma"}
    assert set(schedules.CosineAnnealingLR(optimizer, 3).state_dict()) == common | {"T_max", "eta_min"}
    assert {"default_min_lr", "mode_worse"} < set(schedules.ReduceLROnPlateau(optimizer).state_dict())
    assert schedules.OneCycleLR(optimizer, 0.1, 10).state_dict()["use_beta1"] is False


def test_a_schedule_of_a_program_sees_that_step_calls_it() -> None:
    seen: list[Any] = []

    class Own(torch.optim.lr_scheduler.LRScheduler):
        def get_lr(self) -> Any:
            seen.append((self._get_lr_called_within_step, self._is_initial))
            return self.base_lrs

    schedule = Own(torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1))
    schedule.optimizer.step()
    schedule.step()
    schedule.get_lr()
    assert seen == [(True, True), (True, False), (False, False)]


def test_groups_and_their_states_have_pytorchs_order() -> None:
    optimizer = torch.optim.SGD([{"params": [torch.ones(1, requires_grad=True)], "lr": 0.5}], lr=0.1)
    assert [*optimizer.param_groups[0]][:3] == ["params", "lr", "momentum"] and optimizer.param_groups[0]["lr"] == 0.5
    saved = [*optimizer.state_dict()["param_groups"][0]]
    assert saved[0] == "lr" and saved[-1] == "params"


def test_what_a_loader_was_made_of_stays() -> None:
    loader = torch.utils.data.DataLoader([1, 2, 3], batch_size=2)
    for name in ("batch_size", "dataset", "sampler", "batch_sampler", "drop_last"):
        with pytest.raises(ValueError, match=f"{name} attribute should not be set after DataLoader is initialized"):
            setattr(loader, name, None)
    loader.collate_fn = sum
    assert list(loader) == [3, 3]


# ---- devices, texts, classes ----


def test_the_cpu_has_no_number() -> None:
    assert torch.device("cpu").index is None and torch.device("cpu", 0) == torch.device("cpu:0") == torch.device("cpu")
    assert torch.device("cuda", 1).index == 1 and torch.ones(1).device.index is None


def test_the_default_dtype_is_not_printed() -> None:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        assert repr(torch.ones(1)) == "tensor([1.])" and repr(torch.ones(1) * 1j) == "tensor([0.+1.j])"
        assert repr(torch.ones(1).float()).startswith("tensor([1.], dtype=") and "dtype" in repr(torch.zeros(0).float())
    finally:
        torch.set_default_dtype(before)
    assert repr(torch.ones(1)) == "tensor([1.])" and "float64" in repr(torch.ones(1).double())


def test_classes_print_as_pytorchs_in_programs_that_import_torch() -> None:
    program = "import pickle, torch; x = torch.nn.Parameter(torch.ones(1)); print(type(x), type(x.data), type(x.shape))"
    assert under_tessera(f"{program}; print([type(y) is type(z) for z in (x, x.shape) for y in [pickle.loads(pickle.dumps(z))]])") == [
        "<class 'torch.nn.parameter.Parameter'> <class 'torch.Tensor'> <class 'torch.Size'>", "[True, True]",
    ]  # fmt: skip


def test_a_class_that_derives_from_tensor_makes_its_own() -> None:
    class Own(torch.Tensor):
        pass

    assert type(Own([1.0, 2.0])) is Own and Own(2, 3).shape == (2, 3) and type(torch.Tensor(2)) is torch.Tensor


# ---- transforms ----


def test_vmap_over_no_axis_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="axis 0 is out of range for an input of 0 axes"):
        torch.vmap(torch.sin)(torch.tensor(1.0))


def test_detach_in_place_detaches_the_innermost_transform_alone() -> None:
    def f(x: Any) -> Any:
        z = (x * x).detach_()
        return (2 * x * z * x).sum()

    x = torch.tensor([1.0, 2.0])
    func = torch.func
    wanted = [[12.0, 0.0], [0.0, 48.0]]
    assert func.hessian(f)(x).tolist() == func.jacrev(func.jacfwd(f))(x).tolist() == func.jacfwd(func.jacfwd(f))(x).tolist() == wanted
    assert func.grad(f)(x).tolist() == [4.0, 32.0] and func.jvp(f, (x,), (torch.ones(2),))[1].item() == 36.0


# ---- programs ----

# What PyTorch 2.15 gives.
EXPERTS: dict[str, Any] = {
    "chosen": [[1, 2], [1, 2], [0, 2], [0, 2]],
    "first": [-0.967805, -0.934071, -0.867011],
    "grad": [-0.170665, -0.259736, -0.348808, -0.066616, -0.044446, -0.022276, 0.237281, 0.304182, 0.371084],
}
TURNED = [-0.767801, 0.148496, 0.603203, 1.142614]


def test_a_mixture_of_experts() -> None:
    tokens = torch.linspace(-1, 1, 12).view(4, 3)
    gate = torch.sin(torch.arange(9.0)).view(3, 3).requires_grad_()
    weights, chosen = (tokens @ gate.T).softmax(-1).topk(2, -1)
    weights = weights / weights.sum(-1, keepdim=True)
    mixed = torch.zeros_like(tokens)
    for expert in range(3):
        row, place = torch.where(chosen == expert)
        if row.numel():
            mixed.index_add_(0, row, torch.tanh(tokens[row] * (expert + 1)) * weights[row, place, None])
    mixed.sum().backward()
    assert chosen.tolist() == EXPERTS["chosen"] and mixed[0].tolist() == pytest.approx(EXPERTS["first"], abs=1e-5)
    assert gate.grad.flatten().tolist() == pytest.approx(EXPERTS["grad"], abs=1e-5)


def test_rotary_positions_by_complex_numbers() -> None:
    x = torch.linspace(-1, 1, 12).view(3, 4)
    speeds = 1.0 / 100.0 ** (torch.arange(0, 4, 2).float() / 4)
    turns = torch.polar(torch.ones(3, 2), torch.outer(torch.arange(3.0), speeds))
    turned = torch.view_as_real(torch.view_as_complex(x.reshape(3, 2, 2)) * turns).flatten(1)
    assert turned[2].tolist() == pytest.approx(TURNED, abs=1e-6)
    assert torch.allclose(turned.norm(dim=1), x.norm(dim=1))


# ---- numbers at their limits ----


@pytest.mark.parametrize("bounds, gradient", [
    ({"min": 0.0}, [0, 0, 0, 1, 1]), ({"max": 0.0}, [1, 1, 0, 0, 0]), ({"min": -2.0, "max": 2.0}, [0, 1, 1, 1, 0]),
])  # fmt: skip
def test_a_bound_that_is_not_given_cuts_no_gradient_off(bounds: dict[str, float], gradient: list[int]) -> None:
    x = torch.tensor([-torch.inf, -1.0, 0.0, 1.0, torch.inf], requires_grad=True)
    for limited in (torch.clamp(x, **bounds), x.clone().clamp_(**bounds)):
        assert torch.autograd.grad(limited.sum(), x)[0].tolist() == gradient
    slope = torch.autograd.grad(torch.clamp(x, **bounds).sum(), x, create_graph=True)[0]
    assert slope.tolist() == gradient
    assert torch.clamp(x, min=float("nan")).isnan().all() and torch.clamp(torch.tensor([1, 5]), max=2).tolist() == [1, 2]


def test_std_is_finite_where_only_the_variance_is_too_large() -> None:
    x = torch.tensor([3e19, -3e19, 1e19], requires_grad=True)
    deviation = x.std()
    deviation.backward()
    assert x.var().isinf() and abs(deviation.item() / 3.0550505e19 - 1) < 1e-6
    assert torch.allclose(x.grad, torch.tensor([0.4364, -0.5455, 0.1091]), atol=1e-4)
    assert torch.std_mean(x, dim=0)[0].isfinite()


@pytest.mark.parametrize("kind, dtype", [(float, ts.float64), (int, ts.int64), (bool, ts.bool), (complex, ts.complex128)])
def test_a_type_of_python_is_the_dtype_of_its_precision(kind: type, dtype: Any) -> None:
    made = [torch.zeros(2, dtype=kind), torch.full((2,), 1, dtype=kind), torch.ones(2).to(kind), torch.ones_like(torch.ones(1), dtype=kind)]
    made += [torch.tensor([1], dtype=kind), torch.as_tensor([1.0], dtype=kind), torch.ones(2).sum(dtype=kind), torch.ones(1).new_zeros(2, dtype=kind)]
    assert all(tensor.dtype is dtype for tensor in made)


def test_a_program_can_print_how_the_library_was_built() -> None:
    assert "Tessera" in torch.__config__.show() and "get_num_threads" in torch.__config__.parallel_info()


# ---- texts and orders that programs print ----


def test_a_group_keeps_the_order_of_its_own_keys() -> None:
    layer = nn.Linear(2, 1)
    groups = [{"params": [layer.weight], "weight_decay": 0.1}, {"params": [layer.bias], "name": "bias", "lr": 0.5}]
    kept = torch.optim.AdamW(groups, lr=0.1).state_dict()["param_groups"]
    rest = ["amsgrad", "maximize", "foreach", "capturable", "differentiable", "fused", "decoupled_weight_decay", "params"]
    assert list(kept[0]) == ["weight_decay", "lr", "betas", "eps", *rest]
    assert list(kept[1]) == ["name", "lr", "betas", "eps", "weight_decay", *rest]


def test_constraints_and_parametrizations_print_their_classes() -> None:
    constraints = torch.distributions.constraints
    assert repr(constraints.real_vector) == "IndependentConstraint(Real(), 1)" and repr(constraints.simplex) == "Simplex()"
    assert repr(constraints.positive) == "GreaterThan(lower_bound=0.0)"
    assert repr(constraints.integer_interval(0, 3)) == "IntegerInterval(lower_bound=0, upper_bound=3)"
    assert "(0): _WeightNorm()" in repr(nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)))
    assert "(0): _SpectralNorm()" in repr(nn.utils.parametrizations.spectral_norm(nn.Linear(2, 2)))


def test_a_prefix_of_names_can_be_taken_off() -> None:
    states = nn.Sequential(nn.Linear(1, 1)).state_dict()
    given = type(states)((f"module.{name}", value) for name, value in states.items())
    given._metadata = {"": {}, "module": {}, "module.0": {"version": 1}}  # type: ignore[attr-defined]
    nn.modules.utils.consume_prefix_in_state_dict_if_present(given, "module.")
    assert list(given) == ["0.weight", "0.bias"] and set(given._metadata) == {"", "0"}  # type: ignore[attr-defined]


def test_shapes_are_sliced_as_shapes() -> None:
    shape = torch.ones(2, 3, 4).shape
    assert shape[0] == 2 and shape[-1] == 4 and type(shape[0]) is int
    assert type(shape[1:]) is type(shape[:]) is type(shape[:0]) is torch.Size and shape[1:] == (3, 4)
    with pytest.raises(IndexError):
        shape[3]
    with pytest.raises(TypeError):
        shape["a"]


def test_compiled_models_hold_the_model() -> None:
    model = nn.Sequential(nn.Linear(2, 1))
    made = torch.compile(model, mode="reduce-overhead")
    assert isinstance(made, nn.Module) and made._orig_mod is model and torch.equal(made(torch.ones(1, 2)), model(torch.ones(1, 2)))
    assert [name for name, _ in made.named_parameters()] == ["_orig_mod.0.weight", "_orig_mod.0.bias"]
    assert repr(made).startswith("OptimizedModule(\n  (_orig_mod): Sequential(")
    again = copy.deepcopy(made)
    again.load_state_dict(made.state_dict())
    assert again._orig_mod is not model and not hasattr(made, "nothing")
    assert torch.compile(len) is len and torch.compile(fullgraph=True)(len) is len


def test_ends_of_linspace_take_types_of_python() -> None:
    assert torch.linspace(0, 1, 3, dtype=float).dtype is torch.float64 and torch.linspace(0, 1.9, 2, dtype=int).tolist() == [0, 1]
