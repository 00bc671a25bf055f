#include "kernels/table.h"

// The one symbol of a variant that dispatch.cpp knows; the build appends the variant's name.
extern "C" const locus::kernels::Table locus_kernel_table;
const locus::kernels::Table locus_kernel_table = {locus::kernels::panel_columns(),
#define LOCUS_POINTER(name) &locus::kernels::name,
                                                  LOCUS_KERNELS(LOCUS_POINTER)
#undef LOCUS_POINTER
};
