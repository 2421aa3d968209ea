# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of differences of torch.nn.functional (rows as in `_table.py`) and of the layers of torch.nn, whose rows are
PyTorch's signatures alone: an argument reaches the library's layer under the same name or the one in `RENAMED`, and one
that the layer does not take must have its default."""

SAME_FUNCTIONAL = """
celu_ elu_ hardtanh_ logsigmoid
prelu selu_ sigmoid softsign tanh tanhshrink threshold_ softshrink softplus gelu scaled_dot_product_attention
pixel_shuffle pixel_unshuffle channel_shuffle pdist bilinear rrelu rrelu_
"""

FUNCTIONAL = """
adaptive_avg_pool1d(input, output_size) = adaptive_avg_pool1d(input, output_size)
adaptive_avg_pool2d(input, output_size) = adaptive_avg_pool2d(input, open_sizes(input, output_size, 2))
adaptive_avg_pool3d(input, output_size) = adaptive_avg_pool3d(input, open_sizes(input, output_size, 3))
adaptive_max_pool1d_with_indices(input, output_size, return_indices=False)
    = tuple(adaptive_max_pool1d_with_positions(input, output_size))
adaptive_max_pool2d_with_indices(input, output_size, return_indices=False)
    = tuple(adaptive_max_pool2d_with_positions(input, open_sizes(input, output_size, 2)))
adaptive_max_pool3d_with_indices(input, output_size, return_indices=False)
    = tuple(adaptive_max_pool3d_with_positions(input, open_sizes(input, output_size, 3)))
adaptive_max_pool1d(input, output_size, return_indices=False)
    = with_places(adaptive_max_pool1d, adaptive_max_pool1d_with_positions, return_indices, input, output_size)
adaptive_max_pool2d(input, output_size, return_indices=False)
    = with_places(adaptive_max_pool2d, adaptive_max_pool2d_with_positions, return_indices, input, open_sizes(input,
        output_size, 2))
adaptive_max_pool3d(input, output_size, return_indices=False)
    = with_places(adaptive_max_pool3d, adaptive_max_pool3d_with_positions, return_indices, input, open_sizes(input,
        output_size, 3))
affine_grid(theta, size, align_corners=None) = affine_grid(theta, size, bool_of(align_corners))
alpha_dropout(input, p=0.5, training=False, inplace=False) = into(input, alpha_dropout(input, p, training), inplace)
avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True)
    = avg_pool1d(input, kernel_size, stride, padding, ceil_mode, count_include_pad)
avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
        divisor_override=None, *, out=None)
    = avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
avg_pool3d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
        divisor_override=None, *, out=None)
    = avg_pool3d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05)
    = batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean")
    = binary_cross_entropy(probabilities(input), target, weight, reduction_of(size_average, reduce, reduction))
binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean",
        pos_weight=None)
    = binary_cross_entropy_with_logits(*promoted(input, target, weight, pos_weight), reduction_of(size_average, reduce, reduction))
celu(input, alpha=1.0, inplace=False) = celu_(input, alpha) if inplace else celu(input, alpha)
conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1)
    = convolved(conv1d, input, weight, bias, stride, padding, dilation, groups)
conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1)
    = convolved(conv2d, input, weight, bias, stride, padding, dilation, groups)
conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1)
    = convolved(conv3d, input, weight, bias, stride, padding, dilation, groups)
conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1)
    = convolved(conv_transpose1d, input, weight, bias, stride, padding, output_padding, groups, dilation)
conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1)
    = convolved(conv_transpose2d, input, weight, bias, stride, padding, output_padding, groups, dilation)
conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1)
    = convolved(conv_transpose3d, input, weight, bias, stride, padding, output_padding, groups, dilation)
conv_tbc(input, weight, bias, pad=0)
    = permute(convolved(conv1d, permute(input, (1, 2, 0)), permute(weight, (2, 1, 0)), bias, 1, pad, 1, 1), (2, 0, 1))
cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean")
    = cosine_embedding_loss(*promoted(*floats_of(input1, input2)), target, margin, reduction_of(size_average, reduce, reduction))
cosine_similarity(x1, x2, dim=1, eps=1e-08) = cosine_similarity(x1, x2, dim, eps)
cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
        label_smoothing=0.0)
    = cross_entropy(*promoted(input, target, weight), ignored(target, ignore_index), reduction_of(size_average, reduce,
        reduction), label_smoothing)
ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False)
    = ctc_loss(log_probs, targets, tensor_of(input_lengths), tensor_of(target_lengths), blank, reduction,
        zero_infinity)
dropout(input, p=0.5, training=True, inplace=False)
    = dropped(input, p, training, inplace)
dropout1d(input, p=0.5, training=True, inplace=False) = into(input, dropout1d(input, p, training), inplace)
dropout2d(input, p=0.5, training=True, inplace=False) = into(input, dropout2d(input, p, training), inplace)
dropout3d(input, p=0.5, training=True, inplace=False) = into(input, dropout3d(input, p, training), inplace)
elu(input, alpha=1.0, inplace=False) = elu_(input, alpha) if inplace else elu(input, alpha)
embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False)
    = rows_of(input, limited(input, weight, max_norm, norm_type), padding_idx, scale_grad_by_freq)
embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean",
        sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None)
    = embedding_bag(input, limited(input, weight, max_norm, norm_type), offsets, scale_grad_by_freq, mode,
        per_sample_weights=per_sample_weights, include_last_offset=include_last_offset, padding_idx=padding_idx)
feature_alpha_dropout(input, p=0.5, training=False, inplace=False)
    = into(input, feature_alpha_dropout(input, p, training) if training else input, inplace)
fractional_max_pool2d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
        _random_samples=None)
    = with_places(fractional_max_pool2d, fractional_max_pool2d_with_positions, return_indices, input, kernel_size,
        output_size, output_ratio if output_size is None else None, _random_samples)
fractional_max_pool3d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
        _random_samples=None)
    = with_places(fractional_max_pool3d, fractional_max_pool3d_with_positions, return_indices, input, kernel_size,
        output_size, output_ratio if output_size is None else None, _random_samples)
fractional_max_pool2d_with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
        _random_samples=None)
    = tuple(fractional_max_pool2d_with_positions(input, kernel_size, output_size, output_ratio if output_size is
        None else None, _random_samples))
fractional_max_pool3d_with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
        _random_samples=None)
    = tuple(fractional_max_pool3d_with_positions(input, kernel_size, output_size, output_ratio if output_size is
        None else None, _random_samples))
fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1)
    = fold(input, output_size, kernel_size, dilation, padding, stride)
gaussian_nll_loss(input, target, var, full=False, eps=1e-06, reduction="mean")
    = gaussian_nll_loss(*of_one_shape(*promoted(input, target, tensor_of(var))), full, eps, reduction)
glu(input, dim=-1) = glu(input, dim)
grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None)
    = sampled(input, grid, mode, padding_mode, bool_of(align_corners))
group_norm(input, num_groups, weight=None, bias=None, eps=1e-05) = group_norm(input, num_groups, weight, bias, eps)
gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1) = gumbel_softmax(logits, tau, hard, dim)
hardshrink(input, lambd=0.5, *, out=None) = shrunk(input, lambd, out)
hardsigmoid(input, inplace=False) = hardsigmoid_(input) if inplace else hardsigmoid(input)
hardswish(input, inplace=False) = hardswish_(input) if inplace else hardswish(input)
hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False)
    = hardtanh_(input, min_val, max_val) if inplace else hardtanh(input, min_val, max_val)
hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean")
    = hinge_embedding_loss(*same_shape(input, target), margin, reduction_of(size_average, reduce, reduction))
huber_loss(input, target, reduction="mean", delta=1.0, weight=None)
    = compared(huber_loss, input, target, reduction, weight, delta)
instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True,
        momentum=0.1, eps=1e-05)
    = instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)
interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
        antialias=False)
    = of_size(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)
kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False)
    = kl_div(*same_shape(*promoted(input, target)), reduction_of(size_average, reduce, reduction), log_target)
l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None)
    = apart(input, target, reduction_of(size_average, reduce, reduction), weight)
layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05)
    = layer_norm(input, normalized_shape, weight, bias, eps)
leaky_relu_(input, negative_slope=0.01) = base.leaky_relu_(input, negative_slope)
leaky_relu(input, negative_slope=0.01, inplace=False)
    = base.leaky_relu_(input, negative_slope) if inplace else leaky_relu(input, negative_slope)
linear(input, weight, bias=None, *, out=None)
    = linear(input, weight, bias, out=out) if weight.ndim != 1 else by_vector(input, weight, bias, out)
linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None, reduction="mean", ignore_index=-100,
        label_smoothing=0.0, options=None)
    = cross_entropy(classes_of(input, linear_weight, linear_bias), target, weight, ignored(target, ignore_index),
        reduction, label_smoothing)
local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0) = local_response_norm(input, size, alpha, beta, k)
log_softmax(input, dim=None, _stacklevel=3, dtype=None) = log_softmax(input, implied(input, dim), dtype=dtype)
lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False)
    = lp_pool1d(input, norm_type, kernel_size, stride, ceil_mode)
lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False)
    = lp_pool2d(input, norm_type, kernel_size, stride, ceil_mode)
lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False)
    = lp_pool3d(input, norm_type, kernel_size, stride, ceil_mode)
margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean")
    = (ranked if is_whole(input1) else margin_ranking_loss)(*promoted(input1, input2, target), margin, reduction_of(size_average,
        reduce, reduction))
max_pool1d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
        return_indices=False)
    = largest(None, max_pool1d_with_positions, True, input, kernel_size, stride, padding, dilation, ceil_mode)
max_pool2d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
        return_indices=False)
    = largest(None, max_pool2d_with_positions, True, input, kernel_size, stride, padding, dilation, ceil_mode)
max_pool3d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
        return_indices=False)
    = largest(None, max_pool3d_with_positions, True, input, kernel_size, stride, padding, dilation, ceil_mode)
max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False)
    = largest(max_pool1d, max_pool1d_with_positions, return_indices, input, kernel_size, stride, padding,
        dilation, ceil_mode)
max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False)
    = largest(max_pool2d, max_pool2d_with_positions, return_indices, input, kernel_size, stride, padding,
        dilation, ceil_mode)
max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False)
    = largest(max_pool3d, max_pool3d_with_positions, return_indices, input, kernel_size, stride, padding,
        dilation, ceil_mode)
max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None)
    = max_unpool1d(input, indices, kernel_size, stride, padding, output_size)
max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None)
    = max_unpool2d(input, indices, kernel_size, stride, padding, output_size)
max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None)
    = max_unpool3d(input, indices, kernel_size, stride, padding, output_size)
mish(input, inplace=False) = mish_(input) if inplace else mish(input)
mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None)
    = compared(mse_loss, input, target, reduction_of(size_average, reduce, reduction), weight)
multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v,
        add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True,
        attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None,
        static_k=None, static_v=None, average_attn_weights=True, is_causal=False)
    = attended(query, key, value, embed_dim_to_check, num_heads, (out_proj_weight, out_proj_bias), in_proj_bias,
        (None, q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else (in_proj_weight, None, None,
        None), bias_k, bias_v, key_padding_mask, attn_mask, is_causal, add_zero_attn, dropout_p if training else 0.0,
        need_weights, average_attn_weights, static_k, static_v)
multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean")
    = multi_margin_loss(atleast_1d(input), squeeze(target) if input.ndim < 2 else target, p, margin, weight,
        reduction_of(size_average, reduce, reduction))
multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean")
    = multilabel_margin_loss(atleast_1d(input), atleast_1d(target), reduction_of(size_average, reduce, reduction))
multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean")
    = multilabel_soft_margin_loss(*same_shape(*promoted(input, target)), weight, reduction_of(size_average, reduce, reduction))
nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean")
    = nll_loss(input, target, weight, ignore_index, reduction_of(size_average, reduce, reduction))
normalize(input, p=2.0, dim=1, eps=1e-12, out=None) = of_length_one(input, p, dim, eps, out)
one_hot(tensor, num_classes=-1) = one_hot(tensor, num_classes)
pad(input, pad, mode="constant", value=None) = pad_(input, tuple(pad), mode, 0 if value is None else value)
pairwise_distance(x1, x2, p=2.0, eps=1e-06, keepdim=False)
    = pairwise_distance(x1, x2, p, eps, keepdim) if x1.is_floating_point() else distance(x1, x2, p, eps, keepdim)
poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-08, reduce=None,
        reduction="mean")
    = poisson_nll_loss(*same_shape(*promoted(*floats_of(input, target))), log_input, full, eps, reduction_of(size_average, reduce,
        reduction))
relu(input, inplace=False) = base.relu_(input) if inplace else relu(input)
relu_(input) = base.relu_(input)
relu6(input, inplace=False) = relu6_(input) if inplace else relu6(input)
rms_norm(input, normalized_shape, weight=None, eps=None) = rms_norm(input, normalized_shape, weight, eps)
selu(input, inplace=False) = selu_(input) if inplace else selu(input)
silu(input, inplace=False) = base.silu_(input) if inplace else silu(input)
smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0)
    = compared(smooth_l1_loss, input, target, reduction_of(size_average, reduce, reduction), None, beta)
soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean")
    = soft_margin_loss(*same_shape(input, target), reduction_of(size_average, reduce, reduction))
softmax(input, dim=None, _stacklevel=3, dtype=None) = softmax(input, implied(input, dim), dtype=dtype)
softmin(input, dim=None, _stacklevel=3, dtype=None) = softmin(input if dtype is None else input.to(dtype), implied(input, dim))
threshold(input, threshold, value, inplace=False)
    = into(input, where(input > threshold, input, value), inplace) if is_whole(input)
        else threshold_(input, threshold, value) if inplace else plain_threshold(input, threshold, value)
triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, size_average=None,
        reduce=None, reduction="mean")
    = triplet_margin_loss(*promoted(*floats_of(anchor, positive, negative)), margin_of(margin), p, eps, swap, reduction_of(size_average,
        reduce, reduction))
triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean")
    = triplet_margin_with_distance_loss(anchor, positive, negative, distance_function=distance_function,
        margin=margin_of(margin), swap=swap, reduction=reduction)
unfold(input, kernel_size, dilation=1, padding=0, stride=1)
    = unfold_image(input, kernel_size, dilation, padding, stride)
upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None)
    = of_size(input, size, scale_factor, mode, align_corners)
upsample_bilinear(input, size=None, scale_factor=None) = of_size(input, size, scale_factor, "bilinear", True)
upsample_nearest(input, size=None, scale_factor=None) = of_size(input, size, scale_factor, "nearest")
"""

# ---- layers ----

# What the library calls some of PyTorch's arguments.
RENAMED = {"dim": "axis", "keepdim": "keepdims", "start_dim": "start_axis", "end_dim": "end_axis", "_random_samples": "samples"}

# Settings that may be ignored, because the result is the same without them: memory and old names.
IGNORED = (
    "inplace", "size_average", "reduce", "sparse", "args", "kwargs", "enable_nested_tensor", "mask_check",
    "_weight", "_freeze",
)  # fmt: skip

LAYERS = """
AvgPool1d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True)
AvgPool2d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)
AvgPool3d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)
BatchNorm1d(num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, *, bias=True)
BatchNorm2d(num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, *, bias=True)
BatchNorm3d(num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, *, bias=True)
BCELoss(weight=None, size_average=None, reduce=None, reduction="mean")
BCEWithLogitsLoss(weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None)
ConstantPad1d(padding, value)
ConstantPad2d(padding, value)
ConstantPad3d(padding, value)
Conv1d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
    padding_mode="zeros")
Conv2d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
    padding_mode="zeros")
Conv3d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
    padding_mode="zeros")
ConvTranspose1d(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
    dilation=1, padding_mode="zeros")
ConvTranspose2d(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
    dilation=1, padding_mode="zeros")
ConvTranspose3d(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
    dilation=1, padding_mode="zeros")
CosineEmbeddingLoss(margin=0.0, size_average=None, reduce=None, reduction="mean")
CosineSimilarity(dim=1, eps=1e-08)
CrossEntropyLoss(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0)
Dropout(p=0.5, inplace=False)
Dropout1d(p=0.5, inplace=False)
Dropout2d(p=0.5, inplace=False)
Dropout3d(p=0.5, inplace=False)
AlphaDropout(p=0.5, inplace=False)
FeatureAlphaDropout(p=0.5, inplace=False)
Embedding(num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
    sparse=False, _weight=None, _freeze=False)
EmbeddingBag(num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean",
    sparse=False, include_last_offset=False, padding_idx=None)
Flatten(start_dim=1, end_dim=-1)
Unflatten(dim, unflattened_size)
FractionalMaxPool2d(kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None)
FractionalMaxPool3d(kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None)
GLU(dim=-1)
GroupNorm(num_groups, num_channels, eps=1e-05, affine=True, *, bias=True)
HingeEmbeddingLoss(margin=1.0, size_average=None, reduce=None, reduction="mean")
Identity(*args, **kwargs)
InstanceNorm1d(num_features, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False, *, bias=True)
InstanceNorm2d(num_features, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False, *, bias=True)
InstanceNorm3d(num_features, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False, *, bias=True)
KLDivLoss(size_average=None, reduce=None, reduction="mean", log_target=False)
LPPool1d(norm_type, kernel_size, stride=None, ceil_mode=False)
LPPool2d(norm_type, kernel_size, stride=None, ceil_mode=False)
LPPool3d(norm_type, kernel_size, stride=None, ceil_mode=False)
L1Loss(size_average=None, reduce=None, reduction="mean")
LayerNorm(normalized_shape, eps=1e-05, elementwise_affine=True, bias=True)
LeakyReLU(negative_slope=0.01, inplace=False)
LogSoftmax(dim=None)
MSELoss(size_average=None, reduce=None, reduction="mean")
MarginRankingLoss(margin=0.0, size_average=None, reduce=None, reduction="mean")
MaxPool1d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False)
MaxPool2d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False)
MaxPool3d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False)
MaxUnpool1d(kernel_size, stride=None, padding=0)
MaxUnpool2d(kernel_size, stride=None, padding=0)
MaxUnpool3d(kernel_size, stride=None, padding=0)
MultiLabelMarginLoss(size_average=None, reduce=None, reduction="mean")
MultiLabelSoftMarginLoss(weight=None, size_average=None, reduce=None, reduction="mean")
MultiMarginLoss(p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean")
NLLLoss(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean")
PairwiseDistance(p=2.0, eps=1e-06, keepdim=False)
PoissonNLLLoss(log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction="mean")
ReLU(inplace=False)
RReLU(lower=0.125, upper=0.3333333333333333, inplace=False)
ReLU6(inplace=False)
SiLU(inplace=False)
SmoothL1Loss(size_average=None, reduce=None, reduction="mean", beta=1.0)
SoftMarginLoss(size_average=None, reduce=None, reduction="mean")
Softmax(dim=None)
Softmin(dim=None)
Threshold(threshold, value, inplace=False)
SyncBatchNorm(num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, process_group=None, *,
    bias=True)
TransformerEncoder(encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True)
TripletMarginLoss(margin=1.0, p=2.0, eps=1e-06, swap=False, size_average=None, reduce=None, reduction="mean")
"""

# What PyTorch prints of a layer where the library prints something else: {inplace} is "inplace=True" or nothing, and commas
# around nothing go.
_POOL = "kernel_size={kernel_size}, stride={stride}, padding={padding}, dilation={dilation}, ceil_mode={ceil_mode}"
_NORM = (
    "{num_features}, eps={eps}, momentum={momentum}, affine={affine}, bias={bias!r}, "
    "track_running_stats={track_running_stats}"
)
_TEXTS = {
    "AvgPool1d AvgPool2d AvgPool3d": "kernel_size={kernel_size}, stride={stride}, padding={padding}",
    "BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d": _NORM,
    "GroupNorm": "{num_groups}, {num_channels}, eps={eps}, affine={affine}, bias={bias!r}",
    "LayerNorm": "{normalized_shape}, eps={eps}, elementwise_affine={elementwise_affine}, bias={bias!r}",
    "Softshrink Hardshrink": "{lambd}",
    "LPPool1d LPPool2d LPPool3d": "norm_type={norm_type}, kernel_size={kernel_size}, stride={stride}, ceil_mode={ceil_mode}",
    "MultiheadAttention CosineSimilarity PairwiseDistance FractionalMaxPool2d FractionalMaxPool3d AdaptiveLogSoftmaxWithLoss": "",
    "ZeroPad1d ZeroPad2d ZeroPad3d ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d "
    "ReplicationPad3d CircularPad1d CircularPad2d CircularPad3d": "{padding}",
    "Unflatten": "dim={dim}, unflattened_size={unflattened_size}",
    "MaxPool1d MaxPool2d MaxPool3d": _POOL,
    "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout": "p={p}, inplace={inplace!r}",
    "ReLU ReLU6 SiLU Mish SELU Hardswish Hardsigmoid": "{inplace}",
    "LeakyReLU": "negative_slope={negative_slope}, {inplace}",
    "Flatten": "start_dim={start_dim}, end_dim={end_dim}",
    "GELU": "approximate={approximate!r}",
    "GLU Softmax LogSoftmax Softmin": "dim={dim}",
    "BCELoss BCEWithLogitsLoss CosineEmbeddingLoss CrossEntropyLoss CTCLoss GaussianNLLLoss HingeEmbeddingLoss HuberLoss KLDivLoss "
    "L1Loss MSELoss MarginRankingLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss PoissonNLLLoss "
    "SmoothL1Loss SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss": "",
}
TEXTS = {name: text for names, text in _TEXTS.items() for name in names.split()}
