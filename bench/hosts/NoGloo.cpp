#include "bench/hosts/Contender.h"

namespace dpc::bench {

std::unique_ptr<Contender> makeGloo(const Start &) { return nullptr; }

} // namespace dpc::bench
