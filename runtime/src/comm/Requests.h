// The numbers of operations under way. Each has a channel, and a sequence number in the channel.
#ifndef DPC_RUNTIME_SRC_COMM_REQUESTS_H
#define DPC_RUNTIME_SRC_COMM_REQUESTS_H

#include "dpc/comm.h"

namespace dpc {

struct Request {
  static constexpr unsigned kSequenceBits = 44;

  uint64_t channel;  ///< of a number that is no request: beyond all channels
  uint64_t sequence; ///< of the operation in its channel

  static Request of(dpc_request_t number) {
    return {(number >> kSequenceBits) - 1, number & ((1ull << kSequenceBits) - 1)};
  }
  /// Never 0, and below 2^63 for fewer than 2^19 channels.
  dpc_request_t number() const { return (channel + 1) << kSequenceBits | sequence; }
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_REQUESTS_H
