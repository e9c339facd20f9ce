// Calls: arguments and results in the frame (program/mir.h, "Calling convention").
//
// A .param variable that is the argument or result of one call, and is only touched next to it, lies
// in the argument area itself. Any other lies in the frame and is copied at the call.
#include "ptx/lower.h"

static uint32_t variable_bytes(const PtxVariable *variable) {
  return variable->type == PTX_PRED ? 4 : max_u32((uint32_t)variable->bytes, 1);
}

void layout_signature(const PtxSignature *signature, uint32_t *offsets, uint32_t *param_bytes, uint32_t *all_bytes) {
  uint32_t bytes = 0;
  *param_bytes = 0;
  for (uint32_t i = 0; i < signature->params.count + signature->results.count; i++) {
    bool result = i >= signature->params.count;
    const PtxVariable *variable = result ? &signature->results.items[i - signature->params.count] : &signature->params.items[i];
    uint32_t align = variable->type == PTX_PRED ? 4 : max_u32(variable->align, 1);
    offsets[i] = (uint32_t)align_up(bytes, align);
    bytes = offsets[i] + variable_bytes(variable);
    if (!result) *param_bytes = bytes;
  }
  *all_bytes = bytes;
}

// ---- The parts of a call ---------------------------------------------------------------------------
typedef struct Call {
  const PtxOperand *results, *target, *arguments; // lists may be NULL
  const PtxSignature *signature;
  const SystemCall *system;
  uint32_t function;
  bool indirect;
} Call;

static const PtxFunction *declared_function(const Fn *fn, Slice name) {
  const PtxModule *module = fn->lower->modules[fn->module];
  for (uint32_t i = 0; i < module->functions.count; i++) {
    if (slice_equal(module->functions.items[i]->name, name)) return module->functions.items[i];
  }
  return NULL;
}

static const PtxSignature *prototype_of(const Fn *fn, const PtxOperand *operand) {
  if (operand->kind == PTX_LABEL) {
    const PtxLabel *label = operand_label(fn, operand);
    int32_t statement = label != NULL ? label->statement : -1;
    if (statement < 0) return NULL;
    const PtxStatement *directive = &fn->ptx->statements.items[statement];
    if (directive->kind != PTX_CALL_TARGETS) return directive->signature;
    uint32_t function;
    bool known = directive->functions.count && link_function(fn->lower, fn->module, directive->functions.items[0], &function);
    return known ? &fn->lower->functions.items[function].ptx->signature : NULL;
  }
  const PtxFunction *declared = operand->kind == PTX_NAME ? declared_function(fn, operand->text) : NULL;
  return declared ? &declared->signature : NULL;
}

// The signature of one of the functions in a .calltargets list serves as prototype.
static const PtxSignature *indirect_signature(const Fn *fn, const PtxInstr *instr) {
  const PtxOperand *last = &instr->operands[instr->operand_count - 1];
  return last->kind == PTX_LIST ? NULL : prototype_of(fn, last);
}

static void split_call(const Fn *fn, const PtxInstr *instr, Call *call) {
  *call = (Call){0};
  for (uint32_t i = 0; i < instr->operand_count; i++) {
    const PtxOperand *operand = &instr->operands[i];
    if (operand->kind == PTX_LIST) {
      if (call->target) call->arguments = operand;
      if (!call->target) call->results = operand;
    } else if (!call->target) {
      call->target = operand;
    }
  }
  if (!call->target) return;
  call->indirect = call->target->kind == PTX_REG;
  if (call->indirect) {
    call->signature = indirect_signature(fn, instr);
    return;
  }
  if (link_function(fn->lower, fn->module, call->target->text, &call->function)) {
    call->signature = &fn->lower->functions.items[call->function].ptx->signature;
    return;
  }
  const PtxFunction *declared = declared_function(fn, call->target->text);
  call->system = system_call(call->target->text);
  if (declared) call->signature = &declared->signature;
}

// ---- Where .param variables live -------------------------------------------------------------------
typedef struct ArgumentUse {
  uint32_t uses;         // in calls' lists
  uint32_t call, offset; // statement; place in the argument area
  bool is_result, touched;
  uint32_t first, last; // statements that touch it beside the call
} ArgumentUse;

typedef struct ArgumentScan {
  NameMap map;
  VEC(ArgumentUse) uses;
  VEC(const PtxVariable *) variables;
  uint32_t *barriers; // calls and labels before each statement
} ArgumentScan;

static ArgumentUse *argument_use(ArgumentScan *scan, const PtxVariable *variable) {
  uint32_t index;
  Slice key = {(const char *)&variable, sizeof variable};
  if (!name_map_find(&scan->map, 0, key, &index)) {
    index = scan->uses.count;
    (void)VEC_PUSH(&scan->uses, scan->map.arena);
    *(const PtxVariable **)VEC_PUSH(&scan->variables, scan->map.arena) = variable;
    key.at = arena_copy_text(scan->map.arena, key.at, key.length);
    name_map_set(&scan->map, 0, key, index);
  }
  return &scan->uses.items[index];
}

static bool is_argument_variable(const PtxOperand *operand) {
  return operand->kind == PTX_NAME && operand->variable && operand->variable->space == PTX_SPACE_PARAM;
}

static void scan_touch(ArgumentScan *scan, const PtxOperand *operand, uint32_t statement) {
  if (is_argument_variable(operand)) {
    ArgumentUse *use = argument_use(scan, operand->variable);
    if (!use->touched) use->first = statement;
    use->touched = true;
    use->last = statement;
  }
  for (uint32_t i = 0; i < operand->item_count; i++) scan_touch(scan, &operand->items[i], statement);
}

static void scan_list(ArgumentScan *scan, const PtxOperand *list, uint32_t statement, const uint32_t *offsets, uint32_t limit,
                      bool result) {
  for (uint32_t i = 0; list && i < list->item_count; i++) {
    if (!is_argument_variable(&list->items[i]) || i >= limit) continue;
    ArgumentUse *use = argument_use(scan, list->items[i].variable);
    use->uses++;
    use->call = statement;
    use->offset = offsets[i];
    use->is_result = result;
  }
}

static uint32_t *signature_offsets(Fn *fn, const PtxSignature *signature, uint32_t *all_bytes) {
  uint32_t param_bytes;
  uint32_t *offsets = ARENA_ARRAY(fn->lower->scratch, uint32_t, signature->params.count + signature->results.count + 1);
  layout_signature(signature, offsets, &param_bytes, all_bytes);
  return offsets;
}

static void scan_call(Fn *fn, ArgumentScan *scan, const PtxInstr *instr, uint32_t statement) {
  Call call;
  uint32_t all_bytes;
  split_call(fn, instr, &call);
  if (!call.signature) return;
  const uint32_t *offsets = signature_offsets(fn, call.signature, &all_bytes);
  scan_list(scan, call.arguments, statement, offsets, call.signature->params.count, false);
  scan_list(scan, call.results, statement, offsets + call.signature->params.count, call.signature->results.count, true);
}

static bool other_call_touches(const ArgumentScan *scan, const ArgumentUse *own) {
  for (uint32_t i = 0; i < scan->uses.count; i++) {
    const ArgumentUse *use = &scan->uses.items[i];
    if (use->call != own->call && use->touched && !use->is_result && use->first > own->call && use->first < own->last) return true;
  }
  return false;
}

// Whether the variable may lie in the argument area: one call, nothing that could reuse the area between.
static bool lies_in_area(const ArgumentScan *scan, const ArgumentUse *use) {
  if (use->uses != 1) return false;
  if (!use->touched) return true;
  if (!use->is_result) return use->last < use->call && scan->barriers[use->first] == scan->barriers[use->call];
  return use->first > use->call && scan->barriers[use->last] == scan->barriers[use->call] + 1 && !other_call_touches(scan, use);
}

void place_arguments(Fn *fn) {
  ArgumentScan scan = {.map = {.arena = fn->lower->scratch}};
  const PtxFunction *ptx = fn->ptx;
  scan.barriers = ARENA_ARRAY(fn->lower->scratch, uint32_t, ptx->statements.count + 1);
  uint32_t barriers = 0;
  for (uint32_t i = 0; i < ptx->statements.count; i++) {
    const PtxStatement *statement = &ptx->statements.items[i];
    scan.barriers[i] = barriers;
    bool is_call = statement->kind == PTX_INSTR && slice_is(statement->instr.parts[0], "call");
    if (is_call || statement->kind == PTX_LABEL_HERE) barriers++;
    if (is_call) scan_call(fn, &scan, &statement->instr, i);
    if (statement->kind != PTX_INSTR || is_call) continue;
    for (uint32_t k = 0; k < statement->instr.operand_count; k++) scan_touch(&scan, &statement->instr.operands[k], i);
  }
  for (uint32_t i = 0; i < scan.uses.count; i++) {
    Home home;
    if (home_find(&fn->homes, scan.variables.items[i], &home)) continue; // a parameter of this function
    if (lies_in_area(&scan, &scan.uses.items[i])) {
      home_set(&fn->homes, scan.variables.items[i], (Home){.kind = HOME_ARGUMENT, .offset = scan.uses.items[i].offset});
    } else {
      place_in_frame(fn, scan.variables.items[i]);
    }
  }
}

// ---- Moving arguments ------------------------------------------------------------------------------
static void local_access(Fn *fn, bool is_load, Vref data, uint32_t bytes, uint32_t offset) {
  static const char *const loads[] = {"ld.local.u8", "ld.local.u16", "ld.local.b32", "ld.local.b64"};
  static const char *const stores[] = {"st.local.b8", "st.local.b16", "st.local.b32", "st.local.b64"};
  VregId frame = frame_pointer(fn);
  unsigned size = (unsigned)__builtin_ctz(bytes);
  MirInstr *out = emit_guarded(fn, row(fn, is_load ? loads[size] : stores[size]));
  out->d[0] = data;
  out->a = VREF(frame);
  out->imm = offset;
  out->hidden = true;
}

static void copy_local(Fn *fn, uint32_t from, uint32_t to, uint32_t bytes, uint32_t align) {
  uint32_t step = align >= 8 ? 8 : align >= 4 ? 4 : align == 2 ? 2 : 1;
  for (uint32_t done = 0; done < bytes;) {
    while (step > bytes - done) step /= 2;
    Vref data = VREF(temp(fn, step == 8 ? 2 : 1));
    local_access(fn, true, data, step, from + done);
    local_access(fn, false, data, step, to + done);
    done += step;
  }
}

// A predicate or a register to or from its place.
static void register_access(Fn *fn, bool is_load, Vref data, const PtxVariable *variable, uint32_t offset) {
  if (variable->type != PTX_PRED) {
    uint32_t bytes = variable_bytes(variable);
    for (uint32_t done = 0; done < bytes; done += min_u32(bytes, 8)) {
      local_access(fn, is_load, vref_part(data, done / 4), min_u32(bytes, 8), offset + done);
    }
    return;
  }
  Vref number = VREF(temp(fn, 1));
  if (is_load) {
    local_access(fn, true, number, 4, offset);
    Value value = value_of_vref(number, 1), zero = value_of_bits(0);
    emit_alu_guarded(fn, OP_SETP_NE_B32, VREF_NONE, &value, &zero, NULL)->pd[0] = data;
  } else {
    Value one = value_of_bits(1), zero = value_of_bits(0);
    emit_alu(fn, OP_SELP_B32, number, &one, &zero, NULL)->ps = data;
    local_access(fn, false, number, 4, offset);
  }
}

static bool pass_argument(Fn *fn, const PtxOperand *operand, const PtxVariable *param, uint32_t offset) {
  if (is_argument_variable(operand)) {
    Home home;
    if (!variable_home(fn, operand, &home)) return false;
    if (home.kind == HOME_FRAME) copy_local(fn, home.offset, MIR_ARGUMENTS + offset, variable_bytes(param), max_u32(param->align, 1));
    return true;
  }
  Vref data;
  if (param->type == PTX_PRED) {
    Value predicate;
    if (!read_predicate(fn, operand, &predicate)) return false;
    data = predicate.ref;
  } else if (!read_register(fn, operand, param->type, type_width(param->type), &data)) {
    return false;
  }
  register_access(fn, false, data, param, MIR_ARGUMENTS + offset);
  return true;
}

static bool take_result(Fn *fn, const PtxOperand *operand, const PtxVariable *result, uint32_t offset) {
  if (operand->kind == PTX_SINK) return true;
  if (is_argument_variable(operand)) {
    Home home;
    if (!variable_home(fn, operand, &home)) return false;
    if (home.kind == HOME_FRAME) copy_local(fn, MIR_ARGUMENTS + offset, home.offset, variable_bytes(result), max_u32(result->align, 1));
    return true;
  }
  Vref data;
  if (!write_register(fn, operand, type_width(result->type), &data)) return false;
  register_access(fn, true, data, result, MIR_ARGUMENTS + offset);
  return true;
}

// ---- The call ----------------------------------------------------------------------------------
static bool check_call(Fn *fn, const PtxInstr *instr, const Call *call) {
  if (!call->target) return complain(fn, instr->place, "a call needs a function");
  Slice name = call->target->text;
  if (!call->signature) {
    if (call->indirect) return complain(fn, instr->place, "an indirect call needs a .callprototype");
    return complain(fn, call->target->place, "undefined function '%.*s'", (int)name.length, name.at);
  }
  uint32_t function;
  if (!call->indirect && !call->system && !link_function(fn->lower, fn->module, name, &function)) {
    if (slice_starts(name, "__cudaCDP") || slice_is(name, "cudaGraphSetConditional")) {
      return complain(fn, call->target->place, "unsupported: '%.*s' of the device runtime", (int)name.length, name.at);
    }
    return complain(fn, call->target->place, "'%.*s' is declared but defined in no module", (int)name.length, name.at);
  }
  uint32_t arguments = call->arguments ? call->arguments->item_count : 0, results = call->results ? call->results->item_count : 0;
  if (arguments != call->signature->params.count || (results && results != call->signature->results.count)) {
    return complain(fn, call->target->place, "this call passes %u arguments and takes %u results, but its function has %u and %u",
                    arguments, results, call->signature->params.count, call->signature->results.count);
  }
  return true;
}

static void emit_system_call(Fn *fn, const SystemCall *system) {
  VregId area = temp(fn, 1), frame = frame_pointer(fn);
  MirInstr *add = emit(fn, OP_ADD_B32);
  add->d[0] = VREF(area);
  add->a = VREF(frame);
  add->select = SELECT_IMM_B;
  add->imm = MIR_ARGUMENTS;
  MirInstr *out = emit_guarded(fn, system->op);
  out->a = VREF(area);
}

static bool emit_indirect_call(Fn *fn, const Call *call) {
  const RegisterState *state = &fn->registers[call->target->reg];
  Vref address = register_ref(fn, call->target->reg, 0);
  if (state->width == 1) {
    Value low = value_of_vref(address, 1), high = value_of_bits(0);
    address = VREF(temp(fn, 2));
    move_value(fn, false, address, 1, &low);
    move_value(fn, false, vref_part(address, 1), 1, &high);
  } else if (state->width != 2) {
    return complain(fn, call->target->place, "an indirect call needs an address");
  }
  fn->mir->has_indirect_calls = true;
  emit_guarded(fn, OP_CALL_INDIRECT)->a = address;
  return true;
}

bool lower_call(Fn *fn, const PtxInstr *instr) {
  Call call;
  split_call(fn, instr, &call);
  if (!check_call(fn, instr, &call)) return false;
  uint32_t all_bytes;
  const uint32_t *offsets = signature_offsets(fn, call.signature, &all_bytes);
  const PtxSignature *signature = call.signature;
  frame_pointer(fn);
  for (uint32_t i = 0; call.arguments && i < call.arguments->item_count; i++) {
    if (!pass_argument(fn, &call.arguments->items[i], &signature->params.items[i], offsets[i])) return false;
  }
  if (call.indirect) {
    if (!emit_indirect_call(fn, &call)) return false;
  } else if (call.system) {
    emit_system_call(fn, call.system);
  } else {
    *(uint32_t *)VEC_PUSH(&fn->mir->callees, fn->lower->arena) = call.function;
    emit_guarded(fn, OP_CALL)->target = call.function;
  }
  for (uint32_t i = 0; call.results && i < call.results->item_count; i++) {
    if (!take_result(fn, &call.results->items[i], &signature->results.items[i], offsets[signature->params.count + i])) return false;
  }
  return true;
}

// ---- Parameters in registers, of old PTX: .func (.reg .u32 r) f (.reg .u32 a) ------------------------
static void register_params(Fn *fn, bool is_load) {
  const PtxSignature *signature = &fn->ptx->signature;
  uint32_t count = is_load ? signature->params.count : signature->results.count;
  for (uint32_t i = 0; i < count; i++) {
    const PtxVariable *variable = is_load ? &signature->params.items[i] : &signature->results.items[i];
    Home home;
    if (variable->space != PTX_SPACE_REG || !home_find(&fn->homes, variable, &home)) continue;
    register_access(fn, is_load, register_ref(fn, variable->reg, 0), variable, home.offset);
  }
}

void lower_entry(Fn *fn) {
  if (!fn->ptx->is_entry) register_params(fn, true);
}

void lower_return(Fn *fn, bool is_exit) {
  if (!fn->ptx->is_entry && !is_exit) register_params(fn, false);
  (void)emit_guarded(fn, fn->ptx->is_entry || is_exit ? OP_EXIT : OP_RET);
}
