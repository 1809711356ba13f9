# The installed tree serves projects that know nothing of ours.
set(work ${BUILD}/install_test)
file(REMOVE_RECURSE ${work})
set(cuda)
if(CUDA)
  set(cuda -DCMAKE_CUDA_COMPILER=${CUDA})
endif()

function(must)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${status}\n${out}\n${err}")
  endif()
  set(out ${out} PARENT_SCOPE)
endfunction()

# Builds examples/<name> and runs it; it must print `expected`.
function(example_prints name expected)
  must(${CMAKE_COMMAND} -S ${EXAMPLES}/${name} -B ${work}/${name} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX} ${cuda}
    -DCMAKE_PREFIX_PATH=${work}/prefix)
  must(${CMAKE_COMMAND} --build ${work}/${name})
  must(${work}/${name}/${name} ${ARGN})
  if(NOT out MATCHES "${expected}")
    message(FATAL_ERROR "${name} printed '${out}', not '${expected}'")
  endif()
endfunction()

must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
# 64 KiB of numbers: those that the ASCII codes of 0123, 4567, 89ab and cdef are, over and over.
string(REPEAT 0123456789abcdef 4096 numbers)
file(WRITE ${work}/data.bin ${numbers})
example_prints(hello "sum 21109500014592 of 16384 numbers, read by [1-9][0-9]* NVMe commands on " ${work}/data.bin)
