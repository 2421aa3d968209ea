# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# From status codes to Julia's exceptions.

"""
An error of the library for which Julia has no exception type. `code` is the name of the status, such as
`:AUTOGRAD`; `op` the function that failed; `native_code` the error number of a lower layer.
"""
struct TesseraError <: Exception
    code::Symbol
    op::String
    message::String
    native_code::Int
end

Base.showerror(io::IO, e::TesseraError) = print(io, "TesseraError(", e.code, "): ", e.message)

"""
Memory ran out, or the limit of [`memory_limit!`](@ref) would be passed. Base's `OutOfMemoryError` has no room for the
`message`, which says how much was asked for, how much is in use and which operations hold most of it.
"""
struct OutOfMemory <: Exception
    op::String
    message::String
end

Base.showerror(io::IO, e::OutOfMemory) = print(io, "OutOfMemory: ", e.message)

# The index of a BoundsError of the library: it carries the message, for which BoundsError has no field.
struct OutOfBounds
    message::String
end
Base.summary(io::IO, e::OutOfBounds) = print(io, "a tensor (", e.message, ")")

@inline check(status::Int32) = status == C.TSR_OK ? nothing : fail(status)

@noinline function fail(status::Int32)
    view = Ref(C.tsr_error_view())
    C.tsr_error_last(view) == C.TSR_OK || throw(TesseraError(:INTERNAL, "", "error record lost", 0))
    record = view[]
    message = unprefixed(unsafe_string(record.message, record.message_len))
    op = record.op == C_NULL ? "" : unprefixed(unsafe_string(record.op, record.op_len))
    if status == C.TSR_CALLBACK
        # The exception of a Julia callback.
        failure = payload(record.payload)
        failure isa Failure && throw(failure.exception)
    end
    throw(exception(status, op, message, Int(record.native_code)))
end

# A text that begins with the name of a function, without the prefix that the name has in C.
unprefixed(text) = startswith(text, "tsr_") ? text[5:end] : text

function exception(status, op, message, native_code)
    status == C.TSR_INDEX && return BoundsError(OutOfBounds(message))
    status == C.TSR_SHAPE && return DimensionMismatch(message)
    status == C.TSR_OUT_OF_MEMORY && return OutOfMemory(op, message)
    if status in (C.TSR_INVALID_ARGUMENT, C.TSR_VALUE, C.TSR_TYPE, C.TSR_DTYPE)
        return ArgumentError(message)
    end
    return TesseraError(get(C.STATUS_NAMES, status, :UNKNOWN), op, message, native_code)
end
