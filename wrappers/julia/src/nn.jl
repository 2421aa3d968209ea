# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Networks: layers are callable structs whose fields hold tensors and layers.

"""
Layers are callable structs. Parameters, state and mode of a layer are found in its fields: your own
struct becomes a layer as a subtype of `Layer` with a method for the call. Names of parameters and
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

# Every field by name; of a Chain, every layer by position.
entries(@nospecialize(layer::Layer)) =
    [Pair{String,Any}(String(f), getfield(layer, f)) for f in fieldnames(typeof(layer))]

is_parameter(layer::Layer, field, t) = t isa Tensor && !(field in buffer_names(layer))
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

"The parameters by name, in order."
function named_params(layer::Layer)
    found = Pair{String,Tensor}[]
    walk((name, t, learned) -> learned && push!(found, name => t), layer)
    return found
end

"The parameters."
params(layer::Layer) = (found = Tensor[]; each_param(t -> push!(found, t), layer); found)

# Like walk, without the names: for functions that run in every step.
function each_param(visit, layer::Layer)
    for i in 1:nfields(layer)
        entry = getfield(layer, i)
        if entry isa Tensor
            is_parameter(layer, String(fieldname(typeof(layer), i)), entry) && visit(entry)
        elseif entry isa Layer
            each_param(visit, entry)
        end
    end
end

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

pair(x::Integer) = (Int(x), Int(x))
pair(x::Tuple) = Int.(x)

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
function (layer::Dense)(x::Tensor)
    bias = layer.bias  # a local variable, so that the compiler infers its type in both branches
    return bias === nothing ? linear(x, layer.weight) : linear(x, layer.weight; bias=bias)
end

"Python's name of [`Dense`](@ref)."
const Linear = Dense

"""
    Conv2d(kernel, in => out; stride=1, padding=0, dilation=1, groups=1, bias=true)

Cross-correlation of images of sizes (N, C, H, W). With `padding=:same` outputs have the input's size.
"""
struct Conv2d <: Layer
    weight::Tensor
    bias::Union{Nothing,Tensor}
    stride::Tuple{Int,Int}
    padding::Tuple{Int,Int}
    dilation::Tuple{Int,Int}
    groups::Int
    same::Bool
end

function Conv2d(kernel, channels::Pair{<:Integer,<:Integer}; stride=1, padding=0, dilation=1,
        groups=1, bias=true, dtype=Float32)
    inputs, outputs = channels
    inputs % groups == 0 && outputs % groups == 0 ||
        throw(ArgumentError("Conv2d: channels $channels are not divisible by groups=$groups"))
    padding isa Symbol && !(padding in (:same, :valid)) &&
        throw(ArgumentError("Conv2d: padding: expected numbers, :same or :valid, got $(repr(padding))"))
    padding === :same && pair(stride) != (1, 1) &&
        throw(ArgumentError("Conv2d: padding=:same needs a stride of 1, got $stride"))
    shape = (outputs, inputs ÷ groups, pair(kernel)...)
    bound = 1 / sqrt(max(prod(shape[2:end]), 1))
    return Conv2d(uniform_parameter(dtype, bound, shape),
        bias ? uniform_parameter(dtype, bound, outputs) : nothing,
        pair(stride), pair(padding isa Symbol ? 0 : padding), pair(dilation), groups, padding === :same)
end
(layer::Conv2d)(x::Tensor) = conv2d(x, layer.weight; bias=layer.bias, stride=layer.stride,
    padding=layer.same ? nothing : layer.padding, dilation=layer.dilation, groups=layer.groups, same=layer.same)

"""
    BatchNorm2d(channels; eps=1e-5, momentum=0.1, dtype=Float32)

Normalises each channel of (N, C, H, W) over the batch; in evaluation with the running statistics, which
are never 16-bit floats.
"""
struct BatchNorm2d <: Layer
    weight::Tensor
    bias::Tensor
    running_mean::Tensor
    running_var::Tensor
    num_batches_tracked::Tensor
    eps::Float64
    momentum::Float64
    mode::Mode
end

function BatchNorm2d(channels::Integer; eps=1e-5, momentum=0.1, dtype=Float32)
    wide = dtype in (Float16, BFloat16) ? Float32 : dtype
    return BatchNorm2d(parameter(filled(dtype, 1, channels)), parameter(filled(dtype, 0, channels)),
        filled(wide, 0, channels), filled(wide, 1, channels), filled(Int64, 0, ()), eps, momentum, Mode(true))
end

buffer_names(::BatchNorm2d) = ("running_mean", "running_var", "num_batches_tracked")
statistic_names(::BatchNorm2d) = ("running_mean", "running_var")

function (layer::BatchNorm2d)(x::Tensor)
    ndims(x) == 4 || throw(DimensionMismatch("BatchNorm2d: expected (N, C, H, W), got $(size(x))"))
    training = layer.mode.training
    training && add!(layer.num_batches_tracked, 1)
    return batch_norm(x; running_mean=layer.running_mean, running_var=layer.running_var,
        weight=layer.weight, bias=layer.bias, training=training, momentum=layer.momentum, eps=layer.eps)
end

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
    Dropout(p=0.5)

In training, sets elements to 0 with probability `p` and scales the others up.
"""
struct Dropout <: Layer
    p::Float64
    mode::Mode
end

function Dropout(p::Real=0.5)
    0 <= p <= 1 || throw(ArgumentError("Dropout: expected a probability, got $p"))
    return Dropout(p, Mode(true))
end
(layer::Dropout)(x::Tensor) = dropout(x; p=layer.p, training=layer.mode.training)

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
