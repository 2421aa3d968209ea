// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Schedules of learning rates: functions of the initial rate and the number of the step, with the
//! options and defaults of PyTorch's schedulers.

use super::{Optimizer, Rule};
use crate::{Error, ErrorKind, Result};
use std::f64::consts::PI;
use std::fmt;

/// A learning rate for each step.
pub trait Schedule {
    /// The rate at a step, counted from 0, for this initial rate.
    ///
    /// # Panics
    /// The schedules of this crate panic if [`Schedule::check`] refuses the step.
    fn rate(&self, base: f64, step: u32) -> f64;

    /// An error if an option is wrong, or if the schedule ends before this step. A [`Scheduler`]
    /// calls it before each step.
    fn check(&self, step: u32) -> Result<()> {
        let _ = step;
        Ok(())
    }
}

impl<F: Fn(f64, u32) -> f64> Schedule for F {
    fn rate(&self, base: f64, step: u32) -> f64 {
        self(base, step)
    }
}

/// Half a cosine from `from` to `to` while the share goes from 0 to 1.
fn cosine(from: f64, to: f64, share: f64) -> f64 {
    to + (from - to) * (1.0 + (PI * share).cos()) / 2.0
}

fn share(step: u32, whole: u32) -> f64 {
    f64::from(step.min(whole)) / f64::from(whole)
}

fn refuse<T>(text: String) -> Result<T> {
    Err(Error::refused(ErrorKind::Value, text))
}

fn at_least_one(option: &str, value: u32) -> Result<()> {
    if value == 0 {
        return refuse(format!("{option}: expected at least 1, got 0"));
    }
    Ok(())
}

macro_rules! schedules {
    ($($(#[$doc:meta])* $name:ident {
        $($(#[$field_doc:meta])* $field:ident: $kind:ty = $default:expr,)*
    } $(check |$c:ident, $at:ident| $check:expr =>)?
    |$s:ident, $base:ident, $step:ident| $rate:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $kind,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default),* }
            }
        }

        impl Schedule for $name {
            fn rate(&self, $base: f64, $step: u32) -> f64 {
                if let Err(error) = self.check($step) {
                    panic!("{error}");
                }
                let $s = self;
                $rate
            }

            $(fn check(&self, $at: u32) -> Result<()> {
                let $c = self;
                $check
            })?
        }
    )*};
}

schedules! {
    /// Times `gamma` every `step_size` steps.
    StepLr {
        /// The steps between two changes.
        step_size: u32 = 1,
        /// The factor.
        gamma: f64 = 0.1,
    } check |s, _step| at_least_one("StepLr: step_size", s.step_size) =>
    |s, base, step| base * s.gamma.powi((step / s.step_size) as i32);

    /// Times `gamma` at each of the milestones.
    MultiStepLr {
        /// The steps of the changes.
        milestones: Vec<u32> = Vec::new(),
        /// The factor.
        gamma: f64 = 0.1,
    } |s, base, step| {
        let passed = s.milestones.iter().filter(|&&milestone| milestone <= step).count();
        base * s.gamma.powi(passed as i32)
    };

    /// Times `factor` until step `total_iters`.
    ConstantLr {
        /// The factor.
        factor: f64 = 1.0 / 3.0,
        /// The first step without it.
        total_iters: u32 = 5,
    } |s, base, step| if step >= s.total_iters { base } else { base * s.factor };

    /// Times a factor that goes along a line.
    LinearLr {
        /// The factor at step 0.
        start_factor: f64 = 1.0 / 3.0,
        /// The factor from `total_iters` on.
        end_factor: f64 = 1.0,
        /// The length of the line.
        total_iters: u32 = 5,
    } check |s, _step| at_least_one("LinearLr: total_iters", s.total_iters) =>
    |s, base, step| {
        let rise = s.end_factor - s.start_factor;
        base * (s.start_factor + rise * share(step, s.total_iters))
    };

    /// Times `gamma` at each step.
    ExponentialLr {
        /// The factor.
        gamma: f64 = 0.1,
    } |s, base, step| base * s.gamma.powf(f64::from(step));

    /// Falls as `(1 - step / total_iters)^power` to 0.
    PolynomialLr {
        /// The step of 0.
        total_iters: u32 = 5,
        /// The power.
        power: f64 = 1.0,
    } check |s, _step| at_least_one("PolynomialLr: total_iters", s.total_iters) =>
    |s, base, step| base * (1.0 - share(step, s.total_iters)).powf(s.power);

    /// Half a cosine to `eta_min` in `t_max` steps, and back.
    CosineAnnealingLr {
        /// The steps of the fall.
        t_max: u32 = 1,
        /// The least rate.
        eta_min: f64 = 0.0,
    } check |s, _step| at_least_one("CosineAnnealingLr: t_max", s.t_max) =>
    |s, base, step| cosine(base, s.eta_min, f64::from(step) / f64::from(s.t_max));

    /// Half a cosine in `t_0` steps, then again in `t_mult` times as many, and so on.
    CosineAnnealingWarmRestarts {
        /// The steps of the first fall.
        t_0: u32 = 1,
        /// How many times as long the next one is.
        t_mult: u32 = 1,
        /// The least rate.
        eta_min: f64 = 0.0,
    } check |s, _step| {
        at_least_one("CosineAnnealingWarmRestarts: t_0", s.t_0)?;
        at_least_one("CosineAnnealingWarmRestarts: t_mult", s.t_mult)
    } =>
    |s, base, step| {
        let (mut place, mut length) = (if s.t_mult == 1 { step % s.t_0 } else { step }, s.t_0);
        while place >= length {
            place -= length;
            length *= s.t_mult;
        }
        cosine(base, s.eta_min, f64::from(place) / f64::from(length))
    };

    /// Triangles between two rates.
    CyclicLr {
        /// The rate at the bottom.
        base_lr: f64 = 0.001,
        /// The rate at the first top.
        max_lr: f64 = 0.01,
        /// The steps of a rise.
        step_size_up: u32 = 2000,
        /// The steps of a fall; `None`: as many.
        step_size_down: Option<u32> = None,
        /// The heights of the tops.
        mode: CyclicMode = CyclicMode::Triangular,
    } check |s, _step| at_least_one("CyclicLr: step_size_up", s.step_size_up) =>
    |s, _base, step| {
        let (up, down) = (s.step_size_up, s.step_size_down.unwrap_or(s.step_size_up));
        let place = step % (up + down);
        let height = if place <= up {
            share(place, up)
        } else {
            1.0 - share(place - up, down)
        };
        let scale = match s.mode {
            CyclicMode::Triangular => 1.0,
            CyclicMode::Triangular2 => 0.5f64.powi((step / (up + down)) as i32),
            CyclicMode::ExpRange(gamma) => gamma.powf(f64::from(step)),
        };
        s.base_lr + (s.max_lr - s.base_lr) * height * scale
    };

    /// One rise to `max_lr` and a longer fall.
    OneCycleLr {
        /// The rate at the top.
        max_lr: f64 = 0.01,
        /// All steps.
        total_steps: u32 = 1,
        /// The share of the rise.
        pct_start: f64 = 0.3,
        /// Lines instead of cosines.
        linear: bool = false,
        /// The top by the rate at step 0.
        div_factor: f64 = 25.0,
        /// The rate at step 0 by that of the last step.
        final_div_factor: f64 = 1e4,
        /// A fall to the rate of step 0 that takes as long as the rise comes first.
        three_phase: bool = false,
    } check |s, step| {
        at_least_one("OneCycleLr: total_steps", s.total_steps)?;
        if !(0.0..=1.0).contains(&s.pct_start) {
            return refuse(format!(
                "OneCycleLr: pct_start: expected a number from 0 to 1, got {}",
                s.pct_start
            ));
        }
        if step > s.total_steps {
            return refuse(format!(
                "OneCycleLr: expected at most {} steps, got {step}",
                s.total_steps
            ));
        }
        Ok(())
    } =>
    |s, _base, step| {
        let start = s.max_lr / s.div_factor;
        let least = start / s.final_div_factor;
        let top = s.pct_start * f64::from(s.total_steps) - 1.0;
        let last = f64::from(s.total_steps) - 1.0;
        let now = f64::from(step);
        let (from, to, begin, end) = if now <= top {
            (start, s.max_lr, 0.0, top)
        } else if !s.three_phase {
            (s.max_lr, least, top, last)
        } else if now <= 2.0 * top {
            (s.max_lr, start, top, 2.0 * top)
        } else {
            (start, least, 2.0 * top, last)
        };
        // A phase without length is at its end.
        let place = if end > begin { (now - begin) / (end - begin) } else { 1.0 };
        if s.linear { from + (to - from) * place } else { cosine(from, to, place) }
    };
}

/// The heights of the tops of [`CyclicLr`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CyclicMode {
    /// All the same.
    Triangular,
    /// Half of that before.
    Triangular2,
    /// This number to the power of the step.
    ExpRange(f64),
}

/// A part of a [`SequentialLr`] or [`ChainedLr`].
type BoxedSchedule = Box<dyn Schedule + Send + Sync>;

/// One schedule after the other: the next begins with its step 0 at each of the milestones.
pub struct SequentialLr {
    schedules: Vec<BoxedSchedule>,
    milestones: Vec<u32>,
}

impl fmt::Debug for SequentialLr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SequentialLr")
            .field("schedules", &self.schedules.len())
            .field("milestones", &self.milestones)
            .finish()
    }
}

impl SequentialLr {
    /// The milestones do not fall, and are one fewer than the schedules.
    pub fn new(schedules: Vec<BoxedSchedule>, milestones: &[u32]) -> Result<Self> {
        if schedules.len() != milestones.len() + 1 {
            return refuse(format!(
                "SequentialLr: expected one milestone fewer than the {} schedules, got {}",
                schedules.len(),
                milestones.len()
            ));
        }
        if milestones.windows(2).any(|pair| pair[0] > pair[1]) {
            return refuse(format!(
                "SequentialLr: expected milestones that do not fall, got {milestones:?}"
            ));
        }
        schedules.iter().try_for_each(|schedule| schedule.check(0))?;
        Ok(Self { schedules, milestones: milestones.to_vec() })
    }

    /// The schedule of a step, and the number of the step there.
    fn part(&self, step: u32) -> (&dyn Schedule, u32) {
        let number = self.milestones.iter().filter(|&&milestone| milestone <= step).count();
        let begin = if number == 0 { 0 } else { self.milestones[number - 1] };
        (&*self.schedules[number], step - begin)
    }
}

impl Schedule for SequentialLr {
    fn rate(&self, base: f64, step: u32) -> f64 {
        let (schedule, step) = self.part(step);
        schedule.rate(base, step)
    }

    fn check(&self, step: u32) -> Result<()> {
        let (schedule, step) = self.part(step);
        schedule.check(step)
    }
}

/// Several schedules at once: each changes the rate that the one before gives.
pub struct ChainedLr(Vec<BoxedSchedule>);

impl fmt::Debug for ChainedLr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChainedLr").field("schedules", &self.0.len()).finish()
    }
}

impl ChainedLr {
    /// Of these schedules.
    pub fn new(schedules: Vec<BoxedSchedule>) -> Self {
        Self(schedules)
    }
}

impl Schedule for ChainedLr {
    fn rate(&self, base: f64, step: u32) -> f64 {
        self.0.iter().fold(base, |rate, schedule| schedule.rate(rate, step))
    }

    fn check(&self, step: u32) -> Result<()> {
        self.0.iter().try_for_each(|schedule| schedule.check(step))
    }
}

/// At each step times a function of its number; step 0 has the initial rate. A function of the
/// initial rate and the step is a schedule by itself.
#[derive(Clone, Debug)]
pub struct MultiplicativeLr<F: Fn(u32) -> f64>(pub F);

impl<F: Fn(u32) -> f64> Schedule for MultiplicativeLr<F> {
    fn rate(&self, base: f64, step: u32) -> f64 {
        (1..=step).fold(base, |rate, i| rate * (self.0)(i))
    }
}

/// What has a learning rate for each of its groups of parameters: an [`Optimizer`], or a
/// [`ShardedOptimizer`](crate::data_parallel::ShardedOptimizer).
pub trait Rates {
    /// The number of groups.
    fn group_count(&self) -> usize;

    /// The learning rate of a group.
    fn lr(&self, group: usize) -> Result<f64>;

    /// Sets the learning rate of a group.
    fn set_group_lr(&mut self, group: usize, lr: f64) -> Result<()>;
}

impl<R: Rule> Rates for Optimizer<R> {
    fn group_count(&self) -> usize {
        Self::group_count(self)
    }

    fn lr(&self, group: usize) -> Result<f64> {
        Self::lr(self, group)
    }

    fn set_group_lr(&mut self, group: usize, lr: f64) -> Result<()> {
        Self::set_group_lr(self, group, lr)
    }
}

/// Sets the rates of an optimizer's groups by a schedule.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::optim::{Optimizer, Scheduler, Sgd, StepLr};
/// use tessera::Tensor;
/// let parameters = [Tensor::ones(&[2])?.requiring_grad()?];
/// let mut optimizer = Optimizer::new(Sgd { lr: 1.0, ..Default::default() }, &parameters)?;
/// let schedule = StepLr { step_size: 2, gamma: 0.5 };
/// let mut scheduler = Scheduler::new(&mut optimizer, schedule)?;
/// scheduler.step(&mut optimizer)?;
/// scheduler.step(&mut optimizer)?;
/// assert_eq!(optimizer.rule(0)?.lr, 0.5);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Scheduler<S: Schedule> {
    schedule: S,
    initial: Vec<f64>,
    step: u32,
}

impl<S: Schedule> Scheduler<S> {
    /// Sets the rates of step 0; those of the groups before are the initial ones. An error if the
    /// schedule has wrong options.
    pub fn new(optimizer: &mut impl Rates, schedule: S) -> Result<Self> {
        let rates = (0..optimizer.group_count()).map(|group| optimizer.lr(group));
        let mut made = Self { schedule, initial: rates.collect::<Result<_>>()?, step: 0 };
        made.go_to(optimizer, 0)?;
        Ok(made)
    }

    /// Goes to the next step.
    pub fn step(&mut self, optimizer: &mut impl Rates) -> Result<()> {
        self.go_to(optimizer, self.step + 1)
    }

    /// Goes to any step of the schedule.
    pub fn go_to(&mut self, optimizer: &mut impl Rates, step: u32) -> Result<()> {
        self.schedule.check(step)?;
        self.step = step;
        for (group, &base) in self.initial.iter().enumerate() {
            optimizer.set_group_lr(group, self.schedule.rate(base, step))?;
        }
        Ok(())
    }

    /// The number of the step.
    pub fn current_step(&self) -> u32 {
        self.step
    }
}
