# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Precompiles the functions that nearly every program calls. Nothing here is ever run.

function usual_calls(matrix::Matrix{Float32}, numbers::Vector{Int64})
    x, classes = Tensor(matrix), Tensor(numbers)
    y = exp.(x .* 2 .+ x) .- 1.0
    y = (x .- y) .* (x ./ 2.0f0) .+ (2 .* x) .^ 2
    x .+= 1
    x .= y
    right = argmax(y; dims=2, keepdims=false) .== classes
    Array(y[1, :] .+ y[:, 1] .+ y[1:2, 1])
    x[1, 1] = 2.0
    x[:, 1] = y[:, 1]
    z = view(x, 1:2, :) * transpose(reshape(permutedims(x', (2, 1)), 2, :))
    z = cat(sum(z; dims=1), sum(z; dims=(1, 2)), z + z - z; dims=1)
    return item(sum(z)), x[1, 1], size(x), Statistics.mean(Float32.(right)), maximum(z)
end

function usual_training(data::NTuple{2,Tensor}, rule)
    net = Chain(Conv2d(3, 1 => 8; padding=1), relu, BatchNorm2d(8), x -> max_pool2d(x, 2),
        x -> flatten(x; start=2), Dense(8 => 8), Dropout(0.5), Dense(8 => 2))
    state = setup(rule, net)
    for (x, y) in DataLoader(data; batch_size=8, shuffle=true)
        zero_grad!(net)
        loss = cross_entropy(net(x), y)
        backward!(loss)
        update!(state)
    end
    evaluate!(net)
    return no_grad(() -> mse_loss(net(data[1]), net(data[1]))), train!(net), state_dict(net)
end

precompile(usual_calls, (Matrix{Float32}, Vector{Int64}))
foreach(rule -> precompile(usual_training, (NTuple{2,Tensor}, rule)), (SGD, Adam, AdamW))

# Called by dynamic dispatch, or by the library.
precompile(__init__, ())
precompile(run_pressure, (Ptr{Cvoid}, Ptr{C.tsr_memory_event}))
precompile(finalize_tensor, (Ptr{Cvoid},))
precompile(drop_box, (Ptr{Cvoid},))
precompile(wrap, (tsr_tensor,))
for T in (Bool, Int64, Float32, Float64)
    precompile(read_ranked, (Tensor, Type{T}, Int32))
    precompile(Tensor, (Vector{T},))
    precompile(Tensor, (Matrix{T},))
    precompile(Tensor, (T,))
end
for make in (zeros, ones, empty, rand, randn), sizes in ((Int64,), (Int64, Int64))
    precompile(make, sizes)
    precompile(make, (Type{Float32}, sizes...))
end
for type in (Conv2d, BatchNorm2d, Dropout, Dense)
    precompile(each_param, (typeof(zero_grad!), type))
    precompile(entries, (type,))
end
precompile(grad, (Tensor,))
precompile(requires_grad!, (Tensor,))
precompile(show, (IOContext{Base.TTY}, MIME{Symbol("text/plain")}, Tensor))
precompile(summary, (IOContext{Base.TTY}, Tensor))
precompile(save_file, (String, Dict{String,Tensor}))
precompile(load_file, (String,))
