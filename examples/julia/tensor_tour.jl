# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# A tour of tensors from Julia. The tours in C, C++, Python and Rust print the same lines.

# Finds the package in this repository, whatever project is active.
pushfirst!(LOAD_PATH, joinpath(@__DIR__, "..", "..", "wrappers", "julia"))

using Printf
using Tessera

# A line such as `row sums: float32 [2] = 6.0000 15.0000`, its values in row-major order.
function show_tensor(label, tensor)
    values = [@sprintf("%.4f", v) for v in Array(flatten(tensor))]
    println(label, ": ", lowercase(string(eltype(tensor))), " [", join(size(tensor), ", "), "] = ", join(values, ' '))
end

function creation()
    println("-- creation")
    show_tensor("zeros", Tessera.zeros(2, 3))
    show_tensor("counted", Tensor(0:4))
    show_tensor("spaced", linspace(0, 1, 5))
    show_tensor("filled", full((2,), 2.5; dtype=Float64))
    show_tensor("numbers", Tensor(Float32[1 2 3; 4 5 6]))
    show_tensor("random", Tessera.rand((3,); generator=Generator(7)))
end

function views()
    println("-- views")
    a = reshape_row_major(Tensor(0:11), (3, 4))
    show_tensor("row", a[2, :])
    show_tensor("column", a[:, 2])
    show_tensor("every other", a[:, 1:2:end])
    show_tensor("new axis", unsqueeze(a[1, :]; dims=1))
    show_tensor("transposed", transpose(a))
    show_tensor("above seven", a[a .> 7])
    view(transpose(a), 1, :) .= -1
    show_tensor("written through a view", a)
end

function broadcasting()
    println("-- broadcasting")
    a = Tensor(Float32[1 2 3; 4 5 6])
    show_tensor("times ten plus a row", a .* 10 .+ Tensor(Float32[0 1 2]))
    show_tensor("plus a column", a .+ Tensor(Float32[10, 20]))
    show_tensor("row sums", sum(a; dims=2, keepdims=false))
    show_tensor("matrix product", a * a')
    show_tensor("integers divided", Tensor(1:3) ./ 2)
end

function in_place()
    println("-- in place")
    a = Tensor(Float32[1, 2, 3])
    same = a
    a .+= 1
    a .*= Tensor(Float32[1, 10, 100])
    show_tensor("seen by every reference", same)
    a[2:end] .= 0
    show_tensor("assigned to a part", a)
end

function autograd()
    println("-- autograd")
    x = requires_grad!(Tensor(Float32[1, 2, 3]))
    y = sum(x .^ 3)
    show_tensor("sum of cubes", detach(y))
    first = grad(y, x; create_graph=true)
    show_tensor("3 x^2", detach(first))
    second = grad(sum(first), x)
    show_tensor("6 x", second)
    println("recorded without gradients: ", no_grad(() -> requires_grad(x .* 2)) ? "yes" : "no")
end

function hooks()
    println("-- hooks")
    x = requires_grad!(Tensor(Float32[1, 2]))
    doubling = hook!(gradient -> gradient .* 2, x)
    backward!(sum(x .* x))
    show_tensor("doubled on the way", grad(x))
    remove!(doubling)
    hook!(gradient -> error("no gradient today"), x)
    try
        backward!(sum(x .* x))
    catch e
        println("the hook's own error: ", e.msg)
    end
end

# A cube with a custom derivative.
const cube = differentiable(
    (ctx, x) -> (save!(ctx, x); x .* x .* x),
    (ctx, gradient) -> gradient .* only(saved(ctx)) .^ 2 .* 3)

function custom_function()
    println("-- custom function")
    x = requires_grad!(Tensor(Float32[1, 2, 3]))
    y = cube(x)
    backward!(sum(y))
    show_tensor("cubes", detach(y))
    show_tensor("their gradient", grad(x))
end

function safetensors()
    println("-- safetensors")
    mktempdir() do folder
        path = joinpath(folder, "tensor_tour.safetensors")
        save_file(path, Dict("weight" => Tessera.ones(2, 2), "bias" => Tensor(0:1)); metadata=Dict("made by" => "the tour"))
        for (name, tensor) in sort!(collect(load_file(path)); by=first)
            show_tensor(name, tensor)
        end
        println("made by: ", Tessera.load_metadata(path)["made by"])
    end
end

function zero_copy()
    println("-- zero copy")
    ours = Float32[1, 2, 3, 4]
    x = reshape_row_major(share(ours), (2, 2))
    x .+= 1
    ours[4] = 50
    println("our memory: ", join([@sprintf("%.4f", v) for v in ours], ' '))
    show_tensor("the tensor on it", x)
    again = Tessera.from_dlpack(Tessera.to_dlpack(x))
    view(again, 1, :) .= 0
    show_tensor("after a round trip through DLPack", x)
end

function errors()
    println("-- errors")
    try
        Tessera.ones(2, 3) * Tessera.ones(2, 3)
    catch e
        e isa DimensionMismatch || rethrow()
        println("SHAPE: ", e.msg)
    end
end

foreach(part -> part(), [creation, views, broadcasting, in_place, autograd, hooks, custom_function, safetensors, zero_copy, errors])
