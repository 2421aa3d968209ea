// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Short forms for models.

/// A [`Sequential`](crate::nn::Sequential) of these modules.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::nn::{sequential, Linear, Relu};
/// let model = sequential![Linear::new(3, 16)?, Relu, Linear::new(16, 1)?];
/// assert_eq!(model.len(), 3);
/// # Ok(())
/// # }
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! __sequential {
    ($($module:expr),* $(,)?) => {
        $crate::nn::Sequential::new()$(.with($module))*
    };
}
#[doc(inline)]
pub use crate::__sequential as sequential;

/// A model: a struct whose fields say how they are made. It gets a function `new`, which makes them,
/// and [`Module`](crate::nn::Module) with the functions that follow; `visit` names the fields as
/// [`parts!`](crate::nn::parts) does. Arguments of `new` follow the name of the struct.
///
/// ```
/// use tessera::nn::{model, Linear, Module};
/// use tessera::{Result, Tensor};
///
/// model! {
///     struct Net(inputs: i64, classes: i64) {
///         hidden: Linear = Linear::new(inputs, 16)?,
///         last: Linear = Linear::new(16, classes)?,
///     }
///
///     fn forward(&self, x: &Tensor) -> Result<Tensor> {
///         self.last.forward(&self.hidden.forward(x)?.relu()?)
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let net = Net::new(4, 3)?;
/// assert_eq!(net.forward(&Tensor::ones(&[2, 4])?)?.shape(), [2, 3]);
/// assert_eq!(net.named_parameters()[2].0, "last.weight");
/// # Ok(())
/// # }
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! __model {
    (
        $(#[$about:meta])*
        $visible:vis struct $name:ident $(($($argument:ident: $kind:ty),* $(,)?))? {
            $($(#[$field_about:meta])* $seen:vis $field:ident: $part:ty = $made:expr),+ $(,)?
        }
        $($functions:tt)*
    ) => {
        $(#[$about])*
        $visible struct $name {
            $($(#[$field_about])* $seen $field: $part,)+
        }

        impl $name {
            /// A model with new parameters.
            $visible fn new($($($argument: $kind),*)?) -> $crate::Result<Self> {
                Ok(Self { $($field: $made,)+ })
            }
        }

        impl $crate::nn::Module for $name {
            $($functions)*

            $crate::nn::parts! { $($field),+ }
        }
    };
}
#[doc(inline)]
pub use crate::__model as model;
