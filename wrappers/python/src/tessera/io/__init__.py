# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Files of tensors, in the safetensors format."""

from ._safetensors import load_bytes, load_file, load_metadata, safe_open, save_bytes, save_file

__all__ = ["load_bytes", "load_file", "load_metadata", "safe_open", "save_bytes", "save_file"]
