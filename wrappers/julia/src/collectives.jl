# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Collectives that return new tensors and have derivatives, which are collectives themselves: the derivative is that of the
# sum of all ranks' losses. They wait for their results. A result requires grad on all ranks if the input of one rank does;
# the backward must then run on every rank, and grad mode must be equal on all.

function made_tensor(call)
    out = Ref{tsr_tensor}()
    check(call(out))
    return wrap(out[])
end

"""
    all_reduce(group, t; op=:sum)

A new tensor with the reduction of the ranks' tensors, and with a derivative: that of the sum of all ranks' losses, which is
a collective itself. `op` is as in [`all_reduce!`](@ref). A result requires grad on all ranks if the tensor of one rank does; then every
rank must run its backward.
"""
all_reduce(group::Group, t::Tensor; op::Symbol=:sum) =
    made_tensor(out -> C.tsr_collective_all_reduce(group, t, reduction(op), out))

"As `all_reduce`, with the result at the root and zeros elsewhere. `:sum` or `:avg`, where a tensor requires grad."
reduce_to(group::Group, t::Tensor, root::Integer; op::Symbol=:sum) =
    made_tensor(out -> C.tsr_collective_reduce(group, t, reduction(op), root, out))

"A new tensor with that of the root, and with a derivative; the others' tell shape and dtype."
broadcast_from(group::Group, t::Tensor, root::Integer) =
    made_tensor(out -> C.tsr_collective_broadcast(group, t, root, out))

"The ranks' tensors, concatenated along their first axis, with a derivative."
all_gather(group::Group, t::Tensor) = made_tensor(out -> C.tsr_collective_all_gather(group, t, out))

"This rank's part, along the first axis, of the reduction of the ranks' tensors, with a derivative."
reduce_scatter(group::Group, t::Tensor; op::Symbol=:sum) =
    made_tensor(out -> C.tsr_collective_reduce_scatter(group, t, reduction(op), out))

"""
    all_to_all(group, t; output_splits=nothing, input_splits=nothing)

The parts along the first axis that all ranks have for this one, with a derivative. Without `input_splits` they are equal;
without `output_splits` the ranks tell each other.
"""
function all_to_all(group::Group, t::Tensor; output_splits=nothing, input_splits=nothing)
    to, from = split_sizes(output_splits), split_sizes(input_splits)
    return GC.@preserve to from made_tensor(out -> C.tsr_collective_all_to_all(group, t,
        to === nothing ? C_NULL : pointer(to), to === nothing ? -1 : length(to),
        from === nothing ? C_NULL : pointer(from), from === nothing ? -1 : length(from), out))
end

"""
    send_recorded(group, t, peer; tag=0)

Sends a tensor to a rank that calls [`receive_recorded`](@ref). Returns a zero that stands for the message, to be added to the
loss: a backward that reaches it waits for the gradient. Several messages between two ranks need tags of their own.
"""
send_recorded(group::Group, t::Tensor, peer::Integer; tag::Integer=0) =
    made_tensor(out -> C.tsr_collective_send(group, t, peer, tag, out))

"A new tensor like `like` with what `peer` sends. `requires_grad`: its tensor requires grad."
receive_recorded(group::Group, like::Tensor, peer::Integer; tag::Integer=0, requires_grad::Bool=true) =
    made_tensor(out -> C.tsr_collective_recv(group, like, peer, tag, requires_grad, out))
