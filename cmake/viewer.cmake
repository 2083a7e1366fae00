# SPDX-License-Identifier: GPL-2.0-or-later
# The viewer's page, made of the modules in web/: each after those that it imports. It takes awk and
# nothing else.
set(LOCI_WEB_MODULES visible.js units.js hist.js binomial.js predict.js order.js names.js document.js blame.js
  nodes.js contexts.js tree.js unfolded.js search.js state.js dom.js chart.js grid.js phrases.js headline.js cards.js levels.js overview.js source.js
  metrics.js code.js listing.js pairs.js data.js stages.js operations.js diff.js viewer.js)
find_program(LOCI_AWK NAMES mawk gawk awk original-awk)
if(NOT LOCI_AWK)
  message(FATAL_ERROR "loci needs awk to make its viewer (Debian: apt-get install mawk)")
endif()
set(parts page.awk page.cmake page.css page.html.in ${LOCI_WEB_MODULES})
list(TRANSFORM parts PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/web/)
string(REPLACE ";" "," modules "${LOCI_WEB_MODULES}")
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/web/page.html
  COMMAND ${CMAKE_COMMAND} -DAWK=${LOCI_AWK} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/web
    -DMODULES=${modules} -DOUT=${CMAKE_BINARY_DIR}/web -P ${CMAKE_CURRENT_SOURCE_DIR}/web/page.cmake
  DEPENDS ${parts} COMMENT "Making the viewer's page")
# view_page.c takes it in by the assembler, which no dependency scanner sees.
set_source_files_properties(src/report/view_page.c PROPERTIES
  OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/web/page.html)
