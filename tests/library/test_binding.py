"""The Python binding: what it gives is what the program says. test_binding.py REDOUBT"""
import copy
import gc
import itertools
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
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


class Misuse(unittest.TestCase):
    """What must raise, and never crash the interpreter: closed handles, text with NUL, numbers and types that C does not take, loops, threads."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.journal = os.path.join(folder.name, "a.db")
        self.machine = redoubt.Machine("fermi-gtx480", settings={"sm.count": 1})
        self.program = self.machine.workload("vecadd")

    def calls(self):
        """(handle, name, a call of it), of every method."""
        results = self.program.campaign(self.journal, faults=20)
        return [
            (self.machine, "structures", self.machine.structures),
            (self.machine, "workload", lambda: self.machine.workload("vecadd")),
            (self.machine, "ptx", lambda: self.machine.ptx(PTX, [("u32", "data", [1]), ("u32", 1)])),
            (self.program, "run", self.program.run),
            (self.program, "inject", lambda: self.program.inject("flip:rf[sm=0,reg=0,lane=0,bit=0]@0")),
            (self.program, "campaign", lambda: self.program.campaign(self.journal, faults=20)),
            (results, "complete", lambda: results.complete),
            (results, "share", lambda: results.share("sdc")),
            (results, "shares", results.shares),
            (results, "loop", lambda: list(results)),
        ]

    def test_closed(self):
        calls = self.calls()
        named = {name for handle in (redoubt.Machine, redoubt.Program, redoubt.Results) for name in vars(handle) if name[0] != "_"}
        self.assertEqual(named | {"loop"}, {name for _, name, _ in calls})  # none is forgotten
        for _, _, call in calls:
            call()
        for handle, _, _ in calls:
            handle.close()
            handle.close()
        for handle, name, call in calls:
            with self.subTest(name), self.assertRaisesRegex(redoubt.Error, "the (machine|program|journal) is closed"):
                call()
        with self.machine as machine, self.assertRaisesRegex(redoubt.Error, "the machine is closed"):
            machine.structures()

    def test_never_opened(self):
        for kind in (redoubt.Program, redoubt.Machine, redoubt.Results):
            handle = kind.__new__(kind)
            with self.assertRaisesRegex(redoubt.Error, "never opened"):
                handle.close()
        for arguments in ((), (0,), (12345,)):
            with self.assertRaises(TypeError):
                redoubt.Program(*arguments)

    def test_copies(self):
        for handle in (self.machine, self.program):
            for way in (copy.copy, copy.deepcopy, pickle.dumps):
                with self.assertRaisesRegex(TypeError, "cannot be copied"):
                    way(handle)

    def test_parent_closed(self):
        self.machine.close()
        self.assertTrue(self.program.run().passed)
        results = self.program.campaign(self.journal, faults=20)
        self.program.close()
        self.assertEqual(len(list(results)), 20)

    def test_nul(self):
        functional, arguments = redoubt.Machine("functional"), [("u32", "data", [1]), ("u32", 1)]
        for call in (
            lambda: redoubt.Machine("functional\0b"),
            lambda: redoubt.Machine(b"functional\0b"),
            lambda: redoubt.Machine("functional", settings={"sm.count\0": 1}),
            lambda: redoubt.Machine("functional", settings={"sm.count": "1\0"}),
            lambda: redoubt.Machine("fermi-gtx480", protect="dmr\0"),
            lambda: functional.workload("vecadd\0"),
            lambda: functional.workload("vecadd", size="tiny\0"),
            lambda: functional.workload("vecadd", n="9\0"),
            lambda: functional.ptx(PTX + "\0nonsense", arguments),
            lambda: functional.ptx(PTX, arguments, kernel="twice\0"),
            lambda: functional.ptx(PTX, arguments, name="a\0"),
            lambda: functional.ptx(PTX, [("u32", "da\0ta", [1]), ("u32", 1)]),
            lambda: self.program.inject("flip:rf[sm=0,reg=0,lane=0,bit=0]@0\0"),
            lambda: self.program.campaign(self.journal + "\0", faults=1),
            lambda: self.program.campaign(self.journal, structures="rf\0", faults=1),
            lambda: self.program.campaign(self.journal, model="flip\0", faults=1),
            lambda: self.program.campaign(self.journal, window="all\0", faults=1),
            lambda: redoubt.Results(self.journal + "\0"),
        ):
            with self.assertRaisesRegex(redoubt.Error, "NUL character"):
                call()

    def test_numbers(self):
        huge = 10**30
        functional = redoubt.Machine("functional")
        for said, call in (
            ("confidence 2: must be a number between 0.5 and 1", lambda: self.program.campaign(self.journal, confidence=2)),
            ("confidence -1", lambda: self.program.campaign(self.journal, confidence=-1)),
            ("confidence nan", lambda: self.program.campaign(self.journal, confidence=float("nan"))),
            ("margin -1: must be a number from 0.0001 to 0.5", lambda: self.program.campaign(self.journal, margin=-1)),
            ("margin nan", lambda: self.program.campaign(self.journal, margin=float("nan"))),
            ("margin inf", lambda: self.program.campaign(self.journal, margin=float("inf"))),
            ("faults -1", lambda: self.program.campaign(self.journal, faults=-1)),
            ("faults 1000000001: must be 1 to 1000000000", lambda: self.program.campaign(self.journal, faults=10**9 + 1)),
            ("faults 1000000000000000000000000000000", lambda: self.program.campaign(self.journal, faults=huge)),
            ("give one of them", lambda: self.program.campaign(self.journal, faults=5, margin=0.1)),
            ("seed -1", lambda: self.program.campaign(self.journal, faults=5, seed=-1)),
            ("jobs -1", lambda: self.program.campaign(self.journal, faults=5, jobs=-1)),
            ("jobs 257: must be 1 to 256", lambda: self.program.campaign(self.journal, faults=5, jobs=257)),
            ("jobs 4294967297", lambda: self.program.campaign(self.journal, faults=5, jobs=2**32 + 1)),
            ("seed -1", lambda: functional.workload("vecadd", seed=-1)),
            ("seed 18446744073709551616", lambda: functional.workload("vecadd", seed=2**64)),
            ("grid 4294967297", lambda: functional.ptx(PTX, [("u32", "data", [1]), ("u32", 1)], grid=2**32 + 1)),
            ("block -1", lambda: functional.ptx(PTX, [("u32", "data", [1]), ("u32", 1)], block=-1)),
            ("three dimensions", lambda: functional.ptx(PTX, [("u32", "data", [1]), ("u32", 1)], grid=(1, 1, 1, 1))),
            ("shared 4294967296", lambda: functional.ptx(PTX, [("u32", "data", [1]), ("u32", 1)], shared=2**32)),
            ("argument 2", lambda: functional.ptx(PTX, [("u32", "data", [1]), ("u32", 2**32)])),
            ("argument 1", lambda: functional.ptx(PTX, [("u32", "data", [-1]), ("u32", 1)])),
            ("argument 1: an array needs an element", lambda: functional.ptx(PTX, [("u32", "data", []), ("u32", 1)])),
            ("n = -1: must be 1 to", lambda: functional.workload("vecadd", n=-1)),
            ("n = -18446744073709551610", lambda: functional.workload("vecadd", n=6 - 2**64)),  # wraps to 6
            (f"n = {huge}", lambda: functional.workload("vecadd", n=huge)),
            ("n = 1.5: must be 1 to", lambda: functional.workload("vecadd", n=1.5)),
            ("is not a cycle", lambda: self.program.inject(f"flip:rf[sm=0,reg=0,lane=0,bit=0]@{huge}")),
            ("must be all", lambda: self.program.campaign(self.journal, faults=1, window=f"cycles:{1 - 2**64}-5")),
            ("no machine", lambda: redoubt.Machine("\u00e9" * 5000)),
            ("sm.count = -1", lambda: redoubt.Machine("functional", settings={"sm.count": -1})),
            ("fit.sram = nan", lambda: redoubt.Machine("functional", settings={"fit.sram": float("nan")})),
        ):
            with self.subTest(said), self.assertRaisesRegex(redoubt.Error, said):
                call()
        self.assertFalse(os.path.exists(self.journal))
        run = functional.ptx(PTX, [("u32", "data", [1]), ("u32", 1)], grid=2**32 - 1, block=2**32 - 1).run()
        self.assertTrue(run.trapped)
        results = self.program.campaign(self.journal, faults=20)
        for confidence in (0, 1, -1, float("nan")):
            with self.assertRaisesRegex(redoubt.Error, "must be a number between 0.5 and 1"):
                results.share("sdc", confidence=confidence)

    def test_types(self):
        functional, arguments = redoubt.Machine("functional"), [("u32", "data", [1]), ("u32", 1)]
        for call in (
            lambda: redoubt.Machine(5),
            lambda: redoubt.Machine(None),
            lambda: redoubt.Machine("functional", settings=5),
            lambda: redoubt.Machine("functional", protect=5),
            lambda: functional.workload(None),
            lambda: functional.workload("vecadd", size=None),
            lambda: functional.workload("vecadd", seed=1.5),
            lambda: functional.workload("vecadd", seed="1"),
            lambda: functional.ptx(5, arguments),
            lambda: functional.ptx(None, arguments),
            lambda: functional.ptx(PTX, None),
            lambda: functional.ptx(PTX, [5]),
            lambda: functional.ptx(PTX, [()]),
            lambda: functional.ptx(PTX, [("u32", "data", 5), ("u32", 1)]),
            lambda: functional.ptx(PTX, [("u32", None, ["x"]), ("u32", 1)]),
            lambda: functional.ptx(PTX, arguments, grid="1"),
            lambda: functional.ptx(PTX, arguments, block=1.5),
            lambda: functional.ptx(PTX, arguments, kernel=5),
            lambda: self.program.inject(None),
            lambda: self.program.inject(5),
            lambda: self.program.campaign(None, faults=1),
            lambda: self.program.campaign(5, faults=1),
            lambda: self.program.campaign(self.journal, faults="1"),
            lambda: self.program.campaign(self.journal, faults=1.5),
            lambda: self.program.campaign(self.journal, faults=None),
            lambda: self.program.campaign(self.journal, faults=1, confidence="x"),
            lambda: self.program.campaign(self.journal, margin=[]),
            lambda: self.program.campaign(self.journal, faults=1, structures=5),
            lambda: self.program.campaign(self.journal, faults=1, progress=5),
            lambda: redoubt.Results(5),
            lambda: redoubt.Results(None),
        ):
            with self.assertRaises((TypeError, AttributeError, redoubt.Error)):
                call()

    def test_loops(self):
        results = self.program.campaign(self.journal, faults=20)
        ids = list(range(20))
        self.assertEqual([(a.id, b.id) for a in results for b in results], list(itertools.product(ids, ids)))
        self.assertEqual([(a.id, b.id) for a, b in zip(results, results)], list(zip(ids, ids)))
        left = iter(results)
        next(left)
        other = iter(redoubt.Results(self.journal))  # nobody else holds these results
        gc.collect()
        self.assertEqual([fault.id for fault in other], ids)
        results.close()
        with self.assertRaisesRegex(redoubt.Error, "the journal is closed"):
            next(left)
        with self.assertRaises(StopIteration):
            next(left)

    def test_progress(self):
        """A progress function may not use the program that is being broken; what it raises comes out."""
        for call in (self.program.close, self.program.run, lambda: self.program.inject("flip:rf[reg=0]@0")):
            def told(done, total):
                call()
            with self.assertRaisesRegex(redoubt.Error, "the program is in use"):
                self.program.campaign(self.journal, faults=20, progress=told)
        self.assertTrue(self.program.campaign(self.journal, faults=20).complete)

    def test_threads(self):
        """One handle in many threads: each call waits for its turn. One thread closes what others use."""
        expected, seen, errors = self.program.run().cycles, [], []

        def work():
            try:
                while True:
                    seen.append(self.program.run().cycles)
                    self.machine.workload("vecadd").run()
            except redoubt.Error as error:
                errors.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        while len(seen) < 20 and any(thread.is_alive() for thread in threads):
            time.sleep(0.01)
        self.program.close()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, ["the program is closed"] * 4)
        self.assertEqual(set(seen), {expected})


if __name__ == "__main__":
    unittest.main()
