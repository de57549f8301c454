# Writes the page into a source, so that the programs have it inside. `make web` builds web/dist; without
# that they say how to get it.
file(GLOB built CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/dist/*)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${built})
set(PAGE_HTML "")
set(PAGE_POLICY "")
if(EXISTS ${CMAKE_SOURCE_DIR}/web/dist/index.html)
  file(READ ${CMAKE_SOURCE_DIR}/web/dist/index.html PAGE_HTML)
  file(READ ${CMAKE_SOURCE_DIR}/web/dist/policy PAGE_POLICY)
endif()
set(page ${generated}/cli/page.cc)
configure_file(src/cli/ui/page.cc.in ${page} @ONLY)
