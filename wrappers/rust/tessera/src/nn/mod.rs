// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Neural networks: layers that know their parameters by name.
//!
//! Losses and activations are methods of [`Tensor`](crate::Tensor), such as
//! [`cross_entropy`](crate::Tensor::cross_entropy) and [`relu`](crate::Tensor::relu); with their
//! settings they are structs, such as [`CrossEntropyLoss`] and [`LeakyRelu`].
//!
//! ```
//! # fn main() -> tessera::Result<()> {
//! use tessera::nn::{sequential, Linear, Module, Relu};
//! use tessera::Tensor;
//! let model = sequential![Linear::new(3, 16)?, Relu, Linear::new(16, 1)?];
//! let y = model.forward(&Tensor::ones(&[8, 3])?)?;
//! assert_eq!(y.shape(), [8, 1]);
//! let names: Vec<_> = model.named_parameters().into_iter().map(|(name, _)| name).collect();
//! assert_eq!(names, ["0.weight", "0.bias", "2.weight", "2.bias"]);
//! # Ok(())
//! # }
//! ```

/// Setters of options, for structs whose fields they are.
macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident: $kind:ty;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $field(mut self, $field: $kind) -> Self {
            self.$field = $field;
            self
        }
    )*};
}

/// The same for options of one number per axis, which take one number for all axes, too.
macro_rules! axis_setters {
    ($axes:literal; $($(#[$doc:meta])* $field:ident;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $field(mut self, $field: impl PerAxis<$axes>) -> Self {
            self.$field = $field.per_axis();
            self
        }
    )*};
}

mod activations;
mod adaptive;
mod attention;
mod bags;
mod conv;
#[allow(unsafe_code)]
mod convert;
mod dropouts;
mod fractional;
mod image;
pub mod init;
mod layers;
mod losses;
mod macros;
mod module;
mod norm;
mod padding;
mod per_axis;
mod pooling;
mod prelu;
mod recurrent;
mod summary;
mod transformer;

pub use activations::{
    Celu, Elu, Flatten, Func, Gelu, Glu, Hardshrink, Hardsigmoid, Hardswish, Hardtanh, Identity,
    LeakyRelu, LogSigmoid, LogSoftmax, Mish, Relu, Relu6, Selu, Sigmoid, Silu, Softmax, Softmin,
    Softplus, Softshrink, Softsign, Tanh, Tanhshrink, Threshold, Unflatten,
};
pub use adaptive::{AdaptiveLogSoftmaxResult, AdaptiveLogSoftmaxWithLoss};
pub use attention::{
    Activation, AttentionCall, MultiheadAttention, MultiheadAttentionConfig,
    TransformerEncoderLayer, TransformerEncoderLayerConfig,
};
pub use bags::{BagMode, Bilinear, EmbeddingBag, EmbeddingBagConfig};
pub use conv::{
    Conv1d, Conv1dConfig, Conv2d, Conv2dConfig, Conv3d, Conv3dConfig, ConvTranspose1d,
    ConvTranspose1dConfig, ConvTranspose2d, ConvTranspose2dConfig, ConvTranspose3d,
    ConvTranspose3dConfig, PaddingMode,
};
pub use convert::convert;
pub use dropouts::{AlphaDropout, Dropout, Dropout1d, Dropout2d, Dropout3d, FeatureAlphaDropout};
pub use fractional::{FractionalMaxPool2d, FractionalMaxPool3d, OutputSize};
pub use image::{ChannelShuffle, Fold, PixelShuffle, PixelUnshuffle, Unfold, Upsample};
pub use layers::{Embedding, Linear, Sequential};
pub use losses::{
    BceLoss, BceWithLogitsLoss, CosineEmbeddingLoss, CosineSimilarity, CrossEntropyLoss, CtcLoss,
    GaussianNllLoss, HingeEmbeddingLoss, HuberLoss, KlDivLoss, L1Loss, MarginRankingLoss, MseLoss,
    MultiLabelMarginLoss, MultiLabelSoftMarginLoss, MultiMarginLoss, NllLoss, PairwiseDistance,
    PoissonNllLoss, Reduction, SmoothL1Loss, SoftMarginLoss, TripletMarginLoss,
    TripletMarginWithDistanceLoss,
};
pub use macros::{model, sequential};
pub use module::{parts, Module, Part, StateDictKeys, Training, Visitor};
pub use norm::{
    BatchNorm1d, BatchNorm1dConfig, BatchNorm2d, BatchNorm2dConfig, BatchNorm3d, BatchNorm3dConfig,
    GroupNorm, InstanceNorm1d, InstanceNorm1dConfig, InstanceNorm2d, InstanceNorm2dConfig,
    InstanceNorm3d, InstanceNorm3dConfig, LayerNorm, LocalResponseNorm, RmsNorm, SyncBatchNorm,
};
pub use padding::{
    CircularPad1d, CircularPad2d, CircularPad3d, ConstantPad1d, ConstantPad2d, ConstantPad3d,
    ReflectionPad1d, ReflectionPad2d, ReflectionPad3d, ReplicationPad1d, ReplicationPad2d,
    ReplicationPad3d, ZeroPad1d, ZeroPad2d, ZeroPad3d,
};
pub use per_axis::PerAxis;
pub use pooling::{
    AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AdaptiveMaxPool1d, AdaptiveMaxPool2d,
    AdaptiveMaxPool3d, AvgPool1d, AvgPool2d, AvgPool3d, LpPool1d, LpPool2d, LpPool3d, MaxPool1d,
    MaxPool2d, MaxPool3d, MaxUnpool1d, MaxUnpool2d, MaxUnpool3d,
};
pub use prelu::Prelu;
pub use recurrent::{Gru, GruCell, Lstm, LstmCell, RecurrentConfig, Rnn, RnnCell};
pub use summary::{summary, summary_of_call};
pub use transformer::{
    DecoderCall, TransformerDecoder, TransformerDecoderLayer, TransformerDecoderLayerConfig,
    TransformerEncoder,
};
