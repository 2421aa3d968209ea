# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# The package as a whole: its names, loading, use from other projects, threads, exit.

# TESSERA_BUILD_DIR may be relative, and then so is the path that the loader knows.
const LIBRARY = abspath(first(filter(p -> occursin("libtessera", p), Tessera.Libdl.dllist())))

# Runs code in a separate Julia process; returns its output and errors together.
function run_elsewhere(code; options=String[], environment...)
    output = IOBuffer()
    command = `$(Base.julia_cmd()) --startup-file=no $options -e $code`
    variables = merge(Dict(ENV), Dict("TESSERA_BUILD_DIR" => "", "TESSERA_LIB" => LIBRARY),
        Dict(string(k) => v for (k, v) in environment))
    delete!(variables, "JULIA_LOAD_PATH")  # Pkg.test has one without Julia's own packages
    process = run(pipeline(ignorestatus(setenv(command, variables)); stdout=output, stderr=output))
    return success(process), String(take!(output))
end

@testset "test_every_public_name_exists" begin
    @test all(name -> isdefined(Tessera, name), names(Tessera))
    clashing = filter(name -> getfield(Base, name) !== getfield(Tessera, name), names(Base) ∩ names(Tessera))
    @test isempty(clashing)
end

@testset "test_functions_document_themselves" begin
    documented = Base.Docs.meta(Tessera)
    bindings(name) = (Base.Docs.Binding(m, name) for m in (Tessera, parentmodule(getfield(Tessera, name))))
    undocumented = filter(names(Tessera)) do name
        getfield(Tessera, name) isa Union{Function,Type} && !any(b -> haskey(documented, b), bindings(name))
    end
    @test isempty(undocumented)
end

@testset "test_documentation_counts_axes_from_1" begin
    text(f) = string(Base.Docs.doc(f))
    @test occursin("side by side, along axis 2", text(Tessera.hstack))
    @test occursin("absent: 1 and 2", text(Tessera.rot90))
    @test !any(name -> occursin("axis 0", text(getfield(Tessera, name))), names(Tessera))
end

@testset "test_methods_are_not_ambiguous" begin
    @test isempty(detect_ambiguities(Tessera))
end

# LLVM prints to the error stream what it cannot read; in a process where nothing was read before.
@testset "test_R11_stacks_read_no_debug_information_of_native_code" begin
    succeeded, printed = run_elsewhere("""
        using Tessera
        of_the_user() = profile(() -> Tessera.ones(2) .+ 1f0; stacks=true)
        print(occursin("of_the_user", profile_text(of_the_user()[2], :events)))
        """; options=["--project=$(dirname(@__DIR__))"])
    @test succeeded
    @test printed == "true"
end

# Tests Pkg with a registry, even one without packages; tests/tools/check_guides.py tests the guide's
# way, which needs none, on an empty depot.
@testset "test_package_can_be_developed_offline_beside_a_registry" begin
    mktempdir() do depot
        registry = mkpath(joinpath(depot, "registries", "Empty"))
        write(joinpath(registry, "Registry.toml"), """
            name = "Empty"
            uuid = "23338594-aafe-5451-b93e-139f81909106"
            repo = ""
            [packages]
            """)
        project = mkpath(joinpath(depot, "consumer"))
        code = """
            import Pkg
            Pkg.activate($(repr(project)))
            Pkg.develop(Pkg.PackageSpec(path=$(repr(dirname(@__DIR__)))))
            using Tessera
            print("sum ", item(sum(Tensor([1.0, 2.0, 4.0]))))
            """
        # Compiled code is taken from the depots of this process.
        depots = join([depot; DEPOT_PATH], ":")
        worked, output = run_elsewhere(code; JULIA_DEPOT_PATH=depots, JULIA_PKG_SERVER="", JULIA_PROJECT="")
        @test worked
        @test endswith(output, "sum 7.0")
        worked || println(output)
    end
end

@testset "test_a_missing_library_is_explained" begin
    project = ["--project=$(dirname(@__DIR__))"]
    worked, output = run_elsewhere("using Tessera"; options=project, TESSERA_LIB="/no/such/file.so")
    @test !worked && occursin("TESSERA_LIB is set, but there is no file", output)
    worked, output = run_elsewhere("using Tessera"; options=project, TESSERA_LIB="", TESSERA_BUILD_DIR="/no/such")
    @test !worked && occursin("TESSERA_BUILD_DIR is set", output)
    worked, output = run_elsewhere("using Tessera; print(Tessera.version())"; options=project)
    @test worked && output == string(Tessera.version())
end

@testset "test_pkg_config_finds_the_library" begin
    mktempdir() do folder
        symlink(LIBRARY, joinpath(folder, "libtessera.so.0"))
        write(joinpath(folder, "tessera.pc"), "libdir=$folder\nName: Tessera\nDescription: t\nVersion: 0.1.0\n")
        code = "print(Tessera.library_path())"
        worked, output = run_elsewhere("using Tessera; $code"; options=["--project=$(dirname(@__DIR__))"],
            TESSERA_LIB="", PKG_CONFIG_PATH=folder)
        @test worked && output == joinpath(folder, "libtessera.so.0")
    end
end

@testset "test_exiting_with_live_objects_is_quiet" begin
    code = """
        using Tessera
        const kept = requires_grad!(Tensor([1.0]))
        const y = kept .* 2
        hook!(g -> g, y)
        const a = share(zeros(3))
        const g = Generator(1)
        print("end")
        """
    worked, output = run_elsewhere(code; options=["--project=$(dirname(@__DIR__))"])
    @test worked && output == "end"
end

@testset "test_threads_can_be_limited" begin
    before = Tessera.num_threads()
    Tessera.set_num_threads(1)
    @test Tessera.num_threads() == 1
    Tessera.set_num_threads(before)
    @test_throws ArgumentError Tessera.set_num_threads(0)
end

@testset "test_tensors_may_be_made_used_and_dropped_in_any_thread" begin
    code = """
        using Tessera
        results = zeros(8)
        Threads.@threads for i in 1:8
            x = requires_grad!(Tensor(fill(Float64(i), 10)))
            for _ in 1:200
                x .* 2
            end
            backward!(sum(x .^ 2))
            results[i] = item(sum(grad(x)))
        end
        GC.gc()
        print(results == [20.0i for i in 1:8], " ", Threads.nthreads())
        """
    worked, output = run_elsewhere(code; options=["--project=$(dirname(@__DIR__))"], JULIA_NUM_THREADS="2")
    @test worked && output == "true 2"
    worked || println(output)
end
