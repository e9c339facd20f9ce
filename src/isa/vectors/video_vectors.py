#!/usr/bin/env python3
"""Writes video.txt: vectors of the video instructions, worked out from the manual's pseudo-code in
unbounded integers, independently of video.c. Usage: python3 video_vectors.py > video.txt"""

WORDS = [0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x80FF7F01, 0x7F8001FF, 0x12345678, 0x00FF00FF, 0xFF00FF00]
COMPARE = ['eq', 'ne', 'lt', 'le', 'gt', 'ge']


def extend(value, bits, signed):
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def clamp(value, bits, signed):
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return min(max(value, low), high)


# selector -> (number in imm, bits, shift)
PARTS = {'': (0, 32, 0), 'b0': (1, 8, 0), 'b1': (2, 8, 8), 'b2': (3, 8, 16), 'b3': (4, 8, 24), 'h0': (5, 16, 0), 'h1': (6, 16, 16)}


def part(value, name, signed):
    return extend(value >> PARTS[name][2], PARTS[name][1], signed)


def compare(name, a, b):
    return int({'eq': a == b, 'ne': a != b, 'lt': a < b, 'le': a <= b, 'gt': a > b, 'ge': a >= b}[name])


def primary(op, a, b, extra):
    if op == 'vadd': return a + b
    if op == 'vsub': return a - b
    if op == 'vabsdiff': return abs(a - b)
    if op == 'vmin': return min(a, b)
    if op == 'vmax': return max(a, b)
    if op == 'vavrg': return (a + b + 1) >> 1 if a + b >= 0 else (a + b) >> 1
    if op == 'vset': return compare(extra, a, b)
    amount = b & 31 if extra == 'wrap' else min(b, 32)
    return a << amount if op == 'vshl' else a >> amount


def line(text, sat, imm, a, b, c, d, note):
    print(f"{text}{' sat' if sat else ''} imm={imm:x} | {a:x} {b:x} {c:x} -> {d & 0xFFFFFFFF:x}  # {note}")


def scalar(op, a, b, c, types='uuu', sat=False, asel='', bsel='', dsel='', second='', extra=''):
    signed = [t == 's' for t in types]
    imm = sum(1 << i for i in range(3) if signed[i]) | PARTS[asel][0] << 3 | PARTS[bsel][0] << 6 | PARTS[dsel][0] << 9
    imm |= ['', 'add', 'min', 'max'].index(second) << 12
    if extra == 'wrap': imm |= 1 << 14
    if op == 'vset': imm |= COMPARE.index(extra) << 20
    value = primary(op, part(a, asel, signed[1]), part(b, bsel, signed[2]), extra)
    bits, shift = PARTS[dsel][1:]
    if sat: value = clamp(value, bits, signed[0])
    value &= 0xFFFFFFFF
    if dsel:
        mask = ((1 << bits) - 1) << shift
        value = (c & ~mask) | (value << shift & mask)
    elif second == 'add':
        value += c
    elif second:
        value = {'min': min, 'max': max}[second](value, c, key=lambda v: extend(v, 32, signed[0]))
    line(op, sat, imm, a, b, c, value, f"{types} a.{asel or 'word'} b.{bsel or 'word'} {dsel}{second}{extra}")


def multiply(a, b, c, types='uu', sat=False, asel='', bsel='', negate='', scale=0):
    signed = [t == 's' for t in types]
    imm = (2 if signed[0] else 0) | (4 if signed[1] else 0) | PARTS[asel][0] << 3 | PARTS[bsel][0] << 6
    imm |= {'': 0, 'product': 1 << 15, 'c': 1 << 16, 'po': 1 << 17}[negate] | {0: 0, 7: 1, 15: 2}[scale] << 18
    final = any(signed) or negate in ('product', 'c')
    product = part(a, asel, signed[0]) * part(b, bsel, signed[1])
    addend, low = c, 0
    if negate == 'po': low = 1
    if negate == 'product': product, low = ~product, 1
    if negate == 'c': addend, low = ~c & 0xFFFFFFFF, 1
    value = (product + extend(addend, 32, final) + low) >> scale
    if sat: value = clamp(value, 32, final)
    line('vmad', sat, imm, a, b, c, value, f"{types} a.{asel or 'word'} b.{bsel or 'word'} {negate} shr{scale}")


def simd(op, lanes, a, b, c, types='uuu', sat=False, asel=None, bsel=None, mask=None, add=False, extra=''):
    signed, bits = [t == 's' for t in types], 32 // lanes
    asel, bsel = asel or list(range(lanes)), bsel or list(range(lanes, 2 * lanes))
    mask = list(range(lanes)) if mask is None else mask
    both = a | b << 32
    imm = sum(1 << i for i in range(3) if signed[i]) | (8 if add else 0) | sum(1 << (28 + i) for i in mask)
    imm |= sum(asel[i] << (4 + 3 * i) | bsel[i] << (16 + 3 * i) for i in range(lanes))
    d = c
    for i in mask:
        value = primary(op, extend(both >> asel[i] * bits, bits, signed[1]), extend(both >> bsel[i] * bits, bits, signed[2]), extra)
        if sat: value = clamp(value, bits, signed[0])
        if add:
            d += value
        else:
            low = ((1 << bits) - 1) << i * bits
            d = (d & ~low) | (value << i * bits & low)
    text = f"{op}{lanes}" + (f".{extra}" if extra else '')
    line(text, sat, imm, a, b, c, d, f"{types} {asel} {bsel} mask {mask}{' add' if add else ''}")


def main():
    print("# Video instructions: selectors, saturation, secondary operations.")
    print("# Made by video_vectors.py; text mods imm | a b c -> d")
    pairs = [(a, b) for i, a in enumerate(WORDS) for b in WORDS[i % 2::2]]
    for op in ['vadd', 'vsub', 'vabsdiff', 'vmin', 'vmax']:
        for n, (a, b) in enumerate(pairs):
            types = [''.join('us'[n >> i & 1] for i in range(3)), 'uuu', 'sss', 'suu'][n % 4]
            c = WORDS[n * 7 % 10]
            scalar(op, a, b, c, types, sat=n % 3 == 0, second=['', 'add', 'min', 'max'][n // 2 % 4])
            names = list(PARTS)
            scalar(op, a, b, c, types, sat=n % 2 == 0, asel=names[n % 7], bsel=names[n // 3 % 7], dsel=names[n // 2 % 7])
    for op in ['vshl', 'vshr']:
        for n, a in enumerate(WORDS):
            for amount in (0, 1, 31, 32, 33, 0xFFFFFFFF):
                scalar(op, a, amount, WORDS[n], ['uuu', 'ssu', 'usu', 'suu'][n % 4], sat=n % 3 == 0, extra=['clamp', 'wrap'][(n + amount) % 2])
        scalar(op, 0x80, 4, 5, 'ssu', asel='b0', second='add', extra='clamp')
        scalar(op, 0x8000, 0x0300, 0xAAAAAAAA, 'suu', sat=True, asel='h0', bsel='b1', dsel='b2', extra='wrap')
    for name in COMPARE:
        for n, (a, b) in enumerate(pairs[:12]):
            scalar('vset', a, b, WORDS[n % 10], ['uuu', 'uss', 'usu', 'uus'][n % 4], second=['', 'add', 'min', 'max'][n % 4], extra=name)
        scalar('vset', 0x00FF, 0xFF00, 0x12345678, 'uss', asel='b0', bsel='b1', dsel='h1', extra=name)
    for n, (a, b) in enumerate(pairs):
        types = ['uu', 'ss', 'us', 'su'][n % 4]
        for negate in ['', 'product', 'c', 'po']:
            multiply(a, b, WORDS[n % 10], types, n % 2 == 0, ['', 'b3', 'h1', 'b0'][n // 4 % 4], ['', 'h0', 'b1'][n // 2 % 3], negate, [0, 7, 15][n % 3])
    orders = {2: [[0, 1], [1, 0], [3, 2], [2, 0], [1, 1]], 4: [[0, 1, 2, 3], [7, 6, 5, 4], [3, 3, 4, 4], [1, 5, 2, 6], [7, 0, 0, 7]]}
    masks = {2: [None, [0], [1]], 4: [None, [0], [3], [0, 2], [1, 2, 3]]}
    for lanes in (2, 4):
        for op in ['vadd', 'vsub', 'vavrg', 'vabsdiff', 'vmin', 'vmax']:
            for n, (a, b) in enumerate(pairs):
                types = [''.join('us'[n >> i & 1] for i in range(3)), 'uuu', 'sss'][n % 3]
                order = orders[lanes][n % 5] if n % 4 else None
                add = n % 5 == 1
                simd(op, lanes, a, b, WORDS[n * 3 % 10], types, n % 2 == 0 and not add, order, orders[lanes][n // 2 % 5] if n % 3 else None,
                     masks[lanes][n % len(masks[lanes])], add)
        for name in COMPARE:
            for n, (a, b) in enumerate(pairs[:20]):
                simd('vset', lanes, a, b, WORDS[n % 10], ['uuu', 'uss', 'usu'][n % 3], mask=masks[lanes][n % len(masks[lanes])], add=n % 4 == 0, extra=name)


main()
