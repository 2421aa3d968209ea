// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The decoder layer of a Transformer, and layers one after the other. Initial values and names are
//! PyTorch's.

use super::attention::sum_with;
use super::module::described;
use super::{
    AttentionCall, Dropout, LayerNorm, Linear, Module, MultiheadAttention,
    MultiheadAttentionConfig, TransformerEncoderLayer, TransformerEncoderLayerConfig, Visitor,
};
use crate::{Result, Tensor};

/// Options of [`TransformerDecoderLayer`]: those of the encoder's layer.
pub type TransformerDecoderLayerConfig = TransformerEncoderLayerConfig;

/// What a call of a decoder may say besides its sequences.
#[derive(Clone, Copy, Debug, Default)]
pub struct DecoderCall<'a> {
    tgt_mask: Option<&'a Tensor>,
    memory_mask: Option<&'a Tensor>,
    tgt_key_padding_mask: Option<&'a Tensor>,
    memory_key_padding_mask: Option<&'a Tensor>,
    tgt_is_causal: bool,
    memory_is_causal: bool,
}

impl<'a> DecoderCall<'a> {
    setters! {
        /// As `attn_mask` of [`AttentionCall`], for the self-attention; default none.
        tgt_mask: Option<&'a Tensor>;
        /// The same for the attention to the memory; default none.
        memory_mask: Option<&'a Tensor>;
        /// As `key_padding_mask` of [`AttentionCall`], for the self-attention; default none.
        tgt_key_padding_mask: Option<&'a Tensor>;
        /// The same for the attention to the memory; default none.
        memory_key_padding_mask: Option<&'a Tensor>;
        /// Whether later elements of the target are hidden; default no.
        tgt_is_causal: bool;
        /// Whether later elements of the memory are hidden; default no.
        memory_is_causal: bool;
    }

    fn own(self, call: AttentionCall<'a>) -> AttentionCall<'a> {
        call.need_weights(false)
            .attn_mask(self.tgt_mask)
            .key_padding_mask(self.tgt_key_padding_mask)
            .is_causal(self.tgt_is_causal)
    }

    fn other(self, call: AttentionCall<'a>) -> AttentionCall<'a> {
        call.need_weights(false)
            .attn_mask(self.memory_mask)
            .key_padding_mask(self.memory_key_padding_mask)
            .is_causal(self.memory_is_causal)
    }
}

/// Self-attention, attention to the encoder's result and two linear layers, each added to its input
/// and normalised (Vaswani et al., "Attention is all you need", 2017).
pub struct TransformerDecoderLayer {
    self_attn: MultiheadAttention,
    multihead_attn: MultiheadAttention,
    linear1: Linear,
    dropout: Dropout,
    linear2: Linear,
    norms: [LayerNorm; 3],
    dropouts: [Dropout; 3],
    config: TransformerDecoderLayerConfig,
}

impl TransformerDecoderLayer {
    /// For so many features, divided among so many heads.
    pub fn new(features: i64, heads: i64) -> Result<Self> {
        Self::with(features, heads, |c| c)
    }

    /// With options.
    pub fn with(
        features: i64,
        heads: i64,
        config: impl FnOnce(TransformerDecoderLayerConfig) -> TransformerDecoderLayerConfig,
    ) -> Result<Self> {
        let config = config(TransformerDecoderLayerConfig::default());
        let attention =
            |c: MultiheadAttentionConfig| c.dropout(config.dropout).batch_first(config.batch_first);
        let norm = || LayerNorm::with_eps(&[features], config.layer_norm_eps);
        let dropout = || Dropout::new(config.dropout);
        Ok(Self {
            self_attn: MultiheadAttention::with(features, heads, attention)?,
            multihead_attn: MultiheadAttention::with(features, heads, attention)?,
            linear1: Linear::new(features, config.dim_feedforward)?,
            dropout: dropout()?,
            linear2: Linear::new(config.dim_feedforward, features)?,
            norms: [norm()?, norm()?, norm()?],
            dropouts: [dropout()?, dropout()?, dropout()?],
            config,
        })
    }

    /// The target, which has looked at itself and at the memory.
    pub fn decode<'a>(
        &self,
        tgt: &Tensor,
        memory: &Tensor,
        call: impl FnOnce(DecoderCall<'a>) -> DecoderCall<'a>,
    ) -> Result<Tensor> {
        self.called(tgt, memory, call(DecoderCall::default()))
    }

    fn called(&self, tgt: &Tensor, memory: &Tensor, call: DecoderCall<'_>) -> Result<Tensor> {
        let [dropout1, dropout2, dropout3] = &self.dropouts;
        let [norm1, norm2, norm3] = &self.norms;
        let attend =
            |x: &Tensor| dropout1.forward(&self.self_attn.attend(x, x, x, |c| call.own(c))?.0);
        let look = |x: &Tensor| {
            let found = self.multihead_attn.attend(x, memory, memory, |c| call.other(c))?.0;
            dropout2.forward(&found)
        };
        let feed = |x: &Tensor| {
            let inner = (self.config.activation)(&self.linear1.forward(x)?)?;
            dropout3.forward(&self.linear2.forward(&self.dropout.forward(&inner)?)?)
        };
        let first = self.config.norm_first;
        let x = sum_with(first, tgt, attend, norm1)?;
        let x = sum_with(first, &x, look, norm2)?;
        sum_with(first, &x, feed, norm3)
    }
}

impl Module for TransformerDecoderLayer {
    /// With the target as its own memory.
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.decode(input, input, |c| c)
    }

    fn visit(&self, visitor: &mut Visitor) {
        visitor.module("self_attn", &self.self_attn);
        visitor.module("multihead_attn", &self.multihead_attn);
        visitor.module("linear1", &self.linear1);
        visitor.module("dropout", &self.dropout);
        visitor.module("linear2", &self.linear2);
        for (norm, name) in self.norms.iter().zip(["norm1", "norm2", "norm3"]) {
            visitor.module(name, norm);
        }
        for (dropout, name) in self.dropouts.iter().zip(["dropout1", "dropout2", "dropout3"]) {
            visitor.module(name, dropout);
        }
    }
}

/// The layers of a stack as its child `layers`, and the last normalisation.
fn visit_stack<Layer: Module>(
    layers: &Layers<Layer>,
    norm: Option<&LayerNorm>,
    visitor: &mut Visitor,
) {
    visitor.module("layers", layers);
    if let Some(norm) = norm {
        visitor.module("norm", norm);
    }
}

struct Layers<Layer>(Vec<Layer>);

impl<Layer: Module> Module for Layers<Layer> {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.0.iter().try_fold(input.clone(), |x, layer| layer.forward(&x))
    }

    fn visit(&self, visitor: &mut Visitor) {
        for (index, layer) in self.0.iter().enumerate() {
            visitor.module(&index.to_string(), layer);
        }
    }
}

/// Encoder layers one after the other, and a last normalisation if one is given.
pub struct TransformerEncoder {
    layers: Layers<TransformerEncoderLayer>,
    norm: Option<LayerNorm>,
}

impl TransformerEncoder {
    /// Of these layers.
    pub fn new(layers: Vec<TransformerEncoderLayer>, norm: Option<LayerNorm>) -> Self {
        Self { layers: Layers(layers), norm }
    }

    /// With masks, which [`AttentionCall`] describes.
    pub fn encode<'a>(
        &self,
        src: &Tensor,
        call: impl Fn(AttentionCall<'a>) -> AttentionCall<'a>,
    ) -> Result<Tensor> {
        let encoded =
            self.layers.0.iter().try_fold(src.clone(), |x, layer| layer.encode(&x, &call))?;
        self.norm.as_ref().map_or(Ok(encoded.clone()), |norm| norm.forward(&encoded))
    }
}

impl Module for TransformerEncoder {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.encode(input, |c| c)
    }

    fn visit(&self, visitor: &mut Visitor) {
        visit_stack(&self.layers, self.norm.as_ref(), visitor);
    }
}

/// Decoder layers one after the other, and a last normalisation if one is given.
pub struct TransformerDecoder {
    layers: Layers<TransformerDecoderLayer>,
    norm: Option<LayerNorm>,
}

impl TransformerDecoder {
    /// Of these layers.
    pub fn new(layers: Vec<TransformerDecoderLayer>, norm: Option<LayerNorm>) -> Self {
        Self { layers: Layers(layers), norm }
    }

    /// The target, which has looked at itself and at the memory in every layer.
    pub fn decode<'a>(
        &self,
        tgt: &Tensor,
        memory: &Tensor,
        call: impl FnOnce(DecoderCall<'a>) -> DecoderCall<'a>,
    ) -> Result<Tensor> {
        let call = call(DecoderCall::default());
        let decoded = self
            .layers
            .0
            .iter()
            .try_fold(tgt.clone(), |x, layer| layer.called(&x, memory, call))?;
        self.norm.as_ref().map_or(Ok(decoded.clone()), |norm| norm.forward(&decoded))
    }
}

impl Module for TransformerDecoder {
    /// With the target as its own memory.
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.decode(input, input, |c| c)
    }

    fn visit(&self, visitor: &mut Visitor) {
        visit_stack(&self.layers, self.norm.as_ref(), visitor);
    }
}

described! { TransformerDecoderLayer(config) TransformerEncoder TransformerDecoder }
