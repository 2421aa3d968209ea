// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Recurrent layers and cells. Names of parameters and initial values are PyTorch's.

use super::module::described;
use super::{init, Module, Training, Visitor};
use crate::{Error, ErrorKind, Result, Tensor};

/// Options of recurrent layers.
#[derive(Clone, Copy, Debug)]
pub struct RecurrentConfig {
    num_layers: i64,
    bias: bool,
    batch_first: bool,
    dropout: f64,
    bidirectional: bool,
    proj_size: i64,
    relu: bool,
}

impl Default for RecurrentConfig {
    fn default() -> Self {
        Self {
            num_layers: 1,
            bias: true,
            batch_first: false,
            dropout: 0.0,
            bidirectional: false,
            proj_size: 0,
            relu: false,
        }
    }
}

impl RecurrentConfig {
    setters! {
        /// Layers, each of which reads the outputs of the one before; default 1.
        num_layers: i64;
        /// Whether there are biases; default yes.
        bias: bool;
        /// Whether inputs are (batch, time, features); default no.
        batch_first: bool;
        /// Dropout between two layers, in training; default 0.
        dropout: f64;
        /// Whether to run also from the last time step to the first; default no.
        bidirectional: bool;
        /// Of an [`Lstm`]: projects the outputs to this many numbers; default 0, no projection.
        proj_size: i64;
        /// Of an [`Rnn`]: relu in place of tanh; default no.
        relu: bool;
    }

    fn directions(&self) -> i64 {
        if self.bidirectional {
            2
        } else {
            1
        }
    }

    fn check(&self, hidden: i64) -> Result<()> {
        let fail = |text: String| Err(Error::refused(ErrorKind::Value, text));
        if hidden < 1 || self.num_layers < 1 {
            return fail(format!(
                "expected at least 1 hidden unit and 1 layer, got {hidden} and {}",
                self.num_layers
            ));
        }
        if !(0.0..=1.0).contains(&self.dropout) {
            return fail(format!("dropout: expected a probability, got {}", self.dropout));
        }
        if !(0..hidden).contains(&self.proj_size) {
            return fail(format!(
                "proj_size: expected 0 to {}, got {}",
                hidden - 1,
                self.proj_size
            ));
        }
        Ok(())
    }
}

fn parameter(shape: &[i64], hidden: i64) -> Result<Tensor> {
    let bound = if hidden > 0 { 1.0 / (hidden as f64).sqrt() } else { 0.0 };
    let tensor = Tensor::empty(shape)?;
    init::uniform_(&tensor, -bound, bound)?;
    tensor.requiring_grad()
}

/// The parameters of all layers and directions, by name.
struct Weights {
    names: Vec<String>,
    tensors: Vec<Tensor>,
}

impl Weights {
    fn new(blocks: i64, inputs: i64, hidden: i64, config: &RecurrentConfig) -> Result<Self> {
        config.check(hidden)?;
        let rows = blocks * hidden;
        let outputs = if config.proj_size > 0 { config.proj_size } else { hidden };
        let suffixes: &[&str] = if config.bidirectional { &["", "_reverse"] } else { &[""] };
        let mut made = Self { names: Vec::new(), tensors: Vec::new() };
        for layer in 0..config.num_layers {
            let features = if layer == 0 { inputs } else { config.directions() * outputs };
            for suffix in suffixes {
                let mut add = |name: &str, shape: &[i64]| -> Result<()> {
                    made.names.push(format!("{name}_l{layer}{suffix}"));
                    made.tensors.push(parameter(shape, hidden)?);
                    Ok(())
                };
                add("weight_ih", &[rows, features])?;
                add("weight_hh", &[rows, outputs])?;
                if config.bias {
                    add("bias_ih", &[rows])?;
                    add("bias_hh", &[rows])?;
                }
                if config.proj_size > 0 {
                    add("weight_hr", &[config.proj_size, hidden])?;
                }
            }
        }
        Ok(made)
    }

    fn visit(&self, visitor: &mut Visitor) {
        for (name, tensor) in self.names.iter().zip(&self.tensors) {
            visitor.parameter(name, tensor);
        }
    }
}

/// Sets the options that all ops of networks share.
macro_rules! with_config {
    ($layer:ident, $sizes:ident, $o:ident) => {{
        let c = &$layer.config;
        let o = $o.has_biases(c.bias).num_layers(c.num_layers).dropout(c.dropout);
        let o = o.train($layer.training.is_on()).bidirectional(c.bidirectional);
        let o = o.batch_first(c.batch_first);
        $sizes.into_iter().fold(o, |o, sizes| o.batch_sizes(sizes))
    }};
}

/// A network: its struct, constructors and module; `forward` gives the outputs alone.
macro_rules! network {
    (
        $(#[$doc:meta])* $name:ident, $blocks:literal, $state:ty,
        projects: $projects:literal, relu: $relu:literal
    ) => {
        $(#[$doc])*
        ///
        /// The input is (time, batch, features), (batch, time, features) with `batch_first`, or
        /// (time, features) for one sequence. `run` returns the outputs of the last layer at all
        /// time steps and the last state of every layer and direction; without a state the first
        /// one is zeros.
        pub struct $name {
            weights: Weights,
            config: RecurrentConfig,
            training: Training,
        }

        impl $name {
            /// One layer with biases.
            pub fn new(inputs: i64, hidden: i64) -> Result<Self> {
                Self::with(inputs, hidden, |c| c)
            }

            /// With options.
            pub fn with(
                inputs: i64,
                hidden: i64,
                config: impl FnOnce(RecurrentConfig) -> RecurrentConfig,
            ) -> Result<Self> {
                let config = config(RecurrentConfig::default());
                for (has, option) in [
                    (!$projects && config.proj_size != 0, "proj_size"),
                    (!$relu && config.relu, "relu"),
                ] {
                    if has {
                        let text = format!("{}: expected no option {option}", stringify!($name));
                        return Err(Error::refused(ErrorKind::Value, text));
                    }
                }
                let weights = Weights::new($blocks, inputs, hidden, &config)?;
                Ok(Self { weights, config, training: Training::default() })
            }

            /// The parameters, layer by layer and direction by direction.
            pub fn weights(&self) -> &[Tensor] {
                &self.weights.tensors
            }

            /// Outputs and last state of a padded batch or one sequence.
            pub fn run(&self, input: &Tensor, state: Option<$state>) -> Result<(Tensor, $state)> {
                self.call(input, state, None)
            }

            /// Outputs and last state of a packed batch: `data` has the rows of all sequences at
            /// the first time step, then those at the second, and so on, the longest sequence
            /// first; `batch_sizes` says how many sequences each step has.
            pub fn run_packed(
                &self,
                data: &Tensor,
                batch_sizes: &[i64],
                state: Option<$state>,
            ) -> Result<(Tensor, $state)> {
                self.call(data, state, Some(batch_sizes))
            }
        }

        described! { $name(config) }

        impl Module for $name {
            fn forward(&self, input: &Tensor) -> Result<Tensor> {
                Ok(self.run(input, None)?.0)
            }

            fn visit(&self, visitor: &mut Visitor) {
                self.weights.visit(visitor);
                visitor.training(&self.training);
            }
        }
    };
}

fn zero_state(
    input: &Tensor,
    hidden: i64,
    config: &RecurrentConfig,
    batch_sizes: Option<&[i64]>,
) -> Result<Tensor> {
    let rows = config.num_layers * config.directions();
    let batch = match batch_sizes {
        Some(sizes) => sizes.first().copied(),
        None if input.ndim() < 3 => None,
        None => Some(input.size(if config.batch_first { 0 } else { 1 })),
    };
    let shape: Vec<i64> = [Some(rows), batch, Some(hidden)].into_iter().flatten().collect();
    Tensor::zeros_with(&shape, |o| o.dtype(input.dtype()).device(input.device()))
}

network! {
    /// h = tanh(weight_ih x + bias_ih + weight_hh h + bias_hh), or relu in place of tanh.
    Rnn, 1, Tensor, projects: false, relu: true
}
network! {
    /// Gated recurrent units, blocks r z n.
    Gru, 3, Tensor, projects: false, relu: false
}
network! {
    /// Long short-term memory, blocks i f g o; states are (h, c).
    Lstm, 4, (Tensor, Tensor), projects: true, relu: false
}

impl Rnn {
    fn call(
        &self,
        input: &Tensor,
        state: Option<Tensor>,
        sizes: Option<&[i64]>,
    ) -> Result<(Tensor, Tensor)> {
        let hidden = self.weights()[0].size(0);
        let zeros = || zero_state(input, hidden, &self.config, sizes);
        let state = state.map_or_else(zeros, Ok)?;
        let weights = self.weights();
        if self.config.relu {
            return input.rnn_relu_with(&state, weights, |o| with_config!(self, sizes, o));
        }
        input.rnn_tanh_with(&state, weights, |o| with_config!(self, sizes, o))
    }
}

impl Gru {
    fn call(
        &self,
        input: &Tensor,
        state: Option<Tensor>,
        sizes: Option<&[i64]>,
    ) -> Result<(Tensor, Tensor)> {
        let hidden = self.weights()[0].size(0) / 3;
        let zeros = || zero_state(input, hidden, &self.config, sizes);
        let state = state.map_or_else(zeros, Ok)?;
        input.gru_with(&state, self.weights(), |o| with_config!(self, sizes, o))
    }
}

impl Lstm {
    fn call(
        &self,
        input: &Tensor,
        state: Option<(Tensor, Tensor)>,
        sizes: Option<&[i64]>,
    ) -> Result<(Tensor, (Tensor, Tensor))> {
        let states: Vec<Tensor> = state.into_iter().flat_map(|(h, c)| [h, c]).collect();
        let (output, h, c) =
            input.lstm_with(&states, self.weights(), |o| with_config!(self, sizes, o))?;
        Ok((output, (h, c)))
    }
}

// ---- cells ----

/// A cell: its struct and constructors.
macro_rules! cell {
    ($(#[$doc:meta])* $name:ident, $blocks:literal $(; $(#[$own_doc:meta])* $own:ident)?) => {
        $(#[$doc])*
        ///
        /// The input is (batch, features) or (features), a state (batch, hidden) or (hidden);
        /// without a state it is zeros.
        pub struct $name {
            /// (blocks hidden, features)
            pub weight_ih: Tensor,
            /// (blocks hidden, hidden)
            pub weight_hh: Tensor,
            /// (blocks hidden)
            pub bias_ih: Option<Tensor>,
            /// (blocks hidden)
            pub bias_hh: Option<Tensor>,
            $($own: bool,)?
        }

        impl $name {
            $(
                $(#[$own_doc])*
                #[must_use]
                pub fn $own(mut self, $own: bool) -> Self {
                    self.$own = $own;
                    self
                }
            )?

            /// A cell with biases.
            pub fn new(inputs: i64, hidden: i64) -> Result<Self> {
                Self::make(inputs, hidden, true)
            }

            /// A cell without biases.
            pub fn without_bias(inputs: i64, hidden: i64) -> Result<Self> {
                Self::make(inputs, hidden, false)
            }

            fn make(inputs: i64, hidden: i64, bias: bool) -> Result<Self> {
                let rows = $blocks * hidden;
                let biases = || bias.then(|| parameter(&[rows], hidden)).transpose();
                Ok(Self {
                    weight_ih: parameter(&[rows, inputs], hidden)?,
                    weight_hh: parameter(&[rows, hidden], hidden)?,
                    bias_ih: biases()?,
                    bias_hh: biases()?,
                    $($own: false,)?
                })
            }

            fn zero_state(&self, input: &Tensor) -> Result<Tensor> {
                let mut shape = input.shape().to_vec();
                shape.pop();
                shape.push(self.weight_hh.size(1));
                Tensor::zeros_with(&shape, |o| o.dtype(input.dtype()).device(input.device()))
            }
        }

        described! { $name }
    };
}

/// Sets the biases of a cell's op.
macro_rules! with_biases {
    ($cell:ident, $o:ident) => {{
        let o = $cell.bias_ih.iter().fold($o, |o, bias| o.b_ih(bias));
        $cell.bias_hh.iter().fold(o, |o, bias| o.b_hh(bias))
    }};
}

/// The module of a cell; `forward` starts from zeros and gives the new output.
macro_rules! cell_module {
    ($name:ident, |$cell:ident, $input:ident| $forward:expr) => {
        impl Module for $name {
            fn forward(&self, $input: &Tensor) -> Result<Tensor> {
                let $cell = self;
                $forward
            }

            fn visit(&self, visitor: &mut Visitor) {
                visitor.parameter("weight_ih", &self.weight_ih);
                visitor.parameter("weight_hh", &self.weight_hh);
                self.bias_ih.iter().for_each(|bias| visitor.parameter("bias_ih", bias));
                self.bias_hh.iter().for_each(|bias| visitor.parameter("bias_hh", bias));
            }
        }
    };
}

cell! {
    /// One step of [`Rnn`].
    RnnCell, 1;
    /// Whether to use relu in place of tanh; default no.
    relu
}
cell! {
    /// One step of [`Gru`].
    GruCell, 3
}
cell! {
    /// One step of [`Lstm`]; states are (h, c).
    LstmCell, 4
}
cell_module!(RnnCell, |cell, input| cell.run(input, None));
cell_module!(GruCell, |cell, input| cell.run(input, None));
cell_module!(LstmCell, |cell, input| Ok(cell.run(input, None)?.0));

impl RnnCell {
    /// The new state.
    pub fn run(&self, input: &Tensor, state: Option<Tensor>) -> Result<Tensor> {
        let state = state.map_or_else(|| self.zero_state(input), Ok)?;
        let (w_ih, w_hh) = (&self.weight_ih, &self.weight_hh);
        if self.relu {
            return input.rnn_relu_cell_with(&state, w_ih, w_hh, |o| with_biases!(self, o));
        }
        input.rnn_tanh_cell_with(&state, w_ih, w_hh, |o| with_biases!(self, o))
    }
}

impl GruCell {
    /// The new state.
    pub fn run(&self, input: &Tensor, state: Option<Tensor>) -> Result<Tensor> {
        let state = state.map_or_else(|| self.zero_state(input), Ok)?;
        input.gru_cell_with(&state, &self.weight_ih, &self.weight_hh, |o| with_biases!(self, o))
    }
}

impl LstmCell {
    /// The new state (h, c).
    pub fn run(&self, input: &Tensor, state: Option<(Tensor, Tensor)>) -> Result<(Tensor, Tensor)> {
        let zeros = || -> Result<(Tensor, Tensor)> {
            Ok((self.zero_state(input)?, self.zero_state(input)?))
        };
        let (h, c) = state.map_or_else(zeros, Ok)?;
        let states = [h, c];
        input.lstm_cell_with(&states, &self.weight_ih, &self.weight_hh, |o| with_biases!(self, o))
    }
}
