#!/usr/bin/env python3
"""Makes float.txt and convert.txt: an independent account, in exact fractions, of what IEEE 754 and the PTX ISA manual say
of each row, on hard operands: NaN payloads, signed zeros, subnormals with and without .ftz, infinities, ties, overflow.
Only the approximate functions are taken from Python's math module. Run from the root of the repository."""

import math
from fractions import Fraction
from pathlib import Path

FOLDER = Path("src/isa/vectors")
ROUNDINGS = ("rn", "rz", "rm", "rp")


class Format:
    def __init__(self, name, bits, precision, bias, nan):
        self.name, self.bits, self.precision, self.nan = name, bits, precision, nan
        self.fraction = precision - 1
        self.lowest = 2 - bias - precision  # exponent of the smallest subnormal
        self.sign = 1 << (bits - 1)
        self.infinity = (self.sign - 1) >> self.fraction << self.fraction
        self.one = bias << self.fraction

    def decode(self, bits):
        """('nan', 0, 0), ('inf', sign, 0) or ('number', sign, magnitude as a fraction)"""
        sign, magnitude = int(bits & self.sign != 0), bits & (self.sign - 1)
        if magnitude > self.infinity:
            return ("nan", 0, Fraction(0))
        if magnitude == self.infinity:
            return ("inf", sign, Fraction(0))
        exponent, significand = magnitude >> self.fraction, magnitude & ((1 << self.fraction) - 1)
        if exponent:
            significand, exponent = significand | 1 << self.fraction, exponent - 1
        return ("number", sign, Fraction(significand) * Fraction(2) ** (exponent + self.lowest))

    def encode(self, value, mode="rn"):
        kind, sign, magnitude = value
        top = self.sign if sign else 0
        if kind == "nan":
            return self.nan
        if kind == "inf":
            return top | self.infinity
        if magnitude == 0:
            return top
        exponent = self.lowest
        while magnitude >= Fraction(2) ** (exponent + self.precision):
            exponent += 1
        scaled = magnitude / Fraction(2) ** exponent
        significand = rounded(scaled, mode, sign)
        bits = ((exponent - self.lowest) << self.fraction) + significand
        if bits >= self.infinity:
            away = mode == "rn" or (mode == "rm" and sign) or (mode == "rp" and not sign)
            bits = self.infinity if away else self.infinity - 1
        return top | bits

    def is_nan(self, bits):
        return bits & (self.sign - 1) > self.infinity

    def flush(self, bits):
        return bits & self.sign if bits & self.infinity == 0 else bits

    def saturate(self, bits):
        return 0 if bits > self.infinity else min(bits, self.one)

    def canonical(self, bits):
        return self.nan if self.is_nan(bits) else bits


def rounded(x, mode, sign):
    """A magnitude as an integer."""
    low = math.floor(x)
    rest = x - low
    if mode == "rn":
        return low + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2 == 1))
    return low + (rest != 0 and ((mode == "rp" and not sign) or (mode == "rm" and sign)))


F16 = Format("f16", 16, 11, 15, 0x7FFF)
BF16 = Format("bf16", 16, 8, 127, 0x7FFF)
F32 = Format("f32", 32, 24, 127, 0x7FFFFFFF)
F64 = Format("f64", 64, 53, 1023, 0x7FF8000000000000)
NAN = ("nan", 0, Fraction(0))


def number(x):
    return ("number", int(x < 0), abs(Fraction(x)))


def as_fraction(value):
    return -value[2] if value[1] else value[2]


# ---- Operations on decoded values ---------------------------------------------------------------------------------------
def add(x, y, mode):
    if "nan" in (x[0], y[0]) or (x[0] == y[0] == "inf" and x[1] != y[1]):
        return NAN
    if x[0] == "inf" or y[0] == "inf":
        return x if x[0] == "inf" else y
    total = as_fraction(x) + as_fraction(y)
    if total == 0:
        return ("number", x[1] if x[1] == y[1] else int(mode == "rm"), Fraction(0))
    return number(total)


def negate(x):
    return (x[0], 1 - x[1], x[2]) if x[0] != "nan" else x


def multiply(x, y):
    if "nan" in (x[0], y[0]):
        return NAN
    sign = x[1] ^ y[1]
    if "inf" in (x[0], y[0]):
        return NAN if (x[0] == "number" and x[2] == 0) or (y[0] == "number" and y[2] == 0) else ("inf", sign, Fraction(0))
    return ("number", sign, x[2] * y[2])


def divide(x, y):
    if "nan" in (x[0], y[0]) or (x[0] == y[0] == "inf"):
        return NAN
    sign = x[1] ^ y[1]
    if x[0] == "inf":
        return ("inf", sign, Fraction(0))
    if y[0] == "inf":
        return ("number", sign, Fraction(0))
    if y[2] == 0:
        return NAN if x[2] == 0 else ("inf", sign, Fraction(0))
    return ("number", sign, x[2] / y[2])


def root(x):
    """To 200 places, with a sticky bit: enough for one rounding."""
    if x[0] == "nan" or (x[1] and (x[0] == "inf" or x[2] != 0)):
        return NAN
    if x[0] == "inf" or x[2] == 0:
        return x
    scaled = x[2] * Fraction(4) ** 1300
    low = math.isqrt(math.floor(scaled))
    exact = Fraction(low) if low * low == scaled else Fraction(2 * low + 1, 2)
    return ("number", 0, exact / Fraction(2) ** 1300)


# ---- Operands -----------------------------------------------------------------------------------------------------------
def values(f):
    """Named hard patterns of a format."""
    one, step = f.one, 1 << f.fraction
    return {
        "one": one, "above": one + 1, "below": one - 1, "half": one - step, "three_halves": one + step // 2, "two": one + step,
        "tie": one - f.precision * step, "tie_above": one - f.precision * step + 1, "quarter": one - 2 * step,
        "tiny": 1, "tiny3": 3, "subnormal": step - 1, "normal": step, "max": f.infinity - 1, "infinity": f.infinity,
        "nan": f.infinity | step >> 1 | 5 if f.precision > 8 else f.infinity | step >> 1 | 1, "signalling": f.infinity | 1,
    }


def negative(f, bits):
    return bits | f.sign


def pair_list(f):
    v = values(f)
    m = lambda name: v[name] | f.sign
    return [
        (v["one"], v["tie"]), (v["above"], v["tie"]), (v["one"], v["tie_above"]), (m("one"), m("tie")), (v["one"], m("tie")),
        (v["above"], v["three_halves"]), (m("above"), v["three_halves"]), (v["max"], v["max"]), (m("max"), v["max"]), (v["max"], v["half"]),
        (v["max"], v["two"]), (v["tiny"], v["half"]), (m("tiny"), v["half"]), (v["tiny3"], v["two"]), (v["tiny"], m("tiny")),
        (v["normal"], m("tiny")), (v["subnormal"], v["above"]), (v["below"], v["below"]), (0, f.sign), (f.sign, f.sign), (0, 0),
        (v["infinity"], m("infinity")), (v["infinity"], 0), (v["one"], v["infinity"]), (m("one"), 0), (v["nan"], v["one"]),
        (v["one"], m("signalling")), (v["nan"], m("signalling")),
    ]


def flushed_pairs(f):
    v = values(f)
    return [(v["tiny"], v["max"]), (v["one"], v["subnormal"]), (v["normal"], v["subnormal"] | f.sign), (v["tiny"] | f.sign, v["tiny"] | f.sign),
            (v["normal"], v["half"]), (v["normal"] + 1, v["normal"] | f.sign), (v["nan"], v["tiny"])]


def saturated_pairs(f):
    v = values(f)
    return [(v["one"], v["one"]), (v["one"] | f.sign, v["half"]), (v["quarter"], v["half"]), (v["nan"], v["one"]), (v["infinity"], v["one"]),
            (v["infinity"] | f.sign, v["one"]), (f.sign, 0), (f.sign, f.sign)]


def triple_list(f):
    v = values(f)
    m = lambda name: v[name] | f.sign
    return [
        (v["above"], v["above"], m("one")), (v["above"], v["below"], m("one")), (v["above"], v["above"], m("above")),
        (v["one"], v["tie"], v["one"]), (v["above"], v["three_halves"], v["tiny"]), (v["above"], v["three_halves"], m("tiny")),
        (v["max"], v["two"], m("infinity")), (v["max"], v["two"], m("max")), (v["max"], v["max"], m("max")), (0, v["infinity"], v["one"]),
        (v["one"], v["one"], m("one")), (f.sign, v["one"], 0), (f.sign, v["one"], f.sign), (v["tiny"], v["half"], v["one"]), (v["tiny"], v["half"], 0),
        (v["tiny"], v["tiny"], v["max"]), (v["tiny"], v["tiny"], m("normal")), (v["tiny"], m("half"), v["tiny"]), (v["nan"], v["one"], v["one"]),
        (v["one"], v["one"], m("signalling")), (v["infinity"], v["one"], v["infinity"]), (v["subnormal"], v["two"], m("subnormal")),
    ]


def single_list(f):
    v = values(f)
    names = ("one", "above", "below", "half", "three_halves", "two", "quarter", "tiny", "tiny3", "subnormal", "normal", "max", "infinity", "nan",
             "signalling")
    return [0, f.sign] + [v[n] for n in names] + [v[n] | f.sign for n in ("one", "above", "tiny", "subnormal", "max", "infinity", "nan")]


def short_list(f):
    """For .ftz and .sat."""
    v = values(f)
    return [f.sign, v["half"], v["above"], v["half"] | f.sign, 1, f.sign | 1, v["subnormal"], v["infinity"], v["infinity"] | f.sign, v["nan"]]


class Chapter:
    def __init__(self, name, title):
        self.name, self.lines = name, [f"# {title}", "# Made by float_vectors.py; text mods | a b c ps -> d pd"]

    def add(self, text, sources, d=None, pd="", mods=""):
        inputs = " ".join(f"{s:x}" for s in sources)
        self.lines.append(f"{text}{' ' + mods if mods else ''} | {inputs} -> {'-' if d is None else f'{d:x}'}{' ' + pd if pd else ''}")

    def write(self):
        self.lines[2:] = sorted(self.lines[2:], key=lambda line: line.split("|")[0])  # vectors of an instruction run as one warp
        (FOLDER / f"{self.name}.txt").write_text("\n".join(self.lines) + "\n")


def apply(f, function, sources, mods=(), canonical=True):
    """What the modifiers do around an operation on patterns."""
    if "ftz" in mods:
        sources = [f.flush(s) for s in sources]
    d = function(*sources)
    if canonical:
        d = f.canonical(d)
    if "sat" in mods:
        d = f.saturate(d)
    return f.flush(d) if "ftz" in mods else d


def halves(function, *sources):
    """The same function on both halves of pairs."""
    low = function(*[s & 0xFFFF for s in sources])
    return low | function(*[s >> 16 for s in sources]) << 16


def paired(items):
    """Pairs of 16-bit operands from a list and itself turned by five places."""
    turned = items[5:] + items[:5]
    if isinstance(items[0], int):
        return [(x | y << 16,) for x, y in zip(items, turned)]
    return [tuple(x | y << 16 for x, y in zip(low, high)) for low, high in zip(items, turned)]


# ---- float.txt ----------------------------------------------------------------------------------------------------------
def arithmetic(chapter, f, modes):
    ops = {
        "add": lambda mode: lambda a, b: f.encode(add(f.decode(a), f.decode(b), mode), mode),
        "sub": lambda mode: lambda a, b: f.encode(add(f.decode(a), negate(f.decode(b)), mode), mode),
        "mul": lambda mode: lambda a, b: f.encode(multiply(f.decode(a), f.decode(b)), mode),
        "div": lambda mode: lambda a, b: f.encode(divide(f.decode(a), f.decode(b)), mode),
    }
    fma = lambda mode: lambda a, b, c: f.encode(add(multiply(f.decode(a), f.decode(b)), f.decode(c), mode), mode)
    wide = f.bits >= 32
    for mode in modes:
        for name, op in ops.items():
            if name == "div" and not wide:
                continue
            emit(chapter, f, f"{name}.{mode}", op(mode), pair_list(f), flushed_pairs(f), saturated_pairs(f) if name != "div" else [])
        flushed = [(a, b, f.sign | 1) for a, b in flushed_pairs(f)]
        saturated = [(a, b, c) for (a, b), c in zip(saturated_pairs(f), [0, f.one, f.sign, 0, 0, 0, f.sign, 0])]
        emit(chapter, f, f"{{fma,mad}}.{mode}" if wide else f"fma.{mode}", fma(mode), triple_list(f), flushed, saturated)
        if not wide:
            relu = lambda a, b, c: (lambda d: d if f.is_nan(d) else 0 if d & f.sign else d)(fma(mode)(a, b, c))
            emit(chapter, f, f"fma.{mode}.relu", relu, triple_list(f), flushed, [])
        else:
            rcp = lambda a: f.encode(divide(number(1), f.decode(a)), mode)
            square_root = lambda a: f.encode(root(f.decode(a)), mode)
            for name, op in (("rcp", rcp), ("sqrt", square_root)):
                emit(chapter, f, f"{name}.{mode}", op, single_list(f), [1, f.sign | 1, f.infinity - 1], [])


def emit(chapter, f, name, function, plain, flushed, saturated, canonical=True):
    """Rows of a format and, for 16-bit ones, of its pairs; f64 takes no modifiers, bf16 no .sat."""
    lists = [((), plain)]
    if f.bits != 64:
        lists.append((("ftz",), flushed))
    if f.name in ("f32", "f16"):
        lists.append((("sat",), saturated))
    for mods, operands in lists:
        for operand in operands:
            sources = operand if isinstance(operand, tuple) else (operand,)
            chapter.add(f"{name}.{f.name}", sources, apply(f, function, sources, mods, canonical), mods=" ".join(mods))
    if f.bits != 16:
        return
    for mods, operands in lists:
        for sources in paired(operands) if operands else []:
            d = halves(lambda *s: apply(f, function, s, mods, canonical), *sources)
            chapter.add(f"{name}.{f.name}x2", sources, d, mods=" ".join(mods))


def order(f, bits):
    return -(bits & (f.sign - 1)) - 1 if bits & f.sign else bits


def pick(f, least, nan_wins):
    def function(a, b):
        if f.is_nan(a) or f.is_nan(b):
            return f.nan if nan_wins or (f.is_nan(a) and f.is_nan(b)) else b if f.is_nan(a) else a
        return (min if least else max)(a, b, key=lambda x: order(f, x))
    return function


def signs(chapter, f):
    emit(chapter, f, "abs", lambda a: a & ~f.sign, single_list(f), [1, f.sign | 1], [], canonical=False) if f.bits != 64 else None
    emit(chapter, f, "neg", lambda a: a ^ f.sign, single_list(f), [1, f.sign | 1], [], canonical=False) if f.bits != 64 else None
    if f.bits == 64:
        for a in single_list(f):
            chapter.add("abs.f64", [a], a & ~f.sign)
            chapter.add("neg.f64", [a], a ^ f.sign)
    compared = pair_list(f) + [(values(f)["one"], values(f)["two"]), (values(f)["two"] | f.sign, values(f)["one"])]
    for name, least in (("min", True), ("max", False)):
        emit(chapter, f, name, pick(f, least, False), compared, flushed_pairs(f), [])
        if f.bits == 64:
            continue
        emit(chapter, f, f"{name}.NaN", pick(f, least, True), compared, flushed_pairs(f), [])
        for nan, nan_wins in (("", False), (".NaN", True)):
            def xorsign(a, b, nan_wins=nan_wins, least=least):
                d = pick(f, least, nan_wins)(a & ~f.sign, b & ~f.sign)
                return f.nan if f.is_nan(d) else d | ((a ^ b) & f.sign)
            emit(chapter, f, f"{name}{nan}.xorsign.abs", xorsign, compared, flushed_pairs(f), [])


def three_way(chapter):
    f = F32
    for name, least in (("min3", True), ("max3", False)):
        for nan, nan_wins in (("", False), (".NaN", True)):
            for magnitude, keep in (("", ~0), (".abs", ~f.sign)):
                one = pick(f, least, nan_wins)
                emit(chapter, f, f"{name}{nan}{magnitude}", lambda a, b, c: one(one(a & keep, b & keep), c & keep), triple_list(f),
                     [(a, b, f.sign | 1) for a, b in flushed_pairs(f)], [])


def classes(chapter, f):
    tests = {
        "finite": lambda k, a: k != "inf" and k != "nan", "infinite": lambda k, a: k == "inf", "number": lambda k, a: k != "nan",
        "notanumber": lambda k, a: k == "nan", "normal": lambda k, a: k == "number" and (a & f.infinity != 0 or a & ~f.sign == 0),
        "subnormal": lambda k, a: k == "number" and a & f.infinity == 0 and a & ~f.sign != 0,
    }
    for name, test in tests.items():
        for a in single_list(f):
            chapter.add(f"testp.{name}.{f.name}", [a], pd=str(int(test(f.decode(a)[0], a))))
    for a, b in pair_list(f):
        chapter.add(f"copysign.{f.name}", [a, b], (a & f.sign) | (b & ~f.sign))


def compare(f, name, a, b):
    x, y = f.decode(a), f.decode(b)
    unordered = "nan" in (x[0], y[0])
    if name in ("num", "nan"):
        return unordered == (name == "nan")
    if unordered:
        return len(name) == 3
    key = lambda v: (as_fraction(v) if v[0] == "number" else (-1) ** v[1] * Fraction(2) ** 2000)
    l, r = key(x), key(y)
    return {"eq": l == r, "ne": l != r, "lt": l < r, "le": l <= r, "gt": l > r, "ge": l >= r}[name[:2]]


def comparisons(chapter, f):
    v = values(f)
    operands = [(v["one"], v["one"]), (v["one"], v["two"]), (v["two"], v["one"]), (0, f.sign), (v["one"] | f.sign, v["one"]),
                (v["infinity"], v["max"]), (v["infinity"] | f.sign, v["infinity"]), (v["nan"], v["one"]), (v["one"], v["signalling"] | f.sign),
                (v["nan"], v["nan"]), (v["tiny"], 0), (f.sign, v["tiny"] | f.sign)]
    for name in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
        for a, b in operands:
            chapter.add(f"setp.{name}.{f.name}", [a, b], pd=str(int(compare(f, name, a, b))))
        for a, b in operands[-2:] if f.bits != 64 else []:
            chapter.add(f"setp.{name}.{f.name}", [a, b], pd=str(int(compare(f, name, f.flush(a), f.flush(b)))), mods="ftz")
        if f.bits == 16:
            for a, b in paired(operands):
                pd = [str(int(compare(f, name, a >> s & 0xFFFF, b >> s & 0xFFFF))) for s in (0, 16)]
                chapter.add(f"setp.{name}.{f.name}x2", [a, b], pd="".join(pd))


# ---- Approximate functions ------------------------------------------------------------------------------------------------
def from_math(f, function, zero, infinity, minus_infinity, domain=lambda x: True):
    """Nearest result of a function of doubles; zero (of a sign), infinities and values outside the domain are given."""
    def result(a):
        kind, sign, magnitude = f.decode(a)
        if kind == "nan":
            return f.nan
        if kind == "inf":
            return f.encode(minus_infinity if sign else infinity)
        if magnitude == 0:
            return f.encode(zero(sign))
        x = float(-magnitude if sign else magnitude)
        if not domain(x):
            return f.nan
        y = function(x)
        return f.encode(number(Fraction(y))) if y else 0
    return result


def power_of_two(x):
    return math.exp2(x) if x < 1000 else 2.0 ** 1000


def approximate(chapter):
    f, inf, minus_inf, nothing = F32, ("inf", 0, Fraction(0)), ("inf", 1, Fraction(0)), number(0)
    same_zero = lambda sign: ("number", sign, Fraction(0))
    rows = {
        "ex2.approx": from_math(f, power_of_two, lambda s: number(1), inf, nothing),
        "lg2.approx": from_math(f, math.log2, lambda s: minus_inf, inf, NAN, lambda x: x > 0),
        "sin.approx": from_math(f, math.sin, same_zero, NAN, NAN),
        "cos.approx": from_math(f, math.cos, lambda s: number(1), NAN, NAN),
        "tanh.approx": from_math(f, math.tanh, same_zero, number(1), number(-1)),
        "rsqrt.approx": from_math(f, lambda x: 1 / math.sqrt(x), lambda s: ("inf", s, Fraction(0)), nothing, NAN, lambda x: x > 0),
        "rcp.approx": lambda a: f.encode(divide(number(1), f.decode(a))),
        "sqrt.approx": lambda a: f.encode(root(f.decode(a))),
    }
    extra = [0x40490FDB, 0xC2C80000, 0x4B000001, 0x7E000000, 0xC3150000, 0x42FE0000, 0x3DCCCCCD]
    for name, function in rows.items():
        emit(chapter, f, name, function, single_list(f) + extra, [1, f.sign | 1, 0xC2FE0000, f.infinity - 1], [])
    division = lambda a, b: f.encode(divide(f.decode(a), f.decode(b)))
    huge = lambda b: 0x7E800000 < b & ~f.sign < f.infinity
    vanishing = lambda a, b: f.encode(multiply(f.decode(a), f.decode(b & f.sign))) if huge(b) else division(a, b)
    pairs = pair_list(f) + [(f.one, 0x7F000000), (f.one | f.sign, 0x7E800001), (f.one, 0x7E800000), (f.infinity, 0x7F000000), (f.one, 0xFF7FFFFF)]
    emit(chapter, f, "div.full", division, pairs, flushed_pairs(f), [])
    emit(chapter, f, "div.approx", vanishing, pairs, flushed_pairs(f), [])
    for h in (F16, BF16):
        operands = single_list(h) + [h.encode(number(Fraction(x))) for x in (-3.5, 0.3, 7.25, -14.5)]
        for name, function in (("ex2.approx", from_math(h, power_of_two, lambda s: number(1), inf, nothing)),
                               ("tanh.approx", from_math(h, math.tanh, same_zero, number(1), number(-1)))):
            emit(chapter, h, name, function, operands, [1, h.sign | 1], [])
    gross(chapter)


def gross(chapter):
    f = F64
    upper = lambda bits: bits if bits & ~f.sign >= f.infinity else bits + 0x80000000
    cut = lambda bits: f.flush(bits & ~0xFFFFFFFF)
    one_over = lambda a: f.encode(divide(number(1), f.decode(a)))
    def one_over_root(a):
        r = root(f.decode(a))
        return f.encode(divide(number(1), f.decode(f.encode(r))))
    for a in single_list(f) + [0x3FF00000FFFFFFFF, 0x3FF00001FFFFFFFF, 0x4008000000000000, 0x4010000000000000]:
        d = one_over(cut(a))
        chapter.add("rcp.approx.f64", [a], d if f.is_nan(d) else f.flush(upper(d) & ~0xFFFFFFFF), mods="ftz")
        d = one_over_root(cut(a))
        chapter.add("rsqrt.approx.f64", [a], d if f.is_nan(d) else upper(d) & ~0xFFFFFFFF, mods="ftz")
        chapter.add("rsqrt.approx.f64", [a], one_over_root(a))


# ---- convert.txt ----------------------------------------------------------------------------------------------------------
INTEGERS = {"u8": (8, False), "s8": (8, True), "u16": (16, False), "s16": (16, True), "u32": (32, False), "s32": (32, True),
            "u64": (64, False), "s64": (64, True)}


def limits(name):
    bits, signed = INTEGERS[name]
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)


def register(name, value):
    """Bits of an integer in its register: s8 is sign-extended, other narrow types are zero-extended."""
    bits = {"s8": 32}.get(name, INTEGERS[name][0])
    return value & ((1 << bits) - 1)


def wrap(name, value):
    bits, signed = INTEGERS[name]
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def clamp(name, value):
    low, high = limits(name)
    return max(low, min(high, value))


def integer_conversions(chapter):
    for s in INTEGERS:
        low, high = limits(s)
        edges = sorted({wrap(s, x) for x in (0, 1, -1, low, high, 127, 128, 255, 256, -128, -129, 32768, 65535, -32769, 1 << 31, (1 << 32) - 1,
                                             -(1 << 31) - 1, 1 << 63)})
        for d in INTEGERS:
            size = (1 << INTEGERS[s][0]) - 1
            for x in edges:
                chapter.add(f"cvt.{d}.{s}", [x & size], register(d, wrap(d, x)))
            for x in edges:
                chapter.add(f"cvt.{d}.{s}", [x & size], register(d, clamp(d, x)), mods="sat")
            if INTEGERS[s][0] < 32:  # upper bits of the register do not matter
                chapter.add(f"cvt.{d}.{s}", [0x5A5A0000 | (0x3300 if INTEGERS[s][0] == 8 else 0) | 0x81], register(d, wrap(d, wrap(s, 0x81))))
    for name, bits in (("u16", 16), ("s16", 16), ("u8", 8), ("s8", 8), ("u4", 4), ("s4", 4), ("u2", 2), ("s2", 2)):
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if name[0] == "s" else (0, (1 << bits) - 1)
        for a, b, c in ((0, 1, 0), (-1, 1, 0x12345678), (-(1 << 31), (1 << 31) - 1, 0xFFFFFFFF), (low, high, 3), (low - 1, high + 1, 0x80000001)):
            field = (1 << bits) - 1
            packed = (max(low, min(high, a)) & field) << bits | max(low, min(high, b)) & field
            sources = [a & 0xFFFFFFFF, b & 0xFFFFFFFF] + ([c] if bits < 16 else [])
            chapter.add(f"cvt.pack.sat.{name}.s32", sources, (packed | (c << 2 * bits if bits < 16 else 0)) & 0xFFFFFFFF)


def to_integer(f, a, name, mode):
    kind, sign, magnitude = f.decode(a)
    bits, _ = INTEGERS[name]
    if kind == "nan":
        return wrap(name, 1 << (bits - 1)) if f.bits == 64 or bits == 64 else 0
    if kind == "inf":
        return limits(name)[0 if sign else 1]
    x = rounded(magnitude, mode, sign)
    return clamp(name, -x if sign else x)


def float_to_integer(chapter):
    for f in (F16, BF16, F32, F64):
        for name in INTEGERS:
            low, high = limits(name)
            points = [Fraction(x) / 2 for x in (1, 3, 5, -1, -3, 9)] + [high, high + Fraction(1, 2), high + 1, low, low - Fraction(1, 2), low - 1,
                                                                    Fraction(9, 4), Fraction(-11, 4), 2 * high + 3]
            operands = [f.encode(number(x)) for x in points] + [0, f.sign, 1, f.sign | 1, f.infinity, f.infinity | f.sign, f.infinity + 1,
                                                             f.nan | f.sign, f.infinity - 1]
            for mode in ROUNDINGS:
                for a in dict.fromkeys(operands):
                    chapter.add(f"cvt.{mode}i.{name}.{f.name}", [a], register(name, to_integer(f, a, name, mode)))
                if f is F32:
                    chapter.add(f"cvt.{mode}i.{name}.f32", [1], register(name, 0), mods="ftz")
                    chapter.add(f"cvt.{mode}i.{name}.f32", [0x80000001], register(name, 0), mods="ftz")
                    chapter.add(f"cvt.{mode}i.{name}.f32", [0x7F800000], register(name, limits(name)[1]), mods="sat")


def integer_to_float(chapter):
    for s in INTEGERS:
        low, high = limits(s)
        points = [0, 1, low, high, 100]
        for f in (F16, BF16, F32, F64):
            p = 1 << f.precision
            points += [x for x in (p + 1, p + 3, 2 * p + 1, -p - 1, -p - 3) if low <= x <= high]
        points += [x for x in (65519, 65520, 65536, (1 << 40) + 1, (1 << 62) + 1, -(1 << 62) - 1) if low <= x <= high]
        for f in (F16, BF16, F32, F64):
            for mode in ROUNDINGS:
                for x in dict.fromkeys(points):
                    bits = x & ((1 << INTEGERS[s][0]) - 1)
                    chapter.add(f"cvt.{mode}.{f.name}.{s}", [bits], f.encode(number(x), mode))
                chapter.add(f"cvt.{mode}.{f.name}.{s}", [100], f.one, mods="sat")
                chapter.add(f"cvt.{mode}.{f.name}.{s}", [0], 0, mods="sat")


def neighbours(f, to):
    """Patterns of f about points where rounding to a narrower format changes."""
    v, out = values(to), []
    for bits in (v["one"], v["above"], v["tiny"], v["tiny3"], v["subnormal"], v["normal"], v["max"]):
        here, after = to.decode(bits)[2], to.decode(bits + 1)[2] if bits < to.infinity - 1 else 2 * to.decode(bits)[2] - to.decode(bits - 1)[2]
        for point in (here, (here + after) / 2):
            middle = f.encode(number(point))
            out += [middle, middle + 1, middle - 1, middle | f.sign, (middle + 1) | f.sign]
    half_of_least = f.encode(number(to.decode(1)[2] / 2))
    return out + [half_of_least, half_of_least + 1, half_of_least | f.sign]


def float_to_float(chapter):
    widening = [(F32, F16), (F32, BF16), (F64, F16), (F64, BF16), (F64, F32), (F16, F16), (BF16, BF16), (F32, F32), (F64, F64)]
    for d, s in widening:
        mods = [()] + ([("ftz",)] if F32 in (d, s) else []) + [("sat",)]
        for mod in mods:
            for a in short_list(s) if mod else single_list(s):
                chapter.add(f"cvt.{d.name}.{s.name}", [a], convert(d, s, a, "rn", mod), mods=" ".join(mod))
    for mode in ROUNDINGS:
        for d, s in ((F16, F32), (BF16, F32), (F16, F64), (BF16, F64), (F32, F64), (BF16, F16), (F16, BF16)):
            points = single_list(s) + (neighbours(s, d) if s.bits > d.bits else [])
            for a in dict.fromkeys(points):
                chapter.add(f"cvt.{mode}.{d.name}.{s.name}", [a], convert(d, s, a, mode, ()))
            for a in short_list(s) if F32 in (d, s) else []:
                chapter.add(f"cvt.{mode}.{d.name}.{s.name}", [a], convert(d, s, a, mode, ("ftz",)), mods="ftz")
            for a in short_list(s):
                chapter.add(f"cvt.{mode}.{d.name}.{s.name}", [a], convert(d, s, a, mode, ("sat",)), mods="sat")
        for f in (F16, BF16, F32, F64):
            extra = [f.encode(number(Fraction(x, 4))) for x in (2, 6, 10, 14, 3, 5, 1, -2, -6, -10, -3, 41)]
            for a in dict.fromkeys(single_list(f) + extra):
                kind, sign, magnitude = f.decode(a)
                d = f.encode((kind, sign, Fraction(rounded(magnitude, mode, sign))))
                chapter.add(f"cvt.{mode}i.{f.name}.{f.name}", [a], d)
                if a in short_list(f):
                    chapter.add(f"cvt.{mode}i.{f.name}.{f.name}", [a], f.saturate(d), mods="sat")
            if f is F32:
                chapter.add(f"cvt.{mode}i.f32.f32", [1], 0, mods="ftz")
                chapter.add(f"cvt.{mode}i.f32.f32", [0x80000001], 0x80000000, mods="ftz")


def convert(d, s, a, mode, mods):
    """.ftz is about f32 alone."""
    if "ftz" in mods and s is F32:
        a = s.flush(a)
    bits = d.encode(s.decode(a), mode)
    if "sat" in mods:
        bits = d.saturate(bits)
    return d.flush(bits) if "ftz" in mods and d is F32 else bits


def limited(f, bits, relu, finite):
    if f.is_nan(bits):
        return f.nan
    if finite and bits & ~f.sign == f.infinity:
        bits -= 1
    return 0 if relu and bits & f.sign else bits


def packed_conversions(chapter):
    for h in (F16, BF16):
        points = list(dict.fromkeys(single_list(F32) + neighbours(F32, h)[::2]))
        for mode in ("rn", "rz"):
            for text, relu, finite in (("", 0, 0), (".relu", 1, 0), (".satfinite", 0, 1), (".relu.satfinite", 1, 1)):
                one = lambda a: limited(h, h.encode(F32.decode(a), mode), relu, finite)
                for a, b in zip(points, points[7:] + points[:7]):
                    chapter.add(f"cvt.{mode}{text}.{h.name}x2.f32", [a, b], one(a) << 16 | one(b))
                    if text:
                        chapter.add(f"cvt.{mode}{text}.{h.name}.f32", [a], one(a))


TF32 = Format("tf32", 19, 11, 127, 0x7FFFFFFF >> 13)


def nearest_away(f, value):
    kind, sign, magnitude = value
    if kind != "number":
        return f.encode(value)
    near = f.encode(value, "rn")
    inner, outer = f.encode(value, "rz"), f.encode(value, "rm" if sign else "rp")
    tie = outer & ~f.sign < f.infinity and f.decode(inner)[2] + f.decode(outer)[2] == 2 * magnitude and inner != outer
    return outer if tie else near


def small_formats(chapter):
    points = list(dict.fromkeys(single_list(F32) + neighbours(F32, TF32)[::2]))
    for text, mode, relu, finite in (("rna", "", 0, 0), ("rna.satfinite", "", 0, 1), ("rn", "rn", 0, 0), ("rn.relu", "rn", 1, 0), ("rn.satfinite", "rn", 0, 1),
                                     ("rn.satfinite.relu", "rn", 1, 1), ("rz", "rz", 0, 0), ("rz.relu", "rz", 1, 0), ("rz.satfinite", "rz", 0, 1),
                                     ("rz.satfinite.relu", "rz", 1, 1)):
        for a in points:
            if F32.is_nan(a):
                d = F32.nan
            else:
                value = F32.decode(a)
                d = limited(TF32, TF32.encode(value, mode) if mode else nearest_away(TF32, value), relu, finite) << 13
            chapter.add(f"cvt.{text}.tf32.f32", [a], d)
    for name, fraction, bias, largest in (("e4m3", 3, 7, 0x7E), ("e5m2", 2, 15, 0x7B)):
        eight_bits(chapter, name, fraction, bias, largest)


def eight_bits(chapter, name, fraction, bias, largest):
    def value(bits):
        exponent, significand = bits >> fraction, bits & ((1 << fraction) - 1)
        if exponent:
            significand, exponent = significand | 1 << fraction, exponent - 1
        return Fraction(significand) * Fraction(2) ** (exponent + 1 - bias - fraction)

    def encode(decoded, relu):
        kind, sign, magnitude = decoded
        if kind == "nan":
            return 0x7F
        size = Fraction(1 << 20) if kind == "inf" else magnitude
        best = min(range(largest + 1), key=lambda bits: (abs(value(bits) - size), bits % 2))
        return 0 if relu and sign else best | (0x80 if sign else 0)

    middles = [(value(b) + value(b + 1)) / 2 for b in (0, 1, 6, 7, 8, 0x38, 0x39, largest - 1)] + [value(largest), value(largest) * Fraction(33, 32)]
    for f, text in ((F32, "f32"), (F16, "f16x2")):
        points = single_list(f) + [f.encode(number(m)) for m in middles] + [f.encode(number(-m)) for m in middles]
        points += [f.encode(number(m)) + 1 for m in middles]
        for relu, word in ((0, ""), (1, ".relu")):
            for a, b in zip(points, points[3:] + points[:3]):
                d = encode(f.decode(a), relu) << 8 | encode(f.decode(b), relu)
                chapter.add(f"cvt.rn.satfinite{word}.{name}x2.{text}", [a, b] if f is F32 else [a << 16 | b], d)
    for relu, word in ((0, ""), (1, ".relu")):
        def widen(bits):
            magnitude = bits & 0x7F
            if magnitude > (0x7E if name == "e4m3" else 0x7C):
                return F16.nan
            h = F16.infinity if magnitude > largest else F16.encode(("number", 0, value(magnitude)))
            return 0 if relu and bits & 0x80 else h | (bits & 0x80) << 8
        for low in range(0, 256, 5):
            high = (low * 7 + 1) % 256
            chapter.add(f"cvt.rn{word}.f16x2.{name}x2", [high << 8 | low], widen(high) << 16 | widen(low))


def main():
    chapter = Chapter("float", "Floating-point arithmetic and comparisons: NaN payloads, signed zeros, subnormals, ties, overflow.")
    for f, modes in ((F32, ROUNDINGS), (F64, ROUNDINGS), (F16, ("rn",)), (BF16, ("rn",))):
        arithmetic(chapter, f, modes)
        signs(chapter, f)
        comparisons(chapter, f)
    for f in (F32, F64):
        classes(chapter, f)
    three_way(chapter)
    approximate(chapter)
    chapter.write()
    chapter = Chapter("convert", "Conversions: ranges, saturation, NaN, ties in every rounding.")
    integer_conversions(chapter)
    float_to_integer(chapter)
    integer_to_float(chapter)
    float_to_float(chapter)
    packed_conversions(chapter)
    small_formats(chapter)
    chapter.write()


main()
