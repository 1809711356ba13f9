"""seal and scrub as a user meets them: what is bad is found, named, mended where there is a copy, and never made up."""

import json
import signal
import unittest

from tool import SECONDS, ToolTest

MIB = 1 << 20
COUNTS = {"good", "bad", "unsealed", "unreadable", "differing", "mended", "left"}
SCRUB_KEYS = COUNTS | {
    "all_good", "records_left", "datasets", "pages", "pages_left_off", "readmitted", "left_out", "check_only", "bytes", "seconds",
    "bytes_per_s", "drives", "version",
}
PAGES = 100


class Seals(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("data.bin", bytes(k * 7 % 251 for k in range(4096 * PAGES)))

    def import_to(self, *drives, layout="mirror"):
        self.result("import", "data.bin", *(word for drive in drives for word in ("--to", f"file:{drive}?size=4MiB")), "--layout", layout)

    def spoil(self, name, page, offset=0):
        with (self.folder / name).open("r+b") as file:
            file.seek(MIB + page * 4096 + offset)
            byte = file.read(1)[0]
            file.seek(-1, 1)
            file.write(bytes([byte ^ 0x10]))

    def scrub(self, exit_status, *words):
        done = self.run_tool("scrub", *words, "--json")
        self.assertEqual(done.returncode, exit_status, done.stdout + done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(set(result), SCRUB_KEYS)
        self.assertEqual(result["all_good"], exit_status == 0)
        for each in result["datasets"]:
            self.assertEqual(set(each), COUNTS | {"name", "seal", "page_bytes"})
        return result

    def test_a_sealed_mirror_is_scrubbed_and_mended(self):
        self.import_to("a", "b")
        sealed = self.result("seal", "file:a", "file:b")
        self.assertEqual(set(sealed), {"datasets", "bytes", "seconds", "bytes_per_s", "drives", "version"})
        (row,) = sealed["datasets"]
        self.assertEqual((row["name"], row["unit"], row["pages"], row["as_imported"]), ("data", 4096, PAGES, True))
        self.assertEqual(self.scrub(0, "file:b", "file:a")["good"], 2 * PAGES)

        self.spoil("a", 42, 1000)
        self.spoil("b", 43)
        before = self.everything()
        looked = self.scrub(1, "file:a", "file:b", "--check-only")
        self.assertEqual(self.everything(), before, "--check-only mends nothing")
        self.assertEqual((looked["bad"], looked["mended"], looked["left"]), (2, 0, 2))
        self.assertEqual(looked["pages"][0], {
            "dataset": "data", "page": 42, "fault": "bad", "drive": "file:a", "lba": (MIB + 42 * 4096) // 512, "mended": False})

        mended = self.scrub(0, "file:a", "file:b")
        self.assertEqual((mended["bad"], mended["mended"], mended["left"]), (2, 2, 0))
        self.assertEqual(self.scrub(0, "file:a", "file:b")["pages"], [])
        self.assertEqual(*((self.folder / name).read_bytes()[MIB:] for name in "ab"))

    def test_a_stripe_has_nothing_to_mend_from(self):
        self.import_to("a", "b", layout="stripe")
        self.result("seal", "file:a", "file:b", "--dataset", "data", "--unit", "512")
        self.spoil("b", 1, 513)
        result = self.scrub(1, "file:a", "file:b")
        (page,) = result["pages"]
        self.assertEqual((page["page"], page["drive"], page["lba"], page["mended"]), (128 + 9, "file:b", (MIB + 4096) // 512 + 1, False))
        done = self.run_tool("scrub", "file:a", "file:b")
        self.assertEqual(done.returncode, 1)
        self.assertIn("bad page 137 of data on file:b at LBA 2057: left as it is", done.stdout)

    def test_an_unreadable_page_is_named(self):
        self.import_to("a")
        self.result("seal", "file:a")
        result = self.scrub(1, "file:a?error_lba=2070", "--check-only")
        self.assertEqual((result["unreadable"], result["good"]), (1, PAGES - 1))
        self.assertEqual((result["pages"][0]["fault"], result["pages"][0]["page"]), ("unreadable", 2))

    def test_what_was_never_sealed_is_only_compared(self):
        self.import_to("a", "b")
        self.spoil("b", 7)
        result = self.scrub(0, "file:a", "file:b")
        self.assertEqual((result["unsealed"], result["differing"], result["mended"]), (2 * PAGES, 1, 1))
        self.assertEqual(result["datasets"][0]["seal"], "none")

    def test_a_damaged_dataset_is_not_sealed_in_silence(self):
        self.import_to("a")
        self.spoil("a", 3)
        done = self.run_tool("seal", "file:a")
        self.assertEqual(done.returncode, 0)
        self.assertIn("not as it was imported", done.stderr)

    def test_a_dataset_that_is_imported_again_is_unsealed(self):
        self.import_to("a")
        self.result("seal", "file:a")
        self.result("import", "data.bin", "--to", "file:a")
        self.assertEqual(self.scrub(0, "file:a")["datasets"][0]["seal"], "none")

    def bench(self, *drives):
        return ("bench", "cache", "--backend", "cpu", *(word for drive in drives for word in ("--drive", "file:" + drive)), "--dataset", "data",
                "--accesses", "60000", "--cache", "64KiB", "--verify-pages")

    def test_lanes_refuse_a_bad_page(self):
        self.import_to("a")
        self.assertIn("sluice seal", self.error(2, *self.bench("a"))["mend"])
        self.result("seal", "file:a")
        self.assertEqual(self.result(*self.bench("a"))["rows"][0]["mismatches"], 0)
        self.assertIn("--unit 512", self.error(2, *self.bench("a"), "--page", "512")["mend"])
        self.spoil("a", 42)
        failure = self.error(1, *self.bench("a"))
        self.assertEqual((failure["kind"], failure["drive"], failure["lba"]), ("corrupt", "file:a", (MIB + 42 * 4096) // 512))
        self.assertIn("page 42 of dataset 'data' is not as it was sealed", failure["message"])

    def test_bad_input_is_refused(self):
        self.import_to("a", "b")
        self.assertIn("drive 1 is not among", self.error(2, "scrub", "file:a")["message"])
        self.assertIn("did you mean 'data'", self.error(2, "seal", "file:a", "file:b", "--dataset", "date")["message"])
        self.assertIn("512 B", self.error(2, "seal", "file:a", "file:b", "--unit", "1000")["mend"])
        self.assertEqual(self.error(2, "scrub", "file:none")["kind"], "bad_input")
        self.write("plain", bytes(2 * MIB))
        self.assertIn("holds no volume", self.error(2, "scrub", "file:plain")["message"])

    def test_ctrl_c_leaves_the_volume_as_it_was(self):
        self.import_to("a")
        before = self.everything()
        slow = "file:a?delay_us=300000&mdts=8KiB"
        for command in (("seal", slow), ("scrub", slow)):
            started = self.start_tool(*command)
            while not self.catches_ctrl_c(started):
                self.assertIsNone(started.poll())
            started.send_signal(signal.SIGINT)
            out, said = started.communicate(timeout=SECONDS / 2)
            self.assertEqual((started.returncode, out, said), (130, "", "sluice: stopped by Ctrl-C\n"))
            self.assertEqual({k: v for k, v in self.everything().items() if k != "a"}, {k: v for k, v in before.items() if k != "a"})
            self.scrub(0, "file:a", "--check-only")

    @staticmethod
    def catches_ctrl_c(started):
        with open(f"/proc/{started.pid}/status", encoding="ascii") as status:
            caught = next(line for line in status if line.startswith("SigCgt:"))
        return int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1

    def test_help_has_an_example(self):
        for command in ("seal", "scrub"):
            done = self.run_tool(command, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn(f"Example:\n  sluice {command} file:", done.stdout)


if __name__ == "__main__":
    unittest.main()
