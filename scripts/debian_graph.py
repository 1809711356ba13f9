#!/usr/bin/env python3
"""Makes a graph of this machine's own Debian package lists: every package a vertex, every dependency an edge.

Writes DIR/packages.el (an edge a line, "u v", vertices numbered from 0, each edge both ways) and DIR/packages.names
(line i names vertex i). Vertices are in the order of their names, edges in the order of their vertices.
"""

import argparse
import os
import subprocess
import sys


def parse_records(lines):
    """Yields (package, dependencies, provided names) of each record of a Packages file."""
    package, depends, provides = None, [], []
    for line in lines:
        if line.startswith("Package: "):
            package = line[9:].strip()
        elif line.startswith("Depends: ") or line.startswith("Pre-Depends: "):
            depends.append(line.partition(": ")[2])
        elif line.startswith("Provides: "):
            provides.append(line[10:])
        elif line == "\n" and package:
            yield package, relation_names(depends), relation_names(provides)
            package, depends, provides = None, [], []
    if package:
        yield package, relation_names(depends), relation_names(provides)


def relation_names(fields):
    """The names in "a (>= 1) | b:any, c [amd64]": alternatives count as the others do."""
    names = set()
    for field in fields:
        for relation in field.replace("|", ",").split(","):
            words = relation.split()
            if words:
                names.add(words[0].partition("(")[0].partition(":")[0])
    return names


def build_graph(records):
    """Returns the names of the vertices and the set of edges (u, v), each both ways, without loops."""
    dependencies, providers = {}, {}
    for package, depends, provides in records:
        dependencies.setdefault(package, set()).update(depends)
        for name in provides:
            providers.setdefault(name, set()).add(package)
    names = sorted(dependencies)
    number = {name: i for i, name in enumerate(names)}
    edges = set()
    for package, depends in dependencies.items():
        u = number[package]
        for name in depends:
            # A virtual package stands for whoever provides it; a name that nobody has is no vertex.
            for target in (name,) if name in number else providers.get(name, ()):
                v = number[target]
                if u != v:
                    edges.add((u, v))
                    edges.add((v, u))
    return names, edges


def archive_records():
    """The records that apt knows of; apt reads its lists in whatever way they are compressed."""
    try:
        with subprocess.Popen(["apt-cache", "dumpavail"], stdout=subprocess.PIPE, text=True, errors="replace") as dump:
            yield from parse_records(dump.stdout)
    except FileNotFoundError:
        sys.exit("debian_graph: this machine has no apt-cache: give package lists with --packages FILE")


def file_records(paths):
    for path in paths:
        try:
            with open(path, encoding="utf-8", errors="replace") as lines:
                yield from parse_records(lines)
        except OSError as error:
            sys.exit(f"debian_graph: {path}: {error.strerror}")


def write_graph(folder, names, edges):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "packages.names"), "w", encoding="utf-8") as out:
        out.writelines(f"{name}\n" for name in names)
    with open(os.path.join(folder, "packages.el"), "w", encoding="utf-8") as out:
        out.writelines(f"{u} {v}\n" for u, v in sorted(edges))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", metavar="DIR", help="where to write packages.el and packages.names")
    parser.add_argument("--packages", metavar="FILE", nargs="+", help="read these Packages files instead of apt's lists")
    options = parser.parse_args()
    names, edges = build_graph(file_records(options.packages) if options.packages else archive_records())
    if not edges:
        sys.exit("debian_graph: apt's package lists are empty: run 'apt-get update' as root first")
    write_graph(options.folder, names, edges)
    print(f"{len(names)} packages, {len(edges)} edges", file=sys.stderr)


if __name__ == "__main__":
    main()
