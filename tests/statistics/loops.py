"""Kernels of one loop each, as PTX: `n` times the same few instructions. What `n` more turns add to a statistic is then known exactly."""

# What a turn does. Registers: %r1 thread of the block, %r2 the turn, %r3 `n`, %r4 to %r9, %rd1 this thread's word of `out`, %rd2 that of `in`, %rd3 its line of `in`, %rd4, %rd5 `in`, %f1 to
# %f7, %d1 to %d3, %p1 holds for every other thread, %p2 for none; %p3 is the loop's own.
TURNS = {
    "empty": "",
    "alu": "xor.b32 %r4, %r4, %r2;",
    "imul": "mul.lo.u32 %r4, %r4, %r2;",
    "idiv": "div.u32 %r4, %r4, %r3;",
    "fp32": "fma.rn.f32 %f1, %f1, %f2, %f3;",
    "fp64": "fma.rn.f64 %d1, %d1, %d2, %d3;",
    "sfu": "sin.approx.f32 %f1, %f1;",
    "three": "mad.lo.u32 %r4, %r5, %r6, %r7;",
    "load": "ld.volatile.global.u32 %r4, [%rd2];",
    "again": "ld.global.ca.u32 %r4, [%rd2];",
    "same": "mad.wide.u32 %rd3, %r2, 128, %rd5; ld.global.ca.u32 %r4, [%rd3];",  # all threads the same line, a new one each turn
    "lone": "ld.volatile.global.u32 %r4, [%rd5]; xor.b32 %r4, %r4, %r2;",
    "never": "@%p2 xor.b32 %r4, %r4, %r2;",
    "store": "st.volatile.global.u32 [%rd1], %r4;",
    "sparse": "ld.volatile.global.u32 %r4, [%rd3];",  # each lane a line of its own
    "column": "mad.wide.u32 %rd3, %r1, 3072, %rd5; ld.volatile.global.u32 %r4, [%rd3];",  # each lane a line of its own, all in one memory partition
    "atomic": "atom.global.add.u32 %r4, [%rd1], 1;",
    "shared": "st.volatile.shared.u32 [%r5], %r4; ld.volatile.shared.u32 %r4, [%r5];",
    "conflict": "ld.volatile.shared.u32 %r4, [%r6];",  # all lanes of a warp in one bank, each another word
    "local": "st.volatile.local.u32 [frame], %r4; ld.volatile.local.u32 %r4, [frame];",
    "constant": "shl.b32 %r4, %r2, 7; and.b32 %r4, %r4, 3968; mov.u32 %r5, table; add.u32 %r5, %r5, %r4; ld.const.u32 %r4, [%r5];",
    "barrier": "bar.sync 0;",
    "diverge": "@%p1 bra OTHER; xor.b32 %r4, %r4, %r2; bra MEET; OTHER: xor.b32 %r5, %r5, %r2; MEET:",
    "tensor": "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f5, %f6, %f7}, {%r4, %r4, %r4, %r4}, {%r4, %r4}, {%f1, %f5, %f6, %f7};",
    "half": "@%p1 xor.b32 %r4, %r4, %r2;",
}
HEAD = """.version 7.0
.target sm_80
.address_size 64
.const .align 4 .b8 table[4096];
"""
KERNEL = """
.visible .entry {name}(.param .u64 out, .param .u64 in, .param .u32 n)
{{
	.reg .pred %p<4>;
	.reg .b32 %r<10>;
	.reg .f32 %f<8>;
	.reg .f64 %d<4>;
	.reg .b64 %rd<6>;
	.shared .align 4 .b8 tile[8192];
	.local .align 4 .b8 frame[16];
	ld.param.u64 %rd1, [out];
	ld.param.u64 %rd2, [in];
	ld.param.u32 %r3, [n];
	mov.u64 %rd5, %rd2;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, 0;
	mov.u32 %r4, %ctaid.x;
	mov.u32 %r7, %ntid.x;
	mad.lo.u32 %r4, %r4, %r7, %r1;
	mul.wide.u32 %rd4, %r4, 4;
	mul.wide.u32 %rd3, %r4, 128;
	add.u64 %rd1, %rd1, %rd4;
	add.u64 %rd3, %rd2, %rd3;
	add.u64 %rd2, %rd2, %rd4;
	mov.u32 %r5, tile;
	mad.lo.u32 %r6, %r1, 128, %r5;
	mad.lo.u32 %r5, %r1, 4, %r5;
	and.b32 %r8, %r1, 1;
	setp.eq.u32 %p1, %r8, 0;
	setp.gt.u32 %p2, %r1, 1023;
	cvt.rn.f32.u32 %f1, %r1;
	cvt.rn.f32.u32 %f5, %r3;
	mov.f32 %f6, %f5;
	mov.f32 %f7, %f5;
	mov.f32 %f2, 0f3F800001;
	mov.f32 %f3, 0f3F000000;
	cvt.f64.f32 %d1, %f1;
	cvt.f64.f32 %d2, %f2;
	cvt.f64.f32 %d3, %f3;
AGAIN:
	{turn}
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p3, %r2, %r3;
	@%p3 bra AGAIN;
	cvt.rzi.u32.f32 %r8, %f1;
	cvt.rn.f32.f64 %f4, %d1;
	cvt.rzi.u32.f32 %r9, %f4;
	xor.b32 %r4, %r4, %r5;
	xor.b32 %r4, %r4, %r8;
	xor.b32 %r4, %r4, %r9;
	st.global.u32 [%rd1], %r4;
	ret;
}}
"""


def text():
    return HEAD + "".join(KERNEL.format(name=name, turn=turn) for name, turn in TURNS.items())
