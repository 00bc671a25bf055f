// The program locus: the command line and nothing else.
#include "cli/program.h"

int main(int argc, char** argv) { return locus::cli::run(argc, argv); }
