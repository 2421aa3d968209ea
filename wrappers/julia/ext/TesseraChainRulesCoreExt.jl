# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# ChainRules rules for Zygote and similar packages: conversions between arrays and tensors, and `taped`.
module TesseraChainRulesCoreExt

using ChainRulesCore, Tessera

function ChainRulesCore.rrule(::Type{Tensor}, array::AbstractArray{<:Number})
    back(gradient) = (NoTangent(), Array(unthunk(gradient)))
    return Tensor(array), back
end

function ChainRulesCore.rrule(::Type{Array}, t::Tensor)
    back(gradient) = (NoTangent(), Tensor(collect(unthunk(gradient))))
    return Array(t), back
end

function ChainRulesCore.rrule(::typeof(taped), f, tensors::Tensor...)
    given = map(detach, tensors)
    leaves = filter(has_gradient, collect(Tensor, given))
    foreach(requires_grad!, leaves)
    output = enable_grad(() -> f(given...))
    function back(gradient)
        found = requires_grad(output) ?
            grad(output, leaves; gradient=unthunk(gradient), retain_graph=true, allow_unused=true) : map(_ -> nothing, leaves)
        tangents = Iterators.Stateful(map(g -> g === nothing ? ZeroTangent() : g, found))
        return (NoTangent(), NoTangent(), map(t -> has_gradient(t) ? popfirst!(tangents) : NoTangent(), given)...)
    end
    return detach(output), back
end

# Numbers of classes and masks have none.
has_gradient(t::Tensor) = !(eltype(t) <: Integer)

end
