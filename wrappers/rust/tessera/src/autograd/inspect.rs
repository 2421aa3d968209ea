// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! What nodes know besides their place in the graph, walks over the graph, and drawings.

use super::Node;
use crate::arguments::{count, handles};
use crate::error::{done, drop_quietly, text};
use crate::memory::buffer_text;
use crate::{json, DType, Device, DeviceType, Result, Tensor};
use std::any::Any;
use std::borrow::Borrow;
use std::collections::HashSet;
use std::ffi::{c_char, c_void};
use std::hash::{Hash, Hasher};
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, PoisonError};
use tessera_sys as sys;

/// What the gradient of an output of a node looks like.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeOutput {
    /// The shape.
    pub shape: Vec<i64>,
    /// The dtype.
    pub dtype: DType,
    /// The device.
    pub device: Device,
    /// Whether the output takes part in the graph.
    pub differentiable: bool,
}

/// A value in the metadata of a node.
type Value = Arc<dyn Any + Send + Sync>;

/// Held while a value is read, replaced or removed, so that what is read is not freed meanwhile.
static VALUES: Mutex<()> = Mutex::new(());

// A function of its own, because its address tells that a value is ours.
unsafe extern "C" fn drop_value(user: *mut c_void) {
    // SAFETY: user came from Box::<Value>::into_raw, and the library calls drop once.
    drop_quietly(unsafe { Box::from_raw(user.cast::<Value>()) });
}

impl Node {
    /// Shape, dtype and device of each output; `None` for one that the caller skipped.
    pub fn outputs(&self) -> Result<Vec<Option<NodeOutput>>> {
        let mut length = 0;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_node_output_count(self.raw(), &mut length) })?;
        (0..length)
            .map(|index| {
                let mut info = sys::tsr_node_output::default();
                // SAFETY: a valid handle, a struct with its size; the sizes live as long as the node.
                unsafe {
                    done(sys::tsr_node_output_info(self.raw(), index, &mut info))?;
                    if info.flags & sys::TSR_NODE_OUTPUT_EXISTS == 0 {
                        return Ok(None);
                    }
                    let sizes = (0..info.ndim as usize).map(|axis| *info.sizes.add(axis));
                    Ok(Some(NodeOutput {
                        shape: sizes.collect(),
                        dtype: DType::from_raw(info.dtype),
                        device: Device::new(
                            DeviceType::from_raw(info.device_type),
                            info.device_index,
                        ),
                        differentiable: info.flags & sys::TSR_NODE_OUTPUT_DIFFERENTIABLE != 0,
                    }))
                }
            })
            .collect()
    }

    fn saved_count(&self) -> Result<i64> {
        let mut length = 0;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_node_saved_count(self.raw(), &mut length) })?;
        Ok(length)
    }

    fn saved_at(&self, index: i64) -> Result<Option<Tensor>> {
        let mut tensor = null_mut();
        // SAFETY: a valid handle; a success gives a new reference or null.
        unsafe {
            done(sys::tsr_node_saved(self.raw(), index, &mut tensor))?;
            Ok(Tensor::adopt_optional(tensor))
        }
    }

    /// The tensors that the forward saved for the backward, by name: the argument that each was, or
    /// `result` for an output; `None` for one that the derivative does not need. An error after a
    /// backward has freed them.
    ///
    /// ```
    /// # fn main() -> tessera::Result<()> {
    /// let x = tessera::Tensor::from([1.0, 4.0]).requiring_grad()?;
    /// let y = x.sqrt()?;
    /// let (name, tensor) = y.grad_fn()?.unwrap().saved()?.remove(0);
    /// assert_eq!(name, "result");
    /// assert_eq!(tensor.unwrap().to_vec::<f64>()?, [1.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn saved(&self) -> Result<Vec<(String, Option<Tensor>)>> {
        (0..self.saved_count()?)
            .map(|index| {
                let (mut name, mut length) = (null(), 0);
                // SAFETY: a valid handle; the name lives as long as the process.
                let name = unsafe {
                    done(sys::tsr_node_saved_name(self.raw(), index, &mut name, &mut length))?;
                    text(name, length)
                };
                Ok((name, self.saved_at(index)?))
            })
            .collect()
    }

    /// Calls `change` with the lock of the values held; drops what it replaces without the lock, since
    /// that may run code of others.
    fn change(&self, key: &str, change: impl FnOnce(*const c_char, i64) -> i32) -> Result<()> {
        let guard = VALUES.lock().unwrap_or_else(PoisonError::into_inner);
        let old = self.value_at(key);
        let status = done(change(key.as_ptr().cast(), key.len() as i64));
        drop(guard);
        drop(old);
        status
    }

    /// Needs the lock.
    fn value_at(&self, key: &str) -> Result<Option<Value>> {
        let (mut object, mut drop) = (null_mut(), None);
        let (data, length) = (key.as_ptr().cast(), key.len() as i64);
        // SAFETY: a valid handle, a text with its length, two writable places.
        done(unsafe {
            sys::tsr_node_metadata_object(self.raw(), data, length, &mut object, &mut drop)
        })?;
        let ours: unsafe extern "C" fn(*mut c_void) = drop_value;
        if object.is_null() || drop.map(|drop| drop as *const ()) != Some(ours as *const ()) {
            return Ok(None);
        }
        // SAFETY: what has our drop function is a box of a Value; the lock keeps it there.
        Ok(Some(unsafe { &*object.cast::<Value>() }.clone()))
    }

    /// Stores a text in the metadata of the node, where every language can read it.
    pub fn set_metadata(&self, key: &str, value: &str) -> Result<()> {
        self.change(key, |data, length| {
            let (text, text_length) = (value.as_ptr().cast(), value.len() as i64);
            // SAFETY: a valid handle, two texts with their lengths.
            unsafe { sys::tsr_node_metadata_set(self.raw(), data, length, text, text_length) }
        })
    }

    /// The text that a key of the metadata has.
    pub fn metadata(&self, key: &str) -> Result<Option<String>> {
        let mut buffer = null_mut();
        // SAFETY: a valid handle, a text with its length; the buffer is given to buffer_text.
        unsafe {
            let (data, length) = (key.as_ptr().cast(), key.len() as i64);
            done(sys::tsr_node_metadata_text(self.raw(), data, length, &mut buffer))?;
            if buffer.is_null() {
                return Ok(None);
            }
            buffer_text(buffer).map(Some)
        }
    }

    /// Stores a value in the metadata of the node.
    pub fn set_metadata_value(&self, key: &str, value: impl Any + Send + Sync) -> Result<()> {
        let owned: *mut Value = Box::into_raw(Box::new(Arc::new(value)));
        self.change(key, |data, length| {
            let drop: sys::tsr_drop_fn = Some(drop_value);
            // SAFETY: a valid handle, a text with its length; drop_value frees the box, also when
            // this fails.
            unsafe {
                sys::tsr_node_metadata_set_object(self.raw(), data, length, owned.cast(), drop)
            }
        })
    }

    /// The value that [`Node::set_metadata_value`] stored under this key; `None` if there is none of
    /// type `T`.
    pub fn metadata_value<T: Any + Send + Sync>(&self, key: &str) -> Result<Option<Arc<T>>> {
        let _guard = VALUES.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(self.value_at(key)?.and_then(|value| value.downcast::<T>().ok()))
    }

    /// Removes an entry of the metadata; an error if there is none.
    pub fn remove_metadata(&self, key: &str) -> Result<()> {
        self.change(key, |data, length| {
            // SAFETY: a valid handle, a text with its length.
            unsafe { sys::tsr_node_metadata_remove(self.raw(), data, length) }
        })
    }

    /// The keys of the metadata, in alphabetical order.
    pub fn metadata_keys(&self) -> Result<Vec<String>> {
        let mut buffer = null_mut();
        // SAFETY: a valid handle; the buffer is given to buffer_text.
        let listed = unsafe {
            done(sys::tsr_node_metadata_keys(self.raw(), &mut buffer))?;
            buffer_text(buffer)?
        };
        json::list(&listed)
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.raw() == other.raw()
    }
}
impl Eq for Node {}

impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.raw().hash(state);
    }
}

/// The nodes behind a tensor, each once: depth first, along [`Node::next`] in order.
pub fn graph_nodes(root: &Tensor) -> Result<Vec<Node>> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let mut waiting: Vec<Node> = root.grad_fn()?.into_iter().collect();
    while let Some(node) = waiting.pop() {
        if !seen.insert(node.raw()) {
            continue;
        }
        waiting.extend(node.next()?.into_iter().rev().flatten().map(|(next, _)| next));
        found.push(node);
    }
    Ok(found)
}

/// The format of [`draw_graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFormat {
    /// Text in the language of Graphviz.
    Dot,
    /// A complete picture.
    Svg,
    /// Text for people: operators with layers, shapes, parameters and multiply-adds, then totals and
    /// memory.
    Table,
}

/// Draws the graph behind some tensors, in the direction of the forward. `named` gives leaves and
/// roots their names, for example from [`Module::named_parameters`](crate::nn::Module::named_parameters). With `show_saved` each node lists
/// the tensors that it keeps for the backward.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::autograd::{draw_graph, GraphFormat};
/// let x = tessera::Tensor::ones(&[2])?.requiring_grad()?;
/// let picture = draw_graph(&[x.exp()?], &[("x", &x)], GraphFormat::Svg, true)?;
/// assert!(picture.starts_with("<svg"));
/// # Ok(())
/// # }
/// ```
pub fn draw_graph(
    roots: &[impl Borrow<Tensor>],
    named: &[(impl AsRef<str>, impl Borrow<Tensor>)],
    format: GraphFormat,
    show_saved: bool,
) -> Result<String> {
    let names = json::quote_list(named.iter().map(|(name, _)| name.as_ref()));
    let tensors: Vec<&Tensor> = named.iter().map(|(_, tensor)| tensor.borrow()).collect();
    let (roots, tensors) = (handles(roots), handles(&tensors));
    let format = match format {
        GraphFormat::Dot => sys::TSR_GRAPH_DOT,
        GraphFormat::Svg => sys::TSR_GRAPH_SVG,
        GraphFormat::Table => sys::TSR_GRAPH_TABLE,
    };
    let mut buffer = null_mut();
    // SAFETY: lists of valid handles and a text with their lengths; the buffer is given to
    // buffer_text.
    unsafe {
        done(sys::tsr_graph_draw(
            roots.as_ptr(),
            count(roots.len()),
            tensors.as_ptr(),
            count(tensors.len()),
            names.as_ptr().cast(),
            names.len() as i64,
            format,
            if show_saved { sys::TSR_GRAPH_SHOW_SAVED } else { 0 },
            &mut buffer,
        ))?;
        buffer_text(buffer)
    }
}
