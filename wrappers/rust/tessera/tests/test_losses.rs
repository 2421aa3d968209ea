// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Losses, distances, trained activations and initial values: each gives what its function gives.

use tessera::nn::{
    init, BceLoss, BceWithLogitsLoss, CosineEmbeddingLoss, CosineSimilarity, CrossEntropyLoss,
    CtcLoss, GaussianNllLoss, HingeEmbeddingLoss, HuberLoss, KlDivLoss, L1Loss, MarginRankingLoss,
    Module, MseLoss, MultiLabelMarginLoss, MultiLabelSoftMarginLoss, MultiMarginLoss, NllLoss,
    PairwiseDistance, PoissonNllLoss, Prelu, Reduction, SmoothL1Loss, SoftMarginLoss, Threshold,
    TripletMarginLoss,
};
use tessera::{DType, Result, Tensor};

fn input() -> Tensor {
    Tensor::from([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]])
}
fn other() -> Tensor {
    Tensor::from([[1.0, -0.5, 0.75], [0.5, -0.25, 1.0]])
}
fn share() -> Tensor {
    Tensor::from([[0.25, 0.5, 0.75], [0.5, 0.125, 0.875]])
}
fn same(found: Result<Tensor>, wanted: Result<Tensor>) -> Result<()> {
    assert_eq!(found?.to_vec::<f64>()?, wanted?.to_vec::<f64>()?);
    Ok(())
}

#[test]
fn losses_are_their_functions() -> Result<()> {
    let (x, y, p) = (input(), other(), share());
    let (signs, labels) = (y.sign()?, Tensor::from([2i64, 0]));
    let several = Tensor::from([[2i64, -1, 0], [1, 0, -1]]);
    let weight = Tensor::from([1.0, 2.0, 3.0]);
    let some = || Some(weight.clone());
    let sum = Reduction::Sum;
    same(MseLoss { reduction: sum }.forward(&x, &y), x.mse_loss_with(&y, |o| o.reduction("sum")))?;
    same(
        L1Loss { reduction: Reduction::None }.forward(&x, &y),
        x.l1_loss_with(&y, |o| o.reduction("none")),
    )?;
    let smooth = SmoothL1Loss { beta: 0.5, ..Default::default() };
    same(smooth.forward(&x, &y), x.smooth_l1_loss_with(&y, |o| o.beta(0.5)))?;
    let huber = HuberLoss { delta: 0.5, ..Default::default() };
    same(huber.forward(&x, &y), x.huber_loss_with(&y, |o| o.delta(0.5)))?;
    let cross = CrossEntropyLoss { weight: some(), label_smoothing: 0.1, ..Default::default() };
    same(
        cross.forward(&x, &labels),
        x.cross_entropy_with(&labels, |o| o.weight(&weight).label_smoothing(0.1)),
    )?;
    let nll = NllLoss { weight: some(), ignore_index: 2, ..Default::default() };
    same(
        nll.forward(&x, &labels),
        x.nll_loss_with(&labels, |o| o.weight(&weight).ignore_index(2)),
    )?;
    let bce = BceLoss { weight: some(), ..Default::default() };
    same(bce.forward(&p, &p), p.binary_cross_entropy_with(&p, |o| o.weight(&weight)))?;
    let logits = BceWithLogitsLoss { pos_weight: some(), ..Default::default() };
    same(
        logits.forward(&x, &p),
        x.binary_cross_entropy_with_logits_with(&p, |o| o.pos_weight(&weight)),
    )?;
    let kl = KlDivLoss { reduction: Reduction::BatchMean, log_target: true };
    same(kl.forward(&x, &y), x.kl_div_with(&y, |o| o.reduction("batchmean").log_target(true)))?;
    let poisson = PoissonNllLoss { log_input: false, full: true, ..Default::default() };
    same(poisson.forward(&p, &p), p.poisson_nll_loss_with(&p, |o| o.log_input(false).full(true)))?;
    same(SoftMarginLoss::default().forward(&x, &signs), x.soft_margin_loss(&signs))?;
    let hinge = HingeEmbeddingLoss { margin: 2.0, ..Default::default() };
    same(hinge.forward(&x, &signs), x.hinge_embedding_loss_with(&signs, |o| o.margin(2.0)))?;
    let multi = MultiMarginLoss { p: 2.0, margin: 0.5, weight: some(), ..Default::default() };
    same(
        multi.forward(&x, &labels),
        x.multi_margin_loss_with(&labels, |o| o.p(2.0).margin(0.5).weight(&weight)),
    )?;
    same(
        MultiLabelMarginLoss::default().forward(&x, &several),
        x.multilabel_margin_loss(&several),
    )?;
    same(MultiLabelSoftMarginLoss::default().forward(&x, &p), x.multilabel_soft_margin_loss(&p))
}

#[test]
fn losses_of_three_inputs_and_distances_are_their_functions() -> Result<()> {
    let (x, y, p) = (input(), other(), share());
    let gaussian = GaussianNllLoss { full: true, ..Default::default() };
    same(gaussian.forward(&x, &y, &p), x.gaussian_nll_loss_with(&y, &p, |o| o.full(true)))?;
    let ranking = MarginRankingLoss { margin: 0.25, ..Default::default() };
    let signs = y.sign()?;
    same(
        ranking.forward(&x, &y, &signs),
        x.margin_ranking_loss_with(&y, &signs, |o| o.margin(0.25)),
    )?;
    let cosine = CosineEmbeddingLoss { margin: 0.25, ..Default::default() };
    let alike = Tensor::from([1.0, -1.0]);
    same(
        cosine.forward(&x, &y, &alike),
        x.cosine_embedding_loss_with(&y, &alike, |o| o.margin(0.25)),
    )?;
    let triplet = TripletMarginLoss { p: 1.0, swap: true, ..Default::default() };
    same(triplet.forward(&x, &y, &p), x.triplet_margin_loss_with(&y, &p, |o| o.p(1.0).swap(true)))?;
    same(CosineSimilarity::default().forward(&x, &y), x.cosine_similarity(&y))?;
    let distance = PairwiseDistance { p: 1.0, keepdims: true, ..Default::default() };
    same(distance.forward(&x, &y), x.pairwise_distance_with(&y, |o| o.p(1.0).keepdims(true)))
}

#[test]
fn slopes_are_trained() -> Result<()> {
    let x = Tensor::from([[0.5f32, -1.0, 2.0], [1.5, 0.25, -0.5]]);
    let prelu = Prelu::with(3, 0.5)?;
    let y = prelu.forward(&x)?;
    assert_eq!(y.detach()?.to_vec::<f32>()?, [0.5, -0.5, 2.0, 1.5, 0.25, -0.25]);
    y.sum()?.backward()?;
    let names: Vec<_> = prelu.named_parameters().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["weight"]);
    assert_eq!(prelu.parameters()[0].grad()?.unwrap().to_vec::<f32>()?, [0.0, -1.0, -0.5]);
    same(Threshold(0.3, 7.0).forward(&input()), input().threshold(0.3, 7.0))
}

#[test]
fn ctc_loss_is_its_function() -> Result<()> {
    let log_probs = Tensor::ones(&[3, 2, 4])?.log_softmax()?;
    let (targets, inputs) = (Tensor::from([[1i64, 2], [3, 3]]), Tensor::from([3i64, 2]));
    let lengths = Tensor::from([2i64, 2]);
    let plain = CtcLoss::default().forward(&log_probs, &targets, &inputs, &lengths)?;
    assert!(plain.item::<f32>()?.is_infinite(), "two equal labels need three steps");
    let given = CtcLoss { blank: 0, reduction: Reduction::None, zero_infinity: true };
    same(
        given.forward(&log_probs, &targets, &inputs, &lengths)?.astype(DType::F64),
        log_probs
            .ctc_loss_with(&targets, &inputs, &lengths, |o| {
                o.reduction("none").zero_infinity(true)
            })?
            .astype(DType::F64),
    )
}

#[test]
fn initial_values_have_their_form() -> Result<()> {
    let weight = Tensor::empty(&[3, 5])?.requiring_grad()?;
    init::orthogonal_(&weight, 2.0)?;
    let rows = weight.detach()?;
    let gram = rows.matmul(&rows.matrix_transpose()?)?.to_vec::<f32>()?;
    for (i, &number) in gram.iter().enumerate() {
        assert!((number - if i % 4 == 0 { 4.0 } else { 0.0 }).abs() < 1e-5);
    }
    let square = Tensor::empty(&[4, 6])?;
    init::sparse_(&square, 0.5, 1.0)?;
    assert_eq!(square.to_vec::<f32>()?.iter().filter(|&&x| x != 0.0).count(), 12);
    init::eye_(&square)?;
    assert_eq!(square.to_vec::<f32>()?.iter().sum::<f32>(), 4.0);
    let kernel = Tensor::empty(&[4, 2, 3])?;
    init::dirac_(&kernel, 2)?;
    assert_eq!(kernel.to_vec::<f32>()?.iter().sum::<f32>(), 4.0);
    init::trunc_normal_(&square, 0.0, 1.0, -0.5, 0.5)?;
    assert!(square.to_vec::<f32>()?.iter().all(|x| x.abs() <= 0.5));
    init::zeros_(&square)?;
    init::ones_(&kernel)?;
    assert!(square.to_vec::<f32>()?.iter().all(|&x| x == 0.0));
    assert!(kernel.to_vec::<f32>()?.iter().all(|&x| x == 1.0));
    assert_eq!(init::Nonlinearity::Selu.gain(), 0.75);
    Ok(())
}
