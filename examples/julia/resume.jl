# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Resumes a training run that any language began: reads the files in FROM, makes five steps, and writes
# to TO.
#
# Usage: resume.jl FROM TO      FROM contains model.safetensors and, unless the run is new, state.safetensors
#
# Ranks that mpirun has started divide the optimizer's state; the files are those of one process.

using Tessera

function main(arguments)
    if length(arguments) != 2
        println(stderr, "usage: resume.jl FROM TO")
        exit(2)
    end
    from, to = arguments
    model = load_file(joinpath(from, "model.safetensors"))
    weight, bias = requires_grad!(model["weight"]), requires_grad!(model["bias"])
    state = setup(AdamW(lr=0.1, amsgrad=true), [weight])
    add_group!(state, AdamW(lr=0.2, weight_decay=0.0, amsgrad=true), [bias])
    begun = joinpath(from, "state.safetensors")
    isfile(begun) && load_state!(state, begun)
    parallel = haskey(ENV, "OMPI_COMM_WORLD_SIZE")
    rule = parallel ? Tessera.shard(state, Tessera.Group("mpi")) : state
    for _ in 1:5
        zero_grad!(rule)
        backward!(Tessera.mse_loss(Tessera.linear(model["x"], weight; bias=bias), model["y"]))
        update!(rule)
    end
    if parallel
        state = Tessera.gather_state(rule)
        state === nothing && return
    end
    save_file(joinpath(to, "model.safetensors"), model)
    save_state(joinpath(to, "state.safetensors"), state)
end

main(ARGS)
