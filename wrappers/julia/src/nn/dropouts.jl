# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Dropout of elements and of channels.

for (layer, op, what) in (
    (:Dropout, :dropout, "sets elements to 0 with probability `p` and scales the others up"),
    (:Dropout1d, :dropout1d, "sets channels of (N, C, L) or (C, L) to 0 with probability `p` and scales the others up"),
    (:Dropout2d, :dropout2d, "sets channels of (N, C, H, W) or (N, C, L) to 0 with probability `p` and scales the others up"),
    (:Dropout3d, :dropout3d, "sets channels of (N, C, D, H, W) or (C, D, H, W) to 0 with probability `p` and scales the others up"),
    (:AlphaDropout, :alpha_dropout, "drops elements with probability `p` so that mean 0 and variance 1 stay, for networks with selu"),
    (:FeatureAlphaDropout, :feature_alpha_dropout, "drops channels (axis 2) with probability `p` so that mean 0 and variance 1 stay"))
    text = """
        $layer(p=0.5)

    In training, $what.
    """
    @eval begin
        @doc $text struct $layer <: Layer
            p::Float64
            mode::Mode
        end
        function $layer(p::Real=0.5)
            0 <= p <= 1 || throw(ArgumentError(string($(string(layer)), ": expected a probability, got ", p)))
            return $layer(p, Mode(true))
        end
        (layer::$layer)(x::Tensor) = $op(x; p=layer.p, training=layer.mode.training)
    end
end
