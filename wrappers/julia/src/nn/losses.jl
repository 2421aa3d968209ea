# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Losses and distances with their settings, as callable layers, and the activation whose slope is trained.

const Weight = Union{Nothing,Tensor}

"""
    @settings Name function inputs setting::Type=default...

A layer that calls a function of so many tensors with its settings as keywords. Tensors among them are buffers.
"""
macro settings(name, call, inputs, fields...)
    keys = [f.args[1].args[1] for f in fields]
    weights = Tuple(String(f.args[1].args[1]) for f in fields if f.args[1].args[2] === :Weight)
    passed = [Expr(:kw, key, :(layer.$key)) for key in keys]
    doc = "`$name(; $(join(keys, ", ")))`: [`$call`](@ref) with these settings, as a layer of $inputs tensors."
    return esc(quote
        @doc $doc Base.@kwdef struct $name <: Layer
            $(fields...)
        end
        (layer::$name)(tensors::Vararg{Tensor,$inputs}) = $call(tensors...; $(passed...))
        $(isempty(weights) ? nothing : :(buffer_names(::$name) = $weights))
    end)
end

@settings MSELoss mse_loss 2 reduction::String="mean"
@settings L1Loss l1_loss 2 reduction::String="mean"
@settings SmoothL1Loss smooth_l1_loss 2 reduction::String="mean" beta::Float64=1.0
@settings HuberLoss huber_loss 2 reduction::String="mean" delta::Float64=1.0
@settings KLDivLoss kl_div 2 reduction::String="mean" log_target::Bool=false
@settings(CrossEntropyLoss, cross_entropy, 2,
    weight::Weight=nothing, ignore_index::Int=-100, reduction::String="mean", label_smoothing::Float64=0.0)
@settings NLLLoss nll_loss 2 weight::Weight=nothing ignore_index::Int=-100 reduction::String="mean"
@settings BCELoss binary_cross_entropy 2 weight::Weight=nothing reduction::String="mean"
@settings(BCEWithLogitsLoss, binary_cross_entropy_with_logits, 2,
    weight::Weight=nothing, reduction::String="mean", pos_weight::Weight=nothing)
@settings(PoissonNLLLoss, poisson_nll_loss, 2,
    log_input::Bool=true, full::Bool=false, eps::Float64=1e-8, reduction::String="mean")
@settings GaussianNLLLoss gaussian_nll_loss 3 full::Bool=false eps::Float64=1e-6 reduction::String="mean"
@settings SoftMarginLoss soft_margin_loss 2 reduction::String="mean"
@settings HingeEmbeddingLoss hinge_embedding_loss 2 margin::Float64=1.0 reduction::String="mean"
@settings MarginRankingLoss margin_ranking_loss 3 margin::Float64=0.0 reduction::String="mean"
@settings CosineEmbeddingLoss cosine_embedding_loss 3 margin::Float64=0.0 reduction::String="mean"
@settings(TripletMarginLoss, triplet_margin_loss, 3,
    margin::Float64=1.0, p::Float64=2.0, eps::Float64=1e-6, swap::Bool=false, reduction::String="mean")
@settings(MultiMarginLoss, multi_margin_loss, 2,
    p::Float64=1.0, margin::Float64=1.0, weight::Weight=nothing, reduction::String="mean")
@settings MultiLabelMarginLoss multilabel_margin_loss 2 reduction::String="mean"
@settings(MultiLabelSoftMarginLoss, multilabel_soft_margin_loss, 2,
    weight::Weight=nothing, reduction::String="mean")
@settings CTCLoss ctc_loss 4 blank::Int=0 reduction::String="mean" zero_infinity::Bool=false
@settings CosineSimilarity cosine_similarity 2 dims::Int=2 eps::Float64=1e-8
@settings PairwiseDistance pairwise_distance 2 p::Float64=2.0 eps::Float64=1e-6 keepdims::Bool=false

"""
    TripletMarginWithDistanceLoss(; distance_function=pairwise_distance, margin=1.0, swap=false, reduction="mean")

[`TripletMarginLoss`](@ref) with a distance of your own, which gives one number for each row.
"""
Base.@kwdef struct TripletMarginWithDistanceLoss{F} <: Layer
    distance_function::F = pairwise_distance
    margin::Float64 = 1.0
    swap::Bool = false
    reduction::String = "mean"
end
function (loss::TripletMarginWithDistanceLoss)(anchor::Tensor, positive::Tensor, negative::Tensor)
    loss.reduction in ("none", "mean", "sum") ||
        throw(ArgumentError("reduction: expected none, mean or sum, got $(loss.reduction)"))
    distance = loss.distance_function
    far = distance(anchor, negative)
    loss.swap && (far = min(far, distance(positive, negative)))
    found = clip(add(subtract(distance(anchor, positive), far), loss.margin), 0, nothing)
    return loss.reduction == "none" ? found : loss.reduction == "sum" ? sum(found) : Statistics.mean(found)
end

# Activations with settings, for a Chain; those without are functions: relu, tanh, gelu, ...
@settings LeakyReLU leaky_relu 1 negative_slope::Float64=0.01
@settings ELU elu 1 alpha::Float64=1.0
@settings CELU celu 1 alpha::Float64=1.0
@settings Hardtanh hardtanh 1 min_val::Float64=-1.0 max_val::Float64=1.0
@settings Softplus softplus 1 beta::Float64=1.0 threshold::Float64=20.0
@settings Softshrink softshrink 1 lambd::Float64=0.5
@settings Hardshrink hardshrink 1 lambd::Float64=0.5

"""
    PReLU(parameters=1; init=0.25, dtype=Float32)

`x` where positive, else a trained slope times `x`: one slope, or one for each channel.
"""
struct PReLU <: Layer
    weight::Tensor
end
PReLU(parameters::Integer=1; init=0.25, dtype=Float32) = PReLU(parameter(filled(dtype, init, parameters)))
(layer::PReLU)(x::Tensor) = prelu(x, layer.weight)
