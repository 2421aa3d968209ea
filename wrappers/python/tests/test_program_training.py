# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Training steps as programs: replayed kernels equal the calls, and what a replay must not do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import nn, optim, program


def mlp() -> nn.Module:
    ts.manual_seed(1)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 4))


def cnn() -> nn.Module:
    ts.manual_seed(2)
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.3),
        nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(),
        nn.Dropout(0.5), nn.Linear(16 * 4, 4),
    )  # fmt: skip


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(11, 16)
        self.norm = nn.LayerNorm(16)
        self.attend = nn.MultiheadAttention(16, 2, dropout=0.2, batch_first=True)
        self.last = nn.Linear(16, 4)

    def forward(self, tokens: Any) -> Any:
        x = self.norm(self.embed(tokens))
        y, _ = self.attend(x, x, x, need_weights=False)
        return self.last(nn.functional.gelu(x + y).mean(1))


def attention() -> nn.Module:
    ts.manual_seed(3)
    return Attention()


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.LSTM(5, 8, batch_first=True)
        self.last = nn.Linear(8, 4)

    def forward(self, x: Any) -> Any:
        return self.last(self.cells(x)[0][:, -1])


def recurrent() -> nn.Module:
    ts.manual_seed(4)
    return Recurrent()


def images() -> Any:
    return ts.randn(6, 1, 8, 8)


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], Any]]] = {
    "mlp": (mlp, lambda: ts.randn(6, 8)),
    "cnn": (cnn, images),
    "attention": (attention, lambda: ts.randint(0, 11, (6, 7))),
    "lstm": (recurrent, lambda: ts.randn(6, 3, 5)),
}
OPTIMIZERS: dict[str, Callable[[Any], optim.Optimizer]] = {
    "sgd": lambda p: optim.SGD(p, lr=0.1),
    "momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-3),
    "adam": lambda p: optim.Adam(p, lr=0.01),
    "adamw": lambda p: optim.AdamW(p, lr=0.01),
}


def step_of(model: nn.Module, optimizer: optim.Optimizer, clip: float | None = None) -> Callable[[Any, Any], Any]:
    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        return loss.detach()

    return step


def replayed(of: program.Program) -> dict[str, Any]:
    found: dict[str, Any] = of.describe()["replay"]
    return found


def data(make: Callable[[], Any], count: int) -> list[tuple[Any, Any]]:
    ts.manual_seed(10)
    return [(make(), ts.randint(0, 4, (6,))) for _ in range(count)]


def compare(make: Callable[[], nn.Module], batches: list[tuple[Any, Any]], kind: Any, **more: Any) -> program.Program:
    """Twenty steps by calls, recorded, and from the bytes of the recording: bit for bit the same."""
    runs: list[list[Any]] = []
    models = []
    recorded = None
    for way in ("calls", "recorded", "loaded"):
        model = make()
        step = step_of(model, kind(model.parameters()), **more)
        ts.manual_seed(20)
        losses = []
        if way == "calls":
            losses = [step(x, y).item() for x, y in batches]
        else:
            recorded = program.record(step, batches[0], parameters=model)
            # The recording was the first step.
            losses = [None]
            if way == "loaded":
                recorded = program.from_bytes(recorded.to_bytes())
            losses += [recorded(x, y).item() for x, y in batches[1:]]
            assert replayed(recorded)["kept"], replayed(recorded)
        runs.append(losses[1:])
        names = dict(model.state_dict())
        if way == "loaded" and recorded is not None:
            names = {name: recorded.tensor(name) for name in names}
        models.append({name: tensor.detach().numpy() for name, tensor in names.items()})
    assert runs[0] == runs[1] == runs[2]
    for name, expected in models[0].items():
        np.testing.assert_array_equal(models[1][name], expected, err_msg=name)
        np.testing.assert_array_equal(models[2][name], expected, err_msg=name)
    assert recorded is not None
    return recorded


@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize("name", ["mlp", "cnn"])
def test_p17_twenty_replayed_steps_equal_the_calls(name: str, kind: str) -> None:
    make, inputs = MODELS[name]
    compare(make, data(inputs, 21), OPTIMIZERS[kind])


@pytest.mark.parametrize("name", ["attention", "lstm"])
def test_p17_replayed_steps_of_other_models_equal_the_calls(name: str) -> None:
    make, inputs = MODELS[name]
    compare(make, data(inputs, 12), OPTIMIZERS["adam"])


@pytest.mark.parametrize("clip", [0.01, 100.0])
def test_p17_a_replay_clips_gradients_by_their_norm_of_that_step(clip: float) -> None:
    make, inputs = MODELS["mlp"]
    compare(make, data(inputs, 12), OPTIMIZERS["sgd"], clip=clip)


def recorded_mlp(kind: str = "sgd") -> tuple[nn.Module, optim.Optimizer, program.Program, list[tuple[Any, Any]]]:
    model = mlp()
    optimizer = OPTIMIZERS[kind](model.parameters())
    batches = data(MODELS["mlp"][1], 12)
    recorded = program.record(step_of(model, optimizer), batches[0], parameters=model)
    for x, y in batches[:4]:
        recorded(x, y)
    assert replayed(recorded)["kept"]
    return model, optimizer, recorded, batches


def test_p17_a_replay_allocates_nothing() -> None:
    model = mlp()
    optimizer = OPTIMIZERS["adam"](model.parameters())

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    x, y = ts.randn(6, 8), ts.randn(6, 4)
    recorded = program.record(step, (x, y), parameters=model)
    for _ in range(4):
        recorded(x, y)
    assert replayed(recorded)["kept"]
    before = ts.memory.memory_stats()
    for _ in range(100):
        recorded(x, y)
    after = ts.memory.memory_stats()
    assert after["allocated.all.allocated"] == before["allocated.all.allocated"]


def test_p17_a_replay_keeps_outputs_that_the_caller_holds() -> None:
    _, _, recorded, batches = recorded_mlp()
    held = [recorded(x, y) for x, y in batches]
    seen = [each.item() for each in held]
    recorded(*batches[0])
    assert [each.item() for each in held] == seen
    assert len(set(seen)) == len(seen)


def eager_twin(model: nn.Module, optimizer: optim.Optimizer, kind: str) -> tuple[nn.Module, Callable[[Any, Any], Any]]:
    twin = mlp()
    twin.load_state_dict(model.state_dict())
    twin_optimizer = OPTIMIZERS[kind](twin.parameters())
    twin_optimizer.load_state_dict(optimizer.state_dict())
    return twin, step_of(twin, twin_optimizer)


def test_p17_gradients_of_a_replay_are_there_and_stay_when_held() -> None:
    model, optimizer, recorded, batches = recorded_mlp("momentum")
    twin, step = eager_twin(model, optimizer, "momentum")
    held = []
    for x, y in batches:
        assert recorded(x, y).item() == step(x, y).item()
        for ours, theirs in zip(model.parameters(), twin.parameters()):
            np.testing.assert_array_equal(ours.grad.numpy(), theirs.grad.numpy())
        grad = next(iter(model.parameters())).grad
        held.append((grad, grad.numpy().copy()))
    for grad, seen in held:
        np.testing.assert_array_equal(grad.numpy(), seen)


def test_p17_a_replay_follows_what_the_caller_changes_between_runs() -> None:
    model, optimizer, recorded, batches = recorded_mlp("adam")
    twin, step = eager_twin(model, optimizer, "adam")
    with ts.no_grad():
        for each in (model, twin):
            next(iter(each.parameters())).mul_(0.5)
    for x, y in batches:
        assert recorded(x, y).item() == step(x, y).item()
    # A gradient that the caller drops, and one of its own.
    for change in (None, 1.0):
        for each in (model, twin):
            parameter = next(iter(each.parameters()))
            parameter.grad = None if change is None else ts.full_like(parameter.detach(), change)
        for x, y in batches[:3]:
            assert recorded(x, y).item() == step(x, y).item()


def test_p17_a_replay_follows_the_learning_rate() -> None:
    model, optimizer, recorded, batches = recorded_mlp("sgd")
    optimizer.param_groups[0]["lr"] = 0.0
    optimizer.sync()
    before = [p.detach().numpy().copy() for p in model.parameters()]
    recorded(*batches[0])
    assert replayed(recorded)["kept"]
    for parameter, expected in zip(model.parameters(), before):
        np.testing.assert_array_equal(parameter.detach().numpy(), expected)


def test_p17_hooks_that_are_added_later_run() -> None:
    model, _, recorded, batches = recorded_mlp()
    seen = []
    parameter = next(iter(model.parameters()))
    handle = parameter.register_hook(lambda grad: seen.append(grad.sum().item()))
    for x, y in batches[:3]:
        recorded(x, y)
    assert len(seen) == 3
    handle.remove()
    for x, y in batches[:4]:
        recorded(x, y)
    assert len(seen) == 3


def test_p17_a_parameter_that_is_frozen_later_gets_no_gradient() -> None:
    model, _, recorded, batches = recorded_mlp()
    parameter = next(iter(model.parameters()))
    parameter.requires_grad_(False)
    before = parameter.numpy().copy()
    for x, y in batches[:4]:
        recorded(x, y)
    np.testing.assert_array_equal(parameter.numpy(), before)
    parameter.requires_grad_(True)
    recorded(*batches[0])
    assert not np.array_equal(parameter.detach().numpy(), before)


def test_p17_a_replay_sees_other_memory_of_a_parameter() -> None:
    model, optimizer, recorded, batches = recorded_mlp()
    twin, step = eager_twin(model, optimizer, "sgd")
    for each in (model, twin):
        parameter = next(iter(each.parameters()))
        parameter.data = parameter.detach() * 2
    for x, y in batches[:5]:
        assert recorded(x, y).item() == step(x, y).item()
    # Moved to memory that several processes see.
    for parameter in model.parameters():
        parameter.share_memory_()
    for x, y in batches[:5]:
        assert recorded(x, y).item() == step(x, y).item()


def test_p17_a_replay_raises_the_versions_of_what_it_writes() -> None:
    model, _, recorded, batches = recorded_mlp()
    parameter = next(iter(model.parameters()))
    loss = (parameter * parameter).sum()
    recorded(*batches[0])
    assert replayed(recorded)["kept"]
    with pytest.raises(ts.TesseraError, match="in-place"):
        loss.backward()


def test_p17_gradients_are_accumulated_over_runs() -> None:
    def grads_of(model: nn.Module, runs: Callable[[Any, Any], Any]) -> list[Any]:
        for x, y in data(MODELS["mlp"][1], 9):
            runs(x, y)
        return [p.grad.numpy().copy() for p in model.parameters()]

    def accumulate(model: nn.Module) -> Callable[[Any, Any], Any]:
        def step(x: Any, y: Any) -> Any:
            loss = nn.functional.cross_entropy(model(x), y)
            (loss * 0.5).backward()
            return loss.detach()

        return step

    eager, model = mlp(), mlp()
    expected = grads_of(eager, accumulate(eager))
    recorded = program.record(accumulate(model), data(MODELS["mlp"][1], 1)[0], parameters=model)
    for parameter in model.parameters():
        parameter.grad = None
    found = grads_of(model, recorded)
    assert replayed(recorded)["kept"], replayed(recorded)
    for a, b in zip(found, expected):
        np.testing.assert_array_equal(a, b)


def test_p17_inputs_of_two_layouts_are_replayed_each() -> None:
    model = mlp()
    batches = data(MODELS["mlp"][1], 4)
    recorded = program.record(step_of(model, OPTIMIZERS["sgd"](model.parameters())), batches[0], parameters=model)
    twin, step = eager_twin(model, OPTIMIZERS["sgd"](model.parameters()), "sgd")
    for _ in range(4):
        for x, y in batches:
            turned = ts.asarray(np.asfortranarray(x.numpy()))
            for given in (x, turned):
                assert recorded(given, y).item() == pytest.approx(step(given, y).item(), rel=1e-5)


def test_p17_outputs_of_a_training_step_have_no_history() -> None:
    model = mlp()
    optimizer = OPTIMIZERS["sgd"](model.parameters())

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    x, y = data(MODELS["mlp"][1], 1)[0]
    recorded = program.record(step, (x, y), parameters=model)
    for _ in range(4):
        assert not recorded(x, y).requires_grad


def test_p17_what_decides_on_the_host_is_called_in_every_run() -> None:
    weight = ts.tensor([1.0, 2.0, 3.0], requires_grad=True)

    def step(x: Any) -> Any:
        weight.grad = None
        repeated = ts.repeat(weight, (x > 0).astype(ts.int64), axis=0)
        loss = (repeated * repeated).sum()
        loss.backward()
        return loss.detach()

    recorded = program.record(step, ts.tensor([1.0, 1.0, 1.0]), parameters={"weight": weight})
    for given, loss, grad in [
        ([1.0, 1, 1], 14, [2, 4, 6]), ([1.0, 1, 1], 14, [2, 4, 6]), ([1.0, 1, 1], 14, [2, 4, 6]),
        ([1.0, -1, 1], 10, [2, 0, 6]), ([-1.0, 1, -1], 4, [0, 4, 0]),
    ]:  # fmt: skip
        assert recorded(ts.tensor(given)).item() == loss
        np.testing.assert_array_equal(weight.grad.numpy(), grad)
    assert "on the host" in replayed(recorded)["reason"], replayed(recorded)


def test_p17_a_hook_in_a_backward_is_refused_also_if_it_calls_nothing() -> None:
    held = ts.ones(3, requires_grad=True)
    held.register_hook(lambda grad: None)

    def step(x: Any) -> Any:
        (x * held).sum().backward()

    with pytest.raises(ts.NotSupportedError, match="hook"):
        program.record(step, ts.ones(3))


def test_p17_a_custom_function_is_refused_by_name() -> None:
    class Double(ts.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    weight = ts.ones(3, requires_grad=True)

    def step(x: Any) -> Any:
        Double.apply(x * weight).sum().backward()

    with pytest.raises(ts.NotSupportedError, match="node_create"):
        program.record(step, ts.ones(3))
    assert not ts.ones(1).requires_grad


def test_p17_errors_in_a_replay_are_those_of_the_calls() -> None:
    _, _, recorded, batches = recorded_mlp()
    x, y = batches[0]
    with pytest.raises(ts.TesseraError):
        recorded(x, ts.full((6,), 99, dtype=ts.int64))
    for _ in range(4):
        assert np.isfinite(recorded(x, y).item())
    assert replayed(recorded)["kept"]


def test_p17_an_exception_of_a_hook_comes_out_of_the_run() -> None:
    model, _, recorded, batches = recorded_mlp()
    error = ValueError("of the hook")

    def fail(grad: Any) -> None:
        raise error

    handle = next(iter(model.parameters())).register_hook(fail)
    with pytest.raises(ValueError, match="of the hook") as caught:
        recorded(*batches[0])
    assert caught.value is error
    handle.remove()
    assert np.isfinite(recorded(*batches[0]).item())


def test_p17_two_threads_may_train_with_one_program() -> None:
    import threading

    _, _, recorded, batches = recorded_mlp()
    losses: list[float] = []

    def work() -> None:
        losses.extend(recorded(x, y).item() for x, y in batches * 5)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(losses) == 2 * 5 * len(batches)
    assert np.isfinite(losses).all()


def test_p17_a_program_that_is_run_by_its_own_hook_is_refused() -> None:
    model, _, recorded, batches = recorded_mlp()
    caught: list[str] = []

    def again(grad: Any) -> None:
        try:
            recorded(*batches[0])
        except ts.InvalidValueError as error:
            caught.append(str(error))

    handle = next(iter(model.parameters())).register_hook(again)
    recorded(*batches[0])
    handle.remove()
    assert caught
    assert "running" in caught[0]


# ---- other forms of steps ----

Step = Callable[[nn.Module, optim.Optimizer, Any, Any], Any]


def keeps_zeros(model: nn.Module, optimizer: optim.Optimizer, x: Any, y: Any) -> Any:
    optimizer.zero_grad(set_to_none=False)
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()


def clears_at_the_end(model: nn.Module, optimizer: optim.Optimizer, x: Any, y: Any) -> Any:
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()


def adds_two_halves(model: nn.Module, optimizer: optim.Optimizer, x: Any, y: Any) -> Any:
    optimizer.zero_grad()
    first = nn.functional.cross_entropy(model(x[:3]), y[:3])
    first.backward()
    second = nn.functional.cross_entropy(model(x[3:]), y[3:])
    second.backward()
    optimizer.step()
    return first.detach() + second.detach()


def steps_twice(model: nn.Module, optimizer: optim.Optimizer, x: Any, y: Any) -> Any:
    losses = []
    for _ in range(2):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses[0] - losses[1]


def updates_by_hand(model: nn.Module, optimizer: optim.Optimizer, x: Any, y: Any) -> Any:
    loss = nn.functional.cross_entropy(model(x), y)
    params = list(model.parameters())
    with ts.no_grad():
        for parameter, grad in zip(params, ts.autograd.grad(loss, params)):
            parameter -= 0.1 * grad
    return loss.detach()


def penalises_gradients(model: nn.Module, optimizer: optim.Optimizer, x: Any, y: Any) -> Any:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    first = next(iter(model.parameters()))
    (grad,) = ts.autograd.grad(loss, [first], create_graph=True)
    total = loss + (grad * grad).sum()
    total.backward()
    optimizer.step()
    return total.detach()


def leaves_a_layer_out(model: nn.Module, optimizer: optim.Optimizer, x: Any, y: Any) -> Any:
    optimizer.zero_grad()
    layers = list(model)
    loss = layers[1](layers[0](x)).square().mean() + (y * 0).sum()
    loss.backward()
    optimizer.step()
    return loss.detach()


def scales_what_it_computes(model: nn.Module, optimizer: optim.Optimizer, x: Any, y: Any) -> Any:
    optimizer.zero_grad()
    with ts.amp.autocast("cpu"):
        loss = nn.functional.cross_entropy(model(x).float(), y)
    loss.backward()
    for parameter in model.parameters():
        parameter.grad *= 0.5
    optimizer.step()
    return loss.detach()


STEPS: dict[str, Step] = {
    each.__name__: each
    for each in (
        keeps_zeros, clears_at_the_end, adds_two_halves, steps_twice, updates_by_hand, penalises_gradients,
        leaves_a_layer_out, scales_what_it_computes,
    )
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_p17_steps_of_every_form_equal_the_calls(name: str) -> None:
    step = STEPS[name]
    batches = data(MODELS["mlp"][1], 9)
    eager_model, model = mlp(), mlp()
    eager_optimizer, optimizer = (OPTIMIZERS["momentum"](each.parameters()) for each in (eager_model, model))
    recorded = program.record(lambda x, y: step(model, optimizer, x, y), batches[0], parameters=model)
    step(eager_model, eager_optimizer, *batches[0])
    for x, y in batches[1:]:
        assert recorded(x, y).item() == step(eager_model, eager_optimizer, x, y).item()
        for ours, theirs in zip(model.parameters(), eager_model.parameters()):
            np.testing.assert_array_equal(ours.detach().numpy(), theirs.detach().numpy())
            assert (ours.grad is None) == (theirs.grad is None)
            if theirs.grad is not None:
                np.testing.assert_array_equal(ours.grad.numpy(), theirs.grad.numpy())
    assert replayed(recorded)["kept"], replayed(recorded)


def test_p17_an_input_that_requires_grad_gets_it() -> None:
    model, optimizer, recorded, batches = recorded_mlp()
    twin, step = eager_twin(model, optimizer, "sgd")
    for x, y in batches[:4]:
        ours, theirs = x.detach().clone().requires_grad_(), x.detach().clone().requires_grad_()
        assert recorded(ours, y).item() == step(theirs, y).item()
        np.testing.assert_array_equal(ours.grad.numpy(), theirs.grad.numpy())
    for x, y in batches[:4]:
        assert recorded(x, y).item() == step(x, y).item()
