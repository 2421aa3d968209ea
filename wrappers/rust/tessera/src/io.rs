// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Files of named tensors in the safetensors format, parsed and checked by the library.

use crate::arguments::{count, handles, one};
use crate::error::{done, text};
use crate::json;
use crate::memory::{buffer_bytes, buffer_text};
use crate::{Error, ErrorKind, Result, Tensor};
use std::collections::BTreeMap;
use std::path::Path;
use std::ptr::{null, null_mut, NonNull};
use tessera_sys as sys;

/// Tensors by name, such as the state of a model.
pub type TensorMap = BTreeMap<String, Tensor>;

/// An open safetensors file. Its tensors share memory with the mapped file; writes to them never
/// change the file. To change a file that is open, replace it, as [`save_file`] does. If the file
/// is changed in place, the elements are unspecified; if it is truncated, reading past its end ends
/// the process (SIGBUS).
#[derive(Debug)]
pub struct Archive(NonNull<sys::tsr_archive_s>);

// SAFETY: the ABI lets any handle be used from any thread; an archive never changes.
unsafe impl Send for Archive {}
// SAFETY: as above.
unsafe impl Sync for Archive {}

impl Drop for Archive {
    fn drop(&mut self) {
        // SAFETY: this is our reference.
        unsafe { sys::tsr_archive_release(self.0.as_ptr()) };
    }
}

/// A path as the library takes it; it need not be UTF-8.
pub(crate) fn path_bytes(path: &impl AsRef<Path>) -> &[u8] {
    path.as_ref().as_os_str().as_encoded_bytes()
}

impl Archive {
    /// Opens a file and checks all of its header.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path_bytes(&path);
        let mut handle = null_mut();
        // SAFETY: text and its length, a writable pointer.
        done(unsafe {
            sys::tsr_archive_open(path.as_ptr().cast(), path.len() as i64, &mut handle)
        })?;
        Ok(Self(NonNull::new(handle).expect("a handle after a success")))
    }

    /// Opens a file in memory, such as a download or a part of the program. The bytes are copied.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut handle = null_mut();
        // SAFETY: bytes and their number, a writable pointer.
        done(unsafe {
            sys::tsr_archive_from_bytes(bytes.as_ptr().cast(), bytes.len() as i64, &mut handle)
        })?;
        Ok(Self(NonNull::new(handle).expect("a handle after a success")))
    }

    /// The names, in the order of the file.
    pub fn names(&self) -> Result<Vec<String>> {
        let mut length = 0;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_archive_count(self.0.as_ptr(), &mut length) })?;
        (0..length)
            .map(|index| {
                let (mut name, mut size) = (null(), 0);
                // SAFETY: as above; the name is copied while the archive lives.
                unsafe {
                    done(sys::tsr_archive_name(self.0.as_ptr(), index, &mut name, &mut size))?;
                    Ok(text(name, size))
                }
            })
            .collect()
    }

    /// The tensor of this name. The others are not touched, so one weight of a large file costs
    /// little.
    pub fn get(&self, name: &str) -> Result<Tensor> {
        let mut index = 0;
        // SAFETY: a valid handle, a text and its length, a writable number.
        done(unsafe {
            let (text, length) = (name.as_ptr().cast(), name.len() as i64);
            sys::tsr_archive_find(self.0.as_ptr(), text, length, &mut index)
        })?;
        let absent = |_| {
            Error::refused(ErrorKind::Index, format!("Archive: there is no tensor named '{name}'"))
        };
        self.tensor(usize::try_from(index).map_err(absent)?)
    }

    /// Tensor number `index` of [`Archive::names`].
    pub fn tensor(&self, index: usize) -> Result<Tensor> {
        // SAFETY: a valid handle.
        one(|out| unsafe { sys::tsr_archive_tensor(self.0.as_ptr(), index as i64, out) })
    }

    /// All tensors by name.
    pub fn tensors(&self) -> Result<TensorMap> {
        let names = self.names()?.into_iter().enumerate();
        names.map(|(index, name)| Ok((name, self.tensor(index)?))).collect()
    }

    /// The metadata (texts) that were saved with the tensors.
    pub fn metadata(&self) -> Result<BTreeMap<String, String>> {
        let mut buffer = null_mut();
        // SAFETY: a valid handle; the buffer is given away to buffer_text.
        let json = unsafe {
            done(sys::tsr_archive_metadata(self.0.as_ptr(), &mut buffer))?;
            buffer_text(buffer)?
        };
        json::texts(&json)
    }
}

/// All tensors of a safetensors file, without a copy: see [`Archive`].
pub fn load_file(path: impl AsRef<Path>) -> Result<TensorMap> {
    Archive::open(path)?.tensors()
}

/// All tensors of a safetensors file in memory, whose bytes are copied.
pub fn load_bytes(bytes: &[u8]) -> Result<TensorMap> {
    Archive::from_bytes(bytes)?.tensors()
}

/// The metadata of a safetensors file.
pub fn load_metadata(path: impl AsRef<Path>) -> Result<BTreeMap<String, String>> {
    Archive::open(path)?.metadata()
}

/// Writes tensors to a safetensors file; it replaces an existing file only when it is complete.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{io, Tensor};
/// let path = std::env::temp_dir().join(format!("doc-{}.safetensors", std::process::id()));
/// let weight = Tensor::from([1.0, 2.0]);
/// io::save_file(&io::TensorMap::from([("weight".to_string(), weight)]), &path)?;
/// assert_eq!(io::load_file(&path)?["weight"].to_vec::<f64>()?, [1.0, 2.0]);
/// # std::fs::remove_file(path).unwrap();
/// # Ok(())
/// # }
/// ```
pub fn save_file(tensors: &TensorMap, path: impl AsRef<Path>) -> Result<()> {
    save_file_with(tensors, path, [("", ""); 0])
}

/// Like [`save_file`], with metadata: a map, or pairs such as `[("epoch", "10")]`.
pub fn save_file_with<K: AsRef<str>, V: AsRef<str>>(
    tensors: &TensorMap,
    path: impl AsRef<Path>,
    metadata: impl IntoIterator<Item = (K, V)>,
) -> Result<()> {
    let path = path_bytes(&path);
    let (names, list, texts) = contents(tensors, metadata);
    // SAFETY: texts and lists with their lengths.
    done(unsafe {
        sys::tsr_archive_save(
            path.as_ptr().cast(),
            path.len() as i64,
            names.as_ptr().cast(),
            names.len() as i64,
            list.as_ptr(),
            count(list.len()),
            texts.as_ptr().cast(),
            texts.len() as i64,
        )
    })
}

/// The bytes of the file that [`save_file_with`] writes; `[("", ""); 0]` for no metadata.
pub fn save_bytes<K: AsRef<str>, V: AsRef<str>>(
    tensors: &TensorMap,
    metadata: impl IntoIterator<Item = (K, V)>,
) -> Result<Vec<u8>> {
    let (names, list, texts) = contents(tensors, metadata);
    let mut buffer = null_mut();
    // SAFETY: texts and lists with their lengths; the buffer is given away to buffer_bytes.
    unsafe {
        done(sys::tsr_archive_to_bytes(
            names.as_ptr().cast(),
            names.len() as i64,
            list.as_ptr(),
            count(list.len()),
            texts.as_ptr().cast(),
            texts.len() as i64,
            &mut buffer,
        ))?;
        buffer_bytes(buffer)
    }
}

/// Names, tensors and metadata as the library takes them.
fn contents<K: AsRef<str>, V: AsRef<str>>(
    tensors: &TensorMap,
    metadata: impl IntoIterator<Item = (K, V)>,
) -> (String, Vec<sys::tsr_tensor>, String) {
    let names = json::quote_list(tensors.keys().map(String::as_str));
    let texts = metadata.into_iter();
    let texts = texts.map(|(key, value)| (key.as_ref().to_owned(), value.as_ref().to_owned()));
    let list = handles(&tensors.values().collect::<Vec<_>>());
    (names, list, json::quote_map(&texts.collect()))
}
