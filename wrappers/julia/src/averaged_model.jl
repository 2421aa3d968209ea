# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Averages of a model's parameters over training (Izmailov and others, "Averaging weights leads to wider optima and better
# generalization", 2018), and exponential moving averages.

"""
    AveragedModel(model; decay=nothing, use_buffers=false)

A copy of a model, `average.model`, whose parameters are averages of those that the model has at each
`update!(average, model)`: their means or, with a `decay`, `decay` times the average plus `1 - decay` times the model. Buffers
are the model's own, or with `use_buffers` averages too. State dicts have the names of Python's AveragedModel.
"""
struct AveragedModel{L<:Layer} <: Layer
    model::L
    n_averaged::Tensor
    decay::Union{Nothing,Float64}
    use_buffers::Bool
end

function AveragedModel(model::Layer; decay::Union{Nothing,Real}=nothing, use_buffers::Bool=false)
    decay === nothing || 0 <= decay <= 1 || throw(ArgumentError("decay: expected a number between 0 and 1, got $decay"))
    return AveragedModel(deepcopy(model), filled(Int64, 0, ()), decay === nothing ? nothing : Float64(decay), use_buffers)
end

entries(average::AveragedModel) = Pair{String,Any}["n_averaged" => average.n_averaged, "module" => average.model]
buffer_names(::AveragedModel) = ("n_averaged",)
(average::AveragedModel)(inputs...) = average.model(inputs...)

"""
    update!(average, model)

Takes the parameters of a model into an [`AveragedModel`](@ref); the first ones are copied.
"""
function update!(average::AveragedModel, model::Layer)
    own, new, count = tensors_of(average.model), tensors_of(model), item(average.n_averaged)
    length(own) == length(new) || throw(ArgumentError(
        "AveragedModel: expected a model with $(length(own)) parameters and buffers, got $(length(new))"))
    for ((name, target, _), (found, now, _)) in zip(own, new)
        (name, size(target)) == (found, size(now)) || throw(ArgumentError(
            "AveragedModel: expected $name of sizes $(size(target)), got $found of sizes $(size(now))"))
    end
    no_grad() do
        for ((_, target, learned), (_, given, _)) in zip(own, new)
            now = on(device(target), given)
            averaging = count > 0 && (learned || average.use_buffers)
            copyto!(detach(target), averaging ? mean_of(detach(target), now, count, average.decay) : now)
        end
        add!(average.n_averaged, 1)
    end
    return average
end

mean_of(own, now, count, ::Nothing) = add(own, divide(subtract(now, own), count + 1))
mean_of(own, now, count, decay) = add(multiply(own, decay), multiply(now, 1 - decay))

# All tensors of a layer, each once: name, tensor, and whether it is a parameter.
function tensors_of(layer::Layer)
    found = Tuple{String,Tensor,Bool}[]
    walk_once((name, t, learned) -> push!(found, (name, t, learned)), layer)
    return found
end
