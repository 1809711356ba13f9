#include "tools/sluice/comparators/cufile_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "sluice/base/error.h"

namespace sluice::tool {

namespace {

constexpr const char* cufile_name = "libcufile.so.0";

void* load_cufile() {
  // Unless the user says otherwise, it may read through the CPU, and leaves no log in the working folder.
  setenv("CUFILE_ALLOW_COMPAT_MODE", "true", 0);
  setenv("CUFILE_LOGFILE_PATH", "/dev/null", 0);
  void* const found = dlopen(cufile_name, RTLD_NOW | RTLD_LOCAL);
  if (found == nullptr)
    throw error(error_kind::unavailable, std::string("NVIDIA's ") + cufile_name + " is not installed here");
  return found;
}

[[noreturn]] void refuse_cufile(const char* doing, int code) {
  throw error(error_kind::unavailable,
              std::string("cuFile ") + doing + ": its error " + std::to_string(code));
}

}  // namespace

template <class Call>
void cufile_library::find(Call& call, const char* name) const {
  call = reinterpret_cast<Call>(dlsym(library_, name));
  if (call == nullptr) throw error(error_kind::unavailable, std::string(cufile_name) + " has no " + name);
}

cufile_library::cufile_library() : library_(load_cufile()) {
  find(open_, "cuFileDriverOpen");
  find(register_, "cuFileHandleRegister");
  find(deregister_, "cuFileHandleDeregister");
  find(read_, "cuFileRead");
  find(properties_, "cuFileDriverGetProperties");
  const failure opened = open_();
  if (opened.code != 0) refuse_cufile("does not open its driver", opened.code);
  mode_ = learn_mode();
}

const cufile_library& cufile_library::get() {
  static const cufile_library opened;
  return opened;
}

std::string cufile_library::learn_mode() const {
  properties known{};
  if (properties_(&known).code == 0 && known.nvfs_major != 0) return "nvidia-fs";
  // Newer libraries may have the kernel move bytes between a drive and the GPU. They say so where they are
  // asked for the parameter CUFILE_PARAM_USE_PCIP2PDMA.
  using get_flag = failure (*)(int, bool*);
  constexpr int use_p2pdma = 7;
  bool allowed = false;
  const auto get = reinterpret_cast<get_flag>(dlsym(library_, "cuFileGetParameterBool"));
  return get != nullptr && get(use_p2pdma, &allowed).code == 0 && allowed ? "p2pdma" : "compatibility";
}

cufile_library::handle cufile_library::take(int fd) const {
  constexpr int opaque_fd = 1;  // CU_FILE_HANDLE_TYPE_OPAQUE_FD
  description what{};
  what.type = opaque_fd;
  what.file.fd = fd;
  handle made = nullptr;
  const failure code = register_(&made, &what);
  if (code.code != 0) refuse_cufile("does not take the file", code.code);
  return made;
}

void cufile_library::give_back(handle file) const { deregister_(file); }

}  // namespace sluice::tool
