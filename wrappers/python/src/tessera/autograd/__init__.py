# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Differentiation: backward, grad, modes, custom functions, gradient checks."""

from .._core import is_grad_enabled, is_inference_mode_enabled
from .._backward import backward, grad, queue_callback
from .._graph import HookHandle, Node
from . import forward_ad, functional, graph
from ._anomaly import detect_anomaly, is_anomaly_check_nan_enabled, is_anomaly_enabled, set_detect_anomaly
from ._function import Function, FunctionCtx, once_differentiable
from ._gradcheck import gradcheck, gradgradcheck
from ._jacobians import GradcheckError
from .._modes import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)

__all__ = [
    "Function",
    "FunctionCtx",
    "GradcheckError",
    "HookHandle",
    "Node",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "once_differentiable",
    "queue_callback",
    "set_detect_anomaly",
    "set_grad_enabled",
]
