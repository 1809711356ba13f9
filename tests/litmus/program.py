"""Reads a litmus file: a few lanes, each a handful of PTX memory instructions, and an outcome that nobody wants.

    # What it is about, in words.
    # Code: the lines that it stands for.
    expect forbidden
    init entry=0 word=0
    lane filler block 0 gpu 0
      st.weak entry, 1
      st.release.gpu word, 1        @queue.mark
    lane drive block 0 gpu 1
      ld.acquire.sys seen, word
      ld.weak data, entry
    bad drive.seen == 1 and drive.data == 0
    weaker queue.mark: st.release.cta word, 1

An instruction with a @name carries a memory order of the implementation, by the name that `lane::order_of` gives it
there. Each such order is also weakened to relaxed, as is each `weaker` line tried in place of the named instruction
(`none` drops it): the bad outcome must then be allowed, or the order is not needed and the file is wrong.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field

SEMANTICS = ("weak", "relaxed", "acquire", "release", "acq_rel", "sc")
SCOPES = ("cta", "gpu", "sys")
OPERATIONS = ("add", "exch", "cas", "or")


class LitmusError(Exception):
    """The file does not say what a litmus file must say."""


@dataclass(frozen=True)
class Instruction:
    kind: str  # ld, st, atom, fence
    semantics: str
    scope: str
    operation: str = ""  # of an atom
    target: str = ""  # register that receives the value
    location: str = ""
    operands: tuple[str, ...] = ()  # registers or integers
    name: str = ""  # the order's name in the implementation

    def relaxed(self) -> Instruction | None:
        """The same with the weakest order that still makes it an atomic access; a fence goes altogether."""
        return None if self.kind == "fence" else dataclasses.replace(self, semantics="relaxed")


@dataclass(frozen=True)
class Lane:
    name: str
    block: int
    gpu: int
    instructions: tuple[Instruction, ...]


@dataclass(frozen=True)
class Litmus:
    path: pathlib.Path
    forbidden: bool
    initial: dict[str, int]
    lanes: tuple[Lane, ...]
    bad: tuple[tuple[str, str, int], ...]  # lane, register, value: all of them together
    weaker: tuple[tuple[str, Instruction | None], ...] = field(default=())

    def names(self) -> list[str]:
        found = [i.name for lane in self.lanes for i in lane.instructions if i.name]
        return list(dict.fromkeys(found))

    def _changing(self, name: str, change: Callable[[Instruction], Instruction | None]) -> Litmus:
        """This test with every instruction of that name changed, or dropped where the change is None."""
        lanes = []
        for lane in self.lanes:
            kept = [change(i) if i.name == name else i for i in lane.instructions]
            lanes.append(dataclasses.replace(lane, instructions=tuple(i for i in kept if i is not None)))
        return dataclasses.replace(self, lanes=tuple(lanes), forbidden=False)

    def mutants(self) -> list[tuple[str, Litmus]]:
        """Every named order relaxed, then every weaker line."""
        found = []
        for name in self.names():
            mutant = self._changing(name, Instruction.relaxed)
            if mutant.lanes != self.lanes:
                found.append((f"{name} relaxed", mutant))
        for name, weaker in self.weaker:
            text = "dropped" if weaker is None else f"{weaker.semantics}.{weaker.scope}".strip(".")
            found.append((f"{name} {text}", self._changing(name, lambda _, to=weaker: to)))
        return found


def parse_instruction(text: str) -> Instruction:
    text, _, name = (part.strip() for part in text.partition("@"))
    opcode, _, rest = text.partition(" ")
    kind, *flags = opcode.split(".")
    semantics = next((f for f in flags if f in SEMANTICS), "")
    scope = next((f for f in flags if f in SCOPES), "")
    operation = next((f for f in flags if f in OPERATIONS), "")
    arguments = tuple(a.strip() for a in rest.split(",")) if rest.strip() else ()
    strong = semantics != "weak"
    if len(flags) != 1 + strong + (kind == "atom") or not semantics or (strong and not scope):
        raise LitmusError(f"'{text}': needs its order, and its scope where it is strong")
    if kind == "ld" and len(arguments) == 2:
        return Instruction(kind, semantics, scope, target=arguments[0], location=arguments[1], name=name)
    if kind == "st" and len(arguments) == 2:
        return Instruction(kind, semantics, scope, location=arguments[0], operands=arguments[1:], name=name)
    if kind == "atom" and operation and len(arguments) == (4 if operation == "cas" else 3):
        target, location, *operands = arguments
        return Instruction(kind, semantics, scope, operation, target, location, tuple(operands), name)
    if kind == "fence" and not arguments:
        return Instruction(kind, semantics, scope, name=name)
    raise LitmusError(f"'{text}' is not an instruction that this model knows")


def parse_bad(text: str) -> tuple[tuple[str, str, int], ...]:
    terms = []
    for term in text.split(" and "):
        match = re.fullmatch(r"\s*(\w+)\.(\w+)\s*==\s*(-?\d+)\s*", term)
        if match is None:
            raise LitmusError(f"'{term.strip()}' is not LANE.REGISTER == NUMBER")
        terms.append((match[1], match[2], int(match[3])))
    return tuple(terms)


def parse(path: pathlib.Path) -> Litmus:
    text = path.read_text(encoding="utf-8")
    if not re.search(r"^# Code: ", text, re.M):
        raise LitmusError("no '# Code:' line says what it stands for")
    forbidden: bool | None = None
    initial: dict[str, int] = {}
    lanes: list[Lane] = []
    body: list[Instruction] = []
    bad: tuple[tuple[str, str, int], ...] = ()
    weaker: list[tuple[str, Instruction | None]] = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].rstrip()
        word, _, rest = line.strip().partition(" ")
        try:
            if not word:
                continue
            if line.startswith(" "):
                body.append(parse_instruction(line.strip()))
                lanes[-1] = dataclasses.replace(lanes[-1], instructions=tuple(body))
            elif word == "expect" and rest in ("forbidden", "allowed"):
                forbidden = rest == "forbidden"
            elif word == "init":
                initial = {k: int(v) for k, v in (pair.split("=") for pair in rest.split())}
            elif word == "lane" and (match := re.fullmatch(r"(\w+) block (\d+) gpu (\d+)", rest)):
                body = []
                lanes.append(Lane(match[1], int(match[2]), int(match[3]), ()))
            elif word == "bad":
                bad = parse_bad(rest)
            elif word == "weaker":
                name, _, instruction = rest.partition(": ")
                weaker.append((name, None if instruction.strip() == "none" else parse_instruction(instruction)))
            else:
                raise LitmusError(f"'{line}' is not understood")
        except (LitmusError, ValueError, IndexError) as fault:
            raise LitmusError(f"{path.name}:{number}: {fault}") from fault
    if forbidden is None or not lanes or not bad:
        raise LitmusError(f"{path.name}: needs expect, lanes and a bad outcome")
    return Litmus(path, forbidden, initial, tuple(lanes), bad, tuple(weaker))
