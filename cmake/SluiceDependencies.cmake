# Libraries the project stands on. scripts/setup.sh installs each; nothing is downloaded here.
find_package(Threads REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBURING REQUIRED liburing)
if(SLUICE_TESTS)
  find_package(GTest REQUIRED)
endif()

# libcu++ (cuda::atomic_ref and friends): from the CUDA toolkit, else from the wheel that scripts/setup.sh unpacks.
find_path(SLUICE_CCCL_INCLUDE cuda/atomic
  HINTS ${PROJECT_SOURCE_DIR}/.deps/cccl/include
  PATHS /usr/local/cuda/include/cccl ENV CUDA_PATH
  PATH_SUFFIXES include/cccl
  NO_DEFAULT_PATH)
if(NOT SLUICE_CCCL_INCLUDE)
  message(FATAL_ERROR "libcu++ headers not found: run scripts/setup.sh once")
endif()
