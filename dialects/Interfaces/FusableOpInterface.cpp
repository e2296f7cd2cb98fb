#include "dialects/Interfaces/FusableOpInterface.h"

#include "dialects/Interfaces/FusableOpInterface.cpp.inc"
