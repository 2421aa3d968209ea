# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of differences: what PyTorch's functions and methods are in terms of the library's.

A row is `name(PyTorch's signature) = expression`. In an expression a name is an argument, a function of the library
(tessera.add, not Python's sum or max), or an adapter of `_adapters.py`; `base` is the class of tensors of the C layer,
whose methods write in place. A name in a list of `SAME_...` is the library's own function, whose signature and meaning
are PyTorch's already. A row whose expression uses a function that the library lacks is left out, and its name is
reported as missing. A line that begins with spaces continues its row. `_rows.py` makes functions of the rows.
"""

# ---- functions of torch that are methods of Tensor as well; the first parameter is the tensor ----

SAME_BOTH = """
abs absolute acos acosh addbmm addcdiv addcmul addmm addmv addr angle arccos arccosh arcsin arcsinh arctan arctan2
arctanh argwhere asin asinh atan atan2 atanh baddbmm bincount bitwise_and bitwise_left_shift bitwise_not bitwise_or
bitwise_right_shift bitwise_xor broadcast_to ceil clamp clip conj copysign corrcoef cos cosh deg2rad detach diagflat
digamma dist dot dsplit eq erf erfc erfinv exp exp2 expm1 fliplr flipud floor floor_divide fmax fmin fmod frac gcd ge
greater greater_equal gt hsplit hypot i0 igamma igammac imag index_put inner isclose isfinite isinf isnan isneginf
isposinf kron lcm ldexp le less less_equal lgamma log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not
logical_or logical_xor logit lt masked_fill masked_scatter masked_select matmul matrix_exp matrix_power maximum minimum
moveaxis movedim msort mul multiply nan_to_num ne neg negative nextafter not_equal permute positive rad2deg ravel real
reciprocal relu remainder reshape rsqrt sigmoid sign signbit sin sinc sinh sqrt square tan tanh trace tril triu trunc
vdot view_as_complex view_as_real vsplit xlogy
"""

BOTH = """
add(input, other, *, alpha=1, out=None) = add(input, times(other, alpha), out=out)
adjoint(input) = conj(matrix_transpose(input))
all(input, dim=None, keepdim=False, *, out=None) = all(input, dim, keepdims=keepdim, out=out)
allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False) = truth(allclose(input, other, rtol, atol, equal_nan))
amax(input, dim=(), keepdim=False, *, out=None) = amax(input, some(dim), keepdims=keepdim, out=out)
amin(input, dim=(), keepdim=False, *, out=None) = amin(input, some(dim), keepdims=keepdim, out=out)
aminmax(input, *, dim=None, keepdim=False, out=None) = named("aminmax", aminmax(input, dim, keepdims=keepdim, out=out))
any(input, dim=None, keepdim=False, *, out=None) = any(input, dim, keepdims=keepdim, out=out)
argmax(input, dim=None, keepdim=False) = argmax(input, dim, keepdims=keepdim)
argmin(input, dim=None, keepdim=False) = argmin(input, dim, keepdims=keepdim)
argsort(input, dim=-1, descending=False, *, stable=False) = argsort(input, dim, descending, stable)
as_strided(input, size, stride, storage_offset=None) = as_strided(input, size, stride, storage_offset)
as_strided_scatter(input, src, size, stride, storage_offset=None)
    = as_strided_scatter(input, src, size, stride, storage_offset)
bernoulli(input, p=None, *, generator=None) = drawn(input, p, generator)
bmm(input, mat2, *, out=None) = bmm(input, mat2, out=out)
cholesky(input, upper=False) = cholesky(input, upper=upper)
cholesky_inverse(input, upper=False) = cholesky_inverse(input, upper)
cholesky_solve(input, input2, upper=False) = cholesky_solve(input, input2, upper)
chunk(input, chunks, dim=0) = chunk(input, chunks, dim)
clamp_max(input, max) = clip(input, None, max)
clamp_min(input, min) = clip(input, min, None)
clone(input, *, memory_format=None) = like_format(clone(input), memory_format)
conj_physical(input, *, out=None) = conj(input, out=out)
count_nonzero(input, dim=None) = count_nonzero(input, dim)
cov(input, *, correction=1, fweights=None, aweights=None)
    = cov(input, correction=correction, fweights=fweights, aweights=aweights)
cross(input, other, dim=None, *, out=None) = cross(input, other, axis=axis_of_three(input, other, dim), out=out)
cummax(input, dim) = named("cummax", cummax(input, dim))
cummin(input, dim) = named("cummin", cummin(input, dim))
cumprod(input, dim, *, dtype=None, out=None) = cumulative_prod(input, dim, dtype, out=out)
cumsum(input, dim, *, dtype=None, out=None) = cumulative_sum(input, dim, dtype, out=out)
det(input) = det(input)
diag(input, diagonal=0, *, out=None) = diag(input, diagonal, out=out)
diag_embed(input, offset=0, dim1=-2, dim2=-1) = diag_embed(input, offset, dim1, dim2)
diagonal(input, offset=0, dim1=0, dim2=1) = diagonal(input, offset, dim1, dim2)
diagonal_scatter(input, src, offset=0, dim1=0, dim2=1) = diagonal_scatter(input, src, offset, dim1, dim2)
diff(input, n=1, dim=-1, prepend=None, append=None) = diff(input, n, dim, prepend, append)
div(input, other, *, rounding_mode=None, out=None) = divided(input, other, rounding_mode, out)
divide(input, other, *, rounding_mode=None, out=None) = divided(input, other, rounding_mode, out)
equal(input, other) = truth(array_equal(input, other))
fix(input, *, out=None) = trunc(input, out=out)
flatten(input, start_dim=0, end_dim=-1) = flatten(input, start_dim, end_dim)
flip(input, dims, *more) = flip(input, many(dims, more))
float_power(input, exponent, *, out=None) = float_power(input, exponent, out=out)
gather(input, dim, index, *, sparse_grad=False, out=None) = gather(input, dim, index, out=out)
ger(input, vec2, *, out=None) = outer(input, vec2, out=out)
hardshrink(input, lambd=0.5) = hardshrink(input, lambd)
heaviside(input, values, *, out=None) = heaviside(input, values, out=out)
histc(input, bins=100, min=0, max=0) = histc(input, bins, min, max)
histogram(input, bins, *, range=None, weight=None, density=False) = counted(input, bins, range, weight, density)
index_add(input, dim, index, source, *, alpha=1) = index_add(input, dim, index, source, alpha=alpha)
index_copy(input, dim, index, source) = index_copy(input, dim, index, source)
index_fill(input, dim, index, value) = index_fill(input, dim, index, value)
index_reduce(input, dim, index, source, reduce, *, include_self=True)
    = index_reduce(input, dim, index, source, reduce, include_self=include_self)
index_select(input, dim, index, *, out=None) = index_select(input, dim, index, out=out)
inverse(input, *, out=None) = inv(input, out=out)
is_conj(input) = False
is_inference(input) = input._inference
is_neg(input) = False
is_nonzero(input) = truth(input)
is_same_size(input, other) = input.shape == other.shape
is_signed(input) = input.dtype.is_signed
isreal(input) = equal(imag(input), 0) if input.is_complex() else ones_like(input, dtype=bool_)
istft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None,
        length=None, return_complex=False)
    = istft(input, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex)
kthvalue(input, k, dim=-1, keepdim=False) = named("kthvalue", kthvalue(input, k, dim, keepdim))
lerp(input, end, weight, *, out=None) = lerp(input, end, weight, out=out)
log_softmax(input, dim, dtype=None) = log_softmax(input, dim, dtype=dtype)
logcumsumexp(input, dim, *, out=None) = logcumsumexp(input, dim, out=out)
logdet(input) = logdet(input)
logsumexp(input, dim, keepdim=False, *, out=None) = logsumexp(input, dim, keepdims=keepdim, out=out)
max(input, dim=None, keepdim=False, *, other=None, out=None) = extreme("max", input, dim, keepdim, other, out)
mean(input, dim=None, keepdim=False, *, dtype=None, out=None)
    = mean(input, some(dim), keepdims=keepdim, dtype=dtype, out=out)
median(input, dim=None, keepdim=False) = middle("median", input, dim, keepdim)
min(input, dim=None, keepdim=False, *, other=None, out=None) = extreme("min", input, dim, keepdim, other, out)
mm(input, mat2, *, out=None) = mm(input, mat2, out=out)
mode(input, dim=-1, keepdim=False) = named("mode", mode(input, dim, keepdim))
multinomial(input, num_samples, replacement=False, *, generator=None, out=None)
    = multinomial(input, num_samples, replacement, generator=generator)
mv(input, vec, *, out=None) = mv(input, vec, out=out)
mvlgamma(input, p) = multigammaln(input, p)
nanmean(input, dim=None, keepdim=False, *, dtype=None, out=None)
    = nanmean(input, some(dim), keepdims=keepdim, dtype=dtype, out=out)
nanmedian(input, dim=None, keepdim=False) = middle("nanmedian", input, dim, keepdim)
nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None)
    = nanquantile(input, q, dim, keepdim, interpolation, out=out)
nansum(input, dim=None, keepdim=False, *, dtype=None, out=None)
    = nansum(input, some(dim), keepdims=keepdim, dtype=dtype, out=out)
narrow(input, dim, start, length) = narrow(input, dim, integer(start), length)
nonzero(input, *, as_tuple=False) = nonzero(input) if as_tuple else argwhere(input)
norm(input, p="fro", dim=None, keepdim=False, dtype=None, out=None) = normed(input, p, dim, keepdim, dtype, out)
numel(input) = base.numel(input)
outer(input, vec2, *, out=None) = outer(input, vec2, out=out)
pinverse(input, rcond=1e-15) = pinv(input, rtol=rcond)
pow(input, exponent, *, out=None) = pow(input, exponent, out=out)
prelu(input, weight) = prelu(input, weight)
prod(input, dim=None, keepdim=False, *, dtype=None, out=None) = prod(input, dim, keepdims=keepdim, dtype=dtype, out=out)
put(input, index, source, accumulate=False) = put(input, index, source, accumulate)
qr(input, some=True) = named("qr", qr(input, mode="reduced" if some else "complete"))
quantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None)
    = quantile(input, q, dim, keepdim, interpolation, out=out)
renorm(input, p, dim, maxnorm, *, out=None) = renorm(input, p, dim, maxnorm, out=out)
repeat_interleave(input, repeats=None, dim=None, *, output_size=None) = repeat(*counts(input, repeats), axis=dim)
resolve_conj(input) = input
resolve_neg(input) = input
roll(input, shifts, dims=None) = roll(input, shifts, dims)
rot90(input, k=1, dims=(0, 1)) = rot90(input, k, dims)
round(input, *, decimals=0, out=None)
    = round(input, out=out) if decimals == 0 else round_decimals(input, decimals, out=out)
scatter(input, dim, index, src=None, value=None, *, reduce=None, out=None)
    = scatter(input, dim, index, given(src, value), **reducing(reduce), out=out)
scatter_add(input, dim, index, src, *, out=None) = scatter_add(input, dim, index, src, out=out)
scatter_reduce(input, dim, index, src, reduce, *, include_self=True, out=None)
    = scatter_reduce(input, dim, index, src, reduce, include_self, out=out)
select(input, dim, index) = select(input, dim, integer(index))
select_scatter(input, src, dim, index) = select_scatter(input, src, dim, index)
sgn(input, *, out=None) = sign(input, out=out)
slice_scatter(input, src, dim=0, start=None, end=None, step=1) = slice_scatter(input, src, dim, start, end, step)
slogdet(input) = named("slogdet", slogdet(input))
softmax(input, dim, dtype=None) = softmax(input, dim, dtype=dtype)
sort(input, dim=-1, descending=False, stable=False, *, out=None)
    = named("sort", sort_with_indices(input, dim, descending, stable, out=out))
split(input, split_size_or_sections, dim=0) = parts(input, split_size_or_sections, dim)
split_with_sizes(input, split_sizes, dim=0) = split_with_sizes(input, split_sizes, dim)
squeeze(input, dim=None) = squeeze(input) if dim is None else squeezed(input, dim)
std(input, dim=None, unbiased=None, keepdim=False, *, correction=None, out=None)
    = spread(std, input, dim, unbiased, keepdim, correction, out)
stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False,
        onesided=None, return_complex=None)
    = stft(input, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, return_complex)
sub(input, other, *, alpha=1, out=None) = subtract(input, times(other, alpha), out=out)
subtract(input, other, *, alpha=1, out=None) = subtract(input, times(other, alpha), out=out)
sum(input, dim=None, keepdim=False, *, dtype=None, out=None)
    = sum(input, some(dim), keepdims=keepdim, dtype=dtype, out=out)
svd(input, some=True, compute_uv=True) = thin_svd(input, some, compute_uv)
swapaxes(input, axis0, axis1) = transpose(input, axis0, axis1)
swapdims(input, dim0, dim1) = transpose(input, dim0, dim1)
t(input) = input if input.ndim < 2 else transpose(input, 0, 1)
take(input, index) = take(input, index)
take_along_dim(input, indices, dim=None, *, out=None)
    = take_along_axis(input if dim is not None else flatten(input), indices if dim is not None else
        flatten(indices), 0 if dim is None else dim, out=out)
tensor_split(input, indices_or_sections, dim=0) = tensor_split(input, indices_or_sections, dim)
tile(input, dims, *more) = tile(input, many(dims, more))
topk(input, k, dim=-1, largest=True, sorted=True, *, out=None)
    = named("topk", topk(input, k, dim, largest, sorted, out=out))
transpose(input, dim0, dim1) = transpose(input, dim0, dim1)
triangular_solve(input, A, upper=True, transpose=False, unitriangular=False)
    = solved_triangle(input, A, upper, transpose, unitriangular)
true_divide(dividend, divisor, *, out=None) = divide(dividend, divisor, out=out)
unbind(input, dim=0) = unstack(input, dim)
unflatten(input, dim, sizes) = unflatten(input, dim, sizes)
unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None)
    = distinct(input, return_inverse, return_counts, dim)
unique_consecutive(input, return_inverse=False, return_counts=False, dim=None)
    = runs(input, return_inverse, return_counts, dim)
unsafe_chunk(input, chunks, dim=0) = chunk(input, chunks, dim)
unsafe_split(input, split_size, dim=0) = parts(input, split_size, dim)
unsafe_split_with_sizes(input, split_sizes, dim=0) = split_with_sizes(input, split_sizes, dim)
unsqueeze(input, dim) = expand_dims(input, dim)
var(input, dim=None, unbiased=None, keepdim=False, *, correction=None, out=None)
    = spread(var, input, dim, unbiased, keepdim, correction, out)
"""

# ---- functions of torch only ----

SAME_TORCH = """
atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod column_stack combinations dstack
get_num_threads hstack is_grad_enabled is_inference_mode_enabled is_tensor manual_seed promote_types can_cast
initial_seed set_num_threads row_stack vstack celu selu set_float32_matmul_precision get_float32_matmul_precision
result_type conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d enable_grad inference_mode no_grad
set_grad_enabled
"""

TORCH = """
alpha_dropout(input, p=0.5, train=False) = alpha_dropout(input, p, train)
alpha_dropout_(input, p, train) = base.copy_(input, alpha_dropout(input, p, train))
arange(start=0, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, requires_grad=False)
    = made(counting(start, end, step, dtype, device, requires_grad), out)
as_strided_(input, size, stride, storage_offset=None) = reshaped(input, as_strided(input, size, stride, storage_offset))
as_tensor(data, dtype=None, device=None) = made(asarray(data, dtype=default_for(data, dtype), device=device))
asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False)
    = made(leaf(asarray(obj, dtype=default_for(obj, dtype), device=device, copy=copy), requires_grad))
bartlett_window(window_length, periodic=True, *, dtype=None, device=None, requires_grad=False)
    = made(bartlett_window(window_length, periodic, dtype=floating(dtype), device=device,
        requires_grad=requires_grad))
batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled=True)
    = batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
bilinear(input1, input2, weight, bias=None) = bilinear(input1, input2, weight, bias)
binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction="mean")
    = binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)
blackman_window(window_length, periodic=True, *, dtype=None, device=None, requires_grad=False)
    = made(blackman_window(window_length, periodic, dtype=floating(dtype), device=device,
        requires_grad=requires_grad))
broadcast_shapes(*shapes) = Size(broadcast_shapes(*shapes))
bucketize(input, boundaries, *, out_int32=False, right=False, out=None)
    = bucketize(tensor_of(input), boundaries, right=right, out_int32=out_int32, out=out)
cat(tensors, dim=0, *, out=None) = joined(tensors, dim, out)
cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary") = cdist(x1, x2, p)
chain_matmul(*matrices) = multi_dot(list(matrices))
channel_shuffle(input, groups) = channel_shuffle(input, groups)
complex(real, imag, *, out=None) = complex(real, imag, out=out)
concat(tensors, dim=0, *, out=None) = joined(tensors, dim, out)
concatenate(tensors, dim=0, *, out=None) = joined(tensors, dim, out)
constant_pad_nd(input, pad, value=0) = padded(input, tuple(pad), "constant", value)
cosine_similarity(x1, x2, dim=1, eps=1e-08) = cosine_similarity(x1, x2, dim, eps)
cumulative_trapezoid(y, x=None, *, dx=1, dim=-1) = cumulative_trapezoid(y, x, dx, dim)
dropout(input, p, train) = dropout(input, p, train)
dropout_(input, p, train) = dropout_(input, p, train)
einsum(equation, *operands) = einsum(equation, *operands)
embedding(weight, indices, padding_idx=None, scale_grad_by_freq=False, sparse=False)
    = embedding(indices, weight, padding_idx)
empty(*size, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False,
        memory_format=None)
    = made(empty(sizes(size), dtype=floating(dtype), device=device, requires_grad=requires_grad), out)
empty_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None)
    = empty_like(input, dtype=dtype, device=device, requires_grad=requires_grad)
empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False)
    = made(empty_strided(size, stride, dtype=floating(dtype), device=device, requires_grad=requires_grad))
eye(n, m=None, *, out=None, dtype=None, layout=None, device=None, requires_grad=False)
    = made(eye(n, m, dtype=floating(dtype), device=device, requires_grad=requires_grad), out)
fill(input, value) = full_like(input, number(value))
frobenius_norm(input, dim, keepdim=False) = norm(input, 2.0, dim, keepdim)
from_dlpack(ext_tensor) = made(from_dlpack(ext_tensor))
from_numpy(ndarray) = made(from_numpy(ndarray))
frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False)
    = made(leaf(frombuffer(buffer, dtype=dtype, count=count, offset=offset), requires_grad))
full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, requires_grad=False)
    = made(full(sizes((size,)), number(fill_value), dtype=default_for(fill_value, dtype), device=device,
        requires_grad=requires_grad), out)
full_like(input, fill_value, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None)
    = full_like(input, number(fill_value), dtype=dtype, device=device, requires_grad=requires_grad)
get_device(input) = -1 if input.device.type == "cpu" else input.device.index
group_norm(input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True)
    = group_norm(input, num_groups, weight, bias, eps)
hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, device=None, requires_grad=False)
    = made(hamming_window(window_length, periodic, alpha, beta, dtype=floating(dtype), device=device,
        requires_grad=requires_grad))
hann_window(window_length, periodic=True, *, dtype=None, device=None, requires_grad=False)
    = made(hann_window(window_length, periodic, dtype=floating(dtype), device=device, requires_grad=requires_grad))
is_complex(input) = base.is_complex(input)
is_floating_point(input) = base.is_floating_point(input)
isin(elements, test_elements, *, assume_unique=False, invert=False)
    = isin(tensor_of(elements), tensor_of(test_elements), invert=invert)
kaiser_window(window_length, periodic=True, beta=12.0, *, dtype=None, device=None, requires_grad=False)
    = made(kaiser_window(window_length, periodic, beta, dtype=floating(dtype), device=device,
        requires_grad=requires_grad))
layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True)
    = layer_norm(input, normalized_shape, weight, bias, eps)
linspace(start, end, steps, *, out=None, dtype=None, layout=None, device=None, requires_grad=False)
    = made(linspace(number(start), number(end), steps, dtype=floating(dtype), device=device,
        requires_grad=requires_grad), out)
logspace(start, end, steps, base=10.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False)
    = made(logspace(number(start), number(end), steps, base, dtype=floating(dtype), device=device,
        requires_grad=requires_grad), out)
meshgrid(*tensors, indexing="ij") = meshgrid(*tensors, indexing=indexing)
normal(mean, std=1.0, size=None, *, generator=None, dtype=None, device=None, requires_grad=False, out=None)
    = made(gaussian(mean, std, size, generator, dtype, device, requires_grad), out)
nuclear_norm(input, dim=None, keepdim=False) = normed(input, "nuc", dim, keepdim, None, None)
ones(*size, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False)
    = made(ones(sizes(size), dtype=floating(dtype), device=device, requires_grad=requires_grad), out)
ones_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None)
    = ones_like(input, dtype=dtype, device=device, requires_grad=requires_grad)
pairwise_distance(x1, x2, p=2.0, eps=1e-06, keepdim=False) = pairwise_distance(x1, x2, p, eps, keepdim)
pixel_shuffle(input, upscale_factor) = pixel_shuffle(input, upscale_factor)
pixel_unshuffle(input, downscale_factor) = pixel_unshuffle(input, downscale_factor)
poisson(input, generator=None) = poisson(input, generator=generator)
polar(abs, angle, *, out=None) = polar(abs, angle, out=out)
polygamma(n, input, *, out=None) = polygamma(input, n, out=out)
rand(*size, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False)
    = made(rand(sizes(size), dtype=floating(dtype), device=device, generator=generator,
        requires_grad=requires_grad), out)
rand_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None)
    = rand_like(input, dtype=dtype, device=device, requires_grad=requires_grad)
randint(low, high=None, size=None, *, generator=None, out=None, dtype=None, layout=None, device=None,
        requires_grad=False)
    = made(whole(low, high, size, generator, dtype, device, requires_grad), out)
randint_like(input, low, high=None, *, dtype=None, layout=None, device=None, requires_grad=False,
        memory_format=None)
    = randint_like(input, *(between(low, high)), dtype=dtype, device=device, requires_grad=requires_grad)
randn(*size, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False)
    = made(randn(sizes(size), dtype=floating(dtype), device=device, generator=generator,
        requires_grad=requires_grad), out)
randn_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None)
    = randn_like(input, dtype=dtype, device=device, requires_grad=requires_grad)
randperm(n, *, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False,
        pin_memory=False)
    = made(randperm(n, dtype=dtype, device=device, generator=generator, requires_grad=requires_grad), out)
range(start=0, end=None, step=1, *, dtype=None, device=None, requires_grad=False)
    = made(closed(start, end, step, floating(dtype), device, requires_grad))
relu_(input) = base.relu_(input)
rms_norm(input, normalized_shape, weight=None, eps=None) = rms_norm(input, normalized_shape, weight, eps)
rsub(input, other, *, alpha=1) = subtract(other, times(input, alpha))
scalar_tensor(s, *, dtype=None, device=None, requires_grad=False)
    = made(full((), s, dtype=dtype or get_default_dtype(), device=device, requires_grad=requires_grad))
searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None, out=None)
    = placed(sorted_sequence, input, out_int32, right, side, sorter, out)
set_flush_denormal(mode) = False
set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None)
    = set_printoptions(**options_of(precision, threshold, edgeitems, linewidth, profile, sci_mode))
squeeze_copy(input, dim=None) = clone(squeeze(input) if dim is None else squeezed(input, dim))
stack(tensors, dim=0, *, out=None) = stack(list(tensors), dim, out=out)
std_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None)
    = tuple_of(spread(std_mean, input, dim, unbiased, keepdim, correction, None))
tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False)
    = made(tensor(data, dtype=default_for(data, dtype), device=device, requires_grad=requires_grad))
tensordot(a, b, dims=2, out=None) = tensordot(a, b, axes=dims, out=out)
trapezoid(y, x=None, *, dx=1, dim=-1) = trapezoid(y, x, dx, dim)
trapz(y, x=None, *, dx=1, dim=-1) = trapezoid(y, x, dx, dim)
tril_indices(row, col, offset=0, *, dtype=None, device=None, layout=None)
    = made(tril_indices(row, col, offset, dtype=dtype, device=device))
triu_indices(row, col, offset=0, *, dtype=None, device=None, layout=None)
    = made(triu_indices(row, col, offset, dtype=dtype, device=device))
typename(obj) = typename(obj)
unravel_index(indices, shape) = unravel(indices, shape)
unsqueeze_copy(input, dim) = clone(expand_dims(input, dim))
vander(x, N=None, increasing=False) = vandermonde(x, N, increasing)
var_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None)
    = tuple_of(spread(var_mean, input, dim, unbiased, keepdim, correction, None))
where(condition, input=None, other=None, *, out=None) = chosen(condition, input, other, out)
zeros(*size, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False)
    = made(zeros(sizes(size), dtype=floating(dtype), device=device, requires_grad=requires_grad), out)
zeros_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None)
    = zeros_like(input, dtype=dtype, device=device, requires_grad=requires_grad)
"""

# ---- methods of Tensor only ----

SAME_METHODS = """
T abs_ absolute_ acos_ acosh_ addbmm_ addcdiv_ addcmul_ addmm_ addmv_ addr_ arccos_ arccosh_ arcsin_ arcsinh_ arctan2_
arctan_ arctanh_ asin_ asinh_ atan2_ atan_ atanh_ backward baddbmm_ bfloat16 bitwise_and_ bitwise_left_shift_ bitwise_not_
bitwise_or_ bitwise_right_shift_ bitwise_xor_ bool byte cauchy_ ceil_ char clamp_ clip_ copy_ copysign_ cos_ cosh_ cpu cuda
data data_ptr deg2rad_ device digamma_ dim double dtype element_size erf_ erfc_ erfinv_ exp2_ exp_ expand expand_as expm1_
float float_power_ floor_ floor_divide_ fmod_ frac_ gcd_ geometric_ grad grad_fn half heaviside_ hypot_ i0_
igamma_ igammac_ index_put_ int is_complex is_cuda is_floating_point is_leaf is_pinned item itemsize lcm_ ldexp_
lgamma_ log10_ log1p_ log2_ log_ log_normal_ logit_ long mT masked_fill_ masked_scatter_ mul_ multiply_ nan_to_num_ nbytes ndim
ndimension neg_ negative_ nelement nextafter_ normal_ pin_memory polygamma polygamma_ pow_ put_ rad2deg_ reciprocal_
record_stream relu_ remainder_ requires_grad requires_grad_ reshape_as retain_grad retains_grad rsqrt_ shape short sigmoid_ sign_ sin_
sinc_ sinh_ sqrt_ square_ storage_offset tan_ tanh_ to tolist tril_ triu_ true_divide_ trunc_ type_as view view_as
xlogy_ zero_
"""

METHODS = """
H(input) = matrix_transpose(conj(input))
add_(input, other, *, alpha=1) = base.add_(input, times(other, alpha))
apply_(input, callable) = applied(input, callable)
as_strided_(input, size, stride, storage_offset=None) = reshaped(input, as_strided(input, size, stride, storage_offset))
bernoulli_(input, p=0.5, *, generator=None) = base.bernoulli_(input, p, generator=generator)
cdouble(input) = input.to(complex128)
cfloat(input) = input.to(complex64)
clamp_max_(input, max) = base.clip_(input, None, max)
clamp_min_(input, min) = base.clip_(input, min, None)
conj_physical_(input) = base.copy_(input, conj(input))
contiguous(input, memory_format=None) = like_format(base.contiguous(input), memory_format)
cumprod_(input, dim, *, dtype=None) = base.copy_(input, cumulative_prod(input, dim, dtype))
cumsum_(input, dim, *, dtype=None) = base.copy_(input, cumulative_sum(input, dim, dtype))
detach_(input) = detached(input)
dim_order(input) = order_of(input)
divide_(input, other, *, rounding_mode=None)
    = base.divide_(input, other) if rounding_mode is None else base.divide_rounded_(input, other,
        rounding_mode=rounding_mode)
div_(input, other, *, rounding_mode=None)
    = base.divide_(input, other) if rounding_mode is None else base.divide_rounded_(input, other,
        rounding_mode=rounding_mode)
eq_(input, other) = base.copy_(input, equal(input, other))
exponential_(input, lambd=1, *, generator=None) = base.exponential_(input, lambd, generator=generator)
fill_diagonal_(input, fill_value, wrap=False) = diagonal_filled(input, fill_value, wrap)
fill_(input, value) = base.fill_(input, number(value))
fix_(input) = base.trunc_(input)
get_device(input) = -1 if input.device.type == "cpu" else input.device.index
ge_(input, other) = base.copy_(input, greater_equal(input, other))
greater_equal_(input, other) = base.copy_(input, greater_equal(input, other))
greater_(input, other) = base.copy_(input, greater(input, other))
gt_(input, other) = base.copy_(input, greater(input, other))
index_add_(input, dim, index, source, *, alpha=1) = base.copy_(input, index_add(input, dim, index, source, alpha=alpha))
index_copy_(input, dim, index, source) = base.copy_(input, index_copy(input, dim, index, source))
index_fill_(input, dim, index, value) = base.copy_(input, index_fill(input, dim, index, value))
index_reduce_(input, dim, index, source, reduce, *, include_self=True)
    = base.copy_(input, index_reduce(input, dim, index, source, reduce, include_self=include_self))
is_contiguous(input, memory_format=None) = has_format(input, memory_format)
is_set_to(input, tensor) = is_same_memory(input, tensor)
is_shared(input) = False
lerp_(input, end, weight) = base.lerp_(input, end, weight)
less_equal_(input, other) = base.copy_(input, less_equal(input, other))
less_(input, other) = base.copy_(input, less(input, other))
le_(input, other) = base.copy_(input, less_equal(input, other))
logical_and_(input, other) = base.copy_(input, logical_and(input, other))
logical_not_(input) = base.copy_(input, logical_not(input))
logical_or_(input, other) = base.copy_(input, logical_or(input, other))
logical_xor_(input, other) = base.copy_(input, logical_xor(input, other))
lt_(input, other) = base.copy_(input, less(input, other))
mH(input) = matrix_transpose(conj(input))
map_(input, tensor, callable) = mapped(input, tensor, callable)
mvlgamma_(input, p) = base.copy_(input, multigammaln(input, p))
new(input, *args) = input.new_tensor(*args) if args and isinstance(args[0], (list, tuple)) else input.new_empty(*args)
new_empty(input, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False)
    = made(empty(sizes(size), dtype=dtype or input.dtype, device=device or input.device,
        requires_grad=requires_grad))
new_full(input, size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False)
    = made(full(sizes((size,)), number(fill_value), dtype=dtype or input.dtype, device=device or input.device,
        requires_grad=requires_grad))
new_ones(input, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False)
    = made(ones(sizes(size), dtype=dtype or input.dtype, device=device or input.device,
        requires_grad=requires_grad))
new_tensor(input, data, *, dtype=None, device=None, requires_grad=False)
    = made(tensor(data, dtype=dtype or input.dtype, device=device or input.device, requires_grad=requires_grad))
new_zeros(input, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False)
    = made(zeros(sizes(size), dtype=dtype or input.dtype, device=device or input.device,
        requires_grad=requires_grad))
ne_(input, other) = base.copy_(input, not_equal(input, other))
normal_(input, mean=0, std=1, *, generator=None) = base.normal_(input, mean, std, generator=generator)
not_equal_(input, other) = base.copy_(input, not_equal(input, other))
numpy(input, *, force=False) = base.numpy(detach(input).cpu() if force else input)
random_(input, low=0, high=None, *, generator=None)
    = base.random_(input, *(low, high) if high is not None else (0, low or None), generator=generator)
renorm_(input, p, dim, maxnorm) = base.renorm_(input, p, dim, maxnorm)
repeat(input, *repeats) = tile(input, sizes(repeats))
resize_as_(input, the_template, memory_format=None) = resized(input, the_template.shape)
resize_(input, *size, memory_format=None) = resized(input, sizes(size))
round_(input, *, decimals=0) = base.round_(input) if decimals == 0 else base.round_decimals_(input, decimals)
scatter_add_(input, dim, index, src) = base.scatter_add_(input, dim, index, src)
scatter_reduce_(input, dim, index, src, reduce, *, include_self=True)
    = base.copy_(input, scatter_reduce(input, dim, index, src, reduce, include_self))
scatter_(input, dim, index, src=None, value=None, *, reduce=None)
    = base.copy_(input, scatter(input, dim, index, given(src, value), **reducing(reduce)))
sgn_(input) = base.sign_(input)
size(input, dim=None) = input.shape if dim is None else input.shape[dim]
squeeze_(input, dim=None) = reshaped(input, squeeze(input) if dim is None else squeezed(input, dim))
stride(input, dim=None) = base.stride(input) if dim is None else base.stride(input, dim)
subtract_(input, other, *, alpha=1) = base.subtract_(input, times(other, alpha))
sub_(input, other, *, alpha=1) = base.subtract_(input, times(other, alpha))
sum_to_size(input, *size) = summed_to(input, sizes(size))
swapaxes_(input, axis0, axis1) = reshaped(input, transpose(input, axis0, axis1))
swapdims_(input, dim0, dim1) = reshaped(input, transpose(input, dim0, dim1))
transpose_(input, dim0, dim1) = reshaped(input, transpose(input, dim0, dim1))
type(input, dtype=None, non_blocking=False) = typed(input, dtype)
t_(input) = reshaped(input, input if input.ndim < 2 else transpose(input, 0, 1))
unfold(input, dimension, size, step) = unfold(input, dimension, size, step)
uniform_(input, low=0, high=1, *, generator=None) = base.uniform_(input, low, high, generator=generator)
unsqueeze_(input, dim) = reshaped(input, expand_dims(input, dim))
where(input, condition, other) = where(condition, input, other)
"""
