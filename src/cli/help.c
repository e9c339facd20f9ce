// Help texts: what a newcomer reads first.
#include "cli/cli.h"

#include <stdio.h>

void help_main(void) {
  fputs("Redoubt runs GPU programs on a simulated GPU; no GPU and no GPU toolkit are needed.\n"
        "\n"
        "  redoubt run TARGET      run a built-in workload, a PTX file or a CUDA program (-- ./app) and show what it did\n"
        "  redoubt check FILE...   say what in a PTX file cannot be run, line by line\n"
        "  redoubt campaign TARGET inject faults until the answer is sure enough; resumes by default\n"
        "  redoubt report DB       what a campaign found: tables, or one page with charts (-o page.html)\n"
        "  redoubt compare A B     two campaigns with the same faults; 'redoubt merge' puts shards together\n"
        "  redoubt reproduce STUDY run a published study again and compare\n"
        "  redoubt replay DB ID    one fault of a campaign again, explained\n"
        "  redoubt list WHAT       machines, workloads, structures, faults, protections, instructions, params, stats, traps\n"
        "  redoubt asm FILE        assemble G80 code; 'redoubt disasm FILE' is the way back\n"
        "  redoubt help COMMAND    more about a command\n"
        "  redoubt version\n"
        "\n"
        "Try first:\n"
        "  redoubt run vecadd\n"
        "  redoubt run matmul --size small --machine fermi-gtx480\n"
        "  redoubt campaign scalarprod --size tiny --machine fermi-gtx480 --structure rf --faults 500\n"
        "  redoubt list workloads\n"
        "\n"
        "Exit codes: 0 all went well, 1 results are wrong, 2 bad usage or input,\n"
        "            3 the simulated program trapped, 4 internal error.\n",
        stdout);
}

void help_run(void) {
  fputs("redoubt run WORKLOAD [options]          a built-in workload, checked against the CPU\n"
        "redoubt run FILE.ptx [options]          a kernel from a PTX file, without any host code\n"
        "redoubt run FILE.sass|FILE.hex [options]  G80 machine code, with --machine flexgrip or flexgrip-thesis\n"
        "redoubt run [options] -- ./app ARGS     a CUDA program built with 'nvcc -cudart shared'\n"
        "\n"
        "Workloads ('redoubt list workloads'):\n"
        "  --size SIZE            tiny, small, default or large\n"
        "  --param NAME=NUMBER    change one of its parameters\n"
        "  --seed NUMBER          random inputs from this seed (default 1)\n"
        "\n"
        "PTX files:\n"
        "  --kernel NAME          which kernel; not needed when the file has one\n"
        "  --grid X[,Y[,Z]]       blocks (default 1); 4x4 is the same as 4,4\n"
        "  --block X[,Y[,Z]]      threads per block (default 1, or what .reqntid says)\n"
        "  --shared BYTES         dynamic shared memory\n"
        "  --cooperative          a cooperative launch: grid-wide barriers work\n"
        "  --arg ARGUMENT         one per kernel parameter, in order:\n"
        "      u32:1024  n:s32=-5  x:f32=0.5       a number, with or without a name\n"
        "      out:f32[1024]                       an array in device memory, zeros; its address is passed\n"
        "      in:f32[1024]=GENERATOR              an array with contents\n"
        "      in:f32[]={1,2,3}  in:u8[]=file:F    its size from the contents\n"
        "      s:bytes=00ff12ab                    a struct by value, as hexadecimal bytes\n"
        "      @in                                 the array named in, once more\n"
        "    types       u8 s8 b8 u16 s16 b16 u32 s32 b32 u64 s64 b64 f16 bf16 f32 f64\n"
        "    generators  zeros, ones, fill(V), ramp, ramp(START,STEP), random, random(LOW,HIGH),\n"
        "                {V,V,...} (the rest zeros), file:PATH (raw bytes)\n"
        "\n"
        "G80 code (.sass, .hex): --grid X[,Y], --block, --shared and --arg NUMBER (12, 0x1000, f32:1.5) as for PTX files;\n"
        "registers and blocks per SM that the file does not say: --set g80.gprs=N --set g80.blocks_per_core=N; and\n"
        "  --gmem-in FILE         global memory before the run, a 32-bit word a line in hexadecimal; --gmem-out FILE: after it\n"
        "  --cmem-in FILE         constant memory; --cmem-bytes N: its size as the host declares it, which delays the start\n"
        "\n"
        "Both:\n"
        "  --dump program         print the lowered program: encoding, registers, source lines; do not run it\n"
        "  --dump NAME[=FILE]     print an array after the run, or write its raw bytes to FILE;\n"
        "                         NAME is an --arg's name or a workload's output\n"
        "  --json[=FILE]          results as JSON, to the terminal or FILE: every statistic, and ratios\n"
        "  --csv[=FILE]           results as CSV: every statistic, a row per launch and a total\n"
        "  --stats STYLE          what is said of machines with time: summary (default), table,\n"
        "                         gpgpusim (name = value lines under GPGPU-Sim's names)\n"
        "  --machine NAME|FILE    the simulated GPU (default functional; 'redoubt list machines')\n"
        "  --set KEY=VALUE        change a parameter of the machine ('redoubt list params')\n"
        "  --protect SCHEME       attach a protection ('redoubt list protections'); several: repeat it\n"
        "  --trace FILE           write a time line for Perfetto or Chrome (ui.perfetto.dev)\n"
        "  --trace-cycles FROM:TO only these cycles of it\n"
        "  --fault FAULT          break it on purpose, e.g. flip:rf[sm=3,warp=5,reg=12,lane=7,bit=4]@12345, and say what\n"
        "                         that does ('redoubt list faults'); several in one run: repeat it\n"
        "  --explain              and why: where the bit went, what differed first, how it reached the output\n"
        "  --timeout N            with --fault: N times the fault-free cycles count as endless (default 10)\n"
        "  --output FILE          with --fault and a CUDA program: a file that it writes, judged too; may be repeated\n"
        "  --max-registers N      registers per thread; more are spilled to local memory\n"
        "  --max-instructions N   warp instructions per launch before it counts as endless\n"
        "  --repeat N             run everything N times, each on a fresh device\n"
        "\n"
        "CUDA programs run as they are, on the simulated GPU, with their own input and output; --json, --csv, --stats,\n"
        "--machine, --set, --protect, --trace, --max-registers and --max-instructions work for them. Accesses are checked\n"
        "as coarsely as hardware does, by 2 MiB pages; --set memory.granule=1 checks them to the byte. The exit code is\n"
        "the program's. With --fault they run several times, without input, and what they print is compared, not shown.\n"
        "\n"
        "Examples:\n"
        "  redoubt run -- ./app input.txt\n"
        "  redoubt run matmul --param tiles=8\n"
        "  redoubt run vecadd.ptx --grid 16 --block 64 --arg a:f32[1024]=ramp --arg b:f32[1024]=ones \\\n"
        "      --arg c:f32[1024] --arg n:u32=1024 --dump c\n"
        "  redoubt run vecadd --dump program\n"
        "  redoubt run bfs --machine gt200-rise --protect dmr\n"
        "  redoubt run vecadd --size tiny --machine fermi-gtx480 --fault 'flip:rf[sm=0,warp=0,reg=0,lane=7,bit=4]@700' --explain\n"
        "  redoubt run --machine fermi-gtx480 --fault 'flip:rf[sm=0,warp=0,reg=0,lane=7,bit=4]@700' --explain -- ./app input.txt\n"
        "  redoubt run scan --size tiny --machine fermi-gtx480 --trace scan.json\n"
        "\n"
        "What kernels print with printf goes to the output (to stderr when that is JSON).\n"
        "Exit codes: 0 all went well, 1 results are wrong, 2 bad usage or input,\n"
        "            3 the simulated program trapped, 4 internal error.\n",
        stdout);
}

void help_check(void) {
  fputs("redoubt check FILE.ptx...\n"
        "\n"
        "Says, for every line that cannot be run, what is wrong with it: file, line, column and text.\n"
        "Exit codes: 0 every file can be run, 2 some line of some file cannot.\n"
        "\n"
        "Example:\n"
        "  redoubt check kernels/*.ptx\n",
        stdout);
}

void help_campaign(void) {
  fputs("redoubt campaign WORKLOAD [options]                inject faults and say what they do, with confidence\n"
        "redoubt campaign FILE.ptx [options]                the same for a kernel of a PTX file\n"
        "redoubt campaign [options] -- ./app ARGUMENTS      and for a CUDA program\n"
        "\n"
        "What describes the target and the machine is as for 'redoubt run': --size, --param, --seed; --kernel, --grid,\n"
        "--block, --shared, --cooperative, --arg; --machine, --set, --protect.\n"
        "\n"
        "  --structure LIST       what is struck: rf, shared, unit.sp, ... ('redoubt list structures'; default rf); stack is every\n"
        "                         stack.*, all is every cell on the chip\n"
        "  --model MODEL          how ('redoubt list faults'; default flip)\n"
        "  --window WHEN          all (default), kernel:NAME or cycles:FROM-TO; faults that last begin then\n"
        "  --faults N             how many faults, dealt evenly over the structures\n"
        "  --margin E             or: until the interval of each structure is within +-E (default 0.01)\n"
        "  --confidence C         of the intervals (default 0.99)\n"
        "  --fault-seed N         other faults, but the same inputs (default: --seed, which changes both)\n"
        "  -j N                   simulations at one time (default: all cores)\n"
        "  -o FILE                the journal (default TARGET-MACHINE.db); an unfinished one is resumed\n"
        "  --timeout N            a run of N times the fault-free cycles counts as endless (default 10)\n"
        "  --shard I/N            every N-th fault only, I from 0; 'redoubt merge' puts the journals together\n"
        "  --output FILE          a file that the CUDA program writes: judged besides its standard output, exit code and\n"
        "                         what it copies back; one run follows the other then; may be repeated\n"
        "  --progress             say how far it is every ten seconds, if there is no terminal\n"
        "  --no-prune             simulate also what is known to be masked\n"
        "  --no-snapshot          simulate every fault from the beginning to the end\n"
        "\n"
        "Examples:\n"
        "  redoubt campaign scalarprod --machine fermi-gtx480 --structure rf,shared --faults 5000\n"
        "  redoubt campaign matmul --size tiny --machine turing-rtx2060 --structure rf,unit --margin 0.005 --confidence 0.95\n"
        "  redoubt campaign matmul --size tiny --machine fermi-gtx480 --structure unit.sp --model stuck1 --window cycles:0-1\n"
        "  redoubt campaign --machine fermi-gtx480 --faults 1000 --output result.txt -- ./app input.txt result.txt\n"
        "\n"
        "Exit codes: 0 all faults are settled, 2 bad usage or input, 4 internal error, 130 stopped by Ctrl-C.\n",
        stdout);
}

void help_replay(void) {
  fputs("redoubt replay JOURNAL ID\n"
        "\n"
        "One fault of a campaign again: its outcome, which must be the journal's, and why. See docs/faults.md.\n"
        "Of a CUDA program: in the folder where the campaign was started.\n"
        "\n"
        "  --json[=FILE]          the same as JSON\n"
        "  --timeout N            N times the fault-free cycles count as endless (default: the campaign's)\n"
        "\n"
        "Exit codes: 0 the same outcome, 2 bad input or another program or machine, 4 another outcome, or an internal error.\n",
        stdout);
}

void help_report(void) {
  fputs("redoubt report JOURNAL                  tables: outcomes with intervals, AVF, FIT\n"
        "redoubt report JOURNAL -o PAGE.html     one page with charts, which needs no network\n"
        "\n"
        "  --csv FILE             every fault as CSV; into an existing folder: all tables\n"
        "  --json FILE            summaries and every fault as JSON\n"
        "  --confidence C         of the intervals (default 0.99)\n",
        stdout);
}

void help_compare(void) {
  fputs("redoubt compare A.db B.db\n"
        "\n"
        "Two campaigns with the same faults, e.g. without and with --protect: what became of each fault, and how\n"
        "much the AVF falls, with Newcombe's interval for the paired difference.\n"
        "\n"
        "  --confidence C         of the interval (default 0.99)\n",
        stdout);
}

void help_merge(void) {
  fputs("redoubt merge ALL.db SHARD.db...\n"
        "\n"
        "Puts the journals of 'redoubt campaign --shard I/N' together: the same as one campaign would have written.\n",
        stdout);
}

void help_reproduce(void) {
  fputs("redoubt reproduce flexgrip              a published study, run again: every number beside the published one\n"
        "redoubt reproduce flexgrip --beyond     what the study left open: stuck-at faults, other structures, 1 to 16 SMs\n"
        "\n"
        "  -o PAGE.html           also a page with the thesis's figures 21 to 24, drawn from what was found\n"
        "  --csv FOLDER           also tables: campaigns, every fault, phases, signals, claims, times\n"
        "  -j N                   processes (default: all cores); results do not depend on it\n"
        "  --seed N               of the faults (default 1)\n"
        "  --faults N             per campaign (default 6970, as the thesis; 300 with --beyond)\n"
        "  --confidence C         of the intervals (default 0.95)\n"
        "\n"
        "docs/reproduce.md says what is repeated, how outcomes are classified and which agreement was fitted.\n",
        stdout);
}

void help_list(void) {
  fputs("redoubt list WHAT [--markdown]\n"
        "redoubt list structures [--machine NAME|FILE] [--set KEY=VALUE] [--protect SCHEME] [--markdown]\n"
        "\n"
        "  machines       simulated GPUs that are built in\n"
        "  workloads      built-in programs with their parameters at each size\n"
        "  structures     the hardware cells of a machine (fermi-gtx480 unless --machine says): their shape and bits;\n"
        "                 'ecc': every access is seen, so they can be protected\n"
        "  faults         fault models, how a fault is written, and outcomes\n"
        "  protections    schemes that can be attached to a machine with time, and what is charged for them\n"
        "  instructions   every instruction and what it does\n"
        "  params         parameters of machines: default, meaning, range\n"
        "  stats          what a run counts\n"
        "  traps          how a launch can end early\n"
        "\n"
        "--markdown prints instructions, params or stats as the page that docs/ holds.\n",
        stdout);
}

void help_asm(void) {
  fputs("redoubt asm FILE.sass [-o FILE.hex]\n"
        "\n"
        "Assembles G80 (sm_1.0) code, the instructions of the FlexGripPlus machine, to 32-bit words, one a line,\n"
        "in hexadecimal. docs/sass.md describes the language.\n"
        "\n"
        "  -o, --output FILE   where the words go (default: the terminal)\n"
        "\n"
        "Exit codes: 0 all went well, 2 the file has errors; each is shown with line and column.\n",
        stdout);
}

void help_disasm(void) {
  fputs("redoubt disasm FILE.hex [-o FILE.sass]\n"
        "\n"
        "Shows words of G80 code as assembly that 'redoubt asm' takes. Words that are no instruction are shown\n"
        "as .word. Bits without any effect are not shown, so they come back at their rest value.\n"
        "\n"
        "  -o, --output FILE   where the text goes (default: the terminal)\n",
        stdout);
}
