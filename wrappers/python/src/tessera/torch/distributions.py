# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.distributions: the library's distributions, whose tensors are PyTorch's."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from typing import Any

from . import _rows
from ._names import NAMES as _NAMES
from ._tensor import Size, retyped

_SHAPES = ("batch_shape", "event_shape", "param_shape")
_MODULES = ("constraints", "kl", "transforms", "utils")  # modules of the library's
# Files of PyTorch's package, which programs name: this module stands for them. The library has files of the same names, whose
# classes give its own tensors.
FILES = """
bernoulli beta binomial categorical cauchy chi2 constraint_registry continuous_bernoulli dirichlet distribution exp_family
exponential fishersnedecor gamma generalized_pareto geometric gumbel half_cauchy half_normal independent inverse_gamma kumaraswamy
laplace lkj_cholesky log_normal logistic_normal lowrank_multivariate_normal mixture_same_family multinomial multivariate_normal
negative_binomial normal one_hot_categorical pareto poisson relaxed_bernoulli relaxed_categorical studentT transformed_distribution
uniform von_mises weibull wishart
"""
_FILES = frozenset(FILES.split())


def _plain() -> Any:
    if importlib.util.find_spec("tessera.distributions") is None:
        raise _rows.missing("torch.distributions")
    return importlib.import_module("tessera.distributions")


def _with_tensors(member: Any) -> Any:
    """A method or property of a distribution whose results are PyTorch's tensors."""
    if isinstance(member, property) and member.fget is not None:
        get = member.fget
        return property(lambda self: retyped(get(self)))

    @functools.wraps(member)
    def call(*args: Any, **kwargs: Any) -> Any:
        return retyped(member(*args, **kwargs))

    return call


def _also(plain: type) -> tuple[type, ...]:
    """Classes that derive from this one in PyTorch, but not in the library."""
    names = {
        "ExponentialFamily": "Bernoulli Beta Dirichlet Exponential Gamma Normal Poisson Wishart",
        "TransformedDistribution": "Gumbel HalfCauchy HalfNormal InverseGamma Kumaraswamy Pareto Weibull",
    }.get(plain.__name__, "")
    return tuple(getattr(_plain(), name) for name in names.split())


def _part(place: int) -> property:
    """`base_dist` or `transforms` of a distribution that is a transformed one in PyTorch only."""

    def get(self: Any) -> Any:
        parts = importlib.import_module("tessera.torch._transformed").PARTS
        return next(parts[kind.__name__] for kind in type(self).__mro__ if kind.__name__ in parts)(self)[place]

    return property(get)


class _Kind(type):
    """The class of these classes. A class of the library's counts as one that derives from it also for what derives from its
    base there: Normal is a Distribution."""

    def __instancecheck__(cls, given: Any) -> bool:
        return type.__instancecheck__(cls, given) or isinstance(given, cls.__dict__.get("_plain", ()))

    def __subclasscheck__(cls, given: type) -> bool:
        return type.__subclasscheck__(cls, given) or issubclass(given, cls.__dict__.get("_plain", ()))


def _adapted(plain: type) -> Any:
    """A class whose public methods and properties, inherited ones too, give PyTorch's tensors."""
    body: dict[str, Any] = {"__module__": __name__, "__doc__": plain.__doc__, "_plain": (plain, *_also(plain))}
    for base in reversed(plain.__mro__[:-1]):
        for name, member in vars(base).items():
            if not name.startswith("_") and (isinstance(member, property) or callable(member)) and not isinstance(member, type):
                body[name] = _with_tensors(member)
            elif not name.startswith("_") and name in body:  # a class says anew, as a plain value, what its base computes
                body[name] = member

    if plain in _also(_plain().TransformedDistribution):
        body.update(base_dist=_part(0), transforms=_part(1))

    get: Any = plain.__getattribute__

    def __getattribute__(self: Any, name: str) -> Any:
        found = get(self, name)
        if name in _SHAPES:
            return Size(found)
        return found if name.startswith("_") else retyped(found)

    body["__getattribute__"] = __getattribute__
    return _Kind(plain.__name__, (plain,), body)


def _registered(register: Any, type_p: type, type_q: type) -> Any:
    """register_kl for the library's classes of these, from which those here derive, all of them."""
    return register(*[vars(kind).get("_plain", (kind,))[0] for kind in (type_p, type_q)])


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    package = _plain()
    if name in _FILES:
        return sys.modules[__name__]
    if name == "utils":
        return importlib.import_module("tessera.distributions._values")
    found: Any = importlib.import_module("tessera.distributions.kl") if name == "kl" else getattr(package, name, None)
    if found is None:
        raise _rows.missing(f"torch.distributions.{name}")
    if isinstance(found, type) and issubclass(found, package.Distribution):
        found = _adapted(found)
    elif name == "kl_divergence":
        found = _with_tensors(found)
    elif name == "register_kl":
        found = functools.wraps(found)(functools.partial(_registered, found))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(_plain().__all__)


__all__ = [name for name in _NAMES["distributions"] if hasattr(_plain(), name)]  # noqa: PLE0604
