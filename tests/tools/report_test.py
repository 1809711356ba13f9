"""The page that `sluice report` makes of real results: sound HTML that needs no network, and says what the results say."""

import html.parser
import json
import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

from tool import ToolTest

IO = ("bench", "io", "--backend", "cpu", "--drive", "mem:8MiB", "--seconds", "0.05")
VOID = {"meta", "br", "hr", "img", "link", "input"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
NASTY = "</title><script src=https://example.org/x.js></script>&\"'\u0001"


class Page(html.parser.HTMLParser):
    """Reads a page, and notes tags that do not balance and whatever it would fetch."""

    def __init__(self, text):
        super().__init__()
        self.open, self.faults, self.fetched, self.tags, self.words = [], [], [], [], []
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> stays open" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.fetched += [value for name, value in attrs if name in ("src", "href", "xlink:href", "style") and not value.startswith("#")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> in {self.open}")
        else:
            self.open.pop()

    def handle_data(self, data):
        self.words.append(data)


class ReportTest(ToolTest):
    """Makes results and reports, and looks whether these are sound."""

    def measured(self, name, *words):
        """A file of that name with what the tool prints."""
        result = self.result(*words)
        self.write(name, json.dumps(result).encode())
        return result

    def changed(self, name, change, of):
        self.write(name, json.dumps({**of, **change}).encode())

    def report(self, *files):
        """What the tool says, and the page, which is sound."""
        said = self.result("report", *files, "--out", "report.html")
        text = (self.folder / "report.html").read_text()
        page = Page(text)
        self.assertEqual((page.faults, page.fetched), ([], []))
        self.assertNotRegex(text, r"@import|url\(|<script|<link")
        self.assertTrue({"main", "nav", "section", "table", "title"} <= set(page.tags))
        drawings = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
        for drawing in drawings:
            xml.etree.ElementTree.fromstring(drawing)
        self.assertEqual(text.count('<svg class="plot"'), said["plots"])
        self.assertEqual((said["out"], said["results"]), ("report.html", len(files)))
        self.assertNotIn("report.html.part", self.everything())
        return said, text, " ".join(page.words)

    def captions(self, text):
        return re.findall(r"<figcaption>(.*?)</figcaption>", text)


class Report(ReportTest):
    def test_shows_what_a_single_measurement_says(self):
        result = self.measured("io.json", *IO)
        _, text, words = self.report("io.json")
        for count in (result["commands_issued"], result["commands_served"]):
            self.assertIn(f"{count:,}", words)
        for part in ("verified: every value was compared with the truth", result["machine"]["name"], result["version"], "mem:8MiB"):
            self.assertIn(part, words)
        self.assertEqual(self.captions(text), ["IOPS beside others", "latency"])

    def test_plots_rows_over_each_axis_that_they_vary(self):
        result = self.measured("io.json", *IO, "--sweep", "block=512,4096,depth=16,64")
        _, text, words = self.report("io.json")
        captions = self.captions(text)
        for axis in ("block size", "queue depth"):
            for figure in ("IOPS", "ratio to bare", "latency p50", "latency p99", "latency p99.9"):
                self.assertIn(f"{figure} against {axis}", captions)
        self.assertIn("GB/s against block size", captions)
        for row in result["rows"]:
            self.assertIn(f"{row['commands_issued']:,}", words)
        for label in ("block size 512 B", "block size 4 KiB", "queue depth 16", "queue depth 64"):
            self.assertIn(label, words)

    def test_plots_what_others_move_over_block_sizes(self):
        self.measured("io.json", *IO, "--sweep", "block=512,4096", "--comparators=zero-copy,uvm,cpu-served")
        _, text, words = self.report("io.json")
        for caption in ("GB/s against block size, beside others", "GB/s of pages served by the CPU against block size"):
            self.assertIn(caption, self.captions(text))
        self.assertIn("managed memory is a GPU's: the CPU backend has none", words)
        for label in ("Sluice", "bare", "zero-copy", "cpu-served", "cold: every page comes", "hot: every page is there"):
            self.assertIn(label, words)
        self.measured("alone.json", *IO, "--sweep", "block=512,4096")
        _, text, _ = self.report("alone.json")
        self.assertNotIn("beside others", " ".join(self.captions(text)).replace("IOPS beside others", ""))

    def test_plots_percentiles_together_where_one_axis_varies(self):
        self.measured("io.json", *IO, "--queues", "2", "--sweep", "queues=1,2")
        _, text, words = self.report("io.json")
        self.assertIn("latency against queues", self.captions(text))
        for label in ("p50", "p99", "p99.9", "bare"):
            self.assertIn(label, words)

    def test_shows_words_that_vary_as_bars(self):
        self.measured("cache.json", "bench", "cache", "--backend", "cpu", "--drive", "mem:8MiB", "--cache", "2MiB", "--accesses", "2000",
                      "--sweep", "policy")
        _, text, words = self.report("cache.json")
        self.assertIn("hit rate of each row", self.captions(text))
        for policy in ("clock", "fifo", "random", "s3fifo"):
            self.assertIn(policy, words)

    def test_overlays_files_on_an_axis_that_they_share(self):
        for name, block in (("small.json", "512"), ("large.json", "4096")):
            self.measured(name, *IO, "--block", block, "--sweep", "depth=16,64")
        self.measured("other.json", *IO, "--sweep", "threads=32,64")
        _, text, words = self.report("small.json", "large.json", "other.json")
        together = text[text.index('id="together"'):text.index('id="r1"')]
        self.assertEqual(self.captions(together), ["IOPS against queue depth", "p50 against queue depth"])
        self.assertIn("1 · small.json, block size 512 B", words)
        self.assertIn("2 · large.json, block size 4 KiB", words)
        self.assertLess(text.index('id="r1"'), text.index('id="r2"'))
        for number in (1, 2, 3):
            self.assertIn(f'href="#r{number}"', text)

    def test_makes_a_curve_of_files_with_one_point_each(self):
        for queues in (1, 2, 4):
            self.measured(f"q{queues}.json", *IO, "--queues", str(queues))
        _, text, _ = self.report("q1.json", "q2.json", "q4.json")
        together = text[text.index('id="together"'):text.index('id="r1"')]
        self.assertIn("IOPS of each file", self.captions(together))
        self.assertIn("IOPS against queues", self.captions(together))

    def test_shows_a_search_and_its_comparators(self):
        self.write("edges.txt", b"0 1\n1 2\n2 3\n")
        self.result("graph", "import", "edges.txt", "--to", "file:graph")
        self.measured("bfs.json", "graph", "bfs", "--backend", "cpu", "--graph", "file:graph", "--verify", "--comparators", "--trials", "2")
        _, text, words = self.report("bfs.json")
        self.assertEqual(self.captions(text), ["vertices by distance", "time of each trial", "edges/s beside others"])
        self.assertIn("verified against a plain reference", words)
        self.assertIn("reference", words)

    def test_says_how_far_a_plan_was_from_what_was_measured(self):
        plan = self.measured("plan.json", "plan", "--accesses", "51M", "--drive-model", "p5800x")
        _, _, words = self.report("plan.json")
        self.assertIn("planned, not measured", words)
        for verified in ({"promised": 50e6, "measured": 48e6},
                         {"promised": {"accesses_per_s": 50e6}, "measured": {"accesses_per_s": 48e6}}):
            self.changed("checked.json", {"verified": verified}, plan)
            _, text, words = self.report("checked.json")
            self.assertIn("measured 4.0 % less than promised", words)
            self.assertIn("the model&#39;s promise and what was measured", text)

    def test_compares_drive_models(self):
        self.measured("plan.json", "plan", "--accesses", "51M")
        _, text, words = self.report("plan.json")
        self.assertIn("drives by drive model", self.captions(text))
        self.assertIn("storage-next", words)

    def test_shows_the_bars_of_a_machine(self):
        bars = {"commit": "e1d87e2", "machine": {"name": "H200"}, "date": "2026-12-01", "bars": [
            {"id": "A3", "value": 0.94, "unit": "of the bare limit", "bar": 0.8, "met": True, "command": "sluice bench io", "iops": 94363102.9},
            {"id": "A9", "value": 5, "unit": "commands/s", "bar": 10, "met": False, "command": "sluice bench io"}]}
        self.write("bars.json", json.dumps(bars).encode())
        _, text, words = self.report("bars.json")
        for part in ("1 of 2 bars met", "e1d87e2", "H200", "2026-12-01", "A3", "0.94", "iops 94,363,103", "0.5×"):
            self.assertIn(part, words)
        self.assertEqual(self.captions(text), ["values beside what was sought"])

    def test_says_what_was_not_verified_and_what_was_lost(self):
        result = self.measured("io.json", *IO)
        self.changed("bad.json", {"verified": False, "commands_issued": 10, "commands_served": 7, "dropped": 1}, result)
        _, _, words = self.report("bad.json")
        self.assertIn("not verified", words)
        self.assertIn("10 commands issued ≠ 7 served + 1 dropped", words)

    def test_nothing_that_a_file_holds_is_markup(self):
        result = self.measured("io.json", *IO, "--sweep", "pattern")
        for row in result["rows"]:
            row["pattern"] += NASTY
        name = "<b>&.json"
        self.changed(name, {"version": NASTY, "machine": {"name": NASTY, NASTY: 1}, "config": {NASTY: NASTY, "block": 512},
                            "comparators": [{"name": NASTY, "ratio": 2}]}, result)
        _, text, words = self.report(name)
        self.assertIn("1 · <b>&.json", words)
        self.assertIn("random</title><script", words)
        self.assertNotIn("\u0001", text)

    def test_takes_a_file_whose_name_is_no_utf8(self):
        self.measured("io.json", *IO)
        shutil.copy(self.folder / "io.json", os.fsencode(self.folder) + b"/\xff.json")
        done = self.run_tool("report", b"\xff.json", "--out", "report.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 · \ufffd.json", (self.folder / "report.html").read_text())

    def refuses(self, fault, *words):
        """And leaves all files as they are."""
        before = self.everything()
        self.assertIn(fault, self.error_line(2, "report", *words))
        self.assertIn(fault, self.error(2, "report", *words)["message"])
        self.assertEqual(self.everything(), before)

    def test_refuses_what_is_no_result_and_leaves_the_page_as_it_was(self):
        good = self.measured("good.json", *IO)
        self.write("report.html", b"an older page")
        bad = {"empty": b"", "cut": json.dumps(good).encode()[:-20], "list": b"[1]", "object": b"{}", "text": b"Dear reader",
               "binary": bytes(range(256)), "doctor": b'{"checks": []}', "huge": b'{"iops": 1e999}',
               "rows": json.dumps({**good, "rows": [1]}).encode(), "no_rows": json.dumps({**good, "rows": []}).encode(),
               "row": json.dumps({**good, "rows": [{"block": 512}]}).encode(), "bars": b'{"commit": "a", "bars": [1]}',
               "error": b'{"error": {"kind": "io_failure", "message": "no", "mend": ""}}'}
        for name, data in bad.items():
            self.write(name, data)
            self.refuses(f"'{name}'", "good.json", name, "--out", "report.html")
        self.refuses("'missing' cannot be read", "good.json", "missing", "--out", "report.html")
        self.refuses("'.' cannot be read", ".", "--out", "report.html")

    def test_refuses_to_write_where_no_page_belongs(self):
        self.measured("good.json", *IO)
        self.refuses("write over the result 'good.json'", "good.json", "--out", "./good.json")
        for out in (".", "no/such/folder.html", "/dev/null"):
            self.refuses(f"cannot write the file '{out}'", "good.json", "--out", out)
        self.refuses("--out is required", "good.json")
        self.refuses("required", "--out", "report.html")

    def test_help_has_an_example(self):
        self.assertIn("Example:\n  sluice report", self.run_tool("report", "--help").stdout)


class InABrowser(ReportTest):
    """What a headless Chromium makes of the page, where there is one."""

    browser = next(filter(None, map(shutil.which, BROWSERS)), None)

    def dumped(self, name):
        """The page as the browser has it, which had nothing to say about it."""
        done = subprocess.run([self.browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
                               f"--user-data-dir={self.folder / 'profile'}", "--dump-dom", (self.folder / name).as_uri()],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("CONSOLE", done.stderr)
        return done.stdout

    @unittest.skipIf(browser is None, "no Chromium here: " + ", ".join(BROWSERS) + " are not in PATH")
    def test_a_page_opens_without_errors_and_is_no_wider_than_a_phone(self):
        self.measured("io.json", *IO, "--sweep", "block=512,4096,depth=16,64")
        self.measured("plan.json", "plan", "--accesses", "51M")
        said, text, _ = self.report("io.json", "plan.json")
        self.assertEqual(self.dumped("report.html").count('<svg class="plot"'), said["plots"])
        probe = "<style>body{width:360px}</style><script>document.title = document.body.scrollWidth</script></body>"
        self.write("phone.html", text.replace("</body>", probe).encode())
        self.assertIn("<title>360</title>", self.dumped("phone.html"))


if __name__ == "__main__":
    unittest.main()
