// Sets of workloads, and the names that papers give their members. `redoubt run @rise` runs a set; `redoubt list workloads` shows them.
//
// Sources: RISE (Tan and Fu, PACT 2012), section 5.1, which prints abbreviations and four categories but expands none of them: which
// program each stands for is our reading. The faulty-SM hints paper, Table I. Warped-Shield (DSN 2014) says "selected from ISPASS,
// Parboil and Rodinia" and its list was not to be had: @shield holds our programs of those three suites.
#include "device/workload.h"

#define BIT(set) (1u << SET_##set)
#define MEMORY (BIT(RISE) | BIT(RISE_MEMORY))
#define IMBALANCE (BIT(RISE) | BIT(RISE_IMBALANCE))
#define DIVERGENT (BIT(RISE) | BIT(RISE_DIVERGENT))
#define COMPUTE (BIT(RISE) | BIT(RISE_COMPUTE))
#define HINTS BIT(HINTS)
#define SHIELD BIT(SHIELD)

const WorkloadSet workload_sets[SET_COUNT] = {
    [SET_RISE] = {"rise", "the 27 programs of RISE"},
    [SET_RISE_MEMORY] = {"rise.memory", "RISE: memory-intensive"},
    [SET_RISE_IMBALANCE] = {"rise.imbalance", "RISE: load imbalance among the SMs"},
    [SET_RISE_DIVERGENT] = {"rise.divergent", "RISE: divergent branches or partly filled warps"},
    [SET_RISE_COMPUTE] = {"rise.compute", "RISE: computation-intensive"},
    [SET_HINTS] = {"hints", "the ten programs of the faulty-SM hints paper"},
    [SET_SHIELD] = {"shield", "our programs of Warped-Shield's three suites; the paper's own list was not to be had"},
    [SET_ALL] = {"all", "every workload that is built in"},
};

const WorkloadMember workload_members[] = {
    // RISE
    {"histogram64", "64H", MEMORY, NULL},
    {"bfs", "BFS", MEMORY | DIVERGENT, NULL},
    {"backprop", "BP", MEMORY | DIVERGENT, NULL},
    {"hybridsort", "HY", MEMORY | IMBALANCE, NULL},
    {"libor", "LIB", MEMORY, NULL},
    {"levenshtein", "LV", MEMORY | IMBALANCE | DIVERGENT, NULL},
    {"transpose", "MT", MEMORY, NULL},
    {"nn", "NE", MEMORY | DIVERGENT, "NE is read as nearest neighbour; the paper does not say"},
    {"neuralnet", "NN", MEMORY | DIVERGENT, NULL},
    {"needleman", "NW", MEMORY | IMBALANCE | DIVERGENT, NULL},
    {"reduction", "PR", MEMORY | IMBALANCE, NULL},
    {"scan", "SLA", MEMORY | IMBALANCE | DIVERGENT, NULL},
    {"binomial", "BN", IMBALANCE, NULL},
    {"coulomb", "CP", IMBALANCE, NULL},
    {"fwt", "FWT", IMBALANCE, NULL},
    {"kmeans", "KM", IMBALANCE, NULL},
    {"mrifhd", "MRIF", IMBALANCE, NULL},
    {"scalarprod", "SP", IMBALANCE, NULL},
    {"srad", "SRAD", IMBALANCE, NULL},
    {"stencil3d", "ST3D", IMBALANCE | DIVERGENT, NULL},
    {"hotspot", "HS", DIVERGENT, NULL},
    {"laplace3d", "LPS", DIVERGENT, NULL},
    {"sad", "SAD", DIVERGENT, NULL},
    {"blackscholes", "BS", COMPUTE, NULL},
    {"convolution", "CS", COMPUTE, NULL},
    {"matmul", "MM", COMPUTE, NULL},
    {"raytrace", "RAY", COMPUTE, NULL},
    // Faulty-SM hints
    {"aes", "AES", HINTS, NULL},
    {"bfs", "BFS", HINTS, NULL},
    {"libor", "LIB", HINTS, NULL},
    {"laplace3d", "LPS", HINTS, NULL},
    {"mummer", "MUM", HINTS, NULL},
    {"neuralnet", "NN", HINTS, NULL},
    {"nqueens", "NQU", HINTS, NULL},
    {"raytrace", "RAY", HINTS, NULL},
    {"storegpu", "STO", HINTS, NULL},
    {"weather", "WP", HINTS, NULL},
    // Warped-Shield: no abbreviations
    {"aes", NULL, SHIELD, NULL},
    {"backprop", NULL, SHIELD, NULL},
    {"bfs", NULL, SHIELD, NULL},
    {"coulomb", NULL, SHIELD, NULL},
    {"hotspot", NULL, SHIELD, NULL},
    {"kmeans", NULL, SHIELD, NULL},
    {"laplace3d", NULL, SHIELD, NULL},
    {"libor", NULL, SHIELD, NULL},
    {"matmul", NULL, SHIELD, NULL},
    {"mrifhd", NULL, SHIELD, NULL},
    {"mummer", NULL, SHIELD, NULL},
    {"needleman", NULL, SHIELD, NULL},
    {"neuralnet", NULL, SHIELD, NULL},
    {"nqueens", NULL, SHIELD, NULL},
    {"raytrace", NULL, SHIELD, NULL},
    {"sad", NULL, SHIELD, NULL},
    {"srad", NULL, SHIELD, NULL},
    {"stencil3d", NULL, SHIELD, NULL},
    {"storegpu", NULL, SHIELD, NULL},
    {"weather", NULL, SHIELD, NULL},
};
const uint32_t workload_member_count = COUNT_OF(workload_members);
