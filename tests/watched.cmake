# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that tests watch, as a compiler makes them: whatever this build is watched by, they are not.
# Tests find them by these names.
set(watched ${CMAKE_CURRENT_BINARY_DIR})
if(LOCI_COLLECTORS)
  set(watched ${LOCI_COLLECTORS}/tests)
endif()
target_include_directories(sync_test PRIVATE ${CMAKE_SOURCE_DIR}/include)
target_compile_definitions(sync_test PRIVATE SYNCED="${watched}/synced-shared"
  SYNCED_STATIC="${watched}/synced-static" SYNCED_PLAIN="${watched}/synced-plain")
target_compile_definitions(runtime_test PRIVATE TRACED="${watched}/traced-shared"
  TRACED_STATIC="${watched}/traced-static" TRACED_PLUGIN="${watched}/libtraced-plugin.so")
if(TARGET loci-valgrind)
  add_dependencies(sync_test loci-valgrind)
  target_compile_definitions(sync_test PRIVATE TOOL_DIR="${LOCI_TOOL_DIR}")
endif()
# One for each compiler that has OpenMP, with the library of its own.
find_program(LOCI_TEST_GCC gcc)
find_program(LOCI_TEST_CLANG NAMES clang-14 clang-19 clang)
set(with_openmp)
foreach(kind GCC CLANG)
  set(probe 1)
  if(LOCI_TEST_${kind})
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/probe_omp.c
      "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n")
    execute_process(COMMAND ${LOCI_TEST_${kind}} -fopenmp probe_omp.c -o probe_omp
      WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} RESULT_VARIABLE probe OUTPUT_QUIET ERROR_QUIET)
  endif()
  if(probe EQUAL 0)
    list(APPEND with_openmp ${kind})
    target_compile_definitions(sync_test PRIVATE SYNCED_OMP_${kind}="${watched}/synced-omp-${kind}")
  endif()
endforeach()
# Threads and the runtime: that of other programs, but where the thread sanitizer is to look into it its files
# themselves, without those that have the sanitizer's own names. The program is as somebody else's compiler made it.
file(STRINGS ${CMAKE_SOURCE_DIR}/src/collect/runtime/wrapped.txt wrapped)
list(FILTER wrapped EXCLUDE REGEX "^#")
list(TRANSFORM wrapped PREPEND "LINKER:--wrap=")
set(raced ${watched}/raced)
if(LOCI_SANITIZE STREQUAL thread)
  set(raced ${CMAKE_CURRENT_BINARY_DIR}/raced)
  file(GLOB runtime CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/collect/runtime/*.[cS])
  list(FILTER runtime EXCLUDE REGEX "/(tsan|tsan_atomic|touching)\\.c$")
  add_executable(raced runtime/raced.c ${runtime} ${CMAKE_SOURCE_DIR}/src/stream/ring_producer.c)
  target_compile_definitions(raced PRIVATE LOCI_RT_STATIC LOCI_VERSION="${PROJECT_VERSION}")
  target_compile_options(raced PRIVATE -fexceptions -fno-stack-protector)
  target_link_options(raced PRIVATE ${wrapped})
  target_link_libraries(raced PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
elseif(NOT LOCI_COLLECTORS)
  add_executable(raced runtime/raced.c)
  target_link_options(raced PRIVATE -static -fno-sanitize=all ${wrapped})
  target_link_libraries(raced PRIVATE -Wl,--whole-archive loci-rt-static -Wl,--no-whole-archive)
endif()
if(TARGET raced)
  target_include_directories(raced PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include ${tests})
  set_source_files_properties(runtime/raced.c PROPERTIES COMPILE_OPTIONS "-O1;-g;-fno-sanitize=all")
  add_dependencies(runtime_races_test raced)
endif()
target_compile_definitions(runtime_races_test PRIVATE RACED="${raced}")
if(LOCI_COLLECTORS)
  take(tests/counted)
  take(tests/workloads)
  return()
endif()

add_executable(counted counted/counted.c)
# Its references are counted in every build: none for a frame pointer.
target_compile_options(counted PRIVATE -g -O1 -fno-sanitize=all -fomit-frame-pointer)
target_link_options(counted PRIVATE -fno-sanitize=all)

# Programs to be recorded.
file(GLOB workloads CONFIGURE_DEPENDS workloads/*.c)
list(FILTER workloads EXCLUDE REGEX "/library\\.c$")
foreach(source IN LISTS workloads)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/workloads)
endforeach()
add_library(library MODULE workloads/library.c)
set_target_properties(library PROPERTIES PREFIX ""
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/workloads C_VISIBILITY_PRESET default)
foreach(name IN LISTS workloads ITEMS library)
  get_filename_component(name ${name} NAME_WE)
  target_compile_options(${name} PRIVATE -g -O1 -fno-sanitize=all)
  target_link_options(${name} PRIVATE -fno-sanitize=all)
endforeach()
target_link_libraries(four_threads PRIVATE Threads::Threads)

# What the runtime of `loci cc` is tested with: a program that does by hand what compiled ones do.
foreach(kind shared static)
  add_executable(traced-${kind} runtime/traced.c)
  target_include_directories(traced-${kind} PRIVATE ${CMAKE_SOURCE_DIR}/src ${tests})
  target_compile_options(traced-${kind} PRIVATE -O2 -g -fno-sanitize=all -Wno-deprecated-declarations)
  target_link_options(traced-${kind} PRIVATE -fno-sanitize=all)
endforeach()
foreach(kind shared static plain) # and one that synchronises
  add_executable(synced-${kind} runtime/synced.c runtime/synced_locks.c runtime/synced_waits.c)
  target_include_directories(synced-${kind} PRIVATE ${CMAKE_SOURCE_DIR}/include ${tests})
  target_compile_options(synced-${kind} PRIVATE -O2 -g -fno-sanitize=all)
  target_link_options(synced-${kind} PRIVATE -fno-sanitize=all)
endforeach()
add_library(traced-plugin MODULE runtime/traced_plugin.c)
target_include_directories(traced-plugin PRIVATE ${CMAKE_SOURCE_DIR}/src ${tests})
target_compile_options(traced-plugin PRIVATE -O2 -g -fno-sanitize=all)
target_link_options(traced-plugin PRIVATE -fno-sanitize=all)
# What is called by its registers' leave must not be looked for at that moment.
target_link_options(traced-shared PRIVATE -Wl,-z,now)
foreach(target traced-shared traced-plugin synced-shared)
  add_dependencies(${target} loci-rt)
  target_link_libraries(${target} PRIVATE -L${CMAKE_BINARY_DIR}/lib/loci -lloci-rt)
  set_target_properties(${target} PROPERTIES BUILD_RPATH ${CMAKE_BINARY_DIR}/lib/loci
    LINK_DEPENDS ${CMAKE_BINARY_DIR}/lib/loci/libloci-rt.so)
endforeach()
# Watches by page protection without the rest of it, in a library since its code is told by where it
# lies.
add_library(pages-alone SHARED runtime/pages_alone.c)
set_target_properties(pages-alone PROPERTIES C_VISIBILITY_PRESET default)
foreach(file watch_pages.c watch_stop.c page_ends.c page_faults.c page_probe.c led_calls.c call_reach.c mappings.c system.c
    call_slots_x86_64.S)
  target_sources(pages-alone PRIVATE ${CMAKE_SOURCE_DIR}/src/collect/runtime/${file})
endforeach()
add_executable(watched-pages runtime/watched_pages.c)
target_link_libraries(watched-pages PRIVATE pages-alone Threads::Threads)
foreach(target pages-alone watched-pages)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include
    ${tests})
  target_compile_options(${target} PRIVATE -O2 -g -fno-sanitize=all)
  target_link_options(${target} PRIVATE -fno-sanitize=all -Wl,-z,now)
endforeach()
add_test(NAME runtime-pages COMMAND watched-pages)
describe(runtime-pages runtime)
foreach(target traced-static synced-static)
  target_link_options(${target} PRIVATE -static ${wrapped})
  target_link_libraries(${target} PRIVATE -Wl,--whole-archive loci-rt-static -Wl,--no-whole-archive)
endforeach()
# Parts of the runtime, driven by hand: what they call in others is the test's own.
function(add_watched name)
  add_executable(${name} ${ARGN} ${CMAKE_SOURCE_DIR}/src/collect/runtime/watch_registers.c)
  target_compile_definitions(${name} PRIVATE rt_watch_fired=test_watch_fired
    rt_watch_given_up=test_watch_given_up rt_watch_registers=test_watch_registers)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${tests})
  target_compile_options(${name} PRIVATE -O1 -g -fno-sanitize=all)
  target_link_options(${name} PRIVATE -static -fno-sanitize=all ${wrapped})
  target_link_libraries(${name} PRIVATE -Wl,--whole-archive loci-rt-static
    -Wl,--no-whole-archive)
endfunction()
add_watched(watched-registers runtime/watched_registers.c)
add_test(NAME runtime-watched-registers COMMAND watched-registers)
describe(runtime-watched-registers runtime)
add_watched(traps-taken runtime/taking.c awkward/traps.c)
add_watched(alt-stacks-taken runtime/taking.c awkward/alt_stacks.c)
add_watched(signal-calls-taken runtime/taking.c awkward/signal_calls.c)
set_source_files_properties(awkward/traps.c awkward/alt_stacks.c awkward/signal_calls.c PROPERTIES COMPILE_OPTIONS -w)
add_test(NAME runtime-traps-taken COMMAND ${tests}/awkward/awkward.sh
  ${CMAKE_CURRENT_BINARY_DIR}/awkward --only traps* ${tests}/runtime/instead.sh
  $<TARGET_FILE:traps-taken>)
describe(runtime-traps-taken runtime)
add_test(NAME runtime-alt-stacks-taken COMMAND ${tests}/awkward/awkward.sh
  ${CMAKE_CURRENT_BINARY_DIR}/awkward --only alt_stacks ${tests}/runtime/instead.sh
  $<TARGET_FILE:alt-stacks-taken>)
describe(runtime-alt-stacks-taken runtime)
add_test(NAME runtime-signal-calls-taken COMMAND ${tests}/awkward/awkward.sh
  ${CMAKE_CURRENT_BINARY_DIR}/awkward --only signal_calls ${tests}/runtime/instead.sh
  $<TARGET_FILE:signal-calls-taken>)
describe(runtime-signal-calls-taken runtime)
add_test(NAME runtime-wrapped
  COMMAND ${tests}/runtime/wrapped.sh ${CMAKE_NM} ${CMAKE_BINARY_DIR}/lib/loci)
describe(runtime-wrapped runtime)
foreach(kind IN LISTS with_openmp)
  set(program ${watched}/synced-omp-${kind})
  add_custom_command(OUTPUT ${program} DEPENDS runtime/synced_omp.c runtime/telling.h loci-rt
    COMMAND ${LOCI_TEST_${kind}} -O2 -fopenmp -I${CMAKE_SOURCE_DIR}/include -I${tests}
      ${tests}/runtime/synced_omp.c -o ${program} -Wl,--no-as-needed
      ${CMAKE_BINARY_DIR}/lib/loci/libloci-rt.so -Wl,--as-needed)
  add_custom_target(synced-with-${kind} DEPENDS ${program}) # no target is called as a file is: Ninja objects
  add_dependencies(sync_test synced-with-${kind})
endforeach()
add_dependencies(sync_test synced-shared synced-static synced-plain)
add_dependencies(runtime_test traced-shared traced-static traced-plugin)
