// Everything that knows nothing of GPUs: memory, text, diagnostics, hashes, random numbers.
//
// Errors are values (see docs/conventions.md): whoever detects one fills a Diag and returns
// false; only cli/ prints. ASSERT is for our own bugs alone.
#ifndef REDOUBT_BASE_H
#define REDOUBT_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// ---- Assertions: facts that no user input and no injected fault can falsify ------------------
_Noreturn void assert_failed(const char *file, int line, const char *what);
#define ASSERT(fact) ((fact) ? (void)0 : assert_failed(__FILE__, __LINE__, #fact))

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static inline uint32_t count_ones(uint32_t bits) { // faster than a call where the processor's own cannot be used
  bits -= bits >> 1 & 0x55555555;
  bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333);
  return ((bits + (bits >> 4)) & 0x0F0F0F0F) * 0x01010101 >> 24;
}
static inline uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint32_t max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t align_up(uint64_t value, uint64_t power_of_two) { return (value + power_of_two - 1) & ~(power_of_two - 1); }

// ---- Bit casts -------------------------------------------------------------------------------
static inline float f32_of(uint32_t bits) {
  float f;
  memcpy(&f, &bits, 4);
  return f;
}
static inline uint32_t bits_of_f32(float f) {
  uint32_t b;
  memcpy(&b, &f, 4);
  return b;
}
static inline double f64_of(uint64_t bits) {
  double f;
  memcpy(&f, &bits, 8);
  return f;
}
static inline uint64_t bits_of_f64(double f) {
  uint64_t b;
  memcpy(&b, &f, 8);
  return b;
}

// ---- Arena: one per owner; everything in it dies at once ---------------------------------------
typedef struct Arena Arena;
Arena *arena_new(void);
void arena_free(Arena *arena);                                        // NULL is fine
void *arena_alloc(Arena *arena, size_t bytes);                        // zeroed, 16-byte aligned
char *arena_copy_text(Arena *arena, const char *text, size_t length); // adds the NUL
char *arena_format(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t arena_bytes(const Arena *arena); // handed out so far
#define ARENA_NEW(arena, Type) ((Type *)arena_alloc((arena), sizeof(Type)))
#define ARENA_ARRAY(arena, Type, count) ((Type *)arena_alloc((arena), sizeof(Type) * (size_t)(count)))

// A growable array inside an arena: `Vec` of any type through the macros below. Zero-initialise.
//   typedef VEC(Token) TokenVec;   Token *t = VEC_PUSH(&vec, arena);   vec.items[i], vec.count
#define VEC(Type)             \
  struct {                    \
    Type *items;              \
    uint32_t count, capacity; \
  }
void *vec_grow(Arena *arena, void *items, uint32_t *capacity, size_t item_bytes);
#define VEC_PUSH(vec, arena)                                                                                                        \
  ((vec)->count == (vec)->capacity ? (void)((vec)->items = vec_grow((arena), (vec)->items, &(vec)->capacity, sizeof *(vec)->items)) \
                                   : (void)0,                                                                                       \
   memset(&(vec)->items[(vec)->count], 0, sizeof *(vec)->items), &(vec)->items[(vec)->count++])

// ---- Text ------------------------------------------------------------------------------------
// A slice of somebody else's characters, not NUL-terminated.
typedef struct Slice {
  const char *at;
  uint32_t length;
} Slice;
static inline Slice slice_of(const char *text) { return (Slice){text, (uint32_t)strlen(text)}; }
bool slice_is(Slice slice, const char *text);
bool slice_equal(Slice a, Slice b);
bool slice_starts(Slice slice, const char *prefix);

// Text under construction; malloc-backed so that it may outgrow any arena. Zero-initialise.
typedef struct Text {
  char *at; // NUL-terminated once anything was added
  size_t length, capacity;
} Text;
void text_add(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_bytes(Text *text, const void *bytes, size_t count);
void text_free(Text *text);
// A text cell of CSV, quoted as RFC 4180 says. One that a spreadsheet would take for a formula gets an apostrophe in front of it.
void text_add_csv(Text *text, const char *cell);
void text_add_csv_name(Text *text, const char *cell); // without quotes where it is a plain name
// Text from outside, for a terminal: control characters but those in `kept`, and bytes that are no UTF-8, become \xNN.
void text_add_visible(Text *text, const char *bytes, size_t count, const char *kept);
typedef enum SymbolForm {
  SYMBOL_SHORT, // "saxpy", "reduce<float>"
  SYMBOL_WHOLE, // "saxpy(int, float const*, float*)"
} SymbolForm;
// What a program calls by a mangled name, as people write it; other names as they are.
void text_add_symbol(Text *text, const char *symbol, SymbolForm form);
typedef struct SymbolText {
  char at[96];
} SymbolText;
const char *symbol_short(SymbolText *text, const char *symbol);   // cut off, with "...", where it is too long
#define SHORT_NAME(symbol) symbol_short(&(SymbolText){0}, symbol) // for a message: it lives as long as the block does
// By its own name, short, whole, or without the arguments of a template.
bool symbol_is_called(const char *symbol, const char *name);
void text_add_shell_word(Text *text, const char *word); // as a shell would take it: in quotes where it must be

// Digits, or 0x and hexadecimal ones where that is allowed; *at ends behind them. False: there are none, or they say more than 64 bits hold.
bool text_number(const char **at, bool hexadecimal, uint64_t *value);
// The candidate nearest to `word` by edit distance, else the first that contains it; NULL: none is close. For "did you mean".
const char *text_nearest(const char *word, const char *const *candidates, size_t count);

// ---- Diagnostics -----------------------------------------------------------------------------
// What is wrong with a user's input, where, and what would mend it. One line each.
typedef struct Diag {
  const char *file; // as the user named it; NULL when not about a file
  int line, column; // from 1; 0 when unknown
  const char *text; // without final full stop or newline
} Diag;

// Errors found so far; owns their text. Zero-initialise, diags_free at the end.
typedef struct Diags {
  Diag *items;
  uint32_t count, capacity;
  Arena *arena;
} Diags;
// Always returns false, so that `return diags_add(...)` reads as what it is.
bool diags_add(Diags *diags, const char *file, int line, int column, const char *format, ...) __attribute__((format(printf, 5, 6)));
void diags_free(Diags *diags);
void diag_format(const Diag *diag, Text *out); // "file:line:column: error: text\n"

// ---- Files -----------------------------------------------------------------------------------
// Reads the whole file into the arena, with a NUL after the last byte.
bool file_read(Arena *arena, const char *path, char **bytes, size_t *count, Diags *diags);

// ---- Hashes and random numbers -----------------------------------------------------------------
uint64_t hash_bytes(const void *bytes, size_t count, uint64_t seed); // XXH3
bool file_hash(const char *path, uint64_t *hash);                    // of all its bytes, with seed 0; false: it cannot be read

// A pure function of its arguments, so that fault 17 of seed 3 is the same on any machine,
// whatever was drawn before (design: Campaigns).
uint64_t random_draw(uint64_t seed, uint64_t index, uint64_t draw);
uint64_t random_below(uint64_t bits, uint64_t bound); // scales 64 random bits to 0..bound-1
float random_unit_f32(uint64_t bits);                 // 0 <= x < 1, 24 bits
double random_unit_f64(uint64_t bits);                // 0 <= x < 1, 53 bits

#endif
