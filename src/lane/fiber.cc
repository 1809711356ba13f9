#include "lane/fiber.h"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "sluice/base/error.h"
#include "sluice/base/types.h"

#if defined(SLUICE_BOOST_FIBERS)
#include <boost/context/detail/fcontext.hpp>
#endif

namespace sluice::lane::executor {

namespace {

constexpr std::size_t page = 4 * KiB;
constexpr std::size_t stack_bytes = (SLUICE_ASAN || SLUICE_TSAN ? 256 : 64) * KiB;
/// Each guard page splits a mapping, and Linux allows a process 65,530 of them: beyond this many stacks go
/// without.
constexpr std::uint32_t most_guards = 16384;

std::atomic<std::uint32_t> guards{0};

#if SLUICE_TSAN
constexpr unsigned no_edge = 1;  // a switch orders no memory: only the lanes' own synchronisation does
#endif

}  // namespace

stack stack::map() {
  void* low = mmap(nullptr, page + stack_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (low == MAP_FAILED) throw error(error_kind::unavailable, "no memory for a lane's stack");
  if (guards.fetch_add(1, std::memory_order_relaxed) < most_guards) mprotect(low, page, PROT_NONE);
  return {static_cast<std::byte*>(low) + page, stack_bytes};
}

void stack::unmap(stack which) {
  munmap(which.low - page, page + which.bytes);
  guards.fetch_sub(1, std::memory_order_relaxed);
}

#if defined(SLUICE_BOOST_FIBERS)

namespace {

namespace context = boost::context::detail;

/// Where the one who switched to us stands now, stored for the switch back.
struct crossing {
  void** from_top;
  void* entry_self;
  fiber::entry entry;
};

void store_origin(context::transfer_t arrival) {
  *static_cast<crossing*>(arrival.data)->from_top = arrival.fctx;
}

void enter(context::transfer_t arrival) {
  const crossing how = *static_cast<crossing*>(arrival.data);
  store_origin(arrival);
  how.entry(how.entry_self);
  std::abort();
}

void swap_stacks(void** save_top, void* load_top, fiber::entry entry, void* self) {
  crossing how{save_top, self, entry};
  store_origin(context::jump_fcontext(load_top, &how));
}

void* lay_first_frame(std::byte* top, std::size_t bytes, fiber::entry, void*) {
  return context::make_fcontext(top, bytes, enter);
}

}  // namespace

#else

static_assert(sizeof(void*) == 8);
#if !defined(__x86_64__)
#error "no stack switch for this processor: configure with SLUICE_BOOST_FIBERS"
#endif

extern "C" void sluice_swap_stacks(void** save_top, void* load_top);
extern "C" void sluice_enter_stack();

// Saves what the System V ABI asks a callee to keep; the floating-point modes stay as they are on every lane.
asm(R"(
.pushsection .text
.globl sluice_swap_stacks
.hidden sluice_swap_stacks
.type sluice_swap_stacks,@function
sluice_swap_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size sluice_swap_stacks,.-sluice_swap_stacks
.globl sluice_enter_stack
.hidden sluice_enter_stack
.type sluice_enter_stack,@function
sluice_enter_stack:
.cfi_startproc
.cfi_undefined rip
  movq %r12, %rdi
  call *%r13
  ud2
.cfi_endproc
.size sluice_enter_stack,.-sluice_enter_stack
.popsection
)");

namespace {

/// The registers as swap_stacks pops them, lowest address first.
struct saved_registers {
  std::uint64_t r15 = 0, r14 = 0, r13 = 0, r12 = 0, rbx = 0, rbp = 0, rip = 0;
};

void* lay_first_frame(std::byte* top, std::size_t, fiber::entry entry, void* self) {
  auto* frame = reinterpret_cast<saved_registers*>(top - sizeof(saved_registers));
  *frame = {};
  frame->r12 = reinterpret_cast<std::uint64_t>(self);
  frame->r13 = reinterpret_cast<std::uint64_t>(entry);
  frame->rip = reinterpret_cast<std::uint64_t>(&sluice_enter_stack);
  return frame;
}

inline void swap_stacks(void** save_top, void* load_top, fiber::entry, void*) {
  sluice_swap_stacks(save_top, load_top);
}

}  // namespace

#endif

fiber::~fiber() {
  forget();
  if (!adopted_ && has_stack()) stack::unmap(memory_);
}

void fiber::adopt_thread() {
  adopted_ = true;
#if SLUICE_TSAN
  tsan_ = __tsan_get_current_fiber();
#endif
#if SLUICE_ASAN
  pthread_attr_t attributes;
  void* low = nullptr;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &memory_.bytes);
  pthread_attr_destroy(&attributes);
  memory_.low = static_cast<std::byte*>(low);
#endif
}

void fiber::own(stack memory) { memory_ = memory; }

void fiber::prepare(entry run, void* argument, unsigned colour) {
  constexpr std::size_t colour_bytes = 128;
  constexpr unsigned colours = 31;
#if SLUICE_ASAN
  constexpr std::size_t last_frames = 16 * KiB;  // of the one who ended here, without unwinding
  __asan_unpoison_memory_region(memory_.low + memory_.bytes - last_frames, last_frames);
#endif
  run_ = run;
  argument_ = argument;
  const std::size_t skipped = colour % colours * colour_bytes;
  top_ = lay_first_frame(memory_.low + memory_.bytes - skipped, memory_.bytes - skipped, first_step, this);
#if SLUICE_TSAN
  if (tsan_ == nullptr) tsan_ = __tsan_create_fiber(0);
#endif
}

void fiber::abandon([[maybe_unused]] void* token) {
#if SLUICE_TSAN
  void* const caller = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsan_, no_edge);
  edge_release(token);
  __tsan_switch_to_fiber(caller, no_edge);
#endif
  forget();
}

void fiber::forget() {
  if (adopted_ || !has_stack()) return;
#if SLUICE_TSAN
  if (tsan_ != nullptr) __tsan_destroy_fiber(tsan_);
  tsan_ = nullptr;
#endif
#if SLUICE_ASAN
  __asan_unpoison_memory_region(memory_.low, memory_.bytes);
  fake_stack_ = nullptr;
#endif
}

void fiber::change(fiber& from, fiber& to, [[maybe_unused]] bool ends) {
#if SLUICE_ASAN
  __sanitizer_start_switch_fiber(ends ? nullptr : &from.fake_stack_, to.memory_.low, to.memory_.bytes);
#endif
#if SLUICE_TSAN
  __tsan_switch_to_fiber(to.tsan_, no_edge);
#endif
  swap_stacks(&from.top_, to.top_, first_step, &to);
  arrive(from);
}

void fiber::arrive([[maybe_unused]] fiber& at) {
#if SLUICE_ASAN
  __sanitizer_finish_switch_fiber(at.fake_stack_, nullptr, nullptr);
#endif
}

void fiber::first_step(void* self) {
  fiber& me = *static_cast<fiber*>(self);
#if SLUICE_ASAN
  me.fake_stack_ = nullptr;
#endif
  arrive(me);
  me.run_(me.argument_);
  std::abort();
}

}  // namespace sluice::lane::executor
