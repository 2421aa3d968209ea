// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#![doc = include_str!("../README.md")]
#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

use ndarray::{Array, ArrayD, ArrayViewD, Dimension, IxDyn};
use tessera::{Element, Error, ErrorKind, Result, Tensor};

/// A tensor on the elements of an array, which may have any strides. Takes over the array without a
/// copy.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// let tensor = tessera_ndarray::from_array(ndarray::Array::from_vec(vec![1i64, 2, 3]))?;
/// assert_eq!(tensor.sum()?.item::<i64>()?, 6);
/// # Ok(())
/// # }
/// ```
pub fn from_array<T, D>(mut array: Array<T, D>) -> Result<Tensor>
where
    T: Element,
    D: Dimension + 'static,
{
    let shape: Vec<i64> = array.shape().iter().map(|&size| size as i64).collect();
    let strides: Vec<i64> = array.strides().iter().map(|&stride| stride as i64).collect();
    let first = array.as_mut_ptr();
    // SAFETY: shape and strides are those of the array, whose elements stay where they are when the
    // array itself moves into the tensor, as its owner.
    unsafe { Tensor::from_raw_parts(first, &shape, &strides, array) }
}

/// An array with a copy of the elements. The dtype must be that of `T`.
pub fn to_array<T: Element>(tensor: &Tensor) -> Result<ArrayD<T>> {
    ArrayD::from_shape_vec(dimension(tensor), tensor.to_vec()?).map_err(misfit)
}

/// A view of the elements of a contiguous tensor on the CPU, without a copy.
///
/// # Safety
/// As for [`Tensor::as_slice`]: nothing writes to the memory while the view is used.
pub unsafe fn view<T: Element>(tensor: &Tensor) -> Result<ArrayViewD<'_, T>> {
    // SAFETY: as promised by the caller.
    let elements = unsafe { tensor.as_slice()? };
    ArrayViewD::from_shape(dimension(tensor), elements).map_err(misfit)
}

fn dimension(tensor: &Tensor) -> IxDyn {
    let shape: Vec<usize> = tensor.shape().iter().map(|&size| size as usize).collect();
    IxDyn(&shape)
}

fn misfit(error: ndarray::ShapeError) -> Error {
    Error::new(ErrorKind::Shape, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::{from_array, to_array, view};
    use ndarray::{arr0, array, s, Array2};
    use tessera::{ErrorKind, Result, Tensor};

    #[test]
    fn arrays_become_tensors_without_a_copy() -> Result<()> {
        let mut array = array![[1.0f64, 2.0, 3.0], [4.0, 5.0, 6.0]];
        let first = array.as_mut_ptr();
        let tensor = from_array(array)?;
        // SAFETY: nothing writes.
        assert_eq!(unsafe { tensor.as_slice::<f64>()? }.as_ptr(), first.cast_const());
        assert_eq!((tensor.shape(), tensor.size(1)), (vec![2, 3], 3));
        Ok(())
    }

    #[test]
    fn strides_survive() -> Result<()> {
        let turned = from_array(array![[1, 2, 3], [4, 5, 6]].reversed_axes())?;
        assert_eq!(turned.to_vec::<i32>()?, [1, 4, 2, 5, 3, 6]);
        let backwards = from_array(array![1, 2, 3].slice_move(s![..;-1]))?;
        assert_eq!((backwards.strides(), backwards.to_vec::<i32>()?), (vec![-1], vec![3, 2, 1]));
        let gaps = Array2::from_shape_fn((4, 6), |(row, column)| 6 * row as i64 + column as i64);
        let part = from_array(gaps.slice_move(s![1..;2, 1..;-2]))?;
        assert_eq!((part.shape(), part.strides()), (vec![2, 3], vec![12, -2]));
        assert_eq!(part.to_vec::<i64>()?, [11, 9, 7, 23, 21, 19]);
        assert_eq!(from_array(arr0(7i64))?.item::<i64>()?, 7);
        assert_eq!(from_array(Array2::<f32>::zeros((0, 3)))?.shape(), [0, 3]);
        Ok(())
    }

    #[test]
    fn tensors_become_arrays_and_views() -> Result<()> {
        let tensor = Tensor::from([[1, 2], [3, 4]]);
        let turned = to_array::<i32>(&tensor.matrix_transpose()?)?;
        assert_eq!(turned, array![[1, 3], [2, 4]].into_dyn());
        // SAFETY: nothing writes.
        assert_eq!(unsafe { view::<i32>(&tensor)? }, array![[1, 2], [3, 4]].into_dyn());
        assert_eq!(to_array::<f32>(&tensor).unwrap_err().kind(), ErrorKind::Dtype);
        assert_eq!(to_array::<bool>(&Tensor::from([true]))?, array![true].into_dyn());
        assert_eq!(to_array::<f32>(&Tensor::zeros(&[2, 0])?)?.shape(), [2, 0]);
        let scalar = Tensor::scalar(1.5)?;
        // SAFETY: nothing writes; the second fails.
        unsafe {
            assert_eq!(view::<f64>(&scalar)?, arr0(1.5).into_dyn());
            let turned = tensor.matrix_transpose()?;
            assert_eq!(view::<i32>(&turned).unwrap_err().kind(), ErrorKind::Buffer);
        }
        Ok(())
    }

    #[test]
    fn arrays_live_as_long_as_the_tensors_on_them() -> Result<()> {
        let part = from_array(Array2::from_elem((100, 100), 2.0f64))?.i((50, ..2))?;
        assert_eq!(part.sum()?.item::<f64>()?, 4.0);
        Ok(())
    }
}
