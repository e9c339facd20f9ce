!!FP1.0
# compare: two frames of the same computation, as textures 0 and 1, of the domain's size. Where they are the same the fragment ends without a result, so
# that the frame keeps what it holds; where they differ it gets 1. This is how a program compares on the GPU itself.
TEX R0, f[WPOS], TEX0, RECT;
TEX R1, f[WPOS], TEX1, RECT;
SNER R2, R0, R1;
DP4RC R3.x, R2, R2;
KIL EQ.x;
MOVR o[COLR], {1, 1, 1, 1};
END
