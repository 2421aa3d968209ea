# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Layers of attention, bags of embeddings and bilinear forms, against Julia's own arithmetic.

weights_of(scores) = (e = exp.(scores .- maximum(scores; dims=2)); e ./ sum(e; dims=2))
array(t) = Array(detach(t))

@testset "test_heads_attend_each_for_itself" begin
    layer = MultiheadAttention(4, 2; dtype=Float64)
    uniform!(layer.in_proj_bias |> detach; low=-1, high=1)
    x = randn(3, 4)
    projected = x * array(layer.in_proj_weight)' .+ array(layer.in_proj_bias)'
    heads = map(0:1) do h
        q, k, v = (projected[:, 4p+2h+1:4p+2h+2] for p in 0:2)
        weights_of(q * k' ./ sqrt(2)) * v
    end
    expected = hcat(heads...) * array(layer.out_proj.weight)' .+ array(layer.out_proj.bias)'
    t = Tensor(x)
    @test array(layer(t)) ≈ expected
    output, weights = layer(t, t, t)
    @test array(output) ≈ expected && size(weights) == (3, 3)
    @test layer(t, t, t; need_weights=false)[2] === nothing
    later = array(layer(t, t, t; is_causal=true)[2])
    @test all(later[i, j] == 0 for i in 1:3 for j in i+1:3)
    hidden = Tensor([false, true, false])
    @test all(iszero, array(layer(t, t, t; key_padding_mask=hidden)[2])[:, 2])
end

@testset "test_parameters_have_pytorchs_names" begin
    @test first.(Tessera.named_params(MultiheadAttention(6, 2))) ==
        ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
    apart = MultiheadAttention(6, 2; kdim=3, bias=false, add_bias_kv=true)
    @test first.(Tessera.named_params(apart)) == ["q_proj_weight", "k_proj_weight", "v_proj_weight",
        "bias_k", "bias_v", "out_proj.weight"]
    @test size(apart.k_proj_weight) == (6, 3) && size(apart.bias_k) == (1, 1, 6)
    @test_throws ArgumentError MultiheadAttention(6, 4)
    @test_throws ArgumentError MultiheadAttention(6, 2; dropout=2)
end

@testset "test_an_encoder_layer_adds_and_normalises" begin
    layer = TransformerEncoderLayer(4, 2; dim_feedforward=5, norm_first=true, batch_first=true)
    @test length(params(layer)) == 12
    x = Tessera.randn(Float32, 2, 3, 4)
    @test Array(layer(x)) != Array(layer(x))
    evaluate!(layer)
    middle = x .+ layer.self_attn(layer.norm1(x))
    expected = middle .+ layer.linear2(relu(layer.linear1(layer.norm2(middle))))
    @test array(layer(x)) ≈ array(expected)
    hidden = triu(Tessera.ones(Bool, 3, 3); diagonal=1)
    @test array(layer(x; src_mask=hidden)) ≈ array(layer(x; is_causal=true)) rtol = 1e-5
    backward!(sum(layer(x)))
    @test all(p -> grad(p) !== nothing, params(layer))
end

@testset "test_a_decoder_layer_looks_at_the_memory" begin
    layer = TransformerDecoderLayer(4, 2; dim_feedforward=5, norm_first=true, batch_first=true)
    @test length(params(layer)) == 18
    @test first.(named_params(layer))[5] == "multihead_attn.in_proj_weight"
    x, memory = Tessera.randn(Float32, 2, 3, 4), Tessera.randn(Float32, 2, 5, 4)
    @test Array(layer(x, memory)) != Array(layer(x, memory))
    evaluate!(layer)
    one_ = x .+ layer.self_attn(layer.norm1(x))
    two = one_ .+ first(layer.multihead_attn(layer.norm2(one_), memory, memory))
    expected = two .+ layer.linear2(relu(layer.linear1(layer.norm3(two))))
    @test array(layer(x, memory)) ≈ array(expected)
    hidden = triu(Tessera.ones(Bool, 3, 3); diagonal=1)
    @test array(layer(x, memory; tgt_mask=hidden)) ≈ array(layer(x, memory; tgt_is_causal=true)) rtol = 1e-5
    backward!(sum(layer(x, memory)))
    @test all(p -> grad(p) !== nothing, params(layer))
end

@testset "test_encoder_and_decoder_are_layers_one_after_the_other" begin
    options = (dim_feedforward=5, dropout=0, batch_first=true)
    encoder = TransformerEncoder([TransformerEncoderLayer(4, 2; options...) for _ in 1:2]...; norm=LayerNorm(4))
    decoder = TransformerDecoder([TransformerDecoderLayer(4, 2; options...) for _ in 1:2]...)
    @test (length(params(encoder)), length(params(decoder))) == (26, 36)
    @test first.(named_params(encoder))[25] == "norm.weight"
    @test first.(named_params(decoder))[19] == "layers.1.self_attn.in_proj_weight"
    x = Tessera.randn(Float32, 2, 3, 4)
    memory = encoder(x; is_causal=true)
    a, b = encoder.layers.layers
    @test array(memory) ≈ array(encoder.norm(b(a(x; is_causal=true); is_causal=true)))
    a, b = decoder.layers.layers
    @test array(decoder(x, memory)) ≈ array(b(a(x, memory), memory))
end

@testset "test_bags_join_rows" begin
    bag = EmbeddingBag(4 => 2; mode="sum", padding_idx=4)
    table = array(bag.weight)
    @test table[4, :] == [0, 0]
    found = array(bag(Tensor([0, 1, 3, 2]); offsets=Tensor([0, 3])))
    @test found[1, :] ≈ table[1, :] .+ table[2, :] && found[2, :] ≈ table[3, :]
    @test array(EmbeddingBag(3 => 2)(Tensor([0 0; 1 1]))) isa Matrix
    @test_throws ArgumentError EmbeddingBag(4 => 2; mode="product")
    @test_throws ArgumentError EmbeddingBag(4 => 2; padding_idx=0)
end

@testset "test_bilinear_forms_are_products_with_every_matrix" begin
    form = Bilinear((3, 2) => 4; dtype=Float64)
    x, y = randn(5, 3), randn(5, 2)
    expected = [x[n, :]' * array(form.weight)[o, :, :] * y[n, :] + array(form.bias)[o] for n in 1:5, o in 1:4]
    @test array(form(Tensor(x), Tensor(y))) ≈ expected
    @test size(Bilinear((3, 2) => 1; bias=false, dtype=Float64)(Tensor(x), Tensor(y))) == (5, 1)
    @test_throws ArgumentError Bilinear((0, 2) => 1)
end
