#define TT_ISA baseline
#include "hot.inl"
