# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Recurrent layers and cells; names of parameters and defaults are those of the Python package.

"""
Recurrent networks. Layer k has `weight_ih_lk` (blocks hidden, features), `weight_hh_lk`, `bias_ih_lk` and
`bias_hh_lk`, with `bidirectional` also those with the suffix `_reverse`. The parts are `layer.names`
and `layer.weights`.
"""
abstract type Recurrent <: Layer end

entries(layer::Recurrent) = [[Pair{String,Any}(name, t) for (name, t) in zip(layer.names, layer.weights)];
    Pair{String,Any}("mode", layer.mode)]
each_param(visit, layer::Recurrent) = foreach(visit, layer.weights)

struct RecurrentOptions
    hidden::Int
    num_layers::Int
    bias::Bool
    batch_first::Bool
    dropout::Float64
    bidirectional::Bool
    proj_size::Int
end

state_rows(o::RecurrentOptions) = o.num_layers * (o.bidirectional ? 2 : 1)

# The options, and the parameters with their names.
function recurrent_parts(blocks, sizes::Pair{<:Integer,<:Integer}; num_layers=1, bias=true, batch_first=false,
        dropout=0, bidirectional=false, proj_size=0, dtype=Float32)
    inputs, hidden = sizes
    hidden >= 1 && num_layers >= 1 ||
        throw(ArgumentError("expected at least 1 hidden unit and 1 layer, got $hidden and $num_layers"))
    0 <= dropout <= 1 || throw(ArgumentError("dropout: expected a probability, got $dropout"))
    0 <= proj_size < hidden ||
        throw(ArgumentError("proj_size: expected a number from 0 to $(hidden - 1), got $proj_size"))
    options = RecurrentOptions(hidden, num_layers, bias, batch_first, dropout, bidirectional, proj_size)
    names, weights = String[], Tensor[]
    outputs = proj_size > 0 ? proj_size : hidden
    rows, bound = blocks * hidden, 1 / sqrt(hidden)
    for layer in 0:num_layers-1, suffix in (bidirectional ? ("", "_reverse") : ("",))
        features = layer == 0 ? inputs : (bidirectional ? 2 : 1) * outputs
        shapes = Any["weight_ih" => (rows, features), "weight_hh" => (rows, outputs)]
        bias && append!(shapes, ["bias_ih" => (rows,), "bias_hh" => (rows,)])
        proj_size > 0 && push!(shapes, "weight_hr" => (proj_size, hidden))
        for (name, shape) in shapes
            push!(names, "$(name)_l$layer$suffix")
            push!(weights, uniform_parameter(dtype, bound, shape))
        end
    end
    return options, names, weights, Mode(true)
end

function zero_state(o::RecurrentOptions, x::Tensor, batch_sizes)
    sizes = ndims(x) < 3 && batch_sizes === nothing ? (state_rows(o), o.hidden) :
        (state_rows(o), batch_sizes === nothing ? size(x, o.batch_first ? 1 : 2) : first(batch_sizes), o.hidden)
    return fill!(empty_of(dtype_bits(eltype(x)), int_list(sizes), device(x)), 0)
end

# Calls an op with the layer's parameters and options.
function run_recurrent(op, layer::Recurrent, x, hx, batch_sizes)
    o = layer.options
    return op(x, hx, layer.weights; has_biases=o.bias, num_layers=o.num_layers, dropout=o.dropout,
        train=layer.mode.training, bidirectional=o.bidirectional, batch_first=o.batch_first,
        batch_sizes=batch_sizes)
end

"""
    RNN(in => hidden; nonlinearity=:tanh, num_layers=1, bias=true, batch_first=false, dropout=0,
        bidirectional=false, dtype=Float32)

h = tanh(weight_ih x + bias_ih + weight_hh h + bias_hh), or `:relu` in place of tanh. `layer(x, state;
batch_sizes)` returns the outputs at all time steps and the last state. x has sizes (time, batch, in), with
`batch_first` (batch, time, in), or (time, in) for one sequence; with `batch_sizes` it is packed. Without a
state the first one is zeros.
"""
struct RNN <: Recurrent
    options::RecurrentOptions
    names::Vector{String}
    weights::Vector{Tensor}
    mode::Mode
    nonlinearity::Symbol
end

function RNN(sizes::Pair{<:Integer,<:Integer}; nonlinearity=:tanh, kwargs...)
    nonlinearity in (:tanh, :relu) ||
        throw(ArgumentError("RNN: nonlinearity: expected :tanh or :relu, got $(repr(nonlinearity))"))
    haskey(kwargs, :proj_size) && throw(ArgumentError("RNN: expected no proj_size"))
    return RNN(recurrent_parts(1, sizes; kwargs...)..., nonlinearity)
end
(layer::RNN)(x::Tensor, hx=nothing; batch_sizes=nothing) =
    run_recurrent(layer.nonlinearity === :tanh ? rnn_tanh : rnn_relu, layer, x,
        hx === nothing ? zero_state(layer.options, x, batch_sizes) : hx, batch_sizes)

"""
    GRU(in => hidden; num_layers=1, bias=true, batch_first=false, dropout=0, bidirectional=false, dtype=Float32)

Gated recurrent units, blocks r z n; called as [`RNN`](@ref).
"""
struct GRU <: Recurrent
    options::RecurrentOptions
    names::Vector{String}
    weights::Vector{Tensor}
    mode::Mode
end

function GRU(sizes::Pair{<:Integer,<:Integer}; kwargs...)
    haskey(kwargs, :proj_size) && throw(ArgumentError("GRU: expected no proj_size"))
    return GRU(recurrent_parts(3, sizes; kwargs...)...)
end
(layer::GRU)(x::Tensor, hx=nothing; batch_sizes=nothing) =
    run_recurrent(gru, layer, x, hx === nothing ? zero_state(layer.options, x, batch_sizes) : hx, batch_sizes)

"""
    LSTM(in => hidden; num_layers=1, bias=true, batch_first=false, dropout=0, bidirectional=false, proj_size=0,
        dtype=Float32)

Long short-term memory, blocks i f g o; called as [`RNN`](@ref) with states (h, c). With `proj_size`,
`weight_hr_lk` projects h to fewer outputs.
"""
struct LSTM <: Recurrent
    options::RecurrentOptions
    names::Vector{String}
    weights::Vector{Tensor}
    mode::Mode
end

LSTM(sizes::Pair{<:Integer,<:Integer}; kwargs...) = LSTM(recurrent_parts(4, sizes; kwargs...)...)
function (layer::LSTM)(x::Tensor, hx=nothing; batch_sizes=nothing)
    states = hx === nothing ? Tensor[] : Tensor[hx...]
    output, h, c = run_recurrent(lstm, layer, x, states, batch_sizes)
    return output, (h, c)
end

# ---- Cells ----

"Recurrent cells, which compute one time step."
abstract type Cell <: Layer end

function cell_parts(blocks, sizes::Pair{<:Integer,<:Integer}; bias=true, dtype=Float32)
    inputs, hidden = sizes
    rows, bound = blocks * hidden, 1 / sqrt(max(hidden, 1))
    make(shape...) = uniform_parameter(dtype, bound, shape)
    return make(rows, inputs), make(rows, hidden), bias ? make(rows) : nothing, bias ? make(rows) : nothing
end

function zero_state(layer::Cell, x::Tensor)
    sizes = (size(x)[1:end-1]..., size(layer.weight_hh, 2))
    return fill!(empty_of(dtype_bits(eltype(x)), int_list(sizes), device(x)), 0)
end

cell_step(op, layer::Cell, x, hx) =
    op(x, hx, layer.weight_ih, layer.weight_hh; b_ih=layer.bias_ih, b_hh=layer.bias_hh)

"""
    RNNCell(in => hidden; nonlinearity=:tanh, bias=true, dtype=Float32)

One step of [`RNN`](@ref): x has sizes (batch, in) or (in), the state (batch, hidden) or (hidden).
"""
struct RNNCell <: Cell
    weight_ih::Tensor
    weight_hh::Tensor
    bias_ih::Union{Nothing,Tensor}
    bias_hh::Union{Nothing,Tensor}
    nonlinearity::Symbol
end

function RNNCell(sizes::Pair{<:Integer,<:Integer}; nonlinearity=:tanh, kwargs...)
    nonlinearity in (:tanh, :relu) ||
        throw(ArgumentError("RNNCell: nonlinearity: expected :tanh or :relu, got $(repr(nonlinearity))"))
    return RNNCell(cell_parts(1, sizes; kwargs...)..., nonlinearity)
end
(layer::RNNCell)(x::Tensor, hx=zero_state(layer, x)) =
    cell_step(layer.nonlinearity === :tanh ? rnn_tanh_cell : rnn_relu_cell, layer, x, hx)

"""
    GRUCell(in => hidden; bias=true, dtype=Float32)

One step of [`GRU`](@ref).
"""
struct GRUCell <: Cell
    weight_ih::Tensor
    weight_hh::Tensor
    bias_ih::Union{Nothing,Tensor}
    bias_hh::Union{Nothing,Tensor}
end

GRUCell(sizes::Pair{<:Integer,<:Integer}; kwargs...) = GRUCell(cell_parts(3, sizes; kwargs...)...)
(layer::GRUCell)(x::Tensor, hx=zero_state(layer, x)) = cell_step(gru_cell, layer, x, hx)

"""
    LSTMCell(in => hidden; bias=true, dtype=Float32)

One step of [`LSTM`](@ref); states are (h, c).
"""
struct LSTMCell <: Cell
    weight_ih::Tensor
    weight_hh::Tensor
    bias_ih::Union{Nothing,Tensor}
    bias_hh::Union{Nothing,Tensor}
end

LSTMCell(sizes::Pair{<:Integer,<:Integer}; kwargs...) = LSTMCell(cell_parts(4, sizes; kwargs...)...)
(layer::LSTMCell)(x::Tensor, hx=(zero_state(layer, x), zero_state(layer, x))) =
    cell_step(lstm_cell, layer, x, Tensor[hx...])
