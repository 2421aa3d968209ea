# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Tensor: one reference to a tensor of the library, its release, and scopes.

"""
    Tensor(array)
    Tensor(number)

A tensor of any element type and rank, with a copy of the array's values and its sizes.
See [`share`](@ref) for a tensor on the array's own memory.

The memory is released when the garbage collector finds the tensor unused, at the end of a
[`scope`](@ref), or at once with [`free!`](@ref).
"""
mutable struct Tensor
    handle::tsr_tensor
    Tensor(handle::tsr_tensor) = new(handle)
end

# The handle for ccalls. The check prevents that a freed tensor passes as an absent one.
@inline function Base.unsafe_convert(::Type{tsr_tensor}, t::Tensor)
    t.handle == C_NULL && throw_freed()
    return t.handle
end
Base.cconvert(::Type{tsr_tensor}, ::Nothing) = C_NULL

@noinline throw_freed() = throw(ArgumentError("the tensor was freed"))

"Whether the tensor was freed, by `free!` or by its scope."
isfreed(t::Tensor) = t.handle == C_NULL

# ---- Lifetime ----

# The number of tensors made between two collections of young objects. Julia's collector counts a tensor
# as 16 bytes although its memory is much larger, so by itself it would run too rarely. If a collection
# takes long, because the program has many objects, the number grows.
const COLLECT_LEAST = 1 << 13
const COLLECT_MOST = 1 << 16
const COLLECT_COST = 200  # nanoseconds for each tensor made since the last one
const COLLECT_AT = Ref(COLLECT_LEAST)
const MADE_SINCE = Ref(0)
const FINALIZER = Ref{Ptr{Cvoid}}(C_NULL)

# Run by the collector with the tensor itself: releases the reference and nothing else. It takes no lock
# of Julia, allocates nothing and switches no task. The handle is cleared, because the finalizer of
# another object that holds the tensor may run later.
function finalize_tensor(object::Ptr{Cvoid})::Cvoid
    slot = Ptr{tsr_tensor}(object)
    C.tsr_tensor_release(unsafe_load(slot))
    unsafe_store!(slot, C_NULL)
    return nothing
end

"A tensor that takes over the reference."
@inline function wrap(handle::tsr_tensor)
    t = Tensor(handle)
    SCOPES[] == 0 ? finalizer(FINALIZER[], t) : enter(t)
    (MADE_SINCE[] += 1) > COLLECT_AT[] && collect_young()
    return t
end

@noinline function collect_young()
    made = MADE_SINCE[]
    MADE_SINCE[] = 0
    start = time_ns()
    GC.gc(false)
    slow = time_ns() - start > COLLECT_COST * made
    COLLECT_AT[] = slow ? min(2COLLECT_AT[], COLLECT_MOST) : max(COLLECT_AT[] ÷ 2, COLLECT_LEAST)
    return nothing
end

"A tensor for a borrowed handle; adds a reference."
function borrow(handle::tsr_tensor)
    C.tsr_tensor_retain(handle)
    return wrap(handle)
end

# A handle between two C calls is not wrapped in a Tensor, which would cost more than the calls.

"Releases a handle, then checks the status of its last use."
@inline function done_with(handle::tsr_tensor, status)
    C.tsr_tensor_release(handle)
    check(status)
end

"A copy of the handle's tensor; releases the handle."
@inline function cloned(handle::tsr_tensor)
    out = Ref{tsr_tensor}()
    done_with(handle, C.tsr_clone(handle, out))
    return out[]
end

adopt(handle::tsr_tensor) = handle == C_NULL ? nothing : wrap(handle)

"""
    free!(tensor)

Releases the tensor's reference now instead of at a later garbage collection. Using the tensor
afterwards throws an `ArgumentError`; freeing it again does nothing.
"""
function free!(t::Tensor)
    handle = t.handle
    t.handle = C_NULL
    C.tsr_tensor_release(handle)
    return nothing
end

# ---- Scopes ----

struct Scope
    made::Vector{Tensor}
    outer::Union{Nothing,Scope}
end
innermost() = get(task_local_storage(), :tessera_scope, nothing)::Union{Nothing,Scope}

# Open scopes of all tasks; zero is the usual case and costs one comparison.
const SCOPES = Threads.Atomic{Int}(0)

"""
    scope() do
        ...
    end

Runs the function and frees every tensor that this task made inside, except those that it returns,
alone or in tuples, pairs, arrays, dictionaries, layers, optimizers, schedulers, distributions and data
sets. Pass other tensors that must outlive the scope to `keep!`. Scopes can be nested.
"""
function scope(f)
    outer = innermost()
    inner = Scope(Tensor[], outer)
    task_local_storage(:tessera_scope, inner)
    Threads.atomic_add!(SCOPES, 1)
    kept = nothing
    try
        kept = f()
        return kept
    finally
        Threads.atomic_sub!(SCOPES, 1)
        task_local_storage(:tessera_scope, outer)
        close_scope(inner, kept)
    end
end

function enter(t::Tensor)
    enter(t, innermost())
    return nothing
end
enter(t::Tensor, scope::Scope) = push!(scope.made, t)
enter(t::Tensor, ::Nothing) = finalizer(FINALIZER[], t)

function close_scope(inner, kept)
    spared = Base.IdSet{Tensor}()
    spare!(spared, kept)
    for t in inner.made
        t in spared ? enter(t, inner.outer) : free!(t)
    end
end

spare!(spared, t::Tensor) = push!(spared, t)
spare!(spared, list::Union{Tuple,NamedTuple,Pair,AbstractArray}) = foreach(x -> spare!(spared, x), list)
spare!(spared, list::AbstractArray{<:Number}) = nothing
spare!(spared, pairs::AbstractDict) = foreach(x -> spare!(spared, x), values(pairs))
spare!(spared, other) = nothing
spare_fields!(spared, x) = foreach(i -> isdefined(x, i) && spare!(spared, getfield(x, i)), 1:nfields(x))

"""
    keep!(tensor)

Removes a tensor from the scope in which it was made: the garbage collector frees it later.
"""
function keep!(t::Tensor)
    scope = innermost()
    while scope !== nothing
        position = findlast(x -> x === t, scope.made)
        if position !== nothing
            deleteat!(scope.made, position)
            finalizer(FINALIZER[], t)
            break
        end
        scope = scope.outer
    end
    return t
end

# ---- Metadata ----

@inline function info(t::Union{Tensor,tsr_tensor})
    view = Ref(C.tsr_info())
    check(C.tsr_tensor_info(t, view))
    return view[]
end

has_flag(t::Tensor, flag) = info(t).flags & flag != 0
iscontiguous(t::Tensor) = has_flag(t, C.TSR_TENSOR_CONTIGUOUS)
isreadonly(t::Tensor) = has_flag(t, C.TSR_TENSOR_READ_ONLY)
"Whether the tensor requires grad."
requires_grad(t::Tensor) = has_flag(t, C.TSR_TENSOR_REQUIRES_GRAD)
