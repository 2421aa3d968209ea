# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Losses, distances, activations with settings, and initial values: each gives what its function gives.

@testset "test_losses_are_their_functions" begin
    x, y = Tensor([0.5 -1.0 2.0; 1.5 0.25 -0.5]), Tensor([1.0 -0.5 0.75; 0.5 -0.25 1.0])
    p, signs, weight = Tensor([0.25 0.5 0.75; 0.5 0.125 0.875]), Tensor([1.0, -1.0]), Tensor([1.0, 2.0, 3.0])
    labels, several = Tensor([2, 0]), Tensor([2 -1 0; 1 0 -1])
    same(a, b) = Array(a) == Array(b)
    @test same(MSELoss(reduction="sum")(x, y), Tessera.mse_loss(x, y; reduction="sum"))
    @test same(L1Loss(reduction="none")(x, y), Tessera.l1_loss(x, y; reduction="none"))
    @test same(SmoothL1Loss(beta=0.5)(x, y), Tessera.smooth_l1_loss(x, y; beta=0.5))
    @test same(HuberLoss(delta=0.5)(x, y), Tessera.huber_loss(x, y; delta=0.5))
    @test same(KLDivLoss(reduction="batchmean", log_target=true)(x, y),
        Tessera.kl_div(x, y; reduction="batchmean", log_target=true))
    @test same(CrossEntropyLoss(; weight, label_smoothing=0.1)(x, labels),
        Tessera.cross_entropy(x, labels; weight, label_smoothing=0.1))
    @test same(NLLLoss(; weight, ignore_index=2)(x, labels), Tessera.nll_loss(x, labels; weight, ignore_index=2))
    @test same(BCELoss(; weight)(p, p), Tessera.binary_cross_entropy(p, p; weight))
    @test same(BCEWithLogitsLoss(; pos_weight=weight)(x, p),
        Tessera.binary_cross_entropy_with_logits(x, p; pos_weight=weight))
    @test same(PoissonNLLLoss(log_input=false, full=true)(p, p),
        Tessera.poisson_nll_loss(p, p; log_input=false, full=true))
    @test same(GaussianNLLLoss(full=true)(x, y, p), Tessera.gaussian_nll_loss(x, y, p; full=true))
    @test same(SoftMarginLoss()(x, sign.(y)), Tessera.soft_margin_loss(x, sign.(y)))
    @test same(HingeEmbeddingLoss(margin=2.0)(x, sign.(y)), Tessera.hinge_embedding_loss(x, sign.(y); margin=2.0))
    @test same(MarginRankingLoss(margin=0.25)(x, y, sign.(y)),
        Tessera.margin_ranking_loss(x, y, sign.(y); margin=0.25))
    @test same(CosineEmbeddingLoss(margin=0.25)(x, y, signs),
        Tessera.cosine_embedding_loss(x, y, signs; margin=0.25))
    @test same(TripletMarginLoss(p=1.0, swap=true)(x, y, p), Tessera.triplet_margin_loss(x, y, p; p=1.0, swap=true))
    @test same(MultiMarginLoss(; p=2.0, margin=0.5, weight)(x, labels),
        Tessera.multi_margin_loss(x, labels; p=2.0, margin=0.5, weight))
    @test same(MultiLabelMarginLoss()(x, several), Tessera.multilabel_margin_loss(x, several))
    @test same(MultiLabelSoftMarginLoss(; weight)(x, p), Tessera.multilabel_soft_margin_loss(x, p; weight))
    @test same(CosineSimilarity()(x, y), Tessera.cosine_similarity(x, y))
    @test same(PairwiseDistance(p=1.0, keepdims=true)(x, y), Tessera.pairwise_distance(x, y; p=1.0, keepdims=true))
    @test_throws MethodError MSELoss()(x)
    log_probs = log_softmax(Tessera.ones(Float32, 3, 2, 4); dims=3)
    lengths = (Tensor([1 2; 3 3]), Tensor([3, 2]), Tensor([2, 2]))
    @test item(CTCLoss()(log_probs, lengths...)) == Inf  # two equal labels need three steps
    @test same(CTCLoss(reduction="none", zero_infinity=true)(log_probs, lengths...),
        Tessera.ctc_loss(log_probs, lengths...; reduction="none", zero_infinity=true))
    loss = CrossEntropyLoss(; weight)
    @test isempty(params(loss)) && haskey(state_dict(loss), "weight")
end

@testset "test_activations_with_settings_are_their_functions" begin
    x = Tensor([0.5 -1.0 2.0; 1.5 0.25 -0.5])
    for (layer, wanted) in (
            (LeakyReLU(negative_slope=0.5), Tessera.leaky_relu(x; negative_slope=0.5)), (ELU(alpha=2.0), Tessera.elu(x; alpha=2.0)),
            (CELU(alpha=2.0), Tessera.celu(x; alpha=2.0)), (Hardtanh(max_val=0.25), Tessera.hardtanh(x; max_val=0.25)),
            (Softplus(beta=2.0), Tessera.softplus(x; beta=2.0)), (Softshrink(lambd=0.25), Tessera.softshrink(x; lambd=0.25)),
            (Hardshrink(lambd=0.25), Tessera.hardshrink(x; lambd=0.25)))
        @test Array(layer(x)) == Array(wanted)
    end
    layer = PReLU(3; init=0.5, dtype=Float64)
    backward!(sum(layer(x)))
    @test Array(detach(layer(x))) == Array(Tessera.leaky_relu(x; negative_slope=0.5))
    @test size(grad(layer.weight)) == (3,) && first.(named_params(layer)) == ["weight"]
end

@testset "test_initial_values_have_their_form" begin
    weight = no_grad(() -> Tessera.orthogonal!(Tensor(zeros(3, 5)); gain=2.0))
    @test Array(weight) * Array(weight)' ≈ 4 * [i == j for i in 1:3, j in 1:3]
    square = Tensor(zeros(4, 6))
    Tessera.sparse!(square, 0.5)
    @test all(==(2), count(!=(0), Array(square); dims=1))
    @test Array(Tessera.eye!(square)) == [i == j for i in 1:4, j in 1:6]
    @test sum(Array(Tessera.dirac!(Tensor(zeros(4, 2, 3)); groups=2))) == 4
    large = Tensor(zeros(200, 100))
    for (fill!, bound) in ((Tessera.xavier_uniform!, sqrt(6 / 300)), (Tessera.kaiming_uniform!, sqrt(6 / 100)))
        numbers = Array(fill!(large))
        @test maximum(abs, numbers) <= bound && maximum(abs, numbers) > 0.99 * bound
    end
    Tessera.kaiming_normal!(large; mode=:fan_out, nonlinearity=:relu)
    @test isapprox(sqrt(sum(abs2, Array(large)) / 20000), sqrt(2 / 200); rtol=0.03)
    Tessera.xavier_normal!(large; gain=2.0)
    @test isapprox(sqrt(sum(abs2, Array(large)) / 20000), 2 * sqrt(2 / 300); rtol=0.03)
    @test Tessera.calculate_gain(:selu) == 0.75 && Tessera.calculate_gain(:leaky_relu; slope=1) == 1
    @test_throws ArgumentError Tessera.calculate_gain(:soft)
    @test_throws ArgumentError Tessera.xavier_normal!(Tensor(zeros(3)))
    @test_throws ArgumentError Tessera.kaiming_normal!(large; mode=:fan)
end

@testset "test_norms_without_dims_keep_no_axes" begin
    x = Tensor([3.0 0; 0 4])
    @test size(Tessera.matrix_norm(x)) == ()
    @test item(Tessera.matrix_norm(x)) == 5
    @test Array(Tessera.pairwise_distance(x, Tensor([0.0 0; 0 0]); eps=0)) == [3, 4]
end
