// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Linear, Embedding and Sequential. Initial values are PyTorch's.

use super::module::described;
use super::{init, Module, Visitor};
use crate::{no_grad, Error, ErrorKind, Result, Tensor};
use std::ops::Index;

/// `input @ weight.T + bias`, with a weight of shape (outputs, inputs).
pub struct Linear {
    /// (outputs, inputs)
    pub weight: Tensor,
    /// (outputs)
    pub bias: Option<Tensor>,
}

impl Linear {
    /// A layer with a bias.
    pub fn new(inputs: i64, outputs: i64) -> Result<Self> {
        Self::make(inputs, outputs, true)
    }

    /// A layer without a bias.
    pub fn without_bias(inputs: i64, outputs: i64) -> Result<Self> {
        Self::make(inputs, outputs, false)
    }

    fn make(inputs: i64, outputs: i64, bias: bool) -> Result<Self> {
        let (weight, bias) = init::layer(&[outputs, inputs], outputs, bias)?;
        Ok(Self { weight, bias })
    }
}

impl Module for Linear {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        match &self.bias {
            Some(bias) => input.linear_with(&self.weight, |o| o.bias(bias)),
            None => input.linear(&self.weight),
        }
    }

    fn visit(&self, visitor: &mut Visitor) {
        visitor.weight_and_bias(&self.weight, self.bias.as_ref());
    }
}

/// Rows of a table, looked up by integers.
pub struct Embedding {
    /// (rows, size of a row)
    pub weight: Tensor,
    padding: Option<i64>,
}

impl Embedding {
    /// A table of random rows.
    pub fn new(rows: i64, size: i64) -> Result<Self> {
        let weight = Tensor::empty(&[rows, size])?;
        init::normal_(&weight, 0.0, 1.0)?;
        Ok(Self { weight: weight.requiring_grad()?, padding: None })
    }

    /// Makes one row the padding: it is zero and gets no gradient.
    pub fn padding(mut self, row: i64) -> Result<Self> {
        let rows = self.weight.size(0);
        if !(-rows..rows).contains(&row) {
            let text = format!("padding: row {row} is out of range for {rows} rows");
            return Err(Error::refused(ErrorKind::Value, text));
        }
        let _guard = no_grad();
        self.weight.detach()?.select(0, row)?.zero_()?;
        self.padding = Some(row.rem_euclid(rows));
        Ok(self)
    }
}

impl Module for Embedding {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        match self.padding {
            Some(row) => input.embedding_with(&self.weight, |o| o.padding_idx(row)),
            None => input.embedding(&self.weight),
        }
    }

    fn visit(&self, visitor: &mut Visitor) {
        visitor.parameter("weight", &self.weight);
    }
}

/// Modules one after another, named by their numbers.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::nn::{Linear, Module, Relu, Sequential};
/// let mut model = Sequential::new().with(Linear::new(3, 4)?);
/// for _ in 0..2 {
///     model.push(Relu);
///     model.push(Linear::new(4, 4)?);
/// }
/// assert_eq!((model.len(), model[2].parameters().len()), (5, 2));
/// let front: Sequential = vec![Box::new(Relu) as Box<dyn Module>].into_iter().collect();
/// assert!(front.iter().all(|module| module.parameters().is_empty()));
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct Sequential(Vec<Box<dyn Module>>);

impl Sequential {
    /// Without modules: the identity.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more module at the end.
    #[must_use]
    pub fn with(mut self, module: impl Module + 'static) -> Self {
        self.push(module);
        self
    }

    /// Adds a module at the end.
    pub fn push(&mut self, module: impl Module + 'static) {
        self.0.push(Box::new(module));
    }

    /// The module with this number; `None` if there is none.
    pub fn get(&self, index: usize) -> Option<&dyn Module> {
        self.0.get(index).map(|module| &**module)
    }

    /// The modules in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &dyn Module> + ExactSizeIterator {
        self.0.iter().map(|module| &**module)
    }

    /// The number of modules.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Index<usize> for Sequential {
    type Output = dyn Module;

    fn index(&self, index: usize) -> &Self::Output {
        &*self.0[index]
    }
}

impl Extend<Box<dyn Module>> for Sequential {
    fn extend<I: IntoIterator<Item = Box<dyn Module>>>(&mut self, modules: I) {
        self.0.extend(modules);
    }
}

impl FromIterator<Box<dyn Module>> for Sequential {
    fn from_iter<I: IntoIterator<Item = Box<dyn Module>>>(modules: I) -> Self {
        Self(modules.into_iter().collect())
    }
}

described! { Linear Embedding Sequential }

impl Module for Sequential {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.0.iter().try_fold(input.clone(), |x, module| module.forward(&x))
    }

    fn visit(&self, visitor: &mut Visitor) {
        for (number, module) in self.0.iter().enumerate() {
            visitor.module(&number.to_string(), module);
        }
    }
}
