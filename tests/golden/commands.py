"""What the golden record holds: commands of redoubt, in the order of the record.

A new workload, machine or choice of a parameter comes in by itself, and so does a kernel of tests/ptx/run. A new scheme needs a line in SCHEMES; without it nothing is recorded."""
import configparser
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

# Six programs on which every scheme runs: matrix tiles, many launches, bytes in shared memory, a stencil, trees with barriers, textures and constants.
SIX = "matmul bfs histogram64 hotspot scan kmeans"
BROKEN_LANE = "--fault stuck1:unit.sp[sm=0,sp=0,lane=5,bit=3]@500-"
SCHEMES = {  # of the SIMT machines: size, machine and options with which the scheme acts
    "null": ["tiny --machine fermi-gtx480 --protect null:plan,places,decisions"],
    "parity": ["tiny --machine fermi-gtx480 --protect parity"],
    "secded": ["tiny --machine turing-rtx2060 --set sm.count=1 --set sm.registers=8192 --protect secded:all --upsets 20:rf,shared,pred,icache"],
    "dmr": ["tiny --machine gt200-rise --protect dmr", "tiny --machine fermi-gtx480 --protect dmr:entries=4,shuffle=5"],
    "heal": [f"tiny --machine fermi-gtx480 --protect heal {BROKEN_LANE}", f"tiny --machine fermi-gtx480 --protect heal:detect=rise {BROKEN_LANE}"],
    "hints": ["tiny --machine tesla-hints --protect hints", "tiny --machine tesla-hints --protect hints:faulty=1+2+4,order=issue,merge=ask,l2=prefetch,view=4", "tiny --machine tesla-hints --protect hints:use=off"],
    "rise": [f"small --machine gt200-rise --set dram.controllers=1 --protect rise:{form}" for form in ("all", "rp", "is", "partial")],
    "reissue": ["tiny --machine fermi-gtx480 --protect reissue", "tiny --machine turing-rtx2060 --protect reissue:same,lines=128,free"],
    "shield": ["tiny --machine fermi-gtx480 --protect shield:map=2+1-per-cluster", "tiny --machine ampere-a100 --protect shield:map=random,density=30,where=sp+sfu,units=true,pool=true"],
    "twin": [],  # of the fragment machine
}
FRAGMENT = "--machine sheaffer-2007 --domain 40x30 " + " ".join(f"--texture {n}=random:64x64" for n in range(8))
FRAGMENT_OWN = {"turn.fp": " --value last=40,30"}
FRAGMENT_SCHEMES = [f"jacobi.fp {FRAGMENT} --protect {scheme}" for scheme in (
    "reissue", "reissue:toggle", "reissue:apart,geometry", "reissue:pairs", "reissue:quad", "reissue:copies=3", "reissue:off", "reissue:lockstep --set fragment.cache_pipelines=2",
    "twin --set fragment.units=2", "secded:temp,tcache,rcache --upsets 20:temp,tcache")] + [f"turn.fp {FRAGMENT} --value last=40,30 --protect reissue:scatter"]
G80 = "g80.nn --size tiny --machine flexgrip-thesis --set g80.sms=3"
G80_SCHEMES = [f"{G80} --protect {scheme}" for scheme in ("null", "secded:all")]

# On few SMs, and with fewer cells, so that more faults strike what is used.
FEW = "--set sm.count=2 --set sm.registers=16384 --set sm.stack=32 --set l2.bytes=16384"
ACE = [f"bfs --size tiny --machine fermi-gtx480 {FEW} --observe ace", f"kmeans --size tiny --machine turing-rtx2060 {FEW} --observe ace"]
STRUCK = [f"{workload} --size tiny --machine {options} {FEW}" for workload in ("vecadd", "matmul", "bfs", "scalarprod") for options in (
    "fermi-gtx480 --structure rf,stack,latch,l2,unit.sp --faults 500",
    "turing-rtx2060 --structure rf,shared,l1d,collector --model adjacent(2) --faults 500",
    "tesla-hints --structure rf,unit.sp,scheduler --model stuck1 --faults 200",
    "gt200-rise --structure unit.sp,rf --protect dmr --faults 300",
    "gt200-rise --structure rf,l2 --protect secded:rf,l2 --model adjacent(2) --faults 200")]
STRUCK += [f"hotspot --size tiny --machine {machine} --set sm.count=2 --structure all --faults 2000" for machine in ("fermi-gtx480", "tesla-hints", "turing-rtx2060")]
STRUCK += [f"{options} --set sm.count=2 --faults 300" for options in (
    "matmul --size tiny --machine fermi-gtx480 --structure unit,heal.sp,heal.vote.sp,heal.note --protect heal",
    "matmul --size tiny --machine fermi-gtx480 --structure unit --protect heal --model stuck1",
    "scan --size tiny --machine fermi-gtx480 --structure rf,unit,shield.sp --protect shield:map=random,density=40",
    "aes --size tiny --machine tesla-hints --structure hints --protect hints",
    "fwt --size tiny --machine fermi-gtx480 --structure unit.sp,latch,collector,reissue --protect reissue",
    "matmul --size tiny --machine gt200-rise --structure unit.sp,latch,rise --protect rise:all",
    "matmul --size tiny --machine fermi-gtx480 --structure rf,parity.rf --protect parity",
    "transpose --size tiny --machine fermi-gtx480 --structure rf,pred,unit.sp --model duty(50,50)",
    "gemm --size tiny --machine turing-rtx2060 --structure tensor,unit.tensor,rf --model lanes")]
STRUCK += ["g80.scalarprod --size tiny --machine flexgrip-thesis --set g80.sms=2 --structure all --faults 2000",
           "g80.scalarprod --size tiny --machine flexgrip-thesis --set g80.sms=2 --structure rf,wp,ctl,bs --protect secded:all --faults 500",
           "jacobi.fp --machine sheaffer-2007 --domain 16x12 --texture 0=random:16x16 --texture 1=random:16x16 --structure all --faults 2000",
           "jacobi.fp --machine sheaffer-2007 --domain 16x12 --texture 0=random:16x16 --texture 1=random:16x16 --structure temp,output,unit,raster,rbar --protect reissue --faults 500"]


def names(pattern):
    """What stands for * in the files of this pattern."""
    head, tail = pattern.split("*")
    return sorted(path[len(ROOT) + 1 + len(head):len(path) - len(tail)] for path in glob.glob(os.path.join(ROOT, pattern)))


def machines():
    """Names of the built-in machines, by machine.model."""
    found = {}
    for name in names("machines/*.ini"):
        file = configparser.ConfigParser(inline_comment_prefixes="#", strict=False)
        file.read(os.path.join(ROOT, "machines", name + ".ini"))
        found.setdefault(file["machine"]["model"], []).append(name)
    return found


def listed(redoubt, what):
    return subprocess.run([redoubt, "list", what], check=True, capture_output=True, text=True).stdout.splitlines()


def choices(redoubt):
    """Every choice of every parameter that has choices."""
    for line in listed(redoubt, "params"):
        key, values = line.split()[:2]
        if "|" in values and key != "machine.model":
            yield from (f"{key}={value}" for value in values.split("|"))


def kernels():
    """Of tests/ptx/run: the command of each case, without those that launch kernels by the thousand: seconds each."""
    for name in names("tests/ptx/run/*.ptx"):
        with open(os.path.join(ROOT, "tests", "ptx", "run", name + ".ptx"), encoding="utf-8") as file:
            yield from (f"tests/ptx/run/{name}.ptx {line[8:].strip()}" for line in file if line.startswith("// run: ") and not re.search(r"u32:(2048|2049|3000|10000)$", line))


def all_commands(redoubt):
    listed_schemes = {re.match(r"\w+", line)[0] for line in listed(redoubt, "protections") if line[:1].isalpha()} - {"none"}
    if listed_schemes != set(SCHEMES):
        sys.exit(f"golden: {', '.join(sorted(listed_schemes ^ set(SCHEMES)))}: new or gone; SCHEMES in tests/golden/commands.py must know")
    workloads, g80, kinds = names("workloads/*/workload.c"), ["g80." + name for name in names("workloads/g80/*/")], machines()
    for name in workloads:
        yield f"run {name} --dump program"
    for size in ("tiny", "small"):
        for machine in kinds["functional"] + kinds["simt"] + kinds["flexgrip"]:
            for name in g80 if machine in kinds["flexgrip"] else workloads:
                yield f"run {name} --size {size} --machine {machine}"
    for name in names("workloads/fragment/*.fp"):
        yield f"run {name}.fp {FRAGMENT}{FRAGMENT_OWN.get(name + '.fp', '')}"
    for options in sum(SCHEMES.values(), []):
        for name in SIX.split():
            yield f"run {name} --size {options}"
    for scheme in FRAGMENT_SCHEMES + G80_SCHEMES:
        yield f"run {scheme}"
    for choice in [*choices(redoubt), "scheduler.large_warp=4"]:
        yield f"run {G80 if choice.startswith('g80.') else 'kmeans --size tiny --machine fermi-gtx480 --set sm.count=2'} --set {choice}"
    for kernel in kernels():
        yield f"run {kernel}" + ("" if "--machine" in kernel else " --machine ampere-a100 --set sm.count=4")
    for options in ACE:
        yield f"run {options}"
    for options in STRUCK:
        yield f"campaign {options}"
