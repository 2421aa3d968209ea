# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs: recording, runs, files, dynamic sizes, training steps, refusals."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera import nn, optim, program

BUILD = Path(os.environ.get("TESSERA_BUILD_DIR", Path(__file__).parents[3] / "build" / "release"))


def mlp() -> nn.Module:
    ts.manual_seed(1)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4), nn.Softmax(-1))


def digits_net() -> nn.Module:
    ts.manual_seed(2)
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 16, 10),
    )  # fmt: skip


class Block(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs),
        )  # fmt: skip
        self.side = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x: Any) -> Any:
        y = self.body(x)
        y += self.side(x)
        return nn.functional.relu(y)


def small_resnet() -> nn.Module:
    ts.manual_seed(3)
    return nn.Sequential(
        nn.Conv2d(3, 8, 7, 2, 3), nn.MaxPool2d(3, 2, 1), Block(8, 8, 1), Block(8, 16, 2), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(16, 5),
    )  # fmt: skip


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "mlp": (mlp, (3, 8)),
    "digits": (digits_net, (4, 1, 8, 8)),
    "resnet": (small_resnet, (2, 3, 32, 32)),
}


@pytest.mark.parametrize("name", MODELS)
def test_p17_a_model_runs_as_a_program_and_from_its_file(name: str, tmp_path: Path) -> None:
    make, shape = MODELS[name]
    model = make().eval()
    x = ts.randn(*shape)
    recorded = program.record(model, x)
    recorded.save(tmp_path / "model.program")
    loaded = program.load(tmp_path / "model.program")
    assert set(loaded.parameters) == set(dict(model.named_parameters())) | set(dict(model.named_buffers()))
    for _ in range(4):
        x = ts.randn(*shape)
        expected = model(x).detach().numpy()
        for each in (recorded, loaded):
            np.testing.assert_array_equal(each(x).numpy(), expected)
    assert not recorded(x).requires_grad
    assert loaded.describe()["plan"]["arena_bytes"] > 0


@pytest.mark.parametrize("name", MODELS)
def test_p17_a_dynamic_batch_takes_any_size(name: str) -> None:
    make, shape = MODELS[name]
    model = make().eval()
    dynamic = program.record(model, ts.randn(*shape), dynamic={0: [0]})
    loaded = program.from_bytes(dynamic.to_bytes())
    for batch in (1, 7, 2, 7, 7):
        x = ts.randn(batch, *shape[1:])
        expected = model(x).detach().numpy()
        np.testing.assert_allclose(dynamic(x).numpy(), expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(loaded(x).numpy(), expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(ts.ShapeError, match="n, "):
        dynamic(ts.randn(2, *shape[1:], 1))


def digits_step(model: nn.Module, optimizer: optim.Optimizer) -> Callable[[Any, Any], Any]:
    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


@pytest.mark.parametrize("kind", [lambda p: optim.Adam(p, lr=0.01), lambda p: optim.SGD(p, lr=0.1, momentum=0.9)])
def test_p17_a_training_step_gives_the_losses_of_the_calls(kind: Callable[[Any], optim.Optimizer]) -> None:
    ts.manual_seed(0)
    batches = [(ts.randn(16, 1, 8, 8), ts.randint(0, 10, (16,))) for _ in range(21)]
    eager_model, model = digits_net(), digits_net()
    eager = digits_step(eager_model, kind(eager_model.parameters()))
    recorded = program.record(digits_step(model, kind(model.parameters())), batches[0], parameters=model)
    loaded = program.from_bytes(recorded.to_bytes())
    eager(*batches[0])
    for x, y in batches[1:]:
        expected = eager(x, y).item()
        assert recorded(x, y).item() == expected
        assert loaded(x, y).item() == expected
    for name, parameter in eager_model.state_dict().items():
        np.testing.assert_array_equal(loaded.tensor(name).detach().numpy(), parameter.detach().numpy())


def test_p17_randomness_is_drawn_anew_by_the_seed_of_the_caller() -> None:
    drop = nn.Dropout(0.5)
    recorded = program.record(drop, ts.ones(64))
    ts.manual_seed(7)
    drawn = [recorded(ts.ones(64)).numpy() for _ in range(4)]
    ts.manual_seed(7)
    for each in drawn:
        np.testing.assert_array_equal(each, drop(ts.ones(64)).numpy())
    assert not np.array_equal(drawn[0], drawn[1])


def test_p17_a_generator_of_its_own_is_kept_with_the_program() -> None:
    generator = ts.Generator(seed=3) if hasattr(ts.Generator, "seed") else ts.Generator()
    recorded = program.record(lambda x: x + ts.rand(4, generator=generator), ts.zeros(4))
    loaded = program.from_bytes(recorded.to_bytes())
    for _ in range(3):
        np.testing.assert_array_equal(recorded(ts.zeros(4)).numpy(), loaded(ts.zeros(4)).numpy())


READS: dict[str, Callable[[Any], Any]] = {
    "item": lambda x: x * x.sum().item(),
    "float": lambda x: x * float(x.sum()),
    "bool": lambda x: x if x.sum() > 0 else -x,
    "tolist": lambda x: x + ts.tensor(x.tolist()),
    "numpy": lambda x: x + ts.asarray(np.asarray(x) + 1),
    "memoryview": lambda x: x * memoryview(x)[0],
    "dlpack": lambda x: x + ts.asarray(np.from_dlpack(x)),
}


@pytest.mark.parametrize("name", READS)
def test_p17_a_read_of_the_host_is_refused_where_it_is(name: str) -> None:
    with pytest.raises((ts.TesseraError, NotImplementedError), match="cannot contain this call") as caught:
        program.record(READS[name], ts.ones(3))
    assert any("test_program.py" in str(entry.path) for entry in caught.traceback)
    assert ts.ones(3).sum().item() == 3


def test_p17_what_cannot_be_repeated_is_refused() -> None:
    x = ts.ones(3, requires_grad=True)
    with pytest.raises(ts.NotSupportedError, match="hook"):
        program.record(lambda y: y.register_hook(lambda g: g) and y * 2, x)
    held = ts.ones(3, requires_grad=True)
    held.register_hook(lambda g: g * 2)

    def step(y: Any) -> Any:
        (y * held).sum().backward()
        return held.grad

    with pytest.raises(ts.TesseraError, match="code of the host"):
        program.record(step, ts.ones(3))
    with pytest.raises(ts.InvalidValueError, match="already"):
        program.record(lambda y: program.record(lambda z: z, y)(y), ts.ones(3))
    with pytest.raises(ts.TesseraError, match="program_run"):
        inner = program.record(lambda y: y + 1, ts.ones(3))
        program.record(lambda y: inner(y), ts.ones(3))


def test_p17_data_made_in_the_function_is_a_constant() -> None:
    def function(x: Any) -> Any:
        weights = ts.tensor([1.0, 10.0, 100.0])
        counter = ts.tensor(np.zeros(3, np.float32))
        counter += x
        return counter * weights

    recorded = program.record(function, ts.ones(3))
    for _ in range(3):
        np.testing.assert_array_equal(recorded(ts.ones(3)).numpy(), [1, 10, 100])
    assert len(recorded.describe()["constants"]) == 2


def test_p17_autocast_is_recorded() -> None:
    model = mlp().eval()
    x = ts.randn(3, 8)

    def function(y: Any) -> Any:
        with ts.amp.autocast("cpu"):
            return model(y)

    expected = function(x).float().detach().numpy()
    recorded = program.record(function, x, parameters=model)
    np.testing.assert_array_equal(recorded(x).float().numpy(), expected)
    np.testing.assert_array_equal(program.from_bytes(recorded.to_bytes())(x).float().numpy(), expected)


def test_p17_views_indexing_and_outputs_by_name() -> None:
    def function(x: Any) -> dict[str, Any]:
        y = x[:, 1:].T.reshape(-1)
        z = ts.concat([y, x[0]])
        z[0] = 5
        return {"z": z, "top": x[0], "x": x}

    x = ts.arange(6, dtype=ts.float32).reshape(2, 3)
    recorded = program.record(function, x, input_names=["image"])
    assert recorded.input_names == ["image"]
    assert recorded.output_names == ["z", "top", "x"]
    for each in (recorded, program.from_bytes(recorded.to_bytes())):
        for by in range(3):
            given = x + by
            expected = function(given)
            for found, wanted in zip(each(given), expected.values()):
                np.testing.assert_array_equal(found.numpy(), wanted.numpy())
    assert "concat(" in str(recorded)


def test_p17_files_of_other_versions_are_refused(tmp_path: Path) -> None:
    recorded = program.record(lambda x: ts.exp(x), ts.ones(3))
    path = tmp_path / "exp.program"
    recorded.save(path)
    text = json.loads(ts.io.load_metadata(path)["tessera.program"])
    assert text["functions"]
    tensors = ts.load_file(path)
    for change, message in [
        ({"format": 99}, "format"),
        ({"functions": {"999999": {"name": "tsr_later", "since": "7.3"}}}, "tsr_later.*7.3"),
    ]:
        ts.save_file(tensors, tmp_path / "other.program", {"tessera.program": json.dumps({**text, **change})})
        with pytest.raises(ts.AbiError, match=message):
            program.load(tmp_path / "other.program")
    for key in text:
        broken = {k: v for k, v in text.items() if k != key}
        ts.save_file(tensors, tmp_path / "other.program", {"tessera.program": json.dumps(broken)})
        if key not in ("library", "generators", "optimizers", "dynamic", "size", "sizes"):
            with pytest.raises(ts.TesseraError):
                program.load(tmp_path / "other.program")


@pytest.mark.parametrize("name", MODELS)
def test_p17_a_model_runs_in_a_c_program(name: str, tmp_path: Path) -> None:
    runner = BUILD / "examples" / "c" / "run_program"
    if not runner.exists():
        pytest.skip("the C examples are not built")
    make, shape = MODELS[name]
    model = make().eval()
    x = ts.randn(*shape)
    program.record(model, x).save(tmp_path / "model.program")
    ts.save_file({"x": x, "y": model(x).detach()}, tmp_path / "tensors.safetensors")
    done = subprocess.run(
        [runner, tmp_path / "model.program", tmp_path / "tensors.safetensors"], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("largest difference 0\n", 0), done.stderr


PROGRAMS = Path(__file__).parents[3] / "tests" / "conformance" / "programs"


def test_p17_programs_of_the_first_version_are_read() -> None:
    expected = ts.load_file(PROGRAMS / "mlp.safetensors")
    np.testing.assert_allclose(program.load(PROGRAMS / "mlp.program")(expected["x"]).numpy(), expected["y"].numpy(), rtol=1e-5)
    expected = ts.load_file(PROGRAMS / "step.safetensors")
    step = program.load(PROGRAMS / "step.program")
    losses = [step(expected["x"], expected["y"]).item() for _ in range(5)]
    np.testing.assert_allclose(losses, expected["losses"].numpy(), rtol=1e-6)


def test_p17_later_runs_allocate_nothing() -> None:
    x = ts.ones(4)
    recorded = program.record(lambda y: ts.tanh(y + y) * y, x)
    for _ in range(4):
        recorded(x)
    before = ts.memory.memory_stats()
    for _ in range(100):
        recorded(x)
    after = ts.memory.memory_stats()
    assert after["allocated.all.allocated"] == before["allocated.all.allocated"]


def test_p17_outputs_that_the_caller_holds_stay_as_they_are() -> None:
    recorded = program.record(lambda x: (x + x) * 3, ts.ones(2))
    held = [recorded(ts.ones(2) * i) for i in range(5)]
    for i, each in enumerate(held):
        np.testing.assert_array_equal(each.numpy(), [6 * i, 6 * i])


def test_p17_inputs_may_have_another_layout_and_are_seen_through_views() -> None:
    x = ts.tensor([[1.0, 2.0], [3.0, 4.0]])
    both = program.record(lambda y: y.T + y, x)
    turned = program.record(lambda y: y.T, x)
    for _ in range(4):
        np.testing.assert_array_equal(both(x).numpy(), [[2, 5], [5, 8]])
        np.testing.assert_array_equal(both(x.T).numpy(), [[2, 5], [5, 8]])
        view = turned(x)
        np.testing.assert_array_equal(view.numpy(), x.numpy().T)
    x.fill_(7)
    assert (view.numpy() == 7).all()


def test_p17_writes_keep_their_order() -> None:
    total = ts.zeros(4)

    def function(x: Any) -> Any:
        before = total * 1
        total.add_(x)
        half = total[0:2]
        half *= 2
        x += 1
        return total - before

    x = np.array([1, 2, 3, 4], np.float32)
    recorded = program.record(function, ts.tensor(x), parameters={"total": total})
    loaded = program.from_bytes(recorded.to_bytes())
    expected = total.numpy().copy()
    for _ in range(4):
        before = expected.copy()
        expected += x
        expected[:2] *= 2
        for each in (recorded, loaded):
            given = ts.tensor(x)
            np.testing.assert_array_equal(each(given).numpy(), expected - before)
            np.testing.assert_array_equal(given.numpy(), x + 1)
    np.testing.assert_array_equal(loaded.tensor("total").numpy(), expected)


def test_p17_a_parameter_with_new_memory_is_used() -> None:
    weight = nn.Parameter(ts.ones(4))
    recorded = program.record(lambda x: x * weight.reshape(2, 2).reshape(4), ts.ones(4), parameters={"weight": weight})
    for _ in range(3):
        recorded(ts.ones(4))
    weight.data = ts.ones(4) * 2
    np.testing.assert_array_equal(recorded(ts.ones(4)).numpy(), [2, 2, 2, 2])


@pytest.mark.parametrize("name", ["mlp", "step"])
def test_p17_corrupted_files_give_errors(name: str) -> None:
    file = (PROGRAMS / f"{name}.program").read_bytes()
    tensors = ts.load_file(PROGRAMS / f"{name}.safetensors")
    inputs = [tensors["x"], tensors["y"]] if name == "step" else [tensors["x"]]
    generator = np.random.default_rng(0)
    refused = 0
    for _ in range(800):
        broken = bytearray(file)
        broken[generator.integers(len(broken))] = generator.integers(256)
        try:
            program.from_bytes(bytes(broken))(*inputs)
        except ts.TesseraError as error:
            assert "internal error" not in str(error)
            refused += 1
    for size in range(0, len(file), 11):
        with pytest.raises(ts.TesseraError):
            program.from_bytes(file[:size])
    assert refused > 400


def changed(recorded: program.Program, change: Callable[[Any], Any], path: Path) -> Path:
    """The program's file with another description."""
    recorded.save(path)
    text = json.loads(ts.io.load_metadata(path)["tessera.program"])
    tensors = {name: ts.asarray(each.numpy().copy()) for name, each in ts.load_file(path).items()}
    change(text)
    ts.save_file(tensors, path, {"tessera.program": json.dumps(text)})
    return path


def test_p17_a_file_cannot_lead_out_of_memory(tmp_path: Path) -> None:
    a, b = nn.Parameter(ts.ones(4)), nn.Parameter(ts.ones(4))
    recorded = program.record(lambda x: x * a + b, ts.ones(4), parameters={"a": a, "b": b})

    def shares_one_element(text: Any) -> None:
        first, second = text["tensors"]
        first["strides"] = [0]
        second.update(alias={"of": first["value"], "offset": 0}, strides=[1], shape=[4])

    def stores_an_input(text: Any) -> None:
        text["tensors"][0]["value"] = text["inputs"][0]["value"]

    for change, message in [(shares_one_element, "gaps"), (stores_an_input, "an input")]:
        with pytest.raises(OSError, match=message):
            program.load(changed(recorded, change, tmp_path / "x.program"))


def test_p17_a_file_may_nest_what_it_likes() -> None:
    recorded = program.record(lambda x: x + 1, ts.ones(4)).to_bytes()
    size = int.from_bytes(recorded[:8], "little")
    header = json.loads(recorded[8 : 8 + size])
    text = json.loads(header["__metadata__"]["tessera.program"])
    for place, depth in itertools.product(("argument", "number"), (200_000, 500)):
        deep = "[" * depth + "]" * depth
        text["calls"][0]["args"][0] = "deep" if place == "argument" else {"tensor": "deep"}
        metadata = {"tessera.program": json.dumps(text).replace('"deep"', deep)}
        spelled = json.dumps({**header, "__metadata__": metadata}).encode()
        with pytest.raises(OSError, match="not a program.*no JSON" if depth > 1000 else "not a program.*array"):
            program.from_bytes(len(spelled).to_bytes(8, "little") + spelled + recorded[8 + size :])


def test_p17_parameters_may_be_parts_of_parts_of_one_memory() -> None:
    whole = ts.arange(8.0)
    parts = {"few": whole[2:4], "some": whole[1:6], "whole": whole}
    for names in (["few", "some", "whole"], ["some", "few", "whole"], ["whole", "some", "few"]):
        recorded = program.record(
            lambda x: x + whole[2:4] + parts["few"] + parts["some"][1:3], ts.ones(2), parameters={n: parts[n] for n in names}
        )
        loaded = program.from_bytes(recorded.to_bytes())
        loaded.tensor("whole")[2] = 10.0
        assert [loaded.tensor("few")[0].item(), loaded.tensor("some")[1].item()] == [10.0, 10.0]


def test_p17_a_stored_tensor_may_have_any_strides() -> None:
    whole = ts.arange(8.0)
    parts = {"whole": whole, "back": whole[6:1:-2], "one": whole[3::100]}
    alone = ts.arange(6.0).reshape(2, 3)[::-1, ::-2]  # on memory that nothing else has
    recorded = program.record(lambda x: (x + parts["back"][:2] + parts["one"]) * alone, ts.ones(2), parameters=parts)
    loaded = program.from_bytes(recorded.to_bytes())
    for _ in range(3):
        np.testing.assert_array_equal(loaded(ts.ones(2)).numpy(), recorded(ts.ones(2)).numpy())
    loaded.tensor("whole")[4] = 100.0
    loaded.tensor("whole")[3] = 50.0
    np.testing.assert_array_equal(loaded.tensor("back").numpy(), [6, 100, 2])
    np.testing.assert_array_equal(loaded.tensor("one").numpy(), [50])


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("back", {"strides": [-4]}, r"'back', with offset 6, shape \[3\] and strides \[-4\], leaves the 8 elements"),
        ("back", {"strides": [1]}, "leaves the 8 elements"),
        ("back", {"strides": [2, 1]}, r"'back' has the shape \[3\] and the strides \[2, 1\]"),
        ("back", {"strides": [-(2**62)]}, r"'back': expected offsets .* strides \[-4611686018427387904\]"),
        ("back", {"shape": [2**62], "strides": [0]}, "'back': expected fewer than"),
        ("back", {"offset": -1}, "'back', with offset -1"),
        ("back", {"offset": 9}, "'back', with offset 9"),
        ("back", {"offset": 2**63 - 1}, "'back', with offset"),
        ("alone", {"strides": [1]}, r"'alone' has the shape \[2, 2\] and the strides \[1\]"),
        ("alone", {"strides": [-(2**62), 1]}, "'alone': expected offsets"),
    ],
)
def test_p17_strides_that_lead_out_of_memory_are_refused(
    name: str, change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    whole = ts.arange(8.0)
    parts = {"whole": whole, "back": whole[6:1:-2], "alone": ts.arange(6.0).reshape(2, 3)[::-1, ::-2]}
    recorded = program.record(lambda x: x + parts["back"][0] + parts["alone"], ts.ones(2), parameters=parts)

    def edit(text: Any) -> None:
        row = next(each for each in text["tensors"] if each["name"] == name)
        for key, value in change.items():
            (row["alias"] if key == "offset" else row)[key] = value

    with pytest.raises(OSError, match=message):
        program.load(changed(recorded, edit, tmp_path / "x.program"))


def test_p17_a_hook_cannot_save_the_program_that_runs() -> None:
    w = nn.Parameter(ts.ones(4))
    optimizer = optim.SGD([w], lr=0.1)

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = (x * w).sum()
        loss.backward()
        optimizer.step()
        return loss

    recorded = program.record(step, ts.ones(4), parameters={"w": w})
    errors: list[str] = []

    def hook(grad: Any) -> None:
        for call in (recorded.to_bytes, recorded.describe):
            with pytest.raises(ts.InvalidValueError, match="running the program"):
                call()
            errors.append(call.__name__)

    w.register_hook(hook)
    recorded(ts.ones(4))
    assert errors == ["to_bytes", "describe"]
