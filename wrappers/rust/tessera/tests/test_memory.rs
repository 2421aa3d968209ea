// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Memory: statistics, limits, pressure, scopes, and that nothing is left behind. The statistics
//! belong to the process, so these tests run one at a time.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tessera::autograd::custom_function;
use tessera::memory::{self, live_nodes, live_tensors};
use tessera::{scope, sys, Device, ErrorKind, LogLevel, Precision, Result, Tensor};

fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn memory_statistics() -> Result<()> {
    let _turn = turn();
    let before = memory::stats(Device::CPU)?.allocated_bytes.all.current;
    let x = Tensor::zeros(&[1 << 20])?;
    let stats = memory::stats(Device::CPU)?;
    assert!(stats.allocated_bytes.all.current >= before + (4 << 20));
    assert!(stats.allocated_bytes.all.peak >= stats.allocated_bytes.all.current);
    drop(x);
    assert_eq!(memory::stats(Device::CPU)?.allocated_bytes.all.current, before);
    memory::reset_peak(Device::CPU)?;
    let stats = memory::stats(Device::CPU)?;
    assert_eq!(stats.allocated_bytes.all.peak, stats.allocated_bytes.all.current);
    assert!(memory::trim(Device::CPU, 0)? >= 0 && memory::empty_cache(Device::CPU)? >= 0);
    let snapshot = memory::snapshot(Device::CPU)?;
    assert!(snapshot.starts_with('{') && snapshot.ends_with('}'));
    Ok(())
}

#[test]
fn limits_and_pressure() -> Result<()> {
    let _turn = turn();
    assert_eq!(memory::limit(Device::CPU)?, None);
    memory::empty_cache(Device::CPU)?;
    let held = memory::stats(Device::CPU)?.reserved_bytes.all.current;
    memory::set_limit(Device::CPU, Some(held + (64 << 20)))?;
    let cache = Arc::new(Mutex::new(Some(Tensor::zeros(&[12 << 20])?)));
    let asked = Arc::new(AtomicUsize::new(0));
    let guard = {
        let (cache, asked) = (cache.clone(), asked.clone());
        memory::on_pressure(Device::CPU, move |pressure| {
            asked.fetch_add(1, Ordering::SeqCst);
            assert!(pressure.live_tensors > 0);
            cache.lock().unwrap().take().is_some()
        })?
    };
    let x = Tensor::zeros(&[12 << 20])?; // only fits once the cache is gone
    assert!(asked.load(Ordering::SeqCst) >= 1 && cache.lock().unwrap().is_none());
    drop(guard);
    let calls = asked.load(Ordering::SeqCst);
    let error = Tensor::zeros(&[12 << 20]).unwrap_err();
    assert_eq!((error.kind(), asked.load(Ordering::SeqCst)), (ErrorKind::OutOfMemory, calls));
    drop(x);
    let panicking = memory::on_pressure(Device::CPU, |_| panic!("in a pressure closure"))?;
    let error = Tensor::zeros(&[64 << 20]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    drop(panicking);
    memory::set_limit(Device::CPU, None)?;
    assert_eq!(memory::limit(Device::CPU)?, None);
    assert_eq!(memory::set_limit(Device::CPU, Some(-1)).unwrap_err().kind(), ErrorKind::Value);
    Ok(())
}

#[test]
fn pressure_comes_before_growth_above_a_threshold() -> Result<()> {
    let _turn = turn();
    assert_eq!(memory::pressure_threshold(Device::CPU)?, None);
    memory::set_pressure_threshold(Device::CPU, Some(0))?;
    assert_eq!(memory::pressure_threshold(Device::CPU)?, Some(0));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let guard = memory::on_pressure(Device::CPU, move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        false
    })?;
    memory::empty_cache(Device::CPU)?;
    drop(Tensor::zeros(&[12 << 20])?);
    assert!(asked.load(Ordering::SeqCst) >= 1);
    drop(guard);
    memory::set_pressure_threshold(Device::CPU, None)?;
    assert_eq!(memory::pressure_threshold(Device::CPU)?, None);
    Ok(())
}

#[test]
fn e9_functions_and_hooks_leave_nothing_behind() -> Result<()> {
    let _turn = turn();
    let before = (live_tensors(), live_nodes());
    {
        let x = Tensor::from([1.0, 2.0]).requiring_grad()?;
        let kept = x.clone(); // a hook may keep its own tensor: the hook goes with the tensor's graph
        let hook = x.register_hook(move |grad| Ok(Some(grad + &kept.detach()?)))?;
        let y = custom_function(
            "Twice",
            &[&x],
            |saver| {
                saver.save(&x);
                Ok(vec![&x * 2])
            },
            |context, grads| {
                context.saved(0)?;
                Ok(vec![grads[0].as_ref().map(|grad| grad * 2)])
            },
        )?;
        y[0].sum()?.backward()?;
        hook.remove()?;
        let failing = x.register_hook(|_| panic!("thrown away"))?;
        let again = (&x * 2).sum()?;
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| again.backward()));
        assert!(caught.is_err());
        failing.remove()?;
    }
    let _ = Tensor::from([1]).reshape(&[2]); // replaces the record of the panic
    assert_eq!((live_tensors(), live_nodes()), before);
    Ok(())
}

#[test]
fn training_steps_do_not_leak() -> Result<()> {
    let _turn = turn();
    let before = (live_tensors(), live_nodes());
    {
        let w = Tensor::ones(&[8])?.requiring_grad()?;
        for _ in 0..10 {
            (&w * &w).sum()?.backward()?;
            w.set_grad(None)?;
        }
    }
    assert_eq!((live_tensors(), live_nodes()), before);
    Ok(())
}

#[test]
fn tensors_may_be_made_used_and_dropped_in_any_thread() -> Result<()> {
    let _turn = turn();
    let before = live_tensors();
    let made = std::thread::spawn(|| Tensor::ones(&[3]).unwrap()).join().unwrap();
    let sum = std::thread::spawn(move || made.sum().unwrap().item::<f32>().unwrap());
    assert_eq!(sum.join().unwrap(), 3.0);
    assert_eq!(live_tensors(), before);
    Ok(())
}

#[test]
fn scopes_release_foreign_handles_and_leave_ours_alone() -> Result<()> {
    let _turn = turn();
    let before = live_tensors();
    let kept = scope(|| -> Result<Tensor> {
        let ours = Tensor::ones(&[2])?;
        drop(&ours * 2);
        let mut forgotten = null_mut();
        // SAFETY: the handle belongs to the scope.
        assert_eq!(unsafe { sys::tsr_exp(ours.raw(), &mut forgotten) }, sys::TSR_OK);
        assert!(live_tensors() >= before + 2);
        Ok(ours)
    })??;
    assert_eq!(live_tensors(), before + 1);
    assert_eq!((kept.use_count()?, kept.sum()?.item::<f32>()?), (1, 2.0));
    let panicked = std::panic::catch_unwind(|| scope(|| panic!("inside")));
    assert!(panicked.is_err());
    drop(kept);
    assert_eq!(live_tensors(), before);
    Ok(())
}

#[test]
fn threads_can_be_limited() -> Result<()> {
    let _turn = turn();
    let before = tessera::num_threads();
    tessera::set_num_threads(1)?;
    assert_eq!(tessera::num_threads(), 1);
    tessera::set_num_threads(before)?;
    assert_eq!(tessera::set_num_threads(0).unwrap_err().kind(), ErrorKind::Value);
    Ok(())
}

#[test]
fn products_can_be_less_exact() {
    let _turn = turn();
    assert_eq!(tessera::float32_matmul_precision(), Precision::Highest);
    tessera::set_float32_matmul_precision(Precision::High);
    assert_eq!(tessera::float32_matmul_precision(), Precision::High);
    tessera::set_float32_matmul_precision(Precision::Highest);
}

#[test]
fn pinned_memory_wants_a_device_that_reads_it() -> Result<()> {
    let _turn = turn();
    let x = Tensor::from([1.0f32, 2.0]);
    assert!(!x.is_pinned()?);
    assert_eq!(x.pin_memory(Some(Device::CPU)).unwrap_err().kind(), ErrorKind::NotImplemented);
    if Device::count(tessera::DeviceType::Cuda)? == 0 {
        assert_eq!(x.pin_memory(None).unwrap_err().kind(), ErrorKind::Device);
    }
    // Without pinned memory non_blocking is ignored.
    let y = x.to_with(|o| o.copy(true).non_blocking(true))?;
    assert!(!y.is_pinned()?);
    y.copy_(&(&x + &x), |o| o.non_blocking(true))?;
    assert_eq!(y.to_vec::<f32>()?, [2.0, 4.0]);
    Ok(())
}

#[test]
fn logs_reach_a_closure() -> Result<()> {
    let _turn = turn();
    let dropped = Arc::new(());
    let held = dropped.clone();
    tessera::set_log(Some(Box::new(move |level: LogLevel, _, _| {
        let _ = (&held, level);
    })))?;
    assert_eq!(Arc::strong_count(&dropped), 2);
    tessera::set_log(None)?;
    assert_eq!(Arc::strong_count(&dropped), 1);
    assert!(LogLevel::Warning > LogLevel::Info);
    Ok(())
}

#[test]
fn the_library_says_its_version() {
    assert!(tessera::version().starts_with("0."));
    // SAFETY: there is nothing to load.
    let missing = unsafe { tessera::load_plugin("no/such/plugin.so") }.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Io);
}

#[test]
fn recordings_name_operations_and_places() -> Result<()> {
    let _turn = turn();
    let error = memory::holders(Device::CPU, 10).unwrap_err();
    assert!(error.message().contains("got one without a recording"), "{error}");
    {
        let options = memory::HistoryOptions { stacks: 8, ..Default::default() };
        let _recording = memory::record_history(Device::CPU, options)?;
        assert!(memory::is_recording(Device::CPU)?);
        let x = Tensor::ones(&[512, 1024])?;
        let holders = memory::holders(Device::CPU, 1)?;
        assert!(holders.contains("\"operation\": \"ones\""), "{holders}");
        assert!(holders.contains("float32[512, 1024]"), "{holders}");
        assert!(holders.contains("recordings_name_operations_and_places"), "{holders}");
        let page = memory::viewer(Device::CPU)?;
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("float32[512, 1024]"));
        assert_eq!(
            memory::viewer_of(&memory::snapshot(Device::CPU)?)?.len() / 1000,
            page.len() / 1000
        );
        drop(x);
        assert!(!memory::holders(Device::CPU, 1)?.contains("float32[512, 1024]"));
    }
    assert!(!memory::is_recording(Device::CPU)?);
    let error = memory::viewer_of("[]").unwrap_err();
    assert!(!error.message().contains("tsr_"), "{error}");
    Ok(())
}

#[test]
fn out_of_memory_is_observed_and_names_the_holders() -> Result<()> {
    let _turn = turn();
    memory::empty_cache(Device::CPU)?;
    let _recording = memory::record_history(Device::CPU, Default::default())?;
    let kept = Tensor::ones(&[2048, 1024])?;
    let seen = Arc::new(AtomicUsize::new(0));
    let observer = {
        let seen = seen.clone();
        memory::on_out_of_memory(Device::CPU, move |event| {
            seen.store(event.requested as usize, Ordering::SeqCst);
        })?
    };
    let held = memory::stats(Device::CPU)?.reserved_bytes.all.current;
    memory::set_limit(Device::CPU, Some(held))?;
    let error = Tensor::ones(&[64, 1024, 1024]);
    memory::set_limit(Device::CPU, None)?;
    drop(observer);
    let message = error.unwrap_err().to_string();
    assert!(message.contains("8.00 MiB in 1 block by ones, float32[2048, 1024]"), "{message}");
    assert_eq!(seen.load(Ordering::SeqCst), 256 << 20);
    drop(kept);
    Ok(())
}

#[test]
fn r15_memory_is_given_back_when_the_owner_is_dropped() -> Result<()> {
    let _turn = turn();
    let tensors = live_tensors();
    let nodes = live_nodes();
    let bytes = memory::stats(Device::CPU)?.allocated_bytes.all.current;
    {
        let x = Tensor::ones(&[256, 256])?.requiring_grad()?;
        let kept: Vec<Tensor> = (0..10).map(|_| x.exp()).collect::<Result<_>>()?;
        kept[0].sum()?.backward()?;
        assert!(live_tensors() > tensors && live_nodes() > nodes);
    }
    assert_eq!((live_tensors(), live_nodes()), (tensors, nodes));
    assert_eq!(memory::stats(Device::CPU)?.allocated_bytes.all.current, bytes);
    Ok(())
}

#[test]
fn r9_settings_change_one_by_one() -> Result<()> {
    let _turn = turn();
    let before = memory::settings(Device::CPU)?;
    assert_eq!((before.max_split_size, before.expandable_segments), (None, false));
    assert_eq!(memory::stats(Device::CPU)?.max_split_size, None);
    let mut settings = before;
    settings.roundup_power2_divisions = 4;
    memory::set_settings(Device::CPU, &settings)?;
    assert_eq!(memory::settings(Device::CPU)?.roundup_power2_divisions, 4);
    settings.roundup_power2_divisions = 3;
    let error = memory::set_settings(Device::CPU, &settings).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Value);
    memory::set_settings(Device::CPU, &before)?;
    assert_eq!(memory::settings(Device::CPU)?, before);
    memory::set_limit_fraction(Device::CPU, 0.5)?;
    assert!(memory::limit(Device::CPU)?.is_some());
    memory::set_limit(Device::CPU, None)?;
    Ok(())
}
