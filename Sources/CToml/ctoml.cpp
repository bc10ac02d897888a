#include "CToml.h"
int ctoml_present(void) { return 1; }
