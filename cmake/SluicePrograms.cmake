# Turns apps/, tools/ and benchmarks/ into programs. A folder that is not there adds nothing.

# Puts into `out` the names of the folders in `parent`.
function(sluice_folders out parent)
  file(GLOB folders RELATIVE ${parent} CONFIGURE_DEPENDS ${parent}/*)
  list(FILTER folders EXCLUDE REGEX "\\.")
  set(${out} ${folders} PARENT_SCOPE)
endfunction()

# Settings that the project's programs share: headers by their path from the top ("apps/graph/bfs.h"), flags, libraries.
function(sluice_program_settings target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
  sluice_compile_flags(${target})
endfunction()

# apps/<name>/ becomes the library sluice_app_<name>: kernel, plain reference, driver. The tool's subcommands call it.
function(sluice_add_apps)
  sluice_folders(apps ${PROJECT_SOURCE_DIR}/apps)
  set(libraries)
  foreach(app IN LISTS apps)
    sluice_sources(sources ${PROJECT_SOURCE_DIR}/apps/${app} *.cc *.cu)
    if(sources)
      add_library(sluice_app_${app} STATIC ${sources})
      target_link_libraries(sluice_app_${app} PUBLIC sluice_host PRIVATE fmt::fmt-header-only nlohmann_json::nlohmann_json)
      sluice_program_settings(sluice_app_${app})
      list(APPEND libraries sluice_app_${app})
    endif()
  endforeach()
  set_property(GLOBAL PROPERTY SLUICE_APPS ${libraries})
endfunction()

# tools/<name>/, with its folders, becomes the library sluice_tool_<name> (all but main.cc, so that tests reach it) and the program <name>.
function(sluice_add_tools)
  get_property(apps GLOBAL PROPERTY SLUICE_APPS)
  sluice_folders(tools ${PROJECT_SOURCE_DIR}/tools)
  foreach(tool IN LISTS tools)
    set(main ${PROJECT_SOURCE_DIR}/tools/${tool}/main.cc)
    sluice_sources(sources ${PROJECT_SOURCE_DIR}/tools/${tool} *.cc *.cu */*.cc */*.cu)
    list(REMOVE_ITEM sources ${main})
    add_library(sluice_tool_${tool} STATIC ${sources})
    target_link_libraries(sluice_tool_${tool}
      PUBLIC sluice_host ${apps} fmt::fmt-header-only nlohmann_json::nlohmann_json CLI11::CLI11)
    target_compile_definitions(sluice_tool_${tool} PRIVATE SLUICE_VERSION="${PROJECT_VERSION}")
    sluice_program_settings(sluice_tool_${tool})
    add_executable(${tool} ${main})
    target_link_libraries(${tool} PRIVATE sluice_tool_${tool})
    sluice_program_settings(${tool})
  endforeach()
endfunction()

# benchmarks/<room>/*_bench.cc (and .cu) become one program a room: <room>_bench.
function(sluice_add_benchmarks)
  sluice_folders(rooms ${PROJECT_SOURCE_DIR}/benchmarks)
  foreach(room IN LISTS rooms)
    sluice_sources(sources ${PROJECT_SOURCE_DIR}/benchmarks/${room} *_bench.cc *_bench.cu)
    if(sources)
      add_executable(${room}_bench ${sources})
      target_link_libraries(${room}_bench PRIVATE sluice_host benchmark::benchmark_main)
      sluice_program_settings(${room}_bench)
    endif()
  endforeach()
endfunction()
