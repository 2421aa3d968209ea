# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Opens a tensor that another process shares, prints its sum and adds 1 to each element.

Usage: shared_tensor.py PLACE NBYTES COUNT, where PLACE is a name (/tessera-...) or fd:NUMBER of an inherited file
descriptor.
"""

import sys

import tessera as ts
from tessera.multiprocessing import SharedHandle, from_shared

if len(sys.argv) != 4:
    sys.exit(__doc__)
place, nbytes, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
by_file = place.startswith("fd:")
handle = SharedHandle(int(place[3:]) if by_file else -1, None if by_file else place, nbytes)
shared = from_shared(handle, (count,), ts.float32)
print(f"sum {shared.sum().item():.1f}")
shared += 1
