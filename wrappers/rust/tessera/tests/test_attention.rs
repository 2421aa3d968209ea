// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Layers of attention, bags of embeddings and bilinear forms, against the functions below them.

use tessera::nn::{
    BagMode, Bilinear, EmbeddingBag, LayerNorm, Module, MultiheadAttention, TransformerDecoder,
    TransformerDecoderLayer, TransformerEncoder, TransformerEncoderLayer,
};
use tessera::{manual_seed, ErrorKind, Result, Tensor};

fn sequence(length: i64, width: i64) -> Tensor {
    let count = 2 * length * width;
    let line = Tensor::arange(0, count).unwrap().multiply(&Tensor::from([0.37f32])).unwrap();
    line.sin().unwrap().reshape(&[2, length, width]).unwrap()
}

fn assert_close(found: &Tensor, expected: &Tensor) {
    assert_eq!(found.shape(), expected.shape());
    let (found, expected): (Vec<f32>, Vec<f32>) =
        (found.to_vec().unwrap(), expected.to_vec().unwrap());
    for (a, b) in found.iter().zip(&expected) {
        assert!((a - b).abs() < 1e-5, "{found:?} and {expected:?}");
    }
}

fn names(module: &impl Module) -> Vec<String> {
    module.named_parameters().into_iter().map(|(name, _)| name).collect()
}

#[test]
fn parameters_have_pytorchs_names_and_shapes() -> Result<()> {
    let plain = MultiheadAttention::new(6, 2)?;
    assert_eq!(
        names(&plain),
        ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
    );
    let apart = MultiheadAttention::with(6, 2, |c| c.kdim(Some(3)).bias(false).add_bias_kv(true))?;
    let expected =
        ["q_proj_weight", "k_proj_weight", "v_proj_weight", "bias_k", "bias_v", "out_proj.weight"];
    assert_eq!(names(&apart), expected);
    assert_eq!(apart.state_dict()?["k_proj_weight"].shape(), [6, 3]);
    apart.load_state_dict(&apart.state_dict()?)?;
    assert!(format!("{plain:?}").starts_with("MultiheadAttention { in_proj_weight: float32[18, 6]"));
    Ok(())
}

#[test]
fn one_head_is_attention_between_projections() -> Result<()> {
    manual_seed(3)?;
    let layer = MultiheadAttention::with(4, 1, |c| c.batch_first(true).bias(false))?;
    let state = layer.state_dict()?;
    let x = sequence(3, 4);
    let parts = x.linear(&state["in_proj_weight"])?.split_with(4, |o| o.axis(-1))?;
    let expected = parts[0]
        .scaled_dot_product_attention(&parts[1], &parts[2])?
        .linear(&state["out_proj.weight"])?;
    assert_close(&layer.forward(&x)?, &expected);
    let (output, weights) = layer.attend(&x, &x, &x, |c| c)?;
    assert_close(&output, &expected);
    assert_eq!(weights.unwrap().shape(), [2, 3, 3]);
    Ok(())
}

#[test]
fn masks_hide_keys() -> Result<()> {
    let layer = MultiheadAttention::with(4, 2, |c| c.batch_first(true))?;
    let x = sequence(3, 4);
    let (_, weights) = layer.attend(&x, &x, &x, |c| c.is_causal(true))?;
    let later: Vec<f32> = weights.unwrap().triu_with(|o| o.diagonal(1))?.to_vec()?;
    assert!(later.iter().all(|w| *w == 0.0));
    let padding = Tensor::from([[false, false, true], [false, true, true]]);
    let (_, weights) = layer
        .attend(&x, &x, &x, |c| c.key_padding_mask(Some(&padding)).average_attn_weights(false))?;
    assert_eq!(weights.unwrap().select(0, 1)?.select(2, 1)?.to_vec::<f32>()?, [0.0; 6]);
    let (_, none) = layer.attend(&x, &x, &x, |c| c.need_weights(false))?;
    assert!(none.is_none());
    Ok(())
}

#[test]
fn an_encoder_layer_adds_and_normalises() -> Result<()> {
    manual_seed(4)?;
    let layer = TransformerEncoderLayer::with(4, 2, |c| c.dim_feedforward(5).norm_first(true))?;
    assert_eq!(layer.parameters().len(), 12);
    assert_eq!(names(&layer)[4], "linear1.weight");
    let x = sequence(3, 4);
    assert_ne!(layer.forward(&x)?.to_vec::<f32>()?, layer.forward(&x)?.to_vec::<f32>()?);
    layer.eval();
    let state = layer.state_dict()?;
    let norm = |x: &Tensor, name: &str| {
        let (weight, bias) = (&state[&format!("{name}.weight")], &state[&format!("{name}.bias")]);
        x.layer_norm_with(&[4], |o| o.weight(weight).bias(bias))
    };
    let attention = MultiheadAttention::new(4, 2)?;
    let part = |name: &String| name.strip_prefix("self_attn.").map(str::to_owned);
    let own = state.iter().filter_map(|(name, t)| Some((part(name)?, t.clone()))).collect();
    attention.load_state_dict(&own)?;
    let middle = x.add(&attention.forward(&norm(&x, "norm1")?)?)?;
    let inner = norm(&middle, "norm2")?
        .linear_with(&state["linear1.weight"], |o| o.bias(&state["linear1.bias"]))?
        .relu()?;
    let fed = inner.linear_with(&state["linear2.weight"], |o| o.bias(&state["linear2.bias"]))?;
    assert_close(&layer.forward(&x)?, &middle.add(&fed)?);
    let hidden = layer.encode(&x, |c| c.is_causal(true))?;
    assert_eq!(hidden.shape(), x.shape());
    Ok(())
}

#[test]
fn a_decoder_layer_looks_at_the_memory() -> Result<()> {
    manual_seed(4)?;
    let layer = TransformerDecoderLayer::with(4, 2, |c| c.dim_feedforward(5).norm_first(true))?;
    assert_eq!(layer.parameters().len(), 18);
    assert_eq!(names(&layer)[4], "multihead_attn.in_proj_weight");
    assert_eq!(names(&layer)[17], "norm3.bias");
    let (x, memory) = (sequence(3, 4), sequence(3, 4).multiply(&Tensor::from([2.0f32]))?);
    let once = || layer.decode(&x, &memory, |c| c)?.to_vec::<f32>();
    assert_ne!(once()?, once()?);
    layer.eval();
    let state = layer.state_dict()?;
    let norm = |x: &Tensor, name: &str| {
        let (weight, bias) = (&state[&format!("{name}.weight")], &state[&format!("{name}.bias")]);
        x.layer_norm_with(&[4], |o| o.weight(weight).bias(bias))
    };
    let attention = |prefix: &str| -> Result<MultiheadAttention> {
        let made = MultiheadAttention::new(4, 2)?;
        let part = |name: &String| name.strip_prefix(prefix).map(str::to_owned);
        let own = state.iter().filter_map(|(name, t)| Some((part(name)?, t.clone()))).collect();
        made.load_state_dict(&own)?;
        Ok(made)
    };
    let first = x.add(&attention("self_attn.")?.forward(&norm(&x, "norm1")?)?)?;
    let seen = attention("multihead_attn.")?;
    let second = first.add(&seen.attend(&norm(&first, "norm2")?, &memory, &memory, |c| c)?.0)?;
    let inner = norm(&second, "norm3")?
        .linear_with(&state["linear1.weight"], |o| o.bias(&state["linear1.bias"]))?
        .relu()?;
    let fed = inner.linear_with(&state["linear2.weight"], |o| o.bias(&state["linear2.bias"]))?;
    assert_close(&layer.decode(&x, &memory, |c| c)?, &second.add(&fed)?);
    let later = Tensor::ones(&[2, 2])?.triu_with(|o| o.diagonal(1))?.greater(0)?;
    let causal = layer.decode(&x, &memory, |c| c.tgt_is_causal(true))?;
    assert_close(&causal, &layer.decode(&x, &memory, |c| c.tgt_mask(Some(&later)))?);
    Ok(())
}

#[test]
fn encoder_and_decoder_are_layers_one_after_the_other() -> Result<()> {
    let encoders = || -> Result<Vec<_>> {
        (0..2).map(|_| TransformerEncoderLayer::with(4, 2, |c| c.dim_feedforward(5))).collect()
    };
    let decoders = || -> Result<Vec<_>> {
        (0..2).map(|_| TransformerDecoderLayer::with(4, 2, |c| c.dim_feedforward(5))).collect()
    };
    let encoder = TransformerEncoder::new(encoders()?, Some(LayerNorm::new(&[4])?));
    let decoder = TransformerDecoder::new(decoders()?, None);
    assert_eq!((encoder.parameters().len(), decoder.parameters().len()), (26, 36));
    assert_eq!(names(&encoder)[24], "norm.weight");
    assert_eq!(names(&decoder)[18], "layers.1.self_attn.in_proj_weight");
    encoder.eval();
    decoder.eval();
    let x = sequence(3, 4);
    let memory = encoder.forward(&x)?;
    // The same values as those of layers with the same parameters, one after the other.
    let (state, apart) = (decoder.state_dict()?, decoders()?);
    let mut expected = x.clone();
    for (index, layer) in apart.iter().enumerate() {
        let prefix = format!("layers.{index}.");
        let part = |name: &String| name.strip_prefix(&prefix).map(str::to_owned);
        let own = state.iter().filter_map(|(name, t)| Some((part(name)?, t.clone()))).collect();
        layer.load_state_dict(&own)?;
        layer.eval();
        expected = layer.decode(&expected, &memory, |c| c.tgt_is_causal(true))?;
    }
    assert_close(&decoder.decode(&x, &memory, |c| c.tgt_is_causal(true))?, &expected);
    Ok(())
}

#[test]
fn bags_join_rows() -> Result<()> {
    let bag = EmbeddingBag::with(4, 2, |c| c.mode(BagMode::Sum).padding(Some(-1)))?;
    let table = bag.weight.detach()?;
    assert_eq!(table.select(0, 3)?.to_vec::<f32>()?, [0.0, 0.0]);
    let found = bag.bags(&Tensor::from([0i64, 1, 3, 2]), &Tensor::from([0i64, 3]))?;
    assert_close(&found.select(0, 0)?, &table.select(0, 0)?.add(&table.select(0, 1)?)?);
    assert_close(&found.select(0, 1)?, &table.select(0, 2)?);
    let rows = Tensor::from([[1i64], [2]]);
    let doubled = bag.weighted(&rows, None, &Tensor::from([[2.0f32], [2.0]]))?;
    assert_close(&doubled, &bag.forward(&rows)?.multiply(&Tensor::from([2.0f32]))?);
    Ok(())
}

#[test]
fn bilinear_forms_are_products_with_every_matrix() -> Result<()> {
    let form = Bilinear::new(3, 2, 4)?;
    let (x, y) = (sequence(5, 3), sequence(5, 2));
    let parts = [x.clone(), form.weight.detach()?, y.clone()];
    let products = Tensor::einsum("bni,oij,bnj->bno", &parts)?;
    let expected = products.add(&form.bias.as_ref().unwrap().detach()?)?;
    assert_close(&form.apply(&x, &y)?.detach()?, &expected);
    assert!(Bilinear::without_bias(3, 3, 1)?.forward(&x)?.shape() == [2, 5, 1]);
    Ok(())
}

#[test]
fn impossible_layers_are_refused() {
    assert_eq!(MultiheadAttention::new(6, 4).unwrap_err().kind(), ErrorKind::Value);
    assert_eq!(
        MultiheadAttention::with(6, 2, |c| c.dropout(1.5)).unwrap_err().kind(),
        ErrorKind::Value
    );
    assert_eq!(
        EmbeddingBag::with(4, 2, |c| c.padding(Some(4))).unwrap_err().kind(),
        ErrorKind::Value
    );
    assert_eq!(Bilinear::new(0, 2, 4).unwrap_err().kind(), ErrorKind::Value);
}
