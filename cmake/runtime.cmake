# SPDX-License-Identifier: GPL-2.0-or-later
# What programs built by `loci cc` are linked to: lib/loci/libloci-rt.so, or libloci-rt.a with the
# functions of wrapped.txt put in front of the C library's (-static). Made as the compiler makes
# them, whatever this build is watched by.
file(GLOB LOCI_RT_SOURCES CONFIGURE_DEPENDS src/collect/runtime/*.c src/collect/runtime/*.S)
list(APPEND LOCI_RT_SOURCES src/stream/ring_producer.c)
enable_language(ASM)
set(LOCI_RT_DIR ${CMAKE_BINARY_DIR}/lib/loci)
set(rt_files wrapped.txt touched.txt gcc.specs)
if(LOCI_COLLECTORS)
  take(lib/loci)
  foreach(file IN LISTS rt_files ITEMS libloci-rt.so libloci-rt.a libloci-rt-gcc.a)
    install(FILES ${LOCI_RT_DIR}/${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/loci COMPONENT loci)
  endforeach()
  return()
endif()
set(rt_options -O2 -g -fno-sanitize=all -fexceptions -fno-stack-protector)

function(add_runtime target kind)
  add_library(${target} ${kind} ${LOCI_RT_SOURCES})
  target_include_directories(${target} PRIVATE src include)
  target_compile_options(${target} PRIVATE ${rt_options})
  target_compile_definitions(${target} PRIVATE LOCI_VERSION="${PROJECT_VERSION}")
  set_target_properties(${target} PROPERTIES OUTPUT_NAME loci-rt LINKER_LANGUAGE C
    LIBRARY_OUTPUT_DIRECTORY ${LOCI_RT_DIR} ARCHIVE_OUTPUT_DIRECTORY ${LOCI_RT_DIR})
endfunction()

# Without a name of its own, so that a program asks for it by the path it was linked with: whatever
# becomes of run paths when the program is installed.
add_runtime(loci-rt SHARED)
set_target_properties(loci-rt PROPERTIES NO_SONAME ON)
# It stays: handlers of ours may run as long as the process does. And it binds at once, since
# looking for a function takes locks.
target_link_options(loci-rt PRIVATE -fno-sanitize=all -Wl,-z,nodelete,-z,now,-z,defs,--as-needed
  -Wl,--version-script=${CMAKE_SOURCE_DIR}/src/collect/runtime/runtime.map)
set_target_properties(loci-rt PROPERTIES LINK_DEPENDS
  ${CMAKE_SOURCE_DIR}/src/collect/runtime/runtime.map)
# In a static program what `loci gcc` has in front of the C library comes beside it.
set(LOCI_RT_TOUCHING ${CMAKE_SOURCE_DIR}/src/collect/runtime/touching.c)
list(REMOVE_ITEM LOCI_RT_SOURCES ${LOCI_RT_TOUCHING})
add_runtime(loci-rt-static STATIC)
set(LOCI_RT_SOURCES ${LOCI_RT_TOUCHING})
add_runtime(loci-rt-gcc STATIC)
set_target_properties(loci-rt-gcc PROPERTIES OUTPUT_NAME loci-rt-gcc)
foreach(target loci-rt-static loci-rt-gcc)
  target_compile_definitions(${target} PRIVATE LOCI_RT_STATIC)
endforeach()
foreach(file IN LISTS rt_files)
  configure_file(src/collect/runtime/${file} ${LOCI_RT_DIR}/${file} COPYONLY)
endforeach()
list(TRANSFORM rt_files PREPEND ${LOCI_RT_DIR}/)

install(TARGETS loci-rt loci-rt-static loci-rt-gcc LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/loci COMPONENT loci
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/loci COMPONENT loci)
install(FILES ${rt_files}
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/loci COMPONENT loci)
