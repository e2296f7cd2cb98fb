#include "planning/ScheduleKind.h"

using namespace llvm;
using namespace dpc;

StringRef dpc::nameOf(ScheduleKind kind) {
  switch (kind) {
  case ScheduleKind::gpipe:
    return "gpipe";
  case ScheduleKind::oneForwardOneBackward:
    return "1f1b";
  case ScheduleKind::interleaved:
    return "interleaved";
  case ScheduleKind::zeroBubble:
    return "zero-bubble";
  }
  return "";
}

std::optional<ScheduleKind> dpc::parseSchedule(StringRef name) {
  for (ScheduleKind kind : {ScheduleKind::gpipe, ScheduleKind::oneForwardOneBackward,
                            ScheduleKind::interleaved, ScheduleKind::zeroBubble})
    if (name == nameOf(kind))
      return kind;
  return std::nullopt;
}
