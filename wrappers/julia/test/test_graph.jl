# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Looking into the graph: nodes, walks, drawings, anomaly mode (row A21).

const GRAPH_NODES = joinpath(@__DIR__, "..", "..", "..", "tests", "conformance", "graph_nodes.txt")

graph_leaf(sizes...) = leaf(ones(Float32, sizes...))

# The network of tests/conformance/graph_nodes.txt, the same in every language.
function graph_network()
    hidden = Tessera.relu(Tessera.linear(graph_leaf(4, 3), graph_leaf(5, 3); bias=graph_leaf(5)))
    mixed = Tessera.matmul(Tessera.softmax(hidden .* hidden; dims=2), graph_leaf(5, 2))
    return Statistics.mean(exp.(mixed) .+ mixed .* Tensor(ones(Float32, 4, 2)))
end

function graph_line(number, node, numbers)
    shape = Tessera.variable(node)
    text = shape === nothing ? "" : " [" * join(size(shape), ", ") * "]"
    edges = map(next_edges(node)) do edge
        edge === nothing ? " -" : " $(numbers[edge[1]]).$(edge[2] - 1)"
    end
    return "$number $(Tessera.name(node))$text$(join(edges))"
end

@testset "test_A21_a_walk_gives_the_nodes_and_edges_of_every_language" begin
    nodes = graph_nodes(graph_network())
    numbers = Dict(node => i - 1 for (i, node) in enumerate(nodes))
    found = [graph_line(i - 1, node, numbers) for (i, node) in enumerate(nodes)]
    @test found == readlines(GRAPH_NODES)
    @test isempty(graph_nodes(graph_leaf(2)))
end

@testset "test_A21_outputs_tell_size_type_and_device" begin
    y = exp.(leaf(ones(2, 3)))
    @test Tessera.outputs(grad_fn(y)) == [(size=(2, 3), eltype=Float64, device=CPU)]
    first, second = grad_fn(exp.(y)), grad_fn(exp.(y))
    @test Tessera.sequence(first) < Tessera.sequence(second)
end

@testset "test_A21_saved_values_have_names_until_a_backward_frees_them" begin
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    product = x .* y
    node = grad_fn(product)
    @test map(first, saved(node)) == ["input", "other"]
    @test Array(saved(node, "other")) == [3, 4]
    @test_throws KeyError saved(node, "weight")
    backward!(sum(product))
    message = try
        saved(node)
        ""
    catch e
        sprint(showerror, e)
    end
    @test occursin("already been freed", message)
end

@testset "test_A21_a_node_runs_alone" begin
    x, y = leaf([2.0, 3.0]), Tensor([5.0, 7.0])
    node = grad_fn(x .* y)
    for _ in 1:2
        first, second = node(Tensor([1.0, 10.0]))
        @test Array(first) == [5, 70] && second === nothing
    end
    @test node(nothing) == (nothing, nothing)
    @test_throws ArgumentError node()
    @test_throws DimensionMismatch node(Tensor([1.0]))
    accumulate = next_edges(node)[1][1]
    @test accumulate(Tensor([4.0, 4.0])) == ()
    @test Array(grad(x)) == [4, 4]
end

@testset "test_A15_one_saved_tensor_has_functions_of_its_own" begin
    x, y = leaf([2.0]), leaf([5.0])
    product = x .* y
    node = grad_fn(product)
    double(packed) = Tensor(10 .* packed)
    @test save_with!(Array, double, node, "input") === node
    @test_throws TesseraError save_with!(Array, double, node, "input")
    @test_throws KeyError save_with!(Array, double, node, "weight")
    backward!(sum(product))
    @test Array(grad(x)) == [5] && Array(grad(y)) == [20]
end

@testset "test_I6_a_view_names_its_base" begin
    x = Tensor([1.0, 2.0, 3.0, 4.0])
    part = Tessera.select(Tessera.reshape(x, (2, 2)), 2; dims=1)
    fill!(part, 9)
    @test Array(Tessera.base(part)) == Array(x) && count(==(9), Array(x)) == 2
    @test Tessera.base(x) === nothing
end

@testset "test_A21_metadata_is_a_dictionary_of_the_node" begin
    y = exp.(leaf([1.0]))
    data = metadata(grad_fn(y))
    data["layer"] = "first"
    data["list"] = [1, 2]
    push!(metadata(grad_fn(y))["list"], 3)
    @test Dict(data) == Dict("layer" => "first", "list" => [1, 2, 3])
    delete!(data, "layer")
    @test !haskey(data, "layer") && get(data, "layer", 7) == 7 && length(data) == 1
    @test_throws KeyError data["layer"]
    before = Tessera.live_boxes()
    data["list"] = "a text"
    @test Tessera.live_boxes() == before - 1
end

@testset "test_A21_a_graph_is_drawn_as_a_picture_and_as_text" begin
    x = graph_leaf(2, 3)
    y = exp.(x)
    picture = draw_graph(y; params=["weight <1>" => x], show_saved=true)
    @test startswith(String(picture), "<svg") && occursin("weight &lt;1&gt;", String(picture))
    @test occursin("saves result [2, 3]", sprint(show, MIME("image/svg+xml"), picture))
    @test startswith(String(draw_graph(y; format=:dot)), "digraph")
    @test !showable(MIME("image/svg+xml"), draw_graph(y; format=:dot))
    @test_throws ArgumentError draw_graph(y; format=:png)
    @test_throws TesseraError draw_graph(Tensor([1.0]))
end

the_function_to_blame(x) = sqrt.(x)

@testset "test_A21_nan_is_blamed_on_the_node_that_makes_it_with_its_stack" begin
    x = leaf([0.0])
    message = detect_anomaly() do
        loss = sum(the_function_to_blame(x) .* 0.0)
        try
            backward!(loss)
            ""
        catch e
            sprint(showerror, e)
        end
    end
    @test occursin("'SqrtBackward' returned nan values in its 0th output", message)
    @test occursin("The forward of SqrtBackward was called here:", message)
    @test occursin("the_function_to_blame", message)
    @test !Tessera.is_anomaly_enabled()
    @test detect_anomaly(() -> Tessera.is_anomaly_enabled(); check_nan=false)
end

@testset "test_A21_a_summary_lists_parameters_and_totals" begin
    lines = split(Tessera.summarize(Chain(Dense(3 => 4), Dense(4 => 2))), "\n")
    @test split(lines[1]) == ["Parameter", "Size", "Length"]
    @test lines[2] == "0.weight   [4, 3]      12"
    @test lines[end - 1] == "Parameters: 26 (26 trainable), 0.0 MB"
end

@testset "test_A21_a_summary_of_a_call_has_sizes_multiply_adds_and_memory" begin
    model = Chain(Dense(3 => 4), Dense(4 => 2))
    lines = split(Tessera.summarize(model, Tensor(ones(Float32, 5, 3))), "\n")
    @test split(lines[1]) == ["Layer", "Operator", "Output", "Parameters", "Multiply-adds"]
    rows = filter(line -> startswith(line, r"[01] "), lines)
    @test split(rows[1])[1:2] == ["0", "Linear"] && endswith(rows[1], "16             60")
    @test "Multiply-adds: 100" in lines
    @test "Parameters: 26 (26 trainable), 0.00 MB" in lines
end
