# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What compare_pytorch.py knows of the functions that it compares: which it leaves out, what it cannot compare, and which
differences are no fault of tessera.torch."""

from __future__ import annotations

import re

# Results that depend on a generator or on memory that nobody has written: dtype and shape only.
WITHOUT_VALUES = re.compile(
    r"^(bernoulli|cauchy|empty|empty_.*|exponential|geometric|log_normal|multinomial|new_empty.*|normal|rand.*|uniform"
    r"|nn\.functional\.(.*dropout.*|rrelu|fractional_max_pool.*)|resize_.*|svd_lowrank|pca_lowrank)$"
)
# The results are unique only up to signs, or in another way that the samples tell (output_process_fn_grad).
UP_TO_SIGNS = re.compile(r"^(svd|linalg\.(svd|eigh|eig))$")
# Private functions, and parts of PyTorch that tessera.torch does not have.
LEFT_OUT = re.compile(
    r"^(_[a-z]|torch\.ops\.|jiterator|sparse\.|to_sparse$|chalf$|slice$|__rdiv__$|native_"
    r"|max_pool2d_with_indices_backward)"
)
# Differences that docs/guide/torch.md tells of, faults of PyTorch, and what it refuses for reasons of its own: (call, difference).
ON_PURPOSE = [
    (r"^cholesky_(inverse|solve) (gradient|twice|forward)", r"^value"),
    (r"^(linalg\.(cholesky|cholesky_ex|eigh)|triangular_solve) forward", r"^value"),  # of the triangle that is read
    (r"^linalg\.cholesky(_ex)? (gradient|twice) complex", r"^value"),  # PyTorch's is not Hermitian
    (r"^(Tensor\.)?abs_", r"not supported for complex"),
    (r"^istft (gradient|twice)", r"window="),  # PyTorch's gradient of some windows is missing
    (r"^conj memory complex|^m?H memory complex", r"^value"),  # there are no lazy conjugates
    (r"ctc_loss gradient", r"^value"),
    (r"^as_strided_scatter (gradient|twice)", r"^value"),  # PyTorch's is that of the elements that are replaced
    (r"^as_strided_scatter strided", r"offset that is not negative"),
    (r"^as_strided.partial_views forward", r"inside the memory of the dual"),
    (r"^fft\.ihfft[2n] out=", r"^value|^shape"),  # PyTorch leaves the memory unwritten
    (r"^(narrow_copy|nn\.functional\.(avg_pool3d|gelu)) out= strided", r"^value"),  # PyTorch writes as if there were no gaps
    (r"addbmm_", r"a result of shape"),
    (r"^nn\.functional\.batch_norm", r"at least 2 dimensions, got shape \[0\]"),
    (r"^nextafter (gradient|twice|forward|memory)", r"^value|^length"),
    (r"^(fill|linalg.matrix_power) (twice|memory)", r"^value|^length"),  # a gradient of 0
    (r"^(bernoulli|normal)[a-z._]* twice", r"^length"),
    (r"^special\.bessel_[jy][01]", r"^value: Tensor.*e-0[6-9]"),  # PyTorch's have 7 digits
    (r"^(linalg\.lstsq|sum_to_size|masked\.prod)[a-z._]* memory", r"^value"),  # of empty results and tensors without axes
    (r"^__r[a-z]+__ error input", r"descriptor"),
    (r"^histc", r"index \(499,\)"),  # on an edge, which PyTorch computes otherwise
    (r"^cov", r"aweights=float32"),  # PyTorch computes the factor in the dtype of the weights
    (r"linear_cross_entropy.chunked.* twice", r"^value"),  # PyTorch's has none
    (r"subgradients_at_zero twice", r"nan"),  # PyTorch's is NaN
    (r"^masked\.log(addexp|sumexp) (twice|forward)", r"nan"),  # PyTorch's is NaN where all is masked
    (r"^matrix_exp|^Tensor.matrix_exp", r"^value: .*e-0[0-9]|^value: .*0\.000"),
    (r" twice", r"PyTorch says RuntimeError: derivative for .* is not implemented"),
    (r"^normal.* out= resized", r"must match the size of tensor b \(0\)"),
    (r"float_power_", r"requires dtype Double"),
    (r"^nonzero out=", r"not tuple"),
    (r"^signal\.windows", r"expects float32 or float64"),
    (r"^(multinomial|gather|aminmax|amax|amin|complex) error input", r"Double|double"),  # of out=
    (r"error input", r"must be Tensor, not int|got \(int, Tensor\)|refers? to a single memory location|must not overlap"),
]

# The same of the transforms of functions, mixed precision and the programs of pytorch_autograd_scenes.py.
TRANSFORMS_ON_PURPOSE = [
    (r"^cholesky_(inverse|solve) ", r"^value"),
    (r"^(linalg\.(cholesky|cholesky_ex|eigh)|triangular_solve) (jvp|linearize|jacfwd|hessian)", r"^value"),
    (r"ctc_loss (vjp|rows|per_sample|autocast gradient)", r"^value"),
    (r"^nextafter (vjp|jvp|linearize|jac|rows|per_sample|autocast gradient)", r"^value|^length"),
    (r"^(normal|bernoulli|fill|linalg\.matrix_power)[a-z._]* autocast gradient", r"^length"),
    (r"^as_strided", r""),  # inside vmap strides count in the memory of one sample; PyTorch has no rule for as_strided_scatter
    (r"^mvlgamma", r"^value"),  # of samples outside of its domain
    (r"^roll ", r"^value: .*\[\], "),  # PyTorch rolls the batch
    (r"^addbmm_ ", r"^error: ShapeError"),  # which keeps its shape
    (r"^linalg\.pinv vmap", r"^shape"),  # PyTorch loses the batch of empty matrices
    (r"^searchsorted (vmap|loop|nested|chunks)", r"sorter="),  # the batch has sorters that do not sort
    (r"^cdist rows", r"^value"),  # PyTorch's differs from its own loop
    (r"layer_norm hessian", r"^value"),  # of one element, which is 0
    (r"^scatter_reduce\.prod jacfwd", r"^value"),  # PyTorch's is 0
    (r"^logcumsumexp ", r"^value.*e-0[67]"),  # PyTorch's has 6 digits
    (r"^masked\.log(addexp|sumexp) ", r"nan"),
    (r"linear_cross_entropy\.chunked", r"^value|setup_context"),  # PyTorch's is no composition
    (r"(mm|matmul__|matmul|bilinear|conv_transpose.d|attention) autocast", r"^value"),  # sums of 16 bits in another order
    (r"^(cov|corrcoef|linalg\.pinv)[a-z.]* autocast", r"^value|same dtype|scalar type|2 or more dimensions"),  # in float32 here
    (r"^nn\.functional\.(batch|instance)_norm ", r"would change running_mean"),
    (r"^index_fill vmap", r"^value"),  # PyTorch gives all samples the value of the last one
    (r"^(index_put|__getitem__) loop|one_hot loop", r"^(not implemented|error)"),  # a shape that depends on the data
    (r"embedding(_bag)? loop", r"to change in place"),  # with max_norm, which writes
    # What PyTorch's transforms lack, or refuse for reasons of their own.
    (r"", r"no error: PyTorch says .*([Bb]atching rule|vmap|forward AD|forward gradient|channels_last|INTERNAL ASSERT|functorch)"),
    (r"", r"no error: PyTorch says .*(data-dependent|\.item\(\)|dynamic shape|data pointer|xpected all outputs to be real|size 0)"),
    (r"^(masked_select|prod|linalg\.(det|norm)[a-z._]*) (jac|hessian|rows|vjp)", r"no error"),
    (r"(view_as_complex|complex) (jac|hessian)", r"no error"),
    (r"^(view_as_complex|ormqr|put|take)", r"no error"),
    (r"^__r", r"NotImplementedType"),  # a tensor leaves the operator to the sample
    (r"^narrow loop", r"^not implemented"),  # a start that depends on the data
    (r"^CubeGenVmap.* linearize", r"^value"),  # whose backward is not the derivative of its forward
    (r"max_unpool.d linearize", r"^value"),  # of several elements in one place: the transpose of a gradient that each of them gets
    # Programs.
    (r"^functional\..*forward-mode\)\[1\]", r"^value"),  # PyTorch's result requires grad
    (r"^grad_options\[9\]", r"^shape"),  # of the zeros, which have the batch here
    (r"^hooks_on_captured\[1\]", r"^value"),  # what the hooks of the tensor made of the gradient
    (r"^dual_numbers\[12\]|^function_errors\[11\]", r"refused, not done"),  # a tangent of another dtype, a forward without tensors
]
