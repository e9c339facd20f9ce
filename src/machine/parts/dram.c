// A DRAM controller; see dram.h. Command by command: precharge and activate open rows, column commands move data. First-ready
// first-come first-served (Rixner et al., ISCA 2000): the oldest request that can have its column command now gets it; a bank
// whose open row nobody wants any more gets the row of its oldest request. FCFS serves the oldest request alone. While the
// bus would have to turn round for the oldest, younger requests of the other direction go on.
//
// Times are in 1/64 core cycle. A command may fall anywhere into a core cycle, so that bandwidth does not depend on how the two
// clocks divide: one whose earliest time lies in the current cycle is given at exactly that time. Refresh is not modelled.
//
// Requests for one line get their column commands in order of arrival, and the data bus is taken in order of column commands, so
// they finish in order of arrival.
#include "machine/parts/dram.h"

// Consecutive rows' worth of bytes go to consecutive banks. Higher digits of the row number shift the bank, so that streams that
// are a power of two apart do not meet in one bank: the idea of Zhang, Zhu and Zhang, MICRO 2000, for any number of banks.
DramPlace dram_place(const DramShape *shape, uint64_t address) {
  uint64_t chunk = address / shape->interleave_bytes;
  uint64_t local = chunk / shape->controllers * shape->interleave_bytes + address % shape->interleave_bytes;
  uint64_t number = local / shape->row_bytes;
  uint64_t row = number / shape->banks, shift = 0;
  for (uint64_t digits = row; digits != 0; digits /= shape->banks) {
    shift += digits % shape->banks;
    if (shape->banks == 1) break;
  }
  return (DramPlace){.controller = (uint32_t)(chunk % shape->controllers), .bank = (uint32_t)((number + shift) % shape->banks), .row = row};
}

// ---- The queue -------------------------------------------------------------------------------------
static uint64_t all_entries(const DramShape *shape) {
  return shape->queue >= DRAM_MOST_QUEUE ? UINT64_MAX : (UINT64_C(1) << shape->queue) - 1;
}

static uint64_t free_entries(const Dram *dram) {
  return all_entries(dram->shape) & ~(dram->controller->waiting | dram->controller->moving);
}

static bool is_write(const DramRequest *request) { return request->packet.kind == PACKET_WRITE; }

static uint32_t bank_number(const Dram *dram, const DramRequest *request) {
  return request->bank < dram->shape->banks ? request->bank : request->bank % dram->shape->banks;
}

static DramBank *bank_of(const Dram *dram, const DramRequest *request) { return &dram->banks[bank_number(dram, request)]; }

static bool row_is_open(const DramBank *bank, const DramRequest *request) { return bank->open_row == request->row + 1; }

// The masks by which commands are chosen: the entry begins to wait for its column command, or has it.
static void begin_waiting(Dram *dram, uint32_t entry) {
  DramController *controller = dram->controller;
  const DramRequest *request = &dram->queue[entry];
  uint32_t bank = bank_number(dram, request);
  controller->waiting |= UINT64_C(1) << entry;
  controller->writing |= (uint64_t)is_write(request) << entry;
  controller->hits |= (uint64_t)row_is_open(&dram->banks[bank], request) << entry;
  controller->wanted_banks |= UINT64_C(1) << bank;
  controller->of_bank[bank] |= UINT64_C(1) << entry;
}

static void end_waiting(Dram *dram, uint32_t entry) {
  DramController *controller = dram->controller;
  uint32_t bank = bank_number(dram, &dram->queue[entry]);
  uint64_t others = ~(UINT64_C(1) << entry);
  controller->waiting &= others;
  controller->writing &= others;
  controller->hits &= others;
  controller->of_bank[bank] &= others;
  if (controller->of_bank[bank] == 0) controller->wanted_banks &= ~(UINT64_C(1) << bank);
}

// A bank has opened or closed a row.
static void row_changed(Dram *dram, uint32_t bank) {
  DramController *controller = dram->controller;
  controller->hits &= ~controller->of_bank[bank];
  if (dram->banks[bank].open_row == 0) return;
  for (uint64_t left = controller->of_bank[bank] & all_entries(dram->shape); left != 0; left &= left - 1) {
    uint32_t entry = (uint32_t)__builtin_ctzll(left);
    controller->hits |= (uint64_t)row_is_open(&dram->banks[bank], &dram->queue[entry]) << entry;
  }
}

bool dram_can_take(const Dram *dram) { return free_entries(dram) != 0; }

bool dram_is_empty(const Dram *dram) { return (dram->controller->waiting | dram->controller->moving) == 0; }

void dram_take(Dram *dram, const Packet *packet, uint64_t now) {
  uint64_t open = free_entries(dram);
  if (open == 0) return;
  uint32_t entry = (uint32_t)__builtin_ctzll(open);
  DramController *controller = dram->controller;
  DramPlace place = dram_place(dram->shape, packet->address);
  DramRequest *request = &dram->queue[entry];
  request->arrived_at = now;
  request->done_at = UINT64_MAX;
  request->order = controller->arrivals++;
  request->row = place.row;
  request->bank = place.bank;
  request->opened = 0;
  memcpy(&request->packet, packet, offsetof(Packet, other)); // what is behind is for atomics and code alone
  if (dram->place != NULL) dram->place(dram->context, request, true);
  begin_waiting(dram, entry);
  controller->wake_at = min_u64(controller->wake_at, now);
}

// Column commands that a request needs: chunks that it touches.
static uint32_t bursts_of(const DramShape *shape, const Packet *packet) {
  uint32_t bursts = 0, bytes = packet->kind == PACKET_READ ? shape->read_bytes : shape->burst_bytes;
  for (uint32_t first = 0; first < LINE_BYTES; first += bytes) {
    bursts += bytes_any(bytes_and(packet->bytes, bytes_from(first, bytes))) ? 1 : 0;
  }
  return max_u32(bursts, 1);
}

// ---- Choosing commands -----------------------------------------------------------------------------
enum { NO_ENTRY = UINT32_MAX };

typedef struct Choice { // what one look at the queue finds
  uint64_t now, end;    // scaled: the current core cycle is [now, end)
  uint32_t hit[2];      // oldest read, oldest write whose row is open and its bank ready; NO_ENTRY: none
  uint32_t row;         // oldest request whose bank can take a row command in this cycle
  uint64_t next;        // earliest scaled time of anything that must wait
} Choice;
static uint32_t older(const Dram *dram, uint32_t a, uint32_t b) {
  return a == NO_ENTRY || dram->queue[b].order < dram->queue[a].order ? b : a;
}

static uint32_t oldest_of(const Dram *dram, uint64_t entries) {
  uint32_t oldest = NO_ENTRY;
  for (uint64_t left = entries; left != 0; left &= left - 1) oldest = older(dram, oldest, (uint32_t)__builtin_ctzll(left));
  return oldest;
}

// When a bank may next be precharged (a row is open) or activated.
static uint64_t row_command_at(const Dram *dram, const DramBank *bank) {
  return bank->open_row != 0 ? bank->precharge_at : max_u64(bank->activate_at, dram->controller->activate_at);
}

// The requests that scheduling looks at: all that wait, or only the oldest.
static uint64_t candidates(const Dram *dram) {
  uint64_t waiting = dram->controller->waiting & all_entries(dram->shape);
  if (dram->shape->policy != DRAM_FCFS || waiting == 0) return waiting;
  return UINT64_C(1) << oldest_of(dram, waiting);
}

// Bank by bank: its open row is of use as long as somebody wants it.
static void choose(const Dram *dram, Choice *choice) {
  const DramController *controller = dram->controller;
  uint64_t all = candidates(dram), columns = 0, rows = 0;
  for (uint64_t left = controller->wanted_banks; left != 0; left &= left - 1) {
    uint32_t number = (uint32_t)__builtin_ctzll(left);
    const DramBank *bank = &dram->banks[number];
    uint64_t wait = controller->of_bank[number] & all, hits = wait & controller->hits;
    uint64_t at = hits != 0 ? bank->column_at : row_command_at(dram, bank);
    if (wait == 0) continue;
    if (at >= choice->end) choice->next = min_u64(choice->next, at);
    else if (hits != 0) columns |= hits;
    else rows |= wait;
  }
  choice->hit[0] = oldest_of(dram, columns & ~controller->writing);
  choice->hit[1] = oldest_of(dram, columns & controller->writing);
  choice->row = oldest_of(dram, rows);
}

// ---- Giving commands ---------------------------------------------------------------------------------
static void give_row_command(Dram *dram, const Choice *choice) {
  const DramShape *shape = dram->shape;
  DramRequest *request = &dram->queue[choice->row];
  DramBank *bank = bank_of(dram, request);
  uint64_t at = max_u64(row_command_at(dram, bank), choice->now);
  if (bank->open_row != 0) {
    bank->open_row = 0;
    bank->activate_at = max_u64(bank->activate_at, at + shape->t_rp);
    row_changed(dram, bank_number(dram, request));
    return;
  }
  bank->open_row = request->row + 1;
  row_changed(dram, bank_number(dram, request));
  bank->column_at = at + shape->t_rcd;
  bank->precharge_at = at + shape->t_ras;
  bank->activate_at = at + shape->t_rc;
  dram->controller->activate_at = at + shape->t_rrd;
  request->opened = 1;
}

// When a column command of this direction can be given: command spacing, the data bus, and write to read.
static uint64_t column_command_at(const Dram *dram, const DramRequest *request, uint64_t now) {
  const DramController *controller = dram->controller;
  uint64_t at = max_u64(now, max_u64(bank_of(dram, request)->column_at, controller->column_at));
  uint64_t to_data = is_write(request) ? dram->shape->t_wl : dram->shape->t_cl;
  if (controller->bus_free_at > to_data) at = max_u64(at, controller->bus_free_at - to_data);
  return is_write(request) ? at : max_u64(at, controller->read_at);
}

// Does an older request for the same line wait?
static bool must_wait(const Dram *dram, const DramRequest *request) {
  for (uint64_t left = dram->controller->waiting & all_entries(dram->shape); left != 0; left &= left - 1) {
    const DramRequest *other = &dram->queue[__builtin_ctzll(left)];
    if (other->packet.address == request->packet.address && other->order < request->order) return true;
  }
  return false;
}

// The entry whose column command goes out in this cycle.
static uint32_t choose_column(const Dram *dram, Choice *choice) {
  uint32_t best = NO_ENTRY;
  for (uint32_t direction = 0; direction < 2; direction++) {
    uint32_t entry = choice->hit[direction];
    if (entry == NO_ENTRY) continue;
    uint64_t at = column_command_at(dram, &dram->queue[entry], choice->now);
    if (at >= choice->end) {
      choice->next = min_u64(choice->next, at);
    } else if (!must_wait(dram, &dram->queue[entry])) {
      best = older(dram, best, entry);
    }
  }
  return best;
}

// The banks of a group have to wait longer for each other; those of other groups use the bus meanwhile.
static void keep_group(Dram *dram, const DramBank *bank, uint64_t until) {
  uint32_t number = (uint32_t)(bank - dram->banks), banks = max_u32(dram->shape->banks / dram->shape->groups, 1);
  for (uint32_t i = number / banks * banks; i < number / banks * banks + banks && i < dram->shape->banks; i++)
    dram->banks[i].column_at = max_u64(dram->banks[i].column_at, until);
}

static void give_column_command(Dram *dram, uint32_t entry, uint64_t now) {
  const DramShape *shape = dram->shape;
  DramController *controller = dram->controller;
  DramRequest *request = &dram->queue[entry];
  DramBank *bank = bank_of(dram, request);
  uint64_t at = column_command_at(dram, request, now * DRAM_TIME_SCALE);
  bool write = is_write(request);
  uint64_t spacing = max_u32(shape->t_ccd, shape->t_burst), bursts = bursts_of(shape, &request->packet);
  uint64_t own_spacing = max_u64(spacing, shape->t_ccdl), to_data = write ? shape->t_wl : shape->t_cl;
  uint64_t data_end = at + to_data + (bursts - 1) * own_spacing + shape->t_burst;
  controller->column_at = at + bursts * spacing;
  controller->bus_free_at = at + to_data + (bursts - 1) * spacing + shape->t_burst;
  if (shape->groups > 1) keep_group(dram, bank, at + bursts * own_spacing);
  if (write) controller->read_at = data_end + shape->t_cdlr;
  bank->precharge_at = max_u64(bank->precharge_at, write ? data_end + shape->t_wr : at + bursts * own_spacing);
  request->done_at = (data_end + DRAM_TIME_SCALE - 1) / DRAM_TIME_SCALE + shape->latency;
  end_waiting(dram, entry);
  controller->moving |= UINT64_C(1) << entry;
  *(write ? &controller->writes : &controller->reads) += 1;
  *((request->opened & 1) != 0 ? &controller->row_misses : &controller->row_hits) += 1;
  controller->waited += now - request->arrived_at;
  if (dram->serve != NULL) dram->serve(dram->context, request);
}

// ---- Finishing -----------------------------------------------------------------------------------------
// The request that is done first.
static uint32_t first_done(const Dram *dram) {
  uint32_t first = NO_ENTRY;
  for (uint64_t left = dram->controller->moving & all_entries(dram->shape); left != 0; left &= left - 1) {
    uint32_t entry = (uint32_t)__builtin_ctzll(left);
    const DramRequest *a = first == NO_ENTRY ? NULL : &dram->queue[first], *b = &dram->queue[entry];
    bool sooner = a == NULL || b->done_at < a->done_at || (b->done_at == a->done_at && b->order < a->order);
    if (sooner) first = entry;
  }
  return first;
}

// Offers an entry to the owner. The entry is emptied first: the owner may need its place.
static bool finish(Dram *dram, uint32_t entry, DramDone done, void *context) {
  DramController *controller = dram->controller;
  DramRequest request = dram->queue[entry];
  if (dram->place != NULL) dram->place(dram->context, &dram->queue[entry], false);
  uint64_t bit = UINT64_C(1) << entry;
  memset(&dram->queue[entry], 0, sizeof request);
  controller->moving &= ~bit;
  if (done(context, &request)) return true;
  dram->queue[entry] = request;
  if (dram->place != NULL) dram->place(dram->context, &dram->queue[entry], true);
  controller->moving |= bit;
  return false;
}

bool dram_cycle(Dram *dram, uint64_t now, DramDone done, void *context, uint64_t *next) {
  DramController *controller = dram->controller;
  *next = controller->wake_at;
  if (now < controller->wake_at) return false;
  bool moved = false, refused = false;
  uint32_t ended = first_done(dram);
  if (ended != NO_ENTRY && dram->queue[ended].done_at <= now) {
    moved = finish(dram, ended, done, context);
    refused = !moved;
  }
  uint64_t begin = now * DRAM_TIME_SCALE;
  Choice choice = {.now = begin, .end = begin + DRAM_TIME_SCALE, .hit = {NO_ENTRY, NO_ENTRY}, .row = NO_ENTRY, .next = UINT64_MAX};
  choose(dram, &choice);
  uint32_t column = choose_column(dram, &choice);
  if (column != NO_ENTRY) give_column_command(dram, column, now);
  if (choice.row != NO_ENTRY) give_row_command(dram, &choice);
  moved = moved || column != NO_ENTRY || choice.row != NO_ENTRY;
  uint64_t wake = choice.next == UINT64_MAX ? UINT64_MAX : choice.next / DRAM_TIME_SCALE;
  ended = first_done(dram);
  if (ended != NO_ENTRY) wake = min_u64(wake, dram->queue[ended].done_at);
  controller->wake_at = moved || refused ? now + 1 : max_u64(wake, now + 1);
  *next = controller->wake_at;
  return moved;
}
