# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# What nodes know, walks over the graph, drawings, and anomaly mode; the base of a view.

"""
    base(tensor)

The tensor into whose memory autograd knows this view to look: not another view, but the one that has the memory.
`nothing` for a tensor with memory of its own, for integers and for what `detach` gives.
"""
function base(t::Tensor)
    out = Ref{tsr_tensor}()
    check(C.tsr_tensor_base(t, out))
    return adopt(out[])
end

# ---- Nodes ----

"Nodes made later on one thread have larger numbers and run earlier in a backward."
function sequence(node::Node)
    number = Ref{UInt64}(0)
    check(C.tsr_node_sequence(node, number))
    return number[]
end

"""
    next_edges(node)

For each input of the node, the node that gets its gradient and the number of that node's output, from 1;
`nothing` for a gradient that is not needed.
"""
function next_edges(node::Node)
    count = Ref{Int64}(0)
    check(C.tsr_node_next_count(node, count))
    return map(0:(count[] - 1)) do i
        next, output = Ref{tsr_node}(), Ref{Int64}()
        check(C.tsr_node_next(node, i, next, output))
        next[] == C_NULL ? nothing : (Node(next[]), Int(output[]) + 1)
    end
end

"The leaf that an AccumulateGrad node adds to; `nothing` for other nodes."
function variable(node::Node)
    out = Ref{tsr_tensor}()
    check(C.tsr_node_variable(node, out))
    return adopt(out[])
end

"""
    outputs(node)

Size, element type and device of each output of a node; `nothing` for one that the caller skipped.
"""
function outputs(node::Node)
    count = Ref{Int64}(0)
    check(C.tsr_node_output_count(node, count))
    return GC.@preserve node map(0:(count[] - 1)) do i
        view = Ref(C.tsr_node_output())
        check(C.tsr_node_output_info(node, i, view))
        view[].flags & C.TSR_NODE_OUTPUT_EXISTS == 0 && return nothing
        sizes = Tuple(unsafe_load(view[].sizes, axis) for axis in 1:view[].ndim)
        (size=sizes, eltype=element_type(view[].dtype), device=Device(view[].device_type, view[].device_index))
    end
end

"""
    saved(node)

The tensors that the forward saved for the backward, as pairs of a name and a tensor: the name is that of
the argument, or "result" for an output; `nothing` stands for a tensor that the derivative does not need.
Throws after a backward has freed them.
"""
function saved(node::Node)
    return map(enumerate(saved_names(node))) do (place, name)
        out = Ref{tsr_tensor}()
        check(C.tsr_node_saved(node, place - 1, out))
        name => adopt(out[])
    end
end

function saved_names(node::Node)
    count = Ref{Int64}(0)
    check(C.tsr_node_saved_count(node, count))
    return map(0:(count[] - 1)) do i
        text, length = Ref{Ptr{UInt8}}(), Ref{Int64}()
        check(C.tsr_node_saved_name(node, i, text, length))
        unsafe_string(text[], length[])
    end
end

"The saved tensor of this name; throws a KeyError if the node saves none."
function saved(node::Node, wanted::AbstractString)
    for (name, tensor) in saved(node)
        name == wanted && return tensor
    end
    throw(KeyError(wanted))
end

"""
    node(grads...)

The derivative of this node alone: a tuple of the gradients of the function's inputs for these gradients of its
outputs. `nothing` stands for a gradient that is zero, or not needed. No hook of the node runs, and what it saved
is kept. The AccumulateGrad node of a leaf adds to its gradient.
"""
function (node::Node)(grads::Union{Tensor,Nothing}...)
    count = Ref{Int64}(0)
    check(C.tsr_node_next_count(node, count))
    given = handles(grads)
    out = fill(tsr_tensor(C_NULL), count[])
    GC.@preserve grads check(C.tsr_node_run(node, given, length(given), count[], out))
    return Tuple(map(adopt, out))
end

"""
    save_with!(pack, unpack, node, name)

Keeps what `pack(tensor)` returns in place of the saved tensor of this name, from now on, as [`save_with`](@ref)
does for all tensors of a function. The tensor must have no such functions yet. Throws a KeyError if the node saves
no tensor of this name.
"""
function save_with!(pack, unpack, node::Node, wanted::AbstractString)
    place = findfirst(==(wanted), saved_names(node))
    place === nothing && throw(KeyError(wanted))
    table = Ref(saved_hooks_table())
    check(C.tsr_node_saved_hooks_set(node, place - 1, table, root((pack, unpack))))
    return node
end

"""
    metadata(node)

A dictionary that belongs to the node. Texts in it can be read by every language; other values are Julia's.
Anomaly mode stores the stack of the forward under "stack".
"""
metadata(node::Node) = NodeMetadata(node)

struct NodeMetadata <: AbstractDict{String,Any}
    node::Node
end

function Base.keys(d::NodeMetadata)
    buffer = Ref{C.tsr_buffer}()
    check(C.tsr_node_metadata_keys(d.node, buffer))
    return parse_json_array(take_text(buffer[]))
end
Base.length(d::NodeMetadata) = length(keys(d))
Base.haskey(d::NodeMetadata, key::AbstractString) = key in keys(d)

function Base.iterate(d::NodeMetadata, left=keys(d))
    isempty(left) && return nothing
    return left[1] => d[left[1]], left[2:end]
end

function Base.get(d::NodeMetadata, key::AbstractString, default)
    object, drop = Ref{Ptr{Cvoid}}(), Ref{Ptr{Cvoid}}()
    check(C.tsr_node_metadata_object(d.node, key, sizeof(key), object, drop))
    ours = lock(() -> object[] in ROOTS, BOXES_LOCK)  # else another language's
    ours && return unbox(object[])
    buffer = Ref{C.tsr_buffer}()
    check(C.tsr_node_metadata_text(d.node, key, sizeof(key), buffer))
    return buffer[] == C_NULL ? default : take_text(buffer[])
end
function Base.getindex(d::NodeMetadata, key::AbstractString)
    found = get(d, key, d)
    return found === d ? throw(KeyError(key)) : found
end

Base.setindex!(d::NodeMetadata, text::AbstractString, key::AbstractString) =
    (check(C.tsr_node_metadata_set(d.node, key, sizeof(key), text, sizeof(text))); d)
Base.setindex!(d::NodeMetadata, value, key::AbstractString) =
    (check(C.tsr_node_metadata_set_object(d.node, key, sizeof(key), root(value), drop_pointer())); d)
function Base.delete!(d::NodeMetadata, key::AbstractString)
    haskey(d, key) && check(C.tsr_node_metadata_remove(d.node, key, sizeof(key)))
    return d
end

# ---- Walks and drawings ----

"The nodes behind a tensor, each once: depth first, along `next_nodes` in order."
function graph_nodes(t::Tensor)
    found, seen = Node[], Set{Node}()
    start = grad_fn(t)
    waiting = start === nothing ? Node[] : Node[start]
    while !isempty(waiting)
        node = pop!(waiting)
        node in seen && continue
        push!(seen, node)
        push!(found, node)
        append!(waiting, filter(!isnothing, reverse(next_nodes(node))))
    end
    return found
end

"A drawing of a graph: text, which notebooks show as a picture if it is SVG."
struct Drawing
    text::String
    format::Symbol
end
Base.show(io::IO, d::Drawing) = print(io, "Drawing(", d.format, ", ", sizeof(d.text), " bytes)")
Base.show(io::IO, ::MIME"image/svg+xml", d::Drawing) = print(io, d.text)
Base.showable(::MIME"image/svg+xml", d::Drawing) = d.format === :svg
Base.String(d::Drawing) = d.text
Base.write(io::IO, d::Drawing) = write(io, d.text)

"""
    draw_graph(roots; params=[], format=:svg, show_saved=false)

Draws the graph behind a tensor or several, in the direction of the forward. `params`, pairs of a name and a
tensor such as `named_params(model)`, name leaves and roots. The format is `:svg`, a complete picture, or
`:dot`, text for Graphviz, or `:table`, a list of the operators with their multiply-adds. With `show_saved` each node lists the tensors that it keeps for the backward.
"""
function draw_graph(roots; params=(), format::Symbol=:svg, show_saved::Bool=false)
    formats = (svg=C.TSR_GRAPH_SVG, dot=C.TSR_GRAPH_DOT, table=C.TSR_GRAPH_TABLE)
    haskey(formats, format) || throw(ArgumentError("format: expected :svg, :dot or :table, got :$format"))
    shown = collect(Tensor, listed(roots))
    names, tensors = String[String(first(p)) for p in params], Tensor[last(p) for p in params]
    json = json_array(names)
    r, t = handles(shown), handles(tensors)
    buffer = Ref{C.tsr_buffer}()
    GC.@preserve shown tensors check(C.tsr_graph_draw(r, length(r), t, length(t), json, sizeof(json),
        formats[format], show_saved ? C.TSR_GRAPH_SHOW_SAVED : Int32(0), buffer))
    return Drawing(take_text(buffer[]), format)
end

# ---- Anomaly mode ----

"""
    detect_anomaly(; check_nan=true) do
        ...
    end

Runs the function in anomaly mode. Nodes that it makes keep the call stack of their forward, and a backward
that fails says where the forward of the failing node was called. With `check_nan` a backward fails when a
node returns NaN though the gradients that it got have none. The mode makes every function slower; use it to
find errors.
"""
function detect_anomaly(f; check_nan::Bool=true)
    return pinned() do
        before = Ref{Int32}(0)
        give_host_stack()
        check(C.tsr_anomaly_mode_set(
            C.TSR_ANOMALY_ENABLED | (check_nan ? C.TSR_ANOMALY_CHECK_NAN : Int32(0)), before))
        try
            return f()
        finally
            check(C.tsr_anomaly_mode_set(before[], Ref{Int32}(0)))
        end
    end
end

"Whether this thread is in anomaly mode."
is_anomaly_enabled() = C.tsr_anomaly_mode() & C.TSR_ANOMALY_ENABLED != 0
