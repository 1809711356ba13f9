"""Runs the built tool in a folder of its own, and says what came of it."""

import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

TOOL = os.environ["SLUICE_TOOL"]
SECONDS = 60  # no test's command may take longer


class ToolTest(unittest.TestCase):
    """Each test has an empty folder, in which the tool runs."""

    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)

    def run_tool(self, *words, **more):
        return subprocess.run([TOOL, *words], cwd=self.folder, capture_output=True, text=True, timeout=SECONDS, **more)

    def start_tool(self, *words):
        started = subprocess.Popen([TOOL, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, started)
        return started

    @staticmethod
    def end(started):
        started.kill()
        started.communicate()

    def write(self, name, data):
        (self.folder / name).write_bytes(data)
        return name

    def result(self, *words):
        """The object that the tool prints with --json, where it succeeds."""
        done = self.run_tool(*words, "--json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def error(self, exit_status, *words):
        """The error object that it prints with --json, alone, where it fails."""
        done = self.run_tool(*words, "--json")
        self.assertEqual(done.returncode, exit_status, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        object_ = json.loads(done.stdout)
        self.assertEqual(list(object_), ["error"])
        self.assertLessEqual({"kind", "message", "mend"}, set(object_["error"]))
        return object_["error"]

    def error_line(self, exit_status, *words):
        """The one line on standard error where it fails without --json."""
        done = self.run_tool(*words)
        self.assertEqual(done.returncode, exit_status, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Asluice: [^\n]+\n\Z")
        return done.stderr

    def everything(self):
        """Names and contents of all files in the folder."""
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in self.folder.iterdir() if path.is_file()}
