// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Recurrent layers: values by hand, agreement of networks and cells, packed batches, names.

use tessera::nn::{Gru, GruCell, Lstm, LstmCell, Module, Rnn, RnnCell};
use tessera::{no_grad, ErrorKind, Result, Tensor};

fn close(tensor: &Tensor, expected: &Tensor) {
    let values = tensor.detach().unwrap().contiguous().unwrap().to_vec::<f32>().unwrap();
    let wanted = expected.detach().unwrap().contiguous().unwrap().to_vec::<f32>().unwrap();
    assert_eq!(values.len(), wanted.len());
    for (value, wanted) in values.iter().zip(&wanted) {
        assert!((value - wanted).abs() < 1e-5, "{value} and {wanted}");
    }
}

#[test]
fn plain_network_sums_its_inputs() -> Result<()> {
    let layer = Rnn::with(1, 1, |c| c.relu(true).bias(false))?;
    for weight in layer.weights() {
        let _guard = no_grad();
        weight.detach()?.fill_(1.0)?;
    }
    let (output, h) = layer.run(&Tensor::ones(&[3, 1, 1])?, None)?;
    close(&output, &Tensor::from([1.0f32, 2.0, 3.0]));
    assert_eq!(h.shape(), [1, 1, 1]);
    Ok(())
}

/// Gives a cell the weights of a network of one layer.
fn share(cell: [&mut Tensor; 2], biases: [&mut Option<Tensor>; 2], weights: &[Tensor]) {
    for (place, weight) in cell.into_iter().zip(weights) {
        *place = weight.clone();
    }
    for (place, weight) in biases.into_iter().zip(&weights[2..]) {
        *place = Some(weight.clone());
    }
}

#[test]
fn networks_agree_with_their_cells() -> Result<()> {
    let x = Tensor::rand(&[4, 2, 3])?;
    let (gru, mut cell) = (Gru::new(3, 5)?, GruCell::new(3, 5)?);
    share(
        [&mut cell.weight_ih, &mut cell.weight_hh],
        [&mut cell.bias_ih, &mut cell.bias_hh],
        gru.weights(),
    );
    let (output, last) = gru.run(&x, None)?;
    let mut state = None;
    for t in 0..4 {
        let next = cell.run(&x.select(0, t)?, state)?;
        close(&output.select(0, t)?, &next);
        state = Some(next);
    }
    close(&last, &output.select(0, 3)?);

    let (lstm, mut cell) = (Lstm::new(3, 5)?, LstmCell::new(3, 5)?);
    share(
        [&mut cell.weight_ih, &mut cell.weight_hh],
        [&mut cell.bias_ih, &mut cell.bias_hh],
        lstm.weights(),
    );
    let (output, (_, c)) = lstm.run(&x, None)?;
    let mut state = None;
    for t in 0..4 {
        let next = cell.run(&x.select(0, t)?, state)?;
        close(&output.select(0, t)?, &next.0);
        state = Some(next);
    }
    close(&c, &state.unwrap().1);

    let (rnn, mut cell) = (Rnn::new(3, 5)?, RnnCell::new(3, 5)?);
    share(
        [&mut cell.weight_ih, &mut cell.weight_hh],
        [&mut cell.bias_ih, &mut cell.bias_hh],
        rnn.weights(),
    );
    close(&rnn.forward(&x)?.select(0, 0)?, &cell.forward(&x.select(0, 0)?)?);
    assert!(cell.relu(true).forward(&x.select(0, 0)?)?.to_vec::<f32>()?.iter().all(|&h| h >= 0.0));
    Ok(())
}

#[test]
fn layers_directions_and_projections_have_names_and_shapes() -> Result<()> {
    let layer =
        Lstm::with(3, 4, |c| c.num_layers(2).bidirectional(true).batch_first(true).proj_size(2))?;
    let names: Vec<_> = layer.named_parameters().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), 20);
    assert_eq!(
        [&names[0], &names[4], &names[5]],
        ["weight_ih_l0", "weight_hr_l0", "weight_ih_l0_reverse"]
    );
    let (output, (h, c)) = layer.run(&Tensor::ones(&[5, 7, 3])?, None)?;
    assert_eq!(output.shape(), [5, 7, 4]);
    assert_eq!(h.shape(), [4, 5, 2]);
    assert_eq!(c.shape(), [4, 5, 4]);
    output.sum()?.backward()?;
    assert!(layer.weights()[19].grad()?.is_some());
    Ok(())
}

#[test]
fn packed_batch_gives_what_each_sequence_gives_alone() -> Result<()> {
    let layer = Gru::new(1, 3)?;
    // The sequences 1 2 3 and 4.
    let packed = Tensor::from([[1.0f32], [4.0], [2.0], [3.0]]);
    let (_, both) = layer.run_packed(&packed, &[2, 1, 1], None)?;
    let (_, longer) = layer.run(&Tensor::from([[1.0f32], [2.0], [3.0]]), None)?;
    let (_, shorter) = layer.run(&Tensor::from([[4.0f32]]), None)?;
    close(&both.select(1, 0)?, &longer);
    close(&both.select(1, 1)?, &shorter);
    Ok(())
}

#[test]
fn wrong_options_are_errors() {
    let kind = |result: Result<Gru>| result.err().map(|e| e.kind());
    assert_eq!(kind(Gru::with(3, 4, |c| c.proj_size(2))), Some(ErrorKind::Value));
    assert_eq!(kind(Gru::with(3, 4, |c| c.relu(true))), Some(ErrorKind::Value));
    assert!(Lstm::with(3, 4, |c| c.relu(true)).is_err());
    assert_eq!(kind(Gru::new(3, 0)), Some(ErrorKind::Value));
    assert_eq!(kind(Gru::with(3, 4, |c| c.dropout(2.0))), Some(ErrorKind::Value));
    assert!(Lstm::with(3, 2, |c| c.proj_size(2)).is_err());
}

#[test]
fn ctc_loss_sums_over_paths() -> Result<()> {
    let x = Tensor::full(&[2, 1, 2], 0.5f32.ln())?;
    let loss = x.ctc_loss(&Tensor::from([1i64]), &Tensor::from([2i64]), &Tensor::from([1i64]))?;
    assert!((loss.item::<f32>()? + 0.75f32.ln()).abs() < 1e-6);
    Ok(())
}
