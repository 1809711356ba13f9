#include "tests/model/cache_model.h"

#include <gtest/gtest.h>

#include <iterator>

namespace sluice::model {
namespace {

/// A run that holds is also searched for work that goes in circles.
report check(const cache_setup& setup, cache_fault fault = cache_fault::none) {
  const cache_model model(setup, fault);
  explorer<cache_model> search(model);
  report found = search.run();
  if (!found.holds()) return found;
  const std::size_t ends = found.ends;
  found = search.find_livelock(
      [&](const cache_state& a, const cache_state& b) { return model.nobody_advances(a, b); });
  found.ends = ends;
  return found;
}

access read(int page) { return {act::read, static_cast<std::uint8_t>(page)}; }
access write(int page) { return {act::write, static_cast<std::uint8_t>(page)}; }
access hold(int page) { return {act::hold, static_cast<std::uint8_t>(page)}; }
access keep(int page) { return {act::keep, static_cast<std::uint8_t>(page)}; }
const access release{act::release};
const access flush{act::flush};
const access consume{act::consume};

cache_setup lanes(std::vector<program> programs) {
  cache_setup setup;
  setup.lanes = std::move(programs);
  return setup;
}
cache_setup with_clean_ahead(cache_setup setup) {
  setup.clean_ahead = true;
  return setup;
}
cache_setup with_io_errors(cache_setup setup) {
  setup.io_errors = 1;
  return setup;
}
cache_setup with_unwritable(int page, cache_setup setup) {
  setup.unwritable = page;
  return setup;
}
cache_setup with_lost_read(cache_setup setup) {
  setup.lost_reads = 1;
  return setup;
}
cache_setup with_lost_write(cache_setup setup) {
  setup.lost_writes = 1;
  return setup;
}
cache_setup staged(cache_setup setup) {
  setup.staged = true;
  return setup;
}

cache_setup same_page() { return lanes({{read(1)}, {read(1)}}); }
cache_setup mixed() { return lanes({{write(1), read(2)}, {write(2), read(1)}}); }
cache_setup evictions() { return lanes({{write(1), write(1)}, {read(2), read(3)}}); }
cache_setup three_lanes() { return lanes({{read(1), write(2)}, {read(3), read(1)}, {write(1)}}); }
cache_setup two_writers() { return with_clean_ahead(lanes({{write(1)}, {write(1)}, {read(2)}})); }
cache_setup span_misses() { return lanes({{hold(1), read(3), release}, {hold(2), read(3), release}}); }
cache_setup span_hits() {
  return lanes({{read(1), hold(1), read(3), release}, {read(2), hold(2), read(3), release}});
}
cache_setup span_and_writes() { return lanes({{hold(1), write(2), read(3), release}, {write(3), read(2)}}); }
cache_setup span_and_failing_write() {
  return with_unwritable(3, lanes({{hold(1), read(2), release}, {write(3)}}));
}
cache_setup flushes() { return with_clean_ahead(lanes({{write(1), flush}, {write(1), read(2)}})); }
cache_setup lost_reads() { return with_lost_read(lanes({{read(1), read(2), read(3)}, {read(3)}})); }
cache_setup lost_writes() {
  return with_lost_write(with_clean_ahead(lanes({{write(1), write(1)}, {read(2)}})));
}
cache_setup teams() { return lanes({{read(1), read(3)}, {read(2), read(3)}}); }
cache_setup greedy_teams() { return lanes({{keep(1), read(3), consume}, {keep(2), read(3), consume}}); }
cache_setup everything() {
  return with_io_errors(with_lost_write(with_lost_read(with_clean_ahead(mixed()))));
}

struct sound_case {
  const char* name;
  cache_setup (*setup)();
};
class sound_cache : public testing::TestWithParam<sound_case> {};

TEST_P(sound_cache, ends_every_access_whatever_is_scheduled) {
  const report found = check(GetParam().setup());
  EXPECT_TRUE(found.holds()) << found.text();
  EXPECT_GT(found.ends, 0U);
}

constexpr sound_case sound_cases[] = {
    {"same_page", same_page},
    {"mixed", mixed},
    {"evictions", evictions},
    {"three_lanes", three_lanes},
    {"two_writers", two_writers},
    {"span_misses", span_misses},
    {"span_hits", span_hits},
    {"span_and_writes", span_and_writes},
    {"span_and_failing_write", span_and_failing_write},
    {"flush_with_an_error", [] { return with_io_errors(flushes()); }},
    {"flush_of_an_unwritable_page", [] { return with_unwritable(1, flushes()); }},
    {"lost_reads", lost_reads},
    {"lost_writes", lost_writes},
    {"lost_writes_staged", [] { return staged(lost_writes()); }},
    {"flush_with_a_lost_write", [] { return with_lost_write(flushes()); }},
    {"teams", teams},
    {"everything", everything},
};

INSTANTIATE_TEST_SUITE_P(design_section_5, sound_cache, testing::ValuesIn(sound_cases),
                         [](const auto& info) { return info.param.name; });

struct fault_case {
  const char* name;
  cache_fault fault;
  outcome what;
  cache_setup (*setup)();
};
class faulty_cache : public testing::TestWithParam<fault_case> {};

TEST_P(faulty_cache, is_caught) {
  const report found = check(GetParam().setup(), GetParam().fault);
  EXPECT_EQ(found.what, GetParam().what) << found.text();
}

#define SLUICE_FAULT(name, what, ...) \
  { #name, cache_fault::name, outcome::what, __VA_ARGS__ }
constexpr fault_case fault_cases[] = {
    SLUICE_FAULT(no_set_lock, violation, same_page),
    SLUICE_FAULT(pins_any_version, violation, two_writers),
    SLUICE_FAULT(keeps_the_version, violation, two_writers),
    SLUICE_FAULT(reads_without_looking_back, violation, three_lanes),
    SLUICE_FAULT(evicts_pinned, violation, evictions),
    SLUICE_FAULT(evicts_dirty, violation, mixed),
    SLUICE_FAULT(dirties_after_the_store, violation, mixed),
    SLUICE_FAULT(writes_while_writing, violation, two_writers),
    SLUICE_FAULT(cleans_pinned, violation, two_writers),
    SLUICE_FAULT(checks_spans_then_pins, stuck, span_hits),
    SLUICE_FAULT(span_loader_has_no_pin, livelock, span_misses),
    SLUICE_FAULT(loader_has_no_pin, livelock,
                 [] {
                   return lanes({{hold(1), read(3), release}, {read(2)}});
                 }),
    SLUICE_FAULT(retries_writes_for_ever, stuck, span_and_failing_write),
    SLUICE_FAULT(old_error_is_a_hit, violation, [] { return with_io_errors(same_page()); }),
    SLUICE_FAULT(flush_passes_writing, violation, flushes),
    SLUICE_FAULT(fails_reads_at_once, violation, lost_reads),
    SLUICE_FAULT(fails_writes_at_once, violation, [] { return staged(lost_writes()); }),
    SLUICE_FAULT(submits_after_both_claims, stuck, greedy_teams),
    SLUICE_FAULT(keeps_two_frames, stuck, greedy_teams),
};
#undef SLUICE_FAULT

INSTANTIATE_TEST_SUITE_P(planted, faulty_cache, testing::ValuesIn(fault_cases),
                         [](const auto& info) { return info.param.name; });

TEST(cache_model, plants_every_fault_that_it_knows) {
  EXPECT_EQ(std::size(fault_cases), static_cast<std::size_t>(cache_fault::keeps_two_frames));
}

TEST(cache_model, shows_how_a_lost_write_hits_another_page_on_the_peer_path) {
  const report found = check(lost_writes(), cache_fault::fails_writes_at_once);
  EXPECT_EQ(found.what, outcome::violation) << found.text();
}

}  // namespace
}  // namespace sluice::model
