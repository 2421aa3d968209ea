// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The trait of layers and models, and the visitor that names their parameters and parts.

use crate::io::TensorMap;
use crate::{no_grad, Error, ErrorKind, Result, Tensor};
use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// The training flag of layers that behave differently in training.
#[derive(Debug)]
pub struct Training(AtomicBool);

impl Training {
    /// Whether the layer is being trained.
    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Default for Training {
    fn default() -> Self {
        Self(AtomicBool::new(true))
    }
}

/// Collects the parameters, buffers and parts of a module.
#[derive(Debug, Default)]
pub struct Visitor {
    prefix: String,
    parameters: Vec<(String, Tensor)>,
    buffers: Vec<(String, Tensor)>,
    order: Vec<(String, Tensor)>,
    statistics: HashSet<String>,
    mode: Option<bool>,
}

impl Visitor {
    /// A tensor that is trained.
    pub fn parameter(&mut self, name: &str, tensor: &Tensor) {
        let named = (format!("{}{name}", self.prefix), tensor.clone());
        self.order.push(named.clone());
        self.parameters.push(named);
    }

    pub(super) fn weight_and_bias(&mut self, weight: &Tensor, bias: Option<&Tensor>) {
        self.parameter("weight", weight);
        bias.into_iter().for_each(|bias| self.parameter("bias", bias));
    }

    /// A tensor that belongs to the state but is not trained.
    pub fn buffer(&mut self, name: &str, tensor: &Tensor) {
        let named = (format!("{}{name}", self.prefix), tensor.clone());
        self.order.push(named.clone());
        self.buffers.push(named);
    }

    /// A buffer that sums small contributions of many batches, which 16-bit floats would lose.
    pub fn statistic(&mut self, name: &str, tensor: &Tensor) {
        self.statistics.insert(format!("{}{name}", self.prefix));
        self.buffer(name, tensor);
    }

    /// A part of the module.
    pub fn module(&mut self, name: &str, module: &dyn Module) {
        let length = self.prefix.len();
        self.prefix.push_str(name);
        self.prefix.push('.');
        module.visit(self);
        self.prefix.truncate(length);
    }

    /// A module, a parameter, or a list or an option of them: see [`parts!`](crate::nn::parts).
    pub fn part(&mut self, name: &str, part: &impl Part) {
        part.show(name, self);
    }

    /// The flag of a layer that behaves differently in training.
    pub fn training(&mut self, training: &Training) {
        if let Some(on) = self.mode {
            training.0.store(on, Ordering::Relaxed);
        }
    }

    /// All tensors, and whether each is a statistic.
    pub(super) fn tensors(module: &(impl Module + ?Sized)) -> Vec<(Tensor, bool)> {
        let visitor = Self::walk(module, None);
        let named = visitor.order.into_iter();
        named.map(|(name, tensor)| (tensor, visitor.statistics.contains(&name))).collect()
    }

    fn walk(module: &(impl Module + ?Sized), mode: Option<bool>) -> Self {
        let mut visitor = Self { mode, ..Self::default() };
        module.visit(&mut visitor);
        visitor
    }
}

/// What can be a part of a module: a module, a tensor that is trained, an option or a list of them
/// (whose names are numbers, as those of Python's ModuleList), and a [`Training`] flag.
pub trait Part {
    /// Shows the visitor the part under this name.
    fn show(&self, name: &str, visitor: &mut Visitor);
}

impl<M: Module> Part for M {
    fn show(&self, name: &str, visitor: &mut Visitor) {
        visitor.module(name, self);
    }
}

impl Part for Tensor {
    fn show(&self, name: &str, visitor: &mut Visitor) {
        visitor.parameter(name, self);
    }
}

impl Part for Training {
    fn show(&self, _: &str, visitor: &mut Visitor) {
        visitor.training(self);
    }
}

impl<P: Part> Part for Option<P> {
    fn show(&self, name: &str, visitor: &mut Visitor) {
        self.iter().for_each(|part| part.show(name, visitor));
    }
}

impl<P: Part> Part for [P] {
    fn show(&self, name: &str, visitor: &mut Visitor) {
        for (number, part) in self.iter().enumerate() {
            part.show(&format!("{name}.{number}"), visitor);
        }
    }
}

impl<P: Part, const N: usize> Part for [P; N] {
    fn show(&self, name: &str, visitor: &mut Visitor) {
        self.as_slice().show(name, visitor);
    }
}

impl<P: Part> Part for Vec<P> {
    fn show(&self, name: &str, visitor: &mut Visitor) {
        self.as_slice().show(name, visitor);
    }
}

/// Writes [`Module::visit`](crate::nn::Module::visit) for fields that are a [`Part`](crate::nn::Part),
/// under the names of the fields. Write the method yourself for buffers and for other names.
///
/// ```
/// use tessera::nn::{parts, Linear, Module};
/// use tessera::{Result, Tensor};
///
/// struct Net {
///     hidden: Vec<Linear>,
///     last: Linear,
///     scale: Tensor,
/// }
///
/// impl Module for Net {
///     fn forward(&self, x: &Tensor) -> Result<Tensor> {
///         let x = self.hidden.iter().try_fold(x.clone(), |x, layer| layer.forward(&x)?.relu())?;
///         self.last.forward(&x)?.multiply(&self.scale)
///     }
///
///     parts! { hidden, last, scale }
/// }
///
/// # fn main() -> Result<()> {
/// let net = Net {
///     hidden: vec![Linear::new(2, 8)?, Linear::new(8, 8)?],
///     last: Linear::new(8, 1)?,
///     scale: Tensor::ones(&[])?.requiring_grad()?,
/// };
/// assert_eq!(net.named_parameters()[2].0, "hidden.1.weight");
/// assert_eq!(net.parameters().len(), 7);
/// # Ok(())
/// # }
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! __parts {
    ($($field:ident),+ $(,)?) => {
        fn visit(&self, visitor: &mut $crate::nn::Visitor) {
            $($crate::nn::Visitor::part(visitor, stringify!($field), &self.$field);)+
        }
    };
}
#[doc(inline)]
pub use crate::__parts as parts;

/// Prints a layer with its tensors, without their elements: `Linear { weight: float32[4, 2] }`.
pub(super) fn describe(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    module: &dyn Module,
    config: Option<&dyn fmt::Debug>,
) -> fmt::Result {
    let mut out = f.debug_struct(name);
    for (path, tensor) in Visitor::walk(module, None).order {
        out.field(&path, &format_args!("{}{:?}", tensor.dtype(), tensor.shape()));
    }
    if let Some(config) = config {
        out.field("config", config);
    }
    out.finish()
}

/// `Debug` for layers: their names, and the field of their options where they have one.
macro_rules! described {
    ($($name:ident $(($config:ident))?)*) => {$(
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let config: &[&dyn std::fmt::Debug] = &[$(&self.$config)?];
                $crate::nn::module::describe(f, stringify!($name), self, config.first().copied())
            }
        }
    )*};
}
pub(super) use described;

/// A layer or a model.
///
/// ```
/// use tessera::nn::{Linear, Module, Visitor};
/// use tessera::{Result, Tensor};
///
/// struct Net {
///     hidden: Linear,
///     last: Linear,
/// }
///
/// impl Module for Net {
///     fn forward(&self, x: &Tensor) -> Result<Tensor> {
///         self.last.forward(&self.hidden.forward(x)?.relu()?)
///     }
///
///     fn visit(&self, visitor: &mut Visitor) {
///         visitor.module("hidden", &self.hidden);
///         visitor.module("last", &self.last);
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let net = Net { hidden: Linear::new(4, 8)?, last: Linear::new(8, 2)? };
/// assert_eq!(net.parameters().len(), 4);
/// assert!(net.state_dict()?.contains_key("hidden.weight"));
/// # Ok(())
/// # }
/// ```
pub trait Module: Send + Sync {
    /// The output for an input.
    fn forward(&self, input: &Tensor) -> Result<Tensor>;

    /// Shows the visitor every parameter, buffer, part and training flag, in order. A module without
    /// any has nothing to do.
    fn visit(&self, visitor: &mut Visitor) {
        let _ = visitor;
    }

    /// All parameters by name, in order; a shared one has its first name.
    fn named_parameters(&self) -> Vec<(String, Tensor)> {
        each_once(Visitor::walk(self, None).parameters)
    }

    /// All buffers by name, in order; a shared one has its first name.
    fn named_buffers(&self) -> Vec<(String, Tensor)> {
        each_once(Visitor::walk(self, None).buffers)
    }

    /// All parameters, for an optimizer.
    fn parameters(&self) -> Vec<Tensor> {
        self.named_parameters().into_iter().map(|(_, tensor)| tensor).collect()
    }

    /// All buffers.
    fn buffers(&self) -> Vec<Tensor> {
        self.named_buffers().into_iter().map(|(_, tensor)| tensor).collect()
    }

    /// Switches between training and evaluation.
    fn train(&self, on: bool) {
        Visitor::walk(self, Some(on));
    }

    /// Switches to evaluation.
    fn eval(&self) {
        self.train(false);
    }

    /// Clears the gradients of all parameters.
    fn zero_grad(&self) -> Result<()> {
        self.parameters().iter().try_for_each(|parameter| parameter.set_grad(None))
    }

    /// Sets whether the parameters require grad.
    fn set_requires_grad(&self, on: bool) -> Result<()> {
        self.parameters().iter().try_for_each(|parameter| parameter.set_requires_grad(on))
    }

    /// All parameters and buffers by name. The tensors share memory with the model.
    fn state_dict(&self) -> Result<TensorMap> {
        let named = Visitor::walk(self, None).order;
        named.into_iter().map(|(name, tensor)| Ok((name, tensor.detach()?))).collect()
    }

    /// Copies a state dict into this model: names and shapes must be equal.
    fn load_state_dict(&self, state: &TensorMap) -> Result<()> {
        self.load_state_dict_with(state, true).map(|_| ())
    }

    /// As [`Module::load_state_dict`]; without `strict` names that only one of the two has are left out,
    /// and returned. Shapes must be equal in any case.
    fn load_state_dict_with(&self, state: &TensorMap, strict: bool) -> Result<StateDictKeys> {
        let own = self.state_dict()?;
        let only_in = |these: &TensorMap, those: &TensorMap| -> Vec<String> {
            these.keys().filter(|name| !those.contains_key(*name)).cloned().collect()
        };
        let (missing, unexpected) = (only_in(&own, state), only_in(state, &own));
        let mut problems = Vec::new();
        if strict && !missing.is_empty() {
            problems.push(format!("missing: {missing:?}"));
        }
        if strict && !unexpected.is_empty() {
            problems.push(format!("unexpected: {unexpected:?}"));
        }
        let shared =
            || own.iter().filter_map(|(name, target)| Some((name, target, state.get(name)?)));
        for (name, target, source) in shared() {
            let (have, got) = (target.shape(), source.shape());
            if have != got {
                problems.push(format!("{name}: the model has shape {have:?}, the state {got:?}"));
            }
        }
        if !problems.is_empty() {
            let text = format!("load_state_dict: {}", problems.join("; "));
            return Err(Error::refused(ErrorKind::Value, text));
        }
        let _guard = no_grad();
        shared().try_for_each(|(_, target, source)| target.copy_(source, |o| o).map(|_| ()))?;
        Ok(StateDictKeys { missing, unexpected })
    }
}

/// The names that [`Module::load_state_dict_with`] left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateDictKeys {
    /// Of the model, which the state lacks.
    pub missing: Vec<String>,
    /// Of the state, which the model lacks.
    pub unexpected: Vec<String>,
}

fn each_once(mut named: Vec<(String, Tensor)>) -> Vec<(String, Tensor)> {
    let mut seen = HashSet::new();
    named.retain(|(_, tensor)| seen.insert(tensor.raw()));
    named
}

macro_rules! modules_behind {
    ($($pointer:ident)*) => {$(
        impl<M: Module + ?Sized> Module for $pointer<M> {
            fn forward(&self, input: &Tensor) -> Result<Tensor> {
                (**self).forward(input)
            }

            fn visit(&self, visitor: &mut Visitor) {
                (**self).visit(visitor);
            }
        }
    )*};
}
modules_behind! { Box Arc }
