# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Deep copies and serialization: what is copied is independent and whole, or refused.

using Serialization

there_and_back(x) = (io = IOBuffer(); serialize(io, x); seekstart(io); deserialize(io))

@testset "test_a_deep_copy_of_a_model_trains_itself" begin
    model = Dense(2 => 3)
    backward!(sum(model(Tessera.ones(Float32, 1, 2))))
    copied = deepcopy(model)
    @test is_leaf(copied.weight) && requires_grad(copied.weight) && copied.weight == model.weight
    @test grad(copied.weight) == grad(model.weight) && grad(copied.weight) !== grad(model.weight)
    zero_grad!(model)
    backward!(sum(copied(Tessera.ones(Float32, 1, 2))))
    @test grad(model.weight) === nothing
    @test Array(grad(copied.weight)) == fill(2, 3, 2)
    constant = Tensor([1.0])
    @test !requires_grad(deepcopy(constant))
end

@testset "test_a_deep_copy_of_an_optimizer_trains_the_copied_model" begin
    input = Tessera.ones(Float32, 1, 2)
    model = Dense(2 => 3)
    state = setup(Adam(lr=0.1), [model.weight])
    add_group!(state, Adam(lr=0.5), [model.bias])
    step!(m, s) = (zero_grad!(m); backward!(sum(m(input) .^ 2)); update!(s))
    step!(model, state)
    before = Array(model.weight)
    copied, copied_state = deepcopy((model, state))
    @test copied_state.params[1] === copied.weight && copied_state.params[2] === copied.bias
    step!(copied, copied_state)
    @test Array(model.weight) == before
    step!(model, state)
    @test model.weight == copied.weight && model.bias == copied.bias
    finalize(state)  # which a copy of the handle would not survive
    step!(copied, copied_state)
    @test copied.weight != model.weight
end

@testset "test_a_deep_copy_of_a_generator_draws_the_same_numbers" begin
    g = Generator(7)
    Tessera.rand(Float32, 3; generator=g)
    copied = deepcopy(g)
    drawn = Tessera.rand(Float32, 3; generator=g)
    finalize(g)
    @test Tessera.rand(Float32, 3; generator=copied) == drawn
end

@testset "test_objects_of_a_process_are_not_copied" begin
    node = grad_fn(sum(requires_grad!(Tensor([1.0]))))
    @test_throws ArgumentError deepcopy(node)
    @test_throws ArgumentError serialize(IOBuffer(), node)
    @test_throws ArgumentError serialize(IOBuffer(), setup(SGD(lr=1), Dense(1 => 1)))
end

@testset "test_tensors_are_serialized_with_their_elements" begin
    for t in (Tensor([1.0 2; 3 4]), Tensor(ComplexF32[1im]), Tensor(true), Tensor(zeros(Int8, 0, 3)), Tensor(BFloat16[1, 2]),
        transpose(Tensor([1 2; 3 4])))
        again = there_and_back(t)
        @test again == t && eltype(again) === eltype(t) && size(again) == size(t) && !requires_grad(again)
    end
    model = Dense(2 => 3)
    again, weight = there_and_back((model, model.weight))
    @test again.weight === weight && weight == model.weight && is_leaf(weight) && requires_grad(weight)
    @test !requires_grad(there_and_back(model.weight .* 2))
end

@testset "test_a_shared_array_and_its_tensor_may_be_collected_in_any_order" begin
    left = Tensor[]
    function share_and_drop()
        for i in 1:100
            t = Tessera.ones(Float64, 10)
            i % 10 == 0 && push!(left, t)
            array = share(t)
            array[1] = i
        end
    end
    # An error of a finalizer is only printed, so look for what it would have left undone.
    share_and_drop()
    GC.gc()
    GC.gc()
    for t in left  # fails while an array has the memory
        Tessera.share_memory!(t)
    end
    @test all(Tessera.is_shared, left)
    sizes = map(1:100) do _
        array = share(Tessera.ones(Float64, 10))
        finalize(array)
        length(array)
    end
    @test all(sizes .== 10)
end

@testset "test_a_dotted_expression_gives_a_new_tensor" begin
    t = Tensor([1.0, 2.0])
    for made in (identity.(t), t .^ 1, .+t, Float64.(t), identity.(t .+ 0))
        made .= 5
    end
    @test Array(t) == [1, 2]
end

@testset "test_collection_functions_of_base" begin
    a = [-7, 2, 5]
    t = Tensor(a)
    @test Array(t .÷ 2) == a .÷ 2 && Array(div.(t, Tensor([2, -2, 3]))) == div.(a, [2, -2, 3])
    @test Array(div.(20, t)) == div.(20, a)
    @test map(item, extrema(t)) == (-7, 5)
    @test item(count(t .> 0)) == 2 && findall(t .> 0) == [2, 3]
    @test item(sum(abs2, t)) == 78 && item(maximum(abs, t)) == 7 && item(any(isnan, Tensor([NaN])))
    @test Array(sum(abs2, Tensor([1.0 2; 3 4]); dims=1)) == [10 20]
    @test Array(abs2.(Tensor([3 + 4im]))) ≈ [25]
    @test Array(map(exp, Tensor([0.0]))) == [1]
    @test Array(Tensor([2.0 0; 0 4]) \ Tensor([2.0, 4])) == [1, 1]
    @test Vector(t) == a && Matrix(Tensor([1 2])) == [1 2] && Vector{Float64}(t) == a
    @test_throws ArgumentError map(x -> x > 0 ? x : -x, t)
end

@testset "test_a_fraction_does_not_become_an_integer" begin
    t = Tensor([1, 2])
    for wrong in (1.5, NaN, Inf, 1e30, 7 // 2)
        @test_throws InexactError t[1] = wrong
        @test_throws InexactError t .= wrong
    end
    @test Array(t) == [1, 2]
    t[1] = 3.0
    t[2] = 8 // 2
    @test Array(t) == [3, 4]
end
