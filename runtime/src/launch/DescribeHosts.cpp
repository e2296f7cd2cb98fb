// Lets the launchers of several hosts measure them together.
#include "runtime/src/launch/DescribeHosts.h"

#include "runtime/src/base/Endpoint.h"
#include "runtime/src/base/Fd.h"
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Sockets.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/launch/Nodes.h"

namespace dpc {

dpc_status_t describeHosts(const LaunchOptions &options) {
  DescribeOptions how = options.describe;
  if (options.nodes == 1)
    return describe(how);
  if (how.ranks == 0)
    how.ranks = countCores();
  Nodes nodes;
  if (dpc_status_t status = nodes.open(options))
    return status;
  NodeRecord record = {};
  record.ranks = how.ranks;
  record.programRanks = how.ranks * options.nodes;
  Fd listener;
  uint16_t port = 0;
  if (nodes.index() == 0)
    record.status = listenOn(nodes.meetingHost(), &listener, &port);
  if (record.status)
    copyText(record.text, dpc_last_error());
  NodeShare share;
  if (dpc_status_t status = nodes.agree(record, port, &share))
    return status;
  how.hosts = options.nodes;
  how.host = nodes.index();
  how.rendezvous = endpointText(share.host, share.port);
  how.token = share.token;
  how.listen = options.listen;
  how.listenFd = listener.get();
  return describe(how);
}

} // namespace dpc
