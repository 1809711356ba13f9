// The status codes of the specification, each as the 11 bits (code type, code) that a completion carries.
#pragma once

#include <array>

#include "sluice/base/status.h"

namespace sluice::nvme {

/// NVMe Base 2.0, section 4.6.1.2, and NVM Command Set 1.0, section 4.1.1: the names as given there.
/// sluice::describe() knows each by its name.
namespace code {
// Generic Command Status (Base 2.0, 4.6.1.2.1; from 80h NVM Command Set 1.0, 4.1.1.1).
inline constexpr status success = status::from_nvme(0x000);
inline constexpr status invalid_opcode = status::from_nvme(0x001);
inline constexpr status invalid_field = status::from_nvme(0x002);
inline constexpr status command_id_conflict = status::from_nvme(0x003);
inline constexpr status data_transfer_error = status::from_nvme(0x004);
inline constexpr status aborted_power_loss = status::from_nvme(0x005);
inline constexpr status internal_error = status::from_nvme(0x006);
inline constexpr status abort_requested = status::from_nvme(0x007);
inline constexpr status aborted_sq_deletion = status::from_nvme(0x008);
inline constexpr status aborted_failed_fused = status::from_nvme(0x009);
inline constexpr status aborted_missing_fused = status::from_nvme(0x00a);
inline constexpr status invalid_namespace = status::from_nvme(0x00b);
inline constexpr status command_sequence_error = status::from_nvme(0x00c);
inline constexpr status invalid_sgl_segment = status::from_nvme(0x00d);
inline constexpr status invalid_sgl_count = status::from_nvme(0x00e);
inline constexpr status data_sgl_length_invalid = status::from_nvme(0x00f);
inline constexpr status metadata_sgl_length_invalid = status::from_nvme(0x010);
inline constexpr status sgl_type_invalid = status::from_nvme(0x011);
inline constexpr status invalid_use_of_cmb = status::from_nvme(0x012);
inline constexpr status prp_offset_invalid = status::from_nvme(0x013);
inline constexpr status atomic_write_unit_exceeded = status::from_nvme(0x014);
inline constexpr status operation_denied = status::from_nvme(0x015);
inline constexpr status sgl_offset_invalid = status::from_nvme(0x016);
inline constexpr status host_identifier_inconsistent = status::from_nvme(0x018);
inline constexpr status keep_alive_expired = status::from_nvme(0x019);
inline constexpr status keep_alive_invalid = status::from_nvme(0x01a);
inline constexpr status aborted_preempt = status::from_nvme(0x01b);
inline constexpr status sanitize_failed = status::from_nvme(0x01c);
inline constexpr status sanitize_in_progress = status::from_nvme(0x01d);
inline constexpr status sgl_granularity_invalid = status::from_nvme(0x01e);
inline constexpr status not_supported_in_cmb = status::from_nvme(0x01f);
inline constexpr status write_protected = status::from_nvme(0x020);
inline constexpr status command_interrupted = status::from_nvme(0x021);
inline constexpr status transient_transport_error = status::from_nvme(0x022);
inline constexpr status prohibited_by_lockdown = status::from_nvme(0x023);
inline constexpr status media_not_ready = status::from_nvme(0x024);
inline constexpr status lba_out_of_range = status::from_nvme(0x080);
inline constexpr status capacity_exceeded = status::from_nvme(0x081);
inline constexpr status namespace_not_ready = status::from_nvme(0x082);
inline constexpr status reservation_conflict = status::from_nvme(0x083);
inline constexpr status format_in_progress = status::from_nvme(0x084);
inline constexpr status invalid_value_size = status::from_nvme(0x085);
inline constexpr status invalid_key_size = status::from_nvme(0x086);
inline constexpr status key_does_not_exist = status::from_nvme(0x087);
inline constexpr status unrecovered_error = status::from_nvme(0x088);
inline constexpr status key_exists = status::from_nvme(0x089);

// Command Specific Status (Base 2.0, 4.6.1.2.2; from 80h NVM Command Set 1.0, 4.1.1.2).
inline constexpr status completion_queue_invalid = status::from_nvme(0x100);
inline constexpr status invalid_queue_id = status::from_nvme(0x101);
inline constexpr status invalid_queue_size = status::from_nvme(0x102);
inline constexpr status abort_limit_exceeded = status::from_nvme(0x103);
inline constexpr status async_event_limit_exceeded = status::from_nvme(0x105);
inline constexpr status invalid_firmware_slot = status::from_nvme(0x106);
inline constexpr status invalid_firmware_image = status::from_nvme(0x107);
inline constexpr status invalid_interrupt_vector = status::from_nvme(0x108);
inline constexpr status invalid_log_page = status::from_nvme(0x109);
inline constexpr status invalid_format = status::from_nvme(0x10a);
inline constexpr status firmware_needs_conventional_reset = status::from_nvme(0x10b);
inline constexpr status invalid_queue_deletion = status::from_nvme(0x10c);
inline constexpr status feature_not_saveable = status::from_nvme(0x10d);
inline constexpr status feature_not_changeable = status::from_nvme(0x10e);
inline constexpr status feature_not_namespace_specific = status::from_nvme(0x10f);
inline constexpr status firmware_needs_subsystem_reset = status::from_nvme(0x110);
inline constexpr status firmware_needs_controller_reset = status::from_nvme(0x111);
inline constexpr status firmware_needs_time = status::from_nvme(0x112);
inline constexpr status firmware_prohibited = status::from_nvme(0x113);
inline constexpr status overlapping_range = status::from_nvme(0x114);
inline constexpr status namespace_insufficient_capacity = status::from_nvme(0x115);
inline constexpr status namespace_id_unavailable = status::from_nvme(0x116);
inline constexpr status namespace_already_attached = status::from_nvme(0x118);
inline constexpr status namespace_is_private = status::from_nvme(0x119);
inline constexpr status namespace_not_attached = status::from_nvme(0x11a);
inline constexpr status thin_provisioning_not_supported = status::from_nvme(0x11b);
inline constexpr status controller_list_invalid = status::from_nvme(0x11c);
inline constexpr status self_test_in_progress = status::from_nvme(0x11d);
inline constexpr status boot_partition_write_prohibited = status::from_nvme(0x11e);
inline constexpr status invalid_controller_id = status::from_nvme(0x11f);
inline constexpr status invalid_secondary_controller_state = status::from_nvme(0x120);
inline constexpr status invalid_controller_resources = status::from_nvme(0x121);
inline constexpr status invalid_resource_id = status::from_nvme(0x122);
inline constexpr status sanitize_prohibited_pmr = status::from_nvme(0x123);
inline constexpr status ana_group_invalid = status::from_nvme(0x124);
inline constexpr status ana_attach_failed = status::from_nvme(0x125);
inline constexpr status insufficient_capacity = status::from_nvme(0x126);
inline constexpr status namespace_attachment_limit = status::from_nvme(0x127);
inline constexpr status prohibition_not_supported = status::from_nvme(0x128);
inline constexpr status command_set_not_supported = status::from_nvme(0x129);
inline constexpr status command_set_not_enabled = status::from_nvme(0x12a);
inline constexpr status command_set_combination_rejected = status::from_nvme(0x12b);
inline constexpr status invalid_command_set = status::from_nvme(0x12c);
inline constexpr status identifier_unavailable = status::from_nvme(0x12d);
inline constexpr status conflicting_attributes = status::from_nvme(0x180);
inline constexpr status invalid_protection_information = status::from_nvme(0x181);
inline constexpr status write_to_read_only_range = status::from_nvme(0x182);
inline constexpr status command_size_limit = status::from_nvme(0x183);
inline constexpr status zone_boundary_error = status::from_nvme(0x1b8);
inline constexpr status zone_is_full = status::from_nvme(0x1b9);
inline constexpr status zone_is_read_only = status::from_nvme(0x1ba);
inline constexpr status zone_is_offline = status::from_nvme(0x1bb);
inline constexpr status zone_invalid_write = status::from_nvme(0x1bc);
inline constexpr status too_many_active_zones = status::from_nvme(0x1bd);
inline constexpr status too_many_open_zones = status::from_nvme(0x1be);
inline constexpr status invalid_zone_transition = status::from_nvme(0x1bf);

// Media and Data Integrity Errors (Base 2.0, 4.6.1.2.3).
inline constexpr status write_fault = status::from_nvme(0x280);
inline constexpr status unrecovered_read_error = status::from_nvme(0x281);
inline constexpr status guard_check_error = status::from_nvme(0x282);
inline constexpr status application_tag_check_error = status::from_nvme(0x283);
inline constexpr status reference_tag_check_error = status::from_nvme(0x284);
inline constexpr status compare_failure = status::from_nvme(0x285);
inline constexpr status access_denied = status::from_nvme(0x286);
inline constexpr status deallocated_block = status::from_nvme(0x287);
inline constexpr status storage_tag_check_error = status::from_nvme(0x288);

// Path Related Status (Base 2.0, 4.6.1.2.4).
inline constexpr status internal_path_error = status::from_nvme(0x300);
inline constexpr status asymmetric_access_loss = status::from_nvme(0x301);
inline constexpr status asymmetric_access_inaccessible = status::from_nvme(0x302);
inline constexpr status asymmetric_access_transition = status::from_nvme(0x303);
inline constexpr status controller_pathing_error = status::from_nvme(0x360);
inline constexpr status host_pathing_error = status::from_nvme(0x370);
inline constexpr status aborted_by_host = status::from_nvme(0x371);

}  // namespace code

/// `why`, with Do Not Retry set: the same command would fail again.
constexpr status do_not_retry(status why) { return status::from_nvme(why.bits() | 0x4000U); }

/// Every code above except success.
inline constexpr std::array status_codes{
    code::invalid_opcode,
    code::invalid_field,
    code::command_id_conflict,
    code::data_transfer_error,
    code::aborted_power_loss,
    code::internal_error,
    code::abort_requested,
    code::aborted_sq_deletion,
    code::aborted_failed_fused,
    code::aborted_missing_fused,
    code::invalid_namespace,
    code::command_sequence_error,
    code::invalid_sgl_segment,
    code::invalid_sgl_count,
    code::data_sgl_length_invalid,
    code::metadata_sgl_length_invalid,
    code::sgl_type_invalid,
    code::invalid_use_of_cmb,
    code::prp_offset_invalid,
    code::atomic_write_unit_exceeded,
    code::operation_denied,
    code::sgl_offset_invalid,
    code::host_identifier_inconsistent,
    code::keep_alive_expired,
    code::keep_alive_invalid,
    code::aborted_preempt,
    code::sanitize_failed,
    code::sanitize_in_progress,
    code::sgl_granularity_invalid,
    code::not_supported_in_cmb,
    code::write_protected,
    code::command_interrupted,
    code::transient_transport_error,
    code::prohibited_by_lockdown,
    code::media_not_ready,
    code::lba_out_of_range,
    code::capacity_exceeded,
    code::namespace_not_ready,
    code::reservation_conflict,
    code::format_in_progress,
    code::invalid_value_size,
    code::invalid_key_size,
    code::key_does_not_exist,
    code::unrecovered_error,
    code::key_exists,
    code::completion_queue_invalid,
    code::invalid_queue_id,
    code::invalid_queue_size,
    code::abort_limit_exceeded,
    code::async_event_limit_exceeded,
    code::invalid_firmware_slot,
    code::invalid_firmware_image,
    code::invalid_interrupt_vector,
    code::invalid_log_page,
    code::invalid_format,
    code::firmware_needs_conventional_reset,
    code::invalid_queue_deletion,
    code::feature_not_saveable,
    code::feature_not_changeable,
    code::feature_not_namespace_specific,
    code::firmware_needs_subsystem_reset,
    code::firmware_needs_controller_reset,
    code::firmware_needs_time,
    code::firmware_prohibited,
    code::overlapping_range,
    code::namespace_insufficient_capacity,
    code::namespace_id_unavailable,
    code::namespace_already_attached,
    code::namespace_is_private,
    code::namespace_not_attached,
    code::thin_provisioning_not_supported,
    code::controller_list_invalid,
    code::self_test_in_progress,
    code::boot_partition_write_prohibited,
    code::invalid_controller_id,
    code::invalid_secondary_controller_state,
    code::invalid_controller_resources,
    code::invalid_resource_id,
    code::sanitize_prohibited_pmr,
    code::ana_group_invalid,
    code::ana_attach_failed,
    code::insufficient_capacity,
    code::namespace_attachment_limit,
    code::prohibition_not_supported,
    code::command_set_not_supported,
    code::command_set_not_enabled,
    code::command_set_combination_rejected,
    code::invalid_command_set,
    code::identifier_unavailable,
    code::conflicting_attributes,
    code::invalid_protection_information,
    code::write_to_read_only_range,
    code::command_size_limit,
    code::zone_boundary_error,
    code::zone_is_full,
    code::zone_is_read_only,
    code::zone_is_offline,
    code::zone_invalid_write,
    code::too_many_active_zones,
    code::too_many_open_zones,
    code::invalid_zone_transition,
    code::write_fault,
    code::unrecovered_read_error,
    code::guard_check_error,
    code::application_tag_check_error,
    code::reference_tag_check_error,
    code::compare_failure,
    code::access_denied,
    code::deallocated_block,
    code::storage_tag_check_error,
    code::internal_path_error,
    code::asymmetric_access_loss,
    code::asymmetric_access_inaccessible,
    code::asymmetric_access_transition,
    code::controller_pathing_error,
    code::host_pathing_error,
    code::aborted_by_host,
};

}  // namespace sluice::nvme
