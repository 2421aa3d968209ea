// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Traces of the library while a closure runs: calls, kernels, nodes of the graph, memory.

use crate::error::done;
use crate::{DType, Device, DeviceType, Result};
use std::ffi::{c_char, CStr};
use std::slice;
use tessera_sys as sys;

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A function of the C ABI.
    Call,
    /// A kernel; on an asynchronous device, the time for queuing it.
    Launch,
    /// A node of the graph during a backward.
    Node,
    /// Memory taken.
    Allocate,
    /// Memory given back.
    Free,
    /// A range that the program has named.
    Annotation,
}

/// Options of a trace: which events, and how many.
#[derive(Clone, Debug)]
pub struct Options {
    /// The kinds of events.
    pub kinds: Vec<Kind>,
    /// Whether calls include their arguments.
    pub arguments: bool,
    /// The capacity in events; further events are lost and counted.
    pub capacity: i64,
}

impl Default for Options {
    fn default() -> Self {
        use Kind::{Allocate, Annotation, Call, Free, Launch, Node};
        let kinds = vec![Call, Launch, Node, Allocate, Free, Annotation];
        Self { kinds, arguments: false, capacity: 100_000 }
    }
}

/// One argument of a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Argument {
    /// An optional argument that was not given.
    Absent,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number from 2^63 on.
    Unsigned(u64),
    /// A real number.
    Real(f64),
    /// A complex number.
    Complex(f64, f64),
    /// A dtype, as the bits of the C ABI.
    DType(i64),
    /// A device.
    Device(Device),
    /// A text.
    Text(String),
    /// A tensor, described.
    Tensor(DType, Vec<i64>),
    /// Whole numbers.
    Ints(Vec<i64>),
    /// Real numbers.
    Reals(Vec<f64>),
    /// A list of tensors, each described.
    List(Vec<Argument>),
    /// The address of a callback, a struct, memory or another handle, which may be gone.
    Address(usize),
}

/// One event that has ended. Times are nanoseconds of the system's monotonic clock.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Record {
    /// What it is about.
    pub kind: Kind,
    /// The op or function, the kernel's op or family, the node.
    pub name: String,
    /// The family of a kernel.
    pub family: Option<String>,
    /// The function's or kernel's id in the schema, else 0.
    pub id: i32,
    /// When it began.
    pub begin: i64,
    /// When it ended.
    pub end: i64,
    /// Its number.
    pub correlation: u64,
    /// The number of the enclosing record on its thread, 0 if there is none.
    pub parent: u64,
    /// The system's number of the thread.
    pub thread: i32,
    /// Memory: bytes; a node: its sequence number; calls and kernels: the status.
    pub value: i64,
    /// Of a kernel or of memory; `None` also if this crate does not know its type.
    pub device: Option<Device>,
    /// Of a call, when arguments were asked for.
    pub args: Vec<Argument>,
}

/// The recorded events, in the order in which they ended.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The events.
    pub records: Vec<Record>,
    /// Events for which there was no room.
    pub lost: i64,
}

/// Runs `body` and records what every thread does meanwhile. One trace runs at a time.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{tracing, Tensor};
/// let x = Tensor::from([1.0_f32, 2.0]);
/// let (_, trace) = tracing::record(&tracing::Options::default(), || x.exp())?;
/// assert!(trace.records.iter().any(|r| r.name == "exp" && r.kind == tracing::Kind::Launch));
/// # Ok(())
/// # }
/// ```
pub fn record<R>(options: &Options, body: impl FnOnce() -> R) -> Result<(R, Trace)> {
    let arguments = if options.arguments { sys::TSR_TRACE_ARGUMENTS } else { 0 };
    let flags = options.kinds.iter().fold(arguments, |bits, kind| bits | kind.bit());
    // SAFETY: two numbers.
    done(unsafe { sys::tsr_trace_start(options.capacity, flags) })?;
    let running = Running;
    let result = body();
    drop(running);
    Ok((result, read()?))
}

/// Ends the recording, also when the closure panics.
struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        // SAFETY: takes nothing; it cannot fail.
        let _ = unsafe { sys::tsr_trace_stop() };
    }
}

fn read() -> Result<Trace> {
    const BATCH: i32 = 1024;
    let mut trace = Trace::default();
    let mut events = vec![sys::tsr_trace_event::default(); BATCH as usize];
    loop {
        let (mut count, mut lost) = (0, 0);
        // SAFETY: the array has as many elements, all of the size that the first one says.
        done(unsafe { sys::tsr_trace_read(events.as_mut_ptr(), BATCH, &mut count, &mut lost) })?;
        trace.lost += lost;
        // SAFETY: the library filled these, and what they point to is valid until the next read.
        trace.records.extend(events[..count as usize].iter().map(|e| unsafe { to_record(e) }));
        if count < BATCH {
            return Ok(trace);
        }
    }
}

impl Kind {
    fn bit(self) -> i32 {
        match self {
            Kind::Call => sys::TSR_TRACE_CALL,
            Kind::Launch => sys::TSR_TRACE_LAUNCH,
            Kind::Node => sys::TSR_TRACE_NODE,
            Kind::Allocate => sys::TSR_TRACE_ALLOCATE,
            Kind::Free => sys::TSR_TRACE_FREE,
            Kind::Annotation => sys::TSR_TRACE_ANNOTATION,
        }
    }

    fn from_bit(bit: i32) -> Self {
        match bit {
            sys::TSR_TRACE_CALL => Kind::Call,
            sys::TSR_TRACE_LAUNCH => Kind::Launch,
            sys::TSR_TRACE_NODE => Kind::Node,
            sys::TSR_TRACE_ALLOCATE => Kind::Allocate,
            sys::TSR_TRACE_ANNOTATION => Kind::Annotation,
            _ => Kind::Free,
        }
    }
}

/// # Safety
/// An event of the library whose borrowed parts are valid.
unsafe fn to_record(event: &sys::tsr_trace_event) -> Record {
    // SAFETY: names are texts that end with NUL, `args` is an array of `n_args` values.
    let (name, family, values) =
        unsafe { (name(event.name), optional_name(event.family), list(event.args, event.n_args)) };
    let kind = DeviceType::known(event.device_type);
    let device = kind.map(|kind| Device::new(kind, event.device_index));
    Record {
        kind: Kind::from_bit(event.kind),
        name,
        family,
        id: event.id,
        begin: event.begin_time,
        end: event.end_time,
        correlation: event.correlation,
        parent: event.parent,
        thread: event.thread,
        value: event.value,
        device,
        // SAFETY: values of the same event.
        args: values.iter().map(|value| unsafe { to_argument(value) }).collect(),
    }
}

/// # Safety
/// A text that ends with NUL.
unsafe fn name(text: *const c_char) -> String {
    // SAFETY: as asked for.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// # Safety
/// NULL, or a text that ends with NUL.
unsafe fn optional_name(text: *const c_char) -> Option<String> {
    // SAFETY: as asked for.
    (!text.is_null()).then(|| unsafe { name(text) })
}

/// # Safety
/// An array of `n` elements, which may be NULL when `n` is 0.
unsafe fn list<'a, T>(first: *const T, n: i32) -> &'a [T] {
    if n <= 0 {
        return &[];
    }
    // SAFETY: as asked for.
    unsafe { slice::from_raw_parts(first, n as usize) }
}

/// # Safety
/// A value of an event whose borrowed parts are valid.
unsafe fn to_argument(value: &sys::tsr_value) -> Argument {
    // SAFETY: the kind tells what `pointer` leads to and how many there are.
    unsafe {
        match value.kind {
            sys::TSR_VALUE_BOOL => Argument::Bool(value.integer != 0),
            sys::TSR_VALUE_INT => Argument::Int(value.integer),
            sys::TSR_VALUE_UNSIGNED => Argument::Unsigned(value.integer as u64),
            sys::TSR_VALUE_REAL => Argument::Real(value.real),
            sys::TSR_VALUE_COMPLEX => Argument::Complex(value.real, value.imaginary),
            sys::TSR_VALUE_DTYPE => Argument::DType(value.integer),
            sys::TSR_VALUE_DEVICE => {
                let kind = DeviceType::known(value.integer as i32);
                kind.map_or(Argument::Absent, |kind| Argument::Device(Device::new(kind, value.n)))
            }
            sys::TSR_VALUE_TEXT => {
                let bytes = list(value.pointer.cast::<u8>(), value.integer as i32);
                Argument::Text(String::from_utf8_lossy(bytes).into_owned())
            }
            sys::TSR_VALUE_SHAPE => {
                let sizes = list(value.pointer.cast::<i64>(), value.n).to_vec();
                Argument::Tensor(DType::from_raw(value.integer as i32), sizes)
            }
            sys::TSR_VALUE_INTS => Argument::Ints(list(value.pointer.cast(), value.n).to_vec()),
            sys::TSR_VALUE_REALS => Argument::Reals(list(value.pointer.cast(), value.n).to_vec()),
            sys::TSR_VALUE_LIST => {
                let values = list(value.pointer.cast::<sys::tsr_value>(), value.n);
                Argument::List(values.iter().map(|value| to_argument(value)).collect())
            }
            sys::TSR_VALUE_POINTER | sys::TSR_VALUE_GENERATOR => {
                Argument::Address(value.pointer as usize)
            }
            _ => Argument::Absent,
        }
    }
}
