!!FP1.0
# turn: scatters. Each fragment writes its texel to the opposite place of the domain, which is a picture turned by half; `last` is the domain's size.
DECLARE last = {64, 64, 0, 0};
TEX R0, f[TEX0], TEX0, 2D;
SUBR o[WPOS].xy, last, f[WPOS];
MOVR o[COLR], R0;
MOVR o[DEPR].z, R0.w;
END
