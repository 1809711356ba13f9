// The data structures that admin commands return: identify pages and log pages.
#include <cstring>

#include "controller/admin.h"
#include "sluice/base/bits.h"
#include "sluice/nvme/identify.h"
#include "sluice/nvme/log_pages.h"
#include "sluice/nvme/registers.h"

namespace sluice::controller {

namespace {

constexpr char firmware[] = "0.1";

template <class T>
void put(std::span<std::byte> page, const T& data) {
  static_assert(sizeof(T) == nvme::identify_bytes);
  std::memcpy(page.data(), &data, sizeof data);
}

/// Unique enough: the same serial gives the same identifier on every run.
std::uint64_t number_of(const std::string& serial) {
  std::uint64_t h = 0;
  for (const char c : serial) h = mix(h + static_cast<unsigned char>(c) + 1);
  return h;
}

}  // namespace

void admin::fill_controller(std::span<std::byte> page_out) const {
  nvme::identify_controller c{};
  nvme::set_text(c.sn, self_.serial);
  nvme::set_text(c.mn, media_.traits().model);
  nvme::set_text(c.fr, firmware);
  c.mdts = static_cast<std::uint8_t>(log2_exact(self_.max_transfer) - 12);  // CAP.MPSMIN is 4 KiB
  c.cntlid = 1;
  c.ver = nvme::version_2_0;
  c.cntrltype = 1;  // I/O controller
  c.acl = 3;
  c.aerl = 3;
  c.frmw = 1 << 1 | 1;  // one slot, read only
  c.lpa = 1 << 2;       // Get Log Page takes an offset
  c.elpe = event_log::entries - 1;
  c.wctemp = 343;
  c.cctemp = 353;
  c.sqes = 6 << 4 | 6;
  c.cqes = 4 << 4 | 4;
  c.nn = 1;
  c.oncs = nvme::oncs_compare | nvme::oncs_dataset_management | nvme::oncs_write_zeroes;
  c.vwc = static_cast<std::uint8_t>((media_.traits().write_cache ? 1 : 0) |
                                    3 << 1);  // flush may name all namespaces
  const std::string nqn = "nqn.2026-12.org.sluice:" + self_.serial;
  for (std::size_t i = 0; i < nqn.size() && i + 1 < sizeof c.subnqn; ++i) c.subnqn[i] = nqn[i];
  put(page_out, c);
}

void admin::fill_namespace(std::span<std::byte> page_out) const {
  nvme::identify_namespace n{};
  n.nsze = n.ncap = n.nuse = self_.blocks;
  n.dlfeat = media_.traits().discard_zeroes ? nvme::dlfeat_zeroes : 0;
  n.nsattr = self_.writable ? 0 : nvme::nsattr_write_protected;
  n.formats[0] = {self_.block_shift << 16};
  const std::uint64_t id = number_of(self_.serial);
  std::memcpy(n.nguid + 8, &id, sizeof id);
  put(page_out, n);
}

void admin::fill_descriptors(std::span<std::byte> page_out) const {
  // NGUID, then the command set: NVM is 0.
  const std::uint64_t id = number_of(self_.serial);
  page_out[0] = static_cast<std::byte>(nvme::descriptor_type::nguid);
  page_out[1] = std::byte{16};
  std::memcpy(page_out.data() + 12, &id, sizeof id);
  page_out[20] = static_cast<std::byte>(nvme::descriptor_type::command_set);
  page_out[21] = std::byte{1};
}

std::vector<std::byte> admin::log_bytes(nvme::log_page which) const {
  std::vector<std::byte> bytes;
  const auto put_bytes = [&](const void* from, std::size_t n) {
    bytes.resize(n);
    std::memcpy(bytes.data(), from, n);
  };
  switch (which) {
    case nvme::log_page::supported:
      // 5.16.1.1: a dword an identifier, bit 0 set where the page is supported.
      bytes.resize(1024);
      for (const std::size_t id : {0U, 1U, 2U, 3U}) bytes[4 * id] = std::byte{1};
      break;
    case nvme::log_page::error_information: {
      const auto entries = log_.snapshot();
      put_bytes(entries.data(), entries.size() * sizeof entries[0]);
      break;
    }
    case nvme::log_page::health: {
      nvme::health_log health{};
      health_(health);
      put_bytes(&health, sizeof health);
      break;
    }
    case nvme::log_page::firmware_slot:
      // 5.16.1.4: slot 1 is active and holds our one firmware.
      bytes.resize(512);
      bytes[0] = std::byte{1};
      std::memset(bytes.data() + 8, ' ', 8);
      std::memcpy(bytes.data() + 8, firmware, sizeof firmware - 1);
      break;
  }
  return bytes;
}

}  // namespace sluice::controller
