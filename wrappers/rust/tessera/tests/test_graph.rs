// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Looking into the graph: nodes, walks, drawings, anomaly mode (row A21).

use std::collections::HashSet;
use std::sync::Arc;
use tessera::autograd::{detect_anomaly, draw_graph, graph_nodes, is_anomaly_enabled};
use tessera::autograd::{GraphFormat, Node};
use tessera::{DType, Device, ErrorKind, Result, Tensor};

const NODES: &str = include_str!("../../../../tests/conformance/graph_nodes.txt");

fn leaf(shape: &[i64]) -> Result<Tensor> {
    Tensor::ones(shape)?.requiring_grad()
}

/// The network of tests/conformance/graph_nodes.txt, the same in every language.
fn network() -> Result<Tensor> {
    let bias = leaf(&[5])?;
    let hidden = leaf(&[4, 3])?.linear_with(&leaf(&[5, 3])?, |o| o.bias(&bias))?.relu()?;
    let shares = (&hidden * &hidden).softmax_with(|o| o.axis(1))?;
    let mixed = shares.matmul(&leaf(&[5, 2])?)?;
    (mixed.exp()? + &mixed * &Tensor::ones(&[4, 2])?).mean()
}

#[test]
fn a21_a_walk_gives_the_nodes_and_edges_of_every_language() -> Result<()> {
    let nodes = graph_nodes(&network()?)?;
    let number = |node: &Node| nodes.iter().position(|other| other == node).unwrap();
    let mut found = String::new();
    for (index, node) in nodes.iter().enumerate() {
        found += &format!("{index} {}", node.name()?);
        if let Some(variable) = node.variable()? {
            found += &format!(" {:?}", variable.shape());
        }
        for edge in node.next()? {
            found +=
                &edge.map_or(" -".into(), |(next, output)| format!(" {}.{output}", number(&next)));
        }
        found += "\n";
    }
    assert_eq!(found, NODES);
    Ok(())
}

#[test]
fn a21_outputs_tell_shape_dtype_and_device() -> Result<()> {
    let y = Tensor::from([[1.0, 2.0, 3.0]]).requiring_grad()?.exp()?;
    let outputs = y.grad_fn()?.unwrap().outputs()?;
    let output = outputs[0].as_ref().unwrap();
    assert_eq!((output.shape.as_slice(), output.dtype), (&[1, 3][..], DType::F64));
    assert!(output.device == Device::CPU && output.differentiable);
    Ok(())
}

#[test]
fn a21_saved_values_have_names_until_a_backward_frees_them() -> Result<()> {
    let (x, y) = (leaf(&[2])?, leaf(&[2])?);
    let product = &x * &y;
    let node = product.grad_fn()?.unwrap();
    let saved = node.saved()?;
    let names: Vec<&str> = saved.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["input", "other"]);
    assert_eq!(saved[0].1.as_ref().unwrap().shape(), [2]);
    product.sum()?.backward()?;
    let error = node.saved().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Autograd);
    assert!(error.message().contains("already been freed"));
    Ok(())
}

#[test]
fn a21_a_node_runs_alone() -> Result<()> {
    let (x, y) = (Tensor::from([2.0, 3.0]).requiring_grad()?, Tensor::from([5.0, 7.0]));
    let node = (&x * &y).grad_fn()?.unwrap();
    for _ in 0..2 {
        let found = node.run(&[Some(&Tensor::from([1.0, 10.0]))])?;
        assert_eq!(found[0].as_ref().unwrap().to_vec::<f64>()?, [5.0, 70.0]);
        assert!(found[1].is_none(), "the gradient of y is not needed");
    }
    assert!(node.run(&[None])?.iter().all(Option::is_none));
    assert_eq!(node.run(&[]).unwrap_err().kind(), ErrorKind::Value);
    assert_eq!(node.run(&[Some(&Tensor::from([1.0]))]).unwrap_err().kind(), ErrorKind::Shape);
    let (accumulate, _) = node.next()?[0].clone().unwrap();
    assert!(accumulate.run(&[Some(&Tensor::from([4.0, 4.0]))])?.is_empty());
    assert_eq!(x.grad()?.unwrap().to_vec::<f64>()?, [4.0, 4.0]);
    Ok(())
}

#[test]
fn a15_one_saved_tensor_has_closures_of_its_own() -> Result<()> {
    let (x, y) = (Tensor::from([2.0]).requiring_grad()?, Tensor::from([5.0]).requiring_grad()?);
    let product = &x * &y;
    let node = product.grad_fn()?.unwrap();
    let pack = |tensor: &Tensor| tensor.to_vec::<f64>();
    let unpack = |values: &Vec<f64>| Tensor::from_vec(vec![values[0] * 10.0], &[1]);
    node.set_saved_hooks(0, pack, unpack)?;
    assert_eq!(node.set_saved_hooks(0, pack, unpack).unwrap_err().kind(), ErrorKind::Autograd);
    assert_eq!(node.set_saved_hooks(2, pack, unpack).unwrap_err().kind(), ErrorKind::Index);
    product.sum()?.backward()?;
    assert_eq!(x.grad()?.unwrap().to_vec::<f64>()?, [5.0]);
    assert_eq!(y.grad()?.unwrap().to_vec::<f64>()?, [20.0]);
    Ok(())
}

#[test]
fn i6_a_view_names_its_base() -> Result<()> {
    let x = Tensor::from([1.0, 2.0, 3.0, 4.0]);
    let part = x.reshape(&[2, 2])?.select(0, 1)?;
    part.fill_(9.0)?;
    assert_eq!(part.base()?.unwrap().to_vec::<f64>()?, [1.0, 2.0, 9.0, 9.0]);
    assert!(x.base()?.is_none() && part.detach()?.base()?.is_none());
    Ok(())
}

#[test]
fn a21_metadata_belongs_to_the_node() -> Result<()> {
    let y = leaf(&[2])?.exp()?;
    let node = y.grad_fn()?.unwrap();
    let counted = Arc::new(7);
    node.set_metadata("layer", "first")?;
    node.set_metadata_value("count", counted.clone())?;
    assert_eq!(node.metadata("layer")?.as_deref(), Some("first"));
    assert_eq!(node.metadata("none")?, None);
    assert_eq!(node.metadata_keys()?, ["count", "layer"]);
    assert_eq!(**node.metadata_value::<Arc<i32>>("count")?.unwrap(), 7);
    assert!(node.metadata_value::<String>("count")?.is_none());
    assert!(node.metadata_value::<String>("layer")?.is_none());
    node.set_metadata("count", "now a text")?;
    assert_eq!(Arc::strong_count(&counted), 1);
    node.set_metadata_value("again", counted.clone())?;
    drop((node, y));
    assert_eq!(Arc::strong_count(&counted), 1);
    Ok(())
}

#[test]
fn a21_removing_what_is_not_there_is_an_error() -> Result<()> {
    let node = leaf(&[2])?.exp()?.grad_fn()?.unwrap();
    node.set_metadata("layer", "first")?;
    node.remove_metadata("layer")?;
    assert_eq!(node.remove_metadata("layer").unwrap_err().kind(), ErrorKind::Value);
    Ok(())
}

#[test]
fn a21_a_graph_is_drawn_as_a_picture_and_as_text() -> Result<()> {
    let x = leaf(&[2, 3])?;
    let y = x.exp()?;
    let picture = draw_graph(&[&y], &[("weight <1>", &x)], GraphFormat::Svg, true)?;
    assert!(picture.starts_with("<svg") && picture.contains("weight &lt;1&gt;"));
    assert!(picture.contains("saves result [2, 3]"));
    let unnamed: &[(&str, &Tensor)] = &[];
    assert!(draw_graph(&[&y], unnamed, GraphFormat::Dot, false)?.starts_with("digraph"));
    let plain = Tensor::ones(&[2])?;
    let error = draw_graph(&[&plain], unnamed, GraphFormat::Dot, false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Autograd);
    Ok(())
}

fn the_function_to_blame(x: &Tensor) -> Result<Tensor> {
    x.sqrt()
}

#[test]
fn a21_nan_is_blamed_on_the_node_that_makes_it_with_the_stack_of_its_forward() -> Result<()> {
    let x = Tensor::from([0.0]).requiring_grad()?;
    {
        let _guard = detect_anomaly(true)?;
        let loss = (the_function_to_blame(&x)? * 0.0).sum()?;
        let error = loss.backward().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Autograd);
        let text = error.message();
        assert!(text.contains("'SqrtBackward' returned nan values in its 0th output"), "{text}");
        assert!(text.contains("The forward of SqrtBackward was called here:"), "{text}");
        assert!(text.contains("the_function_to_blame"), "{text}");
    }
    assert!(!is_anomaly_enabled());
    Ok(())
}

#[test]
fn a21_guards_nest_and_belong_to_their_thread() -> Result<()> {
    let outer = detect_anomaly(false)?;
    drop(detect_anomaly(true)?);
    assert!(is_anomaly_enabled());
    assert!(!std::thread::spawn(is_anomaly_enabled).join().unwrap());
    drop(outer);
    assert!(!is_anomaly_enabled());
    Ok(())
}

#[test]
fn nodes_and_edges_are_keys() -> Result<()> {
    let x = Tensor::from([1.0, 2.0]).requiring_grad()?;
    let y = x.exp()?;
    let node = || y.grad_fn().map(|node| node.expect("a function's result has a node"));
    assert_eq!(HashSet::from([node()?, node()?, y.exp()?.grad_fn()?.unwrap()]).len(), 2);
    let edges = HashSet::from([x.gradient_edge()?, x.gradient_edge()?, y.gradient_edge()?]);
    assert!(edges.len() == 2 && edges.contains(&y.gradient_edge()?));
    Ok(())
}
