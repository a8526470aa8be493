#define TT_ISA avx512
#include "hot.inl"
