// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Schedules against the rates of tests/conformance/schedules.txt, and what sets them.

use std::collections::BTreeMap;
use tessera::optim::{
    ChainedLr, ConstantLr, CosineAnnealingLr, CosineAnnealingWarmRestarts, CyclicLr, CyclicMode,
    ExponentialLr, LinearLr, MultiStepLr, MultiplicativeLr, OneCycleLr, Optimizer, PolynomialLr,
    ReduceLrOnPlateau, Schedule, Scheduler, SequentialLr, Sgd, StepLr,
};
use tessera::{ErrorKind, Result, Tensor};

const TABLE: &str = include_str!("../../../../tests/conformance/schedules.txt");

/// The rows of schedules, or those of measures.
fn table(of_measures: bool) -> BTreeMap<&'static str, Vec<f64>> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    let lines = lines.filter(|line| line.starts_with("plateau") == of_measures);
    let row = |line: &'static str| {
        let mut words = line.split(' ');
        (words.next().unwrap(), words.map(|word| word.parse().unwrap()).collect())
    };
    lines.map(row).collect()
}

/// The schedules of make_schedules.py.
fn schedules() -> Result<BTreeMap<&'static str, Box<dyn Schedule>>> {
    let mut all: BTreeMap<&'static str, Box<dyn Schedule>> = BTreeMap::new();
    let triangles = |up, down, mode| {
        Box::new(CyclicLr {
            base_lr: 0.01,
            max_lr: 0.2,
            step_size_up: up,
            step_size_down: down,
            mode,
        })
    };
    all.insert("step", Box::new(StepLr { step_size: 7, ..Default::default() }));
    all.insert("multi_step", Box::new(MultiStepLr { milestones: vec![4, 9, 9, 20], gamma: 0.3 }));
    all.insert("constant", Box::new(ConstantLr { factor: 0.25, total_iters: 9 }));
    let linear = LinearLr { start_factor: 0.1, end_factor: 0.75, total_iters: 11 };
    all.insert("linear", Box::new(linear));
    all.insert("exponential", Box::new(ExponentialLr { gamma: 0.9 }));
    all.insert("polynomial", Box::new(PolynomialLr { total_iters: 30, power: 1.7 }));
    all.insert("cosine", Box::new(CosineAnnealingLr { t_max: 9, eta_min: 0.01 }));
    let restarts = CosineAnnealingWarmRestarts { t_0: 7, ..Default::default() };
    all.insert("warm_restarts", Box::new(restarts));
    let longer = CosineAnnealingWarmRestarts { t_0: 3, t_mult: 2, eta_min: 0.02 };
    all.insert("longer_restarts", Box::new(longer));
    all.insert("triangular", triangles(5, Some(8), CyclicMode::Triangular));
    all.insert("triangular2", triangles(5, None, CyclicMode::Triangular2));
    all.insert("exp_range", triangles(4, None, CyclicMode::ExpRange(0.9)));
    let one = OneCycleLr { max_lr: 0.5, total_steps: 41, ..Default::default() };
    let three = OneCycleLr { total_steps: 45, linear: true, three_phase: true, ..one.clone() };
    all.insert("one_cycle", Box::new(one));
    all.insert("three_phases", Box::new(three));
    let parts: Vec<Box<dyn Schedule + Send + Sync>> = vec![
        Box::new(LinearLr { start_factor: 0.1, total_iters: 4, ..Default::default() }),
        Box::new(CosineAnnealingLr { t_max: 10, ..Default::default() }),
        Box::new(ExponentialLr { gamma: 0.8 }),
    ];
    all.insert("sequence", Box::new(SequentialLr::new(parts, &[4, 12])?));
    let parts: Vec<Box<dyn Schedule + Send + Sync>> = vec![
        Box::new(ConstantLr { factor: 0.1, total_iters: 3 }),
        Box::new(ExponentialLr { gamma: 0.9 }),
    ];
    all.insert("chained", Box::new(ChainedLr::new(parts)));
    let factor = |step| if step % 3 == 0 { 0.8 } else { 1.0 };
    all.insert("multiplicative", Box::new(MultiplicativeLr(factor)));
    Ok(all)
}

#[test]
fn schedules_have_the_rates_of_the_table() -> Result<()> {
    let (table, ours) = (table(false), schedules()?);
    assert!(table.keys().eq(ours.keys()));
    for (name, rates) in table {
        assert_eq!(rates.len(), 41);
        for (step, expected) in rates.into_iter().enumerate() {
            let found = ours[name].rate(0.3, step as u32);
            assert!((found - expected).abs() < 1e-12, "{name} at {step}: {found}, not {expected}");
        }
    }
    Ok(())
}

#[test]
fn rates_fall_when_a_measure_stays() -> Result<()> {
    let losses = |step: usize| if step < 10 { 1.0 / (step + 1) as f64 } else { 0.1 };
    let half = ReduceLrOnPlateau { factor: 0.5, patience: 3, cooldown: 2, ..Default::default() };
    let up = ReduceLrOnPlateau {
        maximize: true,
        patience: 2,
        threshold: 0.06,
        absolute: true,
        min_lr: 1e-3,
        ..Default::default()
    };
    for (name, mut plateau, sign) in [("plateau", half, 1.0), ("plateau_max", up, -1.0)] {
        let rates = &table(true)[name];
        let rule = Sgd { lr: 0.3, ..Default::default() };
        let mut optimizer = Optimizer::new(rule, &[Tensor::ones(&[1])?.requiring_grad()?])?;
        for (step, expected) in rates.iter().enumerate() {
            let found = optimizer.lr(0)?;
            assert!((found - expected).abs() < 1e-12, "{name} at {step}: {found}, not {expected}");
            plateau.step(&mut optimizer, sign * losses(step))?;
        }
    }
    let mut optimizer = Optimizer::new(Sgd::default(), &[Tensor::ones(&[1])?.requiring_grad()?])?;
    let mut wrong = ReduceLrOnPlateau { factor: 1.0, ..Default::default() };
    assert_eq!(wrong.step(&mut optimizer, 1.0).unwrap_err().kind(), ErrorKind::Value);
    Ok(())
}

#[test]
fn schedulers_set_the_rates_of_all_groups() -> Result<()> {
    let parameter = || Tensor::ones(&[1])?.requiring_grad();
    let rule = |lr| Sgd { lr, ..Default::default() };
    let mut optimizer = Optimizer::new(rule(1.0), &[parameter()?])?;
    optimizer.add_group(rule(2.0), &[parameter()?])?;
    let half = |base: f64, step: u32| base / (1.0 + f64::from(step));
    let mut scheduler = Scheduler::new(&mut optimizer, half)?;
    assert_eq!(optimizer.lr(1)?, 2.0);
    scheduler.step(&mut optimizer)?;
    assert_eq!((optimizer.lr(0)?, optimizer.lr(1)?), (0.5, 1.0));
    scheduler.go_to(&mut optimizer, 3)?;
    assert_eq!((scheduler.current_step(), optimizer.lr(1)?), (3, 0.5));
    Ok(())
}

#[test]
fn sequences_need_fitting_milestones() {
    let refused = |parts: Vec<Box<dyn Schedule + Send + Sync>>, milestones: &[u32]| {
        assert_eq!(SequentialLr::new(parts, milestones).unwrap_err().kind(), ErrorKind::Value);
    };
    let part = || Box::new(StepLr::default());
    refused(vec![part()], &[3]);
    refused(vec![part(), part(), part()], &[10, 5]);
    refused(vec![part(), Box::new(StepLr { step_size: 0, ..Default::default() })], &[3]);
}

#[test]
fn schedules_with_wrong_options_are_refused() -> Result<()> {
    fn refused(schedule: impl Schedule, option: &str) -> Result<()> {
        let mut optimizer =
            Optimizer::new(Sgd::default(), &[Tensor::ones(&[1])?.requiring_grad()?])?;
        let error = Scheduler::new(&mut optimizer, schedule).err().expect("an error");
        assert_eq!(error.kind(), ErrorKind::Value);
        assert!(error.message().contains(option), "{error}");
        Ok(())
    }
    let restarts = CosineAnnealingWarmRestarts { t_0: 0, ..Default::default() };
    refused(CosineAnnealingWarmRestarts { t_0: 2, t_mult: 0, ..restarts.clone() }, "t_mult")?;
    refused(restarts, "t_0")?;
    refused(StepLr { step_size: 0, ..Default::default() }, "step_size")?;
    refused(LinearLr { total_iters: 0, ..Default::default() }, "total_iters")?;
    refused(PolynomialLr { total_iters: 0, ..Default::default() }, "total_iters")?;
    refused(CosineAnnealingLr { t_max: 0, ..Default::default() }, "t_max")?;
    refused(CyclicLr { step_size_up: 0, ..Default::default() }, "step_size_up")?;
    refused(OneCycleLr { total_steps: 0, ..Default::default() }, "total_steps")?;
    refused(OneCycleLr { pct_start: 1.5, ..Default::default() }, "pct_start")?;
    let part = StepLr { step_size: 0, ..Default::default() };
    refused(ChainedLr::new(vec![Box::new(part)]), "step_size")
}

#[test]
fn schedules_of_several_parts_move_to_other_threads() -> Result<()> {
    let parts: Vec<Box<dyn Schedule + Send + Sync>> = vec![Box::new(StepLr::default())];
    let chain = ChainedLr::new(vec![Box::new(SequentialLr::new(parts, &[])?)]);
    let rate = std::thread::spawn(move || chain.rate(1.0, 0)).join().expect("the thread ends");
    assert_eq!(rate, 1.0);
    Ok(())
}

#[test]
fn one_cycle_begins_at_the_top_and_ends() -> Result<()> {
    let cycle = OneCycleLr { max_lr: 0.5, total_steps: 10, pct_start: 0.1, ..Default::default() };
    assert_eq!(cycle.rate(0.0, 0), 0.5);
    assert_eq!(OneCycleLr { three_phase: true, ..cycle.clone() }.rate(0.0, 0), 0.5);
    let mut optimizer = Optimizer::new(Sgd::default(), &[Tensor::ones(&[1])?.requiring_grad()?])?;
    let parts: Vec<Box<dyn Schedule + Send + Sync>> =
        vec![Box::new(StepLr::default()), Box::new(cycle)];
    let mut scheduler = Scheduler::new(&mut optimizer, SequentialLr::new(parts, &[3])?)?;
    scheduler.go_to(&mut optimizer, 13)?;
    let least = optimizer.lr(0)?;
    assert_eq!(scheduler.step(&mut optimizer).unwrap_err().kind(), ErrorKind::Value);
    assert_eq!((scheduler.current_step(), optimizer.lr(0)?), (13, least));
    Ok(())
}
