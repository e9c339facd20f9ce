!!FP1.0
# stress2: a stressmark of Sheaffer, Luebke and Skadron, Table 2: 2 texture reads, 10 instructions.
TEX R2, f[TEX0], TEX0, 2D;
TEX R3, f[TEX0], TEX1, 2D;
MADR R0, R2, R3, R0;
ADDR R0, R0, {0.25}.x;
MULR R0, R0, {0.5}.x;
MADR R0, R0, R0, {0.125}.x;
DP4R R1, R0, R0;
ADDR R1, R1, R0;
MULR R0, R1, {0.75}.x;
MOVR o[COLR], R0;
END
