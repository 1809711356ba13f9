# Turns the rooms of the tree into libraries: a room's sources are all that lie in its folder.

set(SLUICE_HOST_ROOMS base lane nvme memory drive queue cache array controller emulator)

# Puts into `out` the sources of a folder whose names match one of the patterns; its `.cu` files are kernel sources.
function(sluice_sources out folder)
  list(TRANSFORM ARGN PREPEND ${folder}/)
  file(GLOB sources CONFIGURE_DEPENDS ${ARGN})
  set(kernels ${sources})
  list(FILTER kernels INCLUDE REGEX "\\.cu$")
  if(kernels)
    sluice_kernel_sources(${kernels})
  endif()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# The executor switches stacks under ThreadSanitizer's eyes: it says itself what orders memory, and is not watched.
function(sluice_unwatched_executor)
  if(SLUICE_SANITIZE STREQUAL "thread")
    file(GLOB executor CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/lane/*.cc)
    set_source_files_properties(${executor} PROPERTIES COMPILE_OPTIONS "-fno-sanitize=thread")
  endif()
endfunction()

# The host library, or a variant of it that is built with other definitions.
function(sluice_add_host_library target)
  set(sources)
  foreach(room IN LISTS SLUICE_HOST_ROOMS)
    sluice_sources(room_sources ${PROJECT_SOURCE_DIR}/src/${room} *.cc *.cu)
    list(APPEND sources ${room_sources})
  endforeach()
  sluice_unwatched_executor()
  add_library(${target} STATIC ${sources})
  if(SLUICE_BOOST_FIBERS)
    set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/lane/fiber.cc APPEND PROPERTY COMPILE_DEFINITIONS SLUICE_BOOST_FIBERS)
    target_link_libraries(${target} PRIVATE Boost::context)
  endif()
  target_link_libraries(${target}
    PUBLIC sluice_core
    PRIVATE $<BUILD_INTERFACE:fmt::fmt-header-only> $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>
    PUBLIC $<BUILD_INTERFACE:${SLUICE_URING}> $<INSTALL_INTERFACE:uring>)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE $<$<BOOL:${SLUICE_CUDA}>:SLUICE_CUDA>)
  sluice_compile_flags(${target})
endfunction()

function(sluice_add_libraries)
  add_library(sluice_core INTERFACE)
  add_library(sluice::core ALIAS sluice_core)
  target_compile_features(sluice_core INTERFACE cxx_std_20)
  target_include_directories(sluice_core INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_include_directories(sluice_core SYSTEM INTERFACE $<BUILD_INTERFACE:${SLUICE_CCCL_INCLUDE}>)
  target_compile_options(sluice_core INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr --extended-lambda>)
  target_link_libraries(sluice_core INTERFACE Threads::Threads)

  sluice_add_host_library(sluice_host)
  add_library(sluice::host ALIAS sluice_host)

  if(SLUICE_CUDA)
    add_library(sluice_cuda INTERFACE)
    add_library(sluice::cuda ALIAS sluice_cuda)
    target_link_libraries(sluice_cuda INTERFACE sluice_host CUDA::cudart_static)
  endif()
endfunction()
