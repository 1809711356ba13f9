// A drive in memory that loses power: blocks written since the last flush survive one by one, or do not.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/drive/block_io.h"

namespace sluice::test {

/// Thrown when the power goes; no sluice::error, so that nobody mistakes it for an answer of the drive.
struct power_cut {};

/// Power that several drives share, and that lasts for so many block writes.
struct power {
  std::optional<std::uint64_t> blocks_left;
};

class fake_drive : public drive::block_io {
 public:
  explicit fake_drive(std::string name, std::uint64_t bytes, std::uint32_t block_size = 512,
                      std::shared_ptr<power> supply = std::make_shared<power>())
      : name_(std::move(name)),
        block_size_(block_size),
        now_(bytes),
        durable_(bytes),
        supply_(std::move(supply)) {}

  fake_drive(const fake_drive& other, std::shared_ptr<power> supply) : fake_drive(other) {
    supply_ = std::move(supply);
  }

  const std::string& name() const override { return name_; }
  std::uint64_t bytes() const override { return now_.size(); }
  std::uint32_t block_size() const override { return block_size_; }

  void read(std::uint64_t first_byte, std::span<std::byte> to) override {
    need_blocks(first_byte, to.size());
    if (fails_reads || touches_unreadable(first_byte, to.size())) refuse("read");
    std::memcpy(to.data(), now_.data() + first_byte, to.size());
  }

  void write(std::uint64_t first_byte, std::span<const std::byte> from) override {
    need_blocks(first_byte, from.size());
    if (fails_writes) refuse("write");
    for (std::uint64_t at = 0; at < from.size(); at += block_size_) {
      draw_power();
      std::memcpy(now_.data() + first_byte + at, from.data() + at, block_size_);
      volatile_.insert((first_byte + at) / block_size_);
      unreadable.erase((first_byte + at) / block_size_);
    }
  }

  void flush() override {
    if (fails_writes) refuse("flush");
    draw_power();
    for (const std::uint64_t block : volatile_) keep(block);
    volatile_.clear();
    ++flushes;
  }

  /// The power comes back; each block that was not flushed survived where `survives()` says so.
  template <class Survives>
  void restart(Survives survives) {
    for (const std::uint64_t block : volatile_) survives() ? keep(block) : lose(block);
    volatile_.clear();
    supply_->blocks_left.reset();
  }

  void resize(std::uint64_t bytes) {
    now_.resize(bytes);
    durable_.resize(bytes);
  }
  /// The bytes as they are, to look at or to spoil.
  std::vector<std::byte>& content() { return now_; }

  std::set<std::uint64_t> unreadable;  ///< blocks that cannot be read until they are written
  bool fails_reads = false;
  bool fails_writes = false;
  std::uint64_t flushes = 0;

 private:
  void need_blocks(std::uint64_t first_byte, std::uint64_t count) const {
    if (first_byte % block_size_ != 0 || count % block_size_ != 0 || first_byte + count > now_.size())
      refuse("misuse");
  }
  bool touches_unreadable(std::uint64_t first_byte, std::uint64_t count) const {
    const auto next = unreadable.lower_bound(first_byte / block_size_);
    return next != unreadable.end() && *next * block_size_ < first_byte + count;
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw error(error_kind::io_failure, what + " failed", {},
                {.drive = name_, .code = status::from_nvme(0x280)});
  }
  void draw_power() const {
    if (supply_->blocks_left && (*supply_->blocks_left)-- == 0) {
      supply_->blocks_left = 0;
      throw power_cut{};
    }
  }
  void keep(std::uint64_t block) { copy_block(now_, durable_, block); }
  void lose(std::uint64_t block) { copy_block(durable_, now_, block); }
  void copy_block(const std::vector<std::byte>& from, std::vector<std::byte>& to, std::uint64_t block) const {
    std::memcpy(to.data() + block * block_size_, from.data() + block * block_size_, block_size_);
  }

  std::string name_;
  std::uint32_t block_size_;
  std::vector<std::byte> now_, durable_;
  std::set<std::uint64_t> volatile_;
  std::shared_ptr<power> supply_;
};

}  // namespace sluice::test
