# SPDX-License-Identifier: GPL-2.0-or-later
# The pass of `loci cc`: a plugin for each major version of LLVM that is installed with its headers.
# A plugin takes LLVM's symbols from the compiler that loads it.
set(LOCI_PASS_DIR ${CMAKE_BINARY_DIR}/lib/loci)
set(LOCI_PASS_VERSIONS "")
if(LOCI_COLLECTORS) # taken with the runtime
  foreach(version 14 19)
    set(pass ${LOCI_PASS_DIR}/loci-pass-${version}.so)
    if(EXISTS ${pass})
      install(FILES ${pass} DESTINATION ${CMAKE_INSTALL_LIBDIR}/loci COMPONENT loci)
      list(APPEND LOCI_PASS_VERSIONS ${version})
    endif()
  endforeach()
  return()
endif()
include(CheckLanguage)
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER)
  message(STATUS "no C++ compiler: loci is built without its pass for clang")
  return()
endif()
enable_language(CXX)

file(GLOB LOCI_PASS CONFIGURE_DEPENDS src/collect/llvm/*.c src/collect/llvm/*.cc)
# What describes code and data, which has a test without the rest (tests/llvm).
set(LOCI_DESCRIBING debug.cc blob.c describe.c describe_scope.c describe_variable.c describe_ops.c ir.cc
  numbers.c op_names.c ops.c thing.c)
list(TRANSFORM LOCI_DESCRIBING PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/src/collect/llvm/)
list(REMOVE_ITEM LOCI_PASS ${LOCI_DESCRIBING})
# What is in C++ is compiled in one piece: most of that is LLVM's headers, read once then.
set(in_c ${LOCI_PASS} ${LOCI_DESCRIBING})
list(FILTER in_c INCLUDE REGEX "\\.c$")
set_source_files_properties(${in_c} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# As LLVM itself is built; sanitizers would have to be in the compiler, too.
function(in_compiler target include)
  set_target_properties(${target} PROPERTIES PREFIX "" CXX_STANDARD 17 CXX_VISIBILITY_PRESET hidden)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_include_directories(${target} SYSTEM PRIVATE ${include})
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti;-fno-exceptions;-Wno-shadow>
    $<$<COMPILE_LANGUAGE:C>:-Wno-strict-prototypes> -fno-sanitize=all)
  target_link_options(${target} PRIVATE -fno-sanitize=all)
endfunction()

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
  add_library(loci-describing-${version} OBJECT ${LOCI_DESCRIBING})
  add_library(${pass} MODULE ${LOCI_PASS} $<TARGET_OBJECTS:loci-describing-${version}>)
  in_compiler(loci-describing-${version} ${include})
  in_compiler(${pass} ${include})
  set_target_properties(${pass} loci-describing-${version} PROPERTIES UNITY_BUILD ON)
  set_target_properties(${pass} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${LOCI_PASS_DIR})
  install(TARGETS ${pass} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/loci COMPONENT loci)
  list(APPEND LOCI_PASS_VERSIONS ${version})
endforeach()
