# Warnings, sanitizers and CUDA: the flags that every target of the project is built with.

set(SLUICE_WARNINGS -Wall -Wextra -Werror)

if(SLUICE_FUZZ)
  set(SLUICE_SANITIZE_FLAGS -fsanitize=fuzzer-no-link)
endif()
if(SLUICE_SANITIZE STREQUAL "address")
  list(APPEND SLUICE_SANITIZE_FLAGS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(SLUICE_SANITIZE STREQUAL "thread")
  list(APPEND SLUICE_SANITIZE_FLAGS -fsanitize=thread -fno-omit-frame-pointer -DSLUICE_TSAN=1)
elseif(SLUICE_SANITIZE)
  message(FATAL_ERROR "SLUICE_SANITIZE is '${SLUICE_SANITIZE}': say address, thread, or nothing")
endif()

# Paths are hashed relative to the tree, so that a fresh clone finds what another one has compiled.
find_program(SLUICE_CCACHE ccache)
if(SLUICE_CCACHE)
  set(ccache ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${SLUICE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${ccache})
endif()

if(SLUICE_CUDA)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 90-virtual)
  endif()
  enable_language(CUDA)
  # Programs are carried to machines whose libstdc++ may be older than this one's.
  set(SLUICE_CARRIED_LINK_FLAGS -static-libstdc++ -static-libgcc)
endif()

# Applies the project's own flags to one of its targets.
function(sluice_compile_flags target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:${SLUICE_WARNINGS}>
    $<$<COMPILE_LANGUAGE:CXX>:${SLUICE_SANITIZE_FLAGS}>
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Wall,-Wextra -Xptxas=-v>)
  target_link_options(${target} PRIVATE ${SLUICE_SANITIZE_FLAGS} ${SLUICE_CARRIED_LINK_FLAGS})
endfunction()
