# `cmake --install`: headers, libraries, the tool, and the files that let another project say find_package(sluice).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

function(sluice_install)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)
  set(targets sluice_core sluice_host)
  if(SLUICE_CUDA)
    list(APPEND targets sluice_cuda)
  endif()
  foreach(target IN LISTS targets)
    string(REPLACE "sluice_" "" name ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  endforeach()
  install(TARGETS ${targets} EXPORT sluice_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT sluice_targets NAMESPACE sluice:: DESTINATION ${package} FILE sluiceTargets.cmake)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sluice DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

  # Without a toolkit the libcu++ headers that we were built with go along, so that a user needs nothing else.
  set(SLUICE_BUNDLED_CCCL "")
  if(NOT SLUICE_CUDA)
    set(SLUICE_BUNDLED_CCCL ${CMAKE_INSTALL_INCLUDEDIR}/sluice-cccl)
    install(DIRECTORY ${SLUICE_CCCL_INCLUDE}/cuda ${SLUICE_CCCL_INCLUDE}/nv DESTINATION ${SLUICE_BUNDLED_CCCL})
  endif()
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/sluiceConfig.cmake.in ${CMAKE_BINARY_DIR}/sluiceConfig.cmake
    INSTALL_DESTINATION ${package})
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/sluiceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/sluiceConfig.cmake ${CMAKE_BINARY_DIR}/sluiceConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/SluiceKernels.cmake DESTINATION ${package})

  if(TARGET sluice)
    install(TARGETS sluice RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()
