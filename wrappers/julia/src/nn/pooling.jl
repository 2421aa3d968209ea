# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Pooling along one, two and three axes of (N, C, spatial...) or (C, spatial...).

for (count, along) in ((1, "one axis"), (2, "two axes"), (3, "three axes"))
    name(kind) = Symbol(kind, count, :d)
    maximum_op, average_op, norm_op, unpool_op = name.((:max_pool, :avg_pool, :lp_pool, :max_unpool))
    with_positions = Symbol(maximum_op, :_with_positions)
    even_maximum, even_average = name.((:adaptive_max_pool, :adaptive_avg_pool))
    even_with_positions = Symbol(even_maximum, :_with_positions)
    maximum_layer, average_layer, norm_layer, unpool_layer = name.((:MaxPool, :AvgPool, :LPPool, :MaxUnpool))
    even_maximum_layer, even_average_layer = name.((:AdaptiveMaxPool, :AdaptiveAvgPool))
    texts = (
        maximum = """
            $maximum_layer(kernel; stride=kernel, padding=0, dilation=1, return_indices=false, ceil_mode=false)

        The maximum of each window along $along; with `return_indices` also the positions of the maxima in the
        flattened spatial axes in row-major order, from 0.
        """,
        average = """
            $average_layer(kernel; stride=kernel, padding=0, ceil_mode=false, count_include_pad=true, divisor_override=nothing)

        The mean of each window along $along.
        """,
        norm = """
            $norm_layer(p, kernel; stride=kernel, ceil_mode=false)

        `(sum of x^p)^(1/p)` for each window along $along.
        """,
        unpool = """
            $unpool_layer(kernel; stride=kernel, padding=0)

        Zeros with the maxima at the positions that [`$maximum_layer`](@ref) returned: `layer(maxima,
        positions; output_size=nothing)`.
        """,
        even_maximum = """
            $even_maximum_layer(output_size; return_indices=false)

        The maxima of the given number of windows along $along, which cover the input evenly.
        """,
        even_average = """
            $even_average_layer(output_size)

        The means of the given number of windows along $along, which cover the input evenly.
        """,
    )
    @eval begin
        @doc $(texts.maximum) struct $maximum_layer <: Layer
            kernel::NTuple{$count,Int}
            stride::NTuple{$count,Int}
            padding::NTuple{$count,Int}
            dilation::NTuple{$count,Int}
            return_indices::Bool
            ceil_mode::Bool
        end
        $maximum_layer(kernel; stride=kernel, padding=0, dilation=1, return_indices=false, ceil_mode=false) =
            $maximum_layer(per_axis(kernel, $count, "kernel"), per_axis(stride, $count, "stride"),
                per_axis(padding, $count, "padding"), per_axis(dilation, $count, "dilation"), return_indices,
                ceil_mode)
        (layer::$maximum_layer)(x::Tensor) =
            (layer.return_indices ? $with_positions : $maximum_op)(x, layer.kernel; stride=layer.stride,
                padding=layer.padding, dilation=layer.dilation, ceil_mode=layer.ceil_mode)

        @doc $(texts.average) struct $average_layer <: Layer
            kernel::NTuple{$count,Int}
            stride::NTuple{$count,Int}
            padding::NTuple{$count,Int}
            ceil_mode::Bool
            count_include_pad::Bool
            divisor_override::Union{Nothing,Int}
        end
        $average_layer(kernel; stride=kernel, padding=0, ceil_mode=false, count_include_pad=true,
            divisor_override=nothing) =
            $average_layer(per_axis(kernel, $count, "kernel"), per_axis(stride, $count, "stride"),
                per_axis(padding, $count, "padding"), ceil_mode, count_include_pad, divisor_override)
        (layer::$average_layer)(x::Tensor) = $average_op(x, layer.kernel; stride=layer.stride,
            padding=layer.padding, ceil_mode=layer.ceil_mode, count_include_pad=layer.count_include_pad,
            divisor_override=layer.divisor_override)

        @doc $(texts.norm) struct $norm_layer <: Layer
            p::Float64
            kernel::NTuple{$count,Int}
            stride::NTuple{$count,Int}
            ceil_mode::Bool
        end
        $norm_layer(p::Real, kernel; stride=kernel, ceil_mode=false) = $norm_layer(p,
            per_axis(kernel, $count, "kernel"), per_axis(stride, $count, "stride"), ceil_mode)
        (layer::$norm_layer)(x::Tensor) =
            $norm_op(x, layer.p, layer.kernel; stride=layer.stride, ceil_mode=layer.ceil_mode)

        @doc $(texts.unpool) struct $unpool_layer <: Layer
            kernel::NTuple{$count,Int}
            stride::NTuple{$count,Int}
            padding::NTuple{$count,Int}
        end
        $unpool_layer(kernel; stride=kernel, padding=0) = $unpool_layer(per_axis(kernel, $count, "kernel"),
            per_axis(stride, $count, "stride"), per_axis(padding, $count, "padding"))
        (layer::$unpool_layer)(x::Tensor, positions::Tensor; output_size=nothing) = $unpool_op(x, positions,
            layer.kernel; stride=layer.stride, padding=layer.padding, output_size=output_size)

        @doc $(texts.even_maximum) struct $even_maximum_layer <: Layer
            output_size::NTuple{$count,Int}
            return_indices::Bool
        end
        $even_maximum_layer(output_size; return_indices=false) =
            $even_maximum_layer(per_axis(output_size, $count, "output_size"), return_indices)
        (layer::$even_maximum_layer)(x::Tensor) =
            (layer.return_indices ? $even_with_positions : $even_maximum)(x, layer.output_size)

        @doc $(texts.even_average) struct $even_average_layer <: Layer
            output_size::NTuple{$count,Int}
            $even_average_layer(output_size) = new(per_axis(output_size, $count, "output_size"))
        end
        (layer::$even_average_layer)(x::Tensor) = $even_average(x, layer.output_size)
    end
end
