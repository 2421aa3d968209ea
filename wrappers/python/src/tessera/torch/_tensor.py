# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Tensor, with PyTorch's methods: a subclass of tessera.Tensor on the same handles, and the class of the results of
all operations on its instances (Note [Dialects] in native.h)."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

from .. import _core, _dtypes, _interop, _ops, _repr
from .. import _graph as _nodes
from .. import _tensor as _plain
from .._core import TensorBase
from .._device import Device
from .._dtypes import DType, get_default_dtype
from .._errors import ArgumentTypeError, DTypeError, InvalidValueError
from . import _overriding
from ._power import itself, powered, powered_here


def set_default_dtype(d: Any) -> None:
    """The dtype of what is made of Python floats, of creation functions without one, and of floats that operators make of
    integers."""
    if not isinstance(d, DType) or not d.is_floating_point:
        raise ArgumentTypeError(f"set_default_dtype(): expected a floating dtype, got {d!r}")
    _dtypes.set_default_dtype(d)


class Size(_core.ShapeBase):
    """The shape of a tensor."""

    __slots__ = ()

    def numel(self) -> int:
        count = 1
        for size in self:
            count *= size
        return count

    def __add__(self, other: Any) -> Any:
        return Size(tuple.__add__(self, tuple(other)))

    def __mul__(self, count: Any) -> Any:
        return Size(tuple.__mul__(self, count))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"


class Tensor(_plain.Tensor):
    """PyTorch's Tensor. `Tensor(tensor)` gives another object for the same tensor; `Tensor(2, 3)` and `Tensor(list)`
    are PyTorch's old constructors."""

    __slots__ = ()
    _weak_without_axes = True  # read by vmap
    _keeps_class = True  # results of operations on an object of a derived class are of that class

    def __new__(cls, *args: Any, **options: Any) -> Any:
        if len(args) == 1 and not options and isinstance(args[0], TensorBase):
            return super().__new__(cls, args[0])
        made = legacy(get_default_dtype(), *args, **options)
        return made if cls is Tensor else super().__new__(cls, made)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _overriding.derive(cls, Tensor)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """The call itself, with results of this class."""
        if not all(issubclass(cls, kind) for kind in types):
            return NotImplemented
        with _overriding.Off():
            result = func(*args, **(kwargs or {}))
        return _overriding.of_class(result, cls, Tensor)

    def __repr__(self) -> str:
        head = type(self).__name__ if type(self) in _overriding.KEPT else "tensor"
        return _repr.representation(self, head).replace("dtype=tessera.", "dtype=torch.")

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if self.ndim == 0 else object.__format__(self, spec)

    def __contains__(self, value: Any) -> bool:
        if not isinstance(value, (TensorBase, int, float, complex)):
            raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(value)}")
        return bool((self == value).any())

    def register_hook(self, hook: Callable[[Any], Any]) -> Any:
        return super().register_hook(with_tensors(hook))

    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], None]) -> Any:
        return super().register_post_accumulate_grad_hook(with_tensors(hook))

    @property
    def grad_fn(self) -> Any:
        return Node.of(super().grad_fn)

    @property
    def output_nr(self) -> int:
        """Which of the results of its node the tensor is."""
        return 0 if self.is_leaf else _nodes.get_gradient_edge(self).output_nr

    def to(self, *args: Any, memory_format: Any = None, **options: Any) -> Any:
        source: Any = self
        if self.dtype.is_complex:
            wanted = _dtype_among(*args, *options.values())
            if wanted is not None and not wanted.is_complex:
                source = _real_part(self, wanted)
        made: Any = TensorBase.to(source, *args, **options)
        return made if memory_format is None else like_format(made, memory_format)

    def copy_(self, src: Any, non_blocking: bool = False) -> Any:
        if isinstance(src, TensorBase) and src.dtype.is_complex and not self.dtype.is_complex:
            src = _real_part(src, self.dtype)
        return TensorBase.copy_(self, src)

    def cuda(self, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Any:
        return super().cuda(device.index if isinstance(device, Device) else device, non_blocking)

    def __pow__(self, other: Any) -> Any:
        try:
            return TensorBase.__pow__(self, other)
        except InvalidValueError:
            return powered(self, other)

    def __rpow__(self, other: Any) -> Any:
        try:
            return TensorBase.__rpow__(self, other)
        except InvalidValueError:
            return powered(other, self)

    def __ipow__(self, other: Any) -> Any:
        return powered_here(self, other)

    def __pos__(self) -> Any:
        return itself(self)

    @property
    def is_cpu(self) -> bool:
        return bool(self.device.type == "cpu")

    @property
    def layout(self) -> Any:
        return strided

    def _is_view(self) -> bool:
        return bool(self._view)

    @property
    def _base(self) -> Any:
        return self.base

    is_sparse = is_quantized = is_meta = is_mps = is_nested = is_xla = is_xpu = property(lambda self: False)
    is_sparse_csr = is_mkldnn = is_mtia = is_vulkan = is_ipu = is_maia = is_sparse
    name = property(lambda self: None)

    def as_subclass(self, cls: Any) -> Any:
        """The same tensor as an object of a class that derives from Tensor."""
        if not (isinstance(cls, type) and issubclass(cls, TensorBase)):
            raise ArgumentTypeError(f"as_subclass(): cls: expected a class that derives from Tensor, got {cls!r}")
        return _new(cls, self)

    @staticmethod
    def _make_subclass(cls: Any, data: Any, require_grad: bool = False) -> Any:  # noqa: PLW0211  (PyTorch's name)
        """A leaf of the class in the same memory, as the constructors of classes that programs write make it."""
        return Tensor.as_subclass(data.detach(), cls).requires_grad_(require_grad)

    def to_dense(self, dtype: Any = None, *, masked_grad: Any = None) -> Any:
        """The tensor itself: there are no sparse ones."""
        return self if dtype is None else self.to(dtype)


# ---- from complex numbers to real ones ----


def _dtype_among(*given: Any) -> Any:
    """The dtype that the arguments of to() name."""
    for item in given:
        if isinstance(item, TensorBase):
            return item.dtype
        if isinstance(item, (str, type, DType)):
            try:
                return _dtypes.dtype_of(item)
            except DTypeError:  # the name of a device
                continue
    return None


def _real_part(tensor: Any, dtype: Any) -> Any:
    """What remains of complex numbers in a real dtype."""
    if dtype is _dtypes.bool_:
        return _ops.not_equal(tensor, 0)
    warnings.warn("Casting complex values to real discards the imaginary part", UserWarning, stacklevel=3)
    return _ops.real(tensor)


def _conversion(name: str, dtype: DType) -> Callable[..., Any]:
    plain: Any = getattr(_plain.Tensor, name)

    def convert(self: Any, memory_format: Any = None) -> Any:
        made = self.to(dtype) if self.dtype.is_complex else plain(self)
        return made if memory_format is None else like_format(made, memory_format)

    convert.__name__ = name
    return convert


for _name, _dtype in {
    "bfloat16": "bfloat16", "bool": "bool", "byte": "uint8", "char": "int8", "double": "float64", "float": "float32",
    "half": "float16", "int": "int32", "long": "int64", "short": "int16",
}.items():  # fmt: skip
    setattr(Tensor, _name, _conversion(_name, _dtypes.ALL[_dtype]))


# ---- tensors from plain ones ----

_new: Callable[..., Any] = TensorBase.__new__


def made(tensor: Any, out: Any = None) -> Any:
    """A new tensor as one of this class, or written to `out`."""
    if out is None:
        return tensor if isinstance(tensor, Tensor) else _new(Tensor, tensor)
    if tuple(out.shape) != tuple(tensor.shape):
        out.data = tensor.to(dtype=out.dtype, device=out.device)
        return out
    return out.copy_(tensor)


def retyped(value: Any) -> Any:
    """The value with every plain tensor in it, at any depth of tuples, lists and dicts, as one of this class. What holds no
    plain tensor is the same object, which others may hold too."""
    if isinstance(value, TensorBase):
        return value if isinstance(value, Tensor) else _new(Tensor, value)
    kind = type(value)
    if kind is dict:
        found = [retyped(item) for item in value.values()]
        return value if all(map(operator.is_, found, value.values())) else dict(zip(value, found))
    if kind is list or kind is tuple or (isinstance(value, tuple) and hasattr(value, "_fields")):
        found = [retyped(item) for item in value]
        if all(map(operator.is_, found, value)):
            return value
        return found if kind is list else tuple(found) if kind is tuple else kind(*found)
    return value


def with_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """A callable whose arguments are tensors of this class, for what calls with plain ones."""

    def call(*args: Any) -> Any:
        return function(*[retyped(item) for item in args])

    call.__wrapped__ = function  # type: ignore[attr-defined]
    return call


class Node(_nodes.Node):
    """A node whose hooks and tensors are of this module's class."""

    __slots__ = ()

    @staticmethod
    def of(node: Any) -> Any:
        """The node itself, as one of this class with its own name, by which programs know it."""
        if node is not None:
            name = node.name()
            if name not in _NODES:
                _NODES[name] = type(name, (Node,), {"__slots__": (), "__module__": "torch.autograd"})
            node.__class__ = _NODES[name]
        return node

    def register_hook(self, hook: Callable[..., Any]) -> Any:
        return super().register_hook(with_tensors(hook))

    def register_prehook(self, hook: Callable[..., Any]) -> Any:
        return super().register_prehook(with_tensors(hook))

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        return tuple([(Node.of(node), number) for node, number in super().next_functions])

    @property
    def variable(self) -> Any:
        return retyped(super().variable)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        return tuple(retyped(super().saved_tensors))

    def __call__(self, *gradients: Any) -> Any:
        return retyped(super().__call__(*gradients))

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        return _saved(found) if name.startswith("_raw_saved_") else retyped(found)

    def _sequence_nr(self) -> int:
        return self.sequence_nr

    @property
    def _input_metadata(self) -> list[Any]:
        """Shape, dtype and device of the gradients that the node gets."""
        return list(self.outputs)


_NODES: dict[str, type[Node]] = {}


class SavedTensor(_nodes.SavedTensor):
    """One of the tensors that a node saved, whose pack hook gets a tensor of this module's class."""

    __slots__ = ()

    def register_hooks(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        super().register_hooks(with_tensors(pack_hook) if callable(pack_hook) else pack_hook, unpack_hook)


def _saved(found: Any) -> Any:
    if isinstance(found, tuple):
        return tuple(map(_saved, found))
    found.__class__ = SavedTensor
    return found


def legacy(dtype: DType, *args: Any, device: Any = None, **options: Any) -> Any:
    """PyTorch's old constructors: of sizes, or of data."""
    if options:
        raise ArgumentTypeError(f"Tensor(): unexpected keyword argument {next(iter(options))!r}")
    if not args:
        return made(_ops.empty((0,), dtype=dtype, device=device))
    if len(args) == 1 and (isinstance(args[0], (list, TensorBase)) or not isinstance(args[0], (int, tuple))):
        return made(_interop.tensor(args[0], dtype=dtype, device=device))
    if len(args) == 1 and isinstance(args[0], tuple) and not isinstance(args[0], Size):
        return made(_interop.tensor(list(args[0]), dtype=dtype, device=device))
    shape = args[0] if isinstance(args[0], tuple) else args
    return made(_ops.empty(tuple(shape), dtype=dtype, device=device))


# ---- memory formats ----


class Named:
    """A constant of torch that only has a name, such as a memory format."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


contiguous_format, channels_last, channels_last_3d, preserve_format, strided = map(
    Named, ("contiguous_format", "channels_last", "channels_last_3d", "preserve_format", "strided")
)
_LAST_AXES = {channels_last: (4, (0, 2, 3, 1), (0, 3, 1, 2)), channels_last_3d: (5, (0, 2, 3, 4, 1), (0, 4, 1, 2, 3))}


def like_format(tensor: Any, memory_format: Any) -> Any:
    """The tensor with its elements in the order of a memory format."""
    if memory_format not in _LAST_AXES:
        return _ops.contiguous(tensor) if memory_format is contiguous_format else tensor
    ndim, there, back = _LAST_AXES[memory_format]
    if tensor.ndim != ndim:
        raise ArgumentTypeError(f"{memory_format}: expected {ndim} axes, got shape {tensor.shape}")
    return _ops.permute(_ops.contiguous(_ops.permute(tensor, there)), back)


def has_format(tensor: Any, memory_format: Any) -> bool:
    """Whether the elements are in the order of a memory format."""
    if memory_format not in _LAST_AXES:
        return bool(TensorBase.is_contiguous(tensor))
    ndim, there, _ = _LAST_AXES[memory_format]
    return tensor.ndim == ndim and bool(TensorBase.is_contiguous(_ops.permute(tensor, there)))


# ---- types of tensors, as PyTorch's old classes name them ----

_TYPES = {
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16",
    "ByteTensor": "uint8", "CharTensor": "int8", "ShortTensor": "int16", "IntTensor": "int32", "LongTensor": "int64",
    "BoolTensor": "bool",
}  # fmt: skip


class _TypeOfTensors(type):
    """The class of FloatTensor and its kin: isinstance() looks at the dtype."""

    dtype: DType
    place: str

    def __instancecheck__(cls, given: Any) -> bool:
        return isinstance(given, TensorBase) and given.dtype is cls.dtype and given.device.type == cls.place

    def __call__(cls, *args: Any, **options: Any) -> Any:
        return legacy(cls.dtype, *args, **{"device": cls.place, **options})


def _types(place: str, module: str) -> dict[str, Any]:
    body: dict[str, Any] = {"place": place, "__module__": module}
    return {name: _TypeOfTensors(name, (), {**body, "dtype": _dtypes.ALL[dtype]}) for name, dtype in _TYPES.items()}


TYPES, TYPES_OF_CUDA = _types("cpu", "torch"), _types("cuda", "torch.cuda")
_NAMES = {dtype: name for name, dtype in _TYPES.items()}


def typed(tensor: Any, dtype: Any) -> Any:
    """The name of the tensor's type, or the tensor with another one."""
    if dtype is None:
        place = "torch." if tensor.device.type == "cpu" else f"torch.{tensor.device.type}."
        return place + _NAMES.get(tensor.dtype.name, f"{tensor.dtype.name.capitalize()}Tensor")
    return tensor.to(**meant(dtype))


def meant(dtype: Any) -> dict[str, Any]:
    """The arguments of to() for a dtype, a type of tensors such as torch.cuda.FloatTensor, or the name of one."""
    if isinstance(dtype, str):
        types, name = TYPES_OF_CUDA if ".cuda." in dtype else TYPES, dtype.rpartition(".")[2]
        if name not in types:
            raise InvalidValueError(f"type(): invalid type: {dtype!r}")
        dtype = types[name]
    return {"dtype": dtype.dtype, "device": dtype.place} if isinstance(dtype, _TypeOfTensors) else {"dtype": dtype}


def typename(obj: Any) -> str:
    """The name of the type of a tensor, or of any object."""
    if isinstance(obj, TensorBase):
        return str(typed(obj, None))
    return f"{type(obj).__module__}.{type(obj).__qualname__}"


_core.register(dialect=Tensor, shape=Size)
_overriding.begin(Tensor)
