// The bytes of a manifest: an envelope of 32 bytes with a checksum over all, then a JSON body.
#include "sluice/drive/manifest.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "drive/manifest_envelope.h"
#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"

namespace sluice::drive {

namespace {

using nlohmann::json;

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 56;  // 2^40 pages of 64 KiB
constexpr std::size_t longest_name = 255;

[[noreturn]] void damaged(const std::string& fault) {
  throw error(error_kind::corrupt, "the manifest is damaged: " + fault);
}

[[noreturn]] void impossible(const std::string& fault) { throw error(error_kind::bad_input, fault); }

const json& field(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) damaged("no field '" + std::string(key) + "'");
  return *found;
}

std::uint64_t count_of(const json& object, const char* key,
                       std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  const json& value = field(object, key);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
    damaged("field '" + std::string(key) + "' is no such number");
  return value.get<std::uint64_t>();
}

std::string text_of(const json& object, const char* key) {
  const json& value = field(object, key);
  if (!value.is_string()) damaged("field '" + std::string(key) + "' is no text");
  return value.get<std::string>();
}

const json& list_of(const json& object, const char* key) {
  const json& value = field(object, key);
  if (!value.is_array()) damaged("field '" + std::string(key) + "' is no list");
  return value;
}

/// One of two words.
bool second_of(const json& object, const char* key, const char* first, const char* second) {
  const std::string word = text_of(object, key);
  if (word != first && word != second) damaged("field '" + std::string(key) + "' is '" + word + "'");
  return word == second;
}

json to_json(const seal& of) {
  return {{"unit", of.unit},
          {"first_byte", of.first_byte},
          {"sums_crc32c", of.sums_checksum},
          {"written_crc32c", of.written_checksum},
          {"being_written", of.being_written}};
}

seal seal_from(const json& object) {
  constexpr std::uint32_t any = std::numeric_limits<std::uint32_t>::max();
  if (!object.is_object()) damaged("a seal is no object");
  seal result;
  result.unit = static_cast<std::uint32_t>(count_of(object, "unit", largest_page));
  result.first_byte = count_of(object, "first_byte");
  result.sums_checksum = static_cast<std::uint32_t>(count_of(object, "sums_crc32c", any));
  result.written_checksum = static_cast<std::uint32_t>(count_of(object, "written_crc32c", any));
  const json& mark = field(object, "being_written");
  if (!mark.is_boolean()) damaged("field 'being_written' is no yes or no");
  result.being_written = mark.get<bool>();
  return result;
}

json to_json(const dataset& each) {
  json object{{"name", each.name},
              {"kind", each.kind},
              {"first_byte", each.first_byte},
              {"bytes", each.bytes},
              {"meta", each.meta},
              {"state", each.state == dataset_state::complete ? "complete" : "importing"}};
  if (each.checksum) object["crc32c"] = *each.checksum;
  if (each.sealed) object["seal"] = to_json(*each.sealed);
  return object;
}

dataset dataset_from(const json& object) {
  if (!object.is_object()) damaged("a dataset is no object");
  dataset result;
  result.name = text_of(object, "name");
  result.kind = text_of(object, "kind");
  result.first_byte = count_of(object, "first_byte");
  result.bytes = count_of(object, "bytes");
  result.meta = text_of(object, "meta");
  result.state = second_of(object, "state", "importing", "complete") ? dataset_state::complete
                                                                     : dataset_state::importing;
  if (object.contains("crc32c"))
    result.checksum =
        static_cast<std::uint32_t>(count_of(object, "crc32c", std::numeric_limits<std::uint32_t>::max()));
  if (object.contains("seal")) result.sealed = seal_from(object["seal"]);
  return result;
}

json to_json(const manifest& content) {
  json object{{"uuid", content.uuid},
              {"name", content.name},
              {"drive", content.drive},
              {"drives", content.drives},
              {"layout", content.how == layout::mirror ? "mirror" : "stripe"},
              {"unit", content.unit},
              {"block_size", content.block_size},
              {"drive_bytes", content.drive_bytes},
              {"failed", json::array()},
              {"datasets", json::array()}};
  for (std::uint32_t i = 0; i < most_replicas; ++i)
    if (((content.failed >> i) & 1) != 0) object["failed"].push_back(i);
  for (const dataset& each : content.datasets) object["datasets"].push_back(to_json(each));
  return object;
}

manifest manifest_from(const json& object) {
  if (!object.is_object()) damaged("its body is no object");
  manifest result;
  result.uuid = text_of(object, "uuid");
  result.name = text_of(object, "name");
  result.drive = static_cast<std::uint32_t>(count_of(object, "drive", most_drives));
  result.drives = static_cast<std::uint32_t>(count_of(object, "drives", most_drives));
  result.how = second_of(object, "layout", "stripe", "mirror") ? layout::mirror : layout::stripe;
  result.unit = count_of(object, "unit");
  result.block_size = static_cast<std::uint32_t>(count_of(object, "block_size", largest_page));
  result.drive_bytes = count_of(object, "drive_bytes");
  for (const json& replica : list_of(object, "failed")) {
    if (!replica.is_number_unsigned() || replica.get<std::uint64_t>() >= most_replicas)
      damaged("no such replica");
    result.failed |= std::uint64_t{1} << replica.get<std::uint64_t>();
  }
  for (const json& each : list_of(object, "datasets")) result.datasets.push_back(dataset_from(each));
  return result;
}

void check_text(const std::string& text, const std::string& what) {
  const bool plain = std::none_of(text.begin(), text.end(),
                                  [](char c) { return std::iscntrl(static_cast<unsigned char>(c)); });
  if (text.empty() || text.size() > longest_name || !plain)
    impossible(what + " must have 1 to " + std::to_string(longest_name) + " printable characters");
}

void check_shape(const manifest& content) {
  const std::uint32_t most = content.how == layout::mirror ? most_replicas : most_drives;
  if (content.drives == 0 || content.drives > most)
    impossible("a volume has 1 to " + std::to_string(most) + " drives");
  if (content.drive >= content.drives) impossible("no such drive of the volume");
  if (!is_power_of_two(content.unit) || content.unit < largest_page || content.unit > largest_unit)
    impossible("the unit must be a power of two from 64KiB to 1MiB");
  if (!is_power_of_two(content.block_size) || content.block_size < 512 || content.block_size > largest_page)
    impossible("the block size must be a power of two from 512 to 64KiB");
  if (content.drive_bytes == 0 || content.drive_bytes % content.unit != 0 ||
      content.drive_bytes > most_bytes / content.drives)
    impossible("no volume has so many bytes a drive");
  const std::uint64_t replicas =
      content.drives < 64 ? (std::uint64_t{1} << content.drives) - 1 : ~std::uint64_t{0};
  if (content.failed != 0 && (content.how == layout::stripe || (content.failed & replicas) == replicas ||
                              (content.failed & ~replicas) != 0))
    impossible("no such replicas can have failed");
}

using runs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

void check_seal(const dataset& each, const manifest& content, runs& taken) {
  const seal& of = *each.sealed;
  const std::string whose = "the seal of dataset '" + each.name + "'";
  if (each.state != dataset_state::complete || each.bytes == 0) impossible(whose + " seals no whole dataset");
  if (!is_power_of_two(of.unit) || of.unit < content.block_size || of.unit > largest_page)
    impossible(whose + " must have a unit that is a power of two from a block to 64KiB");
  const std::uint64_t end = content.shape().bytes();
  const std::uint64_t bytes = seal_shape(each.bytes, of.unit, content.block_size).bytes();
  if (of.first_byte % largest_page != 0 || of.first_byte > end || bytes > end - of.first_byte)
    impossible(whose + " lies outside the volume");
  taken.emplace_back(of.first_byte, of.first_byte + bytes);
}

void check_datasets(const manifest& content) {
  const std::uint64_t end = content.shape().bytes();
  runs taken;
  for (const dataset& each : content.datasets) {
    check_text(each.name, "a dataset's name");
    check_text(each.kind, "a dataset's kind");
    if (!json::accept(each.meta)) impossible("the metadata of dataset '" + each.name + "' are not JSON");
    if (each.first_byte % largest_page != 0 || each.first_byte > end || each.bytes > end - each.first_byte)
      impossible("dataset '" + each.name + "' lies outside the volume");
    if (each.bytes != 0) taken.emplace_back(each.first_byte, each.first_byte + each.bytes);
    if (each.sealed) check_seal(each, content, taken);
  }
  std::sort(taken.begin(), taken.end());
  for (std::size_t i = 1; i < taken.size(); ++i)
    if (taken[i].first < taken[i - 1].second) impossible("two datasets or their seals overlap");
}

std::uint32_t checksum(envelope_header header, std::span<const std::byte> body) {
  header.crc = 0;
  return crc32c(body, crc32c(std::as_bytes(std::span(&header, 1))));
}

/// Errors: unavailable for a newer version, corrupt for a body that no volume can have.
manifest read_body(const envelope& whole) {
  if (whole.header.version > manifest_version)
    throw error(error_kind::unavailable,
                "the volume has format version " + std::to_string(whole.header.version) +
                    ", and this program knows versions up to " + std::to_string(manifest_version),
                "open it with a newer sluice");
  const char* text = reinterpret_cast<const char*>(whole.body.data());
  const json body = json::parse(text, text + whole.body.size(), nullptr, false);
  if (body.is_discarded()) damaged("its body is not JSON");
  manifest result = manifest_from(body);
  try {
    check(result);
  } catch (const error& e) {
    damaged(e.what());
  }
  return result;
}

}  // namespace

bool has_magic(std::span<const std::byte> slot) {
  return slot.size() >= sizeof(envelope_header) &&
         std::memcmp(slot.data(), envelope_magic.data(), envelope_magic.size()) == 0;
}

std::size_t stored_bytes(std::span<const std::byte> slot) {
  if (!has_magic(slot)) return 0;
  envelope_header header;
  std::memcpy(&header, slot.data(), sizeof header);
  return header.body_bytes <= manifest_slot_bytes - sizeof header ? sizeof header + header.body_bytes : 0;
}

std::optional<envelope> open_envelope(std::span<const std::byte> slot) {
  const std::size_t bytes = stored_bytes(slot);
  if (bytes == 0 || bytes > slot.size()) return std::nullopt;
  envelope result;
  std::memcpy(&result.header, slot.data(), sizeof result.header);
  result.body = slot.subspan(sizeof result.header, result.header.body_bytes);
  if (checksum(result.header, result.body) != result.header.crc) return std::nullopt;
  return result;
}

volume_shape manifest::shape() const {
  return {.how = how,
          .drives = drives,
          .block_size = block_size,
          .unit = unit,
          .data_start = manifest_area_bytes,
          .drive_bytes = drive_bytes,
          .failed = failed};
}

void check(const manifest& content) {
  const auto is_hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  if (content.uuid.size() != 32 || !std::all_of(content.uuid.begin(), content.uuid.end(), is_hex))
    impossible("a volume's uuid must have 32 hexadecimal digits");
  check_text(content.name, "a volume's name");
  check_shape(content);
  check_datasets(content);
}

std::vector<std::byte> encode(const manifest& content, std::uint64_t sequence) {
  std::string body;
  try {
    body = to_json(content).dump();
  } catch (const json::exception&) {
    impossible("names and metadata must be UTF-8 text");
  }
  if (body.size() > manifest_slot_bytes - sizeof(envelope_header))
    throw error(error_kind::bad_input, "the volume's manifest has no room for so many datasets and metadata",
                "remove datasets, or keep large metadata in a dataset of their own");
  const bool any_seal = std::any_of(content.datasets.begin(), content.datasets.end(),
                                    [](const dataset& each) { return each.sealed.has_value(); });
  envelope_header header;
  header.version = any_seal ? 2 : 1;
  header.sequence = sequence;
  header.body_bytes = static_cast<std::uint32_t>(body.size());
  header.crc = checksum(header, std::as_bytes(std::span(body)));
  std::vector<std::byte> bytes(sizeof header + body.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, body.data(), body.size());
  return bytes;
}

stored_manifest decode(std::span<const std::byte> slot) {
  if (!has_magic(slot)) damaged("it does not begin with its mark");
  const std::optional<envelope> whole = open_envelope(slot);
  if (!whole) damaged("its checksum does not fit");
  return {.content = read_body(*whole), .sequence = whole->header.sequence};
}

}  // namespace sluice::drive
