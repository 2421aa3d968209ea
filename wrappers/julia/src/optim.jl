# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Optimizers in the way of Optimisers.jl: a rule, its state for a model, update!.

abstract type Rule end

"Gradient descent, with momentum (Nesterov's on request) and weight decay."
Base.@kwdef struct SGD <: Rule
    lr::Float64 = 1e-3
    momentum::Float64 = 0.0
    dampening::Float64 = 0.0
    weight_decay::Float64 = 0.0
    nesterov::Bool = false
    maximize::Bool = false

    function SGD(lr, momentum, dampening, weight_decay, nesterov, maximize)
        not_negative(lr=lr, momentum=momentum, weight_decay=weight_decay)
        nesterov && (momentum <= 0 || dampening != 0) &&
            throw(ArgumentError("SGD: nesterov needs a momentum and no dampening"))
        return new(lr, momentum, dampening, weight_decay, nesterov, maximize)
    end
end

for (rule, decay, text) in ((:Adam, 0.0, "adds to the gradient"), (:AdamW, 1e-2, "shrinks the parameters directly"))
    @eval begin
        Base.@kwdef struct $rule <: Rule
            lr::Float64 = 1e-3
            betas::Tuple{Float64,Float64} = (0.9, 0.999)
            eps::Float64 = 1e-8
            weight_decay::Float64 = $decay
            amsgrad::Bool = false
            maximize::Bool = false

            function $rule(lr, betas, eps, weight_decay, amsgrad, maximize)
                not_negative(lr=lr, eps=eps, weight_decay=weight_decay)
                all(b -> 0 <= b < 1, betas) ||
                    throw(ArgumentError("betas: expected numbers from 0 below 1, got $betas"))
                return new(lr, betas, eps, weight_decay, amsgrad, maximize)
            end
        end
        @doc $("Steps scaled by running moments of the gradients; weight decay $text.") $rule
    end
end

function not_negative(; options...)
    for (name, value) in options
        value >= 0 || throw(ArgumentError("$name: expected at least 0, got $value"))
    end
end

"What [`setup`](@ref) makes."
mutable struct OptimizerState{R<:Rule}
    rule::R
    params::Vector{Tensor}
    buffers::Vector{Vector{Tensor}}  # one list for each kind, in the order of params; empty at first
    steps::Vector{Int}  # how often each parameter was changed
end

"""
    setup(rule, model)
    setup(rule, tensors)

What a rule keeps for the parameters of a model. `state.rule` may be replaced by one of the same kind
with other numbers, for a schedule: `adjust!(state, lr=...)`.
"""
function setup(rule::Rule, tensors::AbstractVector{Tensor})
    isempty(tensors) && throw(ArgumentError("setup: expected at least one parameter"))
    all(is_leaf, tensors) || throw(ArgumentError("setup: only leaves can be optimized"))
    kinds = buffer_count(rule)
    buffers = [Tensor[zeros_like(t) for t in tensors] for _ in 1:kinds]
    return OptimizerState(rule, collect(tensors), buffers, fill(0, length(tensors)))
end
setup(rule::Rule, model::Layer) = setup(rule, params(model))

spare!(spared, state::OptimizerState) = spare!(spared, (state.params, state.buffers))

buffer_count(rule::SGD) = rule.momentum == 0 ? 0 : 1
buffer_count(rule::Rule) = rule.amsgrad ? 3 : 2

"Changes options of the rule, such as `lr`, and keeps the rest."
function adjust!(state::OptimizerState; options...)
    rule = state.rule
    current = Dict{Symbol,Any}(f => getfield(rule, f) for f in fieldnames(typeof(rule)))
    state.rule = typeof(rule)(; merge(current, Dict{Symbol,Any}(options))...)
    return state
end

"""
    update!(state)
    update!(state, gradients)

Changes the parameters by the gradients that they hold, or by these: one for each parameter, `nothing`
leaves it.
"""
function update!(state::OptimizerState)
    follow!(state)
    gradients = fill(tsr_tensor(C_NULL), length(state.params))
    try
        for (i, t) in enumerate(state.params)
            check(C.tsr_tensor_grad(t, Ref(gradients, i)))
        end
        if any(==(C_NULL), gradients) || !all(==(state.steps[1]), state.steps)
            return update!(state, map(borrow_or_nothing, gradients))
        end
        return update_all!(state, gradients)
    finally
        C.tsr_tensor_release_many(gradients, length(gradients))
    end
end

# Brings what is kept to parameters that were converted since.
function follow!(state::OptimizerState)
    for list in state.buffers, (i, t) in enumerate(state.params)
        kept, wanted = info(list[i]), info(t)
        kept.dtype == wanted.dtype && kept.device_type == wanted.device_type &&
            kept.device_index == wanted.device_index && continue
        list[i] = _to(list[i], device(t), element_type(wanted.dtype), false, false)
    end
end

borrow_or_nothing(handle) = handle == C_NULL ? nothing : borrow(handle)

function update_all!(state, gradients)
    state.steps .+= 1
    no_grad(() -> apply!(state.rule, state.params, gradients, state.buffers, state.steps[1]))
    return state
end

function update!(state::OptimizerState, gradients)
    length(gradients) == length(state.params) || throw(DimensionMismatch(
        "update!: $(length(gradients)) gradients for $(length(state.params)) parameters"))
    follow!(state)
    live = findall(!isnothing, gradients)
    state.steps[live] .+= 1
    # Parameters that were left out at times are at another step than the rest.
    for step in unique(state.steps[live])
        chosen = filter(i -> state.steps[i] == step, live)
        lists = [list[chosen] for list in state.buffers]
        no_grad() do
            apply!(state.rule, state.params[chosen], Tensor[gradients[i] for i in chosen], lists, step)
        end
    end
    return state
end

apply!(r::SGD, params, gradients, lists, step) = sgd_step!(params, gradients,
    isempty(lists) ? Tensor[] : lists[1], r.lr; momentum=r.momentum, dampening=r.dampening,
    weight_decay=r.weight_decay, nesterov=r.nesterov, maximize=r.maximize, first_step=step == 1)
apply!(r::Adam, params, gradients, lists, step) =
    adam_step!(params, gradients, moments(lists)..., step, r.lr; adam_options(r)...)
apply!(r::AdamW, params, gradients, lists, step) =
    adamw_step!(params, gradients, moments(lists)..., step, r.lr; adam_options(r)...)

"The gradients of a model's parameters, clipped together."
clip_grad_norm!(model::Layer, max_norm::Real; options...) =
    clip_grad_norm!(params(model), max_norm; options...)
clip_grad_value!(model::Layer, clip_value::Real) = clip_grad_value!(params(model), clip_value)

moments(lists) = (lists[1], lists[2], length(lists) == 3 ? lists[3] : Tensor[])
adam_options(r) = (beta1=r.betas[1], beta2=r.betas[2], eps=r.eps, weight_decay=r.weight_decay,
    maximize=r.maximize)
