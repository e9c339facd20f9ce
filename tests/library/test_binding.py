"""The Python binding: what it gives is what the program says. test_binding.py REDOUBT"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import redoubt

PROGRAM = sys.argv.pop()
PTX = """.version 6.0
.target sm_60
.address_size 64
.visible .entry twice(.param .u64 data, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p, %r2, %r1;
  @%p ret;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  add.u32 %r4, %r3, %r3;
  st.global.u32 [%rd3], %r4;
  ret;
}
"""


class Binding(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_names(self):
        self.assertIn("fermi-gtx480", redoubt.machines())
        self.assertIn("scalarprod", redoubt.workloads())
        said = subprocess.run([PROGRAM, "version"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(said.split()[1], redoubt.version())

    def test_errors(self):
        with self.assertRaisesRegex(redoubt.Error, "fermi-gtx480"):
            redoubt.Machine("fermi-gtx48")
        machine = redoubt.Machine("functional")
        with self.assertRaisesRegex(redoubt.Error, "vecadd"):
            machine.workload("vecad")
        with self.assertRaises(redoubt.Error):
            redoubt.Machine("functional", settings={"sm.nothing": 3})
        with self.assertRaisesRegex(redoubt.Error, "f128"):
            machine.ptx(PTX, [("f128", "data", [1]), ("u32", 1)])

    def test_run_is_the_programs(self):
        with redoubt.Machine("fermi-gtx480") as machine:
            run = machine.workload("vecadd", n=100).run()
        said = subprocess.run([PROGRAM, "run", "vecadd", "--size", "tiny", "--param", "n=100", "--machine", "fermi-gtx480", "--json"],
                              capture_output=True, text=True, check=True).stdout
        self.assertEqual(run.cycles, json.loads(said)["total"]["cycles"])
        self.assertTrue(run.passed)
        self.assertEqual([len(values) for values in run.outputs.values()], [100])

    def test_ptx(self):
        program = redoubt.Machine("functional").ptx(PTX, [("u32", "data", range(8)), ("u32", 7)], block=32)
        self.assertEqual(list(program.run().outputs["data"]), [0, 2, 4, 6, 8, 10, 12, 7])
        program = redoubt.Machine("functional", settings={"memory.granule": 1}).ptx(PTX, [("u32", "data", range(8)), ("u32", 9)], block=32)
        run = program.run()
        self.assertTrue(run.trapped)
        self.assertIn("not allocated", run.note)

    def test_structures(self):
        plain = redoubt.Machine("fermi-gtx480").structures()
        guarded = redoubt.Machine("fermi-gtx480", protect="secded:rf").structures()
        self.assertEqual(plain["rf"].bits, 15728640)
        self.assertGreater(len(guarded), len(plain))

    def test_campaign_is_the_programs(self):
        program = redoubt.Machine("fermi-gtx480").workload("matmul", size="small")
        told = []
        mine = os.path.join(self.folder, "mine.db")
        results = program.campaign(mine, structures="rf,shared", faults=600, progress=lambda done, total: told.append((done, total)))
        self.assertEqual(told[-1], (600, 600))
        theirs = os.path.join(self.folder, "theirs.db")
        subprocess.run([PROGRAM, "campaign", "matmul", "--size", "small", "--machine", "fermi-gtx480", "--structure", "rf,shared",
                        "--faults", "600", "-o", theirs, "-q"], stdout=subprocess.DEVNULL, check=True)
        self.assertEqual(list(results), list(redoubt.Results(theirs)))
        harmful = [fault for fault in results if fault.group == "sdc"]
        self.assertEqual(sum(results.share("sdc", name).count for name in ("rf", "shared")), len(harmful))
        self.assertGreater(len(harmful), 0)
        outcome = program.inject(harmful[0].fault, explain=True)
        self.assertEqual(outcome.name, harmful[0].outcome)
        self.assertIn("first wrong output", outcome.why)

    def test_stop_and_resume(self):
        program = redoubt.Machine("fermi-gtx480").workload("scalarprod")
        journal = os.path.join(self.folder, "a.db")
        self.assertIsNone(program.campaign(journal, faults=200, progress=lambda done, total: False))
        results = program.campaign(journal, faults=200, progress=lambda done, total: done == 0)
        self.assertFalse(results.complete)
        with self.assertRaisesRegex(redoubt.Error, "unfinished"):
            results.share("sdc")
        results.close()

        def interrupted(done, total):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            program.campaign(journal, faults=200, progress=interrupted)
        self.assertTrue(program.campaign(journal, faults=200).complete)


if __name__ == "__main__":
    unittest.main()
