// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Opens a tensor that another process shares, prints its sum and adds 1 to each element.
//!
//! Usage: shared_tensor PLACE NBYTES COUNT, where PLACE is a name (/tessera-...) or fd:NUMBER of an
//! inherited file descriptor.

use std::error::Error;

use tessera::share::{from_shared, Place, SharedHandle};
use tessera::DType;

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [place, nbytes, count] = given.as_slice() else {
        return Err("usage: shared_tensor PLACE NBYTES COUNT".into());
    };
    let place = match place.strip_prefix("fd:") {
        Some(number) => Place::FileDescriptor(number.parse()?),
        None => Place::Name(place.clone()),
    };
    let handle =
        SharedHandle { place, nbytes: nbytes.parse()?, in_transit: false, recycled: false };
    let shared = from_shared(&handle, 0, &[count.parse()?], None, DType::F32)?;
    println!("sum {:.1}", shared.sum()?.item::<f32>()?);
    shared.add_(1)?;
    Ok(())
}
