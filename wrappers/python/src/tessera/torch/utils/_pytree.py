# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.utils._pytree: nested tuples, lists and dicts as flat lists and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...func import _tree

TreeSpec, PyTree = _tree.Spec, Any


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], _tree.Spec]:
    return _tree.flatten(tree, is_leaf)


def tree_unflatten(leaves: Iterable[Any], treespec: _tree.Spec) -> Any:
    return _tree.unflatten(list(leaves), treespec)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    return _tree.flatten(tree, is_leaf)[0]


tree_iter = tree_leaves


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> _tree.Spec:
    return _tree.flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The nested value of func(leaf, leaves of the rests in the same place)."""
    leaves, spec = _tree.flatten(tree, is_leaf)
    others = [_tree.spread(rest, spec, "tree_map()", ValueError) for rest in rests]
    return _tree.unflatten([func(*given) for given in zip(leaves, *others)], spec)


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """tree_map() for what the function does alone; returns the value itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(kind: Any, func: Callable[[Any], Any], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """tree_map() of the leaves of a class."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    return any(map(pred, tree_leaves(tree, is_leaf)))


__all__ = [
    "PyTree", "TreeSpec", "tree_all", "tree_any", "tree_flatten", "tree_iter", "tree_leaves", "tree_map", "tree_map_", "tree_map_only",
    "tree_structure", "tree_unflatten",
]  # fmt: skip
