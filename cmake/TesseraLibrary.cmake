# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# The two libraries: tessera (shared, the C ABI and nothing else) and tessera_static (the same
# objects with their internals, for the unit tests).

get_property(tsr_layers GLOBAL PROPERTY TSR_LAYER_TARGETS)
set(tsr_objects "")
foreach(layer IN LISTS tsr_layers)
  list(APPEND tsr_objects "$<TARGET_OBJECTS:${layer}>")
endforeach()

set(tsr_private_dependencies tsr_sanitizers OpenMP::OpenMP_CXX tsr_dep_dnnl Threads::Threads ${CMAKE_DL_LIBS})

add_library(tessera SHARED ${tsr_objects})
add_library(tessera::tessera ALIAS tessera)
set_target_properties(
  tessera
  PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE CXX
             INSTALL_RPATH "\$ORIGIN" BUILD_WITH_INSTALL_RPATH TRUE)
target_include_directories(
  tessera PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
                 "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_libraries(tessera PRIVATE ${tsr_private_dependencies})
if(TSR_SANITIZE)
  target_link_options(tessera PRIVATE ${tsr_test_linker})
endif()
# nodelete: the library's threads run until the process ends, so dlclose must not unmap their code.
target_link_options(tessera PRIVATE -Wl,--exclude-libs,ALL -Wl,--as-needed -Wl,-z,relro -Wl,-z,now
                                    -Wl,-z,nodelete)
# Clang links the sanitizer runtime into the executable only, so the library has undefined symbols.
if(NOT (TSR_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang"))
  target_link_options(tessera PRIVATE -Wl,-z,defs)
endif()
set(tsr_exports_map "${PROJECT_SOURCE_DIR}/capi/exports.map")
target_link_options(tessera PRIVATE "-Wl,--version-script,${tsr_exports_map}")
set_property(TARGET tessera APPEND PROPERTY LINK_DEPENDS "${tsr_exports_map}")

# Only the tests link this archive, in the build tree. A thin one names the objects instead of copying them: with debug
# information they have 240 MB.
set(CMAKE_CXX_ARCHIVE_CREATE "<CMAKE_AR> qcT <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_APPEND "<CMAKE_AR> qT <TARGET> <LINK_FLAGS> <OBJECTS>")
add_library(tessera_static STATIC ${tsr_objects})
set_target_properties(tessera_static PROPERTIES LINKER_LANGUAGE CXX)
if(NOT TSR_TESTS)
  set_target_properties(tessera_static PROPERTIES EXCLUDE_FROM_ALL TRUE)
endif()
target_include_directories(tessera_static PUBLIC "${PROJECT_SOURCE_DIR}/src"
                                                 "${PROJECT_SOURCE_DIR}/include")
target_link_libraries(tessera_static PUBLIC ${tsr_private_dependencies})
