"""`bench vector-add`: sums of vectors on drives, each verified, beside other ways to the same sums."""

import json
import signal
import time
import unittest

from tool import SECONDS, ToolTest

MIB = 1 << 20
WAYS = ("copy-engine", "zero-copy", "in-memory")
ADD = ("bench", "vector-add", "--backend", "cpu")
KEYS = {
    "iops", "bytes_per_s", "seconds", "trial_seconds", "flush_seconds", "commands_issued", "commands_served", "dropped", "verified",
    "latency_us", "bare", "ratio_to_bare", "comparators", "comparators_missing", "io", "config", "machine", "version",
}


class VectorAdd(ToolTest):
    def add(self, *words):
        result = self.result(*ADD, *words)
        self.assertLessEqual(KEYS, set(result))
        self.assertIs(result["verified"], True)
        self.assertEqual(result["commands_issued"], result["commands_served"])
        self.assertEqual(result["dropped"], 0)
        self.assertGreater(result["seconds"], 0)
        self.assertGreaterEqual(result["seconds"], result["flush_seconds"])
        config = result["config"]
        self.assertEqual(len(result["trial_seconds"]), config["trials"])
        size = int(config["type"][1:]) // 8
        needed = 3 * config["elements"] * size
        self.assertAlmostEqual(result["bytes_per_s"] * result["seconds"] / needed, 1)
        self.assertEqual(result["io"]["bytes_needed"], needed * config["trials"])
        self.assertGreaterEqual(result["io"]["bytes_moved"], needed * config["trials"])
        self.assertAlmostEqual(result["ratio_to_bare"], result["bytes_per_s"] / result["bare"]["bytes_per_s"])
        latency = result["latency_us"]
        self.assertLessEqual(latency["p50"], latency["p99"])
        return result

    def test_elements_of_every_type_are_added(self):
        for kind in ("u32", "u64", "f32", "f64"):
            result = self.add("--elements", "20000", "--type", kind, "--drive", "mem:2MiB")
            self.assertEqual(result["config"]["type"], kind)
            self.assertEqual((result["comparators"], result["comparators_missing"]), ([], []))

    def test_sums_lie_on_a_drive_of_any_kind(self):
        self.write("a", bytes(MIB))
        self.write("b", bytes(MIB))
        self.add("--elements", "50k", "--drive", "file:a", "--drive", "file:b", "--unit", "128KiB")
        self.add("--elements", "1", "--drive", "file:a", "--drive", "file:b", "--layout", "mirror", "--destroy")
        self.add("--elements", "4097", "--type", "u64", "--drive", "mem:1MiB?block=4096", "--page", "64KiB")

    def test_each_trial_begins_with_an_empty_cache_and_no_sums(self):
        result = self.add("--elements", "16384", "--type", "u32", "--drive", "mem:1MiB", "--cache", "4MiB", "--trials", "3")
        self.assertEqual(result["io"]["bytes_moved"], result["io"]["bytes_needed"])
        self.assertEqual(result["commands_served"], 3 * (3 * 16 + 1), "a page each of A, B and C, and one FLUSH")

    def test_a_small_cache_and_many_lanes_will_do(self):
        self.add("--elements", "10001", "--drive", "mem:1MiB", "--cache", "1KiB", "--page", "512", "--threads", "256")

    def test_comparators_add_the_same_vectors(self):
        result = self.add("--elements", "100003", "--drive", "mem:2MiB", "--comparators", "--trials", "2")
        self.assertEqual([each["name"] for each in result["comparators"]], list(WAYS))
        self.assertEqual(result["comparators_missing"], [])
        for each in result["comparators"]:
            self.assertIs(each["verified"], True)
            self.assertGreater(each["seconds"], 0)
            self.assertAlmostEqual(each["ratio"], result["bytes_per_s"] / each["bytes_per_s"])
        one = self.add("--elements", "1", "--drive", "mem:1MiB", "--comparators=in-memory,copy-engine")
        self.assertEqual([each["name"] for each in one["comparators"]], ["in-memory", "copy-engine"])

    def test_people_get_a_short_table(self):
        done = self.run_tool(*ADD, "--elements", "1000", "--drive", "mem:1MiB", "--comparators")
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in (r"C = A \+ B, 1,000 elements of f32 each", r"  rate +[0-9.]+ GB/s", r"  commands +\d+ issued by lanes = \d+ served"):
            self.assertRegex(done.stdout, line)
        for name in WAYS:
            self.assertRegex(done.stdout, name + r" +[0-9.]+ s +[0-9.]+ GB/s; ours is [0-9.]+ of it")

    def test_a_report_draws_it_beside_the_other_ways(self):
        result = self.add("--elements", "1000", "--drive", "mem:1MiB", "--comparators")
        self.write("result.json", json.dumps(result).encode())
        self.result("report", "result.json", "--out", "page.html")
        page = (self.folder / "page.html").read_text()
        for name in (*WAYS, "Sluice", "bare limit"):
            self.assertIn(name, page)

    def refuses(self, words, fault, mend=""):
        before = self.everything()
        line = self.error_line(2, *ADD, *words)
        self.assertIn(fault, line)
        self.assertIn(mend, line)
        self.error(2, *ADD, *words)
        self.assertEqual(self.everything(), before)

    def test_words_that_make_no_sense_are_refused(self):
        drive = ("--drive", "mem:1MiB")
        few = ("--elements", "1000")
        self.refuses(drive, "--elements is required")
        self.refuses(few, "--drive is required")
        self.refuses((*drive, "--elements", "0"), "no elements", "one element at least")
        self.refuses((*drive, "--elements", "many"), "--elements is 'many'")
        self.refuses((*drive, "--elements", "1.5"), "no number of elements", "whole number")
        self.refuses((*drive, "--elements", "5G"), "5,000,000,000 elements", "at most 4,294,967,296")
        self.refuses((*drive, "--elements", "1M"), "the drives hold 1", "larger drives")
        self.refuses((*drive, *few, "--type", "u16"), "u16 not in {u32,u64,f32,f64}")
        self.refuses((*drive, *few, "--page", "3000"), "3000", "power of two")
        self.refuses((*drive, *few, "--cache", "4KiB"), "fewer than two pages", "larger")
        self.refuses((*drive, *few, "--depth", "1"), "--depth")
        self.refuses((*drive, *few, "--threads", "0"), "--threads")
        self.refuses((*drive, *few, "--trials", "0"), "--trials")
        self.refuses((*drive, *few, "--unit", "3000"), "unit")
        self.refuses((*drive, *few, "--comparators=uvm"), "uvm not in {copy-engine,", "--help")
        self.refuses((*few, "--drive", "mem:1MiB?error_rate=2"), "error_rate")
        self.refuses((*few, "--drive", "file:missing"), "'missing'")

    def test_what_a_drive_holds_is_kept_unless_it_may_be_destroyed(self):
        self.write("disk", b"x" * MIB)
        words = ("--elements", "1000", "--drive", "file:disk")
        self.refuses(words, "written over what the drive holds", "--destroy")
        self.add(*words, "--destroy")
        self.refuses(words, "written over what the drive holds", "--destroy")

    def test_a_fault_names_drive_block_and_status(self):
        self.write("disk", bytes(MIB))
        for block, code, status in ((64, "0x281", "Unrecovered Read Error"), (640, "0x280", "Write Fault")):
            uri = f"file:disk?error_lba={block}&status={code}"
            failure = self.error(1, *ADD, "--elements", "40000", "--destroy", "--drive", uri)
            self.assertEqual((failure["kind"], failure["drive"]), ("io_failure", uri))
            self.assertEqual(failure["lba"], block)
            self.assertIn(status, failure["status"])

    def test_ctrl_c_stops_it(self):
        started = self.start_tool(*ADD, "--elements", "4M", "--drive", "mem:64MiB?delay_us=2000", "--cache", "64KiB", "--trials", "1000")
        time.sleep(1)
        started.send_signal(signal.SIGINT)
        out, said = started.communicate(timeout=SECONDS / 2)
        self.assertEqual((started.returncode, out, said), (130, "", "sluice: stopped by Ctrl-C\n"))


if __name__ == "__main__":
    unittest.main()
