# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of the Python Array API standard 2025.12 as data: signatures, the dtypes that they take, and calls.

KINDS names the dtypes of the standard by kind; what is beyond it (16-bit floats, more dtypes for a function) is in the op
table. A call is an expression for `xp`, and one for NumPy on the same arrays that says what must come out. In both a is
of shape (2, 3, 4), b of shape (2, 4, 5), s a sorted vector of 7, m a stack of two regular 3 x 3 matrices, p of positive
definite, h of Hermitian ones, r a stack of two 4 x 3 matrices; t() makes a tensor for xp and nothing of what NumPy has.
"""

from __future__ import annotations

from collections.abc import Sequence

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",), "integer": SIGNED + UNSIGNED, "bits": (*SIGNED, *UNSIGNED, "bool"), "float": FLOATS,
    "complex": COMPLEX, "floating": FLOATS + COMPLEX, "real": SIGNED + UNSIGNED + FLOATS,
    "numeric": SIGNED + UNSIGNED + FLOATS + COMPLEX, "all": (*SIGNED, *UNSIGNED, *FLOATS, *COMPLEX, "bool"),
}  # fmt: skip

# name, kind of dtypes, name in NumPy
UNARY = [tuple(line.split()) for line in """
abs numeric absolute
acos floating arccos
acosh floating arccosh
asin floating arcsin
asinh floating arcsinh
atan floating arctan
atanh floating arctanh
bitwise_invert bits invert
ceil real ceil
conj numeric conj
cos floating cos
cosh floating cosh
exp floating exp
expm1 floating expm1
floor real floor
imag complex imag
isfinite numeric isfinite
isinf numeric isinf
isnan numeric isnan
log floating log
log10 floating log10
log1p floating log1p
log2 floating log2
logical_not bool logical_not
negative numeric negative
positive numeric positive
real numeric real
reciprocal floating reciprocal
round numeric round
sign numeric sign
signbit float signbit
sin floating sin
sinh floating sinh
sqrt floating sqrt
square numeric square
tan floating tan
tanh floating tanh
trunc real trunc
""".strip().splitlines()]  # fmt: skip

# name, kind of dtypes, name in NumPy, operator
BINARY = [tuple(line.split()) for line in """
add numeric add add
atan2 float arctan2 -
bitwise_and bits bitwise_and and_
bitwise_left_shift integer left_shift lshift
bitwise_or bits bitwise_or or_
bitwise_right_shift integer right_shift rshift
bitwise_xor bits bitwise_xor xor
copysign float copysign -
divide floating divide truediv
equal all equal eq
floor_divide real floor_divide floordiv
greater real greater gt
greater_equal real greater_equal ge
hypot float hypot -
less real less lt
less_equal real less_equal le
logaddexp float logaddexp -
logical_and bool logical_and -
logical_or bool logical_or -
logical_xor bool logical_xor -
maximum real maximum -
minimum real minimum -
multiply numeric multiply mul
nextafter float nextafter -
not_equal all not_equal ne
pow numeric power pow
remainder real remainder mod
subtract numeric subtract sub
""".strip().splitlines()]  # fmt: skip

SIGNATURES = """
arange(start, /, stop=None, step=1, *, dtype=None, device=None)
asarray(obj, /, *, dtype=None, device=None, copy=None)
empty(shape, *, dtype=None, device=None)
empty_like(x, /, *, dtype=None, device=None)
eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None)
from_dlpack(x, /, *, device=None, copy=None)
full(shape, fill_value, *, dtype=None, device=None)
full_like(x, /, fill_value, *, dtype=None, device=None)
linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True)
meshgrid(*arrays, indexing='xy')
ones(shape, *, dtype=None, device=None)
ones_like(x, /, *, dtype=None, device=None)
tril(x, /, *, k=0)
triu(x, /, *, k=0)
zeros(shape, *, dtype=None, device=None)
zeros_like(x, /, *, dtype=None, device=None)
astype(x, dtype, /, *, copy=True, device=None)
can_cast(from_, to, /)
finfo(type, /)
iinfo(type, /)
isdtype(dtype, kind)
result_type(*arrays_and_dtypes)
clip(x, /, min=None, max=None)
take(x, indices, /, *, axis=None)
take_along_axis(x, indices, /, *, axis=-1)
fft.fft(x, /, *, n=None, axis=-1, norm='backward')
fft.ifft(x, /, *, n=None, axis=-1, norm='backward')
fft.rfft(x, /, *, n=None, axis=-1, norm='backward')
fft.irfft(x, /, *, n=None, axis=-1, norm='backward')
fft.hfft(x, /, *, n=None, axis=-1, norm='backward')
fft.ihfft(x, /, *, n=None, axis=-1, norm='backward')
fft.fftn(x, /, *, s=None, axes=None, norm='backward')
fft.ifftn(x, /, *, s=None, axes=None, norm='backward')
fft.rfftn(x, /, *, s=None, axes=None, norm='backward')
fft.irfftn(x, /, *, s=None, axes=None, norm='backward')
fft.fftfreq(n, /, *, d=1.0, dtype=None, device=None)
fft.rfftfreq(n, /, *, d=1.0, dtype=None, device=None)
fft.fftshift(x, /, *, axes=None)
fft.ifftshift(x, /, *, axes=None)
linalg.cholesky(x, /, *, upper=False)
linalg.cross(x1, x2, /, *, axis=-1)
linalg.det(x, /)
linalg.diagonal(x, /, *, offset=0)
linalg.eig(x, /)
linalg.eigh(x, /)
linalg.eigvals(x, /)
linalg.eigvalsh(x, /)
linalg.inv(x, /)
linalg.matmul(x1, x2, /)
linalg.matrix_norm(x, /, *, keepdims=False, ord='fro')
linalg.matrix_power(x, n, /)
linalg.matrix_rank(x, /, *, rtol=None)
linalg.matrix_transpose(x, /)
linalg.outer(x1, x2, /)
linalg.pinv(x, /, *, rtol=None)
linalg.qr(x, /, *, mode='reduced')
linalg.slogdet(x, /)
linalg.solve(x1, x2, /)
linalg.svd(x, /, *, full_matrices=True)
linalg.svdvals(x, /)
linalg.tensordot(x1, x2, /, *, axes=2)
linalg.trace(x, /, *, offset=0, dtype=None)
linalg.vecdot(x1, x2, /, *, axis=-1)
linalg.vector_norm(x, /, *, axis=None, keepdims=False, ord=2)
matmul(x1, x2, /)
matrix_transpose(x, /)
tensordot(x1, x2, /, *, axes=2)
vecdot(x1, x2, /, *, axis=-1)
broadcast_arrays(*arrays)
broadcast_shapes(*shapes)
broadcast_to(x, /, shape)
concat(arrays, /, *, axis=0)
expand_dims(x, /, axis)
flip(x, /, *, axis=None)
moveaxis(x, source, destination, /)
permute_dims(x, /, axes)
repeat(x, repeats, /, *, axis=None)
reshape(x, /, shape, *, copy=None)
roll(x, /, shift, *, axis=None)
squeeze(x, /, axis)
stack(arrays, /, *, axis=0)
tile(x, repetitions, /)
unstack(x, /, *, axis=0)
argmax(x, /, *, axis=None, keepdims=False)
argmin(x, /, *, axis=None, keepdims=False)
count_nonzero(x, /, *, axis=None, keepdims=False)
nonzero(x, /)
searchsorted(x1, x2, /, *, side='left', sorter=None)
where(condition, x1, x2, /)
isin(x1, x2, /, *, invert=False)
unique_all(x, /)
unique_counts(x, /)
unique_inverse(x, /)
unique_values(x, /)
argsort(x, /, *, axis=-1, descending=False, stable=True)
sort(x, /, *, axis=-1, descending=False, stable=True)
cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False)
cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False)
max(x, /, *, axis=None, keepdims=False)
mean(x, /, *, axis=None, keepdims=False)
min(x, /, *, axis=None, keepdims=False)
prod(x, /, *, axis=None, dtype=None, keepdims=False)
std(x, /, *, axis=None, correction=0.0, keepdims=False)
sum(x, /, *, axis=None, dtype=None, keepdims=False)
var(x, /, *, axis=None, correction=0.0, keepdims=False)
all(x, /, *, axis=None, keepdims=False)
any(x, /, *, axis=None, keepdims=False)
diff(x, /, *, axis=-1, n=1, prepend=None, append=None)
__array_namespace_info__()
"""

FIELDS = {
    "eigh": ("eigenvalues", "eigenvectors"), "eig": ("eigenvalues", "eigenvectors"), "qr": ("Q", "R"),
    "slogdet": ("sign", "logabsdet"), "svd": ("U", "S", "Vh"),
    "unique_all": ("values", "indices", "inverse_indices", "counts"), "unique_counts": ("values", "counts"),
    "unique_inverse": ("values", "inverse_indices"),
}  # fmt: skip

ORDERS = ("inf", "-inf", "1", "-1", "2", "-2", "0", "3", "0.5")


def reductions() -> list[tuple[str, str, str]]:
    """Calls of what reduces axes. sum and prod widen integers to 64 bits of the same sign."""
    found = []
    for axis in ("None", "0", "-1", "(0, 2)", "()"):
        for keep in ("False", "True"):
            given = f"axis={axis}, keepdims={keep}"
            found += [(kind, f"xp.{name}(a, {given})", f"np.{name}(a, {given}, dtype=wide)") for kind, name in
                      (("numeric", "sum"), ("numeric", "prod"))]  # fmt: skip
            found += [(kind, f"xp.{name}(a, {given})", f"np.{name}(a, {given})") for kind, name in
                      (("real", "max"), ("real", "min"), ("floating", "mean"), ("all", "any"), ("all", "all"))]  # fmt: skip
            found.append(("all", f"xp.count_nonzero(a, {given})", f"np.sum(a != 0, {given}, dtype='int64')"))
            if "(" not in axis:
                found += [("real", f"xp.arg{e}(a, {given})", f"np.arg{e}(a, {given})") for e in ("max", "min")]
            if axis != "()":
                found += [("float", f"xp.{name}(a, {given}, correction={c})", f"np.{name}(a, {given}, ddof={c})") for c in
                          ("0.0", "1", "0.5") for name in ("var", "std")]  # fmt: skip
    return found


CALLS: Sequence[tuple[str, str, str]] = [
    # ---- creation ----
    ("real", "xp.arange(1, 9, 2, dtype=dtype)", "np.arange(1, 9, 2, dtype=dtype)"),
    ("real", "xp.arange(5, dtype=dtype)", "np.arange(5, dtype=dtype)"),
    ("real", "xp.arange(5, 0, dtype=dtype)", "np.arange(5, 0, dtype=dtype)"),
    ("numeric", "xp.linspace(0, 8, 5, dtype=dtype)", "np.linspace(0, 8, 5, dtype=dtype)"),
    ("floating", "xp.linspace(1, 8, 5, dtype=dtype, endpoint=False)", "np.linspace(1, 8, 5, endpoint=False, dtype=dtype)"),
    ("complex", "xp.linspace(1j, 2 - 3j, 4, dtype=dtype)", "np.linspace(1j, 2 - 3j, 4, dtype=dtype)"),
    ("all", "xp.eye(2, 4, k=-1, dtype=dtype)", "np.eye(2, 4, k=-1, dtype=dtype)"),
    ("all", "xp.full((2, 3), fill_value=1, dtype=dtype)", "np.full((2, 3), 1, dtype=dtype)"),
    ("all", "xp.full_like(a, fill_value=1)", "np.full_like(a, 1)"),
    ("all", "xp.zeros((2, 0), dtype=dtype)", "np.zeros((2, 0), dtype=dtype)"),
    ("all", "xp.ones(3, dtype=dtype)", "np.ones(3, dtype=dtype)"),
    ("all", "xp.zeros_like(a)", "np.zeros_like(a)"),
    ("all", "xp.ones_like(a)", "np.ones_like(a)"),
    ("all", "xp.tril(a, k=1)", "np.tril(a, 1)"),
    ("all", "xp.triu(a, k=-1)", "np.triu(a, -1)"),
    ("all", "xp.meshgrid(a[0, 0], a[0, :, 0])", "np.meshgrid(a[0, 0], a[0, :, 0])"),
    ("all", "xp.meshgrid(a[0, 0], a[0, :, 0], indexing='ij')", "np.meshgrid(a[0, 0], a[0, :, 0], indexing='ij')"),
    # ---- manipulation ----
    ("all", "xp.broadcast_to(a[0], (5, 3, 4))", "np.broadcast_to(a[0], (5, 3, 4))"),
    ("all", "xp.broadcast_arrays(a, a[0, 0])", "np.broadcast_arrays(a, a[0, 0])"),
    ("all", "xp.concat((a, a), axis=None)", "np.concatenate((a, a), None)"),
    ("all", "xp.concat([a, a], axis=-1)", "np.concatenate((a, a), -1)"),
    ("all", "xp.expand_dims(a, axis=1)", "np.expand_dims(a, 1)"),
    ("all", "xp.expand_dims(a, axis=(0, -1))", "np.expand_dims(a, (0, -1))"),
    ("all", "xp.expand_dims(a, (-2, 1))", "np.expand_dims(a, (-2, 1))"),
    ("all", "xp.flip(a)", "np.flip(a)"),
    ("all", "xp.flip(a, axis=(0, -1))", "np.flip(a, (0, -1))"),
    ("all", "xp.moveaxis(a, (0, 1), (-1, 0))", "np.moveaxis(a, (0, 1), (-1, 0))"),
    ("all", "xp.permute_dims(a, (-1, 0, 1))", "np.transpose(a, (-1, 0, 1))"),
    ("all", "xp.repeat(a, 2)", "np.repeat(a, 2)"),
    ("all", "xp.repeat(a, t([1, 0, 2]), axis=1)", "np.repeat(a, [1, 0, 2], 1)"),
    ("all", "xp.repeat(a, t([1, 0, 2], 'uint64'), axis=1)", "np.repeat(a, [1, 0, 2], 1)"),
    ("all", "xp.repeat(a, t([2]), axis=-1)", "np.repeat(a, [2], -1)"),
    ("all", "xp.reshape(a, (4, -1))", "np.reshape(a, (4, -1))"),
    ("all", "xp.reshape(a.mT, (24,), copy=True)", "np.reshape(np.swapaxes(a, 1, 2), (24,))"),
    ("all", "xp.roll(a, -3)", "np.roll(a, -3)"),
    ("all", "xp.roll(a, (1, -2), axis=(0, 2))", "np.roll(a, (1, -2), (0, 2))"),
    ("all", "xp.roll(a, 2, axis=(0, 2))", "np.roll(a, 2, (0, 2))"),
    ("all", "xp.squeeze(a[None, :1], axis=(0, 1))", "a[0]"),
    ("all", "xp.stack([a, a], axis=-1)", "np.stack([a, a], -1)"),
    ("all", "xp.tile(a, (2, 1, 1, 3))", "np.tile(a, (2, 1, 1, 3))"),
    ("all", "xp.tile(a, (2,))", "np.tile(a, (2,))"),
    ("all", "xp.tile(a, ())", "np.tile(a, ())"),
    ("all", "xp.unstack(a, axis=1)", "tuple(np.moveaxis(a, 1, 0))"),
    # ---- searching, sorting, sets, indexing ----
    ("all", "xp.nonzero(a)", "np.nonzero(a)"),
    ("all", "xp.where(t([True, False, True, False]), a, a[0])", "np.where([True, False, True, False], a, a[0])"),
    ("real", "xp.where(t([True, False, True, False]), a, 1)", "np.where([True, False, True, False], a, np.ones((), dtype))"),
    ("real", "xp.where(t([True, False, True, False]), 1, a)", "np.where([True, False, True, False], np.ones((), dtype), a)"),
    ("real", "xp.searchsorted(s, a)", "np.searchsorted(s, a)"),
    ("real", "xp.searchsorted(s, a, side='right')", "np.searchsorted(s, a, 'right')"),
    ("real", "xp.searchsorted(xp.flip(s), a, sorter=xp.arange(6, -1, -1))", "np.searchsorted(s, a)"),
    ("real", "xp.sort(a, axis=0)", "np.sort(a, axis=0)"),
    ("real", "xp.sort(a, descending=True)", "np.flip(np.sort(a), -1)"),
    ("real", "xp.argsort(a, axis=1)", "np.argsort(a, axis=1, kind='stable')"),
    ("real", "xp.argsort(a, descending=True)", "np.argsort(-a.astype('float64'), kind='stable')"),
    ("all", "xp.isin(a, a[0])", "np.isin(a, a[0])"),
    ("all", "xp.isin(a, a[0], invert=True)", "np.isin(a, a[0], invert=True)"),
    ("real", "xp.isin(a, 2)", "np.isin(a, 2)"),
    ("real", "xp.isin(2, a)", "np.isin(2, a)"),
    ("all", "xp.unique_values(a)", "np.unique(a)"),
    ("all", "xp.unique_counts(a)", "np.unique(a, return_counts=True)"),
    ("all", "xp.unique_inverse(a)", "(np.unique(a), np.unique(a, return_inverse=True)[1].reshape(a.shape))"),
    ("all", "xp.unique_all(a)[:2]", "np.unique(a, return_index=True)"),
    ("all", "xp.take(a, t([2, 0, -1]), axis=1)", "np.take(a, [2, 0, -1], 1)"),
    ("all", "xp.take(a, t([2, 0], 'uint64'), axis=1)", "np.take(a, [2, 0], 1)"),
    ("all", "xp.take(a[0, 0], t([[2], [0]]))", "np.take(a[0, 0], [[2], [0]])"),
    ("all", "xp.take_along_axis(a, t([[[0, 3], [1, -2], [2, 2]]]))", "np.take_along_axis(a, np.array([[[0, 3], [1, -2], [2, 2]]]), -1)"),
    ("all", "xp.take_along_axis(a, t([[[1]], [[0]]]), axis=1)", "np.take_along_axis(a, np.array([[[1]], [[0]]]), 1)"),
    # ---- statistics ----
    ("numeric", "xp.cumulative_sum(a, axis=1)", "np.cumsum(a, 1, dtype=wide)"),
    ("numeric", "xp.cumulative_prod(a, axis=-1)", "np.cumprod(a, -1, dtype=wide)"),
    ("numeric", "xp.cumulative_sum(s, include_initial=True)", "np.cumsum(np.append(np.zeros(1, dtype), s), dtype=wide)"),
    ("numeric", "xp.cumulative_prod(s, include_initial=True)", "np.cumprod(np.append(np.ones(1, dtype), s), dtype=wide)"),
    ("numeric", "xp.diff(a)", "np.diff(a)"),
    ("numeric", "xp.diff(a, axis=1, n=2, prepend=a, append=a[:, :1])", "np.diff(a, 2, 1, a, a[:, :1])"),
    ("real", "xp.clip(a, 1, 3)", "np.clip(a, np.array(1, dtype), np.array(3, dtype))"),
    ("real", "xp.clip(a, None, 3)", "np.minimum(a, np.array(3, dtype))"),
    ("real", "xp.clip(a, max=None)", "a"),
    ("real", "xp.clip(a, a[0], a[0] + 2)", "np.clip(a, a[0], a[0] + 2)"),
    ("real", "xp.clip(a, a[0], 3)", "np.minimum(np.maximum(a, a[0]), np.array(3, dtype))"),
    # ---- linear algebra ----
    ("numeric", "xp.matmul(a, b)", "np.matmul(a, b)"),
    ("numeric", "xp.matmul(a[0, 0], b)", "np.matmul(a[0, 0], b)"),
    ("numeric", "a @ b[0]", "a @ b[0]"),
    ("all", "xp.matrix_transpose(a)", "np.swapaxes(a, -1, -2)"),
    ("numeric", "xp.tensordot(a, b, axes=((2, 0), (1, 0)))", "np.tensordot(a, b, ((2, 0), (1, 0)))"),
    ("numeric", "xp.tensordot(a, b, axes=((-1, 0), (1, -3)))", "np.tensordot(a, b, ((2, 0), (1, 0)))"),
    ("numeric", "xp.tensordot(a, b, axes=0)", "np.tensordot(a, b, 0)"),
    ("numeric", "xp.tensordot(a, b[0], axes=1)", "np.tensordot(a, b[0], 1)"),
    ("numeric", "xp.vecdot(a, a[0])", "np.einsum('ijk,jk->ij', np.conj(a), a[0])"),
    ("numeric", "xp.vecdot(a, a, axis=-2)", "np.einsum('ijk,ijk->ik', np.conj(a), a)"),
    ("numeric", "xp.linalg.outer(a[0, 0], b[0, 0])", "np.outer(a[0, 0], b[0, 0])"),
    ("numeric", "xp.linalg.trace(a, offset=1)", "np.trace(a, 1, -2, -1, dtype=wide)"),
    ("all", "xp.linalg.diagonal(a, offset=-1)", "np.diagonal(a, -1, -2, -1)"),
    ("numeric", "xp.linalg.cross(a, a[:1], axis=1)", "np.cross(a, np.broadcast_to(a[:1], a.shape), axis=1)"),
    ("floating", "xp.linalg.cholesky(p)", "np.linalg.cholesky(p)"),
    ("floating", "xp.linalg.cholesky(p, upper=True)", "np.conj(np.swapaxes(np.linalg.cholesky(p), 1, 2))"),
    ("floating", "xp.linalg.det(m)", "np.linalg.det(m)"),
    ("floating", "xp.linalg.slogdet(m)", "np.linalg.slogdet(m)"),
    ("floating", "xp.linalg.inv(m)", "np.linalg.inv(m)"),
    ("floating", "xp.linalg.matrix_power(m, -2)", "np.linalg.matrix_power(m, -2)"),
    ("floating", "xp.linalg.matrix_power(m, 0)", "np.linalg.matrix_power(m, 0)"),
    ("floating", "xp.linalg.matrix_rank(r)", "np.linalg.matrix_rank(r)"),
    ("floating", "xp.linalg.matrix_rank(r, rtol=0.9)", "np.sum((lambda v: v > 0.9 * v[:, :1])(np.linalg.svd(r, compute_uv=False)), -1)"),
    ("floating", "xp.linalg.matrix_rank(r, rtol=t([1e-3, 0.9]))",
     "np.sum((lambda v: v > np.array([[1e-3], [0.9]]) * v[:, :1])(np.linalg.svd(r, compute_uv=False)), -1)"),
    ("floating", "xp.linalg.pinv(r)", "np.linalg.pinv(r)"),
    ("floating", "xp.linalg.pinv(r, rtol=0.9)", "np.linalg.pinv(r, 0.9)"),
    ("floating", "xp.linalg.pinv(r, rtol=t([1e-3, 0.9]))", "np.linalg.pinv(r, np.array([1e-3, 0.9]))"),
    ("floating", "xp.linalg.eigvalsh(h)", "np.linalg.eigvalsh(h)"),
    ("floating", "xp.linalg.svdvals(r)", "np.linalg.svd(r, compute_uv=False)"),
    ("floating", "xp.linalg.solve(m, m[0])", "np.linalg.solve(m, np.broadcast_to(m[0], m.shape))"),
    ("floating", "xp.linalg.solve(m, m[0, 0])", "np.linalg.solve(m, np.broadcast_to(m[0, 0], (2, 3))[..., None])[..., 0]"),
    *[("floating", f"xp.linalg.matrix_norm(r, ord={o}, keepdims={k})", f"np.linalg.norm(r, {o}, (-2, -1), {k})")
      for o in ("'fro'", "'nuc'", *ORDERS[:6]) for k in ("False", "True")],
    *[("floating", f"xp.linalg.vector_norm(r, ord={o}, axis=1)", f"np.linalg.norm(r, {o}, 1)") for o in ORDERS],
    *[("floating", f"xp.linalg.vector_norm(r, ord={o}, axis=(0, 2), keepdims=True)",
       f"np.linalg.norm(np.moveaxis(r, 1, 0).reshape(4, 6), {o}, 1).reshape(1, 4, 1)") for o in ORDERS],
    *[("floating", f"xp.linalg.vector_norm(r, ord={o})", f"np.linalg.norm(r.reshape(-1), {o})") for o in ORDERS],
    # ---- dtypes ----
    *[("real", f"xp.astype(a, xp.{to})", f"a.astype('int64').astype('{to}') if '{to}'[0] in 'iu' else a.astype('{to}')")
      for to in KINDS["numeric"]],
    *[("real", f"xp.{name}(a, dtype=xp.{to})", f"np.{name}(a.astype('{to}'), dtype='{to}')")
      for name in ("sum", "prod") for to in FLOATS + COMPLEX],
    ("integer", "xp.sum(a, dtype=xp.int8)", "np.sum(a, dtype='int8')"),
    ("integer", "xp.cumulative_sum(a, axis=0, dtype=xp.uint16)", "np.cumsum(a, 0, dtype='uint16')"),
    ("bool", "xp.astype(a, xp.int8)", "a.astype('int8')"),
    *reductions(),
]  # fmt: skip
