/* main() of a compiled program. The linker joins it with the object file that defines
 * the program record. */
#include "dpc/dpc.h"

extern const dpc_program_t dpc_program;

int main(int argc, char **argv) { return dpc_main(argc, argv, &dpc_program); }
