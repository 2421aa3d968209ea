# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Cycles through the library: a tensor that owns a callback that leads to the tensor.

# The library holds a callback as a root of Julia's collector. So a hook that refers to its own tensor,
# or to the model whose parameter the tensor is, keeps itself alive. tsr_tensor_traverse says which
# callbacks only one Tensor object keeps alive. During a collection the keeper of that object holds those
# in place of the roots, and everything that only leads back to itself is freed.

# A finalizer of its object: the collector keeps it, and what it refers to, for as long as the object
# lives, and it does not keep the object. If the library needs a box longer than the object lives, because
# another thread has made a graph meanwhile, the box gets its content back.
mutable struct Keeper
    held::Vector{Tuple{Box,Content}}
end
(keeper::Keeper)(object) = give_back(keeper)

function give_back(keeper::Keeper)
    for (box, content) in keeper.held
        box.content isa Lent && (box.content = content)
    end
    empty!(keeper.held)
    return nothing
end

# An object that may own callbacks. The collector clears weak references before it looks at finalizers, so
# the keeper is known by its address, which is valid while the object lives and has a handle.
struct Owner
    object::WeakRef
    keeper::Ptr{Cvoid}
end
const OWNERS = Dict{UInt,Owner}()  # by objectid; swept when their number has doubled
const OWNERS_SWEEP_AT = Ref(64)

keeper_of(owner::Owner) = unsafe_pointer_to_objref(owner.keeper)::Keeper

"Notes that the library holds callbacks on behalf of this tensor or node."
function own_callbacks(object::Union{Tensor,Node})
    lock(BOXES_LOCK) do
        known = get(OWNERS, objectid(object), nothing)
        known !== nothing && known.object.value === object && return
        if length(OWNERS) >= OWNERS_SWEEP_AT[]
            filter!(entry -> entry.second.object.value !== nothing, OWNERS)
            OWNERS_SWEEP_AT[] = max(64, 2 * length(OWNERS))
        end
        keeper = Keeper(Tuple{Box,Content}[])
        finalizer(keeper, object)
        OWNERS[objectid(object)] = Owner(WeakRef(object), pointer_from_objref(keeper))
    end
    return nothing
end

# What one traversal found. The library holds a lock meanwhile, so the visitor must not allocate, which
# could run finalizers. A global, because the compiler may put a local object where it has no type.
mutable struct Visited
    users::Vector{Ptr{Cvoid}}
    count::Int
    drop::Ptr{Cvoid}
end
const VISITED = Visited(Vector{Ptr{Cvoid}}(undef, 1024), 0, C_NULL)

function visit_user(_::Ptr{Cvoid}, user::Ptr{Cvoid}, drop::Ptr{Cvoid})::Cvoid
    if drop == VISITED.drop
        VISITED.count += 1
        VISITED.count <= length(VISITED.users) && (VISITED.users[VISITED.count] = user)
    end
    return nothing
end
visit_pointer() = @cfunction(visit_user, Cvoid, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}))

traverse(t::Tensor) = C.tsr_tensor_traverse(t.handle, visit_pointer(), C_NULL)
traverse(n::Node) = C.tsr_node_traverse(n.handle, visit_pointer(), C_NULL)

"The boxes that this object alone keeps alive, some more than once."
function boxes_owned_by(object)
    object.handle == C_NULL && return Ptr{Cvoid}[]
    VISITED.count = 0
    status = GC.@preserve object traverse(object)
    # With too many of them for the room, none: the next collection may have more luck.
    whole = status == C.TSR_OK && VISITED.count <= length(VISITED.users)
    return whole ? VISITED.users[1:VISITED.count] : Ptr{Cvoid}[]
end

"""
    Tessera.collect_cycles()

Runs Julia's collector so that it also frees hooks and custom functions that are reachable only from
themselves, with all that they refer to: a model, for example, whose parameters have hooks that refer to
the model. `GC.gc()` alone keeps these. No other thread may use the library meanwhile. With one thread it
runs by itself when memory gets short.
"""
function collect_cycles()
    weakened = weaken_owned()
    GC.gc(true)
    foreach(restore, weakened)
    return nothing
end

# Not inlined, so that no variable holds an object or a content during the collection.
@noinline function weaken_owned()
    VISITED.drop = drop_pointer()
    owners = lock(() -> collect(values(OWNERS)), BOXES_LOCK)
    owned = map(o -> o.object.value === nothing ? Ptr{Cvoid}[] : boxes_owned_by(o.object.value), owners)
    visits = Dict{Ptr{Cvoid},Int}()
    for pointers in owned, p in pointers
        visits[p] = get(visits, p, 0) + 1
    end
    weakened = Owner[]
    boxes = Box[]
    for (owner, pointers) in zip(owners, owned), p in unique(pointers)
        box = unsafe_pointer_to_objref(p)::Box
        # Whoever else has a reference needs the callback, too.
        visits[p] == box.references && box.content isa Content || continue
        GC.@preserve owner push!(keeper_of(owner).held, (box, box.content))
        push!(weakened, owner)
        push!(boxes, box)
    end
    foreach(box -> box.content = Lent(), boxes)
    return weakened
end

@noinline function restore(owner::Owner)
    object = owner.object.value
    object === nothing && return  # its keeper has run
    GC.@preserve object give_back(keeper_of(owner))
    return nothing
end
