#define TT_ISA avx2
#include "hot.inl"
