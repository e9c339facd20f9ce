// Texture and surface instructions of a warp; see sample.h.
#include "machine/parts/sample.h"
#include "machine/parts/texture.h"

static bool read_texel(void *context, uint64_t address, void *to, uint32_t bytes) {
  const uint8_t *host = memory_at(context, address, bytes);
  if (host != NULL) memcpy(to, host, bytes);
  return host != NULL;
}

static bool write_texel(void *context, uint64_t address, const void *from, uint32_t bytes) {
  uint8_t *host = memory_at(context, address, bytes);
  if (host != NULL) memcpy(host, from, bytes);
  return host != NULL;
}

static void take_registers(const uint32_t *rows, TypeId type, unsigned lane, uint32_t values[8]) {
  unsigned registers = min_u32(type_info[type].registers, 8);
  for (unsigned k = 0; k < 8; k++) values[k] = k < registers ? rows[k * WARP_LANES + lane] : 0;
}

static TrapKind trap_of(TextureStatus status) { return status == TEXTURE_MISFIT ? TRAP_MISALIGNED : TRAP_ILLEGAL_ADDRESS; }

static bool execute_lane(const MachineEnvironment *environment, const TextureReader *reader, Op op, uint32_t imm, unsigned lane,
                         const SampleRows *rows, AccessViolation *violation) {
  const OpInfo *info = &op_info[op];
  unsigned registers = type_info[info->d].registers;
  uint64_t handle = row_get(rows->handle, lane, 2), address = 0;
  *violation = (AccessViolation){.kind = TRAP_INVALID_TEXTURE, .space = SPACE_GLOBAL, .lane = lane, .address = handle};
  if (handle == 0 || handle > environment->texture_count || !environment->textures[handle - 1].in_use) return false;
  uint32_t coordinates[8], gradients[8], data[8] = {0};
  take_registers(rows->coordinates, info->b, lane, coordinates);
  take_registers(rows->gradients, info->c, lane, gradients);
  for (unsigned k = 0; k < 4 * registers; k++) data[k] = rows->data[k / registers][k % registers * WARP_LANES + lane];
  TextureStatus status = texture_execute(&environment->textures[handle - 1], reader, imm, coordinates, gradients, data, &address);
  if (status != TEXTURE_DONE) {
    *violation = (AccessViolation){.kind = trap_of(status), .space = SPACE_GLOBAL, .lane = lane, .address = address, .bytes = 1};
    return false;
  }
  if ((info->flags & IT_DATA_IN) != 0) return true;
  for (unsigned k = 0; k < 4 * registers; k++) rows->data[k / registers][k % registers * WARP_LANES + lane] = data[k];
  return true;
}

bool sample_lane(const MachineEnvironment *environment, const TextureReader *reader, const Instr *instr, unsigned lane,
                 const SampleRows *rows, AccessViolation *violation) {
  return execute_lane(environment, reader, (Op)instr->op, instr->imm, lane, rows, violation);
}

bool sample_execute(const MachineEnvironment *environment, Op op, uint32_t imm, uint32_t active, const SampleRows *rows,
                    AccessViolation *violation) {
  TextureReader reader = {.read = read_texel, .write = write_texel, .context = environment->memory};
  if (type_info[op_info[op].d].registers == 1 && sample_warp(environment, imm, active, rows)) return true;
  for (; active != 0; active &= active - 1) {
    if (!execute_lane(environment, &reader, op, imm, (unsigned)__builtin_ctz(active), rows, violation)) return false;
  }
  return true;
}
