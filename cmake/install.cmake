# SPDX-License-Identifier: GPL-2.0-or-later
# What `make install` puts where, in the three components that are Debian packages.
option(LOCI_DEB "prepare the Debian packages (scripts/deb.sh)" OFF)

# Debian wants manual pages compressed.
function(install_pages section component)
  file(GLOB pages CONFIGURE_DEPENDS doc/man/*.${section})
  foreach(page IN LISTS pages)
    if(LOCI_DEB)
      get_filename_component(name ${page} NAME)
      execute_process(COMMAND gzip -9nc ${page} OUTPUT_FILE ${CMAKE_BINARY_DIR}/${name}.gz)
      set(page ${CMAKE_BINARY_DIR}/${name}.gz)
    endif()
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section}
      COMPONENT ${component})
  endforeach()
endfunction()

install(TARGETS loci RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT loci)
# Compilers whose name must be one word: CMAKE_C_COMPILER=loci-cc. In the build tree too.
foreach(command cc c++ flang mpicc mpicxx mpifort gcc g++ gfortran)
  file(CREATE_LINK loci ${CMAKE_BINARY_DIR}/loci-${command} SYMBOLIC)
  install(FILES ${CMAKE_BINARY_DIR}/loci-${command} DESTINATION ${CMAKE_INSTALL_BINDIR}
    COMPONENT loci)
endforeach()
install_pages(1 loci)
install(FILES completions/loci.bash RENAME loci COMPONENT loci
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
file(GLOB documents CONFIGURE_DEPENDS README.md NEWS doc/*.md doc/*.json)
install(FILES ${documents} DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT loci)

install(TARGETS loci-shared
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT libloci0 NAMELINK_COMPONENT libloci-dev)
if(TARGET loci-static)
  install(FILES ${CMAKE_BINARY_DIR}/libloci.a DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT libloci-dev)
endif()
install(FILES include/loci.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libloci-dev)
configure_file(cmake/loci.pc.in loci.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/loci.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT libloci-dev)
install_pages(3 libloci-dev)
install(FILES examples/misses.c examples/marked.c DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
  COMPONENT libloci-dev)

if(LOCI_DEB)
  include(cmake/package.cmake)
endif()
