# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""How the build of the package finds libtessera and packs it; the wheel itself is tests/tools/check_wheel.sh."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).resolve().parents[1] / "build_native.py"
VARIABLES = ("TESSERA_BUILD_DIR", "TESSERA_PREFIX", "TESSERA_BUNDLE", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR")


@pytest.fixture
def build_native(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    spec = importlib.util.spec_from_file_location("build_native", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "build_native", module)
    spec.loader.exec_module(module)
    return module


def install(prefix: Path, folder: str = "lib") -> Path:
    """Makes the files of an installation with a plugin."""
    libraries = prefix / folder
    (libraries / "tessera").mkdir(parents=True)
    (libraries / "libtessera.so.0.1.0").write_text("library")
    (libraries / "libtessera.so").symlink_to("libtessera.so.0.1.0")
    (libraries / "tessera" / "libtessera_cuda.so").write_text("plugin")
    return libraries


def test_a_prefix_is_searched_in_any_folder_of_libraries(
    build_native: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    libraries = install(tmp_path, "lib64")
    monkeypatch.setenv("TESSERA_PREFIX", str(tmp_path))
    library = build_native.find_library()
    assert (library.include, library.folder) == (str(tmp_path / "include"), str(libraries))
    assert library.file == libraries / "libtessera.so.0.1.0" and [p.name for p in library.plugins] == ["libtessera_cuda.so"]


def test_pkg_config_tells_the_folders(build_native: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    libraries = install(tmp_path)
    text = "Name: tessera\nDescription: t\nVersion: 0.1\nlibdir=${pcfiledir}/lib\nincludedir=${pcfiledir}/include\n"
    (tmp_path / "tessera.pc").write_text(text)
    monkeypatch.setenv("PKG_CONFIG_PATH", str(tmp_path))
    assert build_native.find_library().folder == str(libraries)


def test_a_library_that_is_not_there_is_named(
    build_native: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PKG_CONFIG_LIBDIR", str(tmp_path))
    with pytest.raises(SystemExit, match="TESSERA_BUILD_DIR to a build folder, TESSERA_PREFIX"):
        build_native.find_library()
    monkeypatch.setenv("TESSERA_PREFIX", str(tmp_path))
    with pytest.raises(SystemExit, match=f"TESSERA_PREFIX={tmp_path} holds no libtessera.so"):
        build_native.find_library()
    monkeypatch.setenv("TESSERA_BUILD_DIR", str(tmp_path))
    with pytest.raises(SystemExit, match="build the target"):
        build_native.find_library()
    with pytest.raises(SystemExit, match="cannot be packed: `cmake --install"):
        build_native.find_library(tmp_path / "prefix")


def test_a_wheel_takes_the_library_and_its_plugins(
    build_native: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(tmp_path / "prefix")
    monkeypatch.setenv("TESSERA_PREFIX", str(tmp_path / "prefix"))
    folder = tmp_path / "lib"
    folder.mkdir()
    (folder / "libtessera.so.0").write_text("of a build before")
    build_native.fill(folder, build_native.find_library())
    assert (folder / "libtessera.so.0").read_text() == "library" and not (folder / "libtessera.so.0").is_symlink()
    assert (folder / "tessera" / "libtessera_cuda.so").read_text() == "plugin"
    assert build_native.is_bundled()
    monkeypatch.setenv("TESSERA_BUNDLE", "0")
    assert not build_native.is_bundled()
    build_native.fill(folder, None)
    assert not folder.exists()
