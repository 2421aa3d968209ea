// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Mixed precision: regions of autocast, and the scaler of a loss.

use crate::arguments::one;
use crate::error::done;
use crate::handle::owner;
use crate::io::path_bytes;
use crate::optim::{Optimizer, Rule};
use crate::{DType, DeviceType, Result, Tensor};
use std::marker::PhantomData;
use std::path::Path;
use tessera_sys as sys;

fn state_of(device: DeviceType) -> Result<sys::tsr_autocast_state> {
    let mut state = sys::tsr_autocast_state::default();
    // SAFETY: a struct with its size.
    done(unsafe { sys::tsr_autocast_get(device as i32, &mut state) })?;
    Ok(state)
}

/// Whether autocast is on for this thread and kind of device.
pub fn is_autocast_enabled(device: DeviceType) -> bool {
    state_of(device).is_ok_and(|state| state.enabled != 0)
}

/// The dtype to which this thread casts tensors of the kind of device.
pub fn autocast_dtype(device: DeviceType) -> Result<DType> {
    Ok(DType::from_raw(state_of(device)?.dtype))
}

/// Drops the casts of parameters that the regions of this thread keep.
pub fn clear_autocast_cache() -> Result<()> {
    // SAFETY: takes nothing.
    done(unsafe { sys::tsr_autocast_clear_cache() })
}

/// A region of [`autocast`]: whose tensors are cast, and to what.
#[derive(Clone, Copy, Debug)]
pub struct Autocast {
    /// Whose tensors are cast.
    pub device: DeviceType,
    /// `DType::F16` or `DType::Bf16`; `None`: the thread's dtype for the device.
    pub dtype: Option<DType>,
    /// `false`: a region in the dtypes of its tensors.
    pub enabled: bool,
    /// Whether the cast of a parameter is kept until the outermost region ends; `None`: as around
    /// the region.
    pub cache_enabled: Option<bool>,
    /// `true`: PyTorch's lists of operators for this kind of device, which differ on the CPU; else
    /// those for CUDA.
    pub own_lists: bool,
}

impl Default for Autocast {
    fn default() -> Self {
        Self {
            device: DeviceType::Cpu,
            dtype: None,
            enabled: true,
            cache_enabled: None,
            own_lists: false,
        }
    }
}

impl Autocast {
    /// Begins the region; it ends when the guard is dropped. Guards must be dropped in reverse order,
    /// as variables are by themselves.
    pub fn enter(self) -> Result<AutocastGuard> {
        let mut before = state_of(self.device)?;
        let state = sys::tsr_autocast_state {
            enabled: i32::from(self.enabled),
            dtype: self.dtype.map_or(-1, |dtype| dtype as i32),
            cache_enabled: self.cache_enabled.map_or(before.cache_enabled, i32::from),
            own_lists: i32::from(self.own_lists),
            ..before
        };
        // SAFETY: two structs with their size.
        done(unsafe { sys::tsr_autocast_begin(&state, &mut before) })?;
        Ok(AutocastGuard { before, _thread: PhantomData })
    }
}

/// Ends a region of autocast when it is dropped.
#[must_use = "the region ends with the guard"]
#[derive(Debug)]
pub struct AutocastGuard {
    before: sys::tsr_autocast_state,
    _thread: PhantomData<*const ()>, // the region belongs to this thread
}

impl Drop for AutocastGuard {
    fn drop(&mut self) {
        // SAFETY: the struct that the beginning filled in.
        unsafe { sys::tsr_autocast_end(&self.before) };
    }
}

/// Until the guard is dropped, operators of this thread get tensors of the CPU in `dtype`, or in
/// float32 where they need it. [`Autocast`] has more options.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{amp::autocast, DType, Tensor};
/// let a = Tensor::ones(&[2, 2])?;
/// {
///     let _region = autocast(DType::Bf16)?;
///     assert_eq!(a.matmul(&a)?.dtype(), DType::Bf16);
///     assert_eq!(a.exp()?.dtype(), DType::F32);
/// }
/// assert_eq!(a.matmul(&a)?.dtype(), DType::F32);
/// # Ok(())
/// # }
/// ```
pub fn autocast(dtype: DType) -> Result<AutocastGuard> {
    Autocast { dtype: Some(dtype), ..Default::default() }.enter()
}

/// The numbers of a [`GradScaler`]; PyTorch's `state_dict` has the same names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalerState {
    /// What the loss is multiplied by.
    pub scale: f64,
    /// How the scale grows, after `growth_interval` iterations in a row with finite gradients.
    pub growth_factor: f64,
    /// How it shrinks, after gradients that are not finite.
    pub backoff_factor: f64,
    /// See `growth_factor`.
    pub growth_interval: i64,
    /// Such iterations so far.
    pub growth_tracker: i64,
    /// `false`: losses, gradients and steps are as without a scaler.
    pub enabled: bool,
}

impl Default for ScalerState {
    fn default() -> Self {
        Self {
            scale: 65536.0,
            growth_factor: 2.0,
            backoff_factor: 0.5,
            growth_interval: 2000,
            growth_tracker: 0,
            enabled: true,
        }
    }
}

impl ScalerState {
    fn to_raw(self) -> sys::tsr_grad_scaler_state {
        sys::tsr_grad_scaler_state {
            enabled: i32::from(self.enabled),
            scale: self.scale,
            growth_factor: self.growth_factor,
            backoff_factor: self.backoff_factor,
            growth_interval: self.growth_interval,
            growth_tracker: self.growth_tracker,
            ..Default::default()
        }
    }
}

owner! {
    /// Multiplies a loss by a scale and divides the gradients by it, so that small gradients of
    /// float16 do not become zero. A step whose gradients are not finite is skipped, and the scale
    /// shrinks.
    ///
    /// ```
    /// # fn main() -> tessera::Result<()> {
    /// use tessera::{amp::{autocast, GradScaler}, DType, Tensor};
    /// use tessera::{nn::{Linear, Module}, optim::{Optimizer, Sgd}};
    /// let model = Linear::new(4, 1)?;
    /// let mut optimizer = Optimizer::new(Sgd::default(), &model.parameters())?;
    /// let mut scaler = GradScaler::new()?;
    /// let loss = {
    ///     let _region = autocast(DType::F16)?;
    ///     model.forward(&Tensor::ones(&[2, 4])?)?.square()?.mean()?
    /// };
    /// scaler.scale(&loss)?.backward()?;
    /// scaler.step(&mut optimizer)?;
    /// scaler.update()?;
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug)]
    GradScaler, tsr_grad_scaler_s, tsr_grad_scaler_release
}

impl GradScaler {
    /// A scaler that begins with PyTorch's numbers.
    pub fn new() -> Result<Self> {
        Self::with(ScalerState::default())
    }

    /// A scaler that begins with these numbers.
    pub fn with(state: ScalerState) -> Result<Self> {
        let raw = state.to_raw();
        // SAFETY: a struct with its size; `out` is writable.
        Self::made(|out| unsafe { sys::tsr_grad_scaler_new(&raw, out) })
    }

    /// The loss times the scale, for its backward.
    pub fn scale(&mut self, loss: &Tensor) -> Result<Tensor> {
        // SAFETY: valid handles; `out` is writable.
        one(|out| unsafe { sys::tsr_grad_scaler_scale(self.raw(), loss.raw(), out) })
    }

    /// Divides the gradients of the optimizer, for example before they are clipped.
    pub fn unscale<R: Rule>(&mut self, optimizer: &mut Optimizer<R>) -> Result<()> {
        // SAFETY: valid handles.
        done(unsafe { sys::tsr_grad_scaler_unscale(self.raw(), optimizer.raw()) })
    }

    /// Steps the optimizer if its gradients are finite, and tells whether it did.
    pub fn step<R: Rule>(&mut self, optimizer: &mut Optimizer<R>) -> Result<bool> {
        let mut stepped = 0;
        // SAFETY: valid handles, a writable number.
        done(unsafe { sys::tsr_grad_scaler_step(self.raw(), optimizer.raw(), &mut stepped) })?;
        Ok(stepped != 0)
    }

    /// Ends an iteration: changes the scale by what the steps found.
    pub fn update(&mut self) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_grad_scaler_update(self.raw(), 0.0, 0) })
    }

    /// Ends an iteration with this scale.
    pub fn update_to(&mut self, scale: f64) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_grad_scaler_update(self.raw(), scale, 1) })
    }

    /// Whether gradients of this optimizer that are not finite were found since the last update.
    pub fn found_inf<R: Rule>(&self, optimizer: &Optimizer<R>) -> Result<bool> {
        let mut found = 0;
        // SAFETY: valid handles, a writable number.
        done(unsafe { sys::tsr_grad_scaler_found_inf(self.raw(), optimizer.raw(), &mut found) })?;
        Ok(found != 0)
    }

    /// The numbers of the scaler.
    pub fn state(&self) -> Result<ScalerState> {
        let mut raw = sys::tsr_grad_scaler_state::default();
        // SAFETY: a valid handle, a struct with its size.
        done(unsafe { sys::tsr_grad_scaler_state_get(self.raw(), &mut raw) })?;
        Ok(ScalerState {
            scale: raw.scale,
            growth_factor: raw.growth_factor,
            backoff_factor: raw.backoff_factor,
            growth_interval: raw.growth_interval,
            growth_tracker: raw.growth_tracker,
            enabled: raw.enabled != 0,
        })
    }

    /// Sets the numbers; after an error nothing has changed.
    pub fn load_state(&mut self, state: ScalerState) -> Result<()> {
        // SAFETY: a valid handle, a struct with its size.
        done(unsafe { sys::tsr_grad_scaler_state_set(self.raw(), &state.to_raw()) })
    }

    /// Writes the numbers to a file that every language loads.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path_bytes(&path);
        // SAFETY: a valid handle, text with its length.
        done(unsafe {
            sys::tsr_grad_scaler_save(self.raw(), path.as_ptr().cast(), path.len() as i64)
        })
    }

    /// Reads the numbers from a file that any language saved.
    pub fn load(&mut self, path: impl AsRef<Path>) -> Result<()> {
        let path = path_bytes(&path);
        // SAFETY: a valid handle, text with its length.
        done(unsafe {
            sys::tsr_grad_scaler_load(self.raw(), path.as_ptr().cast(), path.len() as i64)
        })
    }
}
