#!/usr/bin/env python3
"""A campaign as in a notebook: does ECC on the register file help scalarprod, and where do the wrong results come from?

    python3 examples/campaign.py [FAULTS]

Prints tables and bars; where matplotlib is installed it also draws campaign.png.
"""
import collections
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import redoubt

faults = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
folder = tempfile.mkdtemp(prefix="redoubt-")

# %% One program on two machines: without and with SECDED on the register file.
shares, results = {}, {}
for name, protect in (("plain", []), ("secded:rf", ["secded:rf"])):
    machine = redoubt.Machine("fermi-gtx480", protect=protect)
    program = machine.workload("scalarprod", size="tiny")
    run = program.run()
    print(f"{name}: {run.cycles} cycles, results are {'right' if run.passed else 'wrong'}")
    results[name] = program.campaign(os.path.join(folder, name.replace(":", "-") + ".db"), structures="rf", faults=faults)
    shares[name] = results[name].shares()

# %% What faults do, with 99 % intervals.
print(f"\n{'outcome':12} " + " ".join(f"{name:>28}" for name in shares))
for group in redoubt.GROUPS:
    cells = [f"{100 * s.share:6.2f} % ({100 * s.low:.2f} to {100 * s.high:.2f})" for s in (shares[name][group] for name in shares)]
    print(f"{group:12} " + " ".join(f"{cell:>28}" for cell in cells))

# %% Which bits of a register matter, without protection.
harmful = [fault for fault in results["plain"] if fault.group in ("sdc", "due")]
bits = collections.Counter(int(fault.fault.split("bit=")[1].split("]")[0]) // 8 for fault in harmful)
print("\nharmful faults by byte of the register")
for byte in range(4):
    print(f"  bits {8 * byte:2}-{8 * byte + 7:2}  {'#' * bits[byte]} {bits[byte]}")

# %% The first of them again, explained.
if harmful:
    machine = redoubt.Machine("fermi-gtx480")
    outcome = machine.workload("scalarprod", size="tiny").inject(harmful[0].fault, explain=True)
    print(f"\n{harmful[0].fault}: {outcome.name}, {outcome.meaning}\n{outcome.why}")

# %% A picture, where matplotlib is there.
try:
    import matplotlib
except ImportError:
    print("matplotlib is not installed: no picture")
else:
    matplotlib.use("Agg")
    from matplotlib import pyplot
    groups = [group for group in redoubt.GROUPS if group != "masked"]
    for i, (name, of) in enumerate(shares.items()):
        low, high = [[abs(100 * (of[g].share - getattr(of[g], end))) for g in groups] for end in ("low", "high")]
        pyplot.bar([k + 0.4 * i for k in range(len(groups))], [100 * of[g].share for g in groups], 0.4, yerr=[low, high], label=name)
    pyplot.xticks([k + 0.2 for k in range(len(groups))], groups)
    pyplot.ylabel("% of faults in the register file")
    pyplot.legend()
    pyplot.savefig("campaign.png")
    print("campaign.png: drawn")
print(f"journals: {folder}")
