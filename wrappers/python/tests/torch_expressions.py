# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls that tessera.torch and PyTorch must answer alike: expressions over the tensors of `inputs()`.

A line is one expression, or a pattern with `{}` that stands for each of the names after ` | `; a line that begins with
spaces continues the one before.
"""

import re
from typing import Any

import numpy as np
from torch_expressions_nn import FUNCTIONAL

POINTWISE = """
torch.{}(f) | abs acos acosh angle asin asinh atan atanh ceil cos cosh deg2rad digamma erf erfc erfinv exp exp2
    expm1 floor frac i0 isfinite isinf isnan isneginf isposinf lgamma log log10 log1p log2 logical_not neg rad2deg
    reciprocal relu round rsqrt sgn sigmoid sign signbit sin sinc sinh sqrt square tan tanh trunc positive fix
    absolute negative isreal
f.{}() | abs ceil cos erf exp floor log neg reciprocal round rsqrt sigmoid sign sin sqrt square tan tanh trunc sgn frac
p.clone().{}() | abs_ ceil_ cos_ erf_ exp_ floor_ log_ neg_ reciprocal_ round_ rsqrt_ sigmoid_ sin_ sqrt_ square_
    tanh_ trunc_ relu_ zero_ sgn_ expm1_ log1p_
torch.{}(f, g) | add sub mul div true_divide maximum minimum fmax fmin atan2 hypot remainder fmod floor_divide eq ne
    lt le gt ge logical_and logical_or logical_xor copysign nextafter logaddexp logaddexp2 heaviside xlogy subtract
    multiply divide greater less not_equal arctan2 float_power pow
torch.{}(f, 2.5) | add sub mul div maximum_ fmod remainder pow eq lt ge floor_divide
torch.{}(i, j) | add sub mul div maximum minimum remainder fmod bitwise_and bitwise_or bitwise_xor gcd lcm eq lt
    bitwise_left_shift
torch.{}(i, 3) | add sub mul div remainder fmod pow bitwise_and bitwise_or eq lt
f.{}(g) | add sub mul div pow eq lt atan2 maximum fmod
f.clone().{}(g) | add_ sub_ mul_ div_ copy_ atan2_ fmod_ eq_ lt_ ge_
torch.add(f, g, alpha=2)
torch.sub(f, g, alpha=0.5)
f.add(g, alpha=3)
f.clone().add_(g, alpha=-1)
f.clone().sub_(g, alpha=2)
torch.rsub(f, g)
torch.rsub(f, 2, alpha=3)
torch.div(f, g, rounding_mode="floor")
torch.div(f, g, rounding_mode="trunc")
torch.div(i, j, rounding_mode="floor")
f.div(2, rounding_mode="trunc")
torch.round(f, decimals=2)
torch.clamp(f, -0.5, 0.5)
torch.clamp(f, min=0.1)
f.clamp(max=0.2)
torch.clamp(f, g, p)
f.clamp_min(0.1)
f.clamp_max(0.1)
torch.clip(f, -0.1, 0.3)
torch.nan_to_num(n, nan=7.0)
torch.nan_to_num(n)
torch.lerp(f, g, 0.3)
torch.lerp(f, g, p)
torch.addcmul(f, g, p, value=0.5)
torch.addcdiv(f, g, p, value=2)
torch.where(f > 0, f, g)
torch.where(f > 0, f, 0.0)
torch.where(f > 0, 1.0, 0.0)
torch.where(f > 0)
f.where(f > 0, g)
torch.logit(u, eps=1e-3)
torch.polygamma(1, p)
p.polygamma(2)
torch.mvlgamma(p + 3, 2)
torch.bitwise_not(i)
~b
b & (f > 0)
b | (f > 0)
i % 3
-i % 3
i // 2
f ** 2
2 ** f
1 / f
1 - f
f @ g.t()
torch.isclose(f, f + 1e-9)
torch.allclose(f, f)
torch.mm(input=f, mat2=g.t())
torch.pow(f, exponent=2)
f.pow(exponent=3)
torch.outer(v, vec2=v)
torch.tile(f, dims=(2, 1))
torch.true_divide(f, g)
torch.linalg.inv(A=s)
torch.equal(f, f.clone())
torch.is_floating_point(i)
torch.is_nonzero(f[0, 0])
torch.complex(f, g)
torch.polar(p, g)
c.real
c.imag
torch.abs(c)
torch.conj(c) * 1
torch.view_as_real(c)
torch.square(i)
torch.float_power(i, 2)
torch.ldexp(f, i[:, :4].float())
"""

REDUCTIONS = """
torch.{}(f) | sum mean prod max min std var median argmax argmin amax amin any all nansum logsumexp_ numel
    count_nonzero norm
torch.{}(f, 1) | sum mean prod max min median mode argmax argmin any all cumsum cumprod cummax cummin logcumsumexp
    logsumexp std var amax amin count_nonzero
torch.{}(f, 1, True) | sum mean prod max min median mode argmax argmin any all logsumexp amax amin
torch.{}(f, dim=0, keepdim=True) | sum mean prod max min median mode argmax argmin any all logsumexp amax amin std var
f.{}(dim=-1) | sum mean prod max min median mode argmax argmin any all cumsum cumprod logsumexp std var amax amin
t3.{}((0, 2)) | sum mean amax amin logsumexp
t3.sum((0, 2), True)
t3.mean(dim=[1, 2], keepdim=True)
i.sum()
i.sum(0)
i.prod()
b.sum()
b.sum(1)
i.max(1)
i.cumsum(0)
f.sum(1, dtype=torch.float64)
torch.cumsum(i, 1, dtype=torch.float32)
f.std(unbiased=False)
f.std(1, unbiased=False)
f.std(1, False)
f.std(1, True, True)
f.var(1, unbiased=True, keepdim=True)
f.var(False)
torch.var_mean(f, 1)
torch.std_mean(f, 1, unbiased=False)
torch.std(f)
torch.max(f, g)
torch.min(f, 1)[1]
f.max(1).values
f.min(0).indices
torch.aminmax(f)
torch.aminmax(f, dim=1)
torch.nanmedian(n)
torch.nanmean(n, 1)
torch.nansum(n, 1)
torch.kthvalue(f, 2)
torch.kthvalue(f, 2, 0, True)
torch.quantile(f, 0.4)
torch.quantile(f, torch.tensor([0.1, 0.9]), dim=1)
torch.norm(f, 2, 1)
torch.norm(f, p=1)
torch.norm(f, dim=1, keepdim=True)
f.norm()
f.norm(1)
f.norm(dim=0)
torch.norm(f, "nuc")
torch.dist(f, g, 3)
torch.renorm(f, 2, 0, 1.0)
torch.diff(f)
torch.diff(f, n=2, dim=0)
torch.trapezoid(f)
torch.trapz(f, dx=0.5)
torch.cumulative_trapezoid(f)
torch.cov(f)
torch.corrcoef(f)
torch.histc(f, 5, -1, 1)
torch.histc(f)
torch.bincount(k)
torch.bincount(k, minlength=9)
torch.unique(k)
torch.unique(k, return_inverse=True)
torch.unique(k, return_counts=True)
torch.unique(k, return_inverse=True, return_counts=True)
torch.unique(i % 2, dim=0)
torch.unique_consecutive(k)
torch.unique_consecutive(k, return_counts=True)
torch.count_nonzero(i % 2, dim=1)
f.any(1, True)
torch.logsumexp(f, (0, 1))
torch.softmax(f, 1)
torch.softmax(f, dim=0, dtype=torch.float64)
f.softmax(-1)
f.log_softmax(dim=1)
torch.log_softmax(f, 1)
f.argmax(1, keepdim=True)
"""

SHAPES = """
torch.flatten(t3)
torch.flatten(t3, 1)
torch.flatten(t3, start_dim=0, end_dim=1)
t3.flatten(1, 2)
t3.view(2, -1)
t3.view(-1)
t3.view((6, 4))
t3.reshape(4, 6)
t3.reshape(-1, 2)
torch.reshape(t3, (4, 6))
t3.transpose(0, 1)
t3.transpose(dim0=0, dim1=2)
torch.transpose(t3, 1, 2)
torch.swapaxes(t3, 0, 2)
torch.swapdims(t3, 0, 2)
torch.permute(t3, (2, 0, 1))
t3.permute(2, 0, 1)
t3.permute(*[0, 2, 1])
torch.movedim(t3, 0, 2)
torch.moveaxis(t3, (0, 1), (1, 2))
torch.t(f)
f.t()
f.T
t3.mT
t3.unsqueeze(1)
torch.unsqueeze(t3, dim=-1)
t3[:, :1].squeeze(1)
t3[:, :1].squeeze()
t3.squeeze(0)
torch.squeeze(t3[:, :1], dim=1)
t3[:, :1].expand(2, 5, 4)
t3[:, :1].expand(-1, 3, -1)
t3[:1].expand_as(t3)
t3.repeat(1, 2, 1)
t3.repeat(2, 1, 1, 1)
v.repeat(3)
torch.tile(v, (2, 2))
v.tile(3)
torch.repeat_interleave(v, 2)
torch.repeat_interleave(f, 2, dim=1)
torch.repeat_interleave(torch.tensor([1, 2, 3]))
f.repeat_interleave(torch.tensor([1, 2, 0]), dim=0)
torch.cat([f, g])
torch.cat((f, g), 1)
torch.cat([f, g], dim=-1)
torch.concat([f, g], dim=1)
torch.stack([f, g])
torch.stack((f, g), dim=1)
torch.stack([f, g], -1)
torch.hstack([f, g])
torch.vstack((f, g))
torch.dstack((f, g))
torch.column_stack((v, v))
torch.split(f, 2)
torch.split(f, 3, dim=1)
f.split(2, 1)
f.split([1, 3], dim=1)
torch.split(f, [1, 2])
torch.chunk(f, 2, dim=1)
f.chunk(2)
torch.unbind(f)
f.unbind(1)
torch.tensor_split(f, 2, dim=1)
torch.tensor_split(f, (1, 3), dim=1)
torch.narrow(f, 1, 1, 2)
f.narrow(0, 1, 2)
f.select(1, 2)
torch.select(f, 0, 1)
torch.flip(f, [0])
torch.flip(f, dims=(0, 1))
f.flip(1)
f.flip(0, 1)
torch.fliplr(f)
torch.flipud(f)
torch.roll(f, 1)
torch.roll(f, shifts=(1, 2), dims=(0, 1))
f.roll(1, 0)
torch.rot90(f)
torch.rot90(f, 2, [0, 1])
torch.tril(f)
torch.triu(f, diagonal=1)
f.tril(-1)
torch.diag(v)
torch.diag(f)
torch.diag(f, diagonal=1)
torch.diagonal(t3, 0, 1, 2)
torch.diagonal(f, offset=1)
torch.diag_embed(f)
torch.diagflat(v)
torch.atleast_2d(v)
torch.atleast_1d(v, f)
torch.broadcast_to(v, (2, 4))
torch.broadcast_tensors(v, f)
torch.broadcast_shapes((2, 1), (3,))
torch.meshgrid(v, v, indexing="ij")
torch.meshgrid(v, v, indexing="xy")
torch.cartesian_prod(v, v)
torch.combinations(v)
torch.block_diag(f, g)
torch.unflatten(f, 1, (2, 2)) if hasattr(torch, "unflatten") else f.unflatten(1, (2, 2))
t3.unfold(2, 2, 1)
f.as_strided((2, 2), (1, 2))
torch.as_strided(f, (2, 2), (4, 1), 1)
f.contiguous().is_contiguous()
f.t().is_contiguous()
f.size()
f.size(0)
f.size(-1)
f.shape
f.stride()
f.stride(1)
f.dim()
f.numel()
f.nelement()
f.element_size()
f.ndim
len(f)
f.view_as(g)
f.reshape_as(g)
f.type_as(d)
f.type()
i.type()
f.type(torch.float64)
f.type("torch.DoubleTensor")
f.double()
f.half()
f.long()
f.int()
f.bool()
f.to(torch.float64)
f.to(d)
f.to("cpu")
i.float()
f.tolist()
f[0, 1].item()
f.numpy()
f.is_cuda
f.device.type
f.requires_grad
f.data
f.detach()
f.new_zeros(2, 3)
f.new_zeros((2, 3))
f.new_ones(2)
f.new_full((2, 2), 3.5)
f.new_tensor([1, 2])
f.clone().fill_(torch.tensor(2.0))
f.clone().fill_(3)
i.new_zeros(2)
f.hsplit(2)
f.vsplit(3)
torch.view_as_complex(torch.stack([f, g], -1))
f.sum_to_size(1, 4)
f.clone().fill_diagonal_(7.0)
torch.adjoint(f)
f.clone().t_()
f.clone().unsqueeze_(1)
f[:, :1].clone().squeeze_(1)
t3.clone().transpose_(0, 2)
v.clone().resize_(2, 2)
f.clone().resize_(5, 4)[:3]
t3.clone().swapaxes_(0, 1)
torch.constant_pad_nd(f, (1, 1), 2)
torch.is_signed(i)
torch.unsafe_chunk(f, 2)
torch.unsafe_split(f, 2)
torch.get_device(f) if hasattr(torch, "get_device") else -1
c.mH
torch.frobenius_norm(f, dim=1)
torch.nuclear_norm(f)
torch.ravel(f)
c.H
"""

INDEXING = """
f[0]
f[:, 1]
f[1:, ::2]
f[..., 0]
f[None]
f[f > 0]
f[[0, 2]]
f[torch.tensor([0, 2])]
f[:, torch.tensor([1, 1, 0])]
f[torch.tensor([0, 1]), torch.tensor([2, 3])]
f[torch.tensor([[0], [1]]), torch.tensor([2, 3])]
t3[:, 0, torch.tensor([0, 1])]
torch.gather(f, 1, x)
f.gather(dim=1, index=x)
torch.index_select(f, 0, torch.tensor([0, 2]))
f.index_select(1, torch.tensor([3, 0]))
torch.take(f, torch.tensor([0, 5]))
torch.take_along_dim(f, x, dim=1)
torch.take_along_dim(f, torch.tensor([1, 2]))
torch.masked_select(f, f > 0)
f.masked_fill(f > 0, -1.0)
f.masked_fill(b, float("-inf"))
f.clone().masked_fill_(b, 0)
f.masked_scatter(b, g)
torch.nonzero(f > 0)
torch.nonzero(f > 0, as_tuple=True)
(f > 0).nonzero()
torch.argwhere(b)
torch.scatter(f, 1, x, g)
f.scatter(1, x, 9.0)
torch.zeros(3, 5).scatter_(1, x, 1.0)
torch.zeros(3, 5).scatter_(1, x, 1)
torch.scatter_add(f, 1, x, g)
torch.zeros(3, 4).scatter_add_(1, x, g)
torch.scatter_reduce(f, 1, x, g, reduce="amax")
f.scatter(1, x, g, reduce="add")
torch.index_add(f, 0, torch.tensor([0, 0]), g[:2])
torch.index_add(f, 0, torch.tensor([0, 1]), g[:2], alpha=2)
f.clone().index_add_(0, torch.tensor([1, 0]), g[:2])
torch.index_copy(f, 0, torch.tensor([1, 0]), g[:2])
f.index_fill(1, torch.tensor([0]), 5.0)
f.clone().index_fill_(1, torch.tensor([0]), 5.0)
f.put(torch.tensor([0]), torch.tensor([3.0]))
f.index_put((torch.tensor([0]), torch.tensor([1])), torch.tensor([5.0]))
torch.sort(f)
torch.sort(f, 0)
torch.sort(f, descending=True)
torch.sort(f, dim=1, descending=True)[1]
f.sort(dim=0).values
f.sort(1)[0]
torch.argsort(f)
torch.argsort(f, 0, True)
f.argsort(dim=1, descending=True)
torch.msort(f)
torch.topk(f, 2)
torch.topk(f, 2, dim=0, largest=False)
f.topk(k=2).indices
torch.searchsorted(v.sort().values, torch.tensor([0.1, 0.5]))
torch.searchsorted(v.sort().values, torch.tensor([0.1, 0.5]), right=True)
torch.searchsorted(v.sort().values, torch.tensor([0.1]), out_int32=True)
torch.bucketize(f, torch.tensor([-0.5, 0.0, 0.5]))
torch.bucketize(f, torch.tensor([-0.5, 0.0, 0.5]), right=True)
torch.isin(k, torch.tensor([1, 3]))
torch.select_scatter(f, v, 0, 1)
torch.diagonal_scatter(f, v[:3])
"""

CREATION = """
torch.zeros(2, 3)
torch.zeros((2, 3))
torch.zeros([2, 3], dtype=torch.int64)
torch.zeros(f.size())
torch.zeros(f.shape[0], 2)
torch.zeros(())
torch.ones(2, dtype=torch.bool)
torch.ones_like(f)
torch.zeros_like(f, dtype=torch.int32)
torch.full((2, 3), 7)
torch.full((2, 3), 7.5)
torch.full((2,), True)
torch.full_like(f, 3)
torch.empty(2, 3).shape
torch.empty_like(f).shape
torch.arange(5)
torch.arange(1, 5)
torch.arange(1, 5, 2)
torch.arange(5.0)
torch.arange(0, 1, 0.25)
torch.arange(5, dtype=torch.float32)
torch.arange(start=0, end=6, step=2)
torch.arange(10, 0, -3)
torch.range(1, 4)
torch.linspace(0, 1, 5)
torch.linspace(start=0, end=1, steps=3)
torch.logspace(0, 2, 3)
torch.logspace(0, 2, 3, base=2)
torch.eye(3)
torch.eye(2, 3)
torch.eye(3, dtype=torch.int64)
torch.tensor(3)
torch.tensor(3.5)
torch.tensor([1, 2, 3])
torch.tensor([1.0, 2.0])
torch.tensor([[1, 2], [3, 4]], dtype=torch.float64)
torch.tensor([True, False])
torch.tensor(1 + 2j)
torch.tensor(np.arange(3))
torch.tensor(np.arange(3.0))
torch.tensor([])
torch.as_tensor([1, 2])
torch.as_tensor(np.ones(2))
torch.asarray([1, 2])
torch.from_numpy(np.arange(4))
torch.scalar_tensor(3)
torch.Tensor([1, 2, 3])
torch.Tensor(2, 3).shape
torch.FloatTensor([1, 2])
torch.LongTensor([1, 2])
torch.IntTensor([1, 2])
torch.DoubleTensor([[1, 2]])
torch.ByteTensor([1, 2])
torch.BoolTensor([True])
isinstance(f, torch.FloatTensor)
isinstance(i, torch.LongTensor)
isinstance(f, torch.Tensor)
torch.tril_indices(3, 3)
torch.triu_indices(3, 4, 1)
torch.hann_window(5)
torch.hamming_window(5, False)
torch.blackman_window(6)
torch.bartlett_window(6)
torch.kaiser_window(6)
torch.rand(2, 3).shape
torch.randn((2, 3)).shape
torch.randn(2, dtype=torch.float64).dtype == torch.float64
torch.randint(10, (2, 3)).shape
torch.randint(0, 10, (2, 3)).dtype == torch.int64
torch.randint(low=3, high=4, size=(2,))
torch.randperm(5).sort()[0]
torch.rand_like(f).shape
torch.randn_like(f).dtype == torch.float32
torch.normal(0.0, 0.0, (2, 3))
torch.normal(f, 0.0)
torch.bernoulli(torch.ones(3))
torch.multinomial(torch.tensor([0.0, 1.0, 0.0]), 2, replacement=True)
torch.is_tensor(f)
torch.numel(f)
torch.vander(v)
torch.promote_types(torch.int32, torch.float32) == torch.float32
torch.result_type(i, 1.5) == torch.float32
torch.can_cast(torch.float32, torch.int64)
torch.finfo(torch.float32).eps
torch.iinfo(torch.int32).max
torch.device("cpu").type
torch.device("cuda", 1).index
torch.device("cuda:1").index
torch.get_default_dtype() == torch.float32
torch.Size([2, 3]).numel()
torch.Size([2, 3])[:1]
torch.pi
torch.inf
torch.float is torch.float32
torch.long is torch.int64
"""

LINEAR = """
torch.matmul(f, g.t())
torch.mm(f, g.t())
f.mm(g.t())
f.matmul(v)
torch.mv(f, v)
torch.dot(v, v)
torch.bmm(t3, t3.transpose(1, 2))
torch.addmm(torch.ones(3, 3), f, g.t(), beta=0.5, alpha=2)
torch.addmv(torch.ones(3), f, v)
torch.baddbmm(torch.ones(2, 3, 3), t3, t3.transpose(1, 2))
torch.outer(v, v)
torch.ger(v, v)
torch.inner(v, v)
torch.kron(f, g)
torch.cross(f[:, :3], g[:, :3])
torch.cross(f[:, :3], g[:, :3], dim=1)
torch.tensordot(t3, t3, dims=([0, 1, 2], [0, 1, 2]))
torch.tensordot(f, g.t(), dims=1)
torch.einsum("ij,kj->ik", f, g)
torch.einsum("bij,bkj->bik", t3, t3)
torch.einsum("ii", s)
torch.trace(s)
torch.det(s)
torch.logdet(s)
torch.slogdet(s)
torch.inverse(s)
s.inverse()
torch.linalg.inv(s)
torch.linalg.det(s)
torch.linalg.norm(f)
torch.linalg.norm(f, dim=1)
torch.linalg.norm(f, ord=1)
torch.linalg.norm(f, "fro")
torch.linalg.norm(v, 3)
torch.linalg.vector_norm(f, dim=1)
torch.linalg.vector_norm(f, ord=1)
torch.linalg.matrix_norm(f)
torch.linalg.matrix_norm(f, ord=1)
torch.linalg.matrix_norm(t3, "nuc", dim=(1, 2), keepdim=True)
torch.linalg.solve(s, g.t()[:3])
torch.linalg.cholesky(s)
torch.cholesky(s)
torch.linalg.eigvalsh(s)
torch.linalg.eigh(s)[0]
torch.linalg.svdvals(f)
torch.linalg.svd(f, full_matrices=False)[1]
torch.svd(f)[1]
torch.linalg.qr(s)[1].abs()
torch.linalg.pinv(f)
torch.pinverse(f)
torch.linalg.matrix_rank(s)
torch.linalg.matrix_power(s, 3)
torch.matrix_power(s, 2)
torch.matrix_exp(s)
torch.linalg.matrix_exp(s)
torch.linalg.multi_dot([f, g.t(), f])
torch.chain_matmul(f, g.t(), f)
torch.linalg.solve_triangular(torch.tril(s), s, upper=False)
torch.triangular_solve(s, torch.triu(s))
torch.cholesky_solve(s, torch.linalg.cholesky(s))
torch.cholesky_inverse(torch.linalg.cholesky(s))
torch.linalg.lstsq(s, s)[0]
torch.linalg.vecdot(f, g) if hasattr(torch.linalg, "vecdot") else (f * g).sum(-1)
torch.linalg.cross(f[:, :3], g[:, :3])
torch.linalg.diagonal(t3)
torch.linalg.vander(v) if hasattr(torch.linalg, "vander") else torch.vander(v, 4, True)
torch.linalg.cond(s)
torch.linalg.slogdet(s)
torch.special.{}(p) | digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e i1 i1e log1p log_ndtr logit
    ndtr ndtri psi sinc
torch.special.xlogy(p, g.abs())
torch.special.zeta(p + 1, p)
torch.special.gammainc(p, p)
torch.special.logsumexp(f, 1)
torch.special.softmax(f, 1)
torch.special.polygamma(1, p)
torch.special.round(f)
"""

GRADIENTS = """
grad(lambda x: x.max(1)[0].sum(), f)
grad(lambda x: x.max(), f)
grad(lambda x: x.std(), f)
grad(lambda x: x.std(1).sum(), f)
grad(lambda x: x.var(1, unbiased=False).sum(), f)
grad(lambda x: x.median(1)[0].sum(), f)
grad(lambda x: x.sort(1)[0][:, 0].sum(), f)
grad(lambda x: x.norm(), f)
grad(lambda x: (x.view(4, 3) @ x).sum(), f)
grad(lambda x: torch.cat([x, x * 2], 1).pow(2).sum(), f)
grad(lambda x: F.softmax(x, dim=1)[:, 0].sum(), f)
grad(lambda x: F.cross_entropy(x, y), f)
grad(lambda x: F.relu(x).sum(), f)
grad(lambda x: x.masked_fill(b, 0.0).pow(2).sum(), f)
grad(lambda x: x.repeat(2, 1).pow(2).sum(), f)
grad(lambda x: x.unfold(1, 2, 1).pow(2).sum(), f)
grad(lambda x: torch.where(x > 0, x, x * 2).sum(), f)
grad(lambda x: x[torch.tensor([0, 0])].pow(2).sum(), f)
grad(lambda x: x.gather(1, torch.zeros(3, 1, dtype=torch.long)).pow(2).sum(), f)
grad(lambda x: torch.logsumexp(x, 1).sum(), f)
grad(lambda x: torch.einsum("ij,kj->ik", x, x).sum(), f)
grad(lambda x: F.layer_norm(x, (4,)).pow(3).sum(), f)
grad(lambda x: F.conv2d(x.view(1, 1, 3, 4), w[:, :1, :2, :2]).pow(2).sum(), f)
grad(lambda x: x.add(x, alpha=2).div(2, rounding_mode=None).sum(), f)
grad(lambda x: x.clamp(-0.5, 0.5).sum(), f)
grad(lambda x: x.cumsum(1).pow(2).sum(), f)
grad(lambda x: x.prod(), f)
grad(lambda x: x.mean(0, keepdim=True).pow(2).sum(), f)
"""

DISTRIBUTIONS = """
D.Normal(f, p).log_prob(g)
D.Normal(0.0, 1.0).log_prob(f)
D.Normal(f, p).entropy()
D.Normal(f, p).cdf(g)
D.Normal(f, p).variance
D.Normal(f, p).batch_shape
D.Normal(f, p).sample((2,)).shape
D.Normal(f, p).rsample().requires_grad
D.Normal(0.0, 1.0).sample((3,)).dtype == torch.float32
D.Bernoulli(u).log_prob(u.round())
D.Bernoulli(logits=f).mean
D.Bernoulli(probs=u).entropy()
D.Categorical(f.softmax(1)).log_prob(y)
D.Categorical(logits=f).probs
D.Categorical(logits=f).entropy()
D.Categorical(torch.tensor([0.0, 1.0, 0.0])).sample()
D.Categorical(torch.tensor([0.0, 1.0, 0.0])).sample().item()
D.Categorical(f.softmax(1)).sample((5,)).shape
D.HalfNormal(p).log_prob(p)
D.Uniform(0.0, 2.0).log_prob(u)
D.Exponential(p).log_prob(p)
D.Gamma(p, 2.0).log_prob(p)
D.Beta(p, p).mean
D.Dirichlet(p).log_prob(f.softmax(1))
D.Poisson(p).log_prob(y[0])
D.Laplace(f, p).entropy()
D.LogNormal(f, p).mean
D.MultivariateNormal(v[:3], s).log_prob(v[1:])
D.Independent(D.Normal(f, p), 1).log_prob(g)
D.StudentT(3.0).log_prob(f)
D.OneHotCategorical(logits=f).mean
D.Multinomial(3, f.softmax(1)).log_prob(torch.tensor([[1.0, 1, 1, 0]]))
D.kl_divergence(D.Normal(f, p), D.Normal(g, u))
D.kl_divergence(D.Categorical(logits=f), D.Categorical(logits=g))
"""

PRINTING = """
repr({}) | f i t3 c n b f.double() f.half() f*1e-5 f*1e6 f.max(1) f.shape torch.zeros(0) torch.zeros(2,0)
    torch.zeros(100,100) torch.arange(2000) torch.tensor(3) torch.tensor(2.5) torch.tensor([1e10,1]) torch.tensor([True])
    torch.zeros(2,requires_grad=True) torch.tensor([1],dtype=torch.int32) torch.nn.Parameter(torch.ones(2))
str(f)
f"{f[0, 0]:.3f}"
f"{f[0]}"
repr(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()))
"""

FAMILIES = {
    "pointwise": POINTWISE, "reductions": REDUCTIONS, "shapes": SHAPES, "indexing": INDEXING, "creation": CREATION,
    "linear": LINEAR, "functional": FUNCTIONAL, "gradients": GRADIENTS, "distributions": DISTRIBUTIONS, "printing": PRINTING,
}  # fmt: skip


def expressions(family: str) -> list[str]:
    """The expressions of a family, patterns written out. A name that ends in "_" where the pattern makes no copy of
    its input is a note that PyTorch lacks the function, and left out."""
    found = []
    for line in re.sub(r"\n +", " ", FAMILIES[family].strip()).splitlines():
        pattern, bar, names = line.partition(" | ")
        if not bar:
            found.append(line)
        elif "{}" in pattern:
            copies = "clone" in pattern
            found += [pattern.replace("{}", name) for name in names.split() if copies or not name.endswith("_")]
        else:
            found.append(line)
    return list(dict.fromkeys(found))


def inputs(torch: Any) -> dict[str, Any]:
    """The tensors that expressions name, the same in every library, and functions on them."""
    rng = np.random.default_rng(7)

    def real(*shape: int) -> Any:
        return torch.from_numpy(rng.standard_normal(shape).astype(np.float32))

    def grad(function: Any, value: Any) -> Any:
        leaf = value.clone().requires_grad_()
        function(leaf).backward()
        return leaf.grad

    f, g, t3, v = real(3, 4), real(3, 4), real(2, 3, 4), real(4)
    n = f.clone()
    n[0, 1], n[2, 3], n[1, 0] = float("nan"), float("inf"), float("-inf")
    s = real(3, 3)
    return {
        "f": f, "g": g, "t3": t3, "v": v, "n": n, "s": s @ s.t() + 3 * torch.eye(3), "d": f.double(),
        "p": f.abs() / 4 + 0.125, "u": torch.sigmoid(f), "c": torch.complex(f, g), "b": g > 0,
        "i": torch.tensor([[3, -4, 5, 7], [1, 2, -9, 8], [6, 5, 4, 3]]),
        "j": torch.tensor([[2, 3, 1, 4], [5, 2, 2, 3], [1, 4, 6, 2]]), "k": torch.tensor([1, 1, 3, 0, 3, 3]),
        "x": torch.tensor([[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2]]), "y": torch.tensor([0, 3, 1]),
        "im": real(1, 2, 4, 6), "w": real(3, 2, 3, 3), "w1": real(2, 3, 2),
        "np": np, "torch": torch, "F": torch.nn.functional, "D": torch.distributions, "grad": grad,
    }  # fmt: skip
