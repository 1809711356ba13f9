# What `.cu` files are: kernels and their launches, which nvcc compiles where CUDA is on, and which elsewhere are plain C++.
# Used by our own build and, installed, by those who find_package(sluice).

# CMake 3.25 (Debian 12) has no name for nvcc's C++20, which nvcc has had since CUDA 12.
if(CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA" AND NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()

# Names sources that hold kernels. Call it in the folder whose CMakeLists.txt makes the target.
function(sluice_kernel_sources)
  if(NOT SLUICE_CUDA)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-xc++")
  endif()
endfunction()
