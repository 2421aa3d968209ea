# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Safetensors files.

@testset "test_round_trip_keeps_everything" begin
    mktempdir() do folder
        path = joinpath(folder, "all.safetensors")
        tensors = Dict("a/b \"ü\"" => Tensor(Float32[1 2; 3 4]), "half" => Tensor(Float16[1, 2]),
            "bits" => Tensor([true, false]), "none" => Tensor(zeros(0, 3)), "one" => Tensor(5),
            "bf" => Tensor([1.5]; dtype=BFloat16), "columns" => share([1 2; 3 4]))
        save_file(path, tensors; metadata=Dict("by" => "Julia \\ \n", "n" => "1"))
        back = load_file(path)
        @test keys(back) == keys(tensors)
        for (name, t) in tensors
            @test eltype(back[name]) === eltype(t)
            @test Array(back[name]) == Array(t)
        end
        @test Tessera.load_metadata(path) == Dict("by" => "Julia \\ \n", "n" => "1")
        save_file(path, ["x" => Tensor([1.0])])
        @test collect(keys(load_file(path))) == ["x"]
        @test isempty(Tessera.load_metadata(path))
    end
end

@testset "test_bytes_are_those_of_the_file" begin
    mktempdir() do folder
        path = joinpath(folder, "x.safetensors")
        tensors = Dict("x" => Tensor([1.0, 2.0]), "array" => Float32[1 2; 3 4])
        save_file(path, tensors; metadata=Dict("k" => "v"))
        io = IOBuffer()
        save_file(io, tensors; metadata=Dict("k" => "v"))
        bytes = take!(io)
        @test bytes == read(path)
        back = load_file(IOBuffer(bytes))
        @test Tessera.load_metadata(IOBuffer(bytes)) == Dict("k" => "v")
        fill!(bytes, 0xff)  # was copied
        GC.gc()
        @test Array(back["x"]) == [1, 2]
        @test Array(back["array"]) == Float32[1 2; 3 4]
        @test_throws TesseraError load_file(IOBuffer(bytes))
        @test_throws TesseraError load_file(IOBuffer())
    end
end

@testset "test_loading_copies_nothing_and_writing_stays_here" begin
    mktempdir() do folder
        path = joinpath(folder, "x.safetensors")
        save_file(path, Dict("x" => Tensor([1.0, 2.0])))
        x = load_file(path)["x"]
        GC.gc()
        x .= 9
        @test Array(x) == [9, 9]
        @test Array(load_file(path)["x"]) == [1, 2]
    end
end

@testset "test_hostile_files_are_refused" begin
    mktempdir() do folder
        path = joinpath(folder, "bad.safetensors")
        for bytes in [UInt8[], zeros(UInt8, 7), reinterpret(UInt8, [typemax(UInt64)]), [reinterpret(UInt8, [2]); codeunits("[]")]]
            write(path, bytes)
            error = try; load_file(path); catch e; e; end
            @test error isa TesseraError && error.code === :IO
        end
        whole = joinpath(folder, "whole.safetensors")
        save_file(whole, Dict("x" => Tensor(collect(1.0:9.0))))
        write(path, read(whole)[1:(end - 1)])
        @test_throws TesseraError load_file(path)
    end
end

@testset "test_paths_that_cannot_be_read" begin
    @test_throws TesseraError load_file("missing.safetensors")
    @test_throws TesseraError save_file("no/such/folder/x.safetensors", Dict("x" => Tensor(1.0)))
end

@testset "test_names_must_differ" begin
    mktempdir() do folder
        @test_throws ArgumentError save_file(joinpath(folder, "x"), ["x" => Tensor(1), "x" => Tensor(2)])
    end
end

@testset "test_json_texts_come_back" begin
    for text in ["plain", "q\"b\\s/", "\n\t\u01", "ü€😀", ""]
        @test Tessera.parse_json_object(Tessera.json_object(Dict("k" => text))) == Dict("k" => text)
    end
    @test Tessera.unescape_json("\\ud83d\\ude00 \\u00fc \\n") == "😀 ü \n"
end
