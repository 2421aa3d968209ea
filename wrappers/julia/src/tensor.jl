# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Tensor: one reference to a tensor of the library, its release, and scopes.

"""
    Tensor(array)
    Tensor(number)

A tensor of any element type and rank, with the sizes and values of the array, which is copied.
See [`share`](@ref) for a tensor on the array's own memory.

The memory is given back when the garbage collector finds the tensor unused, at the end of a
[`scope`](@ref), or at once with [`free!`](@ref).
"""
mutable struct Tensor
    handle::tsr_tensor
    Tensor(handle::tsr_tensor) = new(handle)
end

# What ccalls receive. The check keeps a freed tensor from being taken for an absent one.
@inline function Base.unsafe_convert(::Type{tsr_tensor}, t::Tensor)
    t.handle == C_NULL && throw_freed()
    return t.handle
end
Base.cconvert(::Type{tsr_tensor}, ::Nothing) = C_NULL

@noinline throw_freed() = throw(ArgumentError("the tensor was freed"))

"Whether the tensor was freed, by `free!` or by its scope."
isfreed(t::Tensor) = t.handle == C_NULL

# ---- Life ----

# How many tensors may come between two young collections. A tensor is 16 bytes to Julia's collector
# and much more to the machine, so that its own pace would be too slow. Where a collection takes long,
# because the program has many objects of its own, they come further apart.
const COLLECT_LEAST = 1 << 13
const COLLECT_MOST = 1 << 16
const COLLECT_COST = 200  # nanoseconds for each tensor made since the last one
const COLLECT_AT = Ref(COLLECT_LEAST)
const MADE_SINCE = Ref(0)
const FINALIZER = Ref{Ptr{Cvoid}}(C_NULL)

# Run by the collector with the tensor itself: gives the reference back and nothing else. It takes no
# lock of Julia's, allocates nothing and switches no task. The handle is cleared, because a finalizer
# of somebody else that holds the tensor may run later.
function finalize_tensor(object::Ptr{Cvoid})::Cvoid
    slot = Ptr{tsr_tensor}(object)
    C.tsr_tensor_release(unsafe_load(slot))
    unsafe_store!(slot, C_NULL)
    return nothing
end

"A tensor that owns the reference."
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

"A tensor for a handle that is only borrowed."
function borrow(handle::tsr_tensor)
    C.tsr_tensor_retain(handle)
    return wrap(handle)
end

# Between two calls of C a handle needs no Tensor around it, which would cost more than the calls.

"Gives a handle back, then looks at the status of its last use."
@inline function done_with(handle::tsr_tensor, status)
    C.tsr_tensor_release(handle)
    check(status)
end

"A copy in place of the handle, which is given back."
@inline function cloned(handle::tsr_tensor)
    out = Ref{tsr_tensor}()
    done_with(handle, C.tsr_clone(handle, out))
    return out[]
end

adopt(handle::tsr_tensor) = handle == C_NULL ? nothing : wrap(handle)

"""
    free!(tensor)

Gives the tensor's reference back now instead of at the next garbage collection. Using the tensor
afterwards raises an `ArgumentError`; freeing it again does nothing.
"""
function free!(t::Tensor)
    handle = t.handle
    t.handle = C_NULL
    C.tsr_tensor_release(handle)
    return nothing
end

# ---- Scopes ----

# Open scopes of all tasks; zero is the usual case and costs one comparison.
const SCOPES = Threads.Atomic{Int}(0)

"""
    scope() do
        ...
    end

Runs the function and frees every tensor that this task made inside, except those that it returns,
alone or in tuples, arrays and dictionaries. What else must outlive the scope is passed to `keep!`.
Scopes nest.
"""
function scope(f)
    storage = task_local_storage()
    outer = get(storage, :tessera_scope, nothing)
    inner = Tensor[]
    storage[:tessera_scope] = inner
    Threads.atomic_add!(SCOPES, 1)
    kept = nothing
    try
        kept = f()
        return kept
    finally
        Threads.atomic_sub!(SCOPES, 1)
        storage[:tessera_scope] = outer
        close_scope(inner, outer, kept)
    end
end

function enter(t::Tensor)
    inner = get(task_local_storage(), :tessera_scope, nothing)
    inner === nothing ? finalizer(FINALIZER[], t) : push!(inner, t)
    return nothing
end

function close_scope(inner, outer, kept)
    spared = Base.IdSet{Tensor}()
    spare!(spared, kept)
    for t in inner
        if !(t in spared)
            free!(t)
        elseif outer === nothing
            finalizer(FINALIZER[], t)
        else
            push!(outer, t)
        end
    end
end

spare!(spared, t::Tensor) = push!(spared, t)
spare!(spared, list::Union{Tuple,NamedTuple,AbstractArray}) = foreach(x -> spare!(spared, x), list)
spare!(spared, list::AbstractArray{<:Number}) = nothing
spare!(spared, pairs::AbstractDict) = foreach(x -> spare!(spared, x), values(pairs))
spare!(spared, other) = nothing

"""
    keep!(tensor)

Takes a tensor out of the scope it was made in: the garbage collector looks after it again.
"""
function keep!(t::Tensor)
    inner = get(task_local_storage(), :tessera_scope, nothing)
    if inner !== nothing
        position = findlast(x -> x === t, inner)
        if position !== nothing
            deleteat!(inner, position)
            finalizer(FINALIZER[], t)
        end
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
"Whether the tensor takes part in differentiation."
requires_grad(t::Tensor) = has_flag(t, C.TSR_TENSOR_REQUIRES_GRAD)
