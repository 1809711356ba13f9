"""The checking scripts notice what they are there to notice."""

from __future__ import annotations

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests" / "litmus")]

import check_ptx  # noqa: E402
import check_registers  # noqa: E402
import check_rooms  # noqa: E402
import program  # noqa: E402

PTX = """
.visible .entry mark(
	.param .u64 mark_param_0
)
{
	ld.param.u64 	%rd1, [mark_param_0];
	@%p1 bra 	$L1;
	st.release.gpu.b64 [%rd1],%rd2;
	st.global.u32 	[%rd1+8], %r1;
}
"""

SASS = """
		Function : mark
        /*0050*/                   ST.E.64.STRONG.GPU desc[UR4][R2.64], R4 ;      /* 0x0 */
        /*0060*/              @!P0 MEMBAR.ALL.SYS ;                               /* 0x0 */
"""

PTXAS = """
ptxas info    : Compiling entry function '_Z4readv' for 'sm_90'
ptxas info    : Function properties for _Z4readv
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 48 registers, used 1 barriers
"""

DUMP = """
arch = sm_80
 Function _Z4readv:
  REG:32 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:380 TEXTURE:0 SURFACE:0 SAMPLER:0
"""


class CheckPtx(unittest.TestCase):
    def test_accepts_the_order_that_is_there(self) -> None:
        self.assertEqual(check_ptx.check(PTX, "mark: st.release.gpu"), (1, []))

    def test_notices_a_weaker_order_or_a_smaller_scope(self) -> None:
        for wanted in ("st.release.sys", "st.acq_rel.gpu", "fence.acq_rel.gpu"):
            self.assertEqual(check_ptx.check(PTX, f"mark: {wanted}")[1], [f"mark: no {wanted}"])

    def test_notices_an_access_without_any_order(self) -> None:
        self.assertEqual(len(check_ptx.check(PTX, "mark: !st.weak")[1]), 1)
        self.assertEqual(check_ptx.check(PTX, "mark: !ld.weak")[1], [])

    def test_notices_a_wrong_sequence(self) -> None:
        self.assertEqual(check_ptx.check(PTX, "mark: st.release.gpu, st.weak")[1], [])
        self.assertEqual(len(check_ptx.check(PTX, "mark: st.weak, st.release.gpu")[1]), 1)

    def test_notices_a_kernel_that_is_missing(self) -> None:
        self.assertEqual(check_ptx.check(PTX, "marks: st.release.gpu")[1], ["no kernel is called marks"])

    def test_reads_machine_code_too(self) -> None:
        self.assertEqual(check_ptx.check(SASS, "mark: st.strong.gpu, membar.sys, !st.weak"), (1, []))


class CheckRegisters(unittest.TestCase):
    def test_notices_registers_and_spills_in_what_ptxas_prints(self) -> None:
        usages = list(check_registers.usages_in(PTXAS))
        self.assertEqual(usages, [check_registers.Usage("_Z4readv", "sm_90", 48, 8)])
        budgets = check_registers.budgets_in("kernel,architecture,registers\nread,sm_90,40\n")
        self.assertEqual(len(check_registers.check(usages, budgets)), 2)

    def test_reads_what_cuobjdump_prints(self) -> None:
        usages = list(check_registers.usages_in(DUMP))
        budgets = check_registers.budgets_in("kernel,architecture,registers\nread,*,32\n")
        self.assertEqual(check_registers.check(usages, budgets), [])

    def test_notices_a_budget_that_watches_nothing(self) -> None:
        budgets = [check_registers.Budget("write", "*", 32)]
        self.assertEqual(len(check_registers.check(list(check_registers.usages_in(DUMP)), budgets)), 1)


class CheckRooms(unittest.TestCase):
    def faults(self, path: str, text: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            file = root / path
            file.parent.mkdir(parents=True)
            file.write_text(text, encoding="utf-8")
            return list(check_rooms.faults_in(root, file))

    def test_lets_a_room_include_what_it_builds_on(self) -> None:
        self.assertEqual(self.faults("include/sluice/queue/a.h", '#include "sluice/base/bits.h"\n'), [])
        self.assertEqual(self.faults("src/array/a.cc", '#include "cache/b.h"\n#include <vector>\n'), [])

    def test_notices_an_include_that_goes_up_or_sideways(self) -> None:
        for path, include in (
            ("include/sluice/base/a.h", "sluice/lane/hd.h"),
            ("include/sluice/cache/a.h", "sluice/nvme/command.h"),
            ("src/controller/a.cc", "sluice/queue/queue_pair.h"),
            ("src/queue/a.cu", "controller/controller.h"),
        ):
            self.assertEqual(len(self.faults(path, f'#include "{include}"\n')), 1, path)

    def test_notices_machine_words_outside_lane(self) -> None:
        self.assertEqual(len(self.faults("include/sluice/cache/a.h", "int i = threadIdx.x;\n")), 1)
        self.assertEqual(self.faults("include/sluice/lane/a.h", "int i = threadIdx.x;\n"), [])


class Litmus(unittest.TestCase):
    def test_refuses_files_that_it_does_not_understand(self) -> None:
        good = "# Code: here.\nexpect allowed\ninit x=0\nlane a block 0 gpu 0\n  ld.relaxed.gpu r, x\nbad a.r == 0\n"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.litmus"
            for wrong in (
                good.replace("# Code: here.\n", ""),
                good.replace("expect allowed\n", ""),
                good.replace("relaxed.gpu", "relaxed"),
                good.replace("ld.relaxed", "load.relaxed"),
                good.replace("a.r == 0", "a.r = 0"),
            ):
                path.write_text(wrong, encoding="utf-8")
                self.assertRaises(program.LitmusError, program.parse, path)
            path.write_text(good, encoding="utf-8")
            self.assertEqual(program.parse(path).bad, (("a", "r", 0),))


if __name__ == "__main__":
    unittest.main()
