// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Bags of embeddings and bilinear forms. Initial values and names are PyTorch's.

use super::module::described;
use super::{init, Module, Visitor};
use crate::{no_grad, Error, ErrorKind, Result, Tensor};

/// How [`EmbeddingBag`] joins the rows of a bag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BagMode {
    /// Their sum.
    Sum,
    /// Their mean.
    #[default]
    Mean,
    /// The largest element of each column.
    Max,
}

impl BagMode {
    fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Max => "max",
        }
    }
}

/// Options of [`EmbeddingBag`].
#[derive(Clone, Copy, Debug, Default)]
pub struct EmbeddingBagConfig {
    scale_grad_by_freq: bool,
    mode: BagMode,
    include_last_offset: bool,
    padding: Option<i64>,
}

impl EmbeddingBagConfig {
    setters! {
        /// Whether the gradient of a row is divided by how often it occurs; default no.
        scale_grad_by_freq: bool;
        /// How the rows of a bag are joined; default the mean.
        mode: BagMode;
        /// Whether the last offset is the number of indices; default no.
        include_last_offset: bool;
        /// A row that belongs to no bag, is zero and gets no gradient; default none.
        padding: Option<i64>;
    }
}

/// The sum, mean or maximum of the rows of a table that each bag names.
pub struct EmbeddingBag {
    /// (rows, size of a row)
    pub weight: Tensor,
    config: EmbeddingBagConfig,
}

impl EmbeddingBag {
    /// A table of random rows.
    pub fn new(rows: i64, size: i64) -> Result<Self> {
        Self::with(rows, size, |c| c)
    }

    /// With options.
    pub fn with(
        rows: i64,
        size: i64,
        config: impl FnOnce(EmbeddingBagConfig) -> EmbeddingBagConfig,
    ) -> Result<Self> {
        let mut config = config(EmbeddingBagConfig::default());
        let weight = Tensor::empty(&[rows, size])?;
        init::normal_(&weight, 0.0, 1.0)?;
        if let Some(row) = config.padding {
            if !(-rows..rows).contains(&row) {
                let text = format!("padding: row {row} is out of range for {rows} rows");
                return Err(Error::refused(ErrorKind::Value, text));
            }
            let _guard = no_grad();
            weight.select(0, row)?.zero_()?;
            config.padding = Some(row.rem_euclid(rows));
        }
        Ok(Self { weight: weight.requiring_grad()?, config })
    }

    /// The bags of a list of indices, each of which begins at an offset.
    pub fn bags(&self, input: &Tensor, offsets: &Tensor) -> Result<Tensor> {
        self.join(input, Some(offsets), None)
    }

    /// As `bags`, or without offsets as `forward`, with a factor for each row; only for sums.
    pub fn weighted(
        &self,
        input: &Tensor,
        offsets: Option<&Tensor>,
        factors: &Tensor,
    ) -> Result<Tensor> {
        self.join(input, offsets, Some(factors))
    }

    fn join(
        &self,
        input: &Tensor,
        offsets: Option<&Tensor>,
        factors: Option<&Tensor>,
    ) -> Result<Tensor> {
        input.embedding_bag_with(&self.weight, |mut o| {
            if let Some(offsets) = offsets {
                o = o.offsets(offsets);
            }
            if let Some(factors) = factors {
                o = o.per_sample_weights(factors);
            }
            if let Some(row) = self.config.padding {
                o = o.padding_idx(row);
            }
            o.scale_grad_by_freq(self.config.scale_grad_by_freq)
                .mode(self.config.mode.name())
                .include_last_offset(self.config.include_last_offset)
        })
    }
}

impl Module for EmbeddingBag {
    /// A bag in each row of the input.
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.join(input, None, None)
    }

    fn visit(&self, visitor: &mut Visitor) {
        visitor.parameter("weight", &self.weight);
    }
}

/// `x1ᵀ A x2 + b` for every matrix A of the weight. It takes two inputs, so it is no part of a
/// `Sequential`.
pub struct Bilinear {
    /// (outputs, features of the first input, features of the second)
    pub weight: Tensor,
    /// (outputs)
    pub bias: Option<Tensor>,
}

impl Bilinear {
    /// A layer with a bias.
    pub fn new(inputs1: i64, inputs2: i64, outputs: i64) -> Result<Self> {
        Self::make(inputs1, inputs2, outputs, true)
    }

    /// A layer without a bias.
    pub fn without_bias(inputs1: i64, inputs2: i64, outputs: i64) -> Result<Self> {
        Self::make(inputs1, inputs2, outputs, false)
    }

    fn make(inputs1: i64, inputs2: i64, outputs: i64, bias: bool) -> Result<Self> {
        if inputs1 < 1 {
            let text = format!("Bilinear: expected features of the first input, got {inputs1}");
            return Err(Error::refused(ErrorKind::Value, text));
        }
        let bound = 1.0 / (inputs1 as f64).sqrt();
        let filled = |shape: &[i64]| -> Result<Tensor> {
            let made = Tensor::empty(shape)?;
            init::uniform_(&made, -bound, bound)?;
            made.requiring_grad()
        };
        let weight = filled(&[outputs, inputs1, inputs2])?;
        Ok(Self { weight, bias: bias.then(|| filled(&[outputs])).transpose()? })
    }

    /// The form of two inputs with equal leading axes.
    pub fn apply(&self, input1: &Tensor, input2: &Tensor) -> Result<Tensor> {
        match &self.bias {
            Some(bias) => input1.bilinear_with(input2, &self.weight, |o| o.bias(bias)),
            None => input1.bilinear(input2, &self.weight),
        }
    }
}

impl Module for Bilinear {
    /// The quadratic form of one input.
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.apply(input, input)
    }

    fn visit(&self, visitor: &mut Visitor) {
        visitor.weight_and_bias(&self.weight, self.bias.as_ref());
    }
}

described! { EmbeddingBag(config) Bilinear }
