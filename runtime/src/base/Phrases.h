#ifndef DPC_RUNTIME_SRC_BASE_PHRASES_H
#define DPC_RUNTIME_SRC_BASE_PHRASES_H

#include <string>
#include <vector>

namespace dpc {

/// "a, b, c", for messages; after eight names: "a, b, .., h and 5 more".
std::string listNames(const std::vector<std::string> &names);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_PHRASES_H
