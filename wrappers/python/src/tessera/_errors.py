# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Exceptions: one class per status code, each derived also from the built-in exception that fits it."""

from __future__ import annotations

import errno
import operator
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from ._constants import STATUS
from ._core import register


class TesseraError(RuntimeError):
    """A failure of the library.

    `op` is the function that failed, `argument` the number of the wrong argument in its C signature or None,
    `native_code` the error number of a lower layer (such as errno) or 0.
    """

    code: ClassVar[int] = 0

    def __init__(
        self, message: str = "", op: str = "", argument: int | None = None, native_code: int = 0
    ) -> None:
        super().__init__(message)
        self.op = op
        self.argument = argument
        self.native_code = native_code


class InvalidArgumentError(TesseraError, ValueError):
    code = 1


class InvalidValueError(TesseraError, ValueError):
    code = 2


class ArgumentTypeError(TesseraError, TypeError):
    code = 3


class ShapeError(TesseraError, ValueError):
    code = 4


class DTypeError(TesseraError, TypeError, NotImplementedError):
    code = 5


class DeviceError(TesseraError, ValueError):
    code = 6


class OutOfRangeError(TesseraError, IndexError):
    code = 7


class MemoryAccessError(TesseraError, BufferError):
    code = 8


class OutOfMemoryError(TesseraError, MemoryError):
    code = 9


class NotSupportedError(TesseraError, NotImplementedError):
    code = 10


class BackendError(TesseraError):
    code = 11


class AutogradError(TesseraError):
    code = 12


class CallbackError(TesseraError):
    code = 13


class CancelledError(TesseraError):
    code = 14


class AbiError(TesseraError):
    code = 15


class FileError(TesseraError, OSError):
    """A file that cannot be read or written, with `errno` and `filename` if they are known.

    The error of a missing file is also a FileNotFoundError, that of a forbidden one a PermissionError, and so on.
    """

    code = 16

    def __init__(self, message: str = "", op: str = "", argument: int | None = None, native_code: int = 0) -> None:
        super().__init__(message, op, argument, native_code)
        if native_code:
            self.errno, self.strerror = native_code, os.strerror(native_code)

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self.op, self.argument, self.native_code), {"filename": self.filename}

    def __setstate__(self, state: dict[str, Any] | None) -> None:
        self.filename = (state or {}).get("filename")


class InternalError(TesseraError):
    code = 17


class AsyncError(TesseraError):
    code = 18


class LinAlgError(TesseraError, ValueError):
    """A matrix without what was asked for; `native_code` is its index in the batch."""

    code = 19


class IndexTypeError(OutOfRangeError, TypeError):
    """An object that is no index at all."""


class MissingNameError(OutOfRangeError, KeyError):
    """A name that is not in a file."""

    __str__ = Exception.__str__  # KeyError's shows the message in quotes


class MissingFileError(FileError, FileNotFoundError):
    pass


class FilePermissionError(FileError, PermissionError):
    pass


class FolderError(FileError, IsADirectoryError):
    pass


class NoFolderError(FileError, NotADirectoryError):
    pass


_BY_ERRNO: dict[int, type[FileError]] = {
    errno.ENOENT: MissingFileError,
    errno.EACCES: FilePermissionError,
    errno.EPERM: FilePermissionError,
    errno.EISDIR: FolderError,
    errno.ENOTDIR: NoFolderError,
}

def as_number(given: Any, what: str) -> float:
    """Converts an argument to a real number."""
    if not isinstance(given, (int, float)) and not hasattr(given, "__float__"):
        raise ArgumentTypeError(f"{what}: expected a number, got {type(given).__name__}")
    try:
        return float(given)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentTypeError(f"{what}: expected a number ({error})") from None


def as_int(given: Any, what: str) -> int:
    """Converts an argument to an integer."""
    try:
        return operator.index(given)
    except TypeError:
        raise ArgumentTypeError(f"{what}: expected an int, got {type(given).__name__}") from None


def as_list(given: Any, what: str) -> list[Any]:
    """Converts an argument to a list."""
    try:
        return list(given)
    except TypeError:
        raise ArgumentTypeError(f"{what}: expected a sequence, got {type(given).__name__}") from None


def as_pair(given: Any, what: str) -> tuple[Any, Any]:
    """Converts an argument to two values."""
    listed = as_list(given, what)
    if len(listed) != 2:
        raise InvalidValueError(f"{what}: expected two values, got {len(listed)}")
    return listed[0], listed[1]


CLASSES: dict[int, type[TesseraError]] = {c.code: c for c in TesseraError.__subclasses__()}
if CLASSES.keys() != STATUS.keys():
    raise ImportError("tessera._errors does not match the status codes of the library")
register(
    errors=CLASSES,
    file_errors=_BY_ERRNO,
    error=TesseraError,
    access_error=MemoryAccessError,
    type_error=ArgumentTypeError,
    value_error=InvalidValueError,
    index_error=OutOfRangeError,
)


@contextmanager
def about_file(path: Any) -> Iterator[None]:
    """Sets the file name of errors that leave the block."""
    try:
        yield
    except FileError as error:
        if type(error) is FileError and not error.native_code and os.path.isdir(path):
            error = FolderError(str(error), error.op, error.argument, errno.EISDIR)
        error.filename = os.fspath(path)
        raise error from None
