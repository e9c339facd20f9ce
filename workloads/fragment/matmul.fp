!!FP1.0
# A pass of a matrix product: texture 2 (what earlier passes gave) and `count` products of a row of texture 0 and a column of texture 1, from `first` on.
# Coordinates are texels.
DECLARE first = {0, 0, 0, 0};
DECLARE count = {16, 0, 0, 0};
TEX R0, f[WPOS], TEX2, RECT;
ADDR R1.x, first.x, 0.5;
MOVR R1.y, f[WPOS].y;
MOVR R2.x, f[WPOS].x;
REP count.x;
  MOVR R2.y, R1.x;
  TEX R3, R1, TEX0, RECT;
  TEX R4, R2, TEX1, RECT;
  MADR R0, R3, R4, R0;
  ADDR R1.x, R1.x, 1;
ENDREP;
MOVR o[COLR], R0;
END
