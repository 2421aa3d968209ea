// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The library's per-thread state: the ambient state that a task carries along, and scopes.

use crate::error::done;
use crate::handle::handle;
use crate::Result;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use tessera_sys as sys;

handle! {
    /// The ambient state of a thread: modes, default device, current generator and streams,
    /// saved-tensor hooks, whether drops are deferred. An executor that moves a task to another
    /// thread carries it along; any number of threads may enter it.
    ///
    /// ```
    /// # fn main() -> tessera::Result<()> {
    /// let _guard = tessera::no_grad();
    /// let ambient = tessera::Ambient::save()?;
    /// std::thread::spawn(move || -> tessera::Result<()> {
    ///     let _entered = ambient.enter()?;
    ///     assert!(!tessera::autograd::is_grad_enabled());
    ///     Ok(())
    /// })
    /// .join()
    /// .unwrap()
    /// # }
    /// ```
    #[derive(Debug)]
    Ambient, tsr_ambient_s, tsr_ambient_retain, tsr_ambient_release
}

/// Suspends the thread's open scope. A scope stays with its thread and is not part of the saved
/// state.
struct ScopePause(sys::tsr_scope);

impl ScopePause {
    fn new() -> Result<Self> {
        let mut resting = null_mut();
        // SAFETY: no scope, and a writable place.
        done(unsafe { sys::tsr_scope_set_current(null_mut(), &mut resting) })?;
        Ok(Self(resting))
    }
}

impl Drop for ScopePause {
    fn drop(&mut self) {
        let mut none = null_mut();
        // SAFETY: the scope that was open on this thread, and still is.
        unsafe { sys::tsr_scope_set_current(self.0, &mut none) };
    }
}

impl Ambient {
    /// The state of this thread.
    pub fn save() -> Result<Self> {
        let _pause = ScopePause::new()?;
        // SAFETY: `out` is writable.
        Self::made(|out| unsafe { sys::tsr_ambient_save(out) })
    }

    /// Makes it the state of this thread.
    pub fn restore(&self) -> Result<()> {
        let _pause = ScopePause::new()?;
        // SAFETY: a valid handle; there is no scope in it.
        done(unsafe { sys::tsr_ambient_restore(self.raw()) })
    }

    /// Makes this the state of the thread until the guard is dropped.
    pub fn enter(&self) -> Result<AmbientGuard> {
        let before = Self::save()?;
        self.restore()?;
        Ok(AmbientGuard { before, _thread: PhantomData })
    }
}

/// Restores the thread's former state when it is dropped.
#[must_use = "the state ends with the guard"]
#[derive(Debug)]
pub struct AmbientGuard {
    before: Ambient,
    _thread: PhantomData<*const ()>,
}

impl Drop for AmbientGuard {
    fn drop(&mut self) {
        let _ = self.before.restore(); // cannot fail: it was saved on this thread
    }
}

// ---- Scopes ----

static OPEN_SCOPES: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static SCOPES_HERE: Cell<usize> = const { Cell::new(0) };
}

/// Whether handles made now on this thread belong to a scope.
#[inline(always)]
pub(crate) fn in_scope() -> bool {
    OPEN_SCOPES.load(Ordering::Relaxed) != 0 && SCOPES_HERE.get() != 0
}

/// Runs foreign code inside a scope: handles that the library returns to it on this thread and that
/// it does not release are released at the end. Tensors of this crate are not affected: each has
/// its own reference, inside a scope and outside.
pub fn scope<R>(body: impl FnOnce() -> R) -> Result<R> {
    struct Open(sys::tsr_scope);
    impl Drop for Open {
        fn drop(&mut self) {
            SCOPES_HERE.set(SCOPES_HERE.get() - 1);
            OPEN_SCOPES.fetch_sub(1, Ordering::Relaxed);
            // SAFETY: guards are dropped in reverse order, so this scope is the innermost.
            unsafe { sys::tsr_scope_end(self.0, std::ptr::null(), 0) };
        }
    }
    let mut scope = null_mut();
    // SAFETY: `scope` is writable.
    done(unsafe { sys::tsr_scope_begin(&mut scope) })?;
    OPEN_SCOPES.fetch_add(1, Ordering::Relaxed);
    SCOPES_HERE.set(SCOPES_HERE.get() + 1);
    let _open = Open(scope);
    Ok(body())
}
