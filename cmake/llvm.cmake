# SPDX-License-Identifier: GPL-2.0-or-later
# The pass of `loci cc`: a plugin for each major version of LLVM that is installed with its headers.
# A plugin takes LLVM's symbols from the compiler that loads it.
include(CheckLanguage)
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER)
  message(STATUS "no C++ compiler: loci is built without its pass for clang")
  return()
endif()
enable_language(CXX)

file(GLOB LOCI_PASS CONFIGURE_DEPENDS src/collect/llvm/*.c src/collect/llvm/*.cc)
set(LOCI_PASS_DIR ${CMAKE_BINARY_DIR}/lib/loci)
set(LOCI_PASS_VERSIONS "")
foreach(version 14 19)
  find_program(LLVM_CONFIG_${version} llvm-config-${version})
  set(config ${LLVM_CONFIG_${version}})
  if(NOT config)
    message(STATUS "no llvm-config-${version}: no pass for clang ${version} (Debian: apt-get "
      "install llvm-${version}-dev)")
    continue()
  endif()
  execute_process(COMMAND ${config} --includedir OUTPUT_VARIABLE include
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT EXISTS ${include}/llvm-c/Core.h)
    message(STATUS "no headers of LLVM ${version}: no pass for clang ${version} (Debian: apt-get "
      "install llvm-${version}-dev)")
    continue()
  endif()
  set(pass loci-pass-${version})
  add_library(${pass} MODULE ${LOCI_PASS})
  set_target_properties(${pass} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${LOCI_PASS_DIR}
    CXX_STANDARD 17 CXX_VISIBILITY_PRESET hidden)
  target_include_directories(${pass} PRIVATE src)
  target_include_directories(${pass} SYSTEM PRIVATE ${include})
  # As LLVM itself is built; sanitizers would have to be in the compiler, too.
  target_compile_options(${pass} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti;-fno-exceptions;-Wno-shadow>
    $<$<COMPILE_LANGUAGE:C>:-Wno-strict-prototypes> -fno-sanitize=all)
  target_link_options(${pass} PRIVATE -fno-sanitize=all)
  install(TARGETS ${pass} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/loci COMPONENT loci)
  list(APPEND LOCI_PASS_VERSIONS ${version})
endforeach()
