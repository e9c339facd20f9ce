"""scale.py: how long campaigns take on clusters of 10 to 1,000 nodes, by simulation of docs/cluster.md's way of working. Writes a Markdown table.

What was measured stands in MEASURED, what is assumed in ASSUMED; docs/scale.md says where each number comes from. No clock and no random
seed from outside: the same table each time."""
import heapq
import random

MEASURED = {
    "merge_row": 4.2e-6,      # seconds of a processor for each fault
    "row_bytes": 109,         # of a merged journal
    "task_overhead": 0.3,     # seconds: process, plan, journal, receipt
}
ASSUMED = {
    "cores": 32,              # of a node
    "dispatch": 20,           # tasks that Slurm starts in a second
    "gather": 60,             # seconds until the job that gathers runs
    "node_mtbf": 2000 * 3600, # seconds: a node is lost so often
    "node_repair": 3600,      # and as long
    "disk": 200e6,            # bytes a second that the merge writes
    "queue": 10000,           # jobs that Slurm's queue holds
}
BATCH = 16384


def task_size(total, fixed, each, minutes):
    """As src/cluster/cut.c and src/cli/cluster_plan.c."""
    seconds = 60.0 * minutes
    whole, first = fixed * 2 / 3 + each * BATCH, fixed / 3
    if seconds >= first + 2 * whole:
        size = int((seconds - first) / whole) * BATCH
    else:
        size = max(int((seconds - fixed) / each), 64)
        if size < BATCH:
            shares = -(-BATCH // size)
            size = -(-BATCH // shares)
        else:
            size = size // BATCH * BATCH
    least = -(-total // ASSUMED["queue"])
    if least > BATCH:
        least = -(-least // BATCH) * BATCH
    return max(size, least)


def run_round(durations, nodes, cpus, rng, now):
    """One array: greedy on free cores; a node that is lost loses its tasks. Returns (end, lost)."""
    cores = nodes * (ASSUMED["cores"] // cpus)
    down = [now + rng.expovariate(1 / ASSUMED["node_mtbf"]) for _ in range(nodes)]
    free = [(now, core) for core in range(min(cores, len(durations)))]
    heapq.heapify(free)
    lost, end = [], now
    for number, duration in enumerate(durations):
        when, core = heapq.heappop(free)
        node = core % nodes
        start = max(when, now + number / ASSUMED["dispatch"])
        finish = start + duration
        while down[node] + ASSUMED["node_repair"] < start:
            down[node] += ASSUMED["node_repair"] + rng.expovariate(1 / ASSUMED["node_mtbf"])
        if start < down[node] < finish:
            lost.append(duration)
            end = max(end, down[node])
            finish = down[node] + ASSUMED["node_repair"]
        else:
            end = max(end, finish)
        heapq.heappush(free, (finish, core))
    return end, lost


def simulate(total, fixed, each, nodes, minutes, cpus):
    rng = random.Random(1)
    each /= cpus # runs without faults use one of them
    size = task_size(total, fixed, each, minutes)
    tasks = -(-total // size)
    batches = max(size // BATCH, 1)
    seconds = MEASURED["task_overhead"] + fixed / 3 + batches * fixed * 2 / 3 + size * each
    durations = [seconds * rng.uniform(0.8, 1.2) for _ in range(tasks)]
    now, rounds, lost_in_all = 0.0, 0, 0
    while durations:
        now, durations = run_round(durations, nodes, cpus, rng, now)
        now += ASSUMED["gather"]
        rounds += 1
        lost_in_all += len(durations)
    merge = total * MEASURED["merge_row"] + 2 * total * MEASURED["row_bytes"] / ASSUMED["disk"]
    return tasks, now, rounds, lost_in_all, merge


def shown(seconds):
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 360000 else f"{seconds / 86400:.1f} d"


def main():
    kinds = (("1 ms a fault", 1.0, 0.00093), ("1 s a fault", 10.0, 1.0))
    print("| faults | cost | nodes | minutes, cpus a task | tasks | one core | best possible | simulated | lost, rounds | merge |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for total in (10**6, 10**8):
        for name, fixed, each in kinds:
            other = (1, 1) if total * each < 1e5 else (10, 32) if total * each > 1e7 else (2, 1)
            for nodes, minutes, cpus in ((10, 10, 1), (100, 10, 1), (1000, 10, 1), (100, *other), (1000, *other)):
                tasks, wall, rounds, lost, merge = simulate(total, fixed, each, nodes, minutes, cpus)
                core = total * each
                best = core / (nodes * ASSUMED["cores"])
                print(f"| {total // 10**6} million | {name} | {nodes} | {minutes}, {cpus} | {tasks} | {shown(core)} | {shown(best)} | {shown(wall + merge)} | "
                      f"{lost}, {rounds} | {shown(merge)} |")


main()
