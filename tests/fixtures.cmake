# SPDX-License-Identifier: GPL-2.0-or-later
# Programs whose names the tests of src/symbol look up, compiled in the ways that debug information
# differs by: compiler, optimisation, version of DWARF, position independence, compression, split off,
# stripped. They lie in fixtures/ under the tests' build; a compiler that is not installed is left
# out, and the tests say so.
set(fixtures ${CMAKE_CURRENT_BINARY_DIR}/fixtures)
foreach(source IN LISTS programs)
  get_filename_component(name ${source} NAME_WE)
  if(name MATCHES "^symbol_")
    target_compile_definitions(${name} PRIVATE FIXTURES="${fixtures}")
    add_dependencies(${name} fixtures)
    file(STRINGS ${source} itself REGEX "LOCI_PROGRAM" LIMIT_COUNT 1)
    if(itself) # of those with threads none reads the program, which takes all of the library
      target_compile_definitions(${name} PRIVATE LOCI_PROGRAM="$<TARGET_FILE:loci>")
      add_dependencies(${name} loci)
    endif()
  endif()
endforeach()
if(LOCI_COLLECTORS)
  take(tests/fixtures)
  add_custom_target(fixtures)
  return()
endif()
file(MAKE_DIRECTORY ${fixtures})
set(fixture_files)

find_program(FIXTURE_GCC gcc)
find_program(FIXTURE_GXX g++)
find_program(FIXTURE_CLANG NAMES clang-14 clang)
find_program(FIXTURE_CLANGXX NAMES clang++-14 clang++)
find_program(FIXTURE_GFORTRAN gfortran)
find_program(FIXTURE_FLANG NAMES flang-19 flang-new-19)
find_program(FIXTURE_OBJCOPY objcopy)
find_program(FIXTURE_XZ xz)
find_program(FIXTURE_DWZ dwz)

# fixture(NAME SOURCE COMPILER FLAGS..)
function(fixture name source compiler)
  if(NOT compiler)
    return()
  endif()
  add_custom_command(OUTPUT ${fixtures}/${name}
    COMMAND ${compiler} -g ${ARGN} ${tests}/workloads/${source} -o ${fixtures}/${name}
    DEPENDS ${tests}/workloads/${source} ${tests}/workloads/names_fixture.h VERBATIM)
  set(fixture_files ${fixture_files} ${fixtures}/${name} PARENT_SCOPE)
endfunction()

# derived(NAME FROM COMMAND..): made of another by binutils
function(derived name from)
  add_custom_command(OUTPUT ${fixtures}/${name} COMMAND ${ARGN}
    DEPENDS ${fixtures}/${from} WORKING_DIRECTORY ${fixtures} VERBATIM)
  set(fixture_files ${fixture_files} ${fixtures}/${name} PARENT_SCOPE)
endfunction()

fixture(c-gcc-O0 names_fixture.c "${FIXTURE_GCC}" -O0)
fixture(c-gcc-O2 names_fixture.c "${FIXTURE_GCC}" -O2)
fixture(c-gcc-O3-dwarf4 names_fixture.c "${FIXTURE_GCC}" -O3 -gdwarf-4 -ffunction-sections -Wl,--gc-sections)
fixture(c-gcc-static names_fixture.c "${FIXTURE_GCC}" -O2 -static)
fixture(c-gcc-nopie names_fixture.c "${FIXTURE_GCC}" -O1 -no-pie -fno-pie -gz=zlib)
fixture(c-clang-O0 names_fixture.c "${FIXTURE_CLANG}" -O0)
fixture(c-clang-O2 names_fixture.c "${FIXTURE_CLANG}" -O2)
fixture(c-clang-O2-dwarf4 names_fixture.c "${FIXTURE_CLANG}" -O2 -gdwarf-4)
fixture(cpp-gcc-O0 names_fixture.cpp "${FIXTURE_GXX}" -O0)
fixture(cpp-gcc-O2 names_fixture.cpp "${FIXTURE_GXX}" -O2)
fixture(cpp-clang-O0-dwarf4 names_fixture.cpp "${FIXTURE_CLANGXX}" -O0 -gdwarf-4)
fixture(cpp-clang-O2 names_fixture.cpp "${FIXTURE_CLANGXX}" -O2)
fixture(cpp-clang-O2-dwarf4 names_fixture.cpp "${FIXTURE_CLANGXX}" -O2 -gdwarf-4)
fixture(cpp-gcc-types names_fixture.cpp "${FIXTURE_GXX}" -O2 -fdebug-types-section)
fixture(c-gcc-split names_fixture.c "${FIXTURE_GCC}" -O2 -gsplit-dwarf)
fixture(sites sites_fixture.c "${FIXTURE_GCC}" -O1)
fixture(budget budget_fixture.s "${FIXTURE_GCC}" -g0 -shared -nostdlib)
# Compilers that run at once write the same module: each has a directory for its own.
foreach(level O0 O2)
  file(MAKE_DIRECTORY ${fixtures}/gfortran-${level} ${fixtures}/flang-${level})
  fixture(fortran-gfortran-${level} names_fixture.f90 "${FIXTURE_GFORTRAN}" -${level}
    -J${fixtures}/gfortran-${level})
  fixture(fortran-flang-${level} names_fixture.f90 "${FIXTURE_FLANG}" -${level}
    -module-dir ${fixtures}/flang-${level})
endforeach()

if(FIXTURE_GCC AND FIXTURE_OBJCOPY)
  derived(c-no-debug c-gcc-O2 ${FIXTURE_OBJCOPY} --strip-debug c-gcc-O2 c-no-debug)
  derived(c-stripped c-gcc-O2 ${FIXTURE_OBJCOPY} --strip-all c-gcc-O2 c-stripped)
  derived(c-linked.debug c-gcc-O2
    ${FIXTURE_OBJCOPY} --only-keep-debug c-gcc-O2 c-linked.debug)
  derived(c-linked c-linked.debug
    ${FIXTURE_OBJCOPY} --strip-all --add-gnu-debuglink=c-linked.debug c-gcc-O2 c-linked)
  if(FIXTURE_XZ)
    # What Fedora calls mini debug information: a symbol table, packed into a section.
    derived(c-packed c-gcc-O2 sh -c "${FIXTURE_OBJCOPY} --only-keep-debug -R .comment c-gcc-O2 packed && \
${FIXTURE_OBJCOPY} --strip-debug packed && ${FIXTURE_XZ} -kf packed && \
${FIXTURE_OBJCOPY} --strip-all --add-section .gnu_debugdata=packed.xz c-gcc-O2 c-packed")
  endif()
endif()

if(FIXTURE_GXX AND FIXTURE_DWZ)
  # What two programs have in common lies in a third file, as in Debian's packages.
  derived(cpp-dwz cpp-gcc-O2 sh -c "cp cpp-gcc-O2 dwz && cp cpp-gcc-O2 dwz-other && \
${FIXTURE_DWZ} -m dwz-common -M dwz-common dwz dwz-other && mv dwz cpp-dwz")
endif()

add_custom_target(fixtures ALL DEPENDS ${fixture_files})
