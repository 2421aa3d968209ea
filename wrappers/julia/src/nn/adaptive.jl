# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# The adaptive softmax of Grave et al., "Efficient softmax approximation for GPUs" (2017): rare classes stand in clusters,
# which are computed only for the rows that need them.

"""
    AdaptiveLogSoftmaxWithLoss(in_features, n_classes, cutoffs; div_value=4, head_bias=false, dtype=Float32)

Classes, which count from 0, must be sorted from the most frequent to the rarest. Those below `cutoffs[1]` are scored by the
head, together with one score for each cluster; cluster `i` has the classes from `cutoffs[i]` on and
`in_features / div_value^i` inner features. `layer(x, target)` returns the log-probability `output` of the class of each row
and the `loss`, the mean of their negatives; [`log_prob`](@ref) gives those of all classes, [`predict`](@ref) the most
probable class.
"""
struct AdaptiveLogSoftmaxWithLoss <: Layer
    head::Dense
    tail::Vector{Chain}
    cutoffs::Vector{Int}  # the last one is the number of classes
end

function AdaptiveLogSoftmaxWithLoss(in_features::Integer, n_classes::Integer, cutoffs; div_value::Real=4, head_bias=false,
    dtype=Float32)
    ends = Int[cutoffs..., n_classes]
    length(ends) > 1 && all(diff([0; ends]) .> 0) ||
        throw(ArgumentError("cutoffs: expected rising numbers from 1 to $(n_classes - 1), got $cutoffs"))
    div_value > 0 || throw(ArgumentError("div_value: expected a number above 0, got $div_value"))
    head = Dense(in_features => ends[1] + length(ends) - 1; bias=head_bias, dtype=dtype)
    cluster(i) = (inner = Int(fld(float(in_features), float(div_value)^i));
        Chain(Dense(in_features => inner; bias=false, dtype=dtype), Dense(inner => ends[i + 1] - ends[i]; bias=false, dtype=dtype)))
    return AdaptiveLogSoftmaxWithLoss(head, Chain[cluster(i) for i in 1:(length(ends) - 1)], ends)
end

function (layer::AdaptiveLogSoftmaxWithLoss)(x::Tensor, target::Tensor)
    check_rows(layer, x)
    size(x)[1:(end - 1)] == size(target) ||
        throw(DimensionMismatch("target: expected one class for each row of $(size(x)), got $(size(target))"))
    rows = reshape_row_major(x, (-1, size(x, ndims(x))))
    classes, ends = astype(reshape_row_major(target, (-1,)), Int64), layer.cutoffs
    Bool(any(logical_or(less(classes, 0), greater_equal(classes, last(ends))))) && throw(BoundsError(OutOfBounds(
        "target: expected classes from 0 to $(last(ends) - 1), got numbers from $(item(minimum(classes))) to " *
        "$(item(maximum(classes)))")))
    tails, columns = zeros(size(classes); dtype=eltype(x), device=device(x)), classes
    for (i, layers) in enumerate(layer.tail)
        inside = logical_and(greater_equal(classes, ends[i]), less(classes, ends[i + 1]))
        columns = choose(inside, ends[1] + i - 1, columns)
        found = only(nonzero(inside))
        isempty(found) && continue
        scores = log_softmax(layers(index_select(rows, found; dims=1)); dims=2)
        own = unsqueeze(subtract(index_select(classes, found; dims=1), ends[i]); dims=2)
        tails = index_add(tails, found, dropdims(gather(scores, own; dims=2); dims=2); dims=1)
    end
    head = log_softmax(layer.head(rows); dims=2)
    output = add(dropdims(gather(head, unsqueeze(columns; dims=2); dims=2); dims=2), tails)
    return (output=reshape_row_major(output, size(target)), loss=negative(Statistics.mean(output)))
end

"The log-probabilities of all classes, for each row of the input."
function log_prob(layer::AdaptiveLogSoftmaxWithLoss, x::Tensor)
    check_rows(layer, x)
    axis, first_ones = ndims(x), layer.cutoffs[1]
    head = log_softmax(layer.head(x); dims=axis)
    parts = [narrow(head, 1, first_ones; dims=axis)]
    for (i, layers) in enumerate(layer.tail)
        push!(parts, add(log_softmax(layers(x); dims=axis), narrow(head, first_ones + i, 1; dims=axis)))
    end
    return concat(parts; dims=axis)
end

"The most probable class of each row, from 0."
predict(layer::AdaptiveLogSoftmaxWithLoss, x::Tensor) = argmax(log_prob(layer, x); dims=ndims(x), keepdims=false)

function check_rows(layer::AdaptiveLogSoftmaxWithLoss, x)
    features = size(layer.head.weight, 2)
    ndims(x) in (1, 2) && size(x, ndims(x)) == features ||
        throw(DimensionMismatch("input: expected (batch, $features) or ($features), got $(size(x))"))
end
