// SEC-DED: single errors corrected, double errors detected, on any structure whose accesses are told (TRACED).
//
// Paper: M. Y. Hsiao, "A Class of Optimal Minimum Odd-weight-column SEC-DED Codes", IBM J. Res. Dev. 14(4), 1970. One code word
// per unit (a lane's register, a word of a line): the fewest check bits that serve its width, 7 for 32 data bits and 8 for
// 64. Every column of the check matrix has odd weight, so the syndrome of one error is a column, that of two
// errors is not zero and even. Check bits live in a region of their own, ecc.NAME: they are hashed, cloned and struck by faults.
//
// Encode at every write, check at every read: one error, in data or check bits, is put right in place (FIXED, corrected); two
// or more that the code can tell from one end the launch (HALT, detected). Check bits of zeros are zeros, so a zeroed block is consistent.
// Not modelled: the time of encoders and checkers, scrubbing. Cost: the check bits, and the energy of their accesses.
#include "protect/protect_internal.h"

enum { MOST_REGIONS = 250, MOST_CHECK_BITS = 8, NO_POSITION = 0xFF, CHECK_POSITION = 64 };

typedef struct Code {
  uint32_t check_bits;
  uint8_t check[8][256]; // what value v of data byte b adds to the check bits
  uint8_t position[256]; // of the wrong bit, by syndrome: data 0..63, check bits from CHECK_POSITION; NO_POSITION: no single error
} Code;

typedef struct Protected {
  uint16_t region, check; // indices
  Code code;
} Protected;

typedef struct Secded {
  const char *text; // as the user wrote it
  const char *names[MOST_REGIONS];
  uint32_t name_count;
  Protected *items; // set by attach
  uint32_t count;
  uint8_t *item_of; // by region: 1 + index into items; 0: not protected
  uint32_t region_count;
} Secded;

// ---- The code --------------------------------------------------------------------------------------
// 2^(r-1) columns of odd weight, of which r are the check bits' own.
static uint32_t check_bits_for(uint32_t data_bits) {
  uint32_t r = 3;
  while ((1u << (r - 1)) - r < data_bits) r++;
  return r;
}

static void make_code(Code *code, uint32_t data_bits) {
  uint32_t r = check_bits_for(data_bits), used = 0;
  uint8_t columns[64];
  ASSERT(r <= MOST_CHECK_BITS);
  *code = (Code){.check_bits = r}; // attached again, it may hold another's
  memset(code->position, NO_POSITION, sizeof code->position);
  for (uint32_t column = 1; column < COUNT_OF(code->position) && column < 1u << r; column <<= 1) {
    code->position[column] = (uint8_t)(CHECK_POSITION + __builtin_ctz(column));
  }
  for (int weight = 3; weight <= MOST_CHECK_BITS; weight += 2) { // the lightest first: fewest gates
    for (uint32_t column = 0; column < 1u << r && used < data_bits; column++) {
      if (__builtin_popcount(column) != weight) continue;
      code->position[column] = (uint8_t)used;
      columns[used++] = (uint8_t)column;
    }
  }
  ASSERT(used == data_bits);
  for (uint32_t bit = 0; bit < data_bits; bit++) {
    for (uint32_t value = 0; value < 256; value++) {
      if ((value >> (bit % 8) & 1) != 0) code->check[bit / 8][value] ^= columns[bit];
    }
  }
}

static uint8_t encode(const Code *code, uint64_t data) {
  uint8_t check = 0;
  for (uint32_t byte = 0; byte < 8; byte++) check ^= code->check[byte][data >> (8 * byte) & 0xFF];
  return check;
}

// Check bits of a whole row: one loop without branches for the usual words of 32 bits.
static void encode_row(const Code *code, const Region *region, const uint8_t *data, uint8_t check[REGION_MAX_UNITS]) {
  if (region->bits == 32 && region->unit_bytes == 4) {
    for (uint32_t i = 0; i < region->units; i++) {
      const uint8_t *word = data + 4 * i;
      check[i] = code->check[0][word[0]] ^ code->check[1][word[1]] ^ code->check[2][word[2]] ^ code->check[3][word[3]];
    }
  } else {
    for (uint32_t i = 0; i < region->units; i++) check[i] = encode(code, unit_get(region, data + i * region->unit_bytes));
  }
}

// ---- The hook --------------------------------------------------------------------------------------
static const Protected *find_protected(const Secded *own, const CellEvent *event) {
  if (event->region >= own->region_count || own->item_of[event->region] == 0) return NULL;
  return &own->items[own->item_of[event->region] - 1];
}

static uint8_t *check_row(const HookMachine *machine, const Protected *item, uint64_t row) {
  const Region *check = &machine->regions->items[item->check];
  ASSERT(row < check->rows);
  return machine->block + check->base + row * check->row_bytes;
}

static void count_check_bits(const HookMachine *machine, const Protected *item, const CellEvent *event) {
  hook_tally(machine, TALLY_CHECK_BITS, count_ones(event->units) * item->code.check_bits);
}

static Verdict secded_write(Hook *hook, HookMachine *machine, const CellEvent *event) {
  const Protected *item = find_protected(hook->own, event);
  if (item == NULL) return VERDICT_PASS;
  const Region *region = &machine->regions->items[item->region];
  uint8_t *check = check_row(machine, item, event->row), fresh[REGION_MAX_UNITS];
  encode_row(&item->code, region, event->data, fresh);
  count_check_bits(machine, item, event);
  for (uint32_t i = 0; i < region->units; i++) check[i] = (event->units >> i & 1) != 0 ? fresh[i] : check[i];
  return VERDICT_PASS;
}

// One unit whose check bits do not fit.
static Verdict repair(const Protected *item, HookMachine *machine, uint8_t syndrome, uint8_t *unit, uint8_t *check) {
  uint8_t position = item->code.position[syndrome];
  if (position == NO_POSITION) {
    ++*machine->detected;
    return VERDICT_HALT;
  }
  if (position >= CHECK_POSITION) {
    *check ^= (uint8_t)(1u << (position - CHECK_POSITION));
  } else {
    unit[position / 8] ^= (uint8_t)(1u << position % 8);
  }
  ++*machine->corrected;
  return VERDICT_FIXED;
}

static Verdict secded_read(Hook *hook, HookMachine *machine, const CellEvent *event) {
  const Protected *item = find_protected(hook->own, event);
  if (item == NULL) return VERDICT_PASS;
  const Region *region = &machine->regions->items[item->region];
  uint8_t *check = check_row(machine, item, event->row), fresh[REGION_MAX_UNITS];
  uint8_t width = (uint8_t)((1u << item->code.check_bits) - 1);
  encode_row(&item->code, region, event->data, fresh);
  count_check_bits(machine, item, event);
  if (memcmp(fresh, check, region->units) == 0) return VERDICT_PASS;
  Verdict verdict = VERDICT_PASS;
  for (uint32_t i = 0; i < region->units; i++) {
    uint8_t syndrome = (fresh[i] ^ check[i]) & width;
    if ((event->units >> i & 1) == 0 || syndrome == 0) continue;
    Verdict found = repair(item, machine, syndrome, event->data + i * region->unit_bytes, &check[i]);
    if (found > verdict) verdict = found;
  }
  return verdict;
}

// ---- Attaching -------------------------------------------------------------------------------------
static bool can_protect(const Region *region) { return region_can_carry_ecc(region) && region->rows > 0; }

static bool refuse(const Secded *own, const RegionTable *table, const char *name, Diags *diags) {
  uint16_t index = region_find(table, name);
  if (index != REGION_NONE) {
    const Region *region = &table->items[index];
    const char *why = "not every access of it is told to hooks";
    if ((region->flags & REGION_OUTSIDE) != 0) why = "the host writes it too, without telling";
    if (region->rows == 0) why = "this machine has none";
    return diags_add(diags, NULL, 0, 0, "%s: '%s' cannot carry check bits: %s", own->text, name, why);
  }
  const char *names[MOST_REGIONS];
  uint32_t count = 0;
  Text all = {0};
  for (uint32_t i = 0; i < table->count && count < MOST_REGIONS; i++) {
    if (!can_protect(&table->items[i])) continue;
    text_add(&all, "%s%s", count == 0 ? "" : ", ", table->items[i].name);
    names[count++] = table->items[i].name;
  }
  const char *near = text_nearest(name, names, count);
  if (near != NULL) {
    diags_add(diags, NULL, 0, 0, "%s: this machine has no structure '%s'; did you mean '%s'?", own->text, name, near);
  } else {
    diags_add(diags, NULL, 0, 0, "%s: this machine has no structure '%s'; check bits can go on %s", own->text, name,
              count == 0 ? "none of its structures" : all.at);
  }
  text_free(&all);
  return false;
}

static bool protect_region(Secded *own, HookLayout *layout, uint16_t index, Diags *diags) {
  const Region region = hook_layout_regions(layout)->items[index]; // a copy: adding one moves the table
  if (own->item_of[index] != 0) return diags_add(diags, NULL, 0, 0, "%s: '%s' is named twice", own->text, region.name);
  Protected *item = &own->items[own->count];
  make_code(&item->code, region.bits);
  Text name = {0}, title = {0};
  text_add(&name, "ecc.%s", region.name);
  text_add(&title, "check bits, %s", region.title);
  Region wanted = {.name = name.at,
                   .title = title.at,
                   .unit = region.unit,
                   .meaning = "SEC-DED check bits",
                   .dim_count = region.dim_count,
                   .units = region.units,
                   .bits = item->code.check_bits,
                   .flags = region.flags & REGION_GUARDED,
                   .unit_bytes = 1};
  memcpy(wanted.dims, region.dims, sizeof wanted.dims);
  item->region = index;
  item->check = hook_add_region(layout, &wanted, (region.flags & REGION_KEPT) != 0 ? LIFE_CELLS : LIFE_LAUNCH, diags);
  own->item_of[index] = (uint8_t)++own->count;
  text_free(&name);
  text_free(&title);
  return item->check != REGION_NONE;
}

static bool secded_attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Secded *own = hook->own;
  uint32_t region_count = hook_layout_regions(layout)->count; // those of earlier hooks too, none of which is TRACED
  ASSERT(region_count <= own->region_count);
  memset(own->item_of, 0, own->region_count);
  own->count = 0;
  bool all = own->name_count == 1 && strcmp(own->names[0], "all") == 0;
  for (uint32_t i = 0; all && i < region_count; i++) {
    const Region *region = &hook_layout_regions(layout)->items[i];
    bool is_memory = (region->flags & REGION_OUTSIDE) != 0; // has to be named: its check bits are many
    if (is_memory || !can_protect(region)) continue;
    if (own->count == MOST_REGIONS) return diags_add(diags, NULL, 0, 0, "%s: more than %d structures: name them", own->text, MOST_REGIONS);
    if (!protect_region(own, layout, (uint16_t)i, diags)) return false;
  }
  for (uint32_t i = 0; !all && i < own->name_count; i++) {
    const RegionTable *table = hook_layout_regions(layout);
    uint16_t index = region_find(table, own->names[i]);
    if (index == REGION_NONE || !can_protect(&table->items[index])) return refuse(own, table, own->names[i], diags);
    if (!protect_region(own, layout, index, diags)) return false;
  }
  return true;
}

Hook *secded_new(const ProtectArguments *arguments, Arena *arena, Diags *diags) {
  enum { MOST_NUMBERED = 1024 }; // regions of a machine, its hooks' included
  if (arguments->count == 0 || arguments->count > MOST_REGIONS) {
    diags_add(diags, NULL, 0, 0, "%s: which structures? as in secded:rf,shared or secded:all", arguments->text);
    return NULL;
  }
  Secded *own = ARENA_NEW(arena, Secded);
  own->text = arguments->text;
  own->items = ARENA_ARRAY(arena, Protected, MOST_REGIONS);
  own->item_of = ARENA_ARRAY(arena, uint8_t, MOST_NUMBERED);
  own->region_count = MOST_NUMBERED;
  for (uint32_t i = 0; i < arguments->count; i++) {
    if (arguments->items[i].value != NULL) {
      protect_unknown(arguments, arguments->items[i].key, NULL, 0, diags);
      return NULL;
    }
    own->names[own->name_count++] = arguments->items[i].key;
  }
  Hook *hook = ARENA_NEW(arena, Hook);
  *hook = (Hook){.name = "secded",
                 .kind = HOOK_PROTECTION,
                 .own = own,
                 .attach = secded_attach,
                 .read = secded_read,
                 .write = secded_write,
                 .next_cycle = UINT64_MAX};
  return hook;
}
