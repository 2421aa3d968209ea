// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Indexing for reading and writing.

use tessera::{Ellipsis, ErrorKind, Item, NewAxis, Result, Slice, Tensor};

fn counted() -> Tensor {
    Tensor::arange(0, 24).unwrap().reshape(&[2, 3, 4]).unwrap()
}

fn read(tensor: &Tensor) -> (Vec<i64>, Vec<i64>) {
    (tensor.shape(), tensor.to_vec().unwrap())
}

#[test]
fn indexing_matches_numpy() -> Result<()> {
    let x = counted();
    assert_eq!(read(&x.i((1, 2, 3))?), (vec![], vec![23]));
    assert_eq!(read(&x.i((-1, 0))?), (vec![4], vec![12, 13, 14, 15]));
    assert_eq!(read(&x.i((.., 1, 1..3))?), (vec![2, 2], vec![5, 6, 17, 18]));
    assert_eq!(read(&x.i((0, ..=1, 3..))?), (vec![2, 1], vec![3, 7]));
    let last = -1;
    assert_eq!(read(&x.i((0, 0, 1..=last))?), (vec![3], vec![1, 2, 3]));
    assert_eq!(read(&x.i((0, 0, ..-2))?), (vec![2], vec![0, 1]));
    assert_eq!(read(&x.i((Ellipsis, 0))?), (vec![2, 3], vec![0, 4, 8, 12, 16, 20]));
    assert_eq!(x.i((NewAxis, .., NewAxis))?.shape(), [1, 2, 1, 3, 4]);
    assert_eq!(read(&x.i((0, 0, Slice(None, None, -2)))?), (vec![2], vec![3, 1]));
    assert_eq!(x.i(5..9)?.shape(), [0, 3, 4]);
    let first = 1usize;
    assert_eq!(x.i((first, ..first))?.shape(), [1, 4]);
    let items: Vec<Item> = vec![0i64.into(), (..).into(), 1i64.into()];
    assert_eq!(read(&x.i(items.as_slice())?), (vec![3], vec![1, 5, 9]));
    let many: Vec<Item> = (0..9).map(|_| NewAxis.into()).chain(items).collect();
    assert_eq!(read(&x.i(many.as_slice())?).0, [1, 1, 1, 1, 1, 1, 1, 1, 1, 3]);
    assert_eq!(x.i((NewAxis, NewAxis, NewAxis, 1, 1, 1))?.shape(), [1, 1, 1]);
    assert_eq!(x.i(&[] as &[Item])?.shape(), [2, 3, 4]);
    Ok(())
}

#[test]
fn indexing_with_tensors_and_values_of_all_kinds() -> Result<()> {
    let x = counted();
    let rows = Tensor::from([2i64, 0]);
    assert_eq!(read(&x.i((0, &rows, 1))?), (vec![2], vec![9, 1]));
    let mask = x.greater(21)?;
    assert_eq!(read(&x.i(&mask)?), (vec![2], vec![22, 23]));
    x.set(&mask, -1)?;
    x.set((0, 0), &Tensor::from([7i64, 7, 8, 8]))?;
    x.set((1, &rows, 0), 100)?;
    assert_eq!(read(&x.i((0, 0))?).1, [7, 7, 8, 8]);
    assert_eq!(read(&x.i((1, .., 0))?).1, [100, 16, 100]);
    assert_eq!(read(&x.i((1, 2))?).1, [100, 21, -1, -1]);
    Ok(())
}

#[test]
fn views_carry_writes() -> Result<()> {
    let x = counted();
    x.i((.., 0, 0))?.fill_(-5)?;
    assert_eq!(x.i((1, 0, 0))?.item::<i64>()?, -5);
    Ok(())
}

#[test]
fn numbers_beyond_the_axes_clip_or_are_errors() -> Result<()> {
    let x = counted();
    let before_zero = 0usize.wrapping_sub(1);
    assert_eq!(x.i(before_zero).unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(x.i(1..before_zero)?.shape(), [1, 3, 4]);
    assert_eq!(x.i(before_zero..)?.shape(), [0, 3, 4]);
    assert_eq!(x.i(..=before_zero)?.shape(), [2, 3, 4]);
    assert_eq!(x.i(..i64::MIN)?.shape(), [0, 3, 4]);
    assert_eq!(x.i(i64::MIN..=i64::MAX)?.shape(), [2, 3, 4]);
    assert_eq!(x.i(Slice(Some(i64::MAX), Some(i64::MIN), -1))?.shape(), [2, 3, 4]);
    assert_eq!(x.i(i64::MIN).unwrap_err().kind(), ErrorKind::Index);
    Ok(())
}

#[test]
fn bad_indices_are_errors() {
    let x = counted();
    assert_eq!(x.i(2).unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(x.i((0, 0, 0, 0)).unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(x.i((Ellipsis, Ellipsis)).unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(x.i(Slice(None, None, 0)).unwrap_err().kind(), ErrorKind::Value);
    assert_eq!(x.set(0, &Tensor::zeros(&[5]).unwrap()).unwrap_err().kind(), ErrorKind::Shape);
}
