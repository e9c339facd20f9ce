!!FP1.0
# 5 x 5 convolution with a Gaussian of integer weights, over 256. `step` is the distance of two texels.
DECLARE step = {0.015625, 0.015625};
MOVR R1.y, -2;
REP 5;
  MOVR R1.x, -2;
  # the weight of this row, in R5.x: 6, 4 or 1 by its distance from the middle
  MOVR R4.x, |R1.y|;
  MADR R5.x, R4.x, -2, 6;
  MADR R4.y, R4.x, R4.x, -R4.x;
  MADR R5.x, R4.y, -0.5, R5.x;
  REP 5;
    MADR R2, R1, step, f[TEX0];
    TEX R3, R2, TEX0, 2D;
    MOVR R4.x, |R1.x|;
    MADR R6.x, R4.x, -2, 6;
    MADR R4.y, R4.x, R4.x, -R4.x;
    MADR R6.x, R4.y, -0.5, R6.x;
    MULR R6.x, R6.x, R5.x;
    MADR R0, R3, R6.x, R0;
    ADDR R1.x, R1.x, 1;
  ENDREP;
  ADDR R1.y, R1.y, 1;
ENDREP;
MULR o[COLR], R0, 0.00390625;
END
