#ifndef DPC_TEST_UNIT_PASSES_SHARDING_RANDOMREQUESTS_H
#define DPC_TEST_UNIT_PASSES_SHARDING_RANDOMREQUESTS_H

#include "test/unit/passes/Sharding/PartitionCheck.h"

namespace dpc::test {

/// Asks for layouts of some parameters, inputs and results of ops (`dist.request`),
/// all of which can be answered, and takes a machine on which moving costs as much as
/// ever, nothing, or very much: with that, or because of the requests, what is idle is
/// divided, or is not. Returns how many requests there are.
int addRequests(PartitionCase &trial, std::mt19937 &random);

} // namespace dpc::test

#endif // DPC_TEST_UNIT_PASSES_SHARDING_RANDOMREQUESTS_H
