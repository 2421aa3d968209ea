// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Multi-head attention and the encoder layer of a Transformer. Initial values and names are
//! PyTorch's.

use super::module::described;
use super::{init, Dropout, LayerNorm, Linear, Module, Training, Visitor};
use crate::{Error, ErrorKind, Result, Tensor};

/// Options of [`MultiheadAttention`].
#[derive(Clone, Copy, Debug)]
pub struct MultiheadAttentionConfig {
    dropout: f64,
    bias: bool,
    add_bias_kv: bool,
    add_zero_attn: bool,
    kdim: Option<i64>,
    vdim: Option<i64>,
    batch_first: bool,
}

impl Default for MultiheadAttentionConfig {
    fn default() -> Self {
        Self {
            dropout: 0.0,
            bias: true,
            add_bias_kv: false,
            add_zero_attn: false,
            kdim: None,
            vdim: None,
            batch_first: false,
        }
    }
}

impl MultiheadAttentionConfig {
    setters! {
        /// The probability with which a weight becomes 0 in training; default 0.
        dropout: f64;
        /// Whether the projections have biases; default yes.
        bias: bool;
        /// Whether there is one more key, which is trained; default no.
        add_bias_kv: bool;
        /// Whether there is one more key of zeros; default no.
        add_zero_attn: bool;
        /// Features of keys, or `None` for those of queries; default `None`.
        kdim: Option<i64>;
        /// Features of values, or `None` for those of queries; default `None`.
        vdim: Option<i64>;
        /// Whether the batch is the first axis and the length the second; default no.
        batch_first: bool;
    }
}

/// What a call of [`MultiheadAttention`] may say besides its sequences.
#[derive(Clone, Copy, Debug)]
pub struct AttentionCall<'a> {
    key_padding_mask: Option<&'a Tensor>,
    need_weights: bool,
    attn_mask: Option<&'a Tensor>,
    average_attn_weights: bool,
    is_causal: bool,
}

impl Default for AttentionCall<'_> {
    fn default() -> Self {
        Self {
            key_padding_mask: None,
            need_weights: true,
            attn_mask: None,
            average_attn_weights: true,
            is_causal: false,
        }
    }
}

impl<'a> AttentionCall<'a> {
    setters! {
        /// (batch, keys): true hides a key, numbers are added to the scores; default none.
        key_padding_mask: Option<&'a Tensor>;
        /// Whether the weights are wanted, too; default yes.
        need_weights: bool;
        /// (queries, keys) or (batch heads, queries, keys), as the other mask; default none.
        attn_mask: Option<&'a Tensor>;
        /// Whether the weights are the mean over the heads; default yes.
        average_attn_weights: bool;
        /// Whether later keys are hidden; default no.
        is_causal: bool;
    }
}

/// Projects query, key and value, attends with every head, and projects the joined heads. Sequences
/// are (length, batch, features), or (batch, length, features), or (length, features).
pub struct MultiheadAttention {
    /// Query, key and value, if the last two have their own numbers of features.
    apart: Option<[Tensor; 3]>,
    /// The same, one below the other, if they have not.
    joined: Option<Tensor>,
    in_proj_bias: Option<Tensor>,
    out_proj: Linear,
    rows: Option<[Tensor; 2]>,
    heads: i64,
    config: MultiheadAttentionConfig,
    training: Training,
}

fn weight(shape: &[i64]) -> Result<Tensor> {
    let weight = Tensor::empty(shape)?;
    init::xavier_uniform_(&weight, 1.0)?;
    weight.requiring_grad()
}

fn row(width: i64) -> Result<Tensor> {
    let row = Tensor::empty(&[1, 1, width])?;
    init::xavier_normal_(&row, 1.0)?;
    row.requiring_grad()
}

impl MultiheadAttention {
    /// For so many features, divided among so many heads.
    pub fn new(features: i64, heads: i64) -> Result<Self> {
        Self::with(features, heads, |c| c)
    }

    /// With options.
    pub fn with(
        features: i64,
        heads: i64,
        config: impl FnOnce(MultiheadAttentionConfig) -> MultiheadAttentionConfig,
    ) -> Result<Self> {
        let config = config(MultiheadAttentionConfig::default());
        if heads < 1 || features < 1 || features % heads != 0 {
            let text =
                format!("MultiheadAttention: {heads} heads do not divide {features} features");
            return Err(Error::refused(ErrorKind::Value, text));
        }
        if !(0.0..=1.0).contains(&config.dropout) {
            let text =
                format!("MultiheadAttention: expected a probability, got {}", config.dropout);
            return Err(Error::refused(ErrorKind::Value, text));
        }
        let (keys, values) = (config.kdim.unwrap_or(features), config.vdim.unwrap_or(features));
        let same = keys == features && values == features;
        let apart = || -> Result<_> {
            let of = |width| weight(&[features, width]);
            Ok([of(features)?, of(keys)?, of(values)?])
        };
        let out_proj = if config.bias {
            Linear::new(features, features)?
        } else {
            Linear::without_bias(features, features)?
        };
        if let Some(bias) = &out_proj.bias {
            init::constant_(bias, 0.0)?;
        }
        let bias = || Tensor::zeros(&[3 * features])?.requiring_grad();
        let rows = || -> Result<_> { Ok([row(features)?, row(features)?]) };
        Ok(Self {
            apart: (!same).then(apart).transpose()?,
            joined: same.then(|| weight(&[3 * features, features])).transpose()?,
            in_proj_bias: config.bias.then(bias).transpose()?,
            out_proj,
            rows: config.add_bias_kv.then(rows).transpose()?,
            heads,
            config,
            training: Training::default(),
        })
    }

    /// The result and, if they are wanted, the weights.
    pub fn attend<'a>(
        &self,
        query: &Tensor,
        key: &Tensor,
        value: &Tensor,
        call: impl FnOnce(AttentionCall<'a>) -> AttentionCall<'a>,
    ) -> Result<(Tensor, Option<Tensor>)> {
        let call = call(AttentionCall::default());
        let out = &self.out_proj;
        let found =
            query.multi_head_attention_with(key, value, self.heads, &out.weight, |mut o| {
                if let Some(bias) = &out.bias {
                    o = o.out_proj_bias(bias);
                }
                if let Some([q, k, v]) = &self.apart {
                    o = o.q_proj_weight(q).k_proj_weight(k).v_proj_weight(v);
                }
                if let Some(joined) = &self.joined {
                    o = o.in_proj_weight(joined);
                }
                if let Some(bias) = &self.in_proj_bias {
                    o = o.in_proj_bias(bias);
                }
                if let Some([k, v]) = &self.rows {
                    o = o.bias_k(k).bias_v(v);
                }
                if let Some(mask) = call.key_padding_mask {
                    o = o.key_padding_mask(mask);
                }
                if let Some(mask) = call.attn_mask {
                    o = o.attn_mask(mask);
                }
                o.is_causal(call.is_causal)
                    .add_zero_attn(self.config.add_zero_attn)
                    .dropout_p(if self.training.is_on() { self.config.dropout } else { 0.0 })
                    .need_weights(call.need_weights)
                    .average_attn_weights(call.average_attn_weights)
                    .batch_first(self.config.batch_first)
            })?;
        Ok((found.0, call.need_weights.then_some(found.1)))
    }
}

impl Module for MultiheadAttention {
    /// Self-attention.
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        Ok(self.attend(input, input, input, |c| c.need_weights(false))?.0)
    }

    fn visit(&self, visitor: &mut Visitor) {
        if let Some([q, k, v]) = &self.apart {
            visitor.parameter("q_proj_weight", q);
            visitor.parameter("k_proj_weight", k);
            visitor.parameter("v_proj_weight", v);
        }
        if let Some(joined) = &self.joined {
            visitor.parameter("in_proj_weight", joined);
        }
        if let Some(bias) = &self.in_proj_bias {
            visitor.parameter("in_proj_bias", bias);
        }
        if let Some([k, v]) = &self.rows {
            visitor.parameter("bias_k", k);
            visitor.parameter("bias_v", v);
        }
        visitor.module("out_proj", &self.out_proj);
        visitor.training(&self.training);
    }
}

/// The function between the linear layers of a [`TransformerEncoderLayer`].
pub type Activation = fn(&Tensor) -> Result<Tensor>;

/// Options of [`TransformerEncoderLayer`].
#[derive(Clone, Copy, Debug)]
pub struct TransformerEncoderLayerConfig {
    pub(super) dim_feedforward: i64,
    pub(super) dropout: f64,
    pub(super) activation: Activation,
    pub(super) layer_norm_eps: f64,
    pub(super) batch_first: bool,
    pub(super) norm_first: bool,
}

impl Default for TransformerEncoderLayerConfig {
    fn default() -> Self {
        Self {
            dim_feedforward: 2048,
            dropout: 0.1,
            activation: Tensor::relu,
            layer_norm_eps: 1e-5,
            batch_first: false,
            norm_first: false,
        }
    }
}

impl TransformerEncoderLayerConfig {
    setters! {
        /// Features between the linear layers; default 2048.
        dim_feedforward: i64;
        /// The probability of every dropout; default 0.1.
        dropout: f64;
        /// Between the linear layers; default relu.
        activation: Activation;
        /// Added to the variances; default 1e-5.
        layer_norm_eps: f64;
        /// Whether the batch is the first axis and the length the second; default no.
        batch_first: bool;
        /// Whether a block is normalised before it and not after the sum; default no.
        norm_first: bool;
    }
}

/// Self-attention and two linear layers, each added to its input and normalised (Vaswani et al.,
/// "Attention is all you need", 2017).
pub struct TransformerEncoderLayer {
    self_attn: MultiheadAttention,
    linear1: Linear,
    dropout: Dropout,
    linear2: Linear,
    norm1: LayerNorm,
    norm2: LayerNorm,
    dropout1: Dropout,
    dropout2: Dropout,
    config: TransformerEncoderLayerConfig,
}

/// A block added to its input, with the normalisation before the block or behind the sum.
pub(super) fn sum_with(
    norm_first: bool,
    x: &Tensor,
    block: impl FnOnce(&Tensor) -> Result<Tensor>,
    norm: &LayerNorm,
) -> Result<Tensor> {
    if norm_first {
        x.add(&block(&norm.forward(x)?)?)
    } else {
        norm.forward(&x.add(&block(x)?)?)
    }
}

impl TransformerEncoderLayer {
    /// For so many features, divided among so many heads.
    pub fn new(features: i64, heads: i64) -> Result<Self> {
        Self::with(features, heads, |c| c)
    }

    /// With options.
    pub fn with(
        features: i64,
        heads: i64,
        config: impl FnOnce(TransformerEncoderLayerConfig) -> TransformerEncoderLayerConfig,
    ) -> Result<Self> {
        let config = config(TransformerEncoderLayerConfig::default());
        let attention =
            |c: MultiheadAttentionConfig| c.dropout(config.dropout).batch_first(config.batch_first);
        Ok(Self {
            self_attn: MultiheadAttention::with(features, heads, attention)?,
            linear1: Linear::new(features, config.dim_feedforward)?,
            dropout: Dropout::new(config.dropout)?,
            linear2: Linear::new(config.dim_feedforward, features)?,
            norm1: LayerNorm::with_eps(&[features], config.layer_norm_eps)?,
            norm2: LayerNorm::with_eps(&[features], config.layer_norm_eps)?,
            dropout1: Dropout::new(config.dropout)?,
            dropout2: Dropout::new(config.dropout)?,
            config,
        })
    }

    /// With masks, which [`AttentionCall`] describes; weights are never made.
    pub fn encode<'a>(
        &self,
        src: &Tensor,
        call: impl FnOnce(AttentionCall<'a>) -> AttentionCall<'a>,
    ) -> Result<Tensor> {
        let attend = |x: &Tensor| {
            let found = self.self_attn.attend(x, x, x, |c| call(c).need_weights(false))?.0;
            self.dropout1.forward(&found)
        };
        let feed = |x: &Tensor| {
            let inner = (self.config.activation)(&self.linear1.forward(x)?)?;
            self.dropout2.forward(&self.linear2.forward(&self.dropout.forward(&inner)?)?)
        };
        let x = sum_with(self.config.norm_first, src, attend, &self.norm1)?;
        sum_with(self.config.norm_first, &x, feed, &self.norm2)
    }
}

impl Module for TransformerEncoderLayer {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.encode(input, |c| c)
    }

    fn visit(&self, visitor: &mut Visitor) {
        visitor.module("self_attn", &self.self_attn);
        visitor.module("linear1", &self.linear1);
        visitor.module("dropout", &self.dropout);
        visitor.module("linear2", &self.linear2);
        visitor.module("norm1", &self.norm1);
        visitor.module("norm2", &self.norm2);
        visitor.module("dropout1", &self.dropout1);
        visitor.module("dropout2", &self.dropout2);
    }
}

described! { MultiheadAttention(config) TransformerEncoderLayer(config) }
