// Statistics under the names that GPGPU-Sim prints, for scripts that read its output. Which numbers count from the start of
// the launch and which from the start of the program is as there; what they count is Redoubt's (docs/statistics.md).
#include "cli/gpgpusim.h"

#include "machine/ratio.h"

#include <inttypes.h>

typedef struct Alias {
  const char *name;
  StatId terms[3]; // summed; unused ones are STAT_COUNT
  bool of_launch;  // otherwise since the start of the program
} Alias;

#define TERMS_OF(a, b, c, ...) \
  { STAT_##a, STAT_##b, STAT_##c }
#define TERMS(...) TERMS_OF(__VA_ARGS__, COUNT, COUNT, COUNT)
static const Alias aliases[] = {
    {"gpu_sim_cycle", TERMS(CYCLES), true},
    {"gpu_sim_insn", TERMS(THREAD_INSTRUCTIONS), true},
    {"gpu_tot_sim_cycle", TERMS(CYCLES), false},
    {"gpu_tot_sim_insn", TERMS(THREAD_INSTRUCTIONS), false},
    {"gpgpu_n_tot_w_icount", TERMS(WARP_INSTRUCTIONS), false},
    {"gpgpu_n_load_insn", TERMS(LOADS_GLOBAL, LOADS_LOCAL), false},
    {"gpgpu_n_store_insn", TERMS(STORES_GLOBAL, STORES_LOCAL), false},
    {"gpgpu_n_shmem_insn", TERMS(LOADS_SHARED, STORES_SHARED), false},
    {"gpgpu_n_tex_insn", TERMS(TEXTURE_FETCHES), false},
    {"gpgpu_n_shmem_bkconflict", TERMS(SHARED_CONFLICTS), false},
    {"gpgpu_n_mem_read_global", TERMS(TRANSACTIONS_LOAD), false},
    {"gpgpu_n_mem_write_global", TERMS(TRANSACTIONS_STORE), false},
    {"L1I_total_cache_accesses", TERMS(ICACHE_ACCESSES), false},
    {"L1I_total_cache_misses", TERMS(ICACHE_MISSES), false},
    {"L1D_total_cache_accesses", TERMS(L1D_ACCESSES), false},
    {"L1D_total_cache_misses", TERMS(L1D_MISSES), false},
    {"L1D_total_cache_pending_hits", TERMS(L1D_MERGED), false},
    {"L1C_total_cache_accesses", TERMS(CONSTANT_ACCESSES), false},
    {"L1C_total_cache_misses", TERMS(CONSTANT_MISSES), false},
    {"L1T_total_cache_accesses", TERMS(TEXTURE_ACCESSES), false},
    {"L1T_total_cache_misses", TERMS(TEXTURE_MISSES), false},
    {"L2_total_cache_accesses", TERMS(L2_ACCESSES), false},
    {"L2_total_cache_misses", TERMS(L2_MISSES), false},
    {"total_dram_reads", TERMS(DRAM_READS), false},
    {"total_dram_writes", TERMS(DRAM_WRITES), false},
};

typedef struct AliasRatio {
  const char *name;
  RatioId ratio;
  bool of_launch;
} AliasRatio;

static const AliasRatio alias_ratios[] = {
    {"gpu_ipc", RATIO_THREAD_IPC, true},
    {"gpu_tot_ipc", RATIO_THREAD_IPC, false},
    {"L1I_total_cache_miss_rate", RATIO_ICACHE, false},
    {"L1D_total_cache_miss_rate", RATIO_L1D, false},
    {"L1C_total_cache_miss_rate", RATIO_CONSTANT, false},
    {"L1T_total_cache_miss_rate", RATIO_TEXTURE, false},
    {"L2_total_cache_miss_rate", RATIO_L2, false},
    {"averagemflatency", RATIO_MEMORY_LATENCY, false},
};

static void add_occupancy(const char *name, const Stats *stats, Text *out) {
  double value;
  if (ratio_value(RATIO_OCCUPANCY, stats, &value)) text_add(out, "%s = %.4f%%\n", name, 100 * value);
}

// "W1:5 W32:100": warp instructions issued with so many threads.
static void add_distribution(const Stats *stats, Text *out) {
  text_add(out, "Warp Occupancy Distribution:\nW0_Idle:%" PRIu64, stats->value[STAT_IDLE_FULL]);
  for (int threads = 1; threads <= WARP_LANES; threads++) text_add(out, "\tW%d:%" PRIu64, threads, stats->value[STAT_ACTIVE_0 + threads]);
  text_add(out, "\n");
}

void gpgpusim_launch(const char *kernel, uint32_t number, const Stats *launch, const Stats *so_far, Text *out) {
  text_add(out, "kernel_name = %s\nkernel_launch_uid = %u\n", kernel, number);
  for (size_t i = 0; i < COUNT_OF(aliases); i++) {
    uint64_t value = 0;
    for (size_t k = 0; k < COUNT_OF(aliases[i].terms) && aliases[i].terms[k] != STAT_COUNT; k++)
      value += (aliases[i].of_launch ? launch : so_far)->value[aliases[i].terms[k]];
    text_add(out, "%s = %" PRIu64 "\n", aliases[i].name, value);
  }
  for (size_t i = 0; i < COUNT_OF(alias_ratios); i++) {
    double value;
    if (!ratio_value(alias_ratios[i].ratio, alias_ratios[i].of_launch ? launch : so_far, &value)) continue;
    text_add(out, "%s = %.4f\n", alias_ratios[i].name, value);
  }
  add_occupancy("gpu_occupancy", launch, out);
  add_occupancy("gpu_tot_occupancy", so_far, out);
  add_distribution(so_far, out);
}

void gpgpusim_markdown(Text *out) {
  text_add(out, "| GPGPU-Sim's name | here | counts from the start of |\n|---|---|---|\n");
  for (size_t i = 0; i < COUNT_OF(aliases); i++) {
    const Alias *alias = &aliases[i];
    text_add(out, "| `%s` |", alias->name);
    for (size_t k = 0; k < COUNT_OF(alias->terms) && alias->terms[k] != STAT_COUNT; k++)
      text_add(out, "%s `%s`", k == 0 ? "" : " +", stat_info[alias->terms[k]].name);
    text_add(out, " | the %s |\n", alias->of_launch ? "launch" : "program");
  }
  for (size_t i = 0; i < COUNT_OF(alias_ratios); i++) {
    text_add(out, "| `%s` | `%s` | the %s |\n", alias_ratios[i].name, ratio_info[alias_ratios[i].ratio].name,
             alias_ratios[i].of_launch ? "launch" : "program");
  }
  text_add(out, "| `gpu_occupancy`, `gpu_tot_occupancy` | `occupancy` | the launch, the program |\n"
                "| `W0_Idle`, `W1` ... `W32` | `idle_full`, `active_1` ... `active_32` | the program |\n");
}
