# SPDX-License-Identifier: GPL-2.0-or-later
# cmake -DAWK= -DSOURCE=web -DMODULES= -DOUT=DIR -P page.cmake: DIR/page.html from the parts in web/.
string(REPLACE "," ";" MODULES "${MODULES}")
set(files)
foreach(module IN LISTS MODULES)
  list(APPEND files ${SOURCE}/${module})
endforeach()
file(MAKE_DIRECTORY ${OUT})
function(run output)
  execute_process(COMMAND ${AWK} ${ARGN} OUTPUT_FILE ${output} RESULT_VARIABLE failed)
  if(failed)
    file(REMOVE ${output})
    message(FATAL_ERROR "making the viewer's page failed: ${failed}")
  endif()
endfunction()
run(${OUT}/page.js -v step=script -f ${SOURCE}/page.awk ${files})
# What the policy hashes is all between the tags, line ends included.
file(READ ${OUT}/page.js script)
file(READ ${SOURCE}/page.css style)
string(SHA256 script_hash "\n${script}")
string(SHA256 style_hash "\n${style}")
run(${OUT}/page.html -v script=${OUT}/page.js -v style=${SOURCE}/page.css
  -v script_hash=${script_hash} -v style_hash=${style_hash} -f ${SOURCE}/page.awk
  ${SOURCE}/page.html.in)
