# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Nested tuples, lists, dicts and named tuples as flat lists and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Spec:
    """The form of a nested value; a leaf has no kind."""

    __slots__ = ("children", "keys", "kind")

    def __init__(self, kind: type | None, keys: tuple[Any, ...] = (), children: tuple[Spec, ...] = ()) -> None:
        self.kind, self.keys, self.children = kind, keys, children

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and (self.kind, self.keys, self.children) == (other.kind, other.keys, other.children)

    __hash__ = None  # type: ignore[assignment]

    @property
    def leaves(self) -> int:
        return 1 if self.kind is None else sum(child.leaves for child in self.children)


LEAF = Spec(None)


def _opened(value: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """The keys and the items of a container; None for a leaf."""
    if isinstance(value, dict):
        keys = tuple(value)
        return keys, tuple(value[key] for key in keys)
    if isinstance(value, list) or type(value) is tuple or isinstance(value, tuple) and hasattr(value, "_fields"):
        return (), tuple(value)
    return None


def flatten(value: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Spec]:
    opened = None if is_leaf is not None and is_leaf(value) else _opened(value)
    if opened is None:
        return [value], LEAF
    leaves: list[Any] = []
    children = []
    for item in opened[1]:
        found, spec = flatten(item, is_leaf)
        leaves += found
        children.append(spec)
    return leaves, Spec(type(value), opened[0], tuple(children))


def unflatten(leaves: list[Any], spec: Spec) -> Any:
    rest = iter(leaves)
    return _built(rest, spec)


def _built(rest: Any, spec: Spec) -> Any:
    if spec.kind is None:
        return next(rest)
    items = [_built(rest, child) for child in spec.children]
    if issubclass(spec.kind, dict):
        made = spec.kind()
        made.update(zip(spec.keys, items))
        return made
    kind: Any = spec.kind
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def spread(prefix: Any, spec: Spec, what: str, error: type[Exception]) -> list[Any]:
    """The leaf of a prefix of the nested value for each of its leaves: in_dims=(0, None) of two nested arguments."""
    opened = _opened(prefix)
    if opened is None:
        return [prefix] * spec.leaves
    keys, items = opened
    same = spec.kind is not None and len(items) == len(spec.children) and set(keys) == set(spec.keys)
    if spec.kind is None or not same:
        shown = "a single value" if spec.kind is None else f"a {spec.kind.__name__} of {len(spec.children)}"
        raise error(f"{what}: expected the structure of the value it is for, {shown}, got {prefix!r}")
    if isinstance(prefix, dict):
        items = tuple(prefix[key] for key in spec.keys)
    return [leaf for item, child in zip(items, spec.children) for leaf in spread(item, child, what, error)]


def mapped(function: Any, value: Any) -> Any:
    leaves, spec = flatten(value)
    return unflatten([function(leaf) for leaf in leaves], spec)
