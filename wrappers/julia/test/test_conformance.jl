# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# The calls that every language makes on the same tensors: tests/conformance of the repository.

const FOLDER = joinpath(@__DIR__, "..", "..", "..", "tests", "conformance")
const VECTORS = load_file(joinpath(FOLDER, "vectors.safetensors"))
const FAMILIES = [open(read_json, joinpath(FOLDER, "cases", name)) for name in readdir(joinpath(FOLDER, "cases"))]
const TOLERANCES = FAMILIES[1]["tolerances"]

dtype_name(T) = T <: Complex ? "complex$(8 * sizeof(T))" : lowercase(string(nameof(T)))
const DTYPE_OF = Dict(dtype_name(T) => T for (T, _) in Tessera.DTYPES)

# ---- The tensors ----

"A copy of a stored tensor."
taken(key) = copy(VECTORS[key])

"A copy that requires a gradient."
learned(key) = requires_grad!(taken(key))

# The format has no complex128: the last axis is (real, imaginary).
complex_array(pairs) = complex.(selectdim(pairs, ndims(pairs), 1), selectdim(pairs, ndims(pairs), 2))
complex_taken(key) = Tensor(complex_array(Array(VECTORS[key])))

"What is wrong with a result; nothing when it is the stored one."
function difference(@nospecialize(result), key, bounds=Row([]))
    result === nothing && return "no tensor"
    T = eltype(result)
    expected = Array(VECTORS[key])
    T === ComplexF64 && (expected = complex_array(expected))
    T === eltype(expected) || return "elements $T instead of $(eltype(expected))"
    size(result) == size(expected) || return "sizes $(size(result)) instead of $(size(expected))"
    usual = get(TOLERANCES, dtype_name(T), (0.0, 0.0))
    rtol, atol = get(bounds, "rtol", usual[1]), get(bounds, "atol", usual[2])
    actual = Array(detach(result))
    wrong = count(map((a, e) -> !near(a, e, rtol, atol), actual, expected))
    return wrong == 0 ? "" : "$wrong of $(length(expected)) differ: $actual instead of $expected"
end

near(a::Complex, e, rtol, atol) = near(real(a), real(e), rtol, atol) && near(imag(a), imag(e), rtol, atol)
near(a::Union{Bool,Integer}, e, rtol, atol) = a == e
function near(a, e, rtol, atol)
    a, e = Float64(a), Float64(e)
    return isequal(a, e) || a == e || abs(a - e) <= atol + rtol * abs(e)
end

@testset "test_differences_are_found" begin
    @test difference(taken("abs_0/out/out"), "abs_0/out/out") == ""
    @test difference(taken("abs_0/out/out") .+ 1, "abs_0/out/out") != ""
    @test difference(Float64.(taken("abs_0/out/out")), "abs_0/out/out") != ""
    @test difference(taken("abs_0/out/out")[1:1], "abs_0/out/out") != ""
    @test difference(nothing, "abs_0/out/out") != ""
end

# ---- The call ----

"An argument as tests/conformance/README.md writes it."
function value_of(kind, value, take)
    value isa Row && haskey(value, "pairs") && return complex_taken(value["pairs"])
    value isa Row && haskey(value, "complex") && return complex(value["complex"]...)
    value isa Row && return parse(Float64, value["float"])
    startswith(kind, "tensor") && value isa Vector && return isempty(value) ? Tensor[] : [value_of(kind, v, take) for v in value]
    value isa Vector && return Tuple(value_of(kind, v, take) for v in value)
    value isa String || return value
    startswith(kind, "tensor") && return take(value)
    startswith(kind, "dtype") && return DTYPE_OF[value]
    return startswith(kind, "device") ? CPU : value
end

"The place of an axis, a row or an element, counted from 1; the library counts from 0, or from the end."
position(op, name, values, place) = place === nothing ? nothing : position.(Ref(op), name, Ref(values), place)
function position(op, name, values, place::Integer)
    place >= 0 && return place + 1
    name == "padding_idx" && return size(values["weight"], 1) + place + 1
    whole = first(values[a["name"]] for a in op["args"] if values[a["name"]] isa Union{Tensor,Vector})
    tensor = whole isa Vector ? whole[1] : whole
    if name in ("index", "start") && haskey(values, "axis")
        axis = values["axis"]
        return size(tensor, axis < 0 ? ndims(tensor) + axis + 1 : axis + 1) + place + 1
    end
    added = op["op"] == "expand_dims" ? length(values["axes"]) : op["op"] in ("unsqueeze", "stack")
    return ndims(tensor) + added + place + 1
end

function called(op, case, @nospecialize(values))
    rules, positional, named = op["julia"], Any[], Pair{Symbol,Any}[]
    for arg in op["args"]
        name, keywords = arg["name"], rules["keywords"]
        value = values[name]
        name in get(rules, "positions", []) && (value = position(op, name, values, value))
        if !haskey(keywords, name)
            push!(positional, value)
        elseif haskey(case["in"], name) || name in get(rules, "stated", [])
            push!(named, Symbol(keywords[name]) => value)
        end
    end
    words = split(rules["name"], ".")
    f = getfield(length(words) > 1 ? Tessera : @__MODULE__, Symbol(words[end]))
    # With no keywords, or with all in one tuple, Julia need not compile their merging for each call.
    isempty(named) && return f(positional...)
    return f(positional...; NamedTuple{Tuple(first.(named))}(Tuple(last.(named)))...)
end

# ---- One replay ----

listed(value) = value isa Union{Vector,Tuple} ? value : [value]
key_of(stored) = stored isa Row ? stored["pairs"] : stored

function compare(@nospecialize(found), expected, bounds)
    expected isa Vector && @test length(found) == length(expected)
    for (place, stored) in enumerate(listed(expected))
        tensor = listed(found)[place]
        stored === nothing ? (@test tensor === nothing) : (@test difference(tensor, key_of(stored), bounds) == "")
    end
end

"As tests/conformance/README.md says."
function replay(op, case)
    none = Row([])
    grads, given = get(case, "grads", none), get(case, "grad", none)
    leaves = Dict{String,Any}()
    for arg in op["args"]
        name = arg["name"]
        take = haskey(grads, name) || haskey(given, name) ? learned : taken
        leaves[name] = value_of(arg["type"], get(case["in"], name, get(arg, "default", nothing)), take)
    end
    for name in keys(given), (tensor, key) in zip(leaves[name], given[name])
        key === nothing || grad!(tensor, taken(key))
    end
    changes = intersect(get(case, "changes", []), keys(grads))  # a leaf must not change
    values = Dict(name => name in changes ? copy(value) : value for (name, value) in leaves)
    found = called(op, case, values)
    out, after, after_grad = (get(case, part, none) for part in ("out", "after", "after_grad"))
    results = Dict{String,Any}(zip(keys(out), length(keys(out)) > 1 ? found : [found]))
    foreach(name -> results[name] = values[name], keys(after))
    for part in (out, after), name in keys(part)
        compare(results[name], part[name], case)
    end
    for name in keys(after_grad)
        compare(map(grad, values[name]), after_grad[name], case)
    end
    weights = get(case, "weights", none)
    roots = [tensor for name in keys(weights) for tensor in listed(results[name])]
    isempty(roots) || backward!(roots; gradient=[taken(key) for name in keys(weights) for key in listed(weights[name])])
    for name in keys(grads)
        compare(map(grad, listed(leaves[name])), listed(grads[name]), case)
    end
end

const REPLAYS = [(op, case) for family in FAMILIES for op in family["ops"] for case in op["cases"] if haskey(case, "form")]
for (op, case) in REPLAYS
    CHOSEN[] in ("", case["name"]) || continue
    @testset Suite "test_$(case["name"])" begin
        replay(op, case)
    end
end

keys_of(value) = value isa String ? [value] : value isa Row ? keys_of(last.(value.pairs)) :
    value isa Vector ? reduce(vcat, map(keys_of, value); init=String[]) : String[]

@testset "test_no_case_is_missing" begin
    @test !isempty(REPLAYS) && (CHOSEN[] == "" || any(r -> r[2]["name"] == CHOSEN[], REPLAYS))
    # A stored tensor that no case names was left over from a removed file.
    @test isempty(setdiff(keys(VECTORS), keys_of(FAMILIES)))
end
