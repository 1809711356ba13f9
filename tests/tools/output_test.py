"""What the tool prints: for programs the keys of design section 9, for people help with an example."""

import csv
import json
import unittest

from tool import ToolTest

BENCH_KEYS = {
    "iops", "bytes_per_s", "seconds", "commands_issued", "commands_served", "verified", "latency_us", "bare",
    "ratio_to_bare", "comparators",
}
AROUND_KEYS = {"config", "machine", "version"}
PLAN_KEYS = {
    "drive_model", "queue_depth", "drives", "in_flight_per_drive", "queues", "depth", "lanes", "limit", "limits", "accesses_per_s",
    "bytes_per_s", "drive_accesses_per_s", "latency_us", "cost_per_gb", "dram_cost_per_gb", "gain", "source",
}
MIB = 1 << 20


class Output(ToolTest):
    def check_bench(self, result):
        self.assertLessEqual(BENCH_KEYS, set(result))
        self.assertIs(result["verified"], True)
        self.assertLessEqual({"p50", "p99", "p999", "max"}, set(result["latency_us"]))
        latency = result["latency_us"]
        self.assertLessEqual(latency["p50"], latency["p99"])
        self.assertLessEqual(latency["p99"], latency["p999"])
        self.assertLessEqual(latency["p999"], latency["max"] * 1.04, "the middle of a bucket of three per cent")
        if "steady" in result:
            self.assertEqual(set(result["steady"]), {"reached", "from_s", "range", "slope"})
        self.assertEqual(set(result["bare"]), {"iops", "bytes_per_s"})
        self.assertEqual(result["commands_issued"], result["commands_served"] + result["dropped"])
        self.assertAlmostEqual(result["ratio_to_bare"], result["iops"] / result["bare"]["iops"])
        self.assertGreater(result["iops"], 0)

    def test_doctor_says_of_each_check_how_it_is_and_how_to_mend_it(self):
        checks = self.result("doctor")["checks"]
        for check in checks:
            self.assertEqual(set(check), {"name", "status", "detail", "mend"})
            self.assertIn(check["status"], ("ok", "warn", "missing"))
            self.assertEqual(check["status"] == "ok", check["mend"] == "", check)
        self.assertLessEqual(
            {"cores", "g++", "clang++", "cuda-toolkit", "libcu++", "gpu", "gpu-driver", "io_uring", "o_direct",
             "hugepages", "memlock", "iommu", "vfio", "nvme"},
            {check["name"] for check in checks})
        self.assertEqual(list(self.folder.iterdir()), [], "what it tried must leave nothing")

    def test_drives_list_says_what_each_drive_says_of_itself(self):
        self.write("disk", bytes(2 * MIB))
        memory, file = self.result("drives", "list", "mem:64MiB?block=4096&depth=64", "file:disk")["drives"]
        for drive in (memory, file):
            self.assertEqual(set(drive), {"uri", "model", "serial", "block_size", "blocks", "queues", "depth", "mdts"})
        self.assertEqual((memory["block_size"], memory["blocks"], memory["depth"]), (4096, 64 * MIB // 4096, 64))
        self.assertEqual(file["blocks"] * file["block_size"], 2 * MIB)

    def test_import_stripes_a_file_over_drives_and_the_cache_reads_it_back(self):
        data = bytes(range(256)) * 2048
        self.write("numbers.bin", data)
        drives = ("--to", "file:a", "--to", "file:b")
        made = self.result("import", "numbers.bin", "--format", "raw", *drives)
        self.assertEqual([(d["name"], d["kind"], d["bytes"]) for d in made["datasets"]], [("numbers", "raw", len(data))])
        a, b = ((self.folder / name).read_bytes()[MIB:] for name in "ab")
        unit = 64 << 10
        striped = b"".join(a[at:at + unit] + b[at:at + unit] for at in range(0, len(data) // 2, unit))
        self.assertEqual(striped, data)
        self.check_bench(self.result("bench", "cache", "--backend", "cpu", "--drive", "file:b", "--drive", "file:a",
                                     "--dataset", "numbers", "--accesses", "4096"))

    def test_import_adds_datasets_and_replaces_those_of_the_same_name(self):
        self.write("one.bin", b"1" * 1000)
        self.write("two.bin", b"2" * 70000)
        self.result("import", "one.bin", "two.bin", "--to", "file:disk")
        self.write("one.bin", b"3" * 1000)
        self.result("import", "one.bin", "--to", "file:disk")
        self.assertIn("it holds: two, one", self.error_line(2, "bench", "cache", "--drive", "file:disk", "--dataset", "x"))
        self.assertIn(b"3" * 1000, (self.folder / "disk").read_bytes())

    def sweep_io(self, *words):
        return self.result("bench", "io", "--backend", "cpu", "--cpu-threads", "1", "--drive", "mem:2MiB?mdts=16384", "--seconds", "0.02",
                           *words)

    def test_bench_io_prints_a_row_for_each_point(self):
        result = self.sweep_io("--sweep", "pattern,mix")
        self.assertLessEqual(AROUND_KEYS, set(result))
        self.check_bench(result)
        self.assertIn("1 thread", str(result["machine"]))
        points = {(row["pattern"], row["mix"]) for row in result["rows"]}
        self.assertEqual(len(points), 4 * 3)
        fastest = max(result["rows"], key=lambda row: row["iops"])
        self.assertEqual([result["config"][axis] for axis in ("pattern", "mix")], [fastest[axis] for axis in ("pattern", "mix")])
        for row in result["rows"]:
            self.check_bench(row)

    def test_a_sweep_over_blocks_keeps_to_what_the_drive_moves_at_once(self):
        result = self.sweep_io("--sweep", "block")
        self.assertEqual([row["block"] for row in result["rows"]], [512, 4096, 16384])

    def test_a_sweep_takes_the_values_it_is_told(self):
        result = self.result("bench", "io", "--backend", "cpu", "--drive", "mem:1MiB", "--drive", "mem:1MiB", "--drive", "mem:1MiB",
                             "--seconds", "0.02", "--sweep", "drives=1..3+1,block=512..2KiB", "--sweep", "depth=8,32", "--sweep", "mix=0.25")
        points = [(row["drives"], row["block"], row["depth"], row["mix"]) for row in result["rows"]]
        self.assertEqual(points, [(n, block, depth, 0.25) for n in (1, 2, 3) for block in (512, 1024, 2048) for depth in (8, 32)])
        for row in result["rows"]:
            self.assertEqual(row["config"]["drives"], ["mem:1MiB"] * row["drives"])
            self.check_bench(row)

    def test_rows_go_into_a_csv_file_too(self):
        for bench in (("io", "--sweep", "queues=1,2"), ("io",), ("cache", "--sweep", "page=512,4096")):
            result = self.result("bench", *bench, "--backend", "cpu", "--drive", "mem:1MiB", "--seconds", "0.02", "--csv", "rows.csv")
            with open(self.folder / "rows.csv", newline="") as file:
                self.assertNotIn('"', file.readline(), "names need no quotes")
                file.seek(0)
                lines = list(csv.DictReader(file))
            rows = result.get("rows", [result])
            self.assertEqual(len(lines), len(rows))
            for line, row in zip(lines, rows):
                self.assertEqual(float(line["iops"]), row["iops"])
                self.assertEqual(float(line["latency_us.p99"]), row["latency_us"]["p99"])
            self.assertEqual([path.name for path in self.folder.iterdir()], ["rows.csv"], "nothing but the file is left")

    def test_a_sweep_is_drawn_too(self):
        for bench in (("io", "--sweep", "depth=16,32", "--seconds", "0.02"), ("cache", "--sweep", "mode", "--accesses", "2048")):
            self.result("bench", *bench, "--backend", "cpu", "--drive", "mem:1MiB", "--plot", "rows.html")
            page = (self.folder / "rows.html").read_text()
            self.assertTrue(page.startswith("<!DOCTYPE html>"), page[:100])
            self.assertIn("<svg", page)
            self.assertIn("bench " + bench[0], page)

    def test_a_run_that_fails_leaves_its_files_as_they_were(self):
        self.write("rows.csv", b"of yesterday")
        self.write("rows.html", b"of yesterday")
        for bench in ("io", "cache"):
            self.error(1, "bench", bench, "--backend", "cpu", "--drive", "mem:1MiB?error_lba=0-2047", "--seconds", "0.02", "--csv", "rows.csv", "--plot", "rows.html")
        self.assertEqual({path.name: path.read_bytes() for path in self.folder.iterdir()},
                         {"rows.csv": b"of yesterday", "rows.html": b"of yesterday"})

    def test_bench_io_goes_through_the_shallowest_and_the_deepest_queues(self):
        for depth in (2, 32768):
            result = self.result("bench", "io", "--backend", "cpu", "--drive", "mem:8MiB?depth=32768", "--depth", str(depth),
                                 "--queues", "1", "--seconds", "0.2")
            self.check_bench(result)
            self.assertEqual(result["config"]["depth"], depth)

    def test_bench_io_writes_to_a_blank_drive(self):
        self.write("blank", bytes(MIB))
        self.check_bench(self.result("bench", "io", "--backend", "cpu", "--drive", "file:blank", "--mix", "0.5", "--seconds", "0.05"))
        self.assertNotEqual((self.folder / "blank").read_bytes(), bytes(MIB))

    def test_bench_cache_prints_a_row_for_each_point(self):
        result = self.result("bench", "cache", "--backend", "cpu", "--drive", "mem:8MiB", "--cache", "1MiB", "--accesses", "4096",
                             "--sweep", "mode", "--sweep", "pattern")
        self.assertLessEqual(AROUND_KEYS, set(result))
        self.check_bench(result)
        points = {(row["mode"], row["pattern"]) for row in result["rows"]}
        self.assertEqual(len(points), 9)
        for row in result["rows"]:
            self.check_bench(row)
            self.assertEqual(set(row["io"]), {"commands_issued", "commands_served", "dropped", "bytes_needed",
                                              "bytes_moved", "amplification", "hit_rate"})
            self.assertGreaterEqual(row["accesses"], 4096)
            self.assertEqual(row["io"]["bytes_needed"], 8 * row["accesses"])
        self.assertEqual({row["hit_rate"] for row in result["rows"] if row["mode"] == "none"}, {0})

    def test_bench_cache_makes_whole_passes(self):
        for state, element in (("cold", "4"), ("hot", "8")):
            result = self.result("bench", "cache", "--backend", "cpu", "--drive", "mem:256KiB", "--cache", "64KiB", "--state", state, "--element", element,
                                 "--accesses", "512", "--sweep", "access=load,store,pages,loop,walk,span,gather")
            self.assertEqual([row["access"] for row in result["rows"]], ["load", "store", "pages", "loop", "walk", "span", "gather"])
            for row in result["rows"]:
                self.check_bench(row)
                self.assertGreater(row["bare"]["iops"], 0)
                self.assertLess(row["hit_rate"], 1)
                self.assertGreaterEqual(row["bytes_per_s"], row["iops"] * int(element))

    def test_bench_cache_finds_all_pages_resident_that_were_there_before(self):
        result = self.result("bench", "cache", "--backend", "cpu", "--drive", "mem:256KiB", "--cache", "1MiB", "--state", "hot", "--accesses", "512",
                             "--sweep", "access=load,pages,loop,walk,span,gather", "--sweep", "element", "--row", "48")
        self.assertEqual({row["hit_rate"] for row in result["rows"]}, {1})
        self.assertEqual({row["commands_issued"] for row in result["rows"]}, {64})

    def test_bench_cache_brings_pages_from_a_second_tier(self):
        result = self.result("bench", "cache", "--backend", "cpu", "--drive", "mem:1MiB", "--cache", "128KiB", "--accesses", "8192", "--mix", "0.25",
                             "--sweep", "tier=0,1MiB", "--sweep", "tier_kind")
        self.check_bench(result)
        for row in result["rows"]:
            self.check_bench(row)
            self.assertEqual(row["tier_loads"] > 0, row["tier"] > 0)
            self.assertGreater(row["writes"], 0)
        without, tiered = ([row["commands_issued"] for row in result["rows"] if (row["tier"] > 0) == on] for on in (False, True))
        self.assertLess(max(tiered), min(without))

    def test_bench_cache_overlaps_reads_with_computing(self):
        result = self.result("bench", "cache", "--backend", "cpu", "--drive", "mem:1MiB", "--cache", "2MiB", "--access", "overlap", "--threads", "32")
        self.check_bench(result)
        self.assertEqual((result["rows"][0]["accesses"], result["commands_issued"]), (256, 256))
        self.assertGreater(result["ratio_to_bare"], 0)

    def test_bench_cache_loses_no_write_under_any_policy(self):
        result = self.result("bench", "cache", "--backend", "cpu", "--drive", "mem:4MiB", "--drive", "mem:4MiB", "--cache", "512KiB",
                             "--mix", "0.5", "--accesses", "8192", "--sweep", "policy")
        self.assertEqual([row["policy"] for row in result["rows"]], ["clock", "fifo", "random", "s3fifo"])
        for row in result["rows"]:
            self.check_bench(row)
            self.assertGreater(row["writes"], 0)

    def test_bench_io_prints_the_keys_of_a_bench(self):
        result = self.result("bench", "io", "--backend", "cpu", "--drive", "mem:8MiB", "--seconds", "0.05")
        self.check_bench(result)
        self.assertLessEqual(AROUND_KEYS, set(result))
        self.assertGreater(result["latency_us"]["alone"], 0)

    def check_emulated(self, drive, *options):
        result = self.result("bench", "io", "--backend", "cpu", "--drive", drive, "--seconds", "0.1", "--span", "4MiB", *options)
        self.check_bench(result)
        return result

    def test_bench_io_drives_emulated_drives(self):
        self.check_emulated("emu:ideal?size=4MiB", "--mix", "0.3", "--block", "4KiB")
        self.check_emulated("emu:ideal?size=4MiB&region=256KiB", "--mix", "0.3", "--a-lane", "4", "--queues", "3")
        several = self.check_emulated("emu:pm1735?size=4MiB&jitter_us=20&count=3")
        self.assertEqual(len(several["config"]["drives"]), 3)
        slow = self.check_emulated("emu:p5800x?size=4MiB&latency_us=5000&write_iops_512=100000")
        self.assertGreaterEqual(slow["latency_us"]["alone"], 5000)

    def test_what_is_measured_is_the_steady_part(self):
        for _ in range(5):
            result = self.result("bench", "io", "--backend", "cpu", "--drive", "mem:1MiB", "--seconds", "0.5")
            self.check_bench(result)
            self.assertLessEqual(result["iops"] * result["seconds"], result["commands_issued"] + 1)
            steady = result["steady"]
            if steady["reached"]:
                self.assertLessEqual(abs(steady["slope"]), 0.1)
                self.assertLessEqual(steady["from_s"], 0.26, "at least half of the time")
                self.assertAlmostEqual(steady["from_s"] + result["seconds"], 0.5, delta=0.02)
                return
            self.assertGreaterEqual(result["seconds"], 0.5)

    def test_the_path_may_be_chosen(self):
        rows = self.sweep_io("--sweep", "path")["rows"]
        self.assertEqual([row["path"] for row in rows], ["peer", "staged"])
        for row in rows:
            self.check_bench(row)
        self.assertEqual(self.sweep_io("--path", "staged", "--mix", "0.5")["config"]["path"], "staged")

    def test_few_lanes_of_a_warp_are_told(self):
        self.assertEqual(self.sweep_io("--a-warp", "8")["config"]["a_warp"], 8)

    def test_lanes_may_have_several_commands_in_flight(self):
        for drive in ("mem:4MiB", "emu:ideal?size=4MiB"):
            result = self.check_emulated(drive, "--a-lane", "8", "--mix", "0.5")
            self.assertEqual(result["config"]["a_lane"], 8)

    def test_bfs_runs_on_a_copy_on_emulated_drives(self):
        self.write("edges.txt", b"".join(b"%d %d\n" % (n, (n * 7 + 1) % 5000) for n in range(5000)))
        self.result("graph", "import", "edges.txt", "--to", "file:g.img")
        found = self.result("graph", "bfs", "--backend", "cpu", "--graph", "file:g.img", "--onto", "emu:ideal?size=64MiB", "--verify")
        self.assertIs(found["verified"], True)

    def test_plan_is_kept_or_not_by_emulated_drives(self):
        planned = self.result("plan", "--accesses", "2000", "--drive-model", "980pro", "--latency-us", "20000", "--verify",
                              "--seconds", "0.5", "--backend", "cpu")
        verified = planned["verified"]
        self.assertAlmostEqual(verified["ratio"], verified["measured"] / 2000)
        self.assertGreater(verified["ratio"], 0.3)
        self.assertEqual(verified["commands_issued"], verified["commands_served"])

    def check_plan(self, result):
        self.assertLessEqual(PLAN_KEYS, set(result))
        self.assertEqual(set(result["limits"]), {"link", "drive", "queue_depth", "sms"})
        self.assertEqual(result["limits"][result["limit"]], min(result["limits"].values()))
        self.assertGreaterEqual(result["in_flight_per_drive"] * result["drives"], result["queue_depth"])
        self.assertGreater(result["lanes"], result["queue_depth"])

    def test_plan_has_the_arithmetic_of_the_paper(self):
        for latency, depth in ((11, 561), (324, 16524)):
            self.assertEqual(self.result("plan", "--accesses", "51e6", "--latency-us", str(latency))["queue_depth"], depth)
        for model, gain in (("pm1735", 4.3), ("980pro", 21.8)):
            planned = self.result("plan", "--accesses", "51M", "--drive-model", model)
            self.check_plan(planned)
            self.assertEqual(round(planned["gain"], 1), gain)
            self.assertEqual(round(planned["accesses_per_s"]), 51_000_000)

    def test_plan_compares_all_models_where_none_is_named(self):
        planned = self.result("plan", "--saturate", "26", "--block", "4KiB")
        self.assertLessEqual({"config", "version", "rows"}, set(planned))
        self.assertEqual({row["drive_model"] for row in planned["rows"]}, {"p5800x", "pm1735", "980pro", "pm1753", "storage-next"})
        for row in (planned, *planned["rows"]):
            self.check_plan(row)
            self.assertEqual(row["limit"], "link")
            self.assertAlmostEqual(row["bytes_per_s"], 26e9)
        self.assertEqual(planned["drive_model"], "980pro", "the cheapest a GB of those that reach the most")

    def test_plan_says_in_words_what_limits_and_where_figures_are_from(self):
        done = self.run_tool("plan", "--accesses", "51M", "--drive-model", "p5800x", "--drives", "4")
        for words in ("561 commands in flight", "Little's law", "the drives: 20.40 M accesses/s, 0.40", "a gain of 4.4x", "BaM paper"):
            self.assertIn(words, done.stdout)

    def test_plan_takes_prices_of_the_user(self):
        self.write("prices.json", b'{"dram": 10, "p5800x": 2}')
        plan = ("plan", "--accesses", "51M", "--prices", "prices.json", "--drive-model")
        planned = self.result(*plan, "p5800x")
        self.assertEqual((planned["gain"], planned["cost_per_gb"], planned["config"]["prices"]), (5, 2, "prices.json"))
        self.assertIsNone(self.result(*plan, "980pro")["gain"], "the file has no price of it")

    def test_plan_takes_drives_that_bench_io_measured(self):
        for axes in ((), ("--sweep", "depth")):
            measured = self.run_tool("bench", "io", "--backend", "cpu", "--drive", "mem:1MiB", "--drive", "mem:1MiB", "--seconds", "0.02",
                                     "--block", "4096", *axes, "--json")
            self.write("measured.json", measured.stdout.encode())
            bench = json.loads(measured.stdout)
            planned = self.result("plan", "--accesses", "1M", "--measured", "measured.json")
            self.check_plan(planned)
            self.assertEqual(planned["config"]["block"], 4096)
            self.assertAlmostEqual(planned["drive_accesses_per_s"], bench["iops"] / 2)
            self.assertEqual(planned["latency_us"], bench["latency_us"]["p50"])

    def test_help_has_an_example(self):
        for command in (("plan",), ("doctor",), ("drives", "list"), ("drives", "release"), ("import",), ("bench", "io"), ("bench", "cache")):
            done = self.run_tool(*command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("Example:\n  sluice " + " ".join(command), done.stdout)
            self.assertIn("--json", done.stdout)

    def test_says_its_version(self):
        self.assertRegex(self.run_tool("--version").stdout, r"\A\d+\.\d+\.\d+\n\Z")

    def test_fails_where_its_output_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            import subprocess
            from tool import TOOL
            done = subprocess.run([TOOL, "drives", "list", "mem:1MiB"], stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard output", done.stderr)


if __name__ == "__main__":
    unittest.main()
