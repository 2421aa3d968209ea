# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# DLPack: tensors to and from other libraries of the process, as pointers, without a copy.

"""
    Tessera.to_dlpack(tensor; version=1)

A pointer to a `DLManagedTensorVersioned` on the tensor's memory, or with `version=0` to a legacy
`DLManagedTensor`. Its consumer must call the deleter.
"""
function to_dlpack(t::Tensor; version::Integer=1)
    managed = Ref{Ptr{Cvoid}}(C_NULL)
    status = version == 0 ? C.tsr_to_dlpack(t, 0, managed) :
        C.tsr_to_dlpack_versioned(t, version, 0, C_NULL, managed)
    check(status)
    return managed[]
end

"""
    Tessera.from_dlpack(pointer; version=1, copy=false)

A tensor on the memory of a DLPack tensor; consumes the DLPack tensor.
"""
function from_dlpack(managed::Ptr{Cvoid}; version::Integer=1, copy::Bool=false)
    flags = copy ? C.TSR_DLPACK_COPY : Int32(0)
    out = Ref{tsr_tensor}()
    status = version == 0 ? C.tsr_from_dlpack(managed, flags, out) :
        C.tsr_from_dlpack_versioned(managed, flags, out)
    check(status)
    return wrap(out[])
end
