# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Normalisation over the batch, samples, groups of channels, rows and neighbouring channels. LayerNorm is in
# nn.jl.

ones_and_zeros(dtype, sizes) = parameter(filled(dtype, 1, sizes)), parameter(filled(dtype, 0, sizes))

# Weight, bias, running statistics and the number of batches.
function channel_fields(channels, affine, track, dtype)
    wide = dtype in (Float16, BFloat16) ? Float32 : dtype
    weight, bias = affine ? ones_and_zeros(dtype, channels) : (nothing, nothing)
    track || return weight, bias, nothing, nothing, nothing
    return weight, bias, filled(wide, 0, channels), filled(wide, 1, channels), filled(Int64, 0, ())
end

const CHANNEL_BUFFERS = ("running_mean", "running_var", "num_batches_tracked")

for (count, inputs) in ((1, "(N, C, L)"), (2, "(N, C, H, W)"), (3, "(N, C, D, H, W)"))
    batch, instance = Symbol(:BatchNorm, count, :d), Symbol(:InstanceNorm, count, :d)
    batch_ranks = count == 1 ? (2, 3) : (count + 2,)
    batch_inputs = count == 1 ? "(N, C) or $inputs" : inputs
    instance_inputs = "$inputs or without N"
    batch_text = """
        $batch(channels; eps=1e-5, momentum=0.1, affine=true, track_running_stats=true, dtype=Float32)

    Normalises each channel of $batch_inputs over the batch; in evaluation with the running statistics, which
    are never 16-bit floats. Without `momentum` they are the means of all batches.
    """
    instance_text = """
        $instance(channels; eps=1e-5, momentum=0.1, affine=false, track_running_stats=false, dtype=Float32)

    Normalises each channel of each sample of $instance_inputs; in evaluation with the running statistics,
    if there are any.
    """
    for (layer, text) in ((batch, batch_text), (instance, instance_text))
        @eval begin
            @doc $text struct $layer <: Layer
                weight::Union{Nothing,Tensor}
                bias::Union{Nothing,Tensor}
                running_mean::Union{Nothing,Tensor}
                running_var::Union{Nothing,Tensor}
                num_batches_tracked::Union{Nothing,Tensor}
                eps::Float64
                momentum::Union{Nothing,Float64}
                mode::Mode
            end
            buffer_names(::$layer) = CHANNEL_BUFFERS
            statistic_names(::$layer) = CHANNEL_BUFFERS[1:2]
        end
    end
    @eval begin
        $batch(channels::Integer; eps=1e-5, momentum=0.1, affine=true, track_running_stats=true,
            dtype=Float32) =
            $batch(channel_fields(channels, affine, track_running_stats, dtype)..., eps, momentum, Mode(true))
        function (layer::$batch)(x::Tensor)
            ndims(x) in $batch_ranks || throw(DimensionMismatch(
                string($(string(batch)), ": expected ", $batch_inputs, ", got ", size(x))))
            return normalize_batch(layer, x)
        end

        $instance(channels::Integer; eps=1e-5, momentum=0.1, affine=false, track_running_stats=false,
            dtype=Float32) =
            $instance(channel_fields(channels, affine, track_running_stats, dtype)..., eps, momentum, Mode(true))
        function (layer::$instance)(x::Tensor)
            ndims(x) == $count + 2 && return normalize_samples(layer, x)
            ndims(x) == $count + 1 || throw(DimensionMismatch(
                string($(string(instance)), ": expected ", $instance_inputs, ", got ", size(x))))
            return reshape(normalize_samples(layer, reshape(x, (1, size(x)...))), size(x))
        end
    end
end

function normalize_batch(layer, x)
    training = layer.mode.training
    momentum = layer.momentum
    batches = layer.num_batches_tracked
    if training && batches !== nothing
        add!(batches, 1)
        momentum = momentum === nothing ? 1 / item(batches) : momentum
    end
    return batch_norm(x; running_mean=layer.running_mean, running_var=layer.running_var, weight=layer.weight,
        bias=layer.bias, training=training || layer.running_mean === nothing,
        momentum=momentum === nothing ? 0.0 : momentum, eps=layer.eps)
end

normalize_samples(layer, x) = instance_norm(x; running_mean=layer.running_mean,
    running_var=layer.running_var, weight=layer.weight, bias=layer.bias,
    use_input_stats=layer.mode.training || layer.running_mean === nothing, momentum=something(layer.momentum, 0.0), eps=layer.eps)

"""
    GroupNorm(groups, channels; eps=1e-5, affine=true, dtype=Float32)

Normalises groups of neighbouring channels of each sample of (N, C, ...).
"""
struct GroupNorm <: Layer
    weight::Union{Nothing,Tensor}
    bias::Union{Nothing,Tensor}
    groups::Int
    eps::Float64
end

function GroupNorm(groups::Integer, channels::Integer; eps=1e-5, affine=true, dtype=Float32)
    groups >= 1 && channels % groups == 0 ||
        throw(ArgumentError("GroupNorm: expected a divisor of $channels channels, got $groups groups"))
    return GroupNorm((affine ? ones_and_zeros(dtype, channels) : (nothing, nothing))..., groups, eps)
end
(layer::GroupNorm)(x::Tensor) = group_norm(x, layer.groups; weight=layer.weight, bias=layer.bias, eps=layer.eps)

"""
    RMSNorm(sizes; eps=nothing, elementwise_affine=true, dtype=Float32)

Divides by the root of the mean square over the last axes, which have these sizes. `eps` is the machine
epsilon of the input's dtype if it is nothing.
"""
struct RMSNorm <: Layer
    weight::Union{Nothing,Tensor}
    sizes::Tuple{Vararg{Int}}
    eps::Union{Nothing,Float64}
end

RMSNorm(sizes; eps=nothing, elementwise_affine=true, dtype=Float32) = RMSNorm(
    elementwise_affine ? parameter(filled(dtype, 1, sizes)) : nothing, Tuple(Int.(sizes)), eps)
(layer::RMSNorm)(x::Tensor) = rms_norm(x, layer.sizes; weight=layer.weight, eps=layer.eps)

"""
    LocalResponseNorm(size; alpha=1e-4, beta=0.75, k=1)

Divides by a power of the mean square over `size` neighbouring channels.
"""
struct LocalResponseNorm <: Layer
    size::Int
    alpha::Float64
    beta::Float64
    k::Float64
end

LocalResponseNorm(size::Integer; alpha=1e-4, beta=0.75, k=1) = LocalResponseNorm(size, alpha, beta, k)
(layer::LocalResponseNorm)(x::Tensor) =
    local_response_norm(x, layer.size; alpha=layer.alpha, beta=layer.beta, k=layer.k)
