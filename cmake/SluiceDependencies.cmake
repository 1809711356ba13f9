# Libraries the project stands on. scripts/setup.sh installs each; nothing is downloaded here.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBURING REQUIRED liburing)
if(SLUICE_TOOLS)
  find_package(CLI11 REQUIRED)
endif()
if(SLUICE_TESTS)
  find_package(GTest REQUIRED)
endif()
if(SLUICE_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()

# Stack switches of the CPU backend: our own on x86-64, boost.context's on other processors.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  option(SLUICE_BOOST_FIBERS "Switch stacks by boost.context instead of by our own code" OFF)
else()
  set(SLUICE_BOOST_FIBERS ON)
endif()
if(SLUICE_BOOST_FIBERS)
  find_package(Boost REQUIRED COMPONENTS context)
endif()

# A program built with CUDA is carried to other machines, so it brings its libraries along.
if(SLUICE_CUDA)
  find_package(CUDAToolkit REQUIRED)
  find_library(SLUICE_URING_STATIC liburing.a HINTS ${LIBURING_LIBRARY_DIRS} ${LIBURING_LIBDIR} REQUIRED)
  set(SLUICE_URING ${SLUICE_URING_STATIC})
else()
  set(SLUICE_URING ${LIBURING_LINK_LIBRARIES})
endif()

# libcu++ (cuda::atomic_ref and friends): nvcc takes its own toolkit's; else from the wheel that scripts/setup.sh unpacks,
# else from any toolkit.
if(SLUICE_CUDA)
  set(cccl_hints ${CUDAToolkit_INCLUDE_DIRS})
else()
  set(cccl_hints ${PROJECT_SOURCE_DIR}/.deps/cccl/include)
endif()
find_path(SLUICE_CCCL_INCLUDE cuda/atomic
  HINTS ${cccl_hints}
  PATHS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda
  PATH_SUFFIXES cccl include/cccl
  NO_DEFAULT_PATH)
if(NOT SLUICE_CCCL_INCLUDE)
  message(FATAL_ERROR "libcu++ headers not found: run scripts/setup.sh once")
endif()
