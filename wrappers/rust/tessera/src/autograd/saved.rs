// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Closures that decide how nodes save tensors: compressed, on another device, recomputed.

use super::{hooks::lent, Node};
use crate::error::{callback, done, drop_box};
use crate::io::path_bytes;
use crate::{Device, Result, Tensor};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::path::Path;
use tessera_sys as sys;

type Closure<A, B> = Box<dyn Fn(&A) -> Result<B> + Send + Sync>;

struct Hooks<P> {
    pack: Closure<Tensor, P>,
    unpack: Closure<P, Tensor>,
}

impl<P: Send + Sync + 'static> Hooks<P> {
    fn table(&self) -> sys::tsr_saved_hooks_vtable {
        sys::tsr_saved_hooks_vtable {
            pack: Some(pack::<P>),
            unpack: Some(unpack::<P>),
            drop: Some(drop_box::<Hooks<P>>),
            ..Default::default()
        }
    }
}

/// Ends [`saved_tensor_hooks`] on this thread when it is dropped. Guards end in reverse order.
#[must_use = "the hooks end with the guard"]
#[derive(Debug)]
pub struct SavedHooksGuard {
    _thread: PhantomData<*const ()>,
}

impl Drop for SavedHooksGuard {
    fn drop(&mut self) {
        // SAFETY: takes nothing; the matching push was on this thread, as the guard cannot leave it.
        unsafe { sys::tsr_saved_hooks_pop() };
    }
}

unsafe extern "C" fn pack<P: Send + Sync + 'static>(
    user: *mut c_void,
    tensor: sys::tsr_tensor,
    payload: *mut *mut c_void,
    drop: *mut sys::tsr_drop_fn,
) -> i32 {
    callback(|| {
        // SAFETY: user is the box of `saved_tensor_hooks`, which the library keeps; the tensor is
        // lent; the payload is a box that drop_box frees.
        unsafe {
            let hooks = &*user.cast::<Hooks<P>>();
            let packed = (hooks.pack)(lent(&tensor)?)?;
            *payload = Box::into_raw(Box::new(packed)).cast();
            *drop = Some(drop_box::<P>);
        }
        Ok(())
    })
}

unsafe extern "C" fn unpack<P: Send + Sync + 'static>(
    user: *mut c_void,
    payload: *mut c_void,
    tensor: *mut sys::tsr_tensor,
) -> i32 {
    callback(|| {
        // SAFETY: as above; what is written to tensor is a reference that the library takes over.
        unsafe {
            let hooks = &*user.cast::<Hooks<P>>();
            *tensor = (hooks.unpack)(&*payload.cast::<P>())?.into_raw();
        }
        Ok(())
    })
}

/// Until the guard is dropped, `pack` gets every tensor that functions on this thread save for a
/// backward, and its result is saved instead; the backward calls `unpack` with it, once for each
/// use. `unpack` must return a tensor of the same shape, dtype and device. Errors and panics of the
/// closures come out of the function that saves, or of the backward.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{autograd::saved_tensor_hooks, DType, Tensor};
/// let x = Tensor::from([1.0, 2.0]).requiring_grad()?;
/// let y = {
///     // Saved tensors take half the memory, for half the digits.
///     let _guard = saved_tensor_hooks(
///         |tensor| tensor.astype(DType::F32),
///         |packed: &Tensor| packed.astype(DType::F64),
///     )?;
///     x.square()?.sum()?
/// };
/// y.backward()?;
/// assert_eq!(x.grad()?.unwrap().to_vec::<f64>()?, [2.0, 4.0]);
/// # Ok(())
/// # }
/// ```
pub fn saved_tensor_hooks<P: Send + Sync + 'static>(
    pack_hook: impl Fn(&Tensor) -> Result<P> + Send + Sync + 'static,
    unpack_hook: impl Fn(&P) -> Result<Tensor> + Send + Sync + 'static,
) -> Result<SavedHooksGuard> {
    let hooks = Hooks { pack: Box::new(pack_hook), unpack: Box::new(unpack_hook) };
    let table = hooks.table();
    // SAFETY: the table has its size; the box is freed by its drop once, also when this fails.
    done(unsafe { sys::tsr_saved_hooks_push(&table, Box::into_raw(Box::new(hooks)).cast()) })?;
    Ok(SavedHooksGuard { _thread: PhantomData })
}

impl Node {
    /// Keeps the result of `pack` in place of the saved tensor of this number (its place in
    /// [`Node::saved`]), from now on, as [`saved_tensor_hooks`] does for all tensors. It must have no
    /// closures yet.
    pub fn set_saved_hooks<P: Send + Sync + 'static>(
        &self,
        index: usize,
        pack_hook: impl Fn(&Tensor) -> Result<P> + Send + Sync + 'static,
        unpack_hook: impl Fn(&P) -> Result<Tensor> + Send + Sync + 'static,
    ) -> Result<()> {
        let hooks = Hooks { pack: Box::new(pack_hook), unpack: Box::new(unpack_hook) };
        let (table, index) = (hooks.table(), i64::try_from(index).unwrap_or(i64::MAX));
        let user = Box::into_raw(Box::new(hooks)).cast();
        // SAFETY: as in saved_tensor_hooks, with a valid handle.
        done(unsafe { sys::tsr_node_saved_hooks_set(self.raw(), index, &table, user) })
    }
}

fn pushed(status: i32) -> Result<SavedHooksGuard> {
    done(status)?;
    Ok(SavedHooksGuard { _thread: PhantomData })
}

/// Until the guard is dropped, saved tensors are kept on a device, and come back to their own when
/// the backward needs them. What is there already, and leaves that require grad, are saved as they
/// are. With `pinned`, copies in host memory are pinned for the device that they come from.
pub fn save_on_device(device: Device, pinned: bool) -> Result<SavedHooksGuard> {
    let (kind, index) = (device.kind as i32, device.index);
    // SAFETY: plain numbers.
    pushed(unsafe { sys::tsr_saved_hooks_push_device(kind, index, pinned.into(), 0) })
}

/// Until the guard is dropped, saved tensors of at least `min_bytes` are safetensors files in a
/// folder, each until no node needs it any more. Leaves that require grad stay in memory.
pub fn save_to_disk(folder: impl AsRef<Path>, min_bytes: usize) -> Result<SavedHooksGuard> {
    let folder = path_bytes(&folder);
    let (text, length) = (folder.as_ptr().cast(), folder.len() as i64);
    // SAFETY: a text and its length.
    pushed(unsafe { sys::tsr_saved_hooks_push_disk(text, length, min_bytes as i64) })
}

/// Until the guard is dropped, functions save copies: a program may then write to what they have
/// saved.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{autograd::save_copies, Tensor};
/// let x = Tensor::from([1.0, 2.0]).requiring_grad()?;
/// let y = {
///     let _guard = save_copies()?;
///     x.square()?.exp()?
/// };
/// y.detach()?.zero_()?;
/// y.sum()?.backward()?;
/// assert!(x.grad()?.unwrap().to_vec::<f64>()?[0] > 0.0);
/// # Ok(())
/// # }
/// ```
pub fn save_copies() -> Result<SavedHooksGuard> {
    // SAFETY: plain numbers.
    pushed(unsafe { sys::tsr_saved_hooks_push_device(-1, -1, 0, 1) })
}

/// Until the guard is dropped, pushing hooks on this thread is an error with this message; so are
/// checkpoints.
pub fn disable_saved_tensor_hooks(message: &str) -> Result<SavedHooksGuard> {
    // SAFETY: a text and its length.
    pushed(unsafe { sys::tsr_saved_hooks_disable(message.as_ptr().cast(), message.len() as i64) })
}
