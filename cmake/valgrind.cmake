# SPDX-License-Identifier: GPL-2.0-or-later
# The collector for any binary: a tool of Valgrind's, built against the installed Valgrind and
# linked statically with its core. It runs with that version's launcher only. build/libexec/loci is
# a folder as VALGRIND_LIB wants it: the tool, and links to the parts of Valgrind's own that every
# tool needs.
pkg_check_modules(VALGRIND QUIET valgrind)
if(NOT VALGRIND_FOUND)
  message(STATUS "no valgrind.pc: loci is built without its collector for any binary (Debian: "
    "apt-get install valgrind)")
  return()
endif()
pkg_get_variable(VALGRIND_LIBDIR valgrind libdir)
pkg_get_variable(VALGRIND_INCLUDE valgrind includedir)
pkg_get_variable(VALGRIND_BASE valgrind valt_load_address)
find_program(VALGRIND_LAUNCHER valgrind)
find_library(VALGRIND_CORE libcoregrind-amd64-linux.a PATHS ${VALGRIND_LIBDIR}/valgrind)
find_library(VALGRIND_VEX libvex-amd64-linux.a PATHS ${VALGRIND_LIBDIR}/valgrind)
find_library(VALGRIND_GCC libgcc-sup-amd64-linux.a PATHS ${VALGRIND_LIBDIR}/valgrind)
find_path(VALGRIND_OWN vgpreload_core-amd64-linux.so
  PATHS /usr/libexec/valgrind /usr/lib/valgrind ${VALGRIND_LIBDIR}/valgrind)
if(NOT VALGRIND_CORE OR NOT VALGRIND_VEX OR NOT VALGRIND_GCC OR NOT VALGRIND_OWN)
  message(STATUS "Valgrind's static libraries are not all there: loci is built without its "
    "collector for any binary")
  return()
endif()

set(LOCI_TOOL_DIR ${CMAKE_BINARY_DIR}/libexec/loci)
set(own_files vgpreload_core-amd64-linux.so default.supp)
if(LOCI_COLLECTORS)
  take(libexec/loci)
  add_executable(loci-valgrind IMPORTED)
  install(PROGRAMS ${LOCI_TOOL_DIR}/loci-amd64-linux
    DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/loci COMPONENT loci)
  foreach(own IN LISTS own_files)
    install(FILES ${LOCI_TOOL_DIR}/${own} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/loci
      COMPONENT loci)
  endforeach()
  return()
endif()
file(MAKE_DIRECTORY ${LOCI_TOOL_DIR})
file(GLOB LOCI_TOOL CONFIGURE_DEPENDS src/collect/valgrind/*.c)
add_executable(loci-valgrind ${LOCI_TOOL} src/stream/ring_producer.c
  src/collect/runtime/marking.c src/collect/runtime/marking_data.c)
set_target_properties(loci-valgrind PROPERTIES OUTPUT_NAME loci-amd64-linux
  RUNTIME_OUTPUT_DIRECTORY ${LOCI_TOOL_DIR} POSITION_INDEPENDENT_CODE OFF)
target_include_directories(loci-valgrind PRIVATE src include ${CMAKE_CURRENT_BINARY_DIR})
target_include_directories(loci-valgrind SYSTEM PRIVATE ${VALGRIND_INCLUDE})
target_compile_definitions(loci-valgrind PRIVATE VGA_amd64=1 VGO_linux=1 VGP_amd64_linux=1
  VGPV_amd64_linux_vanilla=1 LOCI_VALGRIND_VERSION="${VALGRIND_VERSION}")
# There is no C library in the tool; sanitizers have no place there either.
target_compile_options(loci-valgrind PRIVATE -fno-stack-protector -fno-builtin -fno-pie
  -fomit-frame-pointer -fno-sanitize=all)
target_link_options(loci-valgrind PRIVATE -static -nodefaultlibs -nostartfiles -no-pie -u _start
  -Wl,--build-id=none -Wl,-Ttext-segment=${VALGRIND_BASE} -fno-sanitize=all)
target_link_libraries(loci-valgrind PRIVATE ${VALGRIND_CORE} ${VALGRIND_VEX} gcc ${VALGRIND_GCC})

install(TARGETS loci-valgrind RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/loci COMPONENT loci)
foreach(own IN LISTS own_files)
  file(CREATE_LINK ${VALGRIND_OWN}/${own} ${LOCI_TOOL_DIR}/${own} SYMBOLIC)
  install(FILES ${LOCI_TOOL_DIR}/${own} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/loci
    COMPONENT loci)
endforeach()
