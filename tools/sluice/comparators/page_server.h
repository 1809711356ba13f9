// The CPU's side of the comparator cpu-served: threads that look for page requests, copy the pages into their
// frames, and answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "sluice/memory/buffer.h"
#include "tools/sluice/comparators/comparator.h"
#include "tools/sluice/comparators/copy_line.h"
#include "tools/sluice/comparators/served_kernel.h"
#include "tools/sluice/comparators/source_file.h"

namespace sluice::tool {

/// Where one server finds its requests, and what it answers with.
struct served_port {
  std::span<served_request> ring;  ///< a power of two
  served_word* answers;            ///< of all teams, as lanes reach them
  std::uint32_t teams;
  std::byte* frames;                  ///< as lanes reach them
  const std::byte* bytes;             ///< the span in pinned memory
  const source_file* file = nullptr;  ///< to read the pages from instead
  std::uint32_t page_bytes;
};

/// One thread. What it needs of the GPU is made before it starts: once lanes wait for it, it only puts copies
/// on a line of its own and looks whether they have arrived.
class page_server {
 public:
  page_server(backend on, const served_port& port);
  page_server(const page_server&) = delete;
  page_server& operator=(const page_server&) = delete;
  ~page_server();

  /// Serves until stop(). `failed` is called, on the server's thread, where it cannot go on.
  void start(std::function<void()> failed);
  /// Ends the thread; throws what it could not go on for.
  void stop();
  /// Pages since it was made.
  std::uint64_t served() const { return served_; }

 private:
  /// Copies that were put on the line together.

  void serve();
  /// Takes what requests there are into the next flight, each answer behind its page. False where there are
  /// none, or no flight is free.
  bool depart();
  /// Frees flights that have arrived, the oldest first. False where none has.
  bool land();
  const std::byte* page(std::uint64_t which, std::size_t place);

  served_port port_;
  std::unique_ptr<copy_line> line_;
  std::size_t most_together_;
  memory::buffer staging_;            ///< of pages that come from a file
  std::vector<std::size_t> flights_;  ///< pages of each that are under way
  std::vector<std::uint32_t> given_;  ///< answers to each team
  std::size_t departing_ = 0, landing_ = 0;
  std::uint32_t head_ = 0;
  std::uint64_t served_ = 0;
  std::atomic<bool> over_{false};
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace sluice::tool
