# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The rest of the operators whose batching rule is "parts": shapes, elements by index, comparisons and statistics."""

from __future__ import annotations

from typing import Any

from .. import _ops
from .._core import arange, is_tensor
from .._creation import broadcast_shapes
from .._dtypes import bool_, float32, get_default_dtype, int32
from .._errors import NotSupportedError
from ._batched import is_batched, make, physical
from ._dispatch import Call, call, loop, wrapped
from ._index import Plan
from ._parts import as_list, part
from ._rules import aligned, axes, expand, expanded, padded, rank_of, shifted, whole

# ---- shapes ----


@part("flatten")
def flatten(made: Call) -> Any:
    x = made.given["input"]
    rank = rank_of(x)
    first = shifted("flatten", made.given.get("start", 0), rank) - 1
    last = shifted("flatten", made.given.get("end_axis", -1), rank) - 1
    if first > last and rank:
        return call(made.name, {**made.given, "input": x._physical[0]})
    count = 1
    for size in x.shape[first : last + 1]:
        count *= size
    return _ops.reshape(x, (*x.shape[:first], count, *x.shape[last + 1 :]))


@part("squeeze")
def squeeze(made: Call) -> Any:
    x = made.given["input"]
    rank = rank_of(x)
    wanted = made.given.get("axis")
    if wanted is None:
        places = [i for i, size in enumerate(x.shape) if size == 1]
    else:
        places = [shifted("squeeze", axis, rank) - 1 for axis in as_list(wanted)] if rank else []
    return made.batched(input=physical(x), axis=tuple(i + 1 for i in places))


@part("permute_dims")
def permute(made: Call) -> Any:
    x = made.given["input"]
    name = "axes" if "axes" in made.given else next(k for k in made.given if k != "input")
    order = [shifted("permute_dims", axis, rank_of(x)) for axis in as_list(made.given[name])] if rank_of(x) else []
    return made.batched(**{"input": physical(x), name: (0, *order)})


@part("moveaxis")
def moveaxis(made: Call) -> Any:
    rank = rank_of(made.given["input"])
    changed = {k: tuple(shifted("moveaxis", a, rank) for a in as_list(made.given[k])) for k in ("source", "destination")}
    return made.batched(input=physical(made.given["input"]), **changed)


@part("stack")
def stack(made: Call) -> Any:
    tensors = whole(made.given["tensors"], made.level)
    rank = max(rank_of(t) for t in made.given["tensors"])
    return made.batched(tensors=tensors, **{_axis_name(made): shifted("stack", _axis(made, 0), rank + 1)})


def _axis_name(made: Call) -> str:
    return made.axes[0][0] if made.axes else "axis"


def _axis(made: Call, default: Any = None) -> Any:
    return made.given.get(_axis_name(made), default)


@part("tile")
def tile(made: Call) -> Any:
    x = made.given["input"]
    counts = as_list(made.given["repetitions"])
    counts = [1] * (rank_of(x) - len(counts)) + counts
    return made.batched(input=padded(physical(x), len(counts)), repetitions=(1, *counts))


@part("repeat")
def repeat(made: Call) -> Any:
    if made.only("input"):
        return axes(_without(made, "repeats"))
    x, repeats, axis = made.given["input"], made.given["repeats"], _axis(made)
    if axis is None:
        x, axis = _ops.reshape(x, (-1,)), 0
    axis = shifted("repeat", axis, rank_of(x)) - 1
    if not x.shape[axis] or rank_of(repeats) > 1 or _lowest(repeats) < 0:
        return loop(made)  # says what is wrong
    ends = _ops.cumsum(_ops.broadcast_to(repeats, (x.shape[axis],)), 0)
    total = _ops.narrow(ends, 0, x.shape[axis] - 1, 1)
    count = int(_lowest(total))
    if count != -_lowest(_ops.negative(total)):
        return loop(made)  # the samples have results of several lengths
    places = _ops.searchsorted(ends, arange(0, count, 1, None, None), side="right")
    return _ops.take(x, places, axis)


def _lowest(tensor: Any) -> float:
    """The lowest number of all samples."""
    while is_batched(tensor):
        tensor = physical(tensor)
    return float(_ops.min(tensor))


@part("roll")
def roll(made: Call) -> Any:
    x = made.given["input"]
    if _axis(made) is None and rank_of(x) != 1:
        return _ops.reshape(_ops.roll(_ops.reshape(x, (-1,)), made.given["shift"], 0), x.shape)
    if _axis(made) is None:
        return made.batched(input=physical(x), **{_axis_name(made): (1,)})
    return axes(made)


@part("rot90")
def rot90(made: Call) -> Any:
    given = _axis(made)
    rank = rank_of(made.given["input"])
    places = tuple(shifted("rot90", axis, rank) for axis in (given if given is not None else (0, 1)))
    return made.batched(input=physical(made.given["input"]), **{_axis_name(made): places})


@part("fliplr")
def fliplr(made: Call) -> Any:
    return _ops.flip(made.given["input"], 1)


@part("flipud")
def flipud(made: Call) -> Any:
    return _ops.flip(made.given["input"], 0)


@part("diag")
def diag(made: Call) -> Any:
    x, offset = made.given["input"], made.given.get("offset", 0)
    return _ops.diag_embed(x, offset) if rank_of(x) == 1 else _ops.diagonal(x, offset)


@part("diagflat")
def diagflat(made: Call) -> Any:
    return _ops.diag_embed(_ops.reshape(made.given["input"], (-1,)), made.given.get("offset", 0))


@part("hstack", "vstack", "dstack", "column_stack")
def joins(made: Call) -> Any:
    tensors = list(made.given["tensors"])
    if made.name == "vstack":
        return _ops.concat([_ops.atleast_2d(t) for t in tensors], 0)
    if made.name == "dstack":
        return _ops.concat([_ops.atleast_3d(t) for t in tensors], 2)
    if made.name == "column_stack":
        return _ops.concat([t if rank_of(t) > 1 else _ops.reshape(t, (-1, 1)) for t in tensors], 1)
    tensors = [_ops.atleast_1d(t) for t in tensors]
    return _ops.concat(tensors, 0 if rank_of(tensors[0]) == 1 else 1)


@part("atleast_1d", "atleast_2d", "atleast_3d")
def atleast(made: Call) -> Any:
    x, wanted = made.given["input"], int(made.name[8])
    rank = rank_of(x)
    if rank >= wanted:
        return x
    places = {(0, 1): (0,), (0, 2): (0, 1), (1, 2): (0,), (0, 3): (0, 1, 2), (1, 3): (0, 2), (2, 3): (2,)}[rank, wanted]
    return _ops.expand_dims(x, places)


@part("block_diag")
def block_diag(made: Call) -> Any:
    tensors = list(made.given["tensors"])
    if any(rank_of(t) > 2 for t in tensors):
        return loop(made)  # says what is wrong
    tensors = [_ops.reshape(t, (1, -1)) if rank_of(t) < 2 else t for t in tensors]
    width, before, rows = sum(int(t.shape[1]) for t in tensors), 0, []
    for t in tensors:
        rows.append(_ops.pad(t, (before, width - before - int(t.shape[1]))))
        before += int(t.shape[1])
    return _ops.concat(rows, 0)


@part("cartesian_prod")
def cartesian_prod(made: Call) -> Any:
    tensors = list(made.given["tensors"])
    if len(tensors) == 1 or any(rank_of(t) != 1 for t in tensors):
        return tensors[0] if rank_of(tensors[0]) == 1 and len(tensors) == 1 else loop(made)
    return _ops.stack([_ops.reshape(t, (-1,)) for t in _ops.meshgrid(tensors, indexing="ij")], 1)


@part("combinations")
def combinations(made: Call) -> Any:
    x = made.given["input"]
    if rank_of(x) != 1:
        return loop(made)
    return x[call("combinations", {**made.given, "input": arange(0, x.shape[0], 1, None, x.device)})]


@part("broadcast_tensors")
def broadcast(made: Call) -> Any:
    tensors = list(made.given["tensors"])
    shape = broadcast_shapes(*(t.shape for t in tensors))
    return tuple(_ops.expand(t, shape) for t in tensors)


@part("meshgrid")
def meshgrid(made: Call) -> Any:
    tensors = list(made.given["tensors"])
    swap = made.given.get("indexing", "xy") == "xy" and len(tensors) > 1
    count = len(tensors)
    places = [1, 0, *range(2, count)] if swap else list(range(count))
    shaped = [
        _ops.reshape(t, tuple(-1 if axis == place else 1 for axis in range(count))) for t, place in zip(tensors, places)
    ]
    return _ops.broadcast_tensors(shaped)


@part("view_dtype", "view_as_complex")
def view_dtype(made: Call) -> Any:
    """The last axis must have no gaps, which a sample that is a view of the batch may have."""
    batch = physical(made.given["input"])
    return made.batched(input=batch if batch._strides[-1] == 1 and batch.ndim > 1 else _ops.contiguous(batch))


@part("as_strided", "as_strided_scatter")
def as_strided(made: Call) -> Any:
    """Strides and offset count in the memory of one sample, row-major."""
    changed = expanded(made)
    batch = _ops.contiguous(changed["input"])
    changed["input"] = _ops.clone(batch) if batch._offset else batch
    step = 1
    for size in batch.shape[1:]:
        step *= size
    shape, strides = as_list(made.given["shape"]), as_list(made.given["strides"])
    return made.batched(**changed, shape=(made.level.samples, *shape), strides=(step, *strides))


# ---- elements by index ----


@part("index_select", "take")
def index_select(made: Call) -> Any:
    x, index = made.given["input"], made.given.get("index", made.given.get("indices"))
    axis = _axis(made)
    if axis is None:
        return _ops.reshape(x, (-1,))[index]
    axis = shifted(made.name, axis, rank_of(x)) - 1
    index = _ops.reshape(index, (1,)) if made.name == "index_select" and rank_of(index) == 0 else index
    if rank_of(x) == 0:
        found = _ops.reshape(x, (1,))[index]
        return found if made.name == "take" else _ops.reshape(found, ())
    moved = _ops.moveaxis(x, axis, 0)[index]
    count = rank_of(index)
    return _ops.moveaxis(moved, tuple(range(count)), tuple(range(axis, axis + count)))


@part("embedding")
def embedding(made: Call) -> Any:
    if not made.of("weight"):
        return made.batched(input=physical(made.given["input"]))
    weight, row = made.given["weight"], made.given.get("padding_idx")
    if row is not None:  # which counts as constant
        rows = _ops.reshape(arange(0, weight.shape[0], 1, None, weight.device), (-1, 1))
        weight = _ops.where(_ops.equal(rows, row % weight.shape[0]), _ops.detach(weight), weight)
    return weight[made.given["input"]]


@part("masked_fill", "masked_fill_")
def masked_fill(made: Call) -> Any:
    x, mask, value = made.given["input"], made.given["mask"], made.given["value"]
    if not made.of("value"):
        changed, _ = aligned(made, ("input", "mask"))
        if made.name == "masked_fill" or not made.of("mask") or rank_of(mask) <= rank_of(x):
            return made.batched(**changed)
    result = _ops.where(mask, _ops.astype(value, x.dtype) if is_tensor(value) else value, x)
    return result if made.name == "masked_fill" else x.copy_(result)


@part("index_add", "index_add_", "index_copy", "index_copy_", "index_reduce", "index_reduce_", "index_fill", "index_fill_")
def index_add(made: Call) -> Any:
    if rank_of(made.given["input"]) == 0:
        return _of_a_number(made)
    if made.of("index") or made.of("value"):
        return _by_positions(made)
    names = tuple(n for n in ("input", "source") if n in made.given)
    return made.batched(**expanded(made, names), **{_axis_name(made): shifted(made.name, _axis(made), rank_of(made.given["input"]))})


def _of_a_number(made: Call) -> Any:
    """The operator on samples of no axes, as on lines of one number."""
    if made.name.endswith("_") or any(rank_of(made.given[n]) > 1 for n in ("index", "source") if n in made.given):
        return loop(made)
    lines = {n: _ops.reshape(made.given[n], (-1,)) for n in ("input", "index", "source") if n in made.given}
    return _ops.reshape(call(made.name, {**made.given, **lines}), ())


def _by_positions(made: Call) -> Any:
    """The operator with an index for each element, by which that of each sample may be another one."""
    given = made.given
    x, index = given["input"], given["index"]
    here = "_" if made.name.endswith("_") else ""
    axis = shifted(made.name, _axis(made), rank_of(x)) - 1
    if rank_of(index) > 1:
        return loop(made)  # says what is wrong
    line = _ops.reshape(index, (*(1,) * axis, -1, *(1,) * (rank_of(x) - axis - 1)))
    places = _ops.expand(line, (*x.shape[:axis], line.shape[axis], *x.shape[axis + 1 :]))
    name = made.name.rstrip("_")
    if name == "index_fill":
        mask = _ops.scatter(_ops.zeros(x.shape, dtype=bool_, device=x.device), axis, places, True)
        return call("masked_fill" + here, {"input": x, "mask": mask, "value": given["value"]})
    source = given["source"]
    if tuple(source.shape) != tuple(places.shape):
        return loop(made)
    arguments = {"input": x, "axis": axis, "index": places, "source": source}
    if name == "index_copy":
        return call("scatter" + here, arguments)
    if name == "index_add":
        alpha = given.get("alpha", 1)
        return call("scatter_add" + here, arguments if alpha == 1 else {**arguments, "source": _ops.multiply(source, alpha)})
    options = {key: given[key] for key in ("reduce", "include_self") if key in given}
    return call("scatter_reduce" + here, {**arguments, **options})


@part("index_put", "index_put_")
def index_put(made: Call) -> Any:
    x, indices, values = made.given["input"], list(made.given["indices"]), made.given["values"]
    varying = any(is_batched(i) for i in indices)
    if made.given.get("accumulate", False):
        return _accumulated(made, indices) if varying and not any(i is None for i in indices) else _added(made, indices)
    if made.name == "index_put":
        x = make(_ops.clone(whole(x, made.level)), made.level)
    x[tuple(slice(None) if i is None else i for i in indices)] = values
    return x


def _added(made: Call, indices: list[Any]) -> Any:
    """index_put that adds, with an index of the batch as tensor[index] = value has it."""
    if any(is_tensor(i) and i.dtype is bool_ for i in indices) and is_batched(made.given["values"]):
        indices = [_ops.nonzero(i)[0] if is_tensor(i) and i.dtype is bool_ and rank_of(i) == 1 else i for i in indices]
        if any(is_tensor(i) and i.dtype is bool_ for i in indices):
            return loop(made)
    own = make(whole(made.given["input"], made.level), made.level)
    plan = Plan(own, tuple(slice(None) if i is None else i for i in indices))
    places = [None if isinstance(i, slice) else i for i in plan.key]
    values = plan.fitted(made.given["values"])
    return made.batched(input=plan.batch, indices=places, values=values)


def _accumulated(made: Call, indices: list[Any]) -> Any:
    """Every sample adds to its own row of the batch."""
    axes = max(rank_of(i) for i in indices)
    rows = _ops.reshape(arange(0, made.level.samples, 1, None, None), (made.level.samples, *(1,) * axes))
    places = [padded(whole(i, made.level), axes) for i in indices]
    rank = axes + rank_of(made.given["input"]) - len(indices)
    values = padded(whole(made.given["values"], made.level), rank)
    return made.batched(input=whole(made.given["input"], made.level), indices=[rows, *places], values=values)


@part("searchsorted")
def searchsorted(made: Call) -> Any:
    if made.only("values") and rank_of(made.given["input"]) == 1:
        return made.batched(values=physical(made.given["values"]))
    if rank_of(made.given["input"]) == rank_of(made.given["values"]):
        return expand(made)
    if rank_of(made.given["input"]) != 1 or not is_tensor(made.given["values"]):
        return loop(made)
    # One line of numbers for each sample, so the values become a line, too.
    values = made.given["values"]
    found = call("searchsorted", {**made.given, "values": _ops.reshape(values, (-1,))})
    return _ops.reshape(found, values.shape)


@part("bucketize")
def bucketize(made: Call) -> Any:
    if made.only("input"):
        return made.batched(input=physical(made.given["input"]))
    given, x = made.given, made.given["input"]
    if rank_of(given["boundaries"]) != 1:
        return loop(made)  # says what is wrong
    side = "right" if given.get("right", False) else "left"
    found = call("searchsorted", {"input": given["boundaries"], "values": x, "side": side})
    return _ops.astype(found, int32) if given.get("out_int32", False) else found


@part("isin")
def isin(made: Call) -> Any:
    return made.batched(input=physical(made.given["input"])) if made.only("input") else loop(made)


@part("masked_select")
def masked_select(made: Call) -> Any:
    mask = made.given["mask"]
    if not made.only("input"):
        return loop(made)
    x = made.given["input"]
    shape = broadcast_shapes(x.shape, mask.shape) or (1,)
    return _ops.expand(x, shape)[_ops.expand(mask, shape)]


@part("one_hot")
def one_hot(made: Call) -> Any:
    if int(made.given.get("num_classes", -1)) == -1:
        raise NotSupportedError("vmap: one_hot() needs num_classes, because the largest class may differ between samples")
    return made.batched(input=physical(made.given["input"]))


@part("msort")
def msort(made: Call) -> Any:
    return _ops.sort(made.given["input"], 0)


# ---- comparisons, statistics ----


@part("allclose")
def allclose(made: Call) -> Any:
    return _ops.all(_ops.isclose(**made.given))


@part("array_equal")
def array_equal(made: Call) -> Any:
    a, b = made.given["input"], made.given["other"]
    if tuple(a.shape) != tuple(b.shape):
        return _ops.zeros((), dtype=bool_)
    return _ops.all(_ops.equal(a, b))


@part("dist")
def dist(made: Call) -> Any:
    return _ops.vector_norm(_ops.subtract(made.given["input"], made.given["other"]), ord=float(made.given.get("p", 2)))


@part("cov", "corrcoef")
def cov(made: Call) -> Any:
    """As the library makes it, of samples: 16-bit floats in float32, integers in the default dtype."""
    x, given = made.given["input"], made.given
    if rank_of(x) > 2 or x.dtype is bool_:
        return loop(made)  # says what is wrong
    rows = x if rank_of(x) == 2 else _ops.reshape(x, (1, -1))
    if not all(_weighs(given.get(name), rows, name == "fweights") for name in ("fweights", "aweights")):
        return loop(made)
    inexact = x.dtype.is_floating_point or x.dtype.is_complex
    rows = _wide(rows) if inexact else _ops.astype(rows, get_default_dtype())
    products = _covariances(rows, given)
    if made.name == "corrcoef":
        spread = _ops.sqrt(_ops.real(_ops.diagonal(products)) if x.dtype.is_complex else _ops.diagonal(products))
        products = _ops.divide(_ops.divide(products, _ops.expand_dims(spread, (-1,))), _ops.expand_dims(spread, (-2,)))
        products = products if x.dtype.is_complex else _ops.clip(products, -1, 1)
    products = _ops.reshape(products, ()) if products.numel() == 1 else products
    return _ops.astype(products, x.dtype) if inexact else products


def _weighs(weight: Any, rows: Any, counts: bool) -> bool:
    """Whether there is a weight for each observation that the library takes."""
    if weight is None or weight.dtype.is_complex or weight.dtype is bool_ or weight.dtype.is_floating_point == counts:
        return weight is None
    lengths = (tuple(rows.shape[1:]), *([()] if rows.shape[1] == 1 else []))
    return tuple(weight.shape) in lengths and (weight.numel() == 0 or _lowest(weight) >= 0)


def _wide(tensor: Any) -> Any:
    return _ops.astype(tensor, float32) if tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4 else tensor


def _covariances(rows: Any, given: dict[str, Any]) -> Any:
    counts, shares, correction = given.get("fweights"), given.get("aweights"), given.get("correction", 1)
    if counts is None and shares is None:
        rows = _ops.subtract(rows, _ops.mean(rows, -1, keepdims=True))
        products = _ops.matmul(rows, _ops.matrix_transpose(_ops.conj(rows)))
        return _ops.divide(products, float(max(rows.shape[1] - correction, 0)))
    real = rows.real.dtype if rows.dtype.is_complex else rows.dtype
    weights = [_ops.astype(_ops.reshape(w, (-1,)), real) for w in (counts, shares) if w is not None]
    weight = _ops.multiply(*weights) if len(weights) == 2 else weights[0]
    total = _ops.sum(weight)
    rows = _ops.subtract(rows, _ops.divide(_ops.sum(_ops.multiply(rows, weight), -1, keepdims=True), total))
    products = _ops.matmul(_ops.multiply(rows, weight), _ops.matrix_transpose(_ops.conj(rows)))
    lost = correction
    if shares is not None:
        lost = _ops.divide(_ops.multiply(_ops.sum(_ops.multiply(weight, weights[-1])), correction), total)
    return _ops.divide(products, _ops.clip(_ops.subtract(total, lost), 0, None))


@part("matrix_rank_by_rtol", "pinv_by_rtol")
def by_rtol(made: Call) -> Any:
    """One tolerance for each matrix of a sample."""
    changed = expanded(made)
    changed["rtol"] = padded(changed["rtol"], rank_of(made.given["input"]) - 2)
    return made.batched(**changed)


@part("lstsq", "lstsq_solution")
def lstsq(made: Call) -> Any:
    """Residuals are there if the matrices of all samples are tall and have full rank."""
    a, b = made.given["input"], made.given["other"]
    column = rank_of(b) == 1
    if rank_of(a) < 2 or column and rank_of(a) > 2:
        return loop(made)  # says what is wrong
    other = _ops.expand_dims(b, -1) if column else b
    changed, _ = aligned(Call(made.name, {**made.given, "other": other}, made.level), expand=True)
    found = made.plain(**changed)
    parts = found._asdict()
    if column:
        parts["solution"] = _ops.squeeze(found.solution, (-1,))
    if "residuals" in parts and found.residuals.numel() == 0:
        parts["residuals"] = _ops.reshape(found.residuals, (made.level.samples, 0))
    return wrapped(type(found)(**parts), made.level)


@part("householder_product")
def householder_product(made: Call) -> Any:
    return made.batched(**expanded(made))


@part("quantile", "nanquantile")
def quantile(made: Call) -> Any:
    if not made.only("input"):
        return loop(made)
    single = rank_of(made.given["q"]) == 0
    result = axes(_without(made, "q"))
    return result if single else make(_ops.moveaxis(physical(result), 0, 1), made.level)


def _without(made: Call, name: str) -> Call:
    """The same call, whose rule does not look at one of its tensors."""
    other = Call(made.name, made.given, made.level)
    other.tensors = tuple(n for n in made.tensors if n != name)
    return other


@part("diff")
def diff(made: Call) -> Any:
    x = made.given["input"]
    axis = shifted("diff", made.given.get("axis", -1), rank_of(x)) - 1
    given = dict(made.given)
    for name in ("prepend", "append"):
        value: Any = given.get(name)
        if is_tensor(value) and rank_of(value) == 0 < rank_of(x):
            given[name] = _ops.expand(value, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))
    return expand(Call("diff", given, made.level))


@part("trapezoid", "cumulative_trapezoid")
def trapezoid(made: Call) -> Any:
    x = made.given.get("x")
    if x is None or rank_of(x) == 1 and not made.of("x"):
        return axes(_without(made, "x"))
    return axes(made) if rank_of(x) == rank_of(made.given["input"]) else loop(made)

