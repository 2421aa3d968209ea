// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Losses and distances with their settings, as structs whose fields they are.

use crate::{Error, ErrorKind, Result, Tensor};
use std::fmt;

/// What a loss makes of the losses of all elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// Leaves them.
    None,
    /// Their mean.
    #[default]
    Mean,
    /// Their sum.
    Sum,
    /// Their sum over the number of rows; [`KlDivLoss`] only.
    BatchMean,
}

impl Reduction {
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Mean => "mean",
            Self::Sum => "sum",
            Self::BatchMean => "batchmean",
        }
    }
}

macro_rules! losses {
    ($($(#[$doc:meta])* $name:ident ($($input:ident),+) {
        $($(#[$field_doc:meta])* $field:ident: $kind:ty = $default:expr,)*
    } |$s:ident| $call:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $kind,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default),* }
            }
        }

        impl $name {
            /// The loss of these tensors.
            pub fn forward(&self, $($input: &Tensor),+) -> Result<Tensor> {
                let $s = self;
                $call
            }
        }
    )*};
}

/// Options with an optional tensor.
macro_rules! given {
    ($options:expr, $field:ident, $value:expr) => {
        match &$value {
            Some(tensor) => $options.$field(tensor),
            None => $options,
        }
    };
}

losses! {
    /// Connectionist temporal classification of log-probabilities (time, batch, classes); targets and
    /// lengths are integers.
    CtcLoss (log_probs, targets, input_lengths, target_lengths) {
        /// The class that stands for no label.
        blank: i64 = 0,
        /// Of the sequences.
        reduction: Reduction = Reduction::Mean,
        /// Whether an infinite loss and its gradient become 0.
        zero_infinity: bool = false,
    } |s| log_probs.ctc_loss_with(targets, input_lengths, target_lengths, |o| {
        o.blank(s.blank).reduction(s.reduction.name()).zero_infinity(s.zero_infinity)
    });

    /// The squared difference.
    MseLoss (input, target) {
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| input.mse_loss_with(target, |o| o.reduction(s.reduction.name()));

    /// The absolute difference.
    L1Loss (input, target) {
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| input.l1_loss_with(target, |o| o.reduction(s.reduction.name()));

    /// Squared up to `beta`, then a line.
    SmoothL1Loss (input, target) {
        /// Where the line begins.
        beta: f64 = 1.0,
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| input.smooth_l1_loss_with(target, |o| o.reduction(s.reduction.name()).beta(s.beta));

    /// Half the square up to `delta`, then a line of the slope `delta`.
    HuberLoss (input, target) {
        /// Where the line begins.
        delta: f64 = 1.0,
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| input.huber_loss_with(target, |o| o.reduction(s.reduction.name()).delta(s.delta));

    /// Cross entropy of logits and class numbers.
    CrossEntropyLoss (input, target) {
        /// A weight for each class.
        weight: Option<Tensor> = None,
        /// The class number that does not count.
        ignore_index: i64 = -100,
        /// The share of every target that goes to all classes.
        label_smoothing: f64 = 0.0,
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| input.cross_entropy_with(target, |o| {
        let o = o.reduction(s.reduction.name()).ignore_index(s.ignore_index);
        given!(o.label_smoothing(s.label_smoothing), weight, s.weight)
    });

    /// Negative log-likelihood of log-probabilities and class numbers.
    NllLoss (input, target) {
        /// A weight for each class.
        weight: Option<Tensor> = None,
        /// The class number that does not count.
        ignore_index: i64 = -100,
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| input.nll_loss_with(target, |o| {
        given!(o.reduction(s.reduction.name()).ignore_index(s.ignore_index), weight, s.weight)
    });

    /// Binary cross entropy of probabilities.
    BceLoss (input, target) {
        /// A weight for each element.
        weight: Option<Tensor> = None,
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| input.binary_cross_entropy_with(target, |o| {
        given!(o.reduction(s.reduction.name()), weight, s.weight)
    });

    /// Binary cross entropy of logits.
    BceWithLogitsLoss (input, target) {
        /// A weight for each element.
        weight: Option<Tensor> = None,
        /// A weight for the positive targets of each class.
        pos_weight: Option<Tensor> = None,
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| input.binary_cross_entropy_with_logits_with(target, |o| {
        let o = given!(o.reduction(s.reduction.name()), weight, s.weight);
        given!(o, pos_weight, s.pos_weight)
    });

    /// The divergence of Kullback and Leibler, of log-probabilities. `Reduction::BatchMean` is that
    /// of the definition.
    KlDivLoss (input, target) {
        /// Whether the targets are logarithms, too.
        log_target: bool = false,
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| input.kl_div_with(target, |o| {
        o.reduction(s.reduction.name()).log_target(s.log_target)
    });

    /// Negative log-likelihood of counts.
    PoissonNllLoss (input, target) {
        /// Whether inputs are logarithms of rates.
        log_input: bool = true,
        /// Whether Stirling's approximation of the constant is added.
        full: bool = false,
        /// Added to rates.
        eps: f64 = 1e-8,
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| input.poisson_nll_loss_with(target, |o| {
        o.reduction(s.reduction.name()).log_input(s.log_input).full(s.full).eps(s.eps)
    });

    /// Negative log-likelihood of normal numbers with these variances.
    GaussianNllLoss (input, target, var) {
        /// Whether the constant is added.
        full: bool = false,
        /// The least variance.
        eps: f64 = 1e-6,
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| input.gaussian_nll_loss_with(target, var, |o| {
        o.reduction(s.reduction.name()).full(s.full).eps(s.eps)
    });

    /// The logistic loss of targets -1 and 1.
    SoftMarginLoss (input, target) {
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| input.soft_margin_loss_with(target, |o| o.reduction(s.reduction.name()));

    /// The input where the target is 1, what is missing to the margin where it is -1.
    HingeEmbeddingLoss (input, target) {
        /// The margin.
        margin: f64 = 1.0,
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| input.hinge_embedding_loss_with(target, |o| {
        o.reduction(s.reduction.name()).margin(s.margin)
    });

    /// Of two inputs and which of them should be the larger: 1 or -1.
    MarginRankingLoss (input1, input2, target) {
        /// The margin.
        margin: f64 = 0.0,
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| input1.margin_ranking_loss_with(input2, target, |o| {
        o.reduction(s.reduction.name()).margin(s.margin)
    });

    /// Of two vectors and whether they should be alike: 1 or -1.
    CosineEmbeddingLoss (input1, input2, target) {
        /// The margin.
        margin: f64 = 0.0,
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| input1.cosine_embedding_loss_with(input2, target, |o| {
        o.reduction(s.reduction.name()).margin(s.margin)
    });

    /// The distance to the positive less that to the negative example.
    TripletMarginLoss (anchor, positive, negative) {
        /// The margin.
        margin: f64 = 1.0,
        /// The order of the norm.
        p: f64 = 2.0,
        /// Added to differences.
        eps: f64 = 1e-6,
        /// Whether the distance of positive and negative counts if it is the smaller.
        swap: bool = false,
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| anchor.triplet_margin_loss_with(positive, negative, |o| {
        o.reduction(s.reduction.name()).margin(s.margin).p(s.p).eps(s.eps).swap(s.swap)
    });

    /// The hinge of every class against the right one.
    MultiMarginLoss (input, target) {
        /// The power.
        p: f64 = 1.0,
        /// The margin.
        margin: f64 = 1.0,
        /// A weight for each class.
        weight: Option<Tensor> = None,
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| input.multi_margin_loss_with(target, |o| {
        given!(o.reduction(s.reduction.name()).p(s.p).margin(s.margin), weight, s.weight)
    });

    /// The hinge of every class against each of the right ones.
    MultiLabelMarginLoss (input, target) {
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| input.multilabel_margin_loss_with(target, |o| o.reduction(s.reduction.name()));

    /// The mean over the classes of binary cross entropies of logits.
    MultiLabelSoftMarginLoss (input, target) {
        /// A weight for each class.
        weight: Option<Tensor> = None,
        /// Of the elements.
        reduction: Reduction = Reduction::Mean,
    } |s| input.multilabel_soft_margin_loss_with(target, |o| {
        given!(o.reduction(s.reduction.name()), weight, s.weight)
    });

    /// The cosine of two vectors along an axis.
    CosineSimilarity (input1, input2) {
        /// The axis.
        axis: i64 = 1,
        /// The least product of the norms.
        eps: f64 = 1e-8,
    } |s| input1.cosine_similarity_with(input2, |o| o.axis(s.axis).eps(s.eps));

    /// The norm of the difference along the last axis.
    PairwiseDistance (input1, input2) {
        /// The order of the norm.
        p: f64 = 2.0,
        /// Added to differences.
        eps: f64 = 1e-6,
        /// Whether the axis stays.
        keepdims: bool = false,
    } |s| input1.pairwise_distance_with(input2, |o| o.p(s.p).eps(s.eps).keepdims(s.keepdims));
}

type Distance = dyn Fn(&Tensor, &Tensor) -> Result<Tensor> + Send + Sync;

/// [`TripletMarginLoss`] with a distance of your own, by default [`Tensor::pairwise_distance`].
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{nn::TripletMarginWithDistanceLoss, Tensor};
/// let city = |a: &Tensor, b: &Tensor| (a - b).abs()?.sum_with(|o| o.axes(&[-1]));
/// let mut loss = TripletMarginWithDistanceLoss::new(city);
/// loss.margin = 2.0;
/// let (near, far) = (Tensor::from([[1.0]]), Tensor::from([[4.0]]));
/// assert_eq!(loss.forward(&near, &near, &far)?.item::<f64>()?, 0.0);
/// # Ok(())
/// # }
/// ```
pub struct TripletMarginWithDistanceLoss {
    distance: Box<Distance>,
    /// How much nearer the positive example should be.
    pub margin: f64,
    /// Whether the distance of positive and negative counts if it is the smaller.
    pub swap: bool,
    /// Of the elements.
    pub reduction: Reduction,
}

impl TripletMarginWithDistanceLoss {
    /// With a distance, which gives one number for each row.
    pub fn new(
        distance: impl Fn(&Tensor, &Tensor) -> Result<Tensor> + Send + Sync + 'static,
    ) -> Self {
        let (margin, swap, reduction) = (1.0, false, Reduction::Mean);
        Self { distance: Box::new(distance), margin, swap, reduction }
    }

    /// The loss of these tensors.
    pub fn forward(&self, anchor: &Tensor, positive: &Tensor, negative: &Tensor) -> Result<Tensor> {
        let distance = &self.distance;
        let mut far = distance(anchor, negative)?;
        if self.swap {
            far = far.minimum(&distance(positive, negative)?)?;
        }
        let apart = distance(anchor, positive)?.subtract(&far)?;
        let loss = apart.add(self.margin)?.clip_with(|o| o.min(0))?;
        match self.reduction {
            Reduction::None => Ok(loss),
            Reduction::Sum => loss.sum(),
            Reduction::Mean => loss.mean(),
            Reduction::BatchMean => {
                let text = "TripletMarginWithDistanceLoss: reduction: expected none, mean or sum";
                Err(Error::refused(ErrorKind::Value, format!("{text}, got batchmean")))
            }
        }
    }
}

impl Default for TripletMarginWithDistanceLoss {
    fn default() -> Self {
        Self::new(Tensor::pairwise_distance)
    }
}

impl fmt::Debug for TripletMarginWithDistanceLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("TripletMarginWithDistanceLoss");
        out.field("margin", &self.margin).field("swap", &self.swap).finish_non_exhaustive()
    }
}
