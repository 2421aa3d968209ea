# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Padding of the last one, two or three axes.

for (kind, mode, what) in (
    (:ZeroPad, "constant", "Zeros around"),
    (:ReflectionPad, "reflect", "The input mirrored at the ends, without them, of"),
    (:ReplicationPad, "replicate", "The ends repeated of"),
    (:CircularPad, "circular", "The input continued from the other end of")),
    (count, axes) in ((1, "the last axis"), (2, "the last two axes"), (3, "the last three axes"))

    layer = Symbol(kind, count, :d)
    text = """
        $layer(padding)

    $what $axes. `padding` has the numbers of elements before and after each axis, the last axis first; one number means all.
    """
    @eval begin
        @doc $text struct $layer <: Layer
            padding::NTuple{$(2count),Int}
            $layer(padding) = new(per_axis(padding, $(2count), "padding"))
        end
        (layer::$layer)(x::Tensor) = pad(x, layer.padding; mode=$mode)
    end
end

for (count, axes) in ((1, "the last axis"), (2, "the last two axes"), (3, "the last three axes"))
    layer = Symbol(:ConstantPad, count, :d)
    text = """
        $layer(padding, value)

    A number around $axes. `padding` has the numbers of elements before and after each axis, the last axis first; one number
    means all.
    """
    @eval begin
        @doc $text struct $layer <: Layer
            padding::NTuple{$(2count),Int}
            value::Number
            $layer(padding, value::Number) = new(per_axis(padding, $(2count), "padding"), value)
        end
        (layer::$layer)(x::Tensor) = pad(x, layer.padding; value=layer.value)
    end
end
