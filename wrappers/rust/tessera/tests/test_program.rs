// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Programs: recording a closure, files, dynamic sizes, refusals.

use tessera::io::load_file;
use tessera::program::Program;
use tessera::{ErrorKind, Result, Tensor};

fn vector(values: &[f32]) -> Result<Tensor> {
    Tensor::from_slice(values, &[values.len() as i64])
}

#[test]
fn p17_a_program_of_a_file_computes_what_the_closure_did() -> Result<()> {
    let weight = vector(&[1.0, 2.0])?;
    let parameters = [("weight".to_string(), weight.clone())];
    let program = Program::record(&[vector(&[1.0, 1.0])?], &parameters, |x| {
        Ok(vec![&x[0] * &weight, &x[0] + &x[0]])
    })?;
    let path = std::env::temp_dir().join(format!("rust-{}.program", std::process::id()));
    program.save(&path)?;
    let loaded = Program::load(&path)?;
    std::fs::remove_file(&path).unwrap();
    for _ in 0..3 {
        let y = loaded.run(&[vector(&[3.0, 4.0])?])?;
        assert_eq!(y[0].to_vec::<f32>()?, [3.0, 8.0]);
        assert_eq!(y[1].to_vec::<f32>()?, [6.0, 8.0]);
    }
    assert_eq!(loaded.tensor("weight")?.to_vec::<f32>()?, [1.0, 2.0]);
    assert!(loaded.text()?.contains("weight"));
    assert!(program.describe()?.contains("\"calls\""));
    Ok(())
}

#[test]
fn p17_a_program_of_several_sizes_takes_every_size() -> Result<()> {
    let sizes = [2, 3, 5];
    let programs: Result<Vec<Program>> = sizes
        .iter()
        .map(|&n| {
            let x = Tensor::from_vec(vec![1f32; 2 * n], &[n as i64, 2])?;
            Program::record(&[x], &[], |x| Ok(vec![x[0].reshape(&[2 * n as i64])?.sum()?]))
        })
        .collect();
    let program = Program::from_bytes(&Program::unify(&programs?)?.to_bytes()?)?;
    let x = Tensor::from_vec(vec![1f32; 14], &[7, 2])?;
    assert_eq!(program.run(&[x])?[0].item::<f32>()?, 14.0);
    let wrong = Tensor::from_vec(vec![1f32; 14], &[2, 7])?;
    assert_eq!(program.run(&[wrong]).unwrap_err().kind(), ErrorKind::Shape);
    Ok(())
}

#[test]
fn p17_a_program_of_named_sizes_takes_every_pair_of_them() -> Result<()> {
    let sizes = [(2, 5), (3, 5), (2, 6), (3, 6), (4, 9)];
    let programs: Result<Vec<Program>> = sizes
        .iter()
        .map(|&(batch, length)| {
            let all = batch * length;
            let x = Tensor::from_vec(vec![1f32; all as usize], &[batch, length])?;
            Program::record(&[x], &[], |x| Ok(vec![x[0].reshape(&[all])?.sum()?]))
        })
        .collect();
    let programs = programs?;
    let program = Program::unify_named(&programs, &["batch", "length"])?;
    let x = Tensor::from_vec(vec![1f32; 21], &[7, 3])?;
    assert_eq!(program.run(&[x])?[0].item::<f32>()?, 21.0);
    assert!(program.text()?.contains("for any batch, length"));
    let failed = Program::unify_named(&programs, &["batch"]);
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::Value);
    Ok(())
}

#[test]
fn p17_a_recording_refuses_reads_and_ends_with_the_closure() -> Result<()> {
    let x = vector(&[1.0])?;
    let failed = Program::record(std::slice::from_ref(&x), &[], |x| {
        x[0].exp()?.item::<f32>()?;
        Ok(vec![])
    });
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::NotImplemented);
    assert_eq!(x.item::<f32>()?, 1.0);
    Ok(())
}

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/conformance/programs");

fn assert_near(found: &Tensor, wanted: &[f32]) -> Result<()> {
    for (a, b) in found.to_vec::<f32>()?.iter().zip(wanted) {
        assert!((a - b).abs() < 1e-6, "{a} differs from {b}");
    }
    Ok(())
}

#[test]
fn p17_a_program_of_another_language_gives_its_outputs() -> Result<()> {
    let expected = load_file(format!("{PROGRAMS}/mlp.safetensors"))?;
    let program = Program::load(format!("{PROGRAMS}/mlp.program"))?;
    for _ in 0..3 {
        let y = program.run(&[expected["x"].clone()])?;
        assert_near(&y[0], &expected["y"].to_vec::<f32>()?)?;
    }
    Ok(())
}

#[test]
fn p17_a_training_step_of_another_language_gives_its_losses() -> Result<()> {
    let expected = load_file(format!("{PROGRAMS}/step.safetensors"))?;
    let program = Program::load(format!("{PROGRAMS}/step.program"))?;
    for loss in expected["losses"].to_vec::<f32>()? {
        let found = program.run(&[expected["x"].clone(), expected["y"].clone()])?;
        assert_near(&found[0], &[loss])?;
    }
    Ok(())
}
