# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.version."""

import tessera

__version__ = f"2.15.0+tessera{tessera.__version__}"
cuda = hip = git_version = None
debug = False
