# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Gradients: backward passes, modes, hooks, and inspection of the graph.

"""
    requires_grad!(tensor, value=true)

Sets whether a leaf requires grad.
"""
requires_grad!(t::Tensor, value::Bool=true) = (check(C.tsr_tensor_set_requires_grad(t, value)); t)

"Whether the tensor has no node: no recorded op computed it."
function is_leaf(t::Tensor)
    value = Ref{Int32}(0)
    check(C.tsr_tensor_is_leaf(t, value))
    return value[] != 0
end

"The gradient that backward passes have added up in a tensor; `nothing` if there is none."
function grad(t::Tensor)
    out = Ref{tsr_tensor}()
    check(C.tsr_tensor_grad(t, out))
    return adopt(out[])
end

"Replaces the gradient of a tensor; `nothing` clears it."
grad!(t::Tensor, value::Union{Nothing,Tensor}) = (check(C.tsr_tensor_set_grad(t, value)); t)

"""
    set_data!(tensor, data)

Gives a leaf the memory, sizes, dtype and device of another tensor. It stays the same tensor for all its
holders. No other thread may use it meanwhile.
"""
set_data!(t::Tensor, data::Tensor) = (check(C.tsr_tensor_set_data(t, data)); t)

"Clears the gradient of a tensor, or those of a list of tensors or of all parameters of a layer."
zero_grad!(t::Tensor) = grad!(t, nothing)
zero_grad!(tensors::Union{AbstractVector{Tensor},Tuple{Vararg{Tensor}}}) = foreach(zero_grad!, tensors)

"Makes a backward keep the gradient of a computed tensor, too."
retain_grad!(t::Tensor) = (check(C.tsr_tensor_retain_grad(t)); t)

"Whether a backward keeps the gradient of a computed tensor."
function retains_grad(t::Tensor)
    value = Ref{Int32}(0)
    check(C.tsr_tensor_retains_grad(t, value))
    return value[] != 0
end

function backward_flags(retain_graph, create_graph, allow_unused=false, batched=false)
    return (retain_graph ? C.TSR_BACKWARD_RETAIN_GRAPH : Int32(0)) |
           (create_graph ? C.TSR_BACKWARD_CREATE_GRAPH : Int32(0)) |
           (allow_unused ? C.TSR_BACKWARD_ALLOW_UNUSED : Int32(0)) |
           (batched ? C.TSR_BACKWARD_BATCHED : Int32(0))
end

listed(t::Tensor) = (t,)
listed(list) = list
listed(::Nothing) = ()

"""
    backward!(root; gradient, inputs, retain_graph=false, create_graph=false)

Adds the gradients of `root`, a tensor or several, to the leaves that require grad, or to `inputs`
only. A root of more than one element needs a `gradient` of its sizes. Hooks and custom functions run
on this thread.
"""
function backward!(root; gradient=nothing, inputs=nothing, retain_graph=false, create_graph=false)
    roots, seeds, targets = listed(root), listed(gradient), listed(inputs)
    flags = backward_flags(retain_graph, create_graph)
    has_edges(inputs) && return backward_to_edges(roots, seeds, targets, flags)
    r, s, i = handles(roots), handles(seeds), handles(targets)
    GC.@preserve roots seeds targets check(C.tsr_backward(
        r, length(r), s, length(s), i, length(i), flags))
    return nothing
end

"""
    grad(outputs, inputs; gradient, retain_graph=false, create_graph=false, allow_unused=false, batched=false)

Returns the gradients of `outputs` with respect to `inputs`: one for a single input, else a vector.
Changes no gradient that tensors hold. With `allow_unused` the gradient of an unused input is `nothing`.
With `batched` the gradients have an axis of samples in front, and so have the results: one backward
computes what one for each sample would.
"""
function grad(outputs, inputs; gradient=nothing, retain_graph=false, create_graph=false, allow_unused=false, batched=false)
    roots, seeds, targets = listed(outputs), listed(gradient), listed(inputs)
    flags = backward_flags(retain_graph, create_graph, allow_unused, batched)
    if has_edges(inputs)
        found = grad_at_edges(roots, seeds, targets, flags)
        return inputs isa GradientEdge ? found[1] : found
    end
    r, s, i = handles(roots), handles(seeds), handles(targets)
    results = fill(tsr_tensor(C_NULL), length(i))
    GC.@preserve roots seeds targets check(C.tsr_grad(
        r, length(r), s, length(s), i, length(i), flags, results))
    found = map(adopt, results)
    return inputs isa Tensor ? found[1] : found
end

"""
    taped(f, tensors...)

Calls `f(tensors...)`. With Zygote and other users of ChainRules, the library differentiates `f`: the
rule of `taped` records `f` and returns the gradients of the tensors (an extension, from Julia 1.9 on).
Convert arrays with `Tensor(array)` and `Array(tensor)`, which have rules, too.
"""
taped(f, tensors::Tensor...) = f(tensors...)

# ---- Modes: of this thread, while the function runs ----

function with_mode(f, set, enabled)
    return pinned() do
        before = Ref{Int32}(0)
        check(set(enabled, before))
        try
            return f()
        finally
            check(set(before[], Ref{Int32}(0)))
        end
    end
end

"""
    no_grad() do
        ...
    end

Runs the function without recording. The mode belongs to the thread: other tasks that run on it
meanwhile, while the function waits, see it too.
"""
no_grad(f) = with_mode(f, C.tsr_grad_mode_set, false)

"Runs the function with recording."
enable_grad(f) = with_mode(f, C.tsr_grad_mode_set, true)

"Runs the function without recording; its results can never be differentiated."
inference_mode(f) = with_mode(f, C.tsr_inference_mode_set, true)

is_grad_enabled() = C.tsr_grad_mode() != 0
is_inference_mode() = C.tsr_inference_mode() != 0

# ---- Hooks ----

"A registered hook, for [`remove!`](@ref)."
struct Hook
    tensor::Union{Nothing,Tensor}  # nothing: the hook of a node or of several tensors
    id::Int64
end

"""
    hook!(f, tensor)

Calls `f(gradient)` each time the gradient of the tensor is computed. A returned tensor replaces the
gradient; `nothing` keeps it. An exception ends the backward and comes out of it unchanged.
"""
hook!(f, t::Tensor) = add_hook(C.tsr_tensor_hook_add, hook_pointer(), f, t)

"Calls `f(leaf)` each time after the gradient of this leaf was updated."
accumulate_hook!(f, t::Tensor) = add_hook(C.tsr_tensor_accumulate_hook_add, accumulate_hook_pointer(), f, t)

function add_hook(add, callback, f, t)
    id, handle = Ref{Int64}(0), raw_handle(t)  # a freed tensor throws before anything is kept
    GC.@preserve t check(add(handle, callback, root(f), drop_pointer(), id))
    own_callbacks(t)
    return Hook(t, id[])
end

"Removes a hook."
remove!(hook::Hook) =
    check(hook.tensor === nothing ? C.tsr_hook_remove(hook.id) : C.tsr_tensor_hook_remove(hook.tensor, hook.id))

"Calls `f()` at the end of the backward that is running on this thread."
after_backward!(f) = check(C.tsr_backward_queue(final_pointer(), root(f), drop_pointer()))

function run_hook(user::Ptr{Cvoid}, gradient::tsr_tensor, replacement::Ptr{tsr_tensor})::Int32
    return guarded() do
        result = unbox(user)(borrow(gradient))
        result === nothing || unsafe_store!(replacement, give(result, "a hook"))
    end
end
hook_pointer() = @cfunction(run_hook, Int32, (Ptr{Cvoid}, tsr_tensor, Ptr{tsr_tensor}))

run_accumulate_hook(user::Ptr{Cvoid}, leaf::tsr_tensor)::Int32 = guarded(() -> unbox(user)(borrow(leaf)))
accumulate_hook_pointer() = @cfunction(run_accumulate_hook, Int32, (Ptr{Cvoid}, tsr_tensor))

run_final(user::Ptr{Cvoid})::Int32 = guarded(() -> unbox(user)())
final_pointer() = @cfunction(run_final, Int32, (Ptr{Cvoid},))

"A handle with a new reference, for the library to take over."
function give(t, who)
    handle = returned_handle(t, who)
    C.tsr_tensor_retain(handle)
    return handle
end
returned_handle(t::Tensor, who) = raw_handle(t)
returned_handle(other, who) = throw(ArgumentError("$who returns a Tensor or nothing, got $(typeof(other))"))

# Writes a new reference to each tensor. A wrong one throws before there is any: nobody would release the others.
function give_all!(places::Ptr{tsr_tensor}, made::Tuple, who)
    GC.@preserve made begin
        raw = map(m -> m === nothing ? tsr_tensor(C_NULL) : returned_handle(m, who), made)
        for (i, handle) in enumerate(raw)
            handle == C_NULL && continue
            C.tsr_tensor_retain(handle)
            unsafe_store!(places, handle, i)
        end
    end
    return nothing
end

# ---- The graph ----

"A node of the autograd graph: see [`grad_fn`](@ref)."
mutable struct Node
    handle::tsr_node
    function Node(handle::tsr_node)
        node = new(handle)
        finalizer(x -> C.tsr_node_release(x.handle), node)
        return node
    end
end

Base.unsafe_convert(::Type{tsr_node}, node::Node) = node.handle
Base.:(==)(a::Node, b::Node) = a.handle == b.handle
Base.hash(node::Node, h::UInt) = hash(node.handle, h)

"The node that computed a tensor; `nothing` for leaves."
function grad_fn(t::Tensor)
    out = Ref{tsr_node}()
    check(C.tsr_tensor_grad_fn(t, out))
    return out[] == C_NULL ? nothing : Node(out[])
end

"The name of a node, such as ExpBackward."
function name(node::Node)
    text, length = Ref{Ptr{UInt8}}(), Ref{Int64}()
    GC.@preserve node begin
        check(C.tsr_node_name(node, text, length))
        return unsafe_string(text[], length[])
    end
end

"The nodes that get the gradients of a node's inputs; `nothing` for a gradient that is not needed."
next_nodes(node::Node) = map(edge -> edge === nothing ? nothing : first(edge), next_edges(node))

Base.show(io::IO, node::Node) = print(io, "Node(", name(node), ")")
