// Bodies of the warp chapter: functions of all lanes at once. Members of an operation are the active
// lanes that a lane's own mask names, so lanes that run together with different masks form
// separate groups. Source: PTX ISA manual, shfl.sync, vote.sync, match.sync, redux.sync, activemask,
// elect.sync.
#ifndef REDOUBT_ISA_WARP_H
#define REDOUBT_ISA_WARP_H

#include "isa/isa.h"

void warp_shuffle_up(LaneOp *op);
void warp_shuffle_down(LaneOp *op);
void warp_shuffle_butterfly(LaneOp *op);
void warp_shuffle_index(LaneOp *op);
void warp_vote_all(LaneOp *op);
void warp_vote_any(LaneOp *op);
void warp_vote_uniform(LaneOp *op);
void warp_vote_ballot(LaneOp *op);
void warp_match_any_b32(LaneOp *op);
void warp_match_any_b64(LaneOp *op);
void warp_match_all_b32(LaneOp *op);
void warp_match_all_b64(LaneOp *op);
void warp_reduce_add(LaneOp *op);
void warp_reduce_min_u32(LaneOp *op);
void warp_reduce_min_s32(LaneOp *op);
void warp_reduce_max_u32(LaneOp *op);
void warp_reduce_max_s32(LaneOp *op);
void warp_reduce_and(LaneOp *op);
void warp_reduce_or(LaneOp *op);
void warp_reduce_xor(LaneOp *op);
void warp_reduce_min_f32(LaneOp *op);
void warp_reduce_min_abs_f32(LaneOp *op);
void warp_reduce_min_nan_f32(LaneOp *op);
void warp_reduce_min_abs_nan_f32(LaneOp *op);
void warp_reduce_max_f32(LaneOp *op);
void warp_reduce_max_abs_f32(LaneOp *op);
void warp_reduce_max_nan_f32(LaneOp *op);
void warp_reduce_max_abs_nan_f32(LaneOp *op);
void warp_active_mask(LaneOp *op);
void warp_elect(LaneOp *op);

#endif
