#include "dialects/Interfaces/TiledOpInterface.h"

#include "dialects/Interfaces/TiledOpInterface.cpp.inc"
