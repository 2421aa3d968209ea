# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Recurrent layers and cells: values by hand, agreement of networks and cells, packed batches, names.

@testset "test_plain_network_sums_its_inputs" begin
    layer = RNN(1 => 1; nonlinearity=:relu, bias=false)
    no_grad(() -> foreach(w -> fill!(detach(w), 1), layer.weights))
    output, h = layer(Tessera.ones(Float32, 3, 1, 1))
    @test vec(Array(output)) == [1, 2, 3]
    @test Array(h) == reshape(Float32[3], 1, 1, 1)
end

# A network of one layer is its cell, step by step.
function agrees_with_cell(layer, cell, first_of)
    x = Tessera.rand(Float32, 4, 2, 3)
    output, last_state = layer(x)
    state = nothing
    for t in 1:4
        step = Tensor(Array(x)[t, :, :])
        state = state === nothing ? cell(step) : cell(step, state)
        Array(output)[t, :, :] ≈ Array(first_of(state)) || return false
    end
    return Array(first_of(last_state))[1, :, :] ≈ Array(output)[4, :, :]
end
cell_of(kind, layer) = kind(layer.weights...)

@testset "test_networks_agree_with_their_cells" begin
    gru, lstm, rnn = GRU(3 => 5), LSTM(3 => 5), RNN(3 => 5)
    @test agrees_with_cell(gru, cell_of(GRUCell, gru), identity)
    @test agrees_with_cell(lstm, cell_of(LSTMCell, lstm), first)
    @test agrees_with_cell(rnn, RNNCell(rnn.weights..., :tanh), identity)
    @test size(GRUCell(3 => 4; bias=false)(Tessera.ones(Float32, 3))) == (4,)
end

@testset "test_layers_directions_and_projections_have_names_and_shapes" begin
    layer = LSTM(3 => 4; num_layers=2, bidirectional=true, batch_first=true, proj_size=2)
    names = first.(Tessera.named_params(layer))
    @test length(names) == 20 && length(params(layer)) == 20
    @test names[[1, 5, 6]] == ["weight_ih_l0", "weight_hr_l0", "weight_ih_l0_reverse"]
    output, (h, c) = layer(Tessera.ones(Float32, 5, 7, 3))
    @test (size(output), size(h), size(c)) == ((5, 7, 4), (4, 5, 2), (4, 5, 4))
    backward!(sum(output))
    @test all(w -> grad(w) !== nothing, params(layer)[1:5])
    other = LSTM(3 => 4; num_layers=2, bidirectional=true, batch_first=true, proj_size=2)
    load_state_dict!(other, state_dict(layer))
    @test Array(other(Tessera.ones(Float32, 5, 7, 3))[1]) == Array(output)
    evaluate!(layer)
    @test !layer.mode.training
end

@testset "test_packed_batch_gives_what_each_sequence_gives_alone" begin
    layer = GRU(1 => 3)
    column(numbers) = Tensor(reshape(Float32.(numbers), :, 1))
    _, both = layer(column([1, 4, 2, 3]); batch_sizes=[2, 1, 1])  # the sequences 1 2 3 and 4
    @test Array(both)[1, 1, :] ≈ Array(layer(column([1, 2, 3]))[2])[1, :]
    @test Array(both)[1, 2, :] ≈ Array(layer(column([4]))[2])[1, :]
end

@testset "test_wrong_options_throw" begin
    @test_throws ArgumentError RNN(3 => 4; nonlinearity=:sigmoid)
    @test_throws ArgumentError LSTM(3 => 2; proj_size=2)
    @test_throws ArgumentError GRU(3 => 4; proj_size=2)
    @test_throws ArgumentError GRU(3 => 0)
    @test_throws ArgumentError LSTM(3 => 4; dropout=2)
end

@testset "test_ctc_loss_sums_over_paths" begin
    x = Tensor(fill(Float32(log(0.5)), 2, 1, 2))
    loss = Tessera.ctc_loss(x, Tensor([1]), Tensor([2]), Tensor([1]))
    @test item(loss) ≈ -log(0.75) rtol=1e-5
end
