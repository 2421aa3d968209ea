# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Initial values of parameters, in place. Others are ops: uniform!, normal!, trunc_normal!, fill!, eye!, dirac!,
# orthogonal!, sparse!. Sizes are in the order of the library, outputs first.

const GAINS = Dict(
    :linear => 1.0, :sigmoid => 1.0, :conv1d => 1.0, :conv2d => 1.0, :conv3d => 1.0, :conv_transpose1d => 1.0,
    :conv_transpose2d => 1.0, :conv_transpose3d => 1.0, :tanh => 5 / 3, :relu => sqrt(2.0), :selu => 0.75,
)

"""
    calculate_gain(nonlinearity; slope=0.01)

The factor that keeps the variance through a nonlinearity, a symbol such as `:relu`; `slope` is that of `:leaky_relu`.
"""
function calculate_gain(nonlinearity::Symbol; slope=0.01)
    nonlinearity === :leaky_relu && return sqrt(2 / (1 + slope^2))
    haskey(GAINS, nonlinearity) && return GAINS[nonlinearity]
    throw(ArgumentError("calculate_gain: unknown nonlinearity $(repr(nonlinearity))"))
end

"The number of inputs of one output of a weight, and of outputs of one input."
function fan_in_and_fan_out(t::Tensor)
    ndims(t) >= 2 || throw(ArgumentError("fan in and out need at least 2 axes, got sizes $(size(t))"))
    field = prod(size(t)[3:end])
    return size(t, 2) * field, size(t, 1) * field
end

# A fan as a divisor: 1 for 0, because a weight without elements needs no value.
xavier_std(t, gain) = gain * sqrt(2 / max(sum(fan_in_and_fan_out(t)), 1))

function kaiming_std(t, slope, mode, nonlinearity)
    mode in (:fan_in, :fan_out) || throw(ArgumentError("mode: expected :fan_in or :fan_out, got $(repr(mode))"))
    fan = fan_in_and_fan_out(t)[mode === :fan_in ? 1 : 2]
    return calculate_gain(nonlinearity; slope) / sqrt(max(fan, 1))
end

within!(t, bound, generator) = no_grad(() -> uniform!(t; low=-bound, high=bound, generator))
spread!(t, std, generator) = no_grad(() -> normal!(t; mean=0, std, generator))

"Glorot's uniform values."
xavier_uniform!(t::Tensor; gain=1.0, generator=nothing) = within!(t, sqrt(3) * xavier_std(t, gain), generator)

"Glorot's normal values."
xavier_normal!(t::Tensor; gain=1.0, generator=nothing) = spread!(t, xavier_std(t, gain), generator)

"He's uniform values."
kaiming_uniform!(t::Tensor; slope=0.0, mode=:fan_in, nonlinearity=:leaky_relu, generator=nothing) =
    within!(t, sqrt(3) * kaiming_std(t, slope, mode, nonlinearity), generator)

"He's normal values."
kaiming_normal!(t::Tensor; slope=0.0, mode=:fan_in, nonlinearity=:leaky_relu, generator=nothing) =
    spread!(t, kaiming_std(t, slope, mode, nonlinearity), generator)
