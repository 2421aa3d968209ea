// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Owners of counted handles: the common part of all types except the tensor.

/// Declares an owner that cannot be cloned, for a handle that one thread at a time may use: methods
/// that change it take `&mut`, which a clone would get around. A drop releases the reference.
macro_rules! owner {
    ($(#[$doc:meta])* $name:ident, $opaque:ident, $release:ident) => {
        $(#[$doc])*
        pub struct $name(std::ptr::NonNull<tessera_sys::$opaque>);

        // SAFETY: the ABI lets any handle be used and released on any thread.
        unsafe impl Send for $name {}
        // SAFETY: as above; what changes behind the handle is locked there, or takes `&mut`.
        unsafe impl Sync for $name {}

        #[allow(dead_code)] // each kind is made in some of these ways
        impl $name {
            pub(crate) fn raw(&self) -> *mut tessera_sys::$opaque {
                self.0.as_ptr()
            }

            /// Takes over the new reference that a call returns.
            pub(crate) fn made(
                call: impl FnOnce(*mut *mut tessera_sys::$opaque) -> i32,
            ) -> crate::Result<Self> {
                Ok(Self::made_optional(call)?.expect("a handle after a success"))
            }

            /// Like `made`, for calls that return null for "none".
            pub(crate) fn made_optional(
                call: impl FnOnce(*mut *mut tessera_sys::$opaque) -> i32,
            ) -> crate::Result<Option<Self>> {
                let mut handle = std::ptr::null_mut();
                crate::error::done(call(&mut handle))?;
                Ok(std::ptr::NonNull::new(handle).map(Self))
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: this is our reference.
                unsafe { tessera_sys::$release(self.raw()) };
            }
        }
    };
}

/// Declares an owner whose clones add a reference, for a handle that several threads may use.
macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $opaque:ident, $retain:ident, $release:ident) => {
        $crate::handle::owner! { $(#[$doc])* $name, $opaque, $release }

        impl Clone for $name {
            fn clone(&self) -> Self {
                // SAFETY: a valid handle.
                unsafe { tessera_sys::$retain(self.raw()) };
                Self(self.0)
            }
        }
    };
}

pub(crate) use {handle, owner};
