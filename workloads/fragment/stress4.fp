!!FP1.0
# stress4: a stressmark of Sheaffer, Luebke and Skadron, Table 2: 4 texture reads, 15 instructions.
# 2 of them (MAX, MIN, ADD before the last seven) are chosen by us: the paper describes fewer than it counts.
TEX R2, f[TEX0], TEX0, 2D;
TEX R3, f[TEX0], TEX1, 2D;
MADR R0, R2, R3, R0;
TEX R2, f[TEX0], TEX2, 2D;
TEX R3, f[TEX0], TEX3, 2D;
MADR R0, R2, R3, R0;
MAXR R0, R0, {0}.x;
MINR R0, R0, {4}.x;
ADDR R0, R0, {0.25}.x;
MULR R0, R0, {0.5}.x;
MADR R0, R0, R0, {0.125}.x;
DP4R R1, R0, R0;
ADDR R1, R1, R0;
MULR R0, R1, {0.75}.x;
MOVR o[COLR], R0;
END
