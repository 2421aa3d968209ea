// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Streams and events, as far as they can be tested on the CPU, which has none.

use tessera::{Device, DeviceType, ErrorKind, Event, Result, Stream, Tensor};

#[test]
fn streams_of_the_cpu_are_the_default_stream() -> Result<()> {
    let stream = Stream::new(Device::CPU)?;
    assert!(stream.native()?.is_null() && stream.is_done()?);
    assert_eq!(stream.device()?, Device::CPU);
    stream.synchronize()?;
    // SAFETY: null is the default stream.
    let wrapped = unsafe { Stream::from_native(Device::CPU, std::ptr::null_mut())? };
    assert!(wrapped.clone().is_done()?);
    let mut nothing = 0u8;
    // SAFETY: refused.
    let refused =
        unsafe { Stream::from_native(Device::CPU, std::ptr::from_mut(&mut nothing).cast()) };
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Device);
    Ok(())
}

#[test]
fn a_stream_is_current_while_its_guard_lives() -> Result<()> {
    let stream = Stream::new(Device::CPU)?;
    {
        let _guard = stream.enter()?;
        let x = Tensor::ones(&[2])?;
        x.record_stream(&Stream::current(Device::CPU)?)?;
        assert_eq!(x.sum()?.item::<f32>()?, 2.0);
    }
    assert!(Stream::current(Device::CPU)?.native()?.is_null());
    Ok(())
}

#[test]
fn events_mark_work() -> Result<()> {
    let (stream, event) = (Stream::current(Device::CPU)?, Event::new(Device::CPU)?);
    assert!(event.is_done()?, "marks nothing yet");
    event.record(&stream)?;
    stream.wait_event(&event)?;
    event.synchronize()?;
    assert!(event.clone().is_done()?);
    Ok(())
}

#[test]
fn absent_devices_have_no_streams() {
    let absent = Device::new(DeviceType::Simulated, 7);
    assert_eq!(Stream::new(absent).unwrap_err().kind(), ErrorKind::Device);
    assert_eq!(Event::new(absent).unwrap_err().kind(), ErrorKind::Device);
}
