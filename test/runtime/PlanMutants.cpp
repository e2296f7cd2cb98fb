// Each edit here changes what the program means: one that could not (zeroing
// twice, two waits in another order, two computations that use other bytes, a
// stride for the first of a group) is not made. The rule stands with the edit.
#include "test/runtime/PlanMutants.h"

namespace dpc::test {

static bool isMessage(const dpc_action_t &action) {
  return action.op == DPC_OP_SEND || action.op == DPC_OP_RECV;
}

const std::vector<Mutant::Edit> &Mutant::edits() {
  static const std::vector<Edit> all = {
      {"drop", &Mutant::drop},
      {"missing wait", &Mutant::dropWait},
      {"duplicate", &Mutant::duplicate},
      {"swap", &Mutant::swapNeighbours},
      {"other count", &Mutant::resizeCommunication},
      {"smaller zero", &Mutant::shrinkZero},
      {"other type", &Mutant::changeType},
      {"other reduction", &Mutant::changeReduction},
      {"other operation", &Mutant::changeKind},
      {"other buffer id", &Mutant::changeLogicalBuffer},
      {"other offset", &Mutant::retarget},
      {"other stride", &Mutant::changeStride},
      {"other buffer", &Mutant::changeBufferName},
      {"other family", &Mutant::changeFamily},
      {"other peer", &Mutant::changePeer},
      {"other event", &Mutant::changeEvent},
      {"other loop count", &Mutant::changeLoopCount},
      {"other function", &Mutant::changeFunction},
      {"other microbatch", &Mutant::changeMicrobatch},
      {"zero after term", &Mutant::zeroAfterTerm},
      {"zero each term", &Mutant::zeroEachTerm},
      {"moved frame", &Mutant::moveFrame},
      {"other frame", &Mutant::changeFrame},
      {"swapped frames", &Mutant::swapFrames},
      {"frames of another", &Mutant::swapMicrobatches},
      {"early receive", &Mutant::advanceReceive},
  };
  return all;
}

/// Tables say where loops begin and end: whatever moved, these stay pairs.
void Mutant::update() {
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < actions.size(); ++i) {
    if (actions[i].kind == DPC_ACTION_LOOP_BEGIN)
      open.push_back(i);
    if (actions[i].kind == DPC_ACTION_LOOP_END && !open.empty()) {
      actions[i].jump = open.back();
      actions[open.back()].jump = i;
      open.pop_back();
    }
  }
  ranks[rank].entries[entry] = {actions.data(), actions.size()};
  program.ranks = ranks.data();
}

/// A random action that fits.
bool Mutant::pick(uint64_t *out, const std::function<bool(const dpc_action_t &)> &fits) {
  std::vector<uint64_t> found;
  for (uint64_t i = 0; i < actions.size(); ++i)
    if (fits(actions[i]))
      found.push_back(i);
  if (found.empty())
    return false;
  note(*out = found[below(found.size())]);
  return true;
}

/// A number of [first, end) other than `value`; `value` if there is none.
uint32_t Mutant::otherThan(uint32_t value, uint32_t first, uint32_t end) {
  if (end < first + 2)
    return value;
  uint32_t other = value;
  while (other == value)
    other = first + static_cast<uint32_t>(below(end - first));
  return other;
}

bool Mutant::drop() {
  uint64_t at = 0;
  if (!pick(&at, [&](auto &a) {
        return isKind(a, {DPC_ACTION_COMPUTE, DPC_ACTION_START}) || isNeededZero(a);
      }))
    return false;
  actions.erase(actions.begin() + static_cast<long>(at));
  return true;
}

bool Mutant::dropWait() {
  uint64_t at = 0;
  if (!pick(&at, [&](auto &a) { return a.kind == DPC_ACTION_WAIT; }))
    return false;
  actions.erase(actions.begin() + static_cast<long>(at));
  return true;
}

/// Not of a zero: nothing happens between the two.
bool Mutant::duplicate() {
  uint64_t at = 0;
  if (!pick(&at, [&](auto &a) {
        return isKind(a, {DPC_ACTION_COMPUTE, DPC_ACTION_START, DPC_ACTION_WAIT});
      }))
    return false;
  actions.insert(actions.begin() + static_cast<long>(at), dpc_action_t(actions[at]));
  return true;
}

std::vector<Mutant::Use> Mutant::usesOf(uint64_t index) const {
  std::vector<Use> uses;
  const dpc_action_t *action = &actions[index];
  auto add = [&](const dpc_buffer_t &buffer, uint64_t elements, bool isWrite) {
    if (elements == Extents::kNone)
      return;
    const uint64_t member = places.indexOf(action->group, rank);
    uses.push_back({plan::rangeOf(buffer.space, buffer.offset, 0, 0, member, buffer.index_stride,
                                  elements * dpc_dtype_size(action->dtype)),
                    isWrite, buffer.buffer});
  };
  if (action->kind == DPC_ACTION_COMPUTE) {
    const dpc_function_t &function = program.functions[action->function];
    const auto *frames = static_cast<const dpc_frame_t *>(action->args);
    for (uint64_t i = 0; i < function.access_count; ++i) {
      const dpc_access_t &a = function.accesses[i];
      const uint64_t base = a.frame ? frames[a.frame - 1].offset : 0;
      uses.push_back({plan::rangeOf(a.space, base + a.offset, 0, 0, places.indexOf(a.family, rank),
                                    a.index_stride, a.bytes),
                      a.kind != DPC_ACCESS_READ, a.frame ? frames[a.frame - 1].buffer : a.buffer});
    }
  } else if (action->kind == DPC_ACTION_ZERO) {
    add(action->out, action->count, true);
  } else {
    // A wait ends what the last start of its event began.
    while (action->kind == DPC_ACTION_WAIT && index > 0)
      if (actions[--index].kind == DPC_ACTION_START && actions[index].event == action->event)
        action = &actions[index];
    if (action->kind == DPC_ACTION_START && action->op != DPC_OP_BARRIER) {
      const Extents extents =
          extentsOf(action->op, action->count, program.families[action->group].group_size,
                    places.indexOf(action->group, rank) == action->peer);
      add(action->in, extents.in, false);
      add(action->out, extents.out, true);
    }
  }
  return uses;
}

/// Whether one of two actions writes what the other uses.
bool Mutant::conflict(uint64_t a, uint64_t b) const {
  for (const Use &first : usesOf(a))
    for (const Use &second : usesOf(b))
      if ((first.isWrite || second.isWrite) && first.range.overlaps(second.range))
        return true;
  return false;
}

/// Whether this rank reads bytes of `range` as those of the buffer.
bool Mutant::isRead(const plan::ByteRange &range, uint32_t buffer) const {
  for (uint64_t i = 0; i < actions.size(); ++i)
    for (const Use &use : usesOf(i))
      if (!use.isWrite && use.buffer == buffer && use.range.overlaps(range))
        return true;
  return false;
}

plan::ByteRange Mutant::rangeOfZero(const dpc_action_t &action) const {
  return plan::rangeOf(action.out.space, action.out.offset, 0, 0,
                       places.indexOf(action.group, rank), action.out.index_stride,
                       action.count * dpc_dtype_size(action.dtype));
}

/// A zero of bytes that this rank reads: of the padding of a bucket it may read
/// none.
bool Mutant::isNeededZero(const dpc_action_t &action) const {
  return action.kind == DPC_ACTION_ZERO && isRead(rangeOfZero(action), action.out.buffer);
}

/// A zero that goes into a loop, or out of it, means something else where the
/// loop writes its bytes and the rank reads them.
bool Mutant::crossingMatters(uint64_t border, uint64_t zero) const {
  const uint64_t other = actions[border].jump, begin = std::min(border, other),
                 end = std::max(border, other);
  const plan::ByteRange range = rangeOfZero(actions[zero]);
  for (uint64_t i = begin; i < end; ++i)
    for (const Use &use : usesOf(i))
      if (i != zero && use.isWrite && use.range.overlaps(range))
        return isNeededZero(actions[zero]);
  return false;
}

/// Two neighbours have one order only where one writes what the other uses,
/// where both are starts in one group (of messages: to, or from, one rank) or
/// belong to one event, or where one is the border of a loop of more than one
/// turn. Two zeros, or two waits, have none.
bool Mutant::swapMatters(uint64_t first) const {
  const dpc_action_t &a = actions[first], &b = actions[first + 1];
  const bool aIsBorder = isKind(a, {DPC_ACTION_LOOP_BEGIN, DPC_ACTION_LOOP_END}),
             bIsBorder = isKind(b, {DPC_ACTION_LOOP_BEGIN, DPC_ACTION_LOOP_END});
  if (aIsBorder || bIsBorder) {
    const dpc_action_t &border = aIsBorder ? a : b;
    const uint64_t turns =
        border.kind == DPC_ACTION_LOOP_BEGIN ? border.count : actions[border.jump].count;
    const uint64_t zero = aIsBorder ? first + 1 : first;
    if (actions[zero].kind == DPC_ACTION_ZERO &&
        !crossingMatters(aIsBorder ? first : first + 1, zero))
      return false;
    return aIsBorder != bIsBorder && turns > 1;
  }
  if (a.kind == b.kind && isKind(a, {DPC_ACTION_ZERO, DPC_ACTION_WAIT}))
    return false;
  if (a.kind == DPC_ACTION_START && b.kind == DPC_ACTION_START && a.group == b.group &&
      (isMessage(a) || isMessage(b) ? a.op == b.op && a.peer == b.peer : true))
    return true;
  const bool areOfEvents = isKind(a, {DPC_ACTION_START, DPC_ACTION_WAIT}) &&
                           isKind(b, {DPC_ACTION_START, DPC_ACTION_WAIT});
  return (areOfEvents && a.event == b.event) || conflict(first, first + 1);
}

bool Mutant::swapNeighbours() {
  std::vector<uint64_t> found;
  for (uint64_t i = 0; i + 1 < actions.size(); ++i)
    if (swapMatters(i))
      found.push_back(i);
  if (found.empty())
    return false;
  const uint64_t at = found[below(found.size())];
  note(at);
  std::swap(actions[at], actions[at + 1]);
  return true;
}

bool Mutant::resizeCommunication() {
  uint64_t at = 0;
  if (!pick(&at, [](auto &a) { return a.kind == DPC_ACTION_START && a.count > 1; }))
    return false;
  uint64_t &count = actions[at].count;
  const uint64_t others[] = {count - 1, count + 1, count / 2, count * 2};
  count = others[below(4)];
  return true;
}

/// A larger zero may write what is overwritten before anyone reads it, a smaller
/// one may leave out what nobody reads.
bool Mutant::shrinkZero() {
  uint64_t at = 0;
  if (!pick(&at, [&](auto &a) { return isNeededZero(a) && a.count > 1; }))
    return false;
  plan::ByteRange left = rangeOfZero(actions[at]);
  actions[at].count -= 1 + below(actions[at].count - 1);
  left.begin = rangeOfZero(actions[at]).end;
  return isRead(left, actions[at].out.buffer);
}

bool Mutant::changeType() {
  uint64_t at = 0;
  if (!pick(&at, [](auto &a) { return a.kind == DPC_ACTION_START && a.op != DPC_OP_BARRIER; }))
    return false;
  actions[at].dtype = otherThan(actions[at].dtype, DPC_F64, DPC_DTYPE_COUNT);
  return true;
}

bool Mutant::changeReduction() {
  uint64_t at = 0;
  if (!pick(&at, [](auto &a) {
        return a.kind == DPC_ACTION_START &&
               (a.op == DPC_OP_ALL_REDUCE || a.op == DPC_OP_REDUCE_SCATTER);
      }))
    return false;
  actions[at].reduction = otherThan(actions[at].reduction, 0, DPC_REDUCTION_COUNT);
  return true;
}

bool Mutant::changeKind() {
  uint64_t at = 0;
  if (!pick(&at, [](auto &a) { return a.kind == DPC_ACTION_START; }))
    return false;
  actions[at].op = otherThan(actions[at].op, DPC_OP_ALL_REDUCE, DPC_OP_COUNT);
  return true;
}

bool Mutant::changeLogicalBuffer() {
  uint64_t at = 0;
  if (!pick(&at, [](auto &a) { return a.kind == DPC_ACTION_START; }))
    return false;
  actions[at].buffer_id += 1 + below(5);
  return true;
}

/// Elsewhere: a bit further, or where another buffer is.
bool Mutant::retarget() {
  uint64_t at = 0;
  if (!pick(&at, [&](auto &a) { return a.kind == DPC_ACTION_START || isNeededZero(a); }))
    return false;
  dpc_action_t &action = actions[at];
  const bool isInput = usesInput(action);
  dpc_buffer_t &buffer = isInput ? action.in : action.out;
  const uint64_t before = buffer.offset;
  if (below(2)) {
    buffer.offset += DPC_ALIGNMENT * (1 + below(4));
  } else {
    const dpc_logical_buffer_t &other = ranks[rank].buffers[below(ranks[rank].buffer_count)];
    buffer.offset = other.offset;
  }
  return buffer.offset != before;
}

/// Which buffer of an action is edited: one that it has.
bool Mutant::usesInput(const dpc_action_t &action) {
  if (action.kind != DPC_ACTION_START || action.op == DPC_OP_RECV)
    return false;
  return action.op == DPC_OP_SEND || below(2);
}

/// The first of a group is where it is whatever the stride.
bool Mutant::changeStride() {
  uint64_t at = 0;
  if (!pick(&at, [&](auto &a) {
        return a.kind == DPC_ACTION_START && places.indexOf(a.group, rank) != 0;
      }))
    return false;
  dpc_buffer_t &buffer = usesInput(actions[at]) ? actions[at].in : actions[at].out;
  buffer.index_stride += DPC_ALIGNMENT;
  return true;
}

bool Mutant::changeBufferName() {
  uint64_t at = 0;
  if (!pick(&at, [&](auto &a) { return a.kind == DPC_ACTION_START || isNeededZero(a); }))
    return false;
  dpc_action_t &action = actions[at];
  const bool isInput = usesInput(action);
  uint32_t &name = isInput ? action.in.buffer : action.out.buffer;
  name = otherThan(name, 0, static_cast<uint32_t>(ranks[rank].buffer_count) + 1);
  return true;
}

/// Not of a message: it goes to a rank, whatever the group is called.
bool Mutant::changeFamily() {
  uint64_t at = 0;
  if (program.family_count < 2 ||
      !pick(&at, [](auto &a) { return a.kind == DPC_ACTION_START && !isMessage(a); }))
    return false;
  actions[at].group = otherThan(actions[at].group, 0, program.family_count);
  return true;
}

/// Members compare it in every operation, not only where it is a root.
bool Mutant::changePeer() {
  uint64_t at = 0;
  if (!pick(&at, [](auto &a) { return a.kind == DPC_ACTION_START; }))
    return false;
  actions[at].peer = otherThan(actions[at].peer, 0, 4);
  return true;
}

bool Mutant::changeEvent() {
  uint64_t at = 0;
  if (!pick(&at, [&](auto &a) { return isKind(a, {DPC_ACTION_START, DPC_ACTION_WAIT}); }))
    return false;
  actions[at].event = otherThan(actions[at].event, 0, ranks[rank].event_count + 1);
  return true;
}

bool Mutant::changeLoopCount() {
  uint64_t at = 0;
  if (!pick(&at, [](auto &a) { return a.kind == DPC_ACTION_LOOP_BEGIN; }))
    return false;
  actions[at].count = otherThan(static_cast<uint32_t>(actions[at].count), 0,
                                static_cast<uint32_t>(actions[at].count) + 3);
  return true;
}

bool Mutant::changeFunction() {
  uint64_t at = 0;
  if (program.function_count < 2 ||
      !pick(&at, [](auto &a) { return a.kind == DPC_ACTION_COMPUTE; }))
    return false;
  actions[at].function = otherThan(actions[at].function, 0, program.function_count);
  return true;
}

/// Another one, or in a loop always the same; elsewhere the flag means nothing.
bool Mutant::changeMicrobatch() {
  uint64_t at = 0;
  if (!pick(&at, [](auto &a) { return a.kind == DPC_ACTION_COMPUTE; }))
    return false;
  int depth = 0;
  for (uint64_t i = 0; i < at; ++i)
    depth += (actions[i].kind == DPC_ACTION_LOOP_BEGIN) - (actions[i].kind == DPC_ACTION_LOOP_END);
  const bool repeats = depth > 0 && program.functions[actions[at].function].runs > 1;
  if (repeats && below(2))
    actions[at].flags ^= DPC_ACTION_MICRO_RELATIVE;
  else
    actions[at].micro += static_cast<int32_t>(1 + below(3));
  return true;
}

/// Whether an action adds to bytes of the buffer in `range`: it reads and writes
/// them, and reads none of them after that.
bool Mutant::addsTo(uint64_t index, const plan::ByteRange &range, uint32_t buffer) const {
  bool isRead = false, isAdded = false;
  if (actions[index].kind != DPC_ACTION_COMPUTE)
    return false;
  for (const Use &use : usesOf(index)) {
    if (use.buffer != buffer || !use.range.overlaps(range))
      continue;
    isAdded = use.isWrite && (isRead || isAdded);
    isRead = !use.isWrite;
  }
  return isAdded;
}

/// A zero with which a sum begins, and an action that adds a term to it.
bool Mutant::pickTerm(uint64_t *outZero, uint64_t *outTerm, bool isInLoop) {
  if (!pick(outZero, [&](auto &a) { return isNeededZero(a); }))
    return false;
  const dpc_action_t &zero = actions[*outZero];
  const plan::ByteRange range = rangeOfZero(zero);
  std::vector<uint64_t> terms;
  uint64_t turns = 1;
  for (uint64_t i = *outZero + 1; i < actions.size(); ++i) {
    if (actions[i].kind == DPC_ACTION_LOOP_BEGIN)
      turns = actions[i].count;
    else if (actions[i].kind == DPC_ACTION_LOOP_END)
      turns = 1;
    else if (addsTo(i, range, zero.out.buffer) && (turns > 1 || !isInLoop))
      terms.push_back(i);
  }
  if (terms.empty())
    return false;
  note(*outTerm = terms[below(terms.size())]);
  return true;
}

/// A sum begins anew behind one of its terms: the terms so far are lost.
bool Mutant::zeroAfterTerm() {
  uint64_t zero = 0, term = 0;
  if (!pickTerm(&zero, &term, /*isInLoop=*/false))
    return false;
  actions.insert(actions.begin() + static_cast<long>(term) + 1, dpc_action_t(actions[zero]));
  return true;
}

/// A sum begins anew for each microbatch: only the last one's term is left.
bool Mutant::zeroEachTerm() {
  uint64_t zero = 0, term = 0;
  if (!pickTerm(&zero, &term, /*isInLoop=*/true))
    return false;
  std::rotate(actions.begin() + static_cast<long>(zero),
              actions.begin() + static_cast<long>(zero) + 1,
              actions.begin() + static_cast<long>(term));
  return true;
}

/// The frames of an action, as a copy that can be edited; empty if it has none.
std::vector<dpc_frame_t> &Mutant::copyFrames(dpc_action_t &action) {
  const auto *old = static_cast<const dpc_frame_t *>(action.args);
  frames.emplace_back(old, old + program.functions[action.function].frame_count);
  action.args = frames.back().data();
  return frames.back();
}

bool Mutant::pickFrames(uint64_t *out, uint32_t least) {
  return pick(out, [&](const dpc_action_t &a) {
    return a.kind == DPC_ACTION_COMPUTE && program.functions[a.function].frame_count >= least;
  });
}

/// Whether the function of an action uses its frame `frame`: another function of the same piece may
/// be the one that does.
bool Mutant::usesFrame(const dpc_action_t &action, uint64_t frame) const {
  const dpc_function_t &function = program.functions[action.function];
  return std::any_of(function.accesses, function.accesses + function.access_count,
                     [&](const dpc_access_t &a) { return a.frame == frame + 1; });
}

bool Mutant::moveFrame() {
  uint64_t at = 0;
  if (!pickFrames(&at, 1))
    return false;
  std::vector<dpc_frame_t> &own = copyFrames(actions[at]);
  const uint64_t frame = below(own.size());
  own[frame].offset += DPC_ALIGNMENT * (1 + below(4));
  return usesFrame(actions[at], frame);
}

bool Mutant::changeFrame() {
  uint64_t at = 0;
  if (!pickFrames(&at, 1))
    return false;
  std::vector<dpc_frame_t> &own = copyFrames(actions[at]);
  const uint64_t frame = below(own.size());
  own[frame].buffer =
      otherThan(own[frame].buffer, 0, static_cast<uint32_t>(ranks[rank].buffer_count));
  return usesFrame(actions[at], frame);
}

bool Mutant::swapFrames() {
  uint64_t at = 0;
  if (!pickFrames(&at, 2))
    return false;
  std::vector<dpc_frame_t> &own = copyFrames(actions[at]);
  const uint64_t first = below(own.size()),
                 second = (first + 1 + below(own.size() - 1)) % own.size();
  if (own[first].buffer == own[second].buffer)
    return false;
  std::swap(own[first], own[second]);
  return usesFrame(actions[at], first) || usesFrame(actions[at], second);
}

/// The frames of another microbatch's run of the same function. Buffers that all microbatches share
/// are the same in both.
bool Mutant::swapMicrobatches() {
  uint64_t at = 0;
  if (!pickFrames(&at, 1))
    return false;
  std::vector<const void *> others;
  for (const dpc_action_t &other : actions)
    if (other.kind == DPC_ACTION_COMPUTE && other.function == actions[at].function &&
        other.micro != actions[at].micro)
      others.push_back(other.args);
  if (others.empty())
    return false;
  const auto *own = static_cast<const dpc_frame_t *>(actions[at].args);
  const auto *other = static_cast<const dpc_frame_t *>(others[below(others.size())]);
  bool differs = false;
  for (uint32_t i = 0; i < program.functions[actions[at].function].frame_count; ++i)
    differs |= own[i].buffer != other[i].buffer && usesFrame(actions[at], i);
  actions[at].args = other;
  return differs;
}

/// On a device, the operations of a rank move one after another. A receive that comes before a send
/// to the same rank, for which the other rank waits before it sends, never ends there. On a host,
/// where messages move at the same time, only the order among receives from one rank counts.
bool Mutant::advanceReceive() {
  uint64_t at = 0;
  if (!pick(&at, [](const dpc_action_t &a) {
        return a.kind == DPC_ACTION_START && a.op == DPC_OP_RECV;
      }))
    return false;
  std::vector<uint64_t> before;
  for (uint64_t i = 0; i < at; ++i)
    if (actions[i].kind == DPC_ACTION_START && actions[i].op == DPC_OP_RECV &&
        actions[i].peer == actions[at].peer && actions[i].group == actions[at].group &&
        actions[i].buffer_id != actions[at].buffer_id)
      before.push_back(i);
  if (before.empty())
    return false;
  const auto begin = actions.begin();
  std::rotate(begin + static_cast<long>(before[below(before.size())]),
              begin + static_cast<long>(at), begin + static_cast<long>(at) + 1);
  return true;
}

} // namespace dpc::test
