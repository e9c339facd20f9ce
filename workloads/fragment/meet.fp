!!FP1.0
# meet: scatters, and several points write one word by right. Each fragment adds up its texel and its neighbours and writes to the place at half its coordinates: four
# points meet there. All give the same: the sum over the quad.
DECLARE step = {0.015625, 0.015625};
FLRR R4, f[WPOS];
MULR R4, R4, 0.5;
FLRR R4, R4;
MADR R5, R4, 2, 0.5;
MULR R5, R5, step.x;
MOVR R6.x, step.x;
MOVR R6.y, 0;
TEX R0, R5, TEX0, 2D;
ADDR R7, R5, R6.xyyy;
TEX R1, R7, TEX0, 2D;
ADDR R0, R0, R1;
ADDR R7, R5, R6.yxyy;
TEX R1, R7, TEX0, 2D;
ADDR R0, R0, R1;
ADDR R7, R5, R6.xxyy;
TEX R1, R7, TEX0, 2D;
ADDR R0, R0, R1;
MOVR o[WPOS].xy, R4;
MOVR o[COLR], R0;
END
