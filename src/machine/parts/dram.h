// A DRAM controller: a queue of requests with their data, banks with open rows, first-ready first-come
// first-served. Commands are timed in fractions of a core cycle, because memory has its own clock. The owner reads and writes
// the backing memory when a request's last burst is done: in that order requests take effect, and requests for
// the same line take effect in the order of their arrival.
#ifndef REDOUBT_PARTS_DRAM_H
#define REDOUBT_PARTS_DRAM_H

#include "machine/parts/packet.h"

typedef enum DramPolicy { DRAM_FR_FCFS, DRAM_FCFS } DramPolicy; // order of config.def's choices

typedef struct DramShape { // times in core cycles times DRAM_TIME_SCALE: memory and core clocks differ
  DramPolicy policy;
  uint32_t queue, banks;                                                     // at most DRAM_MOST_QUEUE, DRAM_MOST_BANKS
  uint32_t row_bytes;                                                        // of one bank in one controller
  uint32_t controllers, interleave_bytes;                                    // how addresses are spread
  uint32_t burst_bytes;                                                      // moved by one column command
  uint32_t read_bytes;                                                       // of them that a read uses
  uint32_t t_rcd, t_rp, t_cl, t_wl, t_ras, t_rc, t_ccd, t_wr, t_cdlr, t_rrd; // scaled
  uint32_t groups, t_ccdl;                                                   // banks that share more than the bus; 1, t_ccd: none do
  uint32_t t_burst;                                                          // data bus busy per burst, scaled
  uint32_t latency;                                                          // core cycles from the pins to the reply, not scaled
} DramShape;
enum { DRAM_TIME_SCALE = 64 };

enum { DRAM_MOST_QUEUE = 64, DRAM_MOST_BANKS = 64 };

typedef struct DramRequest { // one entry of the queue
  uint64_t arrived_at;
  uint64_t done_at; // core cycle; UINT64_MAX until its column command
  uint64_t order;   // arrival number: oldest first
  uint64_t row;
  uint32_t bank;
  uint32_t opened; // 1: a row was opened for it
  Packet packet;   // READ or WRITE of a line or part of it
} DramRequest;

typedef struct DramBank { // times are scaled
  uint64_t open_row;      // + 1; 0 = closed
  uint64_t column_at;     // earliest read or write of the open row
  uint64_t precharge_at;  // earliest precharge
  uint64_t activate_at;   // earliest activation
} DramBank;

typedef struct DramController { // times are scaled
  uint64_t wake_at;             // core cycle before which nothing happens
  uint64_t waiting;             // bit i: entry i waits for its column command
  uint64_t moving;              // bit i: entry i waits for its data
  uint64_t writing;             // of those that wait: is a write
  uint64_t hits;                // of those that wait: its row is open
  uint64_t wanted_banks;        // bit b: some entry waits for bank b
  uint64_t bus_free_at;         // data bus
  uint64_t column_at;           // earliest column command of any bank
  uint64_t read_at;             // earliest read command after the last write
  uint64_t activate_at;         // earliest activation of any bank
  uint64_t arrivals;
  uint64_t row_hits, row_misses, reads, writes, waited; // statistics; waited: cycles from arrival to column command
  uint64_t of_bank[DRAM_MOST_BANKS];                    // bit i: entry i waits for this bank
} DramController;

// Where a physical address lies.
typedef struct DramPlace {
  uint32_t controller, bank;
  uint64_t row;
} DramPlace;
DramPlace dram_place(const DramShape *shape, uint64_t address);

// How requests reach the bytes. Any address is legal: what is not there reads zero and is not written.
typedef struct Backing Backing; // machine/simt: global memory, local memory, code, constant banks
void backing_read(const Backing *backing, uint64_t address, ByteMask bytes, uint32_t data[LINE_WORDS]);
// Of code whose instructions are split: the halves that lie beside a line's cells (simt/code.h). Zeros where there is none.
bool backing_splits(const Backing *backing, uint64_t address);
void backing_rest(const Backing *backing, uint64_t address, ByteMask bytes, uint32_t rest[LINE_WORDS]);
void backing_write(const Backing *backing, uint64_t address, ByteMask bytes, const uint32_t data[LINE_WORDS]);

typedef struct Dram { // one controller's state; typed pointers into the block
  const DramShape *shape;
  DramController *controller;
  DramBank *banks;
  DramRequest *queue;
  void (*serve)(void *context, DramRequest *request); // told when a request gets its column command; NULL: nobody wants to know
  void (*place)(void *context, const DramRequest *request, bool taken); // told of entries taken and released; NULL: nobody
  void *context;                                                        // of both
} Dram;
bool dram_can_take(const Dram *dram);
void dram_take(Dram *dram, const Packet *packet, uint64_t now); // only when dram_can_take
// One cycle: at most one row command (precharge, activate), one column command and one finished request, which is handed to
// `done`: true when it was taken; otherwise it stays and is offered again. Its entry is free again during the call, so that
// a taker may put one request (a line it must evict) in. *next as for network_cycle; a refused request counts as next cycle.
typedef bool (*DramDone)(void *context, const DramRequest *request);
bool dram_cycle(Dram *dram, uint64_t now, DramDone done, void *context, uint64_t *next);
bool dram_is_empty(const Dram *dram);

#endif
