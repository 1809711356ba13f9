"""The package graph: what counts as a vertex, and what as an edge."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "debian_graph.py"


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)


def graph_of(text):
    """The graph of one Packages file: names, and edges as pairs of names in file order."""
    with tempfile.TemporaryDirectory() as folder:
        packages = pathlib.Path(folder, "Packages")
        packages.write_text(text, encoding="utf-8")
        result = run(folder, "--packages", str(packages))
        assert result.returncode == 0, result.stderr
        names = pathlib.Path(folder, "packages.names").read_text(encoding="utf-8").splitlines()
        lines = pathlib.Path(folder, "packages.el").read_text(encoding="utf-8").splitlines()
        return names, [tuple(names[int(v)] for v in line.split()) for line in lines]


class DebianGraph(unittest.TestCase):
    def test_takes_an_edge_both_ways_and_once(self):
        names, edges = graph_of("Package: b\nDepends: a (>= 1), a (<< 2)\nPre-Depends: a:any\n\nPackage: a\nDepends: b\n\n")
        self.assertEqual(names, ["a", "b"])
        self.assertEqual(edges, [("a", "b"), ("b", "a")])

    def test_takes_every_alternative(self):
        _, edges = graph_of("Package: a\nDepends: b | c [amd64]\n\nPackage: b\n\nPackage: c\n\n")
        self.assertEqual(edges, [("a", "b"), ("a", "c"), ("b", "a"), ("c", "a")])

    def test_resolves_a_virtual_package_to_its_providers(self):
        _, edges = graph_of("Package: a\nDepends: mail\n\nPackage: x\nProvides: mail (= 1), y\n\nPackage: z\nProvides: mail\n\n")
        self.assertEqual(edges, [("a", "x"), ("a", "z"), ("x", "a"), ("z", "a")])

    def test_prefers_a_real_package_to_those_that_provide_its_name(self):
        _, edges = graph_of("Package: a\nDepends: b\n\nPackage: b\n\nPackage: c\nProvides: b\n\n")
        self.assertEqual(edges, [("a", "b"), ("b", "a")])

    def test_leaves_out_loops_and_names_that_nobody_has(self):
        names, edges = graph_of("Package: a\nDepends: a, ghost, b\n\nPackage: b\n")
        self.assertEqual(names, ["a", "b"])
        self.assertEqual(edges, [("a", "b"), ("b", "a")])

    def test_joins_the_records_of_one_package(self):
        names, edges = graph_of("Package: a\nDepends: b\n\nPackage: a\nDepends: c\n\nPackage: b\n\nPackage: c\n\n")
        self.assertEqual(names, ["a", "b", "c"])
        self.assertEqual(edges, [("a", "b"), ("a", "c"), ("b", "a"), ("c", "a")])

    def test_names_the_mend_when_there_is_no_graph(self):
        with tempfile.TemporaryDirectory() as folder:
            packages = pathlib.Path(folder, "Packages")
            packages.write_text("", encoding="utf-8")
            result = run(folder, "--packages", str(packages))
            self.assertEqual(result.returncode, 1)
            self.assertIn("apt-get update", result.stderr)

    def test_names_a_file_that_cannot_be_read(self):
        result = run("unused", "--packages", "/nonexistent")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/nonexistent", result.stderr)


if __name__ == "__main__":
    unittest.main()
