// Identify data: what a controller and a namespace say of themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sluice/nvme/log_pages.h"

namespace sluice::nvme {

inline constexpr std::size_t identify_bytes = 4096;

/// CNS of Identify (NVMe Base 2.0, 5.17.1, figure 273).
enum class identify_what : std::uint8_t {
  name_space = 0x00,
  controller = 0x01,
  active_namespaces = 0x02,
  namespace_descriptors = 0x03,
};

/// Copies `text` into an ASCII field, padded with spaces (1.4.2).
template <std::size_t N>
constexpr void set_text(char (&field)[N], std::string_view text) {
  for (std::size_t i = 0; i < N; ++i) field[i] = i < text.size() ? text[i] : ' ';
}

/// An ASCII field without its padding.
template <std::size_t N>
constexpr std::string_view text_of(const char (&field)[N]) {
  std::size_t end = N;
  while (end > 0 && (field[end - 1] == ' ' || field[end - 1] == '\0')) --end;
  return {field, end};
}

/// Identify Controller, NVMe Base 2.0, 5.17.2.1, figure 275. Reserved stretches are named by their first
/// byte.
struct identify_controller {
  std::uint16_t vid, ssvid;
  char sn[20];
  char mn[40];
  char fr[8];
  std::uint8_t rab;
  std::uint8_t ieee[3];
  std::uint8_t cmic;
  std::uint8_t mdts;  ///< largest transfer is 2^mdts smallest pages (CAP.MPSMIN); 0 says no limit
  std::uint16_t cntlid;
  std::uint32_t ver, rtd3r, rtd3e, oaes, ctratt;
  std::uint16_t rrls;
  std::uint8_t reserved102[9];
  std::uint8_t cntrltype;
  std::uint8_t fguid[16];
  std::uint16_t crdt[3];
  std::uint8_t reserved134[119];
  std::uint8_t nvmsr, vwci, mec;
  std::uint16_t oacs;
  std::uint8_t acl, aerl, frmw, lpa, elpe, npss, avscc, apsta;
  std::uint16_t wctemp, cctemp, mtfa;
  std::uint32_t hmpre, hmmin;
  std::uint8_t tnvmcap[16], unvmcap[16];
  std::uint32_t rpmbs;
  std::uint16_t edstt;
  std::uint8_t dsto, fwug;
  std::uint16_t kas, hctma, mntmt, mxtmt;
  std::uint32_t sanicap, hmminds;
  std::uint16_t hmmaxd, nsetidmax, endgidmax;
  std::uint8_t anatt, anacap;
  std::uint32_t anagrpmax, nanagrpid, pels;
  std::uint16_t domain;
  std::uint8_t reserved358[10];
  std::uint8_t megcap[16];
  std::uint8_t reserved384[128];
  std::uint8_t sqes, cqes;
  std::uint16_t maxcmd;
  std::uint32_t nn;
  std::uint16_t oncs, fuses;
  std::uint8_t fna, vwc;
  std::uint16_t awun, awupf;
  std::uint8_t icsvscc, nwpc;
  std::uint16_t acwu, ocfs;
  std::uint32_t sgls, mnan;
  std::uint8_t maxdna[16];
  std::uint32_t maxcna;
  std::uint8_t reserved564[204];
  char subnqn[256];
  std::uint8_t reserved1024[1024];
  std::uint8_t power_states[1024];
  std::uint8_t vendor[1024];
};
static_assert(sizeof(identify_controller) == identify_bytes);
static_assert(offsetof(identify_controller, mdts) == 77);
static_assert(offsetof(identify_controller, ver) == 80);
static_assert(offsetof(identify_controller, cntrltype) == 111);
static_assert(offsetof(identify_controller, crdt) == 128);
static_assert(offsetof(identify_controller, nvmsr) == 253);
static_assert(offsetof(identify_controller, oacs) == 256);
static_assert(offsetof(identify_controller, elpe) == 262);
static_assert(offsetof(identify_controller, wctemp) == 266);
static_assert(offsetof(identify_controller, tnvmcap) == 280);
static_assert(offsetof(identify_controller, kas) == 320);
static_assert(offsetof(identify_controller, anagrpmax) == 344);
static_assert(offsetof(identify_controller, megcap) == 368);
static_assert(offsetof(identify_controller, sqes) == 512);
static_assert(offsetof(identify_controller, nn) == 516);
static_assert(offsetof(identify_controller, oncs) == 520);
static_assert(offsetof(identify_controller, vwc) == 525);
static_assert(offsetof(identify_controller, sgls) == 536);
static_assert(offsetof(identify_controller, subnqn) == 768);
static_assert(offsetof(identify_controller, power_states) == 2048);

/// ONCS bits: optional NVM commands supported.
inline constexpr std::uint16_t oncs_compare = 1U << 0;
inline constexpr std::uint16_t oncs_dataset_management = 1U << 2;
inline constexpr std::uint16_t oncs_write_zeroes = 1U << 3;

/// LBA Format, NVM Command Set 1.0, 4.1.5.1, figure 98: metadata bytes 15:0, log2 of the data bytes 23:16,
/// performance 25:24.
struct lba_format {
  std::uint32_t bits;
  constexpr std::uint32_t metadata_bytes() const { return bits & 0xffffU; }
  constexpr std::uint32_t data_shift() const { return (bits >> 16) & 0xffU; }
};

/// Identify Namespace, NVM Command Set 1.0, 4.1.5.1, figure 97.
struct identify_namespace {
  std::uint64_t nsze, ncap, nuse;
  std::uint8_t nsfeat, nlbaf, flbas, mc, dpc, dps, nmic, rescap, fpi, dlfeat;
  std::uint16_t nawun, nawupf, nacwu, nabsn, nabo, nabspf, noiob;
  std::uint8_t nvmcap[16];
  std::uint16_t npwg, npwa, npdg, npda, nows, mssrl;
  std::uint32_t mcl;
  std::uint8_t msrc;
  std::uint8_t reserved81[11];
  std::uint32_t anagrpid;
  std::uint8_t reserved96[3];
  std::uint8_t nsattr;
  std::uint16_t nvmsetid, endgid;
  std::uint8_t nguid[16];
  std::uint8_t eui64[8];
  lba_format formats[64];
  std::uint8_t vendor[3712];

  /// The format in use: FLBAS 3:0, and 6:5 above them.
  constexpr const lba_format& format() const { return formats[(flbas & 0xfU) | ((flbas >> 1) & 0x30U)]; }
};
static_assert(sizeof(identify_namespace) == identify_bytes);
static_assert(offsetof(identify_namespace, dlfeat) == 33);
static_assert(offsetof(identify_namespace, nvmcap) == 48);
static_assert(offsetof(identify_namespace, mcl) == 76);
static_assert(offsetof(identify_namespace, anagrpid) == 92);
static_assert(offsetof(identify_namespace, nguid) == 104);
static_assert(offsetof(identify_namespace, formats) == 128);
static_assert(offsetof(identify_namespace, vendor) == 384);

/// NSATTR bit 0: the namespace is write protected now.
inline constexpr std::uint8_t nsattr_write_protected = 1;
/// DLFEAT 2:0 = 001b: deallocated blocks read as zeroes.
inline constexpr std::uint8_t dlfeat_zeroes = 1;

/// Namespace Identification Descriptor, NVMe Base 2.0, 5.17.2.3, figure 277: type, length, then the
/// identifier from byte 4.
enum class descriptor_type : std::uint8_t { eui64 = 1, nguid = 2, uuid = 3, command_set = 4 };

}  // namespace sluice::nvme
