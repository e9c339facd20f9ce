// Matches of short reads against a reference in a suffix tree: loops that depend on the data, scattered texture fetches.
// Reads of 25 bases in blocks of 64 threads and matches of at least 20 bases as in the papers' program (its blocks and least match
// from memory, not checked), which has 50,000 reads; neither shared nor constant memory. The reference is random, with repeats;
// most reads are pieces of it with a wrong base here and there, some are foreign.
// Traits on fermi-gtx480 at default size: texture_fetches / warp_instructions >= 5%; mean active threads of issued instructions
// <= 20; divergent_branches / warp_instructions >= 2%; loads_shared = stores_shared = 0.
#include "device/workload.h"

#include <inttypes.h>

enum { THREADS = 64, BASES = 4, WORD = 8, WORDS = 1 << (2 * WORD) }; // WORD: bases of the check's index

typedef struct Node {
  uint32_t start, end, link; // of the edge to it, in the reference; its suffix link
  uint32_t child[BASES];     // 0: none
} Node;

typedef struct Data {
  uint8_t *reference, *reads; // bases 0 to 3
  uint64_t nodes, children, texture_reference;
  DeviceAddress device_reads, length, where;
  uint32_t reference_bases;
  int32_t read_count, read_bases, starts; // starts: places in a read that have enough bases after them
} Data;

// ---- The suffix tree (Ukkonen, "On-line construction of suffix trees", 1995) ------------------------
// Without a terminator: suffixes may end within edges, which matching does not mind. Nodes and edges keep the place
// where they were first met, so that what the kernel finds is the first occurrence.

typedef struct Tree {
  const uint8_t *text;
  uint32_t size;
  Node *nodes; // 0 is the root
  uint32_t count;
  uint32_t node, edge, length; // the active point: below `node`, on the edge that text[edge] starts, `length` bases down
  uint32_t waiting;            // suffixes not yet in the tree
  uint32_t unlinked;           // an inner node whose link the next extension finds; 0: none
} Tree;

static uint32_t add_node(Tree *tree, uint32_t start, uint32_t end) {
  tree->nodes[tree->count] = (Node){.start = start, .end = end};
  return tree->count++;
}

static void link_to(Tree *tree, uint32_t node) {
  if (tree->unlinked != 0) tree->nodes[tree->unlinked].link = node;
  tree->unlinked = 0;
}

// Puts a new inner node at the active point, on the edge to `child`, with a leaf for text[i].
static void split(Tree *tree, uint32_t child, uint32_t i) {
  uint32_t start = tree->nodes[child].start;
  uint32_t inner = add_node(tree, start, start + tree->length), leaf = add_node(tree, i, tree->size);
  Node *nodes = tree->nodes;
  nodes[tree->node].child[tree->text[tree->edge]] = inner;
  nodes[child].start = start + tree->length;
  nodes[inner].child[tree->text[start + tree->length]] = child;
  nodes[inner].child[tree->text[i]] = leaf;
  link_to(tree, inner);
  tree->unlinked = inner;
}

// Adds the longest suffix that waits, up to and with text[i]. False: it is in the tree already, and so are the shorter ones.
static bool add_suffix(Tree *tree, uint32_t i) {
  if (tree->length == 0) tree->edge = i;
  uint32_t child;
  for (;;) { // down to the node above the place
    child = tree->nodes[tree->node].child[tree->text[tree->edge]];
    if (child == 0) break;
    uint32_t bases = min_u32(tree->nodes[child].end, i + 1) - tree->nodes[child].start;
    if (tree->length < bases) break;
    tree->edge += bases;
    tree->length -= bases;
    tree->node = child;
    if (tree->length == 0) tree->edge = i;
  }
  if (child == 0) {
    tree->nodes[tree->node].child[tree->text[tree->edge]] = add_node(tree, i, tree->size);
    link_to(tree, tree->node);
    return true;
  }
  if (tree->text[tree->nodes[child].start + tree->length] == tree->text[i]) {
    link_to(tree, tree->node);
    tree->length++;
    return false;
  }
  split(tree, child, i);
  return true;
}

static void build(Tree *tree) {
  tree->count = 1;
  for (uint32_t i = 0; i < tree->size; i++) {
    tree->unlinked = 0;
    tree->waiting++;
    while (tree->waiting > 0 && add_suffix(tree, i)) {
      tree->waiting--;
      if (tree->node != 0) {
        tree->node = tree->nodes[tree->node].link;
      } else if (tree->length > 0) {
        tree->length--;
        tree->edge = i - tree->waiting + 1;
      }
    }
  }
}

// ---- The workload ------------------------------------------------------------------------------------

static uint8_t random_base(WorkloadRun *run, uint64_t index, uint64_t stream) {
  return (uint8_t)(random_draw(run->seed, index, stream) >> 62);
}

// Pieces of 64 bases; about one in eight repeats what stands somewhere before it.
static void write_reference(WorkloadRun *run, Data *data) {
  enum { PIECE = 64 };
  for (uint32_t i = 0; i < data->reference_bases; i++) {
    uint32_t piece = i / PIECE;
    bool repeats = piece > 0 && random_below(random_draw(run->seed, piece, 1), 8) == 0;
    uint64_t back = 1 + random_below(random_draw(run->seed, piece, 2), (uint64_t)piece * PIECE);
    data->reference[i] = repeats ? data->reference[i - back] : random_base(run, i, 0);
  }
}

// One read in eight is foreign; in the others one base in 64 is replaced.
static void write_reads(WorkloadRun *run, Data *data) {
  uint32_t bases = (uint32_t)data->read_bases;
  for (uint32_t read = 0; read < (uint32_t)data->read_count; read++) {
    bool foreign = random_below(random_draw(run->seed, read, 3), 8) == 0;
    uint64_t from = random_below(random_draw(run->seed, read, 4), data->reference_bases - bases + 1);
    for (uint32_t i = 0; i < bases; i++) {
      uint64_t place = (uint64_t)read * bases + i;
      bool replaced = foreign || random_below(random_draw(run->seed, place, 5), 64) == 0;
      data->reads[place] = replaced ? random_base(run, place, 6) : data->reference[from + i];
    }
  }
}

static bool make_textures(WorkloadRun *run, Data *data) {
  uint32_t size = data->reference_bases;
  Tree tree = {.text = data->reference, .size = size, .nodes = ARENA_ARRAY(run->arena, Node, 2ull * size + 2)};
  build(&tree);
  uint32_t *nodes = ARENA_ARRAY(run->arena, uint32_t, 4ull * tree.count), *children = ARENA_ARRAY(run->arena, uint32_t, 4ull * tree.count);
  for (uint32_t i = 0; i < tree.count; i++) {
    const Node *node = &tree.nodes[i];
    memcpy(nodes + 4ull * i, (uint32_t[4]){node->start, node->end, node->link, node->end == size}, 16);
    memcpy(children + 4ull * i, node->child, 16);
  }
  data->nodes = workload_texture(run, workload_buffer(run, nodes, 16ull * tree.count), ELEMENT_U32, 4, tree.count);
  data->children = workload_texture(run, workload_buffer(run, children, 16ull * tree.count), ELEMENT_U32, 4, tree.count);
  data->texture_reference = workload_texture(run, workload_buffer(run, data->reference, size), ELEMENT_U8, 1, size);
  return data->nodes && data->children && data->texture_reference;
}

static uint64_t match_count(const Data *data) { return (uint64_t)data->read_count * (uint64_t)data->starts; }

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->read_count = (int32_t)run->param[0];
  data->reference_bases = (uint32_t)run->param[1];
  data->read_bases = (int32_t)run->param[2];
  if (run->param[3] > run->param[2]) return workload_refuse(run, "the shortest match is longer than a read");
  data->starts = data->read_bases - (int32_t)run->param[3] + 1;
  uint64_t read_bytes = (uint64_t)data->read_count * (uint64_t)data->read_bases, count = match_count(data);
  data->reference = ARENA_ARRAY(run->arena, uint8_t, data->reference_bases);
  data->reads = ARENA_ARRAY(run->arena, uint8_t, read_bytes);
  write_reference(run, data);
  write_reads(run, data);
  data->device_reads = workload_buffer(run, data->reads, read_bytes);
  data->length = workload_buffer(run, NULL, count * 4);
  data->where = workload_buffer(run, NULL, count * 4);
  workload_output(run, "length", data->length, ELEMENT_U32, count);
  workload_output(run, "where", data->where, ELEMENT_U32, count);
  return data->device_reads && data->length && data->where && make_textures(run, data);
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {THREADS, 1, 1}, grid[3] = {((uint32_t)data->read_count + THREADS - 1) / THREADS, 1, 1};
  const void *arguments[] = {&data->nodes, &data->children,   &data->texture_reference, &data->device_reads, &data->length,
                             &data->where, &data->read_count, &data->read_bases,        &data->starts};
  return workload_launch(run, "mummer_match", grid, block, 0, arguments, COUNT_OF(arguments));
}

// ---- The check: no tree, but an index of the reference's words of eight bases -------------------------

enum { NOWHERE = UINT32_MAX };
typedef struct Index {
  uint32_t *first[WORD + 1]; // by the length of a word: where each word of that length occurs first
  uint32_t *next;            // of a place: the next one with the same eight bases
} Index;

static void fill_index(Index *index, Arena *arena, const Data *data) {
  uint32_t size = data->reference_bases;
  for (uint32_t length = 1; length <= WORD; length++) {
    index->first[length] = ARENA_ARRAY(arena, uint32_t, 1u << (2 * length));
    memset(index->first[length], 0xFF, sizeof(uint32_t) << (2 * length));
  }
  index->next = ARENA_ARRAY(arena, uint32_t, size);
  uint32_t word = 0; // of the eight bases from i on, the first one lowest
  for (uint32_t i = size; i-- > 0;) {
    word = (word << 2 | data->reference[i]) & (WORDS - 1);
    index->next[i] = NOWHERE;
    if (i + WORD <= size) index->next[i] = index->first[WORD][word];
    for (uint32_t length = 1; length <= WORD && i + length <= size; length++) index->first[length][word & ((1u << (2 * length)) - 1)] = i;
  }
}

// How many of the bases occur in the reference in a row, and where first.
static void match_on_host(const Data *data, const Index *index, const uint8_t *bases, uint32_t count, double *length, double *where) {
  uint32_t word = 0, short_length = 0, place = 0;
  for (uint32_t i = 0; i < count && i < WORD; i++) {
    word |= (uint32_t)bases[i] << (2 * i);
    if (index->first[i + 1][word] == NOWHERE) break;
    short_length = i + 1;
    place = index->first[i + 1][word];
  }
  *length = short_length;
  *where = place;
  if (short_length < WORD) return;
  for (; place != NOWHERE; place = index->next[place]) {
    uint32_t matching = WORD;
    while (matching < count && place + matching < data->reference_bases && bases[matching] == data->reference[place + matching]) matching++;
    if (matching <= *length) continue;
    *length = matching;
    *where = place;
  }
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint64_t count = match_count(data), starts = (uint64_t)data->starts;
  uint32_t *length = ARENA_ARRAY(run->arena, uint32_t, count), *where = ARENA_ARRAY(run->arena, uint32_t, count);
  if (!device_read(run->device, length, data->length, count * 4) || !device_read(run->device, where, data->where, count * 4)) return false;
  bool missing;
  double *lengths = workload_expected(run, 2 * count, &missing), *places = lengths + count;
  if (missing) {
    Index index;
    fill_index(&index, run->arena, data);
    for (uint64_t i = 0; i < count; i++) {
      uint32_t start = (uint32_t)(i % starts), bases = (uint32_t)data->read_bases;
      match_on_host(data, &index, data->reads + i / starts * bases + start, bases - start, &lengths[i], &places[i]);
    }
  }
  for (uint64_t i = 0; i < count; i++) {
    if (length[i] != lengths[i]) return workload_fail(run, "length[%" PRIu64 "] = %u, expected %g", i, length[i], lengths[i]);
    if (where[i] != places[i]) return workload_fail(run, "where[%" PRIu64 "] = %u, expected %.9g", i, where[i], places[i]);
  }
  return true;
}

const Workload workload_mummer = {
    .name = "mummer",
    .summary = "reads matched in a suffix tree; texture fetches, loops that depend on the data",
    .params = {{"reads", "reads, 64 a block", {150, 2048, 10000, 50000}, 1, 1u << 22},
               {"reference", "bases of the reference", {300, 4096, 65536, 1 << 20}, 64, 1u << 24},
               {"bases", "bases of a read", {12, 25, 25, 25}, 1, 64},
               {"least", "bases of the shortest match", {10, 20, 20, 20}, 1, 64}},
    .traits = {{RATIO_TEXTURE_SHARE, TRAIT_AT_LEAST, 0.05, "the tree in textures", SIZE_TINY},
               {RATIO_ACTIVE_THREADS, TRAIT_AT_MOST, 20, "loops as long as matches", SIZE_SMALL},
               {RATIO_DIVERGENT_BRANCH_SHARE, TRAIT_AT_LEAST, 0.02, "data-dependent loops", SIZE_SMALL}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
