// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! safetensors files.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use tessera::io::{
    load_bytes, load_file, load_metadata, save_bytes, save_file, save_file_with, Archive, TensorMap,
};
use tessera::{DType, ErrorKind, Result, Tensor};

/// A path in a folder for this test alone, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tessera-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("file.safetensors")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A file made by hand.
fn by_hand(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

#[cfg(target_os = "linux")]
#[test]
fn paths_need_not_be_utf8() -> Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new("bytes");
    let path = folder.0.join(std::ffi::OsStr::from_bytes(b"\xff.safetensors"));
    let tensors = TensorMap::from([("x".to_string(), Tensor::from([1.0, 2.0]))]);
    save_file(&tensors, &path)?;
    assert_eq!(load_file(&path)?["x"].to_vec::<f64>()?, [1.0, 2.0]);
    let missing = load_file(folder.0.join(std::ffi::OsStr::from_bytes(b"\xfe"))).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Io);
    let shards = folder.0.join(std::ffi::OsStr::from_bytes(b"\xfd"));
    fs::create_dir(&shards)?;
    drop(tessera::autograd::save_to_disk(&shards, 0)?);
    Ok(())
}

#[test]
fn round_trip_keeps_everything() -> Result<()> {
    let folder = Folder::new("round-trip");
    let mut tensors = TensorMap::new();
    for &dtype in DType::ALL.iter().filter(|&&dtype| dtype != DType::C128) {
        let values = Tensor::from([[0, 1], [1, 0]]).astype(dtype)?;
        tensors.insert(format!("a \"{dtype}\" \\ tensor\n\u{e9}"), values);
    }
    tensors.insert("scalar".into(), Tensor::scalar(2.5)?);
    tensors.insert("empty".into(), Tensor::zeros(&[0, 3])?);
    save_file(&tensors, folder.file())?;
    let loaded = load_file(folder.file())?;
    assert_eq!(loaded.keys().collect::<Vec<_>>(), tensors.keys().collect::<Vec<_>>());
    let archive = Archive::open(folder.file())?;
    assert_eq!(archive.get("scalar")?.item::<f64>()?, 2.5);
    let absent = archive.get("scala").unwrap_err();
    assert_eq!(absent.kind(), ErrorKind::Index);
    assert_eq!(absent.message(), "Archive: there is no tensor named 'scala'");
    for (name, tensor) in &tensors {
        let back = &loaded[name];
        assert_eq!((back.dtype(), back.shape()), (tensor.dtype(), tensor.shape()), "{name}");
        assert!(back.equal(tensor)?.all()?.item::<bool>()?, "{name}");
    }
    Ok(())
}

#[test]
fn metadata_round_trips() -> Result<()> {
    let folder = Folder::new("metadata");
    let texts = BTreeMap::from([
        ("made by".to_string(), "a \"test\"\\ \n\t \u{1f600}".to_string()),
        ("empty".to_string(), String::new()),
    ]);
    save_file_with(&TensorMap::from([("x".into(), Tensor::from([1]))]), folder.file(), &texts)?;
    assert_eq!(Archive::open(folder.file())?.metadata()?, texts);
    save_file(&TensorMap::new(), folder.file())?;
    assert!(Archive::open(folder.file())?.metadata()?.is_empty());
    save_file_with(&TensorMap::new(), folder.file(), [("epoch", "10")])?;
    assert_eq!(load_metadata(folder.file())?["epoch"], "10");
    Ok(())
}

#[test]
fn files_made_elsewhere_load() -> Result<()> {
    let folder = Folder::new("elsewhere");
    let header = r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    let data: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    fs::write(folder.file(), by_hand(header, &data)).unwrap();
    assert_eq!(load_file(folder.file())?["w"].to_vec::<f32>()?, [1.5, -2.0]);
    Ok(())
}

#[test]
fn loading_copies_nothing_and_writing_stays_here() -> Result<()> {
    let folder = Folder::new("stays");
    save_file(&TensorMap::from([("x".into(), Tensor::from([1.0, 2.0]))]), folder.file())?;
    let bytes = fs::read(folder.file()).unwrap();
    let archive = Archive::open(folder.file())?;
    let x = archive.tensor(0)?;
    drop(archive);
    x.add_(1)?;
    assert_eq!(x.to_vec::<f64>()?, [2.0, 3.0]);
    assert_eq!(fs::read(folder.file()).unwrap(), bytes);
    Ok(())
}

#[test]
fn bytes_are_those_of_the_file() -> Result<()> {
    let folder = Folder::new("bytes-of-file");
    let tensors = TensorMap::from([
        ("x".to_string(), Tensor::from([1.0, 2.0])),
        ("none".to_string(), Tensor::zeros(&[0, 2])?),
    ]);
    save_file_with(&tensors, folder.file(), [("k", "v")])?;
    let mut bytes = save_bytes(&tensors, [("k", "v")])?;
    assert_eq!(bytes, fs::read(folder.file()).unwrap());
    let (loaded, archive) = (load_bytes(&bytes)?, Archive::from_bytes(&bytes)?);
    bytes.fill(0xff); // was copied
    assert_eq!(loaded["x"].to_vec::<f64>()?, [1.0, 2.0]);
    assert_eq!(loaded["none"].shape(), [0, 2]);
    assert_eq!(archive.metadata()?["k"], "v");
    assert_eq!(archive.get("x")?.to_vec::<f64>()?, [1.0, 2.0]);
    assert_eq!(load_bytes(&bytes).unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(load_bytes(&[]).unwrap_err().kind(), ErrorKind::Io);
    Ok(())
}

#[test]
fn hostile_files_are_refused() {
    let folder = Folder::new("hostile");
    let cases: [Vec<u8>; 5] = [
        Vec::new(),
        u64::MAX.to_le_bytes().to_vec(),
        by_hand("[]", &[]),
        by_hand(r#"{"x":{"dtype":"F32","shape":[4],"data_offsets":[0,8]}}"#, &[0; 8]),
        by_hand(r#"{"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}}"#, &[]),
    ];
    for (number, bytes) in cases.iter().enumerate() {
        fs::write(folder.file(), bytes).unwrap();
        assert_eq!(load_file(folder.file()).unwrap_err().kind(), ErrorKind::Io, "case {number}");
    }
}

#[test]
fn paths_that_cannot_be_read() {
    let missing = load_file("no/such/file.safetensors").unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Io);
    assert_ne!(missing.native_code(), 0);
}

#[test]
fn failed_saves_leave_the_old_file() -> Result<()> {
    let folder = Folder::new("failed");
    save_file(&TensorMap::from([("x".into(), Tensor::from([1.0]))]), folder.file())?;
    let complex = Tensor::zeros_with(&[1], |o| o.dtype(DType::C128))?;
    let refused = save_file(&TensorMap::from([("x".into(), complex)]), folder.file()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Dtype);
    assert_eq!(load_file(folder.file())?["x"].item::<f64>()?, 1.0);
    Ok(())
}
