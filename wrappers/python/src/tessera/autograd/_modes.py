# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether operations record: thread-local switches, as with blocks and as decorators."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from .._core import ffi, lib
from .._errors import check

F = TypeVar("F", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    return bool(lib.tsr_grad_mode())


def is_inference_mode_enabled() -> bool:
    return bool(lib.tsr_inference_mode())


def _set(function: Any, value: bool) -> bool:
    previous = ffi.new("int32_t*")
    check(function(int(value), previous))
    return bool(previous[0])


class _Mode:
    """Enters a state for a with block or for each call of a decorated function; may nest."""

    def __init__(self) -> None:
        self._before: list[bool] = []

    def _switch(self) -> bool:
        raise NotImplementedError

    def _restore(self, before: bool) -> None:
        _set(lib.tsr_grad_mode_set, before)

    def _again(self) -> _Mode:
        return type(self)()

    def __enter__(self) -> _Mode:
        self._before.append(self._switch())
        return self

    def __exit__(self, *exception: object) -> None:
        self._restore(self._before.pop())

    def __call__(self, function: F) -> F:
        if inspect.isgeneratorfunction(function):
            return functools.wraps(function)(functools.partial(self._steps, function))  # type: ignore[return-value]

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]

    def _steps(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        """Runs a generator in the state, and who iterates over it in their own."""
        generator = function(*args, **kwargs)
        try:
            with self._again():
                value = next(generator)
            while True:
                try:
                    reply = yield value
                except GeneratorExit:
                    with self._again():
                        generator.close()
                    raise
                except BaseException as error:
                    with self._again():
                        value = generator.throw(error)
                else:
                    with self._again():
                        value = generator.send(reply)
        except StopIteration as end:
            return end.value

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        if len(args) == 1 and callable(args[0]) and not isinstance(args[0], bool):
            cls.__init__(made)
            return made(args[0])  # @no_grad without brackets
        return made


class no_grad(_Mode):  # noqa: N801
    """Operations inside record nothing, and their results do not require grad."""

    def _switch(self) -> bool:
        return _set(lib.tsr_grad_mode_set, False)


class enable_grad(_Mode):  # noqa: N801
    """Operations inside record again."""

    def _switch(self) -> bool:
        return _set(lib.tsr_grad_mode_set, True)


class inference_mode(_Mode):  # noqa: N801
    """As no_grad, and results can never be differentiated later."""

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self.mode = mode

    def _again(self) -> _Mode:
        return inference_mode(self.mode)

    def _switch(self) -> bool:
        return _set(lib.tsr_inference_mode_set, self.mode)

    def _restore(self, before: bool) -> None:
        _set(lib.tsr_inference_mode_set, before)


class set_grad_enabled(_Mode):  # noqa: N801
    """Switches recording at once; as a with block or a decorator, only for the block or the calls."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = mode
        self._before.append(self._switch())
        self._switched = True

    def _again(self) -> _Mode:
        return set_grad_enabled(self.mode)

    def _switch(self) -> bool:
        return _set(lib.tsr_grad_mode_set, self.mode)

    def __enter__(self) -> _Mode:
        if not self._switched:
            return super().__enter__()
        self._switched = False
        return self

    def __call__(self, function: F) -> F:
        self._switched = False
        self._restore(self._before.pop())
        return super().__call__(function)
