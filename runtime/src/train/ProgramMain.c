/* main() of a produced executable, linked with the object that defines its
 * program record. */
#include "dpc/dpc.h"

extern const dpc_program_t dpc_program;

int main(int argc, char **argv) { return dpc_main(argc, argv, &dpc_program); }
