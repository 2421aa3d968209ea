# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Trains the digits network on several ranks: mpirun -n 4 julia examples/julia/digits_ddp.jl DATA WEIGHTS OUT
# It begins with the weights of a file, each rank has a part of every batch, and rank 0 writes the weights. Layers run
# as in evaluation, so that the parts together are the whole batch.

include("digits_model.jl")

using Tessera: DataParallel, Group, group_rank, group_size

const STEPS, BATCH = 10, 240

function train_parts(net, group, images, classes)
    rank, size = group_rank(group), group_size(group)
    parallel = DataParallel(group, net)
    state = setup(SGD(lr=0.05, momentum=0.9), net)
    rows = BATCH ÷ size
    evaluate!(net)
    for step in 0:(STEPS - 1)
        first = BATCH * (step % 5) + rows * rank
        part = (first + 1):(first + rows)
        zero_grad!(state)
        loss = cross_entropy(parallel(images[part, :, :, :]), classes[part])
        backward!(loss)
        update!(state)
        step == STEPS - 1 && @printf("rank %d of %d: loss %.6f\n", rank, size, item(loss))
    end
end

function main(data, weights, out)
    group = Group("mpi"; timeout=300)
    net = Net()
    group_rank(group) == 0 && load_state_dict!(net, load_file(weights))
    tensors = load_file(data)
    train_parts(net, group, tensors["train_images"], tensors["train_classes"])
    group_rank(group) == 0 && save_file(out, state_dict(net))
    return nothing
end

main(ARGS...)
