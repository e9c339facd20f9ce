#!/usr/bin/env python3
"""Makes integer.txt, logic.txt and memory.txt: an independent account, in big integers and bit by bit, of what
the PTX ISA manual says of each row, on hard operands. Run from the root of the repository."""

import struct
from pathlib import Path

FOLDER = Path("src/isa/vectors")


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def mask(value, bits):
    return value & ((1 << bits) - 1)


def edges(bits):
    top = 1 << (bits - 1)
    word = int("9E3779B97F4A7C15"[: bits // 4], 16)
    return [0, 1, 2, 3, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2, word, 0x7 << (bits // 2 - 2)]


def pairs(bits):
    e = edges(bits)
    top = 1 << (bits - 1)
    chosen = [(top, 2 * top - 1), (2 * top - 1, 2 * top - 1), (top, top), (top - 1, 1), (top - 1, top - 1), (0, 0), (0, 1),
              (1, 0), (top, 0), (2 * top - 1, 0), (0, top), (top - 1, top), (1, 2 * top - 1), (e[9], e[10]), (e[9], 7), (7, e[9]),
              (2 * top - 7, 3), (7, 2 * top - 3)]
    return chosen


def triples(bits, c_bits=None):
    c_bits = c_bits or bits
    extra = [0, 1, (1 << c_bits) - 1, 1 << (c_bits - 1), (1 << (c_bits - 1)) - 1]
    return [(a, b, extra[i % len(extra)]) for i, (a, b) in enumerate(pairs(bits))]


class Chapter:
    def __init__(self, name, title):
        self.name, self.lines = name, [f"# {title}", "# Made by integer_vectors.py; text mods | a b c ps -> d pd"]

    def add(self, text, sources, d=None, pd=None, ps=None, mods=""):
        fields = [f"{s:x}" for s in sources]
        if ps is not None:
            fields += ["-"] * (3 - len(fields)) + [str(int(ps))]
        out = "-" if d is None else f"{d:x}"
        if pd is not None:
            out += " " + ("".join(str(int(p)) for p in pd) if isinstance(pd, tuple) else str(int(pd)))
        self.lines.append(f"{text}{' ' + mods if mods else ''} | {' '.join(fields) or '-'} -> {out}")

    def write(self):
        (FOLDER / f"{self.name}.txt").write_text("\n".join(self.lines) + "\n")


def clamp_s32(value):
    return mask(max(-(1 << 31), min((1 << 31) - 1, value)), 32)


def divide(a, b):
    return (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)


def halves(value):
    return [value & 0xFFFF, value >> 16]


def by_halves(function, a, b):
    low, high = (mask(function(x, y), 16) for x, y in zip(halves(a), halves(b)))
    return low | high << 16


def arithmetic(chapter):
    for bits in (16, 32, 64):
        for a, b in pairs(bits):
            chapter.add(f"add.b{bits}", (a, b), mask(a + b, bits))
            chapter.add(f"sub.b{bits}", (a, b), mask(a - b, bits))
    for a, b in pairs(32):
        chapter.add("add.b32", (a, b), clamp_s32(signed(a, 32) + signed(b, 32)), mods="sat")
        chapter.add("sub.b32", (a, b), clamp_s32(signed(a, 32) - signed(b, 32)), mods="sat")
    for bits in (16, 32, 64):
        for a in edges(bits):
            chapter.add(f"neg.s{bits}", (a,), mask(-a, bits))
            chapter.add(f"abs.s{bits}", (a,), mask(abs(signed(a, bits)), bits))


def upper_bits_do_not_count(integer, logic):
    """16-bit rows read the low half of their registers, whatever is above it."""
    a, b = 0xABCD8001, 0x12340003
    for text, d in (("add.b16", 0x8004), ("sub.b16", 0x7FFE), ("mul.hi.s16", 0xFFFE), ("mul.wide.u16", 0x18003), ("mul.wide.s16", 0xFFFE8003),
                    ("div.u16", 0x2AAB), ("div.s16", 0xD556), ("rem.u16", 0), ("rem.s16", 0xFFFF), ("min.s16", 0x8001), ("min.u16", 3)):
        integer.add(text, (a, b), d)
    logic.add("shr.s16", (a, 3), 0xF000)
    logic.add("shr.b16", (a, 3), 0x1000)
    logic.add("shl.b16", (a, 3), 0x0008)
    logic.add("not.b16", (a,), 0x7FFE)
    logic.add("cnot.b16", (0xFFFF0000,), 1)
    logic.add("setp.eq.b16", (a, 0x8001), None, (1, 0))
    logic.add("setp.lt.s16", (a, b), None, (1, 0))
    logic.add("setp.lt.u16", (a, b), None, (0, 1))


def products(chapter):
    for bits in (16, 32, 64):
        for a, b, c in triples(bits):
            chapter.add(f"mul.lo.b{bits}", (a, b), mask(a * b, bits))
            chapter.add(f"mad.lo.b{bits}", (a, b, c), mask(a * b + c, bits))
            for sign, value in (("u", lambda x: x), ("s", lambda x: signed(x, bits))):
                product = value(a) * value(b)
                chapter.add(f"mul.hi.{sign}{bits}", (a, b), mask(product >> bits, bits))
                chapter.add(f"mad.hi.{sign}{bits}", (a, b, c), mask((product >> bits) + c, bits))
                if bits < 64:
                    wide = triples(bits, 2 * bits)[pairs(bits).index((a, b))][2]
                    chapter.add(f"mul.wide.{sign}{bits}", (a, b), mask(product, 2 * bits))
                    chapter.add(f"mad.wide.{sign}{bits}", (a, b, wide), mask(product + wide, 2 * bits))
    for a, b, c in triples(32):
        chapter.add("mad.hi.s32", (a, b, c), clamp_s32((signed(a, 32) * signed(b, 32) >> 32) + signed(c, 32)), mods="sat")
    chapter.add("mad.hi.s32", (0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF), 0x7FFFFFFF, mods="sat")
    chapter.add("mad.hi.s32", (0x80000000, 0x7FFFFFFF, 0x80000000), 0x80000000, mods="sat")
    wide24 = [(0xFFFFFF, 0xFFFFFF), (0x800000, 0x7FFFFF), (0x800000, 0x800000), (0xFF7FFFFF, 0xFF000001), (0, 0xFFFFFF), (0x123456, 0xABCDEF)]
    for i, (a, b) in enumerate(wide24):
        c = [0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 5][i]
        for sign, value in (("u", lambda x: x & 0xFFFFFF), ("s", lambda x: signed(x, 24))):
            product = value(a) * value(b)
            chapter.add(f"mul24.lo.{sign}32", (a, b), mask(product, 32))
            chapter.add(f"mul24.hi.{sign}32", (a, b), mask(product >> 16, 32))
            chapter.add(f"mad24.lo.{sign}32", (a, b, c), mask(product + c, 32))
            chapter.add(f"mad24.hi.{sign}32", (a, b, c), mask((product >> 16) + c, 32))
        product = signed(a, 24) * signed(b, 24) >> 16
        chapter.add("mad24.hi.s32", (a, b, c), clamp_s32(signed(mask(product, 32), 32) + signed(c, 32)), mods="sat")


def divisions(chapter):
    for bits in (16, 32, 64):
        more = [(100, 7), (mask(-100, bits), 7), (100, mask(-7, bits)), ((1 << bits) - 1, 2), ((1 << bits) - 2, (1 << bits) - 1)]
        for a, b in pairs(bits) + more:
            for sign, value in (("u", lambda x: x), ("s", lambda x: signed(x, bits))):
                x, y = value(a), value(b)
                quotient = divide(x, y) if y else -1
                remainder = x - quotient * y if y else -1
                chapter.add(f"div.{sign}{bits}", (a, b), mask(quotient, bits))
                chapter.add(f"rem.{sign}{bits}", (a, b), mask(remainder, bits))


def extremes(chapter):
    for bits in (16, 32, 64):
        for a, b, c in triples(bits):
            for sign, value in (("u", lambda x: x), ("s", lambda x: signed(x, bits))):
                x, y = value(a), value(b)
                chapter.add(f"min.{sign}{bits}", (a, b), mask(min(x, y), bits))
                chapter.add(f"max.{sign}{bits}", (a, b), mask(max(x, y), bits))
                chapter.add(f"sad.{sign}{bits}", (a, b, c), mask(abs(x - y) + c, bits))
    s16 = lambda x: signed(x, 16)
    for a, b in pairs(32) + [(0x80007FFF, 0x7FFF8000), (0x0001FFFF, 0xFFFF0001)]:
        chapter.add("add.u16x2", (a, b), by_halves(lambda x, y: x + y, a, b))
        chapter.add("add.s16x2", (a, b), by_halves(lambda x, y: x + y, a, b))
        chapter.add("min.u16x2", (a, b), by_halves(min, a, b))
        chapter.add("max.u16x2", (a, b), by_halves(max, a, b))
        chapter.add("min.s16x2", (a, b), by_halves(lambda x, y: min(s16(x), s16(y)), a, b))
        chapter.add("max.s16x2", (a, b), by_halves(lambda x, y: max(s16(x), s16(y)), a, b))
        chapter.add("min.relu.s16x2", (a, b), by_halves(lambda x, y: max(0, min(s16(x), s16(y))), a, b))
        chapter.add("max.relu.s16x2", (a, b), by_halves(lambda x, y: max(0, s16(x), s16(y)), a, b))
        chapter.add("min.relu.s32", (a, b), max(0, min(signed(a, 32), signed(b, 32))))
        chapter.add("max.relu.s32", (a, b), max(0, signed(a, 32), signed(b, 32)))


def carries(chapter):
    for bits in (32, 64):
        for a, b, c in triples(bits):
            total, difference = a + b, a - b
            chapter.add(f"add.cc.b{bits}", (a, b), mask(total, bits), total >> bits)
            chapter.add(f"sub.cc.b{bits}", (a, b), mask(difference, bits), difference < 0)
            for ps in (0, 1):
                chapter.add(f"addc.b{bits}", (a, b), mask(total + ps, bits), ps=ps)
                chapter.add(f"addc.cc.b{bits}", (a, b), mask(total + ps, bits), (total + ps) >> bits, ps=ps)
                chapter.add(f"subc.b{bits}", (a, b), mask(difference - ps, bits), ps=ps)
                chapter.add(f"subc.cc.b{bits}", (a, b), mask(difference - ps, bits), difference - ps < 0, ps=ps)
            parts = {f"lo.%sb{bits}": mask(a * b, bits), f"hi.%su{bits}": a * b >> bits,
                     f"hi.%ss{bits}": mask(signed(a, bits) * signed(b, bits) >> bits, bits)}
            for text, part in parts.items():
                chapter.add("mad." + text % "cc.", (a, b, c), mask(part + c, bits), (part + c) >> bits)
                for ps in (0, 1):
                    chapter.add("madc." + text % "", (a, b, c), mask(part + c + ps, bits), ps=ps)
                    chapter.add("madc." + text % "cc.", (a, b, c), mask(part + c + ps, bits), (part + c + ps) >> bits, ps=ps)


def find_set(value, base, offset):
    if base > 31:
        return 0xFFFFFFFF
    if offset == 0:
        return base if value >> base & 1 else 0xFFFFFFFF
    positions = range(base, 32) if offset > 0 else range(base, -1, -1)
    found = [p for p in positions if value >> p & 1]
    return found[abs(offset) - 1] if len(found) >= abs(offset) else 0xFFFFFFFF


def extract(a, position, length, bits, is_signed):
    position, length = position & 0xFF, length & 0xFF
    sign = a >> min(position + length - 1, bits - 1) & 1 if is_signed and length else 0
    field = [a >> (position + i) & 1 if i < length and position + i < bits else sign for i in range(bits)]
    return sum(bit << i for i, bit in enumerate(field))


def insert(a, b, position, length, bits):
    for i in range(length):
        if position + i < bits:
            b = b & ~(1 << (position + i)) | (a >> i & 1) << (position + i)
    return b


def bit_mask(a, b, clamp):
    start, width = (min(a, 32), min(b, 32)) if clamp else (a & 31, b & 31)
    return sum(1 << i for i in range(start, min(32, start + width)))


def extend(a, b, clamp, is_signed):
    width = min(b, 32) if clamp else b & 31
    low = a & ((1 << width) - 1)
    return mask(signed(low, width), 32) if is_signed and width else low


def bits_chapter(chapter):
    for bits in (32, 64):
        for a in edges(bits):
            chapter.add(f"popc.b{bits}", (a,), bin(a).count("1"))
            chapter.add(f"clz.b{bits}", (a,), bits - a.bit_length())
            chapter.add(f"brev.b{bits}", (a,), int(f"{a:0{bits}b}"[::-1], 2))
            for sign in "us":
                x = mask(~a, bits) if sign == "s" and signed(a, bits) < 0 else a
                chapter.add(f"bfind.{sign}{bits}", (a,), x.bit_length() - 1 if x else 0xFFFFFFFF)
                chapter.add(f"bfind.shiftamt.{sign}{bits}", (a,), bits - x.bit_length() if x else 0xFFFFFFFF)
        value = edges(bits)[9]
        fields = [(0, 0), (0, bits), (0, 255), (bits - 1, 1), (bits - 1, 2), (bits, 1), (bits, 0), (4, 8), (255, 255), (3, bits - 1),
                  (0x100, 5), (5, 0x108), (1, 1), (bits - 8, 16)]
        for position, length in fields:
            for a in (value, mask(~value, bits), 1 << (bits - 1)):
                chapter.add(f"bfe.u{bits}", (a, position, length), extract(a, position, length, bits, False))
                chapter.add(f"bfe.s{bits}", (a, position, length), extract(a, position, length, bits, True))
                p, n = position & 0xFF, length & 0xFF
                chapter.add(f"bfi.b{bits}", (a, 0x5A5A5A5A, p | n << 8), insert(a, 0x5A5A5A5A, p, n, bits))
    for a, b, c in [(0xF0F0, 0, 0), (0xF0F0, 4, 0), (0xF0F0, 0, 1), (0xF0F0, 0, 5), (0xF0F0, 0, 9), (0xF0F0, 15, -1), (0xF0F0, 15, -8),
                    (0xF0F0, 15, -9), (0xFFFFFFFF, 31, 1), (0xFFFFFFFF, 31, 2), (0xFFFFFFFF, 0, -(1 << 31)), (1, 32, 0), (0xFFFFFFFF, 0, 32)]:
        chapter.add("fns.b32", (a, b, mask(c, 32)), find_set(a, b, c))
    for a, b in [(0, 0), (0, 32), (0, 31), (31, 1), (31, 2), (32, 1), (1, 2), (33, 33), (5, 0), (0xFFFFFFFF, 0xFFFFFFFF), (16, 16), (16, 17)]:
        chapter.add("bmsk.clamp.b32", (a, b), bit_mask(a, b, True))
        chapter.add("bmsk.wrap.b32", (a, b), bit_mask(a, b, False))
        for value in (0x89ABCDEF, 0x7FFF8000):
            for mode in ("clamp", "wrap"):
                chapter.add(f"szext.{mode}.u32", (value, b), extend(value, b, mode == "clamp", False))
                chapter.add(f"szext.{mode}.s32", (value, b), extend(value, b, mode == "clamp", True))


def dots(chapter):
    value = lambda x, bits, sign: signed(x, bits) if sign == "s" else mask(x, bits)
    for a, b, c in [(0xFFFFFFFF, 0xFFFFFFFF, 0), (0x80808080, 0x80808080, 0xFFFFFFFF), (0x7F80FF01, 0x807F01FF, 5), (0, 0x12345678, 0x80000000),
                    (0x80007FFF, 0x7F80FF01, 1)]:
        for sa in "us":
            for sb in "us":
                four = sum(value(a >> 8 * i, 8, sa) * value(b >> 8 * i, 8, sb) for i in range(4))
                low = sum(value(a >> 16 * i, 16, sa) * value(b >> 8 * i, 8, sb) for i in range(2))
                high = sum(value(a >> 16 * i, 16, sa) * value(b >> 16 + 8 * i, 8, sb) for i in range(2))
                chapter.add(f"dp4a.{sa}32.{sb}32", (a, b, c), mask(four + c, 32))
                chapter.add(f"dp2a.lo.{sa}32.{sb}32", (a, b, c), mask(low + c, 32))
                chapter.add(f"dp2a.hi.{sa}32.{sb}32", (a, b, c), mask(high + c, 32))


def selection(chapter):
    for bits in (32, 64):
        for a in edges(bits):
            chapter.add(f"mov.b{bits}", (a,), a)
        for ps in (0, 1):
            a, b = edges(bits)[9], edges(bits)[5]
            chapter.add(f"selp.b{bits}", (a, b), a if ps else b, ps=ps)
            for c in (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF):
                chapter.add(f"slct.b{bits}.s32", (a, b, c), a if signed(c, 32) >= 0 else b)
        for c, takes_a, mods in [(0, 1, ""), (0x80000000, 1, ""), (0x3F800000, 1, ""), (0xBF800000, 0, ""), (0x7FC00000, 0, ""),
                                 (0xFFC00001, 0, ""), (0x80000001, 0, ""), (0x80000001, 1, "ftz"), (0x00000001, 1, "ftz"), (0xFF800000, 0, ""),
                                 (0x7F800000, 1, ""), (0xFF7FFFFF, 0, "ftz")]:
            chapter.add(f"slct.b{bits}.f32", (a, b, c), a if takes_a else b, mods=mods)


def bitwise(chapter):
    for bits in (32, 64):
        for a, b in pairs(bits):
            chapter.add(f"and.b{bits}", (a, b), a & b)
            chapter.add(f"or.b{bits}", (a, b), a | b)
            chapter.add(f"xor.b{bits}", (a, b), a ^ b)
    for bits in (16, 32, 64):
        for a in edges(bits):
            chapter.add(f"not.b{bits}", (a,), mask(~a, bits))
            chapter.add(f"cnot.b{bits}", (a,), int(a == 0))
    for table in (0x00, 0x01, 0x80, 0x96, 0xE8, 0xCA, 0xF0, 0xCC, 0xAA, 0xFE, 0xFF, 0x1B):
        for a, b, c in [(0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA), (0, 0, 0), (0xFFFFFFFF, 0, 0x12345678), (0xDEADBEEF, 0x0BADF00D, 0x600DCAFE)]:
            d = sum((table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i for i in range(32))
            chapter.add("lop3.b32", (a, b, c), d, mods=f"imm={table:x}")
    for a in (0, 1):
        for ps in (0, 1):
            for text, result in (("and", a & ps), ("or", a | ps), ("xor", a ^ ps)):
                chapter.add(f"{text}.pred", (a,), None, (result, 1 - result), ps=ps)
    for ps in (0, 1):
        chapter.add("not.pred", (), None, (1 - ps, ps), ps=ps)
        chapter.add("mov.pred", (), None, (ps, 1 - ps), ps=ps)


def shifts(chapter):
    for bits in (16, 32, 64):
        for a in (edges(bits)[9], 1, 1 << (bits - 1), (1 << bits) - 1):
            for b in (0, 1, bits - 1, bits, bits + 1, 2 * bits, 255, 256, 0x80000000, 0xFFFFFFFF):
                amount = min(b, bits)
                chapter.add(f"shl.b{bits}", (a, b), mask(a << amount, bits))
                chapter.add(f"shr.b{bits}", (a, b), a >> amount)
                chapter.add(f"shr.s{bits}", (a, b), mask(signed(a, bits) >> amount, bits))
    for c in (0, 1, 16, 31, 32, 33, 63, 64, 0xFFFFFFFF):
        a, b = 0x89ABCDEF, 0xFEDCBA98
        for mode, n in (("clamp", min(c, 32)), ("wrap", c & 31)):
            chapter.add(f"shf.l.{mode}.b32", (a, b, c), mask((b << 32 | a) << n >> 32, 32))
            chapter.add(f"shf.r.{mode}.b32", (a, b, c), mask((b << 32 | a) >> n, 32))


def permutes(chapter):
    a, b = 0x83027F00, 0x8706FF84
    byte = lambda i: (b << 32 | a) >> 8 * i & 0xFF
    for c in (0x3210, 0x7654, 0x0123, 0xFEDC, 0xBA98, 0x8888, 0x4444, 0xF0E1, 0xFFFF3210):
        d = sum(((0xFF if byte(s & 7) >> 7 else 0) if s & 8 else byte(s)) << 8 * i for i, s in enumerate(c >> 4 * k & 15 for k in range(4)))
        chapter.add("prmt.b32", (a, b, c), d)
    # Byte numbers, most significant first, for selector values 0 to 3, as the manual tabulates them.
    tables = {"f4e": ["3210", "4321", "5432", "6543"], "b4e": ["5670", "6701", "7012", "0123"], "rc8": ["0000", "1111", "2222", "3333"],
              "ecl": ["3210", "3211", "3222", "3333"], "ecr": ["0000", "1110", "2210", "3210"], "rc16": ["1010", "3232", "1010", "3232"]}
    for mode, rows in tables.items():
        for c in (0, 1, 2, 3, 4, 0xFFFFFFFE):
            d = 0
            for digit in rows[c & 3]:
                d = d << 8 | byte(int(digit))
            chapter.add(f"prmt.b32.{mode}", (a, b, c), d)


def compares(chapter):
    orders = {"lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y}
    for bits in (16, 32, 64):
        for a, b in pairs(bits):
            chapter.add(f"setp.eq.b{bits}", (a, b), None, (a == b, a != b))
            chapter.add(f"setp.ne.b{bits}", (a, b), None, (a != b, a == b))
            for text, order in orders.items():
                for sign, value in (("u", lambda x: x), ("s", lambda x: signed(x, bits))):
                    result = order(value(a), value(b))
                    chapter.add(f"setp.{text}.{sign}{bits}", (a, b), None, (result, not result))


def f32(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def f64(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def atomics(chapter):
    spaces = "atom.{,global.,shared.}"
    for bits in (32, 64):
        for a, b, c in triples(bits):
            for sign, value in (("u", lambda x: x), ("s", lambda x: signed(x, bits))):
                chapter.add(f"{spaces}add.{sign}{bits}", (a, b), mask(a + b, bits))
                chapter.add(f"{spaces}min.{sign}{bits}", (a, b), mask(min(value(a), value(b)), bits))
                chapter.add(f"{spaces}max.{sign}{bits}", (a, b), mask(max(value(a), value(b)), bits))
            chapter.add(f"{spaces}and.b{bits}", (a, b), a & b)
            chapter.add(f"{spaces}or.b{bits}", (a, b), a | b)
            chapter.add(f"{spaces}xor.b{bits}", (a, b), a ^ b)
            chapter.add(f"{spaces}exch.b{bits}", (a, b), b)
    for bits in (16, 32, 64):
        for a, b, c in triples(bits):
            chapter.add(f"{spaces}cas.b{bits}", (a, b, c), c if a == b else a)
    for a, b in pairs(32):
        chapter.add(f"{spaces}inc.u32", (a, b), 0 if a >= b else a + 1)
        chapter.add(f"{spaces}dec.u32", (a, b), b if a == 0 or a > b else a - 1)
    nan32, nan64 = 0x7FFFFFFF, 0x7FF8000000000000
    for a, b, d in [(f32(1), f32(2), f32(3)), (0x80000000, 0x80000000, 0x80000000), (0x80000000, 0, 0), (f32(1), f32(-1), 0),
                    (0x7F800000, 0xFF800000, nan32), (0x7FC00001, f32(1), nan32), (0x7F7FFFFF, 0x7F7FFFFF, 0x7F800000),
                    (0x3F800000, 0x33800000, 0x3F800000), (0x3F800001, 0x33800000, 0x3F800002)]:
        chapter.add(f"{spaces}add.f32", (a, b), d)
    # Subnormals: flushed in global memory, kept in shared memory.
    for a, b, shared, flushed in [(1, 1, 2, 0), (0x80000001, 0x80000001, 0x80000002, 0x80000000), (0x00800000, 0x80000001, 0x007FFFFF, 0x00800000),
                                  (0x00800001, 0x80800000, 1, 0), (0x007FFFFF, 1, 0x00800000, 0)]:
        chapter.add("atom.shared.add.f32", (a, b), shared)
        chapter.add("atom.{,global.}add.f32", (a, b), flushed)
    for a, b, d in [(f64(1), f64(2), f64(3)), (1, 1, 2), (1 << 63, 1 << 63, 1 << 63), (0x7FF0000000000000, 0xFFF0000000000000, nan64),
                    (0x7FF0000000000001, f64(1), nan64), (0x3FF0000000000000, 0x3CA0000000000000, 0x3FF0000000000000),
                    (0x3FF0000000000001, 0x3CA0000000000000, 0x3FF0000000000002)]:
        chapter.add(f"{spaces}add.f64", (a, b), d)
    half = [(0x3C00, 0x3C00, 0x4000), (1, 1, 2), (0x8000, 0x8000, 0x8000), (0x7BFF, 0x7BFF, 0x7C00), (0x7C00, 0xFC00, 0x7FFF), (0x7C01, 0x3C00, 0x7FFF),
            (0x3C00, 0x1000, 0x3C00), (0x3C01, 0x1000, 0x3C02), (0x3C00, 0xBC00, 0)]
    brain = [(0x3F80, 0x3F80, 0x4000), (1, 1, 2), (0x8000, 0x8000, 0x8000), (0x7F7F, 0x7F7F, 0x7F80), (0x7F80, 0xFF80, 0x7FFF), (0x7F81, 0x3F80, 0x7FFF),
             (0x3F80, 0x3B80, 0x3F80), (0x3F81, 0x3B80, 0x3F82), (0x3F80, 0xBF80, 0)]
    for name, cases in (("f16", half), ("bf16", brain)):
        for i, (a, b, d) in enumerate(cases):
            a2, b2, d2 = cases[(i + 3) % len(cases)]
            chapter.add(f"{spaces}add.noftz.{name}", (a, b), d)
            chapter.add(f"{spaces}add.noftz.{name}x2", (a | a2 << 16, b | b2 << 16), d | d2 << 16)


def main():
    integer = Chapter("integer", "Integer arithmetic: wrap-around, INT_MIN, division by zero, carries and borrows, bit fields.")
    for make in (arithmetic, products, divisions, extremes, carries, bits_chapter, dots):
        make(integer)
    logic = Chapter("logic", "Moves, logic, shifts past the width, byte permutes, comparisons.")
    for make in (selection, bitwise, shifts, permutes, compares):
        make(logic)
    upper_bits_do_not_count(integer, logic)
    memory = Chapter("memory", "Atomics: a is the old value, d the new one.")
    atomics(memory)
    for chapter in (integer, logic, memory):
        chapter.lines[2:] = sorted(dict.fromkeys(chapter.lines[2:]), key=lambda line: line.split("|")[0])
        chapter.write()


if __name__ == "__main__":
    main()
