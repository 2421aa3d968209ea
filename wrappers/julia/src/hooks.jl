# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Hooks on nodes and on several tensors, and edges of the graph as inputs.

# ---- Hooks on nodes ----

"""
    prehook!(f, node)

Calls `f(gradients)` with a tuple of the gradients of the node's outputs before a backward runs the node,
after the hooks of its tensors; `nothing` stands for a gradient that is not there. A returned tuple
replaces them, or a tensor if there is one; `nothing` keeps them.
"""
prehook!(f, node::Node) = add_node_hook(C.tsr_node_prehook_add, prehook_pointer(), f, node)

"""
    hook!(f, node)

Calls `f(results, gradients)` after a backward has run the node: with tuples of the gradients of its
inputs, which it computed, and of its outputs, which it got. What `f` returns replaces the results as
with [`prehook!`](@ref).
"""
hook!(f, node::Node) = add_node_hook(C.tsr_node_posthook_add, posthook_pointer(), f, node)

function add_node_hook(add, callback, f, node)
    id = Ref{Int64}(0)
    GC.@preserve node check(add(node, callback, root(f), drop_pointer(), id))
    own_callbacks(node)
    return Hook(nothing, id[])
end

borrow_all(handles::Ptr{tsr_tensor}, n) = ntuple(Int(n)) do i
    handle = unsafe_load(handles, i)
    handle == C_NULL ? nothing : borrow(handle)
end

replace_all(::Nothing, n, replacements, replaced) = nothing
replace_all(made::Tensor, n, replacements, replaced) = replace_all((made,), n, replacements, replaced)
function replace_all(made, n, replacements, replaced)
    made isa Tuple && length(made) == n || throw(ArgumentError(
        "a hook of a node returns nothing or a tuple of $n gradients, got $(typeof(made))"))
    give_all!(replacements, made, "a hook of a node")
    unsafe_store!(replaced, Int32(1))
    return nothing
end

function run_prehook(user::Ptr{Cvoid}, gradients::Ptr{tsr_tensor}, n::Int32, replacements::Ptr{tsr_tensor},
        replaced::Ptr{Int32})::Int32
    return guarded(() -> replace_all(unbox(user)(borrow_all(gradients, n)), n, replacements, replaced))
end
prehook_pointer() = @cfunction(run_prehook, Int32,
    (Ptr{Cvoid}, Ptr{tsr_tensor}, Int32, Ptr{tsr_tensor}, Ptr{Int32}))

function run_posthook(user::Ptr{Cvoid}, results::Ptr{tsr_tensor}, n_results::Int32, gradients::Ptr{tsr_tensor},
        n_gradients::Int32, replacements::Ptr{tsr_tensor}, replaced::Ptr{Int32})::Int32
    return guarded() do
        made = unbox(user)(borrow_all(results, n_results), borrow_all(gradients, n_gradients))
        replace_all(made, n_results, replacements, replaced)
    end
end
posthook_pointer() = @cfunction(run_posthook, Int32,
    (Ptr{Cvoid}, Ptr{tsr_tensor}, Int32, Ptr{tsr_tensor}, Int32, Ptr{tsr_tensor}, Ptr{Int32}))

# ---- Hooks on several tensors ----

"""
    multi_hook!(f, tensors; mode=:all)

Calls `f` once in each backward that reaches any of the tensors. With `:all` it gets a tuple of all
gradients, `nothing` for tensors that get none; it runs when the last is there, or, if some get none,
after the last node. With `:any` it gets the first gradient.
"""
function multi_hook!(f, tensors; mode::Symbol=:all)
    mode in (:all, :any) || throw(ArgumentError("multi_hook!: the mode is :all or :any, got $(repr(mode))"))
    run = mode === :all ? multi_hook_pointer() : any_hook_pointer()
    number = mode === :all ? C.TSR_MULTI_HOOK_ALL : C.TSR_MULTI_HOOK_ANY
    table = Ref(C.tsr_multi_hook_vtable(
        sizeof(C.tsr_multi_hook_vtable), number, run, retain_pointer(), drop_pointer()))
    raw, id = handles(tensors), Ref{Int64}(0)
    GC.@preserve tensors check(C.tsr_multi_hook_add(raw, length(raw), table, root(f), id))
    foreach(own_callbacks, tensors)
    return Hook(nothing, id[])
end

run_multi_hook(user::Ptr{Cvoid}, gradients::Ptr{tsr_tensor}, n::Int32)::Int32 =
    guarded(() -> unbox(user)(borrow_all(gradients, n)))
multi_hook_pointer() = @cfunction(run_multi_hook, Int32, (Ptr{Cvoid}, Ptr{tsr_tensor}, Int32))

run_any_hook(user::Ptr{Cvoid}, gradients::Ptr{tsr_tensor}, n::Int32)::Int32 =
    guarded(() -> unbox(user)(first(g for g in borrow_all(gradients, n) if g !== nothing)))
any_hook_pointer() = @cfunction(run_any_hook, Int32, (Ptr{Cvoid}, Ptr{tsr_tensor}, Int32))

# ---- Edges ----

"Where the gradient of a tensor goes: output number `output`, from 1, of `node`."
struct GradientEdge
    node::Node
    output::Int
end

"The edge of a tensor that requires grad; for a leaf, its AccumulateGrad node. An input of `grad` and `backward!`."
function gradient_edge(t::Tensor)
    node, output = Ref{tsr_node}(C_NULL), Ref{Int64}(0)
    check(C.tsr_tensor_gradient_edge(t, node, output))
    return GradientEdge(Node(node[]), output[] + 1)
end

listed(edge::GradientEdge) = (edge,)
as_edge(edge::GradientEdge) = edge
as_edge(t::Tensor) = gradient_edge(t)

has_edges(inputs) = inputs isa GradientEdge || (!(inputs isa Union{Nothing,Tensor}) && any(i -> i isa GradientEdge, inputs))

edge_lists(edges) = (tsr_node[e.node.handle for e in edges], Int64[e.output - 1 for e in edges])

function backward_to_edges(roots, seeds, inputs, flags)
    foreach(i -> i isa Tensor && !is_leaf(i) && retain_grad!(i), inputs)
    edges = map(as_edge, collect(Any, inputs))
    r, s, (nodes, numbers) = handles(roots), handles(seeds), edge_lists(edges)
    GC.@preserve roots seeds edges check(C.tsr_backward_edges(
        r, length(r), s, length(s), nodes, length(nodes), numbers, length(numbers), flags))
    return nothing
end

function grad_at_edges(roots, seeds, inputs, flags)
    edges = map(as_edge, collect(Any, inputs))
    r, s, (nodes, numbers) = handles(roots), handles(seeds), edge_lists(edges)
    results = fill(tsr_tensor(C_NULL), length(edges))
    GC.@preserve roots seeds edges check(C.tsr_grad_edges(
        r, length(r), s, length(s), nodes, length(nodes), numbers, length(numbers), flags, results))
    return map(adopt, results)
end

"The number of in-place changes of a tensor's memory; shared by all its views."
function version(t::Tensor)
    number = Ref{Int64}(0)
    check(C.tsr_tensor_version(t, number))
    return Int(number[])
end

"Says that the tensor's memory was written outside the library: raises its version."
increment_version!(t::Tensor) = (check(C.tsr_tensor_version_increment(t)); t)
