// Coulomb potential on a plane of a grid: atoms in constant memory, one launch for as many of them as it takes.
// Blocks of 16 x 8 threads with eight points each; the default plane has the 256 blocks (32,768 threads) that the papers'
// program has, with far fewer atoms.
// Traits on fermi-gtx480 at default size: constant_accesses / warp_instructions >= 2%; unit_sfu / warp_instructions >= 15%;
// idle_empty / sm_cycles >= 5% (imbalance: the last blocks leave SMs empty; 22% on gt200-rise).
#include "device/workload.h"

enum { BLOCK_X = 16, BLOCK_Y = 8, POINTS = 8, MOST_ATOMS = 4000 }; // as in kernel.cu
enum { COLUMNS = BLOCK_X * POINTS };                               // of a block

typedef struct Atom {
  float x, y, height2, charge; // height2: square of the distance to the plane
} Atom;

typedef struct Data {
  Atom *atoms;
  DeviceAddress potential;
  uint32_t width, height, atom_count, chunk;
  uint64_t points;
  float spacing;
} Data;

// Atoms in a box over the plane, and so far from it that rounded coordinates cannot change the sum much.
static void place_atoms(WorkloadRun *run, Data *data) {
  float most_x = data->spacing * (float)data->width, most_y = data->spacing * (float)data->height;
  const float *x = workload_random_f32(run, data->atom_count, 0, 0, most_x), *y = workload_random_f32(run, data->atom_count, 1, 0, most_y);
  const float *z = workload_random_f32(run, data->atom_count, 2, 1, 10), *charge = workload_random_f32(run, data->atom_count, 3, -1, 1);
  data->atoms = ARENA_ARRAY(run->arena, Atom, data->atom_count);
  for (uint32_t i = 0; i < data->atom_count; i++) data->atoms[i] = (Atom){x[i], y[i], z[i] * z[i], charge[i]};
}

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->width = (uint32_t)run->param[0] * COLUMNS;
  data->height = (uint32_t)run->param[1] * BLOCK_Y;
  data->atom_count = (uint32_t)run->param[2];
  data->chunk = (uint32_t)run->param[3];
  data->spacing = 0.1f;
  data->points = (uint64_t)data->width * data->height;
  place_atoms(run, data);
  data->potential = workload_buffer(run, NULL, data->points * 4);
  workload_output_matrix(run, "potential", data->potential, ELEMENT_F32, data->height, data->width);
  return data->potential != 0;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {BLOCK_X, BLOCK_Y, 1}, grid[3] = {data->width / COLUMNS, data->height / BLOCK_Y, 1};
  for (uint32_t first = 0; first < data->atom_count; first += data->chunk) {
    int32_t count = (int32_t)min_u32(data->chunk, data->atom_count - first);
    if (!workload_constant(run, "coulomb_atoms", data->atoms + first, (uint64_t)count * sizeof(Atom))) return false;
    const void *arguments[] = {&data->potential, &data->spacing, &count};
    if (!workload_launch(run, "coulomb_plane", grid, block, 0, arguments, COUNT_OF(arguments))) return false;
  }
  return true;
}

static double potential_at(const Data *data, double x, double y) {
  double sum = 0;
  for (uint32_t i = 0; i < data->atom_count; i++) {
    const Atom *atom = &data->atoms[i];
    double dx = x - atom->x, dy = y - atom->y;
    sum += atom->charge / __builtin_sqrt(dx * dx + dy * dy + atom->height2);
  }
  return sum;
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  float *got = ARENA_ARRAY(run->arena, float, data->points);
  bool missing;
  double *expected = workload_expected(run, data->points, &missing);
  if (!device_read(run->device, got, data->potential, data->points * 4)) return false;
  for (uint64_t i = 0; i < data->points && missing; i++) {
    expected[i] = potential_at(data, (double)data->spacing * (double)(i % data->width), (double)data->spacing * (double)(i / data->width));
  }
  return workload_near(run, "potential", got, expected, data->points, 1e-4);
}

const Workload workload_coulomb = {
    .name = "coulomb",
    .summary = "Coulomb potential on a plane; atoms in constant memory, reciprocal roots, uneven last blocks",
    .params = {{"columns", "blocks along x, 128 points each", {1, 2, 4, 8}, 1, 64},
               {"rows", "blocks along y, 8 points each", {3, 8, 64, 64}, 1, 4096},
               {"atoms", "point charges", {12, 32, 96, 1000}, 1, 1u << 20},
               {"chunk", "most atoms of a launch", {8, 4000, 4000, 4000}, 1, MOST_ATOMS}},
    .traits = {{RATIO_SFU_SHARE, TRAIT_AT_LEAST, 0.15, "reciprocal roots", SIZE_TINY},
               {RATIO_IDLE_EMPTY, TRAIT_AT_LEAST, 0.1, "blocks do not fill the SMs evenly", SIZE_DEFAULT}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
