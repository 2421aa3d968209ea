// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! LBFGS: a quasi-Newton method that computes the loss several times a step, with PyTorch's options.
//!
//! Nocedal and Wright, "Numerical Optimization", 2nd edition: algorithm 7.4 (the two loops over the
//! history), 3.5 and 3.6 (the line search for the strong Wolfe conditions), 3.59 (cubic
//! interpolation).

use crate::{enable_grad, no_grad, Error, ErrorKind, Result, Tensor};
use std::collections::VecDeque;

/// Options of [`Lbfgs`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LbfgsOptions {
    /// The length of a step, or the first one that the line search tries.
    pub lr: f64,
    /// Iterations in one call of [`Lbfgs::step`].
    pub max_iter: usize,
    /// Evaluations of the loss in one call; `None`: 1.25 times the iterations.
    pub max_eval: Option<usize>,
    /// Ends when no element of the gradient is larger.
    pub tolerance_grad: f64,
    /// Ends when parameters or loss change by less.
    pub tolerance_change: f64,
    /// How many steps the approximation of the second derivatives knows; 0: none.
    pub history_size: usize,
    /// Whether the length of each step is searched by the strong Wolfe conditions.
    pub line_search: bool,
}

impl Default for LbfgsOptions {
    fn default() -> Self {
        Self {
            lr: 1.0,
            max_iter: 20,
            max_eval: None,
            tolerance_grad: 1e-7,
            tolerance_change: 1e-9,
            history_size: 100,
            line_search: false,
        }
    }
}

/// Limited-memory BFGS: all parameters are one vector.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{optim::{Lbfgs, LbfgsOptions}, Tensor};
/// let x = Tensor::from([3.0, -4.0]).requiring_grad()?;
/// let options = LbfgsOptions { line_search: true, ..Default::default() };
/// let mut optimizer = Lbfgs::new(options, &[x.clone()])?;
/// // Gradients are cleared before each call of the closure.
/// optimizer.step(|| {
///     let loss = x.subtract(1)?.square()?.sum()?;
///     loss.backward()?;
///     Ok(loss)
/// })?;
/// assert!(x.subtract(1)?.abs()?.max()?.item::<f64>()? < 1e-6);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Lbfgs {
    options: LbfgsOptions,
    parameters: Vec<Tensor>,
    history: VecDeque<(Tensor, Tensor, f64)>,
    scale: f64,
    last: Option<Last>,
}

/// The last iteration: the direction, how far the parameters went, and the gradient before.
#[derive(Debug)]
struct Last {
    direction: Tensor,
    length: f64,
    gradient: Tensor,
}

/// What is known of one step length; the slope is that of the loss in the search direction.
#[derive(Clone)]
struct Point {
    t: f64,
    loss: f64,
    gradient: Tensor,
    slope: f64,
}

impl Lbfgs {
    /// An optimizer of these parameters, of which there is at least one.
    pub fn new(options: LbfgsOptions, parameters: &[Tensor]) -> Result<Self> {
        if parameters.is_empty() {
            let text = "params: expected at least one parameter, got an empty list";
            return Err(Error::refused(ErrorKind::Value, text));
        }
        let (history, scale, last) = (VecDeque::new(), 1.0, None);
        Ok(Self { options, parameters: parameters.to_vec(), history, scale, last })
    }

    /// The options, which may change between steps.
    pub fn options(&mut self) -> &mut LbfgsOptions {
        &mut self.options
    }

    /// Minimises for up to `max_iter` iterations. The closure computes the loss, calls its backward
    /// and returns it; gradients are cleared before. Returns the loss of the first evaluation.
    pub fn step(&mut self, mut closure: impl FnMut() -> Result<Tensor>) -> Result<Tensor> {
        let _guard = no_grad();
        let options = self.options;
        let max_eval = options.max_eval.unwrap_or(options.max_iter * 5 / 4);
        let first = self.evaluate(&mut closure)?;
        let mut evaluations = 1;
        let (mut loss, mut gradient) = (first.item::<f64>()?, self.gather()?);
        if largest(&gradient)? <= options.tolerance_grad {
            return Ok(first);
        }
        for iteration in 1..=options.max_iter {
            let begins = self.last.is_none();
            let direction = self.direction(&gradient)?;
            let (before, mut length) = (loss, options.lr);
            if begins {
                length *= 1.0f64.min(1.0 / gradient.abs()?.sum()?.item::<f64>()?);
            }
            let slope = dot(&gradient, &direction)?;
            if slope > -options.tolerance_change {
                self.last = Some(Last { direction, length: 0.0, gradient });
                break;
            }
            let ends = iteration == options.max_iter;
            let start = Point { t: 0.0, loss, gradient: gradient.clone(), slope };
            let most = max_eval.saturating_sub(evaluations);
            let (now, more) = self.advance(&mut closure, start, &direction, length, ends, most)?;
            evaluations += more;
            let reached = now.t * largest(&direction)?;
            self.last = Some(Last { direction, length: now.t, gradient });
            (loss, gradient) = (now.loss, now.gradient);
            let flat = largest(&gradient)? <= options.tolerance_grad;
            let small = reached <= options.tolerance_change;
            let still = (loss - before).abs() < options.tolerance_change;
            if ends || evaluations >= max_eval || flat || small || still {
                break;
            }
        }
        Ok(first)
    }

    /// Moves the parameters along the direction: the point where they are now, and how often the
    /// closure was called. A search takes up to `most` steps.
    fn advance(
        &self,
        closure: &mut impl FnMut() -> Result<Tensor>,
        start: Point,
        direction: &Tensor,
        length: f64,
        ends: bool,
        most: usize,
    ) -> Result<(Point, usize)> {
        if self.options.line_search {
            let begin: Vec<_> =
                self.parameters.iter().map(|p| p.detach()?.deep_clone()).collect::<Result<_>>()?;
            let evaluate = |t: f64| -> Result<Point> {
                self.go(t, direction)?;
                let loss = self.evaluate(closure)?.item::<f64>()?;
                let gradient = self.gather()?;
                for (parameter, value) in self.parameters.iter().zip(&begin) {
                    parameter.copy_(value, |o| o)?;
                }
                Ok(Point { t, loss, slope: dot(&gradient, direction)?, gradient })
            };
            let tolerance = self.options.tolerance_change;
            let found = search(evaluate, &start, length, largest(direction)?, tolerance, most)?;
            self.go(found.0.t, direction)?;
            return Ok(found);
        }
        self.go(length, direction)?;
        if ends {
            return Ok((Point { t: length, ..start }, 0)); // nobody needs the loss there
        }
        let loss = self.evaluate(closure)?.item::<f64>()?;
        Ok((Point { t: length, loss, gradient: self.gather()?, slope: 0.0 }, 1))
    }

    /// The gradient times the approximate inverse of the matrix of second derivatives, negative.
    fn direction(&mut self, gradient: &Tensor) -> Result<Tensor> {
        let Some(last) = &self.last else {
            return gradient.negative();
        };
        let y = gradient.subtract(&last.gradient)?;
        let s = last.direction.multiply(last.length)?;
        let curvature = dot(&y, &s)?;
        if curvature > 1e-10 {
            self.scale = curvature / dot(&y, &y)?;
            self.history.push_back((y, s, 1.0 / curvature));
            while self.history.len() > self.options.history_size {
                self.history.pop_front();
            }
        }
        let mut q = gradient.negative()?;
        let mut weights = Vec::new();
        for (y, s, rho) in self.history.iter().rev() {
            let weight = rho * dot(s, &q)?;
            q = q.subtract(&y.multiply(weight)?)?;
            weights.push(weight);
        }
        q = q.multiply(self.scale)?;
        for ((y, s, rho), weight) in self.history.iter().zip(weights.into_iter().rev()) {
            q = q.add(&s.multiply(weight - rho * dot(y, &q)?)?)?;
        }
        Ok(q)
    }

    fn evaluate(&self, closure: &mut impl FnMut() -> Result<Tensor>) -> Result<Tensor> {
        self.parameters.iter().try_for_each(|parameter| parameter.set_grad(None))?;
        let _guard = enable_grad();
        closure()
    }

    /// All gradients as one vector.
    fn gather(&self) -> Result<Tensor> {
        let flat = |parameter: &Tensor| match parameter.grad()? {
            Some(gradient) => gradient.detach()?.reshape(&[-1]),
            None => parameter.detach()?.zeros_like()?.reshape(&[-1]),
        };
        Tensor::concat(&self.parameters.iter().map(flat).collect::<Result<Vec<_>>>()?)
    }

    fn go(&self, length: f64, direction: &Tensor) -> Result<()> {
        let mut begin = 0;
        for parameter in &self.parameters {
            let count = parameter.numel() as i64;
            let part = direction.narrow(0, begin, count)?.reshape(&parameter.shape())?;
            parameter.add_(&part.multiply(length)?)?;
            begin += count;
        }
        Ok(())
    }
}

fn dot(a: &Tensor, b: &Tensor) -> Result<f64> {
    a.vecdot(b)?.item()
}

fn largest(vector: &Tensor) -> Result<f64> {
    if vector.numel() == 0 {
        return Ok(0.0);
    }
    vector.abs()?.max()?.item()
}

// ---- The line search ----

/// Where the cubic through two points with their slopes is lowest, in [low, high]; the middle if it
/// has no such place.
fn cubic(one: &Point, two: &Point, low: f64, high: f64) -> f64 {
    let (one, two) = if one.t > two.t { (two, one) } else { (one, two) };
    let d1 = one.slope + two.slope - 3.0 * (one.loss - two.loss) / (one.t - two.t);
    let square = d1 * d1 - one.slope * two.slope;
    if square.is_nan() || square < 0.0 {
        return (low + high) / 2.0;
    }
    let d2 = square.sqrt();
    let share = (two.slope + d2 - d1) / (two.slope - one.slope + 2.0 * d2);
    (two.t - (two.t - one.t) * share).max(low).min(high)
}

// The strong Wolfe conditions, with the usual numbers c1 = 1e-4 and c2 = 0.9.
fn too_high(point: &Point, start: &Point) -> bool {
    point.loss > start.loss + 1e-4 * point.t * start.slope
}

fn is_flat(point: &Point, start: &Point) -> bool {
    point.slope.abs() <= -0.9 * start.slope
}

/// A point that lowers the loss enough and has a flat enough slope, and how many points were tried:
/// the first one and up to `most` more. `largest` is the largest element of the direction.
fn search(
    mut evaluate: impl FnMut(f64) -> Result<Point>,
    start: &Point,
    mut t: f64,
    largest: f64,
    tolerance: f64,
    most: usize,
) -> Result<(Point, usize)> {
    let (mut before, mut now, mut calls) = (start.clone(), evaluate(t)?, 1);
    let mut bracket = None;
    while calls <= most {
        if too_high(&now, start) || (calls > 2 && now.loss >= before.loss) {
            bracket = Some((before, now.clone()));
            break;
        }
        if is_flat(&now, start) {
            return Ok((now, calls));
        }
        if now.slope >= 0.0 {
            bracket = Some((before, now.clone()));
            break;
        }
        t = cubic(&before, &now, now.t + 0.01 * (now.t - before.t), now.t * 10.0);
        before = std::mem::replace(&mut now, evaluate(t)?);
        calls += 1;
    }
    let (one, two) = bracket.unwrap_or_else(|| (start.clone(), now));
    zoom(evaluate, start, (one, two), calls, largest, tolerance, most)
}

/// The second half of the search: narrows the bracket between two points.
fn zoom(
    mut evaluate: impl FnMut(f64) -> Result<Point>,
    start: &Point,
    (one, two): (Point, Point),
    mut calls: usize,
    largest: f64,
    tolerance: f64,
    most: usize,
) -> Result<(Point, usize)> {
    let (mut low, mut high) = if one.loss <= two.loss { (one, two) } else { (two, one) };
    let mut stuck = false;
    while calls <= most {
        let width = (high.t - low.t).abs();
        if width * largest < tolerance {
            break;
        }
        let (left, right) = (low.t.min(high.t), low.t.max(high.t));
        let mut t = cubic(&low, &high, left, right);
        // A place near an end, twice in a row or at the end itself, moves inwards by a tenth of the
        // width.
        let near = (right - t).min(t - left) < 0.1 * width;
        let moves = near && (stuck || t >= right || t <= left);
        if moves {
            let at_right = (t - right).abs() < (t - left).abs();
            t = if at_right { right - 0.1 * width } else { left + 0.1 * width };
        }
        stuck = near && !moves;
        let now = evaluate(t)?;
        calls += 1;
        if too_high(&now, start) || now.loss >= low.loss {
            high = now;
            if high.loss < low.loss {
                std::mem::swap(&mut low, &mut high);
            }
        } else {
            if is_flat(&now, start) {
                return Ok((now, calls));
            }
            if now.slope * (high.t - low.t) >= 0.0 {
                high = low;
            }
            low = now;
        }
    }
    Ok((low, calls))
}
