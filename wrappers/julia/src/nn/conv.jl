# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Convolution along one, two and three axes, and its transpose.

per_axis(x::Integer, count, name) = ntuple(_ -> Int(x), count)
function per_axis(x, count, name)
    length(x) == count || throw(ArgumentError("$name: expected a number or $count numbers, got $x"))
    return ntuple(i -> Int(x[i]), count)
end

function check_groups(name, channels, groups)
    inputs, outputs = channels
    groups >= 1 && inputs % groups == 0 && outputs % groups == 0 ||
        throw(ArgumentError("$name: channels $channels are not divisible by groups=$groups"))
end

# A weight and a bias with initial values for so many inputs of an output.
function conv_parameters(shape, outputs, bias, dtype)
    bound = 1 / sqrt(max(prod(shape[2:end]), 1))
    return uniform_parameter(dtype, bound, shape), bias ? uniform_parameter(dtype, bound, outputs) : nothing
end

# The fields of a convolution along so many axes.
function conv_fields(name, count, kernel, channels; stride=1, padding=0, dilation=1, groups=1, bias=true,
        padding_mode="zeros", dtype=Float32)
    check_groups(name, channels, groups)
    mode = String(padding_mode)
    mode in ("zeros", "reflect", "replicate", "circular") ||
        throw(ArgumentError("$name: padding_mode: expected zeros, reflect, replicate or circular, got $mode"))
    padding isa Symbol && !(padding in (:same, :valid)) &&
        throw(ArgumentError("$name: padding: expected numbers, :same or :valid, got $(repr(padding))"))
    steps = per_axis(stride, count, "stride")
    padding === :same && any(!=(1), steps) &&
        throw(ArgumentError("$name: padding=:same needs a stride of 1, got $stride"))
    shape = (last(channels), first(channels) ÷ groups, per_axis(kernel, count, "kernel")...)
    return (conv_parameters(shape, last(channels), bias, dtype)..., steps,
        per_axis(padding isa Symbol ? 0 : padding, count, "padding"), per_axis(dilation, count, "dilation"),
        groups, padding === :same, mode)
end

# The elements before and after each axis, the last axis first.
function around(layer)
    kernel = size(layer.weight)[3:end]
    both = layer.same ? layer.dilation .* (kernel .- 1) : 2 .* layer.padding
    return [n for total in reverse(both) for n in (total ÷ 2, total - total ÷ 2)]
end

# The fields of its transpose.
function transpose_fields(name, count, kernel, channels; stride=1, padding=0, output_padding=0, groups=1,
        bias=true, dilation=1, dtype=Float32)
    check_groups(name, channels, groups)
    shape = (first(channels), last(channels) ÷ groups, per_axis(kernel, count, "kernel")...)
    return (conv_parameters(shape, last(channels), bias, dtype)..., per_axis(stride, count, "stride"),
        per_axis(padding, count, "padding"), per_axis(output_padding, count, "output_padding"), groups,
        per_axis(dilation, count, "dilation"))
end

for (count, inputs) in ((1, "sequences of sizes (N, C, L)"), (2, "images of sizes (N, C, H, W)"),
    (3, "volumes of sizes (N, C, D, H, W)"))
    conv, conv_op = Symbol(:Conv, count, :d), Symbol(:conv, count, :d)
    transpose, transpose_op = Symbol(:ConvTranspose, count, :d), Symbol(:conv_transpose, count, :d)
    conv_text = """
        $conv(kernel, in => out; stride=1, padding=0, dilation=1, groups=1, bias=true, padding_mode="zeros",
            dtype=Float32)

    Cross-correlation of $inputs. With `padding=:same` outputs have the input's size; `padding_mode` says what
    stands in the padding: zeros, reflect, replicate or circular.
    """
    transpose_text = """
        $transpose(kernel, in => out; stride=1, padding=0, output_padding=0, groups=1, bias=true, dilation=1, dtype=Float32)

    The gradient of [`$conv`](@ref) with respect to its input, as a layer.
    """
    @eval begin
        @doc $conv_text struct $conv <: Layer
            weight::Tensor
            bias::Union{Nothing,Tensor}
            stride::NTuple{$count,Int}
            padding::NTuple{$count,Int}
            dilation::NTuple{$count,Int}
            groups::Int
            same::Bool
            padding_mode::String
        end
        $conv(kernel, channels::Pair{<:Integer,<:Integer}; options...) =
            $conv(conv_fields($(string(conv)), $count, kernel, channels; options...)...)
        function (layer::$conv)(x::Tensor)
            if layer.padding_mode != "zeros"
                return $conv_op(pad(x, around(layer); mode=layer.padding_mode), layer.weight; bias=layer.bias,
                    stride=layer.stride, dilation=layer.dilation, groups=layer.groups)
            end
            return $conv_op(x, layer.weight; bias=layer.bias, stride=layer.stride,
                padding=layer.same ? nothing : layer.padding, dilation=layer.dilation, groups=layer.groups,
                same=layer.same)
        end

        @doc $transpose_text struct $transpose <: Layer
            weight::Tensor
            bias::Union{Nothing,Tensor}
            stride::NTuple{$count,Int}
            padding::NTuple{$count,Int}
            output_padding::NTuple{$count,Int}
            groups::Int
            dilation::NTuple{$count,Int}
        end
        $transpose(kernel, channels::Pair{<:Integer,<:Integer}; options...) =
            $transpose(transpose_fields($(string(transpose)), $count, kernel, channels; options...)...)
        (layer::$transpose)(x::Tensor) = $transpose_op(x, layer.weight; bias=layer.bias,
            stride=layer.stride, padding=layer.padding, output_padding=layer.output_padding,
            groups=layer.groups, dilation=layer.dilation)
    end
end
