# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.utils.model_zoo: the older name of a function of torch.hub."""

from ..hub import load_state_dict_from_url

load_url = load_state_dict_from_url
__all__ = ["load_state_dict_from_url", "load_url"]
