!!FP1.0
# The Mandelbrot set: how many steps of z z + c a point of the plane stays within 2, over `most`. Neighbours take different numbers of steps.
DECLARE centre = {-0.5, 0, 0, 0};
DECLARE size = {3, 3, 0, 0};
DECLARE most = {64, 0, 0, 0};
SUBR R0, f[TEX0], 0.5;
MADR R0, R0, size, centre;
MOVR R1, 0;
MOVR R3.x, 0;
REP most.x;
  MULR R2.x, R1.x, R1.x;
  MULR R2.y, R1.y, R1.y;
  ADDR R2.z, R2.x, R2.y;
  SGTRC RC.x, R2.z, 4;
  BRK GT.x;
  MULR R2.w, R1.x, R1.y;
  SUBR R1.x, R2.x, R2.y;
  ADDR R1.x, R1.x, R0.x;
  MADR R1.y, R2.w, 2, R0.y;
  ADDR R3.x, R3.x, 1;
ENDREP;
RCPR R4.x, most.x;
MULR o[COLR], R3.x, R4.x;
MOVR o[DEPR].z, R3.x;
END
