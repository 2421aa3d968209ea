# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Layers of images without parameters: other sizes, shuffles, windows as columns.

"""
    Upsample(; size=nothing, scale_factor=nothing, mode="nearest", align_corners=nothing,
        recompute_scale_factor=false)

An image of another size: one of `size` and `scale_factor` is given, as one number or one for each
spatial axis.
"""
struct Upsample <: Layer
    size::Any
    scale_factor::Any
    mode::String
    align_corners::Union{Nothing,Bool}
    recompute_scale_factor::Bool
end

Upsample(; size=nothing, scale_factor=nothing, mode="nearest", align_corners=nothing,
    recompute_scale_factor=false) =
    Upsample(size, scale_factor, mode, align_corners, recompute_scale_factor)
(layer::Upsample)(x::Tensor) = interpolate(x, something(layer.scale_factor, ()); size=layer.size,
    mode=layer.mode, align_corners=layer.align_corners,
    recompute_scale_factor=layer.recompute_scale_factor)

"""
    PixelShuffle(upscale_factor)

Groups of channels become blocks of `upscale_factor` by `upscale_factor` elements.
"""
struct PixelShuffle <: Layer
    upscale_factor::Int
end
(layer::PixelShuffle)(x::Tensor) = pixel_shuffle(x, layer.upscale_factor)

"""
    PixelUnshuffle(downscale_factor)

The reverse of [`PixelShuffle`](@ref).
"""
struct PixelUnshuffle <: Layer
    downscale_factor::Int
end
(layer::PixelUnshuffle)(x::Tensor) = pixel_unshuffle(x, layer.downscale_factor)

"""
    ChannelShuffle(groups)

Channels in the order first of each group, second of each group, and so on.
"""
struct ChannelShuffle <: Layer
    groups::Int
end
(layer::ChannelShuffle)(x::Tensor) = channel_shuffle(x, layer.groups)

"""
    Unfold(kernel_size; dilation=1, padding=0, stride=1)

The windows of an image as columns.
"""
struct Unfold <: Layer
    kernel_size::Any
    dilation::Any
    padding::Any
    stride::Any
end

Unfold(kernel_size; dilation=1, padding=0, stride=1) =
    Unfold(kernel_size, dilation, padding, stride)
(layer::Unfold)(x::Tensor) = im2col(x, layer.kernel_size; dilation=layer.dilation,
    padding=layer.padding, stride=layer.stride)

"""
    Fold(output_size, kernel_size; dilation=1, padding=0, stride=1)

The sums of windows that are given as columns.
"""
struct Fold <: Layer
    output_size::Any
    kernel_size::Any
    dilation::Any
    padding::Any
    stride::Any
end

Fold(output_size, kernel_size; dilation=1, padding=0, stride=1) =
    Fold(output_size, kernel_size, dilation, padding, stride)
(layer::Fold)(x::Tensor) = col2im(x, layer.output_size, layer.kernel_size;
    dilation=layer.dilation, padding=layer.padding, stride=layer.stride)
