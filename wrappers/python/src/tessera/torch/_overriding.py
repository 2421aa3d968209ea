# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Classes that programs derive from Tensor, and `__torch_function__` of classes.

Results belong to the class of an operand (`kept` of the C extension: Note [Dialects] in native.h). A class whose
`__torch_function__` is its own gets each call instead: its methods and operators are replaced when it is made, an operation of
C asks `override`, and a row of the table asks `overridden` once it has failed. So calls on other tensors cost what they did.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable, Iterable
from types import CodeType, FrameType, FunctionType
from typing import Any

from .. import _core
from .._core import TensorBase

ROWS: dict[CodeType, FunctionType] = {}  # the functions of rows by their code
KEPT: dict[type, bool] = {}  # the classes that programs derived, and whether they want calls
_PACKAGE = __file__.rpartition("torch")[0]
_PLAIN: Any = None  # the function behind Tensor.__torch_function__


class _State(threading.local):
    off = False


_state = _State()


class Off:
    """Inside it no class of a program is asked."""

    def __enter__(self) -> None:
        self.before, _state.off = _state.off, True

    def __exit__(self, *_: object) -> None:
        _state.off = self.before


class _Handed(TypeError):
    """Ends a row whose arguments are of a class that wants the whole call."""


# ---- which classes want a call ----


def wants(kind: type) -> bool:
    """Whether a class has `__torch_function__` of its own."""
    own = getattr(kind, "__torch_function__", None)
    if own is None or own is disabled:
        return False
    function = getattr(own, "__func__", own)
    return function is not _PLAIN and getattr(function, "__module__", None) != "torch._tensor"  # a tensor of PyTorch itself


def _one_of_each(args: Iterable[Any], counts: Callable[[type], bool]) -> list[Any]:
    found: list[Any] = []
    for arg in args:
        kind = type(arg)
        if counts(kind) and all(type(known) is not kind for known in found):
            place = next((i for i, known in enumerate(found) if issubclass(kind, type(known))), len(found))
            found.insert(place, arg)
    return found


def wanting(args: Iterable[Any]) -> list[Any]:
    """One argument of each class that wants calls, those of derived classes before those of their bases. Lists and tuples
    among the arguments are looked into."""
    if _state.off:
        return []
    return _one_of_each([item for arg in args for item in (arg if isinstance(arg, (list, tuple)) else (arg,))], wants)


def asked(args: Iterable[Any]) -> list[Any]:
    """The same for torch.overrides, which counts every class that is derived from Tensor."""
    return [] if _state.off else _one_of_each(args, lambda kind: kind in KEPT or wants(kind))


def handed(
    function: Callable[..., Any], found: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any], operator: bool = False
) -> Any:
    """What the first of the classes makes of the call that does not give NotImplemented, which only an operator may."""
    types = tuple(map(type, found))
    for item in found:
        result = type(item).__torch_function__(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    if operator:
        return NotImplemented
    module = (getattr(function, "__module__", None) or "torch").removeprefix("tessera.")
    name = f"{module}.{getattr(function, '__name__', function)}"
    raise TypeError(f"no implementation found for {name!r} on types that implement __torch_function__: {list(types)}")


def disabled(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """`__torch_function__` of a class whose operations give plain tensors."""
    with Off():
        return func(*args, **(kwargs or {}))


def of_class(value: Any, kind: Any, plain: Any) -> Any:
    """A result with its tensors as objects of the class."""
    if isinstance(value, plain):
        return value if isinstance(value, kind) else TensorBase.__new__(kind, value)
    if isinstance(value, (list, tuple)):
        items = [of_class(item, kind, plain) for item in value]
        if all(map(lambda a, b: a is b, items, value)):
            return value
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


# ---- calls of rows and of C ----


def overridden(row: FrameType, given: dict[str, Any]) -> Any:
    """What a class of the program makes of the call of a row that failed; NotImplemented if none wants it."""
    found = wanting(given.values())
    if not found:
        return NotImplemented
    function = ROWS[row.f_code]
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        value = given[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            args.extend(value)
        elif value is parameter.default:
            continue
        elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD and not kwargs:
            args.append(value)
        else:
            kwargs[name] = value
    return handed(function, found, tuple(args), kwargs)


def _leave_row(frame: FrameType | None) -> bool:
    """Ends the row that the frame belongs to, so that a class gets its call as a whole. Else whether the frame is the library's."""
    first = frame
    while frame is not None and (frame.f_code in ROWS or frame.f_code.co_filename.startswith(_PACKAGE)):
        if frame.f_code in ROWS:
            raise _Handed(frame.f_code.co_name)
        frame = frame.f_back
    return frame is not first


def override(name: str, given: dict[str, Any]) -> Any:
    """Called by C for an operation, with its arguments by name, if classes of the program may want it."""
    found = wanting(given.values())
    if not found:
        return NotImplemented
    _leave_row(sys._getframe(1))
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for key, value in given.items():
        if not kwargs and isinstance(value, (TensorBase, list, tuple, *map(type, found))):
            args.append(value)
        else:
            kwargs[key] = value
    return handed(_named(name), found, tuple(args), kwargs)


def _named(name: str) -> Any:
    """The function of torch for an operation of the library, which has no name in torch if it is another there."""
    torch = sys.modules["tessera.torch"]
    for place in (torch, torch.nn.functional, torch.linalg, torch.fft, torch.special):
        function = vars(place).get(name)
        if function is not None:
            return function
    return getattr(sys.modules["tessera._ops"], name)


# ---- classes ----

_OPERATORS = """
__add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__ __imul__ __truediv__ __rtruediv__ __itruediv__ __floordiv__
__rfloordiv__ __mod__ __rmod__ __pow__ __rpow__ __ipow__ __matmul__ __rmatmul__ __and__ __rand__ __or__ __ror__ __xor__ __rxor__
__lshift__ __rshift__ __neg__ __pos__ __abs__ __invert__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __getitem__ __setitem__
__len__ __bool__ __int__ __float__ __contains__ __repr__ __format__
""".split()


# The methods of operators, which are what PyTorch's operators are.
_NAMES = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "matmul": "matmul", "eq": "eq", "ne": "ne", "lt": "lt",
    "le": "le", "gt": "gt", "ge": "ge",
}  # fmt: skip
_OPERANDS = (TensorBase, int, float, complex)


def _operator(plain: Any, name: str) -> Any:
    """What stands for an operator: a method that hands on a call of the method that PyTorch's operator is."""
    bare, own = name.strip("_"), _method(getattr(plain, name), True)
    if bare in ("neg", "abs"):
        return _method(getattr(plain, bare))
    if bare in _NAMES:
        method = _method(getattr(plain, _NAMES[bare]), True)
        return lambda left, right: (method if isinstance(right, _OPERANDS) else own)(left, right)
    if bare[0] == "r" and bare[1:] in _NAMES:
        method = _method(getattr(plain, _NAMES[bare[1:]]), True)
        return lambda right, left: method(left, right) if isinstance(left, plain) else own(right, left)
    return own


def _method(function: Any, operator: bool = False) -> Any:
    def method(*args: Any, **kwargs: Any) -> Any:
        found = wanting((*args, *kwargs.values()))
        return handed(function, found, args, kwargs, operator) if found else function(*args, **kwargs)

    method.__name__ = getattr(function, "__name__", "method")
    return method


def _attribute(place: Any) -> property:
    read = _method(place.__get__)

    def get(self: Any) -> Any:
        direct = _state.off or _leave_row(sys._getframe(1))
        return place.__get__(self) if direct else read(self)

    def put(self: Any, value: Any) -> None:
        place.__set__(self, value)

    return property(get, put)


def derive(cls: Any, plain: Any) -> None:
    """Called for each class that is derived from Tensor."""
    if not cls._keeps_class or cls.__torch_function__ is disabled:
        return
    if not KEPT:
        _core.register(kept=KEPT)
    KEPT[cls] = wants(cls)
    if not KEPT[cls]:
        return
    own = {name for kind in cls.__mro__[: cls.__mro__.index(plain)] for name in vars(kind)}
    for name in dir(plain):
        if name in own or (name.startswith("_") and name not in _OPERATORS):
            continue
        place = inspect.getattr_static(plain, name)
        if isinstance(place, property) or inspect.isgetsetdescriptor(place):
            setattr(cls, name, _attribute(place))
        elif callable(place) and not isinstance(place, (staticmethod, classmethod, type)):
            setattr(cls, name, _operator(plain, name) if name.startswith("__") else _method(place))


def begin(plain: Any) -> None:
    """Called with Tensor, whose `__torch_function__` is no class's own."""
    global _PLAIN
    _PLAIN = plain.__torch_function__.__func__
    _core.register(override=override)
