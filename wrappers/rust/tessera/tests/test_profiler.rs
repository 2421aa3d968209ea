// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Profilers: ranges, schedules, tables, files, errors of the closure. One runs at a time, so these
//! tests do, too.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tessera::profiler::{
    range, roof, Action, Format, Group, Profiler, ProfilerOptions, Schedule, Sort,
};
use tessera::{Device, Error, ErrorKind, Result, Tensor};

fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[inline(never)]
fn a_function_of_another_thread() -> Result<()> {
    Tensor::ones(&[2])?.tan()?;
    Ok(())
}

#[test]
fn r11_table_and_formats_have_the_ranges_and_functions() -> Result<()> {
    let _turn = turn();
    let x = Tensor::ones(&[2, 3])?.requiring_grad()?;
    let options =
        ProfilerOptions { shapes: true, memory: true, stacks: true, ..Default::default() };
    let mut profiler = Profiler::new(&options)?;
    profiler.start()?;
    {
        let _outer = range("forward");
        let _inner = range("exponential");
        x.exp()?.sum()?.backward()?;
    }
    std::thread::spawn(a_function_of_another_thread).join().expect("the thread ends")?;
    profiler.stop()?;
    assert!(profiler.table(Sort::Total, 3)?.contains("forward"));
    assert!(profiler.table_by(Group::OpsShapes, Sort::Name, 0)?.contains("[[2,3]]"));
    assert!(profiler.rows(Group::Kernels, Sort::Flops)?.contains("\"exp\""));
    let events = profiler.text(Format::Events)?;
    for wanted in [
        "\"exponential\"",
        "\"ExpBackward\"",
        "\"allocate\"",
        "test_profiler",
        "a_function_of_another_thread",
    ] {
        assert!(events.contains(wanted), "{wanted}");
    }
    let path = std::env::temp_dir().join(format!("profile-{}.html", std::process::id()));
    profiler.save(Format::Html, &path)?;
    assert_eq!(std::fs::read_to_string(&path)?, profiler.text(Format::Html)?);
    std::fs::remove_file(path)?;
    Ok(())
}

#[test]
fn r11_schedule_calls_back_after_each_cycle() -> Result<()> {
    let _turn = turn();
    let schedule = Schedule { wait: 1, warmup: 1, active: 1, repeat: 2, ..Default::default() };
    let options = ProfilerOptions { schedule: Some(schedule), ..Default::default() };
    let cycles = Arc::new(AtomicI32::new(0));
    let counted = cycles.clone();
    let mut profiler = Profiler::with_ready(&options, move |profiler| {
        counted.fetch_add(1, Ordering::Relaxed);
        assert!(profiler.table(Sort::OwnTime, 0)?.contains("exp"));
        Ok(())
    })?;
    profiler.start()?;
    for step in 0..8 {
        Tensor::ones(&[1])?.exp()?;
        profiler.step()?;
        if step == 1 {
            assert_eq!(profiler.action()?, Action::RecordAndSave);
        }
    }
    profiler.stop()?;
    assert_eq!(cycles.load(Ordering::Relaxed), 2);
    assert_eq!(profiler.action()?, Action::Nothing);
    Ok(())
}

#[test]
fn a_profiler_moves_to_another_thread_with_its_closure() -> Result<()> {
    let _turn = turn();
    let cycles = Arc::new(AtomicI32::new(0));
    let counted = cycles.clone();
    let mut profiler = Profiler::with_ready(&ProfilerOptions::default(), move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(())
    })?;
    profiler.start()?;
    let stop = std::thread::spawn(move || profiler.stop());
    stop.join().expect("the thread ends")?;
    assert_eq!((cycles.load(Ordering::Relaxed), Arc::strong_count(&cycles)), (1, 1));
    Ok(())
}

#[test]
fn errors_of_the_closure_and_of_wrong_use_come_back() -> Result<()> {
    let _turn = turn();
    let options = ProfilerOptions::default();
    let mut profiler =
        Profiler::with_ready(&options, |_| Err(Error::new(ErrorKind::Value, "full")))?;
    assert_eq!(profiler.stop().unwrap_err().kind(), ErrorKind::Value);
    assert!(profiler.table(Sort::OwnTime, 0).is_err());
    profiler.start()?;
    assert_eq!(profiler.stop().unwrap_err().message(), "full");
    let wrong = Schedule { wait: 1, ..Default::default() };
    let options = ProfilerOptions { schedule: Some(wrong), ..options };
    assert_eq!(Profiler::new(&options).unwrap_err().kind(), ErrorKind::Value);
    Ok(())
}

#[test]
fn r11_roof_adds_the_share_of_it() -> Result<()> {
    let _turn = turn();
    let first = roof(Device::CPU)?;
    assert!(first.bytes_per_second > 0.0);
    assert_eq!(roof(Device::CPU)?, first);
    let mut profiler = Profiler::new(&ProfilerOptions::default())?;
    profiler.start()?;
    Tensor::ones(&[1000])?.exp()?;
    profiler.stop()?;
    assert!(profiler.table(Sort::OwnTime, 0)?.contains("Of roof"));
    Ok(())
}
