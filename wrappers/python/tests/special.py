# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""SciPy's special functions for the references of the op table; PyTorch's on machines without SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from scipy.special import (
        digamma,
        entr,
        erf,
        erfc,
        erfcx,
        erfinv,
        gammainc,
        gammaincc,
        gammaln,
        i0,
        i0e,
        i1,
        i1e,
        j0,
        j1,
        k0,
        k0e,
        k1,
        k1e,
        log_ndtr,
        log_softmax,
        logsumexp,
        multigammaln,
        ndtr,
        ndtri,
        polygamma,
        softmax,
        xlog1py,
        xlogy,
        y0,
        y1,
        zeta,
    )
except ImportError:
    import torch

    def _by_torch(name: str, x: Any, *args: Any) -> Any:
        return getattr(torch.special, name)(torch.from_numpy(np.array(x, np.float64, order="C")), *args).numpy()

    def erf(x: Any) -> Any:
        return _by_torch("erf", x)

    def erfc(x: Any) -> Any:
        return _by_torch("erfc", x)

    def entr(x: Any) -> Any:
        return _by_torch("entr", x)

    def erfcx(x: Any) -> Any:
        return _by_torch("erfcx", x)

    def i0(x: Any) -> Any:
        return _by_torch("i0", x)

    def i0e(x: Any) -> Any:
        return _by_torch("i0e", x)

    def i1(x: Any) -> Any:
        return _by_torch("i1", x)

    def i1e(x: Any) -> Any:
        return _by_torch("i1e", x)

    def j0(x: Any) -> Any:
        return _by_torch("bessel_j0", x)

    def j1(x: Any) -> Any:
        return _by_torch("bessel_j1", x)

    def k0(x: Any) -> Any:
        return _by_torch("modified_bessel_k0", x)

    def k0e(x: Any) -> Any:
        return _by_torch("scaled_modified_bessel_k0", x)

    def k1(x: Any) -> Any:
        return _by_torch("modified_bessel_k1", x)

    def k1e(x: Any) -> Any:
        return _by_torch("scaled_modified_bessel_k1", x)

    def y0(x: Any) -> Any:
        return _by_torch("bessel_y0", x)

    def y1(x: Any) -> Any:
        return _by_torch("bessel_y1", x)

    def log_ndtr(x: Any) -> Any:
        return _by_torch("log_ndtr", x)

    def ndtri(x: Any) -> Any:
        return _by_torch("ndtri", x)

    def gammainc(x: Any, y: Any) -> Any:
        return _by_torch("gammainc", x, torch.from_numpy(np.array(y, np.float64)))

    def gammaincc(x: Any, y: Any) -> Any:
        return _by_torch("gammaincc", x, torch.from_numpy(np.array(y, np.float64)))

    def xlog1py(x: Any, y: Any) -> Any:
        return _by_torch("xlog1py", x, torch.from_numpy(np.array(y, np.float64)))

    def zeta(x: Any, y: Any) -> Any:
        return _by_torch("zeta", x, torch.from_numpy(np.array(y, np.float64)))

    def multigammaln(x: Any, p: int) -> Any:
        return _by_torch("multigammaln", x, p)

    def gammaln(x: Any) -> Any:
        return _by_torch("gammaln", x)

    def digamma(x: Any) -> Any:
        return _by_torch("digamma", x)

    def polygamma(n: int, x: Any) -> Any:
        return torch.special.polygamma(n, torch.from_numpy(np.array(x, np.float64))).numpy()

    def erfinv(x: Any) -> Any:
        return _by_torch("erfinv", x)

    def xlogy(x: Any, y: Any) -> Any:
        return _by_torch("xlogy", x, torch.from_numpy(np.array(y, np.float64)))

    def ndtr(x: Any) -> Any:
        return _by_torch("ndtr", x)

    def softmax(x: Any, axis: int = -1) -> Any:
        return _by_torch("softmax", x, axis)

    def log_softmax(x: Any, axis: int = -1) -> Any:
        return _by_torch("log_softmax", x, axis)

    def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return _by_torch("logsumexp", x, tuple(range(np.ndim(x))) if axis is None else axis, keepdims)


__all__ = [
    "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "gammainc", "gammaincc", "gammaln", "i0", "i0e", "i1", "i1e", "j0", "j1", "k0",
    "k0e", "k1", "k1e", "log_ndtr", "log_softmax", "logsumexp", "multigammaln", "ndtr", "ndtri", "polygamma", "softmax", "xlog1py",
    "xlogy", "y0", "y1", "zeta",
]  # fmt: skip
