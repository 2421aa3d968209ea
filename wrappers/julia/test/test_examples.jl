# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# The example programs, each in a separate Julia process.

const EXAMPLES = joinpath(@__DIR__, "..", "..", "..", "examples")

function run_example(name, arguments...)
    output = IOBuffer()
    command = `$(Base.julia_cmd()) --startup-file=no $(joinpath(EXAMPLES, "julia", name)) $arguments`
    process = run(pipeline(ignorestatus(command); stdout=output, stderr=devnull))
    return process.exitcode, String(take!(output))
end

@testset "test_tensor_tour_prints_the_lines_of_every_language" begin
    code, output = run_example("tensor_tour.jl")
    @test code == 0
    @test split(output, '\n') == split(read(joinpath(EXAMPLES, "tensor_tour.txt"), String), '\n')
end

@testset "test_digits_trains_and_predict_repeats_it" begin
    mktempdir() do folder
        data = joinpath(folder, "data.safetensors")
        # Images that show their class clearly: the row or column with its number is bright.
        images(classes) = [(c < 5 ? i == c + 2 : j == c - 3) ? 1.0f0 : 0.0f0 for c in classes, _ in 1:1, i in 1:8, j in 1:8]
        train, test = repeat(0:9, 20), repeat(0:9, 3)
        save_file(data, Dict("train_images" => Tensor(images(train)), "train_classes" => Tensor(train),
            "test_images" => Tensor(images(test)), "test_classes" => Tensor(test)))
        code, output = run_example("digits.jl", data, folder, "--epochs", "4", "--seed", "1")
        @test code == 0
        @test last(split(strip(output), '\n')) == "test accuracy 1.0000"
        state = load_file(joinpath(folder, "digits.safetensors"))
        @test size(state["conv1.weight"]) == (32, 1, 3, 3) && eltype(state["norm1.num_batches_tracked"]) === Int64
        result = joinpath(folder, "logits.safetensors")
        code, output = run_example("predict.jl", data, joinpath(folder, "digits.safetensors"), result)
        @test code == 0 && output == "test accuracy 1.0000\n"
        logits = load_file(result)["logits"]
        @test size(logits) == (30, 10) && eltype(logits) === Float32
        @test Array(argmax(logits; dims=2, keepdims=false)) == test
    end
    @test run_example("digits.jl")[1] == 2
    @test run_example("predict.jl", "one")[1] == 2
end
