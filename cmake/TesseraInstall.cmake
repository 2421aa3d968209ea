# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Install rules: headers, the shared library, the schema, tessera.pc and TesseraConfig.cmake. Every
# path in them is relative to the file itself, so an installed tree may be moved.

include(CMakePackageConfigHelpers)

set(tsr_cmake_folder "${CMAKE_INSTALL_LIBDIR}/cmake/Tessera")

install(TARGETS tessera EXPORT TesseraTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
# Debuggers look for the debug information beside the library.
if(CMAKE_OBJCOPY AND CMAKE_STRIP)
  configure_file(cmake/strip_installed.cmake.in "${PROJECT_BINARY_DIR}/strip_installed.cmake" @ONLY)
  install(SCRIPT "${PROJECT_BINARY_DIR}/strip_installed.cmake")
endif()
install(DIRECTORY include/tessera DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES capi/generated/schema.json DESTINATION "${CMAKE_INSTALL_DATADIR}/tessera")
install(EXPORT TesseraTargets NAMESPACE tessera:: FILE TesseraExports.cmake
        DESTINATION "${tsr_cmake_folder}")

configure_package_config_file(cmake/TesseraConfig.cmake.in "${PROJECT_BINARY_DIR}/TesseraConfig.cmake"
                              INSTALL_DESTINATION "${tsr_cmake_folder}"
                              PATH_VARS CMAKE_INSTALL_DATADIR)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/TesseraConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/TesseraConfig.cmake"
              "${PROJECT_BINARY_DIR}/TesseraConfigVersion.cmake" DESTINATION "${tsr_cmake_folder}")

set(tsr_pc_folder "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH TSR_PC_PREFIX "/prefix/${tsr_pc_folder}" "/prefix")
string(REGEX REPLACE "/$" "" TSR_PC_PREFIX "${TSR_PC_PREFIX}")
configure_file(pkgconfig/tessera.pc.in "${PROJECT_BINARY_DIR}/tessera.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/tessera.pc" DESTINATION "${tsr_pc_folder}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
