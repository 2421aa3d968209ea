# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Optimizers in the style of Optimisers.jl: a rule, its state for a model, update!. The library does the
# arithmetic and keeps state and files.

"A kind of optimizer with its options."
abstract type Rule end

include("generated/optim.jl")

# Options that are one pair here and two numbers in C.
const PAIRS = (
    betas=(:beta1, :beta2), etas=(:etaminus, :etaplus), step_sizes=(:step_size_min, :step_size_max)
)

# ---- Conversion between rules and the struct of the C ABI ----

function c_options(rule::Rule)
    given = Dict{Symbol,Any}(:struct_size => sizeof(C.tsr_optimizer_options), :kind => kind(typeof(rule)))
    for field in fieldnames(typeof(rule))
        value = getfield(rule, field)
        for (name, part) in zip(get(PAIRS, field, (field,)), value)
            given[name] = part
        end
    end
    return C.tsr_optimizer_options((get(given, f, 0) for f in fieldnames(C.tsr_optimizer_options))...)
end

function rule_of(::Type{R}, options) where {R<:Rule}
    parts(name) = map(part -> getfield(options, part), PAIRS[name])
    return R((haskey(PAIRS, f) ? parts(f) : getfield(options, f) for f in fieldnames(R))...)
end

# ---- The optimizer ----

"An optimizer with its state, made by [`setup`](@ref). Only one thread at a time may use it."
mutable struct OptimizerState{R<:Rule}
    handle::C.tsr_optimizer
    params::Vector{Tensor}
    function OptimizerState{R}(handle, params) where {R}
        state = new{R}(handle, params)
        finalizer(x -> C.tsr_optimizer_release(x.handle), state)
        return state
    end
end

Base.unsafe_convert(::Type{C.tsr_optimizer}, state::OptimizerState) = state.handle
spare!(spared, state::OptimizerState) = spare!(spared, state.params)

"""
    setup(rule, model)
    setup(rule, tensors)

Makes an optimizer; the parameters of the model are its first group. [`add_group!`](@ref) adds
parameters with their own options; `adjust!(state, lr=...)` changes options, for a learning-rate
schedule.
"""
function setup(rule::R, tensors::AbstractVector{Tensor}) where {R<:Rule}
    list = collect(tensors)
    raw, out = handles(list), Ref{C.tsr_optimizer}()
    GC.@preserve list check(C.tsr_optimizer_new(Ref(c_options(rule)), raw, length(raw), out))
    return OptimizerState{R}(out[], list)
end
setup(rule::Rule, model::Layer) = setup(rule, params(model))

"Adds parameters with their own options, given as a rule of the same kind."
function add_group!(state::OptimizerState{R}, rule::R, tensors::AbstractVector{Tensor}) where {R}
    list = collect(tensors)
    raw = handles(list)
    GC.@preserve list check(C.tsr_optimizer_add_group(state, Ref(c_options(rule)), raw, length(raw)))
    append!(state.params, list)
    return state
end

function group_count(state::OptimizerState)
    count = Ref{Int64}(0)
    check(C.tsr_optimizer_group_count(state, count))
    return Int(count[])
end

"The rule of a group, with its current options."
function rule(state::OptimizerState{R}, group::Integer=1) where {R}
    options = Ref(C.tsr_optimizer_options())
    check(C.tsr_optimizer_options_get(state, group - 1, options))
    return rule_of(R, options[])
end

"Changes options, such as `lr`, of one group or of all, and keeps the rest."
function adjust!(state::OptimizerState{R}; group::Union{Integer,Nothing}=nothing, options...) where {R}
    for g in (group === nothing ? (1:group_count(state)) : (group:group))
        now = rule(state, g)
        current = Dict{Symbol,Any}(f => getfield(now, f) for f in fieldnames(R))
        changed = R(; merge(current, Dict{Symbol,Any}(options))...)
        check(C.tsr_optimizer_options_set(state, g - 1, Ref(c_options(changed))))
    end
    return state
end

"""
    update!(state)
    update!(state, gradients)

Updates the parameters by the gradients that they hold, or by the given ones: one for each parameter;
with `nothing` the parameter does not change.
"""
function update!(state::OptimizerState)
    check(C.tsr_optimizer_step(state))
    return state
end

function update!(state::OptimizerState, gradients)
    length(gradients) == length(state.params) || throw(DimensionMismatch(
        "update!: $(length(gradients)) gradients for $(length(state.params)) parameters"))
    list = collect(gradients)
    raw = handles(list)
    GC.@preserve list check(C.tsr_optimizer_step_with(state, raw, length(raw)))
    return state
end

zero_grad!(state::OptimizerState) = (check(C.tsr_optimizer_zero_grad(state, 1)); nothing)

function Base.show(io::IO, rule::Rule)
    print(io, nameof(typeof(rule)), "(")
    join(io, ("$field=$(repr(getfield(rule, field)))" for field in fieldnames(typeof(rule))), ", ")
    print(io, ")")
end
# The rule of the first group; the tensors would fill the screen.
function Base.show(io::IO, state::OptimizerState)
    groups = group_count(state)
    print(io, "OptimizerState(", rule(state), ", ", length(state.params), " parameters", groups == 1 ? "" : " in $groups groups", ")")
end

# ---- State ----

"""
    state_dict(state)

The state of an optimizer as it is saved to a file: `description`, its kind and options as JSON, and
`tensors` by the names `<group>.<index>.<state>`, counted from 0 as in every language. The tensors share
memory with the optimizer.
"""
function state_dict(state::OptimizerState)
    description, names = Ref{C.tsr_buffer}(C_NULL), Ref{C.tsr_buffer}(C_NULL)
    tensors = many((out, capacity, found) ->
        C.tsr_optimizer_state(state, description, names, out, capacity, found))
    texts = parse_json_array(take_text(names[]))
    return (description=take_text(description[]), tensors=Dict{String,Tensor}(zip(texts, tensors)))
end

"Loads options and a copy of the tensors that `state_dict` returned; after an error nothing has changed."
function load_state_dict!(state::OptimizerState, saved)
    named = pairs_of(saved.tensors)
    names, list = json_array(first.(named)), Tensor[last(p) for p in named]
    raw = handles(list)
    GC.@preserve list check(C.tsr_optimizer_state_load(state, saved.description, sizeof(saved.description), names,
        sizeof(names), raw, length(raw)))
    return state
end

"Writes options and state of an optimizer to a file that every language loads."
save_state(path::AbstractString, state::OptimizerState) =
    (check(C.tsr_optimizer_save(state, path, sizeof(path))); nothing)

"Loads options and state from a file that any language saved."
load_state!(state::OptimizerState, path::AbstractString) =
    (check(C.tsr_optimizer_load(state, path, sizeof(path))); state)

"Clips the gradients of a model's parameters by the norm of all of them."
clip_grad_norm!(model::Layer, max_norm::Real; options...) =
    clip_grad_norm!(params(model), max_norm; options...)
clip_grad_value!(model::Layer, clip_value::Real) = clip_grad_value!(params(model), clip_value)
