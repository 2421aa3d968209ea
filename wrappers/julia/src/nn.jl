# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Networks: layers are callable structs whose fields hold tensors and layers.

"""
Layers are callable structs. Parameters, state and mode of a layer are found in its fields, also in tuples,
vectors and dictionaries of layers: your own struct becomes a layer as a subtype of `Layer` with a method for the call. Names of parameters and
defaults are those of the Python package, so that both can read each other's files.

```julia
struct Net <: Tessera.Layer
    conv1::Conv2d
    dense1::Dense
end
(net::Net)(x) = net.dense1(flatten(relu(net.conv1(x)); start=2))
```
"""
abstract type Layer end

"Makes a tensor a trained parameter."
parameter(t::Tensor) = requires_grad!(t)

# ---- The parts of a layer ----

# Every field by name; of a Chain, every layer by position; of a list in a field, every item by position, from 0
# as in Python's ModuleList, or by its key.
function entries(@nospecialize(layer::Layer))
    found = Pair{String,Any}[]
    for field in fieldnames(typeof(layer))
        expand!(found, String(field), getfield(layer, field))
    end
    return found
end

const Listed = Union{Tuple,NamedTuple,AbstractVector,AbstractDict}
items(list::NamedTuple) = pairs(list)
items(list::AbstractDict) = (key => list[key] for key in sort!(collect(keys(list))))
items(list) = (i - 1 => item for (i, item) in enumerate(list))
items(::Union{AbstractVector{<:Number},Tuple{Vararg{Number}}}) = ()

expand!(found, name, entry) = push!(found, Pair{String,Any}(name, entry))
expand!(found, name, list::Listed) = foreach(((key, entry),) -> expand!(found, "$name.$key", entry), items(list))

is_parameter(layer::Layer, field, t) = t isa Tensor && !(first(split(field, '.'; limit=2)) in buffer_names(layer))
buffer_names(::Layer) = ()

function walk(@nospecialize(visit), @nospecialize(layer::Layer), prefix="")
    for (field, entry) in entries(layer)
        name = isempty(prefix) ? field : prefix * "." * field
        if entry isa Layer
            walk(visit, entry, name)
        elseif entry isa Tensor
            visit(name, entry, is_parameter(layer, field, entry))
        end
    end
end

# A tensor that several layers share, such as tied weights, counts once, under its first name.
function walk_once(@nospecialize(visit), @nospecialize(layer::Layer))
    seen = Base.IdSet{Tensor}()
    walk((name, t, learned) -> t in seen || (push!(seen, t); visit(name, t, learned)), layer)
end

"The parameters by name, in order. One that several layers share has the name of the first."
function named_params(layer::Layer)
    found = Pair{String,Tensor}[]
    walk_once((name, t, learned) -> learned && push!(found, name => t), layer)
    return found
end

"The tensors of a layer that are no parameters, such as running statistics, in order."
function buffers(layer::Layer)
    found = Tensor[]
    walk_once((_, t, learned) -> learned || push!(found, t), layer)
    return found
end

"""
    summarize(layer)

A table of the parameters with their names, sizes and lengths, and the totals.
"""
function summarize(layer::Layer)
    parameters = named_params(layer)
    rows = [("Parameter", "Size", "Length")]
    append!(rows, [(name, "[" * join(size(t), ", ") * "]", string(length(t))) for (name, t) in parameters])
    widths = [maximum(length(row[column]) for row in rows) for column in 1:3]
    lines = [rpad(a, widths[1]) * "  " * rpad(b, widths[2]) * "  " * lpad(c, widths[3]) for (a, b, c) in rows]
    total = sum(Int[length(t) for (_, t) in parameters])
    trainable = sum(Int[length(t) for (_, t) in parameters if requires_grad(t)])
    megabytes = round(sum(Int[sizeof(t) for (_, t) in parameters]) / 1e6; digits=2)
    return join(lines, "\n") * "\nParameters: $total ($trainable trainable), $megabytes MB\n"
end

"""
    summarize(layer, x)

Calls the layer once and returns a table: one line for each operator of the call, with the layer whose
parameters it uses, the sizes of its output and its multiply-adds; then the totals, and the memory of the
outputs and of what a backward would need. The layer may change its buffers, as in any call.
"""
function summarize(layer::Layer, x::Tensor)
    y = enable_grad(() -> layer(eltype(x) <: AbstractFloat ? as_leaf(x) : x))
    return draw_graph(y; params=named_params(layer), format=:table).text
end

"The parameters. One that several layers share is there once."
function params(layer::Layer)
    found, seen = Tensor[], Base.IdSet{Tensor}()
    each_param(t -> t in seen || (push!(seen, t); push!(found, t)), layer)
    return found
end

# Like walk, without the names: for functions that run in every step.
function each_param(visit, layer::Layer)
    for i in 1:nfields(layer)
        entry = getfield(layer, i)
        if entry isa Tensor
            is_parameter(layer, String(fieldname(typeof(layer), i)), entry) && visit(entry)
        elseif entry isa Layer
            each_param(visit, entry)
        elseif entry isa Listed && !(String(fieldname(typeof(layer), i)) in buffer_names(layer))
            each_param(visit, entry)
        end
    end
end
each_param(visit, list::Listed) = foreach(((_, entry),) -> each_param(visit, entry), items(list))
each_param(visit, t::Tensor) = (visit(t); nothing)
each_param(visit, other) = nothing

"Parameters and running statistics by name: what [`save_file`](@ref) writes."
function state_dict(layer::Layer)
    found = Dict{String,Tensor}()
    walk((name, t, learned) -> (found[name] = detach(t)), layer)
    return found
end

"""
    load_state_dict!(layer, state; strict=true)

Copies values by name into the layer. Missing or unknown names throw an `ArgumentError` unless `strict`
is false; different sizes throw a `DimensionMismatch`.
"""
function load_state_dict!(layer::Layer, state; strict=true)
    targets = state_dict(layer)
    missing_names = sort!(collect(setdiff(keys(targets), keys(state))))
    unknown = sort!(collect(setdiff(keys(state), keys(targets))))
    if strict && !(isempty(missing_names) && isempty(unknown))
        throw(ArgumentError("load_state_dict!: missing $missing_names, unknown $unknown"))
    end
    for (name, target) in targets
        haskey(state, name) || continue
        source = state[name]
        size(source) == size(target) || throw(DimensionMismatch(
            "$name: expected sizes $(size(target)), got $(size(source))"))
        no_grad(() -> copyto!(target, source))
    end
    return layer
end

# Buffers that sum small contributions of many batches, which 16-bit floats would lose.
statistic_names(::Layer) = ()

"""
    convert!(layer; dtype=nothing, device=nothing)

Converts all floating parameters with their gradients, and buffers, in place: they stay the same tensors,
so that an existing optimizer continues to train them. Running statistics never become 16-bit floats. No
other thread may use the layer meanwhile.
"""
function convert!(layer::Layer; dtype=nothing, device=nothing)
    kind = dtype === nothing ? nothing : element_type(dtype_bits(dtype))
    kind === nothing || kind <: Union{AbstractFloat,Complex{<:AbstractFloat}} ||
        throw(ArgumentError("convert!: expected a floating or complex dtype, got $dtype"))
    no_grad(() -> convert_entries!(layer, kind, device))
    return layer
end

function convert_entries!(@nospecialize(layer::Layer), kind, device)
    for (field, entry) in entries(layer)
        if entry isa Layer
            convert_entries!(entry, kind, device)
        elseif entry isa Tensor
            wide = field in statistic_names(layer) && kind in (Float16, BFloat16) ? Float32 : kind
            give_data!(entry, eltype(entry) <: Union{Integer,Complex{<:Integer}} ? nothing : wide, device)
        end
    end
end

function give_data!(t::Tensor, kind, device)
    converted(x) = _to(detach(x), device, kind, false, false)
    made = converted(t)
    eltype(made) === eltype(t) && Tessera.device(made) == Tessera.device(t) && return
    old = grad(t)
    new = old === nothing ? nothing : converted(old)
    grad!(t, nothing)
    set_data!(t, made)
    grad!(t, new)
end

zero_grad!(layer::Layer) = each_param(zero_grad!, layer)

# A layer that a scope returns keeps all its tensors.
spare!(spared, layer::Layer) = foreach(entry -> spare!(spared, last(entry)), entries(layer))

# ---- Mode ----

"The training flag of layers that behave differently in training."
mutable struct Mode
    training::Bool
end

set_mode!(mode::Mode, training) = (mode.training = training; nothing)
function set_mode!(@nospecialize(layer::Layer), training)
    for (_, entry) in entries(layer)
        set_mode!(entry, training)
    end
end
set_mode!(other, training) = nothing

"Puts a layer and all layers inside it into training mode, the initial mode."
train!(layer::Layer) = (set_mode!(layer, true); layer)

"Puts a layer and all layers inside it into evaluation mode."
evaluate!(layer::Layer) = (set_mode!(layer, false); layer)

# ---- Initial values ----

uniform_parameter(dtype, bound, dims) =
    parameter(uniform!(empty_of(dtype_bits(dtype), int_list(dims), nothing); low=-bound, high=bound))

filled(dtype, value, sizes) = fill!(empty_of(dtype_bits(dtype), int_list(sizes), nothing), value)

# ---- Layers ----

"""
    Dense(in => out; bias=true, dtype=Float32)

`input * weight' .+ bias'` for inputs of sizes (batch..., in). Python's Linear.
"""
struct Dense <: Layer
    weight::Tensor
    bias::Union{Nothing,Tensor}
end

function Dense(sizes::Pair{<:Integer,<:Integer}; bias=true, dtype=Float32)
    bound = 1 / sqrt(max(first(sizes), 1))
    weight = uniform_parameter(dtype, bound, (last(sizes), first(sizes)))
    return Dense(weight, bias ? uniform_parameter(dtype, bound, last(sizes)) : nothing)
end
Dense(sizes::Pair{<:Integer,<:Integer}, f; options...) = throw(ArgumentError(
    "Dense: a layer has no activation of its own; write Chain(Dense($sizes), $f)"))
function (layer::Dense)(x::Tensor)
    bias = layer.bias  # a local variable, so that the compiler infers its type in both branches
    return bias === nothing ? linear(x, layer.weight) : linear(x, layer.weight; bias=bias)
end

"Python's name of [`Dense`](@ref)."
const Linear = Dense

"""
    LayerNorm(sizes; eps=1e-5, dtype=Float32)

Normalises over the last axes, which have these sizes.
"""
struct LayerNorm <: Layer
    weight::Tensor
    bias::Tensor
    sizes::Tuple{Vararg{Int}}
    eps::Float64
end

LayerNorm(sizes; eps=1e-5, dtype=Float32) = LayerNorm(parameter(filled(dtype, 1, sizes)),
    parameter(filled(dtype, 0, sizes)), Tuple(Int.(sizes)), eps)
(layer::LayerNorm)(x::Tensor) = layer_norm(x, layer.sizes; weight=layer.weight, bias=layer.bias,
    eps=layer.eps)

"""
    Embedding(rows => features; padding_idx=nothing, dtype=Float32)

Rows of a table. The integers that select rows are data and count from 0; `padding_idx`, a row that is
not trained, counts from 1.
"""
struct Embedding <: Layer
    weight::Tensor
    padding_idx::Union{Nothing,Int}
end

function Embedding(sizes::Pair{<:Integer,<:Integer}; padding_idx=nothing, dtype=Float32)
    weight = normal!(empty(Tuple(sizes); dtype=dtype))
    if padding_idx !== nothing
        1 <= padding_idx <= first(sizes) ||
            throw(ArgumentError("Embedding: padding_idx $padding_idx is no row of $(first(sizes))"))
        weight[padding_idx, :] = 0
    end
    return Embedding(parameter(weight), padding_idx)
end
(layer::Embedding)(x::Tensor) = embedding(x, layer.weight; padding_idx=layer.padding_idx)

"""
    Unflatten(axis, sizes)

Divides an axis into axes of these sizes, of which one may be -1.
"""
struct Unflatten <: Layer
    axis::Int
    sizes::Tuple{Vararg{Int}}
end
(layer::Unflatten)(x::Tensor) = unflatten(x, layer.sizes; dims=layer.axis)

include("nn/conv.jl")
include("nn/dropouts.jl")
include("nn/norm.jl")
include("nn/padding.jl")
include("nn/pooling.jl")

"""
    Chain(layers...)

Layers and functions, one after the other. Parameters are named by position, from 0 as in Python's
Sequential.
"""
struct Chain{T<:Tuple} <: Layer
    layers::T
end

Chain(layers...) = Chain(layers)

"Python's name of [`Chain`](@ref)."
const Sequential = Chain

entries(@nospecialize(chain::Chain)) =
    [Pair{String,Any}(string(i - 1), layer) for (i, layer) in enumerate(chain.layers)]
each_param(visit, chain::Chain) = foreach(x -> x isa Layer && each_param(visit, x), chain.layers)
(chain::Chain)(x) = through(x, chain.layers)
through(x, ::Tuple{}) = x
through(x, layers::Tuple) = through(layers[1](x), Base.tail(layers))
Base.getindex(chain::Chain, i::Integer) = chain.layers[i]
Base.length(chain::Chain) = length(chain.layers)

include("nn/recurrent.jl")

# ---- Printing ----

function Base.show(io::IO, layer::Layer)
    parts = String[]
    for (field, entry) in entries(layer)
        if entry isa Layer || entry isa Function
            text = entry isa Layer ? sprint(show, entry) : string(nameof(entry))
            push!(parts, layer isa Chain ? text : "$field=$text")
        elseif entry isa Tensor && is_parameter(layer, field, entry)
            push!(parts, "$field=$(join(size(entry), '×'))")
        end
    end
    print(io, nameof(typeof(layer)), "(", join(parts, ", "), ")")
end

# ---- Topics ----

include("nn/image.jl")
include("nn/init.jl")
include("nn/losses.jl")
include("nn/attention.jl")
include("nn/bags.jl")
include("nn/adaptive.jl")
include("nn/fractional.jl")
