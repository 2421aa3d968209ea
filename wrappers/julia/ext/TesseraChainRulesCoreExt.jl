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
    leaves = map(t -> requires_grad!(detach(t)), tensors)
    output = enable_grad(() -> f(leaves...))
    function back(gradient)
        found = grad(output, collect(leaves); gradient=unthunk(gradient), retain_graph=true, allow_unused=true)
        return (NoTangent(), NoTangent(), map(g -> g === nothing ? ZeroTangent() : g, found)...)
    end
    return detach(output), back
end

end
