#!/bin/sh
# Energy as users meet it: energy.sh REDOUBT. The sum of the parts is the whole, of events, structures and launches; a run of twice the time leaks twice
# as much; a protection costs energy; CSV and JSON say the same; the same bytes again.
set -eu
redoubt=$(realpath "$1")
programs=$(cd "$(dirname "$0")/../../workloads/fragment" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for machine in fermi-gtx480 gt200-rise tesla-hints turing-rtx2060; do
  "$redoubt" run scan --size tiny --machine $machine --json=$machine.json --csv=$machine.csv -q >/dev/null
done
"$redoubt" run "$programs/stress4.fp" --machine sheaffer-2007 --domain 16x16 --texture 0=random:16x16 --texture 1=random:16x16 --texture 2=random:16x16 --texture 3=random:16x16 --json=sheaffer-2007.json --csv=sheaffer-2007.csv -q >/dev/null
for protection in none reissue reissue:off; do
  "$redoubt" run "$programs/stress0.fp" --machine sheaffer-2007 --domain 32x32 --protect $protection --json="points-$protection.json" -q >/dev/null
done
"$redoubt" run scan --size tiny --machine fermi-gtx480 --json=again.json -q >/dev/null
"$redoubt" run scan --size tiny --machine fermi-gtx480 --set clock.core_khz=350000 --json=slow.json -q >/dev/null
"$redoubt" run scan --size tiny --machine fermi-gtx480 --set power.scale=2194 --json=scaled.json -q >/dev/null
for protection in null dmr parity secded:rf,shared,l1d,l2 rise reissue; do
  "$redoubt" run scan --size tiny --machine fermi-gtx480 --protect $protection --json="$protection.json" -q >/dev/null
done
"$redoubt" run scan,vecadd --size tiny --machine fermi-gtx480 --json=set.json -q >/dev/null
for protection in none dmr; do
  "$redoubt" campaign scan --size tiny --machine fermi-gtx480 --structure rf --faults 20 --protect $protection -o $protection.db -q >/dev/null 2>&1
done
"$redoubt" compare none.db dmr.db >compare.txt
"$redoubt" avf scan --size tiny --machine fermi-gtx480 --structure rf -o ace.db -q >/dev/null 2>&1
"$redoubt" run scan --size tiny --machine fermi-gtx480 --fault 'flip:rf[sm=14,reg=1000,lane=0,bit=0]@0' --json=struck.json >/dev/null
"$redoubt" report none.db dmr.db --csv matrix.csv -q >/dev/null 2>&1
"$redoubt" report none.db dmr.db >matrix.txt
"$redoubt" report none.db >report.txt
python3 - <<'PY'
import csv, json, sqlite3

def near(a, b): return abs(a - b) <= 1e-9 * max(abs(a), abs(b))
def read(name): return json.load(open(name + '.json'))
def total(name): return read(name)['total']

for machine in ('fermi-gtx480', 'gt200-rise', 'tesla-hints', 'turing-rtx2060', 'sheaffer-2007'):
    run = read(machine)
    whole, parts = run['total'], run['total']['energy_nj']
    dynamic, leakage = whole['energy_dynamic_nj'], whole['energy_leakage_nj']
    assert dynamic > 0 and leakage > 0, machine
    assert near(sum(parts['dynamic'].values()), dynamic), machine
    assert near(sum(parts['leakage'].values()), leakage), machine
    assert near(dynamic + leakage, whole['energy_total_nj']), machine
    cells = sum(parts['leakage'][name] for name in ('leak_memory', 'leak_latch', 'leak_scheme'))
    assert near(sum(parts['leakage_of_structures'].values()), cells), machine
    for name in ('energy_dynamic_nj', 'energy_leakage_nj', 'energy_total_nj'):
        assert near(sum(launch[name] for launch in run['launches']), whole[name]), (machine, name)
    seconds = whole['ratios']['simulated_milliseconds'] / 1000
    assert near(whole['power_mean_mw'], whole['energy_total_nj'] * 1e-6 / seconds), machine
    row = [row for row in csv.DictReader(open(machine + '.csv')) if row['kernel'] == 'total'][0]
    for name in ('energy_dynamic_nj', 'energy_leakage_nj', 'energy_total_nj', 'power_mean_mw'):
        assert float(row[name]) == float('%.9g' % whole[name]), (machine, name)

fermi = total('fermi-gtx480')
# ACE analysis and a run with a fault that does nothing have the energy of the run.
notes = dict(sqlite3.connect('ace.db').execute("SELECT key, value FROM meta WHERE key LIKE 'energy %'"))
assert len(notes) == 2 and near(float(notes['energy dynamic nJ']), float('%.9g' % fermi['energy_dynamic_nj'])), notes
assert near(read('struck')['total']['energy_total_nj'], fermi['energy_total_nj']), 'a run with a fault'
# By hand: 1,097/1,000 of the energies of the machine file.
hand = {'issue': 40 * fermi['issued'], 'register_read': 103 * fermi['register_reads'], 'fp32': 4.6 * fermi['operations_fp32'],
        'shared': 69.3 * (fermi['loads_shared'] + fermi['stores_shared'] + fermi['shared_conflicts']), 'network': 18 * fermi['network_bytes']}
for name, pj in hand.items(): assert near(fermi['energy_nj']['dynamic'][name], 1.097 * pj / 1000), name
assert near(fermi['energy_nj']['dynamic']['dram'], 8 * (fermi['dram_reads'] + fermi['dram_writes']))
assert near(fermi['energy_nj']['leakage']['leak_sm'], 207e-3 * 15 * fermi['cycles'] / 700e6 * 1e9)
lanes = sum(fermi['lane_%d' % n] for n in range(32))
assert lanes == sum(fermi['operations_' + unit] for unit in ('alu', 'imul', 'idiv', 'fp32')), 'lanes of the SPs'

again = total('again')
assert all(fermi[name] == again[name] for name in fermi if name not in ('host_seconds',)), 'another run'
slow, scaled = total('slow'), total('scaled')
per_cycle = fermi['energy_leakage_nj'] / fermi['cycles']
assert near(slow['energy_leakage_nj'] / slow['cycles'], 2 * per_cycle), 'a cycle of twice the time leaks twice as much'
on_chip = fermi['energy_dynamic_nj'] - fermi['energy_nj']['dynamic']['dram']
assert near(scaled['energy_dynamic_nj'] - fermi['energy_dynamic_nj'], on_chip), 'scale'

base = fermi['energy_total_nj']
assert near(total('null')['energy_total_nj'], base), 'null'
for name in ('dmr', 'parity', 'secded:rf,shared,l1d,l2', 'rise'):
    run = total(name)
    assert run['energy_total_nj'] > base and run['energy_nj']['leakage']['leak_scheme'] > 0, name
dmr = total('dmr')
assert dmr['energy_dynamic_nj'] > fermi['energy_dynamic_nj']
assert dmr['energy_nj']['dynamic']['compare'] > 0 and dmr['energy_nj']['dynamic']['hold'] > 0
held = total('reissue')
assert held['reissue_sectors'] > 0 and near(held['energy_nj']['dynamic']['compare_sector'], 1.097 * 114 * held['reissue_sectors'] / 1000)
assert near(held['energy_nj']['dynamic']['hold_line'], 1.097 * 640 * (held['held_stores'] + held['held_sent'] + held['held_written']) / 1000)
assert total('parity')['energy_nj']['dynamic']['check_bit'] > 0
assert fermi['energy_nj']['leakage']['leak_scheme'] == 0
of_set = {item['workload']: item for item in read('set')['workloads']}
assert near(of_set['scan']['energy_total_nj'], base)
# Every point twice: what pipelines do costs twice as much, less than twice the energy in all. Hardware that rests leaks.
once, twice, rests = total('points-none'), total('points-reissue'), total('points-reissue:off')
assert near(twice['energy_nj']['dynamic']['issue'], 2 * once['energy_nj']['dynamic']['issue'])
assert near(twice['energy_nj']['dynamic']['compare_point'], 5.191 * 0.4 * 1024 / 1000), twice['energy_nj']['dynamic']['compare_point']
assert 1.4 < twice['energy_total_nj'] / once['energy_total_nj'] < 2
assert near(rests['energy_dynamic_nj'], once['energy_dynamic_nj']) and rests['energy_leakage_nj'] > once['energy_leakage_nj']

# Campaigns: the same energy, of their runs without faults.
added = dmr['energy_total_nj'] / base - 1
text = '  energy: %.6g instead of %.6g nJ (%+.2f%%), by the power model:' % (dmr['energy_total_nj'], base, 100 * added)
assert text in open('compare.txt').read(), text
assert 'energy          %.4g nJ without faults' % base in open('report.txt').read()
assert ' %+.2f%%' % (100 * added) in [line for line in open('matrix.txt') if line.startswith('scan') and ' dmr ' in line][0]
cell = [row for row in csv.DictReader(open('matrix.csv')) if row['column'] == 'dmr' and row['program'] == 'scan'][0]
assert abs(float(cell['energy_added']) - added) < 1e-7, cell
print('energy: all agree')
PY
