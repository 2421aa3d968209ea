# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Modes of recording: thread-local, usable as context managers and as decorators."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from ._core import ModeBase

F = TypeVar("F", bound=Callable[..., Any])


class _Mode(ModeBase):
    """Sets a mode for a with block or for each call of a decorated function; may be nested."""

    __slots__ = ()

    def __call__(self, function: F) -> F:
        self._undo()
        again = self._again
        if inspect.isgeneratorfunction(function):
            return functools.wraps(function)(functools.partial(self._steps, function))  # type: ignore[return-value]

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with again():
                return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]

    def clone(self) -> _Mode:
        """A mode of this kind that is not entered."""
        made: _Mode = self._again()
        return made

    def _steps(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        """Runs a generator in the mode; code that iterates over it stays in its own mode."""
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


class no_grad(_Mode):  # noqa: N801
    """Operations inside are not recorded, and their results do not require grad."""

    __slots__ = ()
    _kind = 0


class enable_grad(_Mode):  # noqa: N801
    """Operations inside are recorded again."""

    __slots__ = ()
    _kind = 1


class inference_mode(_Mode):  # noqa: N801
    """inference_mode(mode=True): like no_grad, and the results can never be differentiated later. inference_mode(False): operations
    inside are recorded again."""

    __slots__ = ()
    _kind = 2


class set_grad_enabled(_Mode):  # noqa: N801
    """set_grad_enabled(mode): switches recording at once; as a context manager or decorator, only for the block or
    call."""

    __slots__ = ()
    _kind = 3
