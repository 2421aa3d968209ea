# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Finding and loading libtessera, and the raw functions of its C ABI.

"The raw C ABI: `C.tsr_add`, its types and constants. All of it is generated."
module C

# Calls name the library by its soname. `load_library` has loaded it by path before, so the dynamic
# loader finds it under this name.
const libtessera = "libtessera.so.0"

include("generated/types.jl")
"Declares a function of the library: `@c name(argument::Type, ...)::Type`."
macro c(signature)
    call, result = signature.args
    name, arguments = call.args[1], [a.args[1] for a in call.args[2:end]]
    types = Expr(:tuple, (a.args[2] for a in call.args[2:end])...)
    return esc(:($name($(arguments...)) = ccall(($(QuoteNode(name)), libtessera), $result, $types, $(arguments...))))
end

include("generated/functions.jl")

end

using .C: tsr_tensor, tsr_node, tsr_generator, tsr_ambient, tsr_number, tsr_stream, tsr_event
using Libdl: Libdl

"""
    library_path()

The file from which libtessera is loaded: the one that `TESSERA_LIB` names; else in the folder
`TESSERA_BUILD_DIR` or its `lib`; else in the folder that `pkg-config tessera` prints; else found by the
dynamic loader.
"""
function library_path()
    name = C.libtessera
    file = get(ENV, "TESSERA_LIB", "")
    isempty(file) || return existing(file, "TESSERA_LIB")
    folder = get(ENV, "TESSERA_BUILD_DIR", "")
    if !isempty(folder)
        places = [joinpath(folder, name), joinpath(folder, "lib", name)]
        found = findfirst(isfile, places)
        return found === nothing ? existing(first(places), "TESSERA_BUILD_DIR") : places[found]
    end
    folder = pkg_config_folder()
    if folder !== nothing && isfile(joinpath(folder, name))
        return joinpath(folder, name)
    end
    return Libdl.find_library([name])
end

function existing(file, variable)
    isfile(file) || error("Tessera: $variable is set, but there is no file $file")
    return file
end

function pkg_config_folder()
    Sys.which("pkg-config") === nothing && return nothing
    command = pipeline(`pkg-config --variable=libdir tessera`; stderr=devnull)
    folder = try
        strip(read(command, String))
    catch
        "" # pkg-config does not know tessera
    end
    return isempty(folder) ? nothing : folder
end

function load_library()
    path = library_path()
    isempty(path) && error("Tessera: $(C.libtessera) was not found. Install libtessera, or set " *
        "TESSERA_BUILD_DIR to the folder it was built in or TESSERA_LIB to the file.")
    Libdl.dlopen(path)
    check_version(C.tsr_abi_version(), path)
    for (name, type) in C.STRUCTS
        status = C.tsr_abi_probe(name, sizeof(name), sizeof(type))
        status == C.TSR_OK || error("Tessera: $path has another layout of $name; " *
            "package and library do not fit")
    end
end

function check_version(version, path)
    major, minor = Int(version >> 16), Int(version & 0xffff)
    if major != C.ABI_VERSION[1] || minor < C.ABI_VERSION[2]
        error("Tessera: $path has ABI $major.$minor; this package needs $(join(C.ABI_VERSION, '.')) " *
            "or a later minor version")
    end
end

"The version of the loaded library, as a `VersionNumber`."
version() = VersionNumber(unsafe_string(C.tsr_version_string()))
