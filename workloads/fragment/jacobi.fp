!!FP1.0
# A step of Jacobi's method for Poisson's equation: a quarter of the four neighbours of texture 0, less texture 1 (the right side).
DECLARE step = {0.015625, 0.015625};
MOVR R0.x, step.x;
MOVR R0.y, 0;
ADDR R1, f[TEX0], R0.xyyy;
TEX R2, R1, TEX0, 2D;
SUBR R1, f[TEX0], R0.xyyy;
TEX R3, R1, TEX0, 2D;
ADDR R2, R2, R3;
MOVR R0.z, step.y;
ADDR R1, f[TEX0], R0.yzyy;
TEX R3, R1, TEX0, 2D;
ADDR R2, R2, R3;
SUBR R1, f[TEX0], R0.yzyy;
TEX R3, R1, TEX0, 2D;
ADDR R2, R2, R3;
TEX R3, f[TEX0], TEX1, 2D;
SUBR R2, R2, R3;
MULR o[COLR], R2, 0.25;
END
