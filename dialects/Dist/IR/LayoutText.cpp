// Prints and parses layouts. The grammar:
//
// layout  ::= (`scalar` | dim (`,` dim)*) partial?
// dim     ::= `[` segment (`+` segment)* `]`
// segment ::= integer | (`(` integer (`:` axis (`,` axis)*)? `)`)+
// partial ::= `partial` terms (`,` terms)*
// terms   ::= reduction `(` axis (`,` axis)* `)`

#include "dialects/Dist/IR/Layout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dpc::dist {

//===-- Printing ----------------------------------------------------------===//

static void printSegment(const Segment &segment, raw_ostream &os) {
  if (segment.factors.size() == 1 && segment.factors.front().axes.empty()) {
    os << segment.factors.front().size;
    return;
  }
  for (const Factor &factor : segment.factors) {
    os << '(' << factor.size;
    if (!factor.axes.empty())
      os << ": " << join(factor.axes, ",");
    os << ')';
  }
}

void print(const DimLayout &dim, raw_ostream &os) {
  os << '[';
  interleave(dim.segments, os, [&](const Segment &segment) { printSegment(segment, os); }, " + ");
  os << ']';
}

void print(const Layout &layout, raw_ostream &os) {
  if (layout.dims.empty())
    os << "scalar";
  interleaveComma(layout.dims, os, [&](const DimLayout &dim) { print(dim, os); });
  ArrayRef<Partial> rest = layout.partial;
  while (!rest.empty()) {
    os << (rest.size() == layout.partial.size() ? " partial " : ", ");
    Reduction reduction = rest.front().reduction;
    ArrayRef<Partial> same =
        rest.take_while([&](const Partial &partial) { return partial.reduction == reduction; });
    os << stringifyReduction(reduction) << '(';
    interleave(same, os, [&](const Partial &partial) { os << partial.axis; }, ",");
    os << ')';
    rest = rest.drop_front(same.size());
  }
}

std::string toString(const DimLayout &dim) {
  std::string text;
  raw_string_ostream os(text);
  print(dim, os);
  return text;
}

std::string toString(const Layout &layout) {
  std::string text;
  raw_string_ostream os(text);
  print(layout, os);
  return text;
}

//===-- Parsing -----------------------------------------------------------===//

namespace {

/// A recursive-descent parser. `whole` is the complete text, and `rest` is the
/// text that is not parsed yet. A parse function that fails sets `error` and
/// returns false.
struct Parser {
  StringRef whole, rest;
  std::string error;

  explicit Parser(StringRef text) : whole(text), rest(text) {}

  bool fail(const Twine &what) {
    size_t column = whole.size() - rest.size() + 1;
    StringRef found = rest.take_until([](char c) { return isSpace(c); }).take_front(20);
    error = ("column " + Twine(column) + ": " + what + ", found " +
             (found.empty() ? Twine("the end") : "'" + found + "'"))
                .str();
    return false;
  }
  bool accept(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  bool expect(StringRef token) { return accept(token) || fail("expected '" + token + "'"); }

  bool acceptWord(StringRef word) {
    rest = rest.ltrim();
    StringRef found = rest.take_while([](char c) { return isAlnum(c) || c == '_'; });
    if (found != word)
      return false;
    rest = rest.drop_front(word.size());
    return true;
  }

  bool parseSize(int64_t &size) {
    rest = rest.ltrim();
    StringRef digits = rest.take_while([](char c) { return isDigit(c); });
    if (digits.empty())
      return fail("expected a size");
    if (digits.getAsInteger(10, size))
      return fail("expected a size that fits 64 bits");
    if (size < 1)
      return fail("expected a size of at least 1");
    rest = rest.drop_front(digits.size());
    return true;
  }

  bool parseAxes(AxisNames &axes) {
    do {
      rest = rest.ltrim();
      StringRef name = rest.take_while([](char c) { return isAlnum(c) || c == '_'; });
      if (!isAxisName(name))
        return fail("expected an axis name");
      axes.push_back(name.str());
      rest = rest.drop_front(name.size());
    } while (accept(","));
    return true;
  }

  bool parseSegment(Segment &segment) {
    if (!accept("(")) {
      Factor factor;
      if (!rest.empty() && !isDigit(rest.front()))
        return fail("expected a size or '('");
      if (!parseSize(factor.size))
        return false;
      segment.factors.push_back(std::move(factor));
      return true;
    }
    do {
      Factor factor;
      if (!parseSize(factor.size) || (accept(":") && !parseAxes(factor.axes)) || !expect(")"))
        return false;
      segment.factors.push_back(std::move(factor));
    } while (accept("("));
    return true;
  }

  bool parseDim(DimLayout &dim) {
    if (!expect("["))
      return false;
    do {
      if (!parseSegment(dim.segments.emplace_back()))
        return false;
    } while (accept("+"));
    if (!checkedExtent(dim))
      return fail("expected an extent that fits 64 bits");
    return accept("]") || fail("expected '+' or ']'");
  }

  bool parsePartial(Layout &layout) {
    do {
      rest = rest.ltrim();
      StringRef word = rest.take_while([](char c) { return isAlpha(c); });
      std::optional<Reduction> reduction = symbolizeReduction(word);
      if (!reduction)
        return fail("expected 'sum', 'max' or 'min'");
      rest = rest.drop_front(word.size());
      AxisNames axes;
      if (!expect("(") || !parseAxes(axes) || !expect(")"))
        return false;
      for (std::string &axis : axes)
        layout.partial.push_back({std::move(axis), *reduction});
    } while (accept(","));
    return true;
  }

  bool parseLayout(Layout &layout) {
    if (!acceptWord("scalar")) {
      if (!rest.starts_with("["))
        return fail("expected '[' or 'scalar'");
      do {
        if (!parseDim(layout.dims.emplace_back()))
          return false;
      } while (accept(","));
    }
    return !acceptWord("partial") || parsePartial(layout);
  }
};

} // namespace

Expected<Layout> parseLayoutPrefix(StringRef &text) {
  Parser parser(text);
  Layout layout;
  if (!parser.parseLayout(layout))
    return createStringError(inconvertibleErrorCode(), parser.error);
  text = parser.rest;
  return layout;
}

Expected<Layout> parseLayout(StringRef text) {
  Parser parser(text);
  Layout layout;
  bool ok = parser.parseLayout(layout);
  if (ok && !parser.rest.trim().empty()) {
    parser.rest = parser.rest.ltrim();
    ok = parser.fail("expected the end of the layout");
  }
  if (!ok)
    return createStringError(inconvertibleErrorCode(), parser.error);
  return layout;
}

} // namespace dpc::dist
