# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.torch answers the calls of torch_expressions.py as PyTorch does: values, shapes, dtypes."""

import functools
from typing import Any

import numpy as np
import pytest
from torch_expressions import FAMILIES, expressions, inputs

import tessera.torch as ours
from tessera.torch._rows import Missing

theirs = pytest.importorskip("torch")

ROWS = list(dict.fromkeys(row for family in FAMILIES for row in expressions(family)))


@functools.cache
def known(module: Any) -> dict[str, Any]:
    return inputs(module)


def evaluated(module: Any, row: str) -> Any:
    return eval(row, dict(known(module)))


def kind(tensor: Any) -> str:
    return str(tensor.dtype).rpartition(".")[2]


def same(got: Any, expected: Any) -> None:
    """Both results are the same, tensors and what holds them."""
    if isinstance(expected, theirs.Tensor):
        assert isinstance(got, ours.Tensor), type(got)
        assert (tuple(got.shape), kind(got)) == (tuple(expected.shape), kind(expected))
        tight = {"rtol": 1e-5, "atol": 1e-6, "equal_nan": True}
        np.testing.assert_allclose(got.detach().numpy(), expected.detach().resolve_conj().numpy(), **tight)
    elif isinstance(expected, (tuple, list)):
        assert len(got) == len(expected)
        assert isinstance(got, (tuple, list))
        assert isinstance(got, tuple) or isinstance(expected, list)
        for ours_, theirs_ in zip(got, expected):
            same(ours_, theirs_)
    elif isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(got, expected)
    elif isinstance(expected, float):
        assert type(got) is float
        assert got == pytest.approx(expected, rel=1e-5)
    else:
        assert type(got) is type(expected)
        assert got == expected


@pytest.mark.filterwarnings("ignore::UserWarning")  # of PyTorch, about its own old functions
@pytest.mark.parametrize("row", ROWS)
def test_a_call_gives_what_pytorch_gives(row: str) -> None:
    try:
        got = evaluated(ours, row)
    except Missing as error:
        pytest.fail(str(error))
    same(got, evaluated(theirs, row))


def test_the_table_has_several_hundred_calls() -> None:
    assert len(ROWS) > 900


KINDS = ["bool", "uint8", "int8", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
PAIRS = {
    "a + b": lambda m, a, b: a + b,
    "add": lambda m, a, b: m.add(a, b),
    "mul": lambda m, a, b: a.mul(b),
    "div": lambda m, a, b: a / b,
    "where": lambda m, a, b: m.where(a == a, a, b),
    "result_type": lambda m, a, b: m.result_type(a, b),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("first", KINDS)
def test_operands_without_axes_are_promoted_as_pytorchs(name: str, first: str) -> None:
    for second in KINDS:
        if ({first, second} & {"float16", "bfloat16"}) and ({first, second} & {"complex64", "complex128"}):
            continue  # PyTorch's complex32, which the library does not have
        for shapes in [((2,), ()), ((), (2,)), ((), ()), ((2,), (2,))]:
            found = []
            for module in (ours, theirs):
                a, b = (module.ones(shape, dtype=getattr(module, kind)) for shape, kind in zip(shapes, (first, second), strict=True))
                result = PAIRS[name](module, a, b)
                found.append(str(getattr(result, "dtype", result)).rpartition(".")[2])
            assert found[0] == found[1], (second, shapes)


def test_an_operand_without_axes_keeps_its_gradient_and_its_dtype() -> None:
    x = ours.ones(3, dtype=ours.float16, requires_grad=True)
    scale = ours.nn.Parameter(ours.tensor(0.5))
    y = x * scale.exp()
    y.sum().backward()
    assert (y.dtype, x.grad.dtype, scale.grad.dtype) == (ours.float16, ours.float16, ours.float32)
    np.testing.assert_allclose(scale.grad.item(), 3 * np.exp(0.5), rtol=1e-3)
    x = ours.ones(2, dtype=ours.int32)
    x *= ours.tensor(3)
    assert x.tolist() == [3, 3] and x.dtype == ours.int32
    assert x.clamp(min=ours.tensor(4)).dtype == ours.int32 and ours.result_type(1, 2.0) == ours.float32
    with pytest.raises(RuntimeError, match="float32"):
        x += ours.tensor(1.5)
    out = ours.empty(2, dtype=ours.float16)
    assert ours.mul(ours.ones(2, dtype=ours.float16), ours.tensor(2.0), out=out) is out and out.tolist() == [2.0, 2.0]


INDICES = [
    "0, :, [1, 2]", "0, :, :, [1, 2]", ":, 0, :, [1, 2]", "[0, 1], :, 0", "[0, 1], :, 0, [1, 0]", "0, None, [1, 2]", "0, ..., [1, 2]",
    "..., [1, 2], 0", "1, :, mask", "1, [0, 2], :, list", "one, :, list", "list - 1, :, one", "0, :, mask, 1", "0, None, :, [1, 2], None",
    "-1, 1:, [0, 1]", ":, -1, ::2, [0, 4]", "0, :, [[0, 1], [2, 3]]", "0, :, 1", ":, [0], None, 0", "0, ..., flags",
    ":, [0, 1], ..., [1, 0], :", ":, :, [0, 1], ..., [1, 0]", ":, :, [0, 1], ..., 1", ":, 0, [0, 1], ..., [1, 0]", "None, :, :, 1, ..., [1, 2]",
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES)
def test_integers_of_an_index_come_before_lists(index: str) -> None:
    results = []
    for module in (ours, theirs):
        mask = module.tensor([True, False, True, False])
        names = {"x": module.arange(120.0).reshape(2, 3, 4, 5), "one": module.tensor(1), "list": module.tensor([1, 2]), "mask": mask}
        names["flags"] = module.tensor([True] * 5)
        names["leaf"] = module.arange(120.0).reshape(2, 3, 4, 5).requires_grad_()
        found = eval(f"x[{index}]", names)
        program = f"y = x.clone(); y[{index}] = x[{index}] * 2; z = x.clone(); z[{index}] += 1; w = leaf * 1; w[{index}] = 0"
        exec(program + f"; (w * x).sum().backward(); (leaf[{index}] * x[{index}]).sum().backward()", names)
        results.append([found, names["y"], names["z"], names["leaf"].grad])
    for got, expected in zip(*results, strict=True):
        same(got, expected)


@pytest.mark.parametrize("name", ["sum", "prod", "nansum", "cumsum", "cumprod"])
def test_sums_of_bytes_are_int64(name: str) -> None:
    for more in [(0,)] if name.startswith("cum") else [(), (0,), (1, True)]:
        results = []
        for module in (ours, theirs):
            x = module.arange(6, dtype=module.uint8).reshape(2, 3)
            results.append([getattr(module, name)(x, *more), getattr(x, name)(*more), getattr(module, name)(x, *more, dtype=module.float32)]
                           if more else [getattr(module, name)(x), getattr(x, name)()])  # fmt: skip
        for got, expected in zip(*results, strict=True):
            same(got, expected)
