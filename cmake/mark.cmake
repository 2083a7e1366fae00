# SPDX-License-Identifier: GPL-2.0-or-later
# Marks for users' programs: a header for C and C++, which needs nothing, and for Fortran a module in
# source, since compilers do not read each other's, with the functions it calls in libloci-mark.a.
add_library(loci-mark STATIC src/collect/fortran/mark_calls.c)
target_include_directories(loci-mark PRIVATE include)
target_compile_options(loci-mark PRIVATE -O2 -fPIC -fno-sanitize=all)
configure_file(cmake/loci-mark.pc.in loci-mark.pc @ONLY)

install(FILES include/loci/mark.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/loci
  COMPONENT libloci-dev)
install(FILES include/loci_mark.F90 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libloci-dev)
install(TARGETS loci-mark ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libloci-dev)
install(FILES ${CMAKE_BINARY_DIR}/loci-mark.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT libloci-dev)
