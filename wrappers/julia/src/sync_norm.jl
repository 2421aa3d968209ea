# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Batch normalisation over the batches of all ranks of a group.

"""
    SyncBatchNorm(channels, group; eps=1e-5, momentum=0.1, affine=true, track_running_stats=true, dtype=Float32)

Normalises each channel of (N, C, ...) over the batches of all ranks, as one process with the whole batch would. Ranks may
have batches of different sizes. All of them call it together, and their backward passes too. In evaluation it is a batch
normalisation of its own process.
"""
struct SyncBatchNorm <: Layer
    weight::Union{Nothing,Tensor}
    bias::Union{Nothing,Tensor}
    running_mean::Union{Nothing,Tensor}
    running_var::Union{Nothing,Tensor}
    num_batches_tracked::Union{Nothing,Tensor}
    eps::Float64
    momentum::Union{Nothing,Float64}
    mode::Mode
    channels::Int
    group::Group
end
buffer_names(::SyncBatchNorm) = CHANNEL_BUFFERS
statistic_names(::SyncBatchNorm) = CHANNEL_BUFFERS[1:2]

SyncBatchNorm(channels::Integer, group::Group; eps=1e-5, momentum=0.1, affine=true, track_running_stats=true,
    dtype=Float32) =
    SyncBatchNorm(channel_fields(channels, affine, track_running_stats, dtype)..., eps, momentum, Mode(true), channels, group)

function (layer::SyncBatchNorm)(x::Tensor)
    ndims(x) >= 2 && size(x, 2) == layer.channels ||
        throw(DimensionMismatch("SyncBatchNorm: expected (N, $(layer.channels), ...), got $(size(x))"))
    return layer.mode.training && group_size(layer.group) > 1 ? normalize_ranks(layer, x) : normalize_batch(layer, x)
end

function normalize_ranks(layer, input)
    x = eltype(input) in (Float16, BFloat16) ? astype(input, Float32) : input
    axes = Tuple(d for d in 1:ndims(x) if d != 2)
    shape = ntuple(d -> d == 2 ? layer.channels : 1, ndims(x))
    # Two reductions instead of one of sums and squares, whose difference would lose the digits of a small variance.
    own = full((1,), length(x) ÷ max(layer.channels, 1); dtype=eltype(x), device=device(x))
    sums = all_reduce(layer.group, concat((sum(x; dims=axes, keepdims=false), own); dims=1))
    count = detach(select(sums, layer.channels + 1; dims=1))
    values = item(count)
    values > 1 || throw(ArgumentError("SyncBatchNorm: expected more than 1 value for each channel, got $(Int(values))"))
    mean = divide(narrow(sums, 1, layer.channels; dims=1), count)
    apart = subtract(x, reshape_row_major(mean, shape))
    var = divide(all_reduce(layer.group, sum(square(apart); dims=axes, keepdims=false)), count)
    no_grad(() -> track_batch!(layer, mean, var, count))
    result = multiply(apart, reshape_row_major(rsqrt(add(var, layer.eps)), shape))
    layer.weight === nothing ||
        (result = add(multiply(result, reshape_row_major(layer.weight, shape)), reshape_row_major(layer.bias, shape)))
    return astype(result, eltype(input))
end

# Moves the running statistics towards those of this batch.
function track_batch!(layer, mean, var, count)
    layer.running_mean === nothing && return
    add!(layer.num_batches_tracked, 1)
    share = layer.momentum === nothing ? 1 / item(layer.num_batches_tracked) : layer.momentum
    unbiased = multiply(var, divide(count, subtract(count, 1)))
    lerp!(layer.running_mean, astype(mean, eltype(layer.running_mean)), share)
    lerp!(layer.running_var, astype(unbiased, eltype(layer.running_var)), share)
end
