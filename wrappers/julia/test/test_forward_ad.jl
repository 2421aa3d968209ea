# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Forward mode (A18), and the derivatives of functions that are made of it.

@testset "test_a18_tangent_beside_the_value" begin
    x, v = Tensor([1.0, 2.0]), Tensor([1.0, 10.0])
    y = dual_level() do level
        dual = make_dual(x, v; level)
        value, tangent = unpack_dual(dual .* dual; level)
        @test Array(value) == [1, 4]
        @test Array(tangent) == [2, 40]
        @test unpack_dual(value)[2] === nothing
        exp.(dual)
    end
    @test_throws Exception unpack_dual(y)
    @test_throws DimensionMismatch dual_level(_ -> make_dual(x, Tensor([1.0])))
end

@testset "test_a18_products_with_the_jacobian" begin
    f(x) = x .* sum(x)
    x = Tensor([1.0, 2.0])
    y, pushed = jvp(f, x, Tensor([1.0, 0.0]))
    @test Array(y) == [3, 6]
    @test Array(pushed) == [4, 2]
    @test Array(vjp(f, x, Tensor([1.0, 0.0]))[2]) == [4, 1]
    @test Array(jacobian(f, x)) == [4 1; 2 5]
    @test Array(jacrev(f, x)) == [4 1; 2 5]
end

@testset "test_a18_rows_of_a_batched_backward" begin
    x = requires_grad!(Tensor([1.0, 2.0]))
    rows = Tensor([1.0 0.0; 0.0 1.0; 1.0 1.0])
    found = grad(x .^ 2, x; gradient=rows, batched=true)
    @test Array(found) == [2 0; 0 4; 2 4]
    @test Array(jacrev(detach, x)) == zeros(2, 2)
    @test_throws Exception grad(x .^ 2, x; gradient=Tensor([1.0, 2.0]), batched=true)
end

@testset "test_a18_levels_nest" begin
    one_ = Tensor([1.0])
    slope(x) = jvp(y -> y .^ 3, x, one_)[2]
    @test Array(jvp(slope, Tensor([2.0]), one_)[2]) == [12]
    @test Array(hessian(x -> sum(x .^ 3), Tensor([1.0, 2.0]))) == [6 0; 0 12]
end

@testset "test_a18_custom_function_has_a_jvp" begin
    cube = differentiable(
        (ctx, x) -> (save!(ctx, x); x .^ 3),
        (ctx, g) -> 3 .* saved(ctx)[1] .^ 2 .* g;
        jvp=(ctx, t) -> 3 .* saved(ctx)[1] .^ 2 .* t, name="Cube")
    @test Array(jvp(cube, Tensor([2.0]), Tensor([1.0]))[2]) == [12]
    none = differentiable((ctx, x) -> 2 .* x, (ctx, g) -> 2 .* g; name="None")
    @test_throws Exception jvp(none, Tensor([2.0]), Tensor([1.0]))
end
