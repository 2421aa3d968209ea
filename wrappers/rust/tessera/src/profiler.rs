// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The profiler: what a program's time and memory are spent on, as a table, a trace or a page.

use crate::error::{callback, done, drop_box};
use crate::host_stack::give_host_stack;
use crate::io::path_bytes;
use crate::memory::buffer_text;
use crate::{Device, Result};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::ptr::null_mut;
use tessera_sys as sys;

/// A named range in profiles and traces; it ends when it is dropped.
#[must_use = "the range ends with the guard"]
#[derive(Debug)]
pub struct Range {
    number: i64,
    _thread: PhantomData<*const ()>,
}

/// Begins a range. Ranges nest. Without a profiler a range costs a test.
pub fn range(name: &str) -> Range {
    // SAFETY: a text with its length, which the library copies.
    let number = unsafe { sys::tsr_profile_range_begin(name.as_ptr().cast(), name.len() as i64) };
    Range { number, _thread: PhantomData }
}

impl Drop for Range {
    fn drop(&mut self) {
        // SAFETY: a number; the range is of this thread, which it cannot leave.
        unsafe { sys::tsr_profile_range_end(self.number) };
    }
}

/// What a recording is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Format {
    /// For chrome://tracing and Perfetto.
    Chrome = sys::TSR_PROFILE_CHROME,
    /// All facts as JSON.
    Events = sys::TSR_PROFILE_EVENTS,
    /// One page that needs no network.
    Html = sys::TSR_PROFILE_HTML,
}

/// What a row of the table stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Group {
    /// A range, function or node.
    Ops = sys::TSR_PROFILE_BY_OPS,
    /// The same, functions with different shapes apart.
    OpsShapes = sys::TSR_PROFILE_BY_OPS_SHAPES,
    /// A kernel.
    Kernels = sys::TSR_PROFILE_BY_KERNELS,
}

/// The order of the rows of a table, the largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Sort {
    /// Time without what is inside.
    OwnTime = sys::TSR_PROFILE_SORT_SELF,
    /// Time with what is inside.
    Total = sys::TSR_PROFILE_SORT_TOTAL,
    /// Time of kernels on devices.
    Device = sys::TSR_PROFILE_SORT_DEVICE,
    /// Number of calls.
    Count = sys::TSR_PROFILE_SORT_COUNT,
    /// Operations of kernels.
    Flops = sys::TSR_PROFILE_SORT_FLOPS,
    /// Bytes that kernels read and write.
    Bytes = sys::TSR_PROFILE_SORT_BYTES,
    /// In alphabetical order.
    Name = sys::TSR_PROFILE_SORT_NAME,
}

/// What a profiler does during a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    Nothing,
    /// It records, and drops the recording.
    WarmUp,
    /// It records.
    Record,
    /// It records, and the cycle ends with this step.
    RecordAndSave,
}

/// Cycles of `wait` steps that are not recorded, `warmup` steps whose recording is dropped, and
/// `active` steps; `repeat` cycles (0: without end) after the first `skip_first` steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Schedule {
    pub skip_first: i64,
    pub wait: i64,
    pub warmup: i64,
    pub active: i64,
    pub repeat: i64,
}

/// Options of a profiler.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProfilerOptions {
    /// Without one, the recording lasts from start to stop.
    pub schedule: Option<Schedule>,
    /// Whether functions have the shapes of their arguments.
    pub shapes: bool,
    /// Whether allocations are recorded.
    pub memory: bool,
    /// Whether functions have a backtrace, on all threads. It is slow.
    pub stacks: bool,
    /// The events of a cycle; 0 means four million. Further ones are lost.
    pub capacity: i64,
}

/// Records all threads. One profiler runs at a time.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{profiler, Tensor};
/// let x = Tensor::ones(&[2, 3])?;
/// let mut prof = profiler::Profiler::new(&profiler::ProfilerOptions::default())?;
/// prof.start()?;
/// {
///     let _range = profiler::range("forward");
///     x.exp()?;
/// }
/// prof.stop()?;
/// let table = prof.table(profiler::Sort::OwnTime, 20)?;
/// assert!(table.contains("forward") && table.contains("exp"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Profiler {
    handle: sys::tsr_profiler,
    stacks: bool,
}

// SAFETY: the ABI lets any handle be used and released on any thread; the closure is `Send`.
unsafe impl Send for Profiler {}

// The library may drop the closure on any thread.
type Ready = Box<dyn FnMut(&Profiler) -> Result<()> + Send>;

unsafe extern "C" fn ready(user: *mut c_void, handle: sys::tsr_profiler) -> i32 {
    callback(|| {
        // SAFETY: user is the box of `with_ready`; the profiler is borrowed for the callback.
        let ready = unsafe { &mut *user.cast::<Ready>() };
        ready(&ManuallyDrop::new(Profiler { handle, stacks: false }))
    })
}

impl Profiler {
    /// A profiler that does not run yet.
    pub fn new(options: &ProfilerOptions) -> Result<Self> {
        Self::with_ready(options, |_| Ok(()))
    }

    /// The same; `body` is called after each cycle, in `step` or `stop`, which return its error. It
    /// may be dropped on another thread.
    ///
    /// ```compile_fail
    /// # use tessera::profiler::{Profiler, ProfilerOptions};
    /// let held = std::rc::Rc::new(());
    /// Profiler::with_ready(&ProfilerOptions::default(), move |_| Ok(drop(held.clone())));
    /// ```
    pub fn with_ready(
        options: &ProfilerOptions,
        body: impl FnMut(&Profiler) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let spans = sys::TSR_TRACE_CALL | sys::TSR_TRACE_LAUNCH | sys::TSR_TRACE_NODE;
        let memory = if options.memory { sys::TSR_TRACE_ALLOCATE | sys::TSR_TRACE_FREE } else { 0 };
        let schedule = options.schedule.unwrap_or_default();
        let given = sys::tsr_profiler_options {
            kinds: spans | sys::TSR_TRACE_ANNOTATION | memory,
            shapes: options.shapes.into(),
            stacks: options.stacks.into(),
            skip_first: schedule.skip_first,
            wait: schedule.wait,
            warmup: schedule.warmup,
            active: schedule.active,
            repeat: schedule.repeat,
            capacity: options.capacity,
            ..Default::default()
        };
        let user = Box::into_raw(Box::<Ready>::new(Box::new(body)));
        let mut handle = null_mut();
        // SAFETY: the struct has its size; the box is freed by its drop once, also when this fails.
        done(unsafe {
            sys::tsr_profiler_new(
                &given,
                Some(ready),
                user.cast(),
                Some(drop_box::<Ready>),
                &mut handle,
            )
        })?;
        Ok(Self { handle, stacks: options.stacks })
    }

    /// Begins the first step.
    pub fn start(&mut self) -> Result<()> {
        if self.stacks {
            give_host_stack()?;
        }
        // SAFETY: a valid handle, which this object owns.
        done(unsafe { sys::tsr_profiler_start(self.handle) })
    }

    /// Ends the current step and begins the next one.
    pub fn step(&mut self) -> Result<()> {
        // SAFETY: as for start.
        done(unsafe { sys::tsr_profiler_step(self.handle) })
    }

    /// Ends the profiler and the cycle that it records.
    pub fn stop(&mut self) -> Result<()> {
        // SAFETY: as for start.
        done(unsafe { sys::tsr_profiler_stop(self.handle) })
    }

    /// What the profiler does during the current step.
    pub fn action(&self) -> Result<Action> {
        let mut action = 0;
        // SAFETY: as for start; `action` is writable.
        done(unsafe { sys::tsr_profiler_action(self.handle, &mut action) })?;
        Ok(match action {
            sys::TSR_PROFILE_ACTION_WARMUP => Action::WarmUp,
            sys::TSR_PROFILE_ACTION_RECORD => Action::Record,
            sys::TSR_PROFILE_ACTION_RECORD_AND_SAVE => Action::RecordAndSave,
            _ => Action::Nothing,
        })
    }

    /// The last recording as a table with at most `rows` rows (0: all).
    pub fn table(&self, sort: Sort, rows: i64) -> Result<String> {
        self.table_by(Group::Ops, sort, rows)
    }

    /// The same, with rows of a kind.
    pub fn table_by(&self, group: Group, sort: Sort, rows: i64) -> Result<String> {
        let mut text = null_mut();
        // SAFETY: `text` is writable and released after its text was copied.
        unsafe {
            done(sys::tsr_profiler_table(self.handle, group as i32, sort as i32, rows, &mut text))?;
            buffer_text(text)
        }
    }

    /// The rows of the table as JSON.
    pub fn rows(&self, group: Group, sort: Sort) -> Result<String> {
        let mut json = null_mut();
        // SAFETY: as for table_by.
        unsafe {
            done(sys::tsr_profiler_rows(self.handle, group as i32, sort as i32, &mut json))?;
            buffer_text(json)
        }
    }

    /// The last recording in a format.
    pub fn text(&self, format: Format) -> Result<String> {
        let mut text = null_mut();
        // SAFETY: as for table_by.
        unsafe {
            done(sys::tsr_profiler_text(self.handle, format as i32, &mut text))?;
            buffer_text(text)
        }
    }

    /// Writes the last recording to a file.
    pub fn save(&self, format: Format, path: impl AsRef<Path>) -> Result<()> {
        let path = path_bytes(&path);
        // SAFETY: a text with its length.
        done(unsafe {
            sys::tsr_profiler_export(
                self.handle,
                format as i32,
                path.as_ptr().cast(),
                path.len() as i64,
            )
        })
    }
}

impl Drop for Profiler {
    fn drop(&mut self) {
        // SAFETY: releases the reference that this object owns.
        unsafe { sys::tsr_profiler_release(self.handle) };
    }
}

/// What a device can do at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roof {
    /// Of a copy: read and written bytes.
    pub bytes_per_second: f64,
    /// Of a product of `f32` matrices.
    pub flops_per_second: f64,
}

/// Measures the roof at the first call for the device, which takes half a second. Tables then have
/// the shares of it.
pub fn roof(device: Device) -> Result<Roof> {
    let (mut bytes, mut flops) = (0.0, 0.0);
    // SAFETY: two places for numbers.
    done(unsafe {
        sys::tsr_profile_roof(device.kind as i32, device.index, &mut bytes, &mut flops)
    })?;
    Ok(Roof { bytes_per_second: bytes, flops_per_second: flops })
}
