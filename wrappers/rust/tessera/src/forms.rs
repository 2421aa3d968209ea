// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The forms of the generated op methods: one row of [`op`] or [`operand_op`] is the methods of an
//! op with one result, one row of [`options`] is an options struct with its setters.
//!
//! A head is `(<'a> &self, axis: i64; o: SumOptions<'a>)`: a lifetime, the receiver, required
//! arguments, and behind the semicolon what holds the options while the arguments of C are read.

/// `field: type = default, what the setter takes => what the field becomes;` with documentation.
macro_rules! options {
    ($(#[$about:meta])* $name:ident $(<$life:lifetime>)?:
        $($(#[$doc:meta])* $field:ident: $kind:ty = $default:expr, $given:ty => $value:expr;)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name $(<$life>)? {
            $($field: $kind,)*
        }

        impl $(<$life>)? Default for $name $(<$life>)? {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $(<$life>)? $name $(<$life>)? {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $field(mut self, $field: $given) -> Self {
                    self.$field = $value;
                    self
                }
            )*
        }
    };
}
pub(crate) use options;

/// `name head = function(arguments of C), out name = function, inplace name = function`; with
/// options `name, name_with head = ...`, of which the first takes all defaults.
macro_rules! op {
    (@new [$($doc:tt)*] $name:ident
        ($(<$life:lifetime>)? $(&$me:ident)? $(,)? $($p:ident: $t:ty),* $(; $o:ident: $options:ty)?)
        $f:ident ($($arg:expr),* $(,)?)) => {
        $($doc)*
        #[inline]
        pub fn $name $(<$life>)? (
            $(&$me,)? $($p: $t,)* $(options: impl FnOnce($options) -> $options)?
        ) -> Result<Tensor> {
            $(let $o = options(<$options>::default());)?
            one(|out| unsafe { sys::$f($($arg,)* out) })
        }
    };
    (@short [$($doc:tt)*] $name:ident $with:ident
        ($(<$life:lifetime>)? $(&$me:ident)? $(,)? $($p:ident: $t:ty),*; $o:ident: $options:ty)) => {
        $($doc)*
        #[inline]
        pub fn $name($(&$me,)? $($p: $t,)*) -> Result<Tensor> {
            Self::$with($($me,)? $($p,)* |o| o)
        }
    };
    (@out $name:ident $of:ident
        ($(<$life:lifetime>)? $(&$me:ident)? $(,)? $($p:ident: $t:ty),* $(; $o:ident: $options:ty)?)
        $f:ident ($($arg:expr),* $(,)?)) => {
        #[doc = concat!("[`Tensor::", stringify!($of), "`], written to `dst`, of the result's shape.")]
        #[inline]
        #[allow(clippy::too_many_arguments)] // those of the schema
        pub fn $name $(<$life>)? (
            $(&$me,)? $($p: $t,)* dst: &Tensor, $(options: impl FnOnce($options) -> $options)?
        ) -> Result<()> {
            $(let $o = options(<$options>::default());)?
            let place = place_of(dst)?;
            let status = unsafe { sys::$f($($arg,)* place.raw()) };
            written(stringify!($name), status, &[(dst, &place)])
        }
    };
    (@inplace $name:ident $of:ident
        ($(<$life:lifetime>)? &$me:ident $(,)? $($p:ident: $t:ty),* $(; $o:ident: $options:ty)?)
        $f:ident ($($arg:expr),* $(,)?)) => {
        #[doc = concat!("[`Tensor::", stringify!($of), "`], in place.")]
        #[inline]
        pub fn $name $(<$life>)? (
            &$me, $($p: $t,)* $(options: impl FnOnce($options) -> $options)?
        ) -> Result<&Self> {
            $(let $o = options(<$options>::default());)?
            done(unsafe { sys::$f($($arg),*) })?;
            Ok($me)
        }
    };
    ($(#[$doc:meta])* $name:ident $head:tt = $f:ident $args:tt
        $(, out $out:ident = $f_out:ident)? $(, inplace $changed:ident = $f_inplace:ident)?) => {
        op!(@new [$(#[$doc])*] $name $head $f $args);
        $(op!(@out $out $name $head $f_out $args);)?
        $(op!(@inplace $changed $name $head $f_inplace $args);)?
    };
    ($(#[$doc:meta])* $name:ident, $with:ident $head:tt = $f:ident $args:tt
        $(, out $out:ident = $f_out:ident)? $(, inplace $changed:ident = $f_inplace:ident)?) => {
        op!(@short [$(#[$doc])*] $name $with $head);
        op!(@new [#[doc = concat!("[`Tensor::", stringify!($name), "`] with options.")]]
            $with $head $f $args);
        $(op!(@out $out $name $head $f_out $args);)?
        $(op!(@inplace $changed $name $head $f_inplace $args);)?
    };
}
pub(crate) use op;

/// The same for an op of which one argument is a tensor or a number; there are two functions of C
/// for each form, and the operand stands between semicolons in the arguments.
macro_rules! operand_op {
    (@call $f:ident $g:ident ($($a:expr),*; $x:ident; $($b:expr),*) $($out:expr)?) => {
        match $x {
            Operand::Tensor($x) => sys::$f($($a,)* $x.raw() $(, $b)* $(, $out)?),
            Operand::Scalar($x) => sys::$g($($a,)* &$x.number() $(, $b)* $(, $out)?),
        }
    };
    (@new [$($doc:tt)*] $name:ident (<$life:lifetime> &$me:ident, $($p:ident: $t:ty),*)
        $f:ident $g:ident ($($a:expr),*; $x:ident; $($b:expr),*)) => {
        $($doc)*
        #[inline]
        pub fn $name<$life>(&$me, $($p: $t),*) -> Result<Tensor> {
            let $x = $x.into();
            one(|out| unsafe { operand_op!(@call $f $g ($($a),*; $x; $($b),*) out) })
        }
    };
    (@out $name:ident $of:ident (<$life:lifetime> &$me:ident, $($p:ident: $t:ty),*)
        $f:ident $g:ident ($($a:expr),*; $x:ident; $($b:expr),*)) => {
        #[doc = concat!("[`Tensor::", stringify!($of), "`], written to `dst`, of the result's shape.")]
        #[inline]
        pub fn $name<$life>(&$me, $($p: $t,)* dst: &Tensor) -> Result<()> {
            let $x = $x.into();
            let place = place_of(dst)?;
            let status = unsafe { operand_op!(@call $f $g ($($a),*; $x; $($b),*) place.raw()) };
            written(stringify!($name), status, &[(dst, &place)])
        }
    };
    (@inplace $name:ident $of:ident (<$life:lifetime> &$me:ident, $($p:ident: $t:ty),*)
        $f:ident $g:ident ($($a:expr),*; $x:ident; $($b:expr),*)) => {
        #[doc = concat!("[`Tensor::", stringify!($of), "`], in place.")]
        #[inline]
        pub fn $name<$life>(&$me, $($p: $t),*) -> Result<&Self> {
            let $x = $x.into();
            done(unsafe { operand_op!(@call $f $g ($($a),*; $x; $($b),*)) })?;
            Ok($me)
        }
    };
    ($(#[$doc:meta])* $name:ident $head:tt = $f:ident | $g:ident $args:tt
        $(, out $out:ident = $f_out:ident | $g_out:ident)?
        $(, inplace $changed:ident = $f_inplace:ident | $g_inplace:ident)?) => {
        operand_op!(@new [$(#[$doc])*] $name $head $f $g $args);
        $(operand_op!(@out $out $name $head $f_out $g_out $args);)?
        $(operand_op!(@inplace $changed $name $head $f_inplace $g_inplace $args);)?
    };
}
pub(crate) use operand_op;
