# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# From status codes to Julia's exceptions.

"""
An error of the library that Julia has no type of its own for. `code` is the name of the status,
such as `:AUTOGRAD`; `op` the function that failed; `native_code` the number of the layer below.
"""
struct TesseraError <: Exception
    code::Symbol
    op::String
    message::String
    native_code::Int
end

Base.showerror(io::IO, e::TesseraError) = print(io, "TesseraError(", e.code, "): ", e.message)

# What a BoundsError of the library points at: Julia's own has no room for a message.
struct OutOfBounds
    message::String
end
Base.summary(io::IO, e::OutOfBounds) = print(io, "a tensor (", e.message, ")")

@inline check(status::Int32) = status == C.TSR_OK ? nothing : fail(status)

@noinline function fail(status::Int32)
    view = Ref(C.tsr_error_view())
    C.tsr_error_last(view) == C.TSR_OK || throw(TesseraError(:INTERNAL, "", "error record lost", 0))
    record = view[]
    message = unsafe_string(record.message, record.message_len)
    op = record.op == C_NULL ? "" : unsafe_string(record.op, record.op_len)
    if status == C.TSR_CALLBACK
        # The callback's own exception, when it was one of ours.
        failure = payload(record.payload)
        failure isa Failure && throw(failure.exception)
    end
    throw(exception(status, op, message, Int(record.native_code)))
end

function exception(status, op, message, native_code)
    status == C.TSR_INDEX && return BoundsError(OutOfBounds(message))
    status == C.TSR_SHAPE && return DimensionMismatch(message)
    status == C.TSR_OUT_OF_MEMORY && return OutOfMemoryError()
    if status in (C.TSR_INVALID_ARGUMENT, C.TSR_VALUE, C.TSR_TYPE, C.TSR_DTYPE)
        return ArgumentError(message)
    end
    return TesseraError(get(C.STATUS_NAMES, status, :UNKNOWN), op, message, native_code)
end
