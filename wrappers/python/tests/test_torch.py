# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.torch: the class of tensors, its border with plain tensors, missing names, files, data, custom functions."""

from __future__ import annotations

import argparse
import ast
import collections
import copy
import io
import pickle
import zipfile
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessera as ts
import tessera.torch as torch
from tessera.torch import nn
from tessera.torch._names import NAMES
from tessera.torch._rows import Missing
from tessera.torch._table import METHODS, SAME_BOTH, SAME_METHODS
from tessera.torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler, random_split

# ---- the class ----


def test_results_stay_in_the_class() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    made = [
        x + 1, 2 * x, x @ x.t(), x.exp(), torch.add(x, x), x[0], x[:, None], x.sum(), x.max(1)[0], x.double(), x.detach(),
        x.data, -x, x.split(1)[0], torch.cat([x, x]), x.contiguous(), x.t().contiguous(), torch.nn.Parameter(x) * 2,
        np.float32(2) * x, x * np.ones(3, np.float32),
    ]  # fmt: skip
    assert {type(item) for item in made} == {torch.Tensor}
    x.sum().backward()
    assert type(x.grad) is torch.Tensor


def test_plain_tensors_stay_plain_and_mix_without_a_copy() -> None:
    plain = ts.ones((2, 3))
    assert type(plain + 1) is type(plain.sum(axis=1)) is ts.Tensor
    assert plain.size == 6
    assert plain.max(axis=1).shape == (2,)
    same = torch.Tensor(plain)
    assert same.data_ptr() == plain.data_ptr()
    same.mul_(3)
    assert plain[0, 0].item() == 3
    assert type(plain + same) is type(same + plain) is torch.Tensor
    back = ts.Tensor(same)
    assert type(back) is ts.Tensor
    assert back.data_ptr() == plain.data_ptr()


def test_a_shape_is_a_size() -> None:
    x = torch.zeros(2, 3, 4)
    assert repr(x.shape) == repr(x.size()) == "torch.Size([2, 3, 4])"
    assert x.shape == (2, 3, 4)
    assert isinstance(x.shape[1:], torch.Size)
    assert (x.shape + (1,)).numel() == 24
    assert x.size(-1) == 4
    assert type(ts.zeros((2,)).shape) is tuple


def test_gradients_in_hooks_are_of_the_class() -> None:
    seen = []
    x = torch.ones(3, requires_grad=True)
    x.register_hook(lambda grad: seen.append(grad.size(0)))
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.size()))
    (x * 2).sum().backward()
    assert seen == [3, (3,)]


def test_the_package_itself_avoids_members_on_which_the_classes_differ() -> None:
    """Code of the library gets tensors of both classes, so it uses functions where the methods differ."""
    differing = {"size", "nonzero", "unique", "median", "sort", "std", "var", "allclose"}
    of_arrays = {"array.size", "sizes.size", "base.size", "analytic.size", "task.size", "self.size"}
    of_groups = {"members.size", "options.size", "self._info().size", "found.size", "parent.size"}
    root = Path(ts.__file__).parent
    found = []
    for path in sorted(root.rglob("*.py")):
        if path.name == "_ops.py" or "torch" in path.relative_to(root).parts:  # _ops.py is a list of names
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in differing:
                text = ast.unparse(node)
                if text not in of_arrays | of_groups and not text.startswith(("_ops.", "np.")):
                    found.append(f"{path.relative_to(root)}:{node.lineno}: {text}")
    assert found == []


def test_every_inherited_method_of_pytorch_is_in_the_table() -> None:
    """A method that PyTorch has, too, was compared with it: it is in a list of the table."""
    rows = {row.split("(")[0] for row in METHODS.strip().splitlines()}
    known = {*SAME_BOTH.split(), *SAME_METHODS.split(), *rows, *vars(torch.Tensor)}
    inherited = {name for name in NAMES["Tensor"] if name in dir(ts.Tensor)}
    assert inherited - known == {
        "eig", "lstsq", "solve",  # removed from or deprecated in PyTorch
    }  # fmt: skip


# ---- missing names ----


def test_a_missing_name_says_so() -> None:
    for path in ("xyz", "nn.Xyz", "nn.functional.xyz", "optim.Xyz", "linalg.xyz", "special.xyz", "utils.data.Xyz"):
        owner: Any = torch
        *parents, name = path.split(".")
        for parent in parents:
            owner = getattr(owner, parent)
        with pytest.raises(NotImplementedError, match=rf"torch\.{path} is not in tessera\.torch"):
            getattr(owner, name)
        assert not hasattr(owner, name)


def test_a_missing_method_says_so() -> None:
    with pytest.raises(Missing, match=r"torch\.Tensor\.to_sparse is not in tessera\.torch"):
        torch.ones(2).to_sparse()
    with pytest.raises(AttributeError, match="no attribute 'no_such_thing'"):
        torch.ones(2).no_such_thing  # noqa: B018


def test_a_setting_that_a_layer_lacks_says_so() -> None:
    with pytest.raises(NotImplementedError, match="torch.nn.ConvTranspose2d: padding_mode='reflect'"):
        nn.ConvTranspose2d(1, 1, 3, padding_mode="reflect")
    with pytest.raises(NotImplementedError, match="pivot"):
        torch.linalg.lu(torch.ones(2, 2), pivot=False)


def test_the_table_of_coverage_is_up_to_date() -> None:
    script = Path(__file__).parents[1] / "torch_coverage.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ---- autograd ----


def test_custom_functions() -> None:
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            assert type(x) is torch.Tensor
            ctx.save_for_backward(x)
            ctx.power = 3
            return x**3

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            assert type(x) is type(grad) is torch.Tensor
            return ctx.power * grad * x.pow(2)

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Cube.apply(x)
    assert type(y) is torch.Tensor
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 12.0]


def test_custom_functions_with_setup_context() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, factor: float) -> Any:
            return x * factor

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.factor, None

    x = torch.ones(2, requires_grad=True)
    Double.apply(x, 4.0).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_grad_and_modes() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), [x])
    assert type(h) is torch.Tensor
    assert h.tolist() == [6.0, 12.0]
    unused = torch.ones(1, requires_grad=True)
    assert torch.autograd.grad(x.sum(), [x, unused], allow_unused=True)[1] is None
    assert torch.autograd.grad(x.sum(), [x, unused], materialize_grads=True)[1].tolist() == [0.0]

    @torch.no_grad()
    def quiet() -> Any:
        return x * 2

    assert not quiet().requires_grad
    with torch.set_grad_enabled(False), torch.autograd.set_detect_anomaly(True):
        assert not (x * 2).requires_grad and torch.is_anomaly_enabled()
    assert not torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()


# ---- settings ----


def test_the_default_dtype() -> None:
    try:
        torch.set_default_dtype(torch.float64)
        assert torch.zeros(2).dtype is torch.tensor([1.0]).dtype is torch.rand(2).dtype is torch.float64
        assert torch.tensor([1]).dtype is torch.arange(3).dtype is torch.int64
        assert torch.arange(0.0, 1.0, 0.5).dtype is torch.Tensor([1]).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_generators() -> None:
    generator = torch.Generator(device="cpu").manual_seed(3)
    first = torch.randn(3, generator=generator)
    assert torch.equal(torch.randn(3, generator=generator.manual_seed(3)), first)
    torch.manual_seed(1)
    with torch.random.fork_rng():
        inside = torch.rand(2)
    assert torch.equal(torch.rand(2), inside)


def test_memory_formats() -> None:
    x = torch.arange(24.0).view(1, 2, 3, 4)
    last = x.to(memory_format=torch.channels_last)
    assert last.stride() == (24, 1, 8, 2)
    assert last.is_contiguous(memory_format=torch.channels_last)
    assert not last.is_contiguous()
    assert torch.equal(last, x)
    assert last.contiguous(memory_format=torch.contiguous_format).is_contiguous()


def test_switches_of_programs() -> None:
    torch.backends.cudnn.benchmark = True
    before = ts.get_float32_matmul_precision()
    torch.backends.cuda.matmul.allow_tf32 = True
    assert ts.get_float32_matmul_precision() == "high"
    ts.set_float32_matmul_precision(before)
    assert torch.accelerator.is_available() == torch.cuda.is_available() == (torch.cuda.device_count() > 0)
    assert not torch.backends.mps.is_available()
    with torch.autocast("cpu", enabled=False):
        assert torch.GradScaler(enabled=False).scale(torch.ones(1)).item() == 1
    assert torch.__version__.startswith("2.")


def test_print_options() -> None:
    x = torch.tensor([1e-5, 1.0])
    try:
        torch.set_printoptions(precision=2, sci_mode=False)
        assert repr(x) == "tensor([0.00, 1.00])"
        torch.set_printoptions(profile="default", sci_mode=None)
        assert repr(x) == "tensor([1.0000e-05, 1.0000e+00])"
        torch.set_printoptions(threshold=float("inf"))
        assert "..." not in repr(torch.zeros(2000))
    finally:
        torch.set_printoptions(profile="default")


def test_out_arguments() -> None:
    out = torch.empty(0)
    assert torch.zeros(2, 2, out=out) is out
    assert out.shape == (2, 2)
    assert torch.add(torch.ones(2, 2), 1, out=out) is out
    assert out.sum().item() == 8


# ---- copies and files ----


def test_copies_and_pickles_keep_the_classes() -> None:
    x, p = torch.ones(2), nn.Parameter(torch.ones(2), requires_grad=False)
    layer = nn.Linear(2, 3)
    for copied in (copy.deepcopy((x, p, layer)), pickle.loads(pickle.dumps((x, p, layer)))):
        assert type(copied[0]) is torch.Tensor
        assert type(copied[1]) is nn.Parameter
        assert not copied[1].requires_grad
        assert type(copied[2]) is nn.Linear
        assert type(copied[2].weight) is nn.Parameter
        assert torch.equal(copied[2].weight, layer.weight)


def test_saved_objects_come_back(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm2d(3))
    saved = {
        "model": model.state_dict(), "epoch": 3, "loss": 0.1, "flags": [True, None, ("a", torch.float64)],
        "size": torch.Size([2, 3]), "deep": {1: torch.arange(3)},
    }  # fmt: skip
    stream = io.BytesIO()
    torch.save(saved, stream)
    stream.seek(0)
    torch.save(saved, tmp_path / "saved.pt")
    for found in (torch.load(tmp_path / "saved.pt", weights_only=True), torch.load(stream, map_location="cpu")):
        assert list(found["model"]) == list(saved["model"])
        assert type(found["model"]["0.weight"]) is torch.Tensor
        assert torch.equal(found["model"]["0.weight"], model[0].weight)
        assert found["deep"][1].tolist() == [0, 1, 2]
        assert {k: found[k] for k in ("epoch", "loss", "flags", "size")} == {
            k: saved[k] for k in ("epoch", "loss", "flags", "size")
        }
        nn.Sequential(nn.Linear(2, 3), nn.BatchNorm2d(3)).load_state_dict(found["model"])
    torch.save(torch.ones(2), tmp_path / "one.pt")
    assert torch.load(tmp_path / "one.pt").tolist() == [1.0, 1.0]
    assert list(ts.load_file(tmp_path / "one.pt")) == ["tensor"]
    mixed = {"a.b": torch.ones(1), "a": {"b": torch.zeros(1)}}  # two paths of one name
    torch.save(mixed, tmp_path / "mixed.pt")
    assert torch.load(tmp_path / "mixed.pt") == mixed


def test_objects_of_any_class_come_back_where_the_caller_says_so(tmp_path: Path) -> None:
    model, path = nn.Sequential(nn.Linear(2, 3), nn.ReLU()), tmp_path / "whole.pt"
    model[1].extra = model[0].weight
    torch.save({"model": model, "args": argparse.Namespace(lr=0.1), "seen": {3, 4}}, path)
    with pytest.raises(pickle.UnpicklingError, match="weights_only=False"):
        torch.load(path)
    found = torch.load(path, weights_only=False)
    assert torch.equal(found["model"][0].weight, model[0].weight)
    assert isinstance(found["model"][0].weight, nn.Parameter)
    assert found["model"][1].extra is found["model"][0].weight
    assert found["args"].lr == 0.1
    torch.save(argparse.Namespace(lr=0.2, kept=torch.arange(6).view(2, 3).t()), path)
    with torch.serialization.safe_globals([argparse.Namespace]):
        again = torch.load(path)
    assert again.lr == 0.2
    assert again.kept.tolist() == [[0, 3], [1, 4], [2, 5]]
    torch.save({"z": 1j, ("a", 1): {2}, "counted": collections.Counter("aab")}, path)
    assert torch.load(path) == {"z": 1j, ("a", 1): {2}, "counted": {"a": 2, "b": 1}}


def zip_with(program: bytes) -> io.BytesIO:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a/data.pkl", b"\x80\x02" + program + b".")
    stream.seek(0)
    return stream


TENSOR, INT = b"ctessera.torch._tensor\nTensor\n", b"cbuiltins\nint\n"


@pytest.mark.parametrize("of", [TENSOR, b"ctorch\nfloat32\n", b"ctessera.torch._serialization\n_rebuilt\n", b"ctorch._utils\n_rebuild_tensor_v2\n"])
@pytest.mark.parametrize("state", [b"}U\x06markedU\x03yess", b"N}U\x06markedU\x03yess\x86"])
def test_a_file_cannot_change_the_classes_that_it_names(of: bytes, state: bytes) -> None:
    with pytest.raises(pickle.UnpicklingError, match="the file changes a"):
        torch.load(zip_with(of + state + b"b"))
    assert not hasattr(torch.Tensor, "marked")
    assert not hasattr(torch.float32, "marked")


@pytest.mark.parametrize("program", [
    b"(U\x06tensorU\x07float32U\x010U\x03cpuK\x01tQ", b"K\x01Q", INT + b"]\x85R", b"}}}s", b"N]a", b"\x96" + b"\xff" * 8,
    b"\x96" + (2**62).to_bytes(8, "little"), b"\x8b\xff\xff\xff\x7f", b"q", b"h\x07", b"", b"\xff", b"X\x02\x00\x00\x00\xff\xff",
])  # fmt: skip
def test_a_damaged_pickle_is_an_error_of_pickles(program: bytes) -> None:
    with pytest.raises(pickle.UnpicklingError):
        torch.load(zip_with(program))


def test_a_device_that_is_not_there_is_no_damage_of_the_file(tmp_path: Path) -> None:
    torch.save({"z": 1j, "x": torch.ones(2)}, tmp_path / "saved.pt")
    with pytest.raises(RuntimeError, match="cuda:99"):
        torch.load(tmp_path / "saved.pt", map_location="cuda:99")


@pytest.mark.parametrize("structure", ["", "[", "{}", '{"a": 1}', '{"tensor": "y"}', '{"dict": [1]}', '{"dict": [[[], 1]]}', '{"float": "x"}'])
def test_a_damaged_description_is_an_error_of_pickles(structure: str, tmp_path: Path) -> None:
    ts.save_file({"x": ts.ones(2)}, tmp_path / "saved.pt", {"tessera.torch": structure})
    with pytest.raises(pickle.UnpicklingError, match="description of its containers"):
        torch.load(tmp_path / "saved.pt")


def test_a_file_of_the_format_before_1_6_is_named(tmp_path: Path) -> None:
    (tmp_path / "saved.pt").write_bytes(pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2))
    with pytest.raises(pickle.UnpicklingError, match="since PyTorch 1.6"):
        torch.load(tmp_path / "saved.pt")


def test_a_zip_file_with_damaged_names_is_damaged() -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("\u00e4/data.pkl", b"N.")
    with pytest.raises(zipfile.BadZipFile, match="the file is damaged"):
        torch.load(io.BytesIO(whole.getvalue().replace("\u00e4".encode(), b"\xff\xff")))


def test_files_of_pytorch_are_read(tmp_path: Path) -> None:
    theirs = pytest.importorskip("torch")
    path = str(tmp_path / "theirs.pt")
    base = theirs.arange(12.0).view(3, 4)
    theirs.save({"w": base.t(), "row": base[1], "p": theirs.nn.Parameter(base), "n": [1, (2.5, "x")],
                 "i": theirs.tensor([True]), "h": base.bfloat16(), "e": theirs.zeros(0, 2), "dtype": theirs.float32}, path)  # fmt: skip
    found = torch.load(path)
    assert found["w"].shape == (4, 3)
    assert found["w"].tolist() == base.t().tolist()
    assert found["row"].tolist() == base[1].tolist()
    assert found["p"].requires_grad
    assert found["n"] == [1, (2.5, "x")]
    assert found["h"].dtype is torch.bfloat16
    assert found["e"].shape == (0, 2)
    assert found["dtype"] is torch.float32
    found["row"].fill_(0)
    assert found["w"][0, 1].item() == 0  # views of one storage stay views
    theirs.save(theirs.nn.Linear(1, 1), path)
    with pytest.raises(pickle.UnpicklingError, match=r"the file has a torch\.nn\.modules\.linear\.Linear"):
        torch.load(path)


# ---- data ----


def test_batches_are_pytorchs() -> None:
    xs, ys = torch.arange(12.0).view(6, 2), torch.arange(6)
    (x, y), *_ = DataLoader(TensorDataset(xs, ys), batch_size=4)
    assert type(x) is type(y) is torch.Tensor
    assert x.shape == (4, 2)
    assert isinstance(next(iter(DataLoader(TensorDataset(xs, ys), batch_size=4))), list)
    assert type(TensorDataset(np.ones((4, 2)), ys[:4])[0][0]) is torch.Tensor
    samples = [{"a": 1.5, "b": (np.float32(1), "t")}] * 2
    batch = next(iter(DataLoader(samples, batch_size=2)))
    assert batch["a"].dtype is torch.float64
    assert batch["b"][1] == ("t", "t")
    assert batch["b"][0].tolist() == [1.0, 1.0]
    seen = [int(n) for part in DataLoader(TensorDataset(ys), shuffle=True, batch_size=2) for n in part[0]]
    assert sorted(seen) == list(range(6))
    assert len(DataLoader(TensorDataset(ys), batch_size=4, drop_last=True)) == 1
    plain = next(iter(DataLoader(TensorDataset(ys), batch_size=3, collate_fn=lambda items: torch.stack([i for (i,) in items]))))
    assert plain.tolist() == [0, 1, 2]


def test_splits_and_samplers() -> None:
    data = TensorDataset(torch.arange(10))
    parts = random_split(data, [0.7, 0.3], generator=torch.Generator().manual_seed(0))
    assert [len(part) for part in parts] == [7, 3]
    assert sorted(int(part[i][0]) for part in parts for i in range(len(part))) == list(range(10))
    assert [len(part) for part in random_split(data, [6, 4])] == [6, 4]
    assert set(WeightedRandomSampler([0.0, 1.0, 0.0], 5)) == {1}


# ---- python -m tessera.torch ----


def test_a_program_that_imports_torch_runs(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    (tmp_path / "beside.py").write_text("import torch\nvalue = torch.ones(1)\n")
    script.write_text(
        "import sys\nimport torch, torch.nn as nn, torch.nn.functional as F\nfrom torch.utils.data import DataLoader\n"
        "from torch import optim\nimport torch.optim.lr_scheduler\nimport beside\n"
        "from torch.nn.parameter import Parameter\nfrom torch.utils.data.dataset import Dataset\n"
        "from torch.cuda.amp import GradScaler\nassert Parameter is nn.Parameter and issubclass(GradScaler, torch.amp.GradScaler)\n"
        "try:\n    import torch.nothing\nexcept ModuleNotFoundError:\n    pass\nelse:\n    raise AssertionError\n"
        "import tessera.torch\nassert torch is tessera.torch and nn is tessera.torch.nn\n"
        "assert sys.modules['torch.nn.functional'] is F is nn.functional\n"
        "print(sys.argv[1:], __name__, torch.float32, beside.value.double())\n"
    )
    command = [sys.executable, "-m", "tessera.torch", str(script), "--steps", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == "['--steps', '3'] __main__ torch.float32 tensor([1.], dtype=torch.float64)\n"
    module = subprocess.run([*command[:3], "-m", "beside"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (module.returncode, module.stderr) == (0, "")
    done = subprocess.run(command[:3], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "usage: python -m tessera.torch script.py" in done.stderr
