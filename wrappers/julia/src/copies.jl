# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Copies and files of objects that hold a handle: Base would copy the address and count no reference. What scopes spare.

using Serialization: AbstractSerializer, Serialization

# ---- deepcopy ----

function Base.deepcopy_internal(g::Generator, seen::IdDict)
    return get!(() -> state!(Generator(0), state(g)), seen, g)
end

# Copied together with its model, the optimizer belongs to the copied parameters.
function Base.deepcopy_internal(old::OptimizerState, seen::IdDict)
    haskey(seen, old) && return seen[old]
    copies = Tensor[Base.deepcopy_internal(t, seen) for t in old.params]
    sizes = [length(many((out, capacity, found) -> C.tsr_optimizer_params_get(old, g - 1, out, capacity, found)))
        for g in 1:group_count(old)]
    made, done = nothing, 0
    for (g, size) in enumerate(sizes)
        part = copies[(done + 1):(done += size)]
        made = made === nothing ? setup(rule(old, g), part) : add_group!(made, rule(old, g), part)
    end
    seen[old] = load_state_dict!(made, state_dict(old))
    return made
end

# The ranks of a group are those of its process: a copied layer has the same group.
Base.deepcopy_internal(group::Group, ::IdDict) = group

const Uncopied = Union{Node,Program,GradScaler,Profiler,Ambient,Work,Stream,Event,DataParallel,ShardedState}
Base.deepcopy_internal(x::Uncopied, seen::IdDict) = throw(ArgumentError("a $(typeof(x)) cannot be copied"))

# ---- Scopes ----

# Objects that a scope returns keep the tensors in all their fields.
spare!(spared, x::Union{Scheduler,ReduceLROnPlateau,LBFGS,Distributions.Distribution,DataLoader,Subset,ConcatDataset}) =
    spare_fields!(spared, x)

# ---- Serialization ----

# A tensor is written with its elements. Views are written as tensors of their own.
function Serialization.serialize(s::AbstractSerializer, t::Tensor)
    Serialization.serialize_cycle_header(s, t) && return nothing
    Serialization.serialize(s, requires_grad(t) && is_leaf(t))
    Serialization.serialize(s, host(t))
end

function Serialization.deserialize(s::AbstractSerializer, ::Type{Tensor})
    leaf = Serialization.deserialize(s)::Bool
    made = Tensor(Serialization.deserialize(s))
    leaf && requires_grad!(made)
    Serialization.deserialize_cycle(s, made)
    return made
end

const Unwritten = Union{Uncopied,Group,OptimizerState,Generator}
Serialization.serialize(::AbstractSerializer, x::Unwritten) = throw(ArgumentError(
    "a $(typeof(x)) cannot be serialized" * (x isa OptimizerState ? "; save_state writes it to a file" : "")))
