"""Words that make no sense: exit status 2, one line that names the fault and the mend, nothing changed."""

import os
import signal
import time
import unittest

from tool import ToolTest

MIB = 1 << 20


class BadInput(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("data.bin", b"x" * 100_000)
        self.write("letter", b"Dear reader, " * 100_000)
        self.result("import", "data.bin", "--to", "file:volume")
        self.result("import", "data.bin", "--to", "file:half0", "--to", "file:half1")
        self.before = self.everything()

    def refuses(self, words, fault, mend=""):
        """Twice: for people and for programs."""
        line = self.error_line(2, *words)
        self.assertIn(fault, line)
        self.assertIn(mend, line)
        failure = self.error(2, *words)
        self.assertIn(failure["kind"], ("bad_input", "unavailable"))
        self.assertIn(fault, failure["message"])
        self.assertEqual(self.everything(), self.before, words)

    def test_words_that_no_command_knows(self):
        self.refuses((), "subcommand is required", "sluice --help")
        self.refuses(("drvies",), "no subcommand 'drvies'", "did you mean drives?")
        self.refuses(("drives", "list", "--jsno", "mem:1MiB"), "--jsno", "did you mean --json?")
        self.refuses(("bench", "cache"), "--drive is required", "sluice bench cache --help")
        self.refuses(("bench", "cache", "--drive", "mem:1MiB", "--backend", "gpu"), "gpu not in {auto,cuda,cpu}")
        self.refuses(("doctor", "well"), "well")

    def test_drives_that_are_none(self):
        for command in (("drives", "list"), ("bench", "cache", "--drive"), ("bench", "io", "--drive")):
            self.refuses((*command, "memm:1GiB"), "'memm:'", "did you mean 'mem:'")
            self.refuses((*command, "mem:lots"), "lots")
            self.refuses((*command, "mem:0"), "no bytes")
            self.refuses((*command, "file:missing"), "'missing'", "name another")
            self.refuses((*command, "file:letter?sise=3"), "'sise'", "did you mean 'size'")
            self.refuses((*command, "mem:1MiB?error_rate=2"), "error_rate")
            self.refuses((*command, "emu:p580x"), "'p580x'", "did you mean 'p5800x'?")
            self.refuses((*command, "emu:ideal?media=tape"), "media", "media=gpu or media=host")
            self.refuses((*command, "pci:0000:41:00.0"), "user-space driver", "block:")
            self.refuses((*command, "mem:8MiB?mdts=4096"), "mdts", "8192")
        self.refuses(("drives", "release", "pci:0000:41:00.0"), "not supported by this build")
        self.refuses(("drives", "release", "mem:1MiB"), "not taken from the kernel")

    def test_files_that_cannot_be_replaced(self):
        self.refuses(("bench", "io", "--drive", "mem:8MiB", "--csv", "/dev/null"), "cannot write the file '/dev/null'")

    def test_plans_that_cannot_be_verified(self):
        plan = ("plan", "--accesses", "51M", "--verify")
        self.refuses(plan, "no drive is named", "--drive-model")
        self.refuses(("plan", "--accesses", "51M", "--drive-model", "p5800x", "--seconds", "1"), "--verify")
        self.refuses((*plan, "--drive-model", "p5800x", "--lanes-us", "0"), "--lanes-us")

    def test_emulated_drives_that_are_none(self):
        for option in ("sms=0", "size=0", "latency_us=5", "region=1000", "from=missing"):
            self.refuses(("drives", "list", "emu:ideal?" + option), option.split("=")[0] if option != "from=missing" else "missing")
        self.refuses(("drives", "list", "emu:p5800x?count=2"), "count=")
        self.refuses(("drives", "list", "emu:p5800x?region=1MiB"), "region=")
        self.refuses(("bench", "io", "--drive", "emu:p5800x?count=0"), "count")
        for option, value in (("--a-lane", "9"), ("--a-lane", "3"), ("--a-warp", "0"), ("--a-warp", "33"), ("--path", "other")):
            self.refuses(("bench", "io", "--drive", "mem:8MiB", option, value), option)

    def test_passes_are_measured_in_one_way(self):
        walk = ("bench", "cache", "--drive", "mem:1MiB", "--cache", "1MiB", "--access", "walk")
        for option, value in (("--mode", "naive"), ("--policy", "fifo"), ("--pattern", "zipf"), ("--mix", "0.5"), ("--seconds", "1")):
            self.refuses((*walk, option, value), option, "--access element")
        self.refuses((*walk[:-1], "overlap", "--state", "hot"), "--access overlap", "--state")
        element = walk[:-2]
        self.refuses((*element, "--state", "hot"), "--state hot", "--access")
        self.refuses((*element, "--sweep", "element=4,8"), "--element 4", "--access")

    def test_sizes_that_are_none(self):
        bench = ("bench", "cache", "--drive", "mem:8MiB")
        self.refuses((*bench, "--page", "3000"), "3000", "power of two")
        self.refuses((*bench, "--page", "128KiB"), "131072", "power of two")
        self.refuses((*bench, "--page", "99999999999999"), "--page")
        self.refuses((*bench, "--cache", "much"), "--cache")
        self.refuses((*bench, "--cache", "4KiB"), "fewer than two pages", "larger")
        self.refuses((*bench, "--cache", "1MiB", "--tier", "512"), "second tier", "or more")
        self.refuses((*bench, "--tier", "1PiB"), "second tier", "2^32")
        self.refuses((*bench, "--tier-kind", "both"), "--tier-kind")
        self.refuses((*bench, "--span", "1KiB"), "to measure", "--span")
        self.refuses((*bench, "--access", "gather", "--row", "24"), "--row", "multiple of 16")
        self.refuses((*bench, "--access", "gather", "--accesses", "1000000000000"), "--accesses", "--row")
        self.refuses((*bench, "--element", "2"), "--element")
        self.refuses((*bench, "--mix", "1.5"), "--mix")
        self.refuses((*bench, "--seconds", "-1"), "--seconds")
        self.refuses((*bench, "--threads", "0"), "--threads")
        self.refuses((*bench, "--cpu-threads", "0"), "--cpu-threads")
        self.refuses(("bench", "io", "--drive", "mem:8MiB", "--sweep", "policy"), "policy not in")
        self.refuses((*bench, "--cpu-threads", "1025"), "--cpu-threads")
        self.refuses((*bench, "--mode", "none", "--policy", "fifo"), "--policy clock only")

    def test_sweeps_over_nothing(self):
        io = ("bench", "io", "--drive", "mem:1MiB", "--sweep")
        self.refuses((*io, "drives=2"), "there are 1 drives, not 2", "name more drives")
        self.refuses((*io, "depth=4..2"), "'4..2' ends before it begins", "smaller value first")
        self.refuses((*io, "depth=1..1000000+1"), "more than 1000 values", "larger steps")
        self.refuses((*io, "queues=0"), "'0' is out of range")
        self.refuses((*io, "block="), "block", "")
        self.refuses((*io, "block=512,3000"), "3000", "power of two")
        self.refuses((*io, "depth=16,24"), "depth of 24", "power of two")
        self.refuses((*io, "pattern=zip"), "there is no 'zip'", "random,uniform,sequential,zipf")
        self.refuses((*io, "mix=2"), "'2' is no share", "0 to 1")
        self.refuses((*io, "depth,depth=2"), "depth is swept twice")
        self.refuses((*io, "512"), "512 not in {drives,")
        self.refuses(("bench", "cache", "--drive", "mem:1MiB", "--sweep", "page=512,3000"), "3000", "power of two")
        for path in ("no/such/folder.csv", "."):
            for option in ("--csv", "--plot"):
                self.refuses(("bench", "io", "--drive", "mem:1MiB", option, path), f"cannot write the file '{path}'", "permissions")
        self.refuses(("bench", "io", "--drive", "mem:1MiB", "--csv", "a", "--plot", "a"), "the same file 'a'")

    def test_plans_of_nothing(self):
        plan = ("plan", "--accesses", "51M")
        self.refuses(("plan",), "nothing says", "--accesses 51M")
        self.refuses(("plan", "--accesses", "lots"), "--accesses is 'lots'", "")
        for count in ("0", "-5", "1e13"):
            self.refuses(("plan", "--accesses", count), "--accesses is " + count, "above 0")
        self.refuses((*plan, "--saturate", "26"), "--accesses", "excludes")
        self.refuses((*plan, "--latency-us", "nan"), "--latency-us is 'nan'")
        self.refuses((*plan, "--drive-model", "p5800"), "no drive model 'p5800'", "did you mean 'p5800x'?")
        self.refuses((*plan, "--block", "1000"), "1000 bytes", "multiple of 512")
        self.refuses((*plan, "--block", "2GiB"), "2147483648 bytes", "up to 1 GiB")
        self.refuses((*plan, "--depth", "100"), "100 entries", "power of two")
        self.refuses((*plan, "--queues", "0"), "--queues")
        self.refuses((*plan, "--drives", "0"), "--drives")
        self.refuses((*plan, "--mix", "1.5"), "--mix")
        self.refuses((*plan, "--verify"), "--verify")

    def test_plans_by_files_that_hold_something_else(self):
        plan = ("plan", "--accesses", "51M")
        for option in ("--prices", "--measured"):
            for name, data, fault in (("empty", b"", "line 1"), ("list", b"[1]", "no JSON object"),
                                      ("cut", b'{"dram": 11,\n"p58', "line 2"), ("huge", b'{"dram": 1e999}', "not JSON")):
                self.write(name, data)
                self.before = self.everything()
                self.refuses((*plan, option, name), fault, "dram" if option == "--prices" else "bench io --json")
            self.refuses((*plan, option, "missing"), "'missing' cannot be read")
            self.refuses((*plan, option, "."), "'.' cannot be read")
        for data, fault in ((b'{"p5800x": 2}', "no price of 'dram'"), (b'{"dram": "11"}', "'dram'"), (b'{"dram": 0}', "no positive number"),
                            (b'{"dram": 11, "p5800": 2}', "did you mean 'p5800x'?")):
            self.write("prices", data)
            self.before = self.everything()
            self.assertIn(fault, self.error_line(2, *plan, "--prices", "prices"))
            self.error(2, *plan, "--prices", "prices")
        for data, fault in ((b"{}", "/config/block"), (b'{"config": {"block": 512}, "iops": "many"}', "/iops"),
                            (b'{"config": {"block": 512}, "iops": 1000, "latency_us": 3}', "/latency_us/p50"),
                            (b'{"config": [512]}', "/config/block"),
                            (b'{"config": {"block": 100}, "iops": 1000, "latency_us": {"p50": 3}}', "100 bytes")):
            self.write("measured", data)
            self.before = self.everything()
            self.refuses((*plan, "--measured", "measured"), fault)
        self.refuses((*plan, "--measured", "measured", "--drive-model", "980pro"), "--measured", "excludes")

    def test_numbers_that_are_none(self):
        """A time of nan was within every range, and a measurement of that time had no end."""
        for bench in ("io", "cache"):
            for option in ("--mix", "--seconds"):
                for number in ("nan", "inf", "-1", "some"):
                    self.refuses(("bench", bench, "--drive", "mem:1MiB", option, number), option)
        self.refuses(("plan", "--accesses", "51M", "--mix", "nan"), "--mix")

    def test_what_no_drive_takes_is_refused_before_anything_is_measured(self):
        for words, *says in (
                (("cache", "--drive", "mem:4GiB", "--page", "3000"), "3000"),
                (("io", "--drive", "mem:4GiB", "--block", "3000"), "3000"),
                (("io", "--drive", "mem:4GiB", "--depth", "3"), "depth of 3"),
                (("io", "--drive", "mem:4GiB?queues=2", "--queues", "4"), "no queue left of 2")):
            start = time.monotonic()
            self.refuses(("bench", *words, "--span", "4GiB", "--seconds", "30"), *says)
            self.assertLess(time.monotonic() - start, 5)

    def test_imports_that_would_be_lost_or_cannot_be(self):
        self.refuses(("import", "missing.bin", "--to", "file:new"), "no file 'missing.bin'")
        self.refuses(("import", ".", "--to", "file:new"), "not a regular file")
        self.refuses(("import", "data.bin", "--to", "mem:1GiB"), "forgets", "file:")
        self.refuses(("import", "data.bin", "--to", "file:no/such/folder"), "no/such/folder")
        self.refuses(("import", "data.bin", "--to", "file:/proc/new"), "/proc/new")
        self.refuses(("import", "data.bin", "--format", "csv", "--to", "file:new"), "csv is not supported yet")
        self.refuses(("import", "data.bin", "--format", "cvs", "--to", "file:new"), "cvs not in")
        self.refuses(("import", "data.bin", "--to", "file:new", "--unit", "3000"), "unit")
        self.refuses(("import", "data.bin", "--to", "file:new", "--layout", "raid5"), "raid5 not in {stripe,mirror}")
        self.refuses(("import", "data.bin", "data.bin", "--to", "file:new"), "two files", "--name")
        self.write("empty", b"")
        self.before = self.everything()
        self.refuses(("import", "empty", "--to", "file:new"), "is empty")

    def test_drives_that_hold_something_else(self):
        self.refuses(("import", "data.bin", "--to", "file:letter"), "not a volume", "clear this one first")
        self.refuses(("import", "data.bin", "--to", "file:volume", "--to", "file:new"), "part of a volume")
        self.refuses(("import", "data.bin", "--to", "file:half0"), "2 drives", "name all drives")
        self.refuses(("import", "data.bin", "--to", "file:half0", "--to", "file:volume"), "volume")
        self.refuses(("bench", "cache", "--drive", "file:letter", "--dataset", "data"), "letter")
        self.refuses(("bench", "cache", "--drive", "file:volume", "--dataset", "dada"), "'dada'", "did you mean 'data'")
        self.refuses(("bench", "cache", "--drive", "file:volume", "--mix", "0.5"), "--mix", "--destroy")
        self.refuses(("bench", "cache", "--drive", "file:volume", "--access", "walk"), "--access walk", "--destroy")
        self.refuses(("bench", "io", "--drive", "file:volume", "--mix", "0.5"), "--mix", "--destroy")

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_folders_that_may_not_be_written(self):
        self.folder.chmod(0o555)
        self.addCleanup(self.folder.chmod, 0o755)
        self.refuses(("import", "data.bin", "--to", "file:new"), "new")

    def test_a_dataset_whose_import_was_killed(self):
        started = self.start_tool("import", "letter", "--to", "file:slow?delay_us=20000&mdts=8KiB")
        slow = self.folder / "slow"
        while not slow.exists() or b'"importing"' not in slow.read_bytes()[:MIB]:
            self.assertIsNone(started.poll(), "it was to be killed before it is done")
        started.send_signal(signal.SIGKILL)
        started.wait()
        self.before = self.everything()
        self.refuses(("bench", "cache", "--drive", "file:slow", "--dataset", "letter"), "half-imported", "import it again")
        self.result("import", "letter", "--to", "file:slow")
        self.result("bench", "cache", "--drive", "file:slow", "--dataset", "letter", "--accesses", "1000")


if __name__ == "__main__":
    unittest.main()
