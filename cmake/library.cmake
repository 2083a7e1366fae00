# SPDX-License-Identifier: GPL-2.0-or-later
# libloci: the public interface (include/loci.h) in front of the same rooms. src/api/loci.map lists
# what it exports; everything else, though it shares the prefix, stays inside.
file(GLOB LOCI_API CONFIGURE_DEPENDS src/api/*.c)
set(LOCI_MAP ${CMAKE_SOURCE_DIR}/src/api/loci.map)
add_library(loci-api OBJECT ${LOCI_API})
target_include_directories(loci-api PUBLIC include)
target_link_libraries(loci-api PRIVATE loci-core)

add_library(loci-shared SHARED $<TARGET_OBJECTS:loci-api>)
set_target_properties(loci-shared PROPERTIES OUTPUT_NAME loci LINKER_LANGUAGE C
  VERSION ${PROJECT_VERSION} SOVERSION 0 LINK_DEPENDS ${LOCI_MAP})
target_include_directories(loci-shared INTERFACE include)
target_link_libraries(loci-shared PRIVATE loci-core)
target_link_options(loci-shared PRIVATE -Wl,--version-script=${LOCI_MAP} -Wl,--as-needed)
if(NOT LOCI_SANITIZE)
  target_link_options(loci-shared PRIVATE -Wl,-z,defs)
endif()

# The static library is one object with the same exports, so that no name of ours can meet one of
# a program that links it. (Sanitizers' objects do not survive this, and need no static library.)
if(NOT LOCI_SANITIZE)
  set(archive ${CMAKE_BINARY_DIR}/libloci.a)
  add_custom_command(OUTPUT ${archive}
    COMMAND sh ${CMAKE_SOURCE_DIR}/scripts/archive.sh ${LOCI_MAP} ${archive} ${CMAKE_LINKER}
      ${CMAKE_OBJCOPY} ${CMAKE_AR} $<TARGET_OBJECTS:loci-api> $<TARGET_FILE:loci-core>
    DEPENDS loci-api $<TARGET_OBJECTS:loci-api> loci-core ${LOCI_MAP} scripts/archive.sh
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(loci-static ALL DEPENDS ${archive})
endif()
