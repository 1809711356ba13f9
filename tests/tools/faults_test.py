"""Drives that fail, other programs in the way, and Ctrl-C: a status in time, and nothing half-done left behind."""

import signal
import time
import unittest

from tool import SECONDS, ToolTest

MIB = 1 << 20


class Faults(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("data.bin", b"x" * 3_000_000)
        self.result("import", "data.bin", "--to", "file:disk")

    def wait_until(self, true, started):
        deadline = time.monotonic() + SECONDS
        while not true():
            self.assertIsNone(started.poll(), "it ended before it was expected to")
            self.assertLess(time.monotonic(), deadline)

    @staticmethod
    def catches_ctrl_c(started):
        with open(f"/proc/{started.pid}/status", encoding="ascii") as status:
            caught = next(line for line in status if line.startswith("SigCgt:"))
        return int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1

    def is_locked(self, name):
        """True where a program holds the file to write; a look at the kernel's list is in nobody's way."""
        path = self.folder / name
        if not path.exists():
            return False
        with open("/proc/locks", encoding="ascii") as locks:
            held = [line.split() for line in locks if "->" not in line]
        return any(lock[3] == "WRITE" and lock[5].endswith(f":{path.stat().st_ino}") for lock in held)

    def test_a_read_error_names_drive_block_and_status(self):
        uri = "file:disk?error_lba=2048-2200&status=0x281"
        for command in (("bench", "cache", "--drive", uri, "--accesses", "1000"), ("bench", "io", "--drive", uri, "--seconds", "0.1")):
            failure = self.error(1, *command)
            self.assertEqual((failure["kind"], failure["drive"]), ("io_failure", uri))
            self.assertIn("Unrecovered Read Error", failure["status"])
            self.assertIn(failure["lba"], range(2048 - 128, 2201))
            line = self.error_line(1, *command)
            self.assertIn("LBA", line)
            self.assertIn("Unrecovered Read Error", line)

    def test_lanes_meet_every_fault_of_a_drive_and_stop(self):
        for fault in ("error_rate=0.5", "error_lba=3000-3001&status=0x285", "drop_rate=0.02&deadline_ms=300"):
            failure = self.error(1, "bench", "cache", "--backend", "cpu", "--drive", "file:disk?" + fault, "--accesses", "100000")
            self.assertEqual(failure["kind"], "io_failure")
            self.assertIn("could not be read", failure["message"])
            self.assertIn("lba", failure)

    def test_a_write_error_leaves_no_new_drive_behind(self):
        before = self.everything()
        uri = "file:new?error_lba=4000&status=0x280"
        failure = self.error(1, "import", "data.bin", "--to", uri)
        self.assertEqual((failure["kind"], failure["drive"]), ("io_failure", uri))
        self.assertIn("Write Fault", failure["status"])
        self.assertEqual(self.everything(), before)

    def test_a_command_that_is_never_answered_ends_at_its_deadline(self):
        began = time.monotonic()
        failure = self.error(1, "bench", "cache", "--drive", "file:disk?drop_rate=1&deadline_ms=300", "--accesses", "1000")
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual((failure["kind"], failure["status"]), ("io_failure", "timed out"))

    def test_ctrl_c_stops_a_measurement(self):
        for bench in ("cache", "io"):
            started = self.start_tool("bench", bench, "--backend", "cpu", "--drive", "mem:8MiB", "--seconds", "50")
            self.wait_until(lambda: self.catches_ctrl_c(started), started)
            started.send_signal(signal.SIGINT)
            out, said = started.communicate(timeout=SECONDS / 2)
            self.assertEqual((started.returncode, out, said), (130, "", "sluice: stopped by Ctrl-C\n"))

    def test_ctrl_c_stops_an_import_and_takes_its_new_drive_away(self):
        before = self.everything()
        started = self.start_tool("import", "data.bin", "--to", "file:slow?delay_us=20000&mdts=8KiB", "--json")
        self.wait_until(lambda: self.is_locked("slow"), started)
        started.send_signal(signal.SIGINT)
        out, said = started.communicate(timeout=SECONDS / 2)
        self.assertEqual((started.returncode, said), (130, ""))
        self.assertIn('"cancelled"', out)
        self.assertEqual(self.everything(), before)

    def test_two_programs_cannot_write_one_volume(self):
        # So slow that it is still at it when both others have been refused, also on a busy machine.
        started = self.start_tool("import", "data.bin", "--name", "again", "--to", "file:disk?delay_us=200000&mdts=8KiB")
        self.wait_until(lambda: self.is_locked("disk"), started)
        for second in (("import", "data.bin", "--to", "file:disk"), ("bench", "cache", "--drive", "file:disk")):
            failure = self.error(1, *second)
            self.assertEqual(failure["kind"], "in_use")
            self.assertIn(str(started.pid), failure["message"])


if __name__ == "__main__":
    unittest.main()
