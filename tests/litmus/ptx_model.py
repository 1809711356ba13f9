"""The PTX memory consistency model as an enumerator: may this outcome happen?

Follows the chapter "Memory Consistency Model" of the PTX ISA (generic proxy only): scopes, morally strong operations,
release and acquire patterns, observation order, causality order, and the axioms coherence, Fence-SC, atomicity,
no-thin-air, SC-per-location and causality. Programs are straight lines of instructions, so every candidate execution
is a choice of the write that each read sees, of the order of racing writes, and of the order of fence.sc.

Relations are lists of bit masks: bit j of row i says that event i comes before event j.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from program import Instruction, Lane, Litmus

Relation = list[int]
Value = tuple[str, tuple]  # an operator and its arguments: numbers, events or values


@dataclass(frozen=True)
class Event:
    index: int
    kind: str  # R, W, F
    lane: int  # -1 for the initial writes
    location: str
    strong: bool
    acquires: bool
    releases: bool
    is_sc: bool
    scope: str
    value: Value = ("const", (0,))  # of a write


def compose(a: Relation, b: Relation) -> Relation:
    result = []
    for row in a:
        out = 0
        while row:
            low = row & -row
            out |= b[low.bit_length() - 1]
            row ^= low
        result.append(out)
    return result


def union(*relations: Relation) -> Relation:
    result = list(relations[0])
    for relation in relations[1:]:
        for i, row in enumerate(relation):
            result[i] |= row
    return result


def intersect(a: Relation, b: Relation) -> Relation:
    return [x & y for x, y in zip(a, b)]


def inverse(a: Relation) -> Relation:
    result = [0] * len(a)
    for i, row in enumerate(a):
        for j in range(len(a)):
            if row >> j & 1:
                result[j] |= 1 << i
    return result


def closure(a: Relation) -> Relation:
    result = list(a)
    for k in range(len(a)):
        for i, row in enumerate(result):
            if row >> k & 1:
                result[i] |= result[k]
    return result


def is_acyclic(a: Relation) -> bool:
    return not any(row >> i & 1 for i, row in enumerate(closure(a)))


def contradicts(order: Relation, causality: Relation) -> bool:
    """True where two events stand one way in `order` and the other way in `causality`."""
    return any(row & back for row, back in zip(order, inverse(causality)))


class Program:
    """The events of a litmus test and everything about them that no execution changes."""

    def __init__(self, litmus: Litmus, cas_succeeds: dict[tuple[int, int], bool]) -> None:
        self.litmus = litmus
        self.events: list[Event] = []
        self.registers: dict[tuple[str, str], Value] = {}
        self.rmw_pairs: list[tuple[int, int]] = []
        self.cas_checks: list[tuple[int, Value, bool]] = []  # read, expected value, whether it must match
        self._add_initial_writes()
        for number, lane in enumerate(litmus.lanes):
            self._add_lane(number, lane, cas_succeeds)
        self._relate()

    def _add(
        self, kind: str, lane: int, location: str, how: Instruction | None, value: Value = ("const", (0,))
    ) -> int:
        order = how.semantics if how else "weak"
        self.events.append(
            Event(
                index=len(self.events),
                kind=kind,
                lane=lane,
                location=location,
                strong=order != "weak",
                acquires=kind != "W" and order in ("acquire", "acq_rel", "sc"),
                releases=kind != "R" and order in ("release", "acq_rel", "sc"),
                is_sc=order == "sc",
                scope=how.scope if how else "sys",
                value=value,
            )
        )
        return len(self.events) - 1

    def _add_initial_writes(self) -> None:
        locations = {i.location for lane in self.litmus.lanes for i in lane.instructions if i.location}
        for location in sorted(locations | set(self.litmus.initial)):
            self._add("W", -1, location, None, ("const", (self.litmus.initial.get(location, 0),)))

    def _add_lane(self, number: int, lane: Lane, cas_succeeds: dict[tuple[int, int], bool]) -> None:
        registers: dict[str, Value] = {}

        def operand(text: str) -> Value:
            if text.lstrip("-").isdigit():
                return ("const", (int(text),))
            return registers.get(text, ("const", (0,)))

        for position, how in enumerate(lane.instructions):
            if how.kind == "fence":
                self._add("F", number, "", how)
            elif how.kind == "st":
                self._add("W", number, how.location, how, operand(how.operands[0]))
            else:
                read = self._add("R", number, how.location, how)
                old: Value = ("event", (read,))
                if how.kind == "atom":
                    operands = [operand(o) for o in how.operands]
                    self._add_atom_write(number, how, read, operands, cas_succeeds.get((number, position)))
                registers[how.target] = old
        for name, value in registers.items():
            self.registers[lane.name, name] = value

    def _add_atom_write(
        self, lane: int, how: Instruction, read: int, operands: list[Value], succeeds: bool | None
    ) -> None:
        old: Value = ("event", (read,))
        if how.operation == "cas":
            self.cas_checks.append((read, operands[0], bool(succeeds)))
            if not succeeds:
                return
            value = operands[1]
        elif how.operation == "exch":
            value = operands[0]
        else:
            value = (how.operation, (old, operands[0]))
        self.rmw_pairs.append((read, self._add("W", lane, how.location, how, value)))

    def relation(self, holds: Callable[[Event, Event], bool]) -> Relation:
        return [sum(1 << b.index for b in self.events if holds(a, b)) for a in self.events]

    def includes(self, event: Event, lane: int) -> bool:
        """Whether the scope of the event covers that lane."""
        mine, other = self.litmus.lanes[event.lane], self.litmus.lanes[lane]
        if event.scope == "sys":
            return True
        return mine.gpu == other.gpu and (event.scope == "gpu" or mine.block == other.block)

    def _morally_strong(self, a: Event, b: Event) -> bool:
        if a.index == b.index or (a.kind != "F" and b.kind != "F" and a.location != b.location):
            return False
        if a.lane < 0 or b.lane < 0:
            return False
        if a.lane == b.lane:
            return True
        return a.strong and b.strong and self.includes(a, b.lane) and self.includes(b, a.lane)

    def _relate(self) -> None:
        self.po = self.relation(lambda a, b: a.lane == b.lane >= 0 and a.index < b.index)
        self.same_location = self.relation(lambda a, b: a.location == b.location != "")
        self.po_location = intersect(self.po, self.same_location)
        self.morally_strong = self.relation(self._morally_strong)
        self.rmw = [0] * len(self.events)
        for read, write in self.rmw_pairs:
            self.rmw[read] |= 1 << write

        def in_order(a: Event, b: Event) -> bool:
            return bool(self.po[a.index] >> b.index & 1)

        def releases(a: Event, b: Event) -> bool:  # a begins a release pattern whose write is b
            if not (b.kind == "W" and b.strong and a.releases):
                return False
            if a.kind == "F":
                return in_order(a, b)
            return a is b or (in_order(a, b) and a.location == b.location)

        def acquires(a: Event, b: Event) -> bool:  # a is the read of an acquire pattern that ends with b
            if not (a.kind == "R" and a.strong and b.acquires):
                return False
            if b.kind == "F":
                return in_order(a, b)
            return a is b or (in_order(a, b) and a.location == b.location)

        self.release_pattern = self.relation(releases)
        self.acquire_pattern = self.relation(acquires)


class Execution:
    """A program and the write that each of its reads sees."""

    def __init__(self, program: Program, sources: dict[int, int]) -> None:
        self.program = program
        self.sources = sources

    def value(self, what: Value, depth: int = 0) -> int:
        """Raises RecursionError where a value would come out of thin air."""
        if depth > 4 * len(self.program.events):
            raise RecursionError
        operator, arguments = what
        if operator == "const":
            return arguments[0]
        if operator == "event":
            return self.value(self.program.events[self.sources[arguments[0]]].value, depth + 1)
        left, right = (self.value(argument, depth + 1) for argument in arguments)
        return left + right if operator == "add" else left | right

    def has_bad_outcome(self) -> bool:
        program = self.program
        try:
            for read, expected, succeeds in program.cas_checks:
                if (self.value(("event", (read,))) == self.value(expected)) != succeeds:
                    return False
            for event in program.events:
                if event.kind == "W":
                    self.value(event.value)
            return all(self.value(program.registers[lane, name]) == value for lane, name, value in program.litmus.bad)
        except RecursionError:
            return False

    def is_consistent(self) -> bool:
        """Whether some order of the racing writes and of the sc fences satisfies every axiom."""
        program = self.program
        reads_from = [0] * len(program.events)
        for read, write in self.sources.items():
            reads_from[write] |= 1 << read
        observation = self._observation(reads_from)
        synchronizes = intersect(
            compose(compose(program.release_pattern, observation), program.acquire_pattern), program.morally_strong
        )
        for fence_order in self._fence_orders():
            base = closure(union(program.po, synchronizes, fence_order))
            causality = union(base, compose(observation, base))
            if contradicts(fence_order, causality):
                continue
            if any(self._obeys(reads_from, causality, coherence) for coherence in self._coherence_orders(causality)):
                return True
        return False

    def _observation(self, reads_from: Relation) -> Relation:
        """Write to read, morally strong, through any chain of atomic operations."""
        observation = intersect(reads_from, self.program.morally_strong)
        while True:
            longer = union(observation, compose(compose(observation, self.program.rmw), observation))
            if longer == observation:
                return observation
            observation = longer

    def _fence_orders(self) -> Iterator[Relation]:
        fences = [e for e in self.program.events if e.kind == "F" and e.is_sc]
        pairs = [
            (a.index, b.index)
            for a, b in itertools.combinations(fences, 2)
            if self.program.morally_strong[a.index] >> b.index & 1
        ]
        yield from self._orientations(pairs, [0] * len(self.program.events))

    def _coherence_orders(self, causality: Relation) -> Iterator[Relation]:
        """Initial writes first, causality kept, morally strong writes in either order."""
        program = self.program
        writes = [e for e in program.events if e.kind == "W"]
        fixed = program.relation(
            lambda a, b: a.kind == b.kind == "W"
            and a.location == b.location
            and (a.lane < 0 <= b.lane or bool(causality[a.index] >> b.index & 1))
        )
        pairs = [
            (a.index, b.index)
            for a, b in itertools.combinations(writes, 2)
            if program.morally_strong[a.index] >> b.index & 1
        ]
        yield from self._orientations(pairs, fixed)

    @staticmethod
    def _orientations(pairs: list[tuple[int, int]], fixed: Relation) -> Iterator[Relation]:
        for forward in itertools.product((True, False), repeat=len(pairs)):
            order = list(fixed)
            for (a, b), straight in zip(pairs, forward):
                order[a if straight else b] |= 1 << (b if straight else a)
            order = closure(order)
            if not any(row >> i & 1 for i, row in enumerate(order)):
                yield order

    def _obeys(self, reads_from: Relation, causality: Relation, coherence: Relation) -> bool:
        program = self.program
        from_reads = compose(inverse(reads_from), coherence)
        strong = program.morally_strong
        between = compose(intersect(from_reads, strong), intersect(coherence, strong))
        if any(row & atom for row, atom in zip(between, program.rmw)):
            return False  # atomicity: a write separates the halves of an atomic operation
        communication = union(reads_from, from_reads)
        if not is_acyclic(union(intersect(union(communication, coherence), strong), program.po_location)):
            return False  # SC per location
        return not contradicts(communication, causality)


def programs(litmus: Litmus) -> Iterator[Program]:
    """One for each way in which the compare-and-swaps may come out."""
    swaps = [
        (number, position)
        for number, lane in enumerate(litmus.lanes)
        for position, how in enumerate(lane.instructions)
        if how.operation == "cas"
    ]
    for outcome in itertools.product((True, False), repeat=len(swaps)):
        yield Program(litmus, dict(zip(swaps, outcome)))


def is_allowed(litmus: Litmus) -> bool:
    """Whether the model lets the bad outcome happen."""
    for program in programs(litmus):
        reads = [e for e in program.events if e.kind == "R"]
        choices = [
            [
                w.index
                for w in program.events
                if w.kind == "W" and w.location == r.location and not program.po[r.index] >> w.index & 1
            ]
            for r in reads
        ]
        for chosen in itertools.product(*choices):
            execution = Execution(program, {r.index: w for r, w in zip(reads, chosen)})
            if execution.has_bad_outcome() and execution.is_consistent():
                return True
    return False
