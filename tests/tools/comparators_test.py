"""`bench io --comparators`: the same blocks by other ways, each verified, and none of them faked."""

import os
import signal
import time
import unittest

from tool import ToolTest

MIB = 1 << 20
HERE = ("zero-copy", "copy-engine", "cpu-io_uring", "cpu-served")  # on the CPU backend
IO = ("bench", "io", "--backend", "cpu", "--seconds")


class Comparators(ToolTest):
    def setUp(self):
        super().setUp()
        self.scratch = self.folder / "scratch"
        self.scratch.mkdir()
        self.environment = {**os.environ, "TMPDIR": str(self.scratch)}

    def run_tool(self, *words, **more):
        return super().run_tool(*words, env=self.environment, **more)

    def compare(self, *words, seconds="0.05"):
        """The result; nothing may be left of a scratch file."""
        result = self.result(*IO, seconds, *words)
        self.assertEqual(list(self.scratch.iterdir()), [])
        return result

    def check(self, result, names=HERE):
        self.assertEqual([each["name"] for each in result["comparators"]], list(names))
        for each in result["comparators"]:
            self.assertIs(each["verified"], True)
            self.assertGreater(each["seconds"], 0)
            self.assertGreater(each["cpu_seconds"], 0)
            self.assertAlmostEqual(each["ratio"], result["iops"] / each["iops"])
            self.assertAlmostEqual(each["bytes_per_s"], each["iops"] * result["config"]["block"])

    def named(self, result, name):
        return next(each for each in result["comparators"] if each["name"] == name)

    def test_each_is_measured_or_says_why_not(self):
        result = self.compare("--drive", "mem:4MiB", "--drive", "mem:4MiB", "--comparators")
        self.check(result)
        self.assertEqual({each["name"]: each["why"] for each in result["comparators_missing"]},
                         {"uvm": "managed memory is a GPU's: the CPU backend has none",
                          "cufile": "cuFile reads into GPU memory: the CPU backend has none"})

    def test_each_has_facts_of_its_own(self):
        result = self.compare("--drive", "mem:4MiB", "--comparators")
        engine, uring, served = (self.named(result, name) for name in HERE[1:])
        self.assertIsNone(engine["batch_bytes_per_s"], "a call that only a GPU has")
        self.assertEqual((engine["calls"], engine["each_bytes_per_s"]), ("each", engine["bytes_per_s"]))
        self.assertEqual(uring["source"], "scratch file")
        self.assertIn(uring["direct"], (True, False))
        self.assertGreater(uring["latency_us"], 0)
        if uring["software_share"] is None:
            self.assertTrue(uring["software_share_why"])
        else:
            self.assertTrue(0 <= uring["software_share"] <= 1)
        self.assertEqual((served["source"], served["cold_bytes_per_s"]), ("pinned memory", served["bytes_per_s"]))
        self.assertGreater(served["hot_bytes_per_s"], 0)
        self.assertGreater(served["served"], 0)

    def test_those_that_are_named_are_measured(self):
        self.check(self.compare("--drive", "mem:1MiB", "--comparators=cpu-served,zero-copy"), ("cpu-served", "zero-copy"))
        self.assertNotIn("comparators_missing", self.compare("--drive", "mem:1MiB"))

    def test_drives_that_are_files_are_read_themselves(self):
        for name in "ab":
            self.write(name, bytes(os.urandom(MIB)))
        before = self.everything()
        result = self.compare("--drive", "file:a", "--drive", "file:b", "--block", "4096", "--comparators", "--scratch", "no/such/folder")
        self.check(result)
        for name in ("cpu-io_uring", "cpu-served"):
            self.assertEqual(self.named(result, name)["source"], "the drives' files")
        self.assertEqual(self.everything(), before)

    def test_other_drives_that_hold_data_are_compared_by_what_they_hold(self):
        self.write("a", bytes(os.urandom(MIB)))
        self.check(self.compare("--drive", "file:a", "--drive", "mem:1MiB", "--destroy", "--comparators"))

    def test_a_sweep_over_blocks_has_them_in_each_row(self):
        # One shallow queue: under a sanitizer 128 lanes of 1 MiB each would outlast its deadline.
        result = self.compare("--drive", "mem:2MiB", "--queues", "1", "--depth", "4", "--sweep", "block=512..1MiB", "--comparators",
                              seconds="0.02")
        self.assertEqual([row["block"] for row in result["rows"]], [512 << n for n in range(12)])
        for row in result["rows"]:
            self.check(row)

    def test_a_sweep_over_drives_compares_each_number_of_them(self):
        result = self.compare("--drive", "mem:1MiB", "--drive", "mem:1MiB", "--sweep", "drives,pattern", "--comparators", seconds="0.02")
        for row in result["rows"]:
            self.check(row)

    def test_people_are_told_of_each(self):
        done = self.run_tool(*IO, "0.05", "--drive", "mem:1MiB", "--comparators")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in HERE:
            self.assertRegex(done.stdout, name + r" +[0-9.]+ M blocks/s")
        self.assertIn("cufile       not here: cuFile reads", done.stdout)

    def refuses(self, words, fault, mend=""):
        started = time.monotonic()
        line = self.error_line(2, *IO, "30", *words)
        self.assertLess(time.monotonic() - started, 20, "nothing is measured first")
        self.assertIn(fault, line)
        self.assertIn(mend, line)
        self.error(2, *IO, "30", *words)
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_words_that_make_no_sense_are_refused(self):
        drive = ("--drive", "mem:1MiB")
        self.refuses((*drive, "--comparators=warp"), "warp not in {zero-copy,", "--help")
        self.refuses((*drive, "--comparators=zero-copy,vram"), "vram not in")
        self.refuses((*drive, "--comparators", "--mix", "0.5"), "comparators only read", "--mix")
        self.refuses((*drive, "--comparators", "--sweep", "mix"), "comparators only read")
        self.refuses((*drive, "--comparators", "--scratch", "no/such/folder"), "no scratch file in 'no/such/folder'", "--scratch")
        self.refuses((*drive, "--comparators", "--scratch", "/proc"), "no scratch file in '/proc'", "--scratch")

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_a_folder_that_may_not_be_written_is_refused(self):
        self.scratch.chmod(0o555)
        self.addCleanup(self.scratch.chmod, 0o755)
        self.refuses(("--drive", "mem:1MiB", "--comparators"), "Permission denied", "--scratch")

    def test_a_drive_that_fails_ends_it_and_leaves_no_scratch_file(self):
        self.error(1, *IO, "0.05", "--drive", "mem:1MiB?error_lba=0-2047", "--comparators")
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_ctrl_c_ends_it_and_leaves_no_scratch_file(self):
        for seconds in (0.5, 2.5, 4):  # in our own pass, and in the comparators'
            started = self.start_tool(*IO, "2", "--drive", "mem:1MiB", "--comparators", "--scratch", str(self.scratch))
            time.sleep(seconds)
            started.send_signal(signal.SIGINT)
            self.assertEqual(started.wait(timeout=30), 130, started.stderr.read())
            self.assertEqual(list(self.scratch.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
