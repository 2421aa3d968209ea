// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! A tour of tensors from Rust. The tours in C, C++, Python and Julia print the same lines.

use std::collections::BTreeMap;
use std::error::Error;

use tessera::autograd::{self, custom_function};
use tessera::{io, no_grad, DType, Ellipsis, ErrorKind, Generator, NewAxis, Result, Slice, Tensor};

/// A line such as "row sums: float32 [2] = 6.0000 15.0000".
fn show(label: &str, tensor: &Tensor) -> Result<()> {
    print!("{label}: {} {:?} =", tensor.dtype(), tensor.shape());
    for value in tensor.astype(DType::F64)?.to_vec::<f64>()? {
        print!(" {value:.4}");
    }
    println!();
    Ok(())
}

fn creation() -> Result<()> {
    println!("-- creation");
    show("zeros", &Tensor::zeros(&[2, 3])?)?;
    show("counted", &Tensor::arange(0, 5)?)?;
    show("spaced", &Tensor::linspace(0.0, 1.0, 5)?)?;
    show("filled", &Tensor::full_with(&[2], 2.5, |o| o.dtype(DType::F64))?)?;
    show("numbers", &Tensor::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]))?;
    let generator = Generator::new(7)?;
    show("random", &Tensor::rand_with(&[3], |o| o.generator(&generator))?)
}

fn views() -> Result<()> {
    println!("-- views");
    let a = Tensor::arange(0, 12)?.reshape(&[3, 4])?;
    show("row", &a.i(1)?)?;
    show("column", &a.i((.., 1))?)?;
    show("every other", &a.i((Ellipsis, Slice(None, None, 2)))?)?;
    show("new axis", &a.i((NewAxis, 0))?)?;
    show("transposed", &a.matrix_transpose()?)?;
    show("above seven", &a.i(&a.greater(7)?)?)?;
    a.matrix_transpose()?.i(0)?.fill_(-1)?;
    show("written through a view", &a)
}

fn broadcasting() -> Result<()> {
    println!("-- broadcasting");
    let a = Tensor::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    show("times ten plus a row", &(&a * 10 + Tensor::from([0.0f32, 1.0, 2.0])))?;
    show("plus a column", &(&a + Tensor::from([[10.0f32], [20.0]])))?;
    show("row sums", &a.sum_with(|o| o.axes(&[1]))?)?;
    show("matrix product", &a.matmul(&a.matrix_transpose()?)?)?;
    show("integers divided", &(Tensor::arange(1, 4)? / 2))
}

fn in_place() -> Result<()> {
    println!("-- in place");
    let mut a = Tensor::from([1.0f32, 2.0, 3.0]);
    let same = a.clone();
    a += 1;
    a *= Tensor::from([1.0f32, 10.0, 100.0]);
    show("seen by every reference", &same)?;
    a.set(1.., 0)?;
    show("assigned to a part", &a)
}

fn differentiation() -> Result<()> {
    println!("-- autograd");
    let x = Tensor::from([1.0f32, 2.0, 3.0]).requiring_grad()?;
    let y = x.pow(3)?.sum()?;
    show("sum of cubes", &y.detach()?)?;
    let first = gradient(&y, &x, true)?;
    show("3 x^2", &first.detach()?)?;
    show("6 x", &gradient(&first.sum()?, &x, false)?)?;
    let _guard = no_grad();
    let recorded = if (&x * 2).requires_grad() { "yes" } else { "no" };
    println!("recorded without gradients: {recorded}");
    Ok(())
}

fn gradient(y: &Tensor, x: &Tensor, create_graph: bool) -> Result<Tensor> {
    let found = autograd::grad(&[y], &[x], &[], |o| o.create_graph(create_graph))?;
    Ok(found.into_iter().flatten().next().expect("a gradient for each input"))
}

fn hooks() -> Result<()> {
    println!("-- hooks");
    let x = Tensor::from([1.0f32, 2.0]).requiring_grad()?;
    let doubling = x.register_hook(|gradient| Ok(Some(gradient * 2)))?;
    (&x * &x).sum()?.backward()?;
    show("doubled on the way", &x.grad()?.expect("a gradient after a backward"))?;
    doubling.remove()?;
    x.register_hook(|_| Err(tessera::Error::new(ErrorKind::Callback, "no gradient today")))?;
    if let Err(error) = (&x * &x).sum()?.backward() {
        println!("the hook's own error: {error}");
    }
    Ok(())
}

/// A cube with a custom derivative.
fn cube(x: &Tensor) -> Result<Tensor> {
    let outputs = custom_function(
        "Cube",
        &[x],
        |saver| {
            saver.save(x);
            Ok(vec![x * x * x])
        },
        |context, gradients| {
            let x = context.saved(0)?;
            Ok(vec![gradients[0].as_ref().map(|gradient| gradient * &x * &x * 3)])
        },
    )?;
    Ok(outputs.into_iter().next().expect("the one output"))
}

fn custom_functions() -> Result<()> {
    println!("-- custom function");
    let x = Tensor::from([1.0f32, 2.0, 3.0]).requiring_grad()?;
    let y = cube(&x)?;
    y.sum()?.backward()?;
    show("cubes", &y.detach()?)?;
    show("their gradient", &x.grad()?.expect("a gradient after a backward"))
}

fn safetensors() -> std::result::Result<(), Box<dyn Error>> {
    println!("-- safetensors");
    let path = "tensor_tour.safetensors";
    let tensors = BTreeMap::from([
        ("weight".to_string(), Tensor::ones(&[2, 2])?),
        ("bias".to_string(), Tensor::arange(0, 2)?),
    ]);
    let notes = BTreeMap::from([("made by".to_string(), "the tour".to_string())]);
    io::save_file_with(&tensors, path, &notes)?;
    for (name, tensor) in &io::load_file(path)? {
        show(name, tensor)?;
    }
    println!("made by: {}", io::Archive::open(path)?.metadata()?["made by"]);
    std::fs::remove_file(path)?;
    Ok(())
}

fn zero_copy() -> Result<()> {
    println!("-- zero copy");
    let x = Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0], &[2, 2])?; // takes over the vector
    x.add_(1)?;
    // SAFETY: nothing else uses this memory while the slices exist.
    let ours = unsafe {
        x.as_mut_slice::<f32>()?[3] = 50.0;
        x.as_slice::<f32>()?
    };
    println!("our memory: {:.4} {:.4} {:.4} {:.4}", ours[0], ours[1], ours[2], ours[3]);
    show("the tensor on it", &x)?;
    let again = Tensor::try_from(x.to_dlpack()?)?;
    again.i(0)?.zero_()?;
    show("after a round trip through DLPack", &x)
}

fn errors() -> Result<()> {
    println!("-- errors");
    match Tensor::ones(&[2, 3])?.matmul(&Tensor::ones(&[2, 3])?) {
        Err(error) if error.kind() == ErrorKind::Shape => {
            println!("{}: {error}", error.kind().name());
            Ok(())
        }
        other => other.map(|_| ()),
    }
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    creation()?;
    views()?;
    broadcasting()?;
    in_place()?;
    differentiation()?;
    hooks()?;
    custom_functions()?;
    safetensors()?;
    zero_copy()?;
    errors()?;
    Ok(())
}
