# SPDX-License-Identifier: GPL-2.0-or-later
# Three Debian packages from the three components of install.cmake: the program, the library, and
# what compiling against it takes. Dependencies are read from the binaries.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
# There is no address to write to yet.
set(CPACK_PACKAGE_CONTACT "loci authors <loci@invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each has its own
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(long "loci runs a program, or takes a trace of its memory references, and tells how far apart
 the reuses of its data are, exactly, which code and data they belong to, and how the program would
 fare on any cache.")
function(package component section text)
  set(name CPACK_DEBIAN_${component}_PACKAGE)
  string(TOUPPER ${name} upper)
  set(${upper}_NAME ${component} PARENT_SCOPE)
  set(${upper}_SECTION ${section} PARENT_SCOPE)
  string(TOUPPER CPACK_DEBIAN_${component}_DESCRIPTION upper)
  set(${upper} "${text}\n${long}" PARENT_SCOPE)

  # What Debian wants beside every package.
  set(dir ${CMAKE_INSTALL_DATADIR}/doc/${component})
  install(FILES cmake/copyright DESTINATION ${dir} COMPONENT ${component})
  install(FILES ${CMAKE_BINARY_DIR}/changelog.Debian.gz DESTINATION ${dir} COMPONENT ${component})
endfunction()
package(loci devel "data-locality profiler")
# The tool holds a copy of Valgrind's core, which works with that version's launcher only; of which
# revision of the package does not matter.
if(TARGET loci-valgrind)
  execute_process(COMMAND dpkg-query -W -f "\${Version}" valgrind
    OUTPUT_VARIABLE installed ERROR_QUIET)
  string(REGEX MATCH "^[0-9]+:" epoch "${installed}")
  set(CPACK_DEBIAN_LOCI_PACKAGE_DEPENDS
    "valgrind (>= ${epoch}${VALGRIND_VERSION}), valgrind (<< ${epoch}${VALGRIND_VERSION}.1~)")
  # All of Valgrind's tools are static.
  file(WRITE ${CMAKE_BINARY_DIR}/overrides "loci: statically-linked-binary *loci-amd64-linux*\n")
  install(FILES ${CMAKE_BINARY_DIR}/overrides RENAME loci COMPONENT loci
    DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides)
endif()
# The passes take LLVM from the clang that loads them, so they depend on none; loci cc wants one.
set(clangs ${LOCI_PASS_VERSIONS})
list(REVERSE clangs)
list(TRANSFORM clangs PREPEND "clang-")
list(JOIN clangs " | " CPACK_DEBIAN_LOCI_PACKAGE_RECOMMENDS)
if(19 IN_LIST LOCI_PASS_VERSIONS)
  set(CPACK_DEBIAN_LOCI_PACKAGE_SUGGESTS flang-19)
endif()
package(libloci0 libs "data-locality profiler, library")
package(libloci-dev libdevel "data-locality profiler, development files")
set(CPACK_DEBIAN_LIBLOCI-DEV_PACKAGE_DEPENDS
  "libloci0 (= ${PROJECT_VERSION}-1), libsqlite3-dev")
set(CPACK_DEBIAN_LIBLOCI-DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_LIBLOCI0_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/triggers
  ${CMAKE_BINARY_DIR}/shlibs)
file(WRITE ${CMAKE_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
file(WRITE ${CMAKE_BINARY_DIR}/shlibs "libloci 0 libloci0 (>= ${PROJECT_VERSION})\n")

# Reproducible: dated by the newest entry of NEWS, not by the day of the build.
file(STRINGS NEWS newest REGEX "^loci .* \\([0-9-]*\\)$" LIMIT_COUNT 1)
string(REGEX MATCH "[0-9]+-[0-9]+-[0-9]+" day "${newest}")
execute_process(COMMAND date -R -u -d "${day}" OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE)
file(WRITE ${CMAKE_BINARY_DIR}/changelog.Debian
  "loci (${PROJECT_VERSION}-1) unstable; urgency=medium\n\n  * See NEWS.\n\n -- loci authors <loci@invalid>  ${date}\n")
execute_process(COMMAND gzip -9nf ${CMAKE_BINARY_DIR}/changelog.Debian)
include(CPack)
