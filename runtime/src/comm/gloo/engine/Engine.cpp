// libdpc_gloo.so: moves bytes by unbound buffers of Gloo over its TCP transport. Tried with
// Debian's libgloo-dev 0.0~git20220518.

#include "runtime/src/comm/gloo/Table.h"

#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

using ::gloo::transport::UnboundBuffer;

namespace dpc::gloo {

namespace {

/// A wait that times out closes all connections of Gloo, so waits have no limit in practice.
constexpr std::chrono::milliseconds kForever = std::chrono::hours(24 * 365);
/// Gloo matches the messages of a pair with equal slots in their order. The messages of the guard
/// are never sent.
constexpr uint64_t kSlot = 0, kGuardSlot = 1;
/// Gloo waits so many times its time limit for a connection.
constexpr double kConnectFactor = 5;

/// Copies the text of an exception. Gloo puts "[file:line] " before it.
void tell(const char *what, Reason *reason) {
  const char *text = what, *end = std::strstr(what, "] ");
  if (what[0] == '[' && end)
    text = end + 2;
  std::snprintf(reason->text, sizeof reason->text, "%s", text);
  for (char *c = reason->text; *c; ++c)
    if (*c == '\n')
      *c = ' ';
}

/// Calls `function`, and turns an exception into a result.
template <typename Function> Outcome guarded(Reason *reason, Function function) {
  try {
    return function();
  } catch (const std::exception &error) {
    tell(error.what(), reason);
  } catch (...) {
    tell("unknown exception", reason);
  }
  return kFailed;
}

} // namespace

struct Engine {
  std::shared_ptr<::gloo::transport::Device> device;
  std::shared_ptr<::gloo::transport::Context> context;
  /// By rank: a receive that never completes. Gloo tells it that the connection has broken.
  std::vector<std::unique_ptr<UnboundBuffer>> guards;
  std::atomic<bool> isShut{false};
};

struct EngineMove {
  std::unique_ptr<UnboundBuffer> buffer;
  bool isSend;
};

namespace {

Outcome openEngine(uint32_t rank, uint32_t worldSize, const char *host, double connectSeconds,
                   Engine **outEngine, Reason *reason) {
  return guarded(reason, [&] {
    auto engine = std::make_unique<Engine>();
    engine->device = ::gloo::transport::tcp::CreateDevice(::gloo::transport::tcp::attr(host));
    engine->context =
        engine->device->createContext(static_cast<int>(rank), static_cast<int>(worldSize));
    engine->context->setTimeout(
        std::chrono::milliseconds(static_cast<int64_t>(connectSeconds * 1000 / kConnectFactor)));
    engine->guards.resize(worldSize);
    for (uint32_t peer = 0; peer < worldSize; ++peer)
      if (peer != rank)
        engine->context->createPair(static_cast<int>(peer));
    *outEngine = engine.release();
    return kDone;
  });
}

Outcome placeOf(Engine *engine, uint32_t peer, Place *out, Reason *reason) {
  return guarded(reason, [&] {
    const std::vector<char> bytes =
        engine->context->getPair(static_cast<int>(peer))->address().bytes();
    if (bytes.size() > sizeof out->bytes)
      throw std::length_error("Gloo's addresses are too long");
    out->size = static_cast<uint32_t>(bytes.size());
    std::memcpy(out->bytes, bytes.data(), bytes.size());
    return kDone;
  });
}

Outcome connectPair(Engine *engine, uint32_t peer, const Place *place, Reason *reason) {
  return guarded(reason, [&] {
    if (place->size > sizeof place->bytes)
      throw std::length_error("the address of a rank is too long");
    engine->context->getPair(static_cast<int>(peer))
        ->connect(std::vector<char>(place->bytes, place->bytes + place->size));
    if (engine->isShut)
      throw std::runtime_error("closed");
    auto &guard = engine->guards[peer];
    guard = engine->context->createUnboundBuffer(nullptr, 0);
    guard->recv(static_cast<int>(peer), kGuardSlot, 0, 0);
    return kDone;
  });
}

Outcome post(Engine *engine, uint32_t peer, bool isSend, void *memory, uint64_t bytes,
             EngineMove **outMove, Reason *reason) {
  return guarded(reason, [&] {
    auto move = std::make_unique<EngineMove>();
    move->isSend = isSend;
    move->buffer = engine->context->createUnboundBuffer(memory, bytes);
    if (move->isSend)
      move->buffer->send(static_cast<int>(peer), kSlot, 0, bytes);
    else
      move->buffer->recv(static_cast<int>(peer), kSlot, 0, bytes);
    *outMove = move.release();
    return kDone;
  });
}

Outcome waitFor(EngineMove *move, Reason *reason) {
  return guarded(reason, [&] {
    const bool isDone =
        move->isSend ? move->buffer->waitSend(kForever) : move->buffer->waitRecv(kForever);
    return isDone ? kDone : kAborted;
  });
}

void abortMove(EngineMove *move) {
  Reason unused;
  guarded(&unused, [&] {
    if (move->isSend)
      move->buffer->abortWaitSend();
    else
      move->buffer->abortWaitRecv();
    return kDone;
  });
}

void releaseMove(EngineMove *move) { delete move; }

/// A wait that was aborted before it begins does not wait, but throws if Gloo has told the buffer
/// of an error.
Outcome probe(Engine *engine, uint32_t peer, Reason *reason) {
  return guarded(reason, [&] {
    if (auto &guard = engine->guards[peer]) {
      guard->abortWaitRecv();
      guard->waitRecv(kForever);
    }
    return kDone;
  });
}

void shutEngine(Engine *engine) {
  engine->isShut = true;
  Reason unused;
  for (size_t peer = 0; peer < engine->guards.size(); ++peer)
    guarded(&unused, [&] {
      if (auto &pair = engine->context->getPair(static_cast<int>(peer)))
        pair->close();
      return kDone;
    });
}

void closeEngine(Engine *engine) {
  Reason unused;
  guarded(&unused, [&] {
    delete engine;
    return kDone;
  });
}

constexpr Table kTable = {kTableVersion, openEngine,  placeOf, connectPair, post,       waitFor,
                          abortMove,     releaseMove, probe,   shutEngine,  closeEngine};

} // namespace

} // namespace dpc::gloo

extern "C" [[gnu::visibility("default")]] const dpc::gloo::Table *dpc_gloo_table() {
  return &dpc::gloo::kTable;
}
