// Prints, parses and verifies the attribute `#exec.call` for all kinds of library calls,
// and lists the kinds.

#include "dialects/Exec/IR/CallSyntax.h"

#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Interfaces/ElementTypes.h"

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

ArrayRef<const CallSyntax *> dpc::exec::callSyntaxes() {
  static const CallSyntax *const kinds[] = {&productSyntax(), &convolutionSyntax()};
  return kinds;
}

const CallSyntax *dpc::exec::findCallSyntax(uint32_t number) {
  for (const CallSyntax *kind : callSyntaxes())
    if (kind->getNumber() == number)
      return kind;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

namespace {
class CallPrinter : public CallFields {
public:
  CallPrinter(AsmPrinter &printer, MLIRContext *context) : printer(printer), context(context) {}

  void number(StringRef name, uint64_t &value) override { begin(name) << value; }
  void numbers(StringRef name, MutableArrayRef<uint64_t> values) override {
    begin(name) << "[";
    llvm::interleaveComma(values, printer);
    printer << "]";
  }
  void flag(StringRef name, uint32_t &value) override { begin(name) << (value ? "true" : "false"); }
  void type(StringRef name, uint32_t &dtype) override {
    begin(name) << elementTypeOf(dtype, context);
  }
  void word(StringRef name, uint32_t &value, ArrayRef<StringRef> words) override {
    begin(name) << words[value];
  }
  void group(StringRef name, function_ref<void()> visit) override {
    begin(name);
    printBraces(visit);
  }
  void printBraces(function_ref<void()> visit) {
    printer << "{";
    isFirst = true;
    visit();
    isFirst = false;
    printer << "}";
  }

private:
  AsmPrinter &begin(StringRef name) {
    printer << (isFirst ? "" : ", ") << name << " = ";
    isFirst = false;
    return printer;
  }

  AsmPrinter &printer;
  MLIRContext *context;
  bool isFirst = true;
};

/// Parses fields and sets them. After the first error it changes no further field.
class CallParser : public CallFields {
public:
  explicit CallParser(AsmParser &parser) : parser(parser) {}

  void number(StringRef name, uint64_t &value) override {
    parse(name, [&] { return parser.parseInteger(value); });
  }
  void numbers(StringRef name, MutableArrayRef<uint64_t> values) override {
    parse(name, [&]() -> ParseResult {
      SMLoc place = parser.getCurrentLocation();
      SmallVector<uint64_t> parsed;
      if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
            return parser.parseInteger(parsed.emplace_back());
          }))
        return failure();
      if (parsed.size() != values.size())
        return parser.emitError(place)
               << name << " has " << parsed.size() << " numbers, not " << values.size();
      llvm::copy(parsed, values.begin());
      return success();
    });
  }
  void flag(StringRef name, uint32_t &value) override { word(name, value, {"false", "true"}); }
  void type(StringRef name, uint32_t &dtype) override {
    parse(name, [&]() -> ParseResult {
      Type type;
      SMLoc place = parser.getCurrentLocation();
      if (parser.parseType(type))
        return failure();
      dtype = dtypeOf(type);
      if (!elementTypeOf(dtype, parser.getContext()))
        return parser.emitError(place) << "the runtime has no type " << type;
      return success();
    });
  }
  void word(StringRef name, uint32_t &value, ArrayRef<StringRef> words) override {
    parse(name, [&]() -> ParseResult {
      StringRef word;
      SMLoc place = parser.getCurrentLocation();
      if (parser.parseKeyword(&word))
        return failure();
      auto found = llvm::find(words, word);
      value = static_cast<uint32_t>(found - words.begin());
      return found != words.end() ? success()
                                  : parser.emitError(place)
                                        << name << " '" << word << "' is none of "
                                        << llvm::join(words, ", ");
    });
  }
  void group(StringRef name, function_ref<void()> visit) override {
    parse(name, [&] { return parseBraces(visit); });
  }
  ParseResult parseBraces(function_ref<void()> visit) {
    if (parser.parseLBrace())
      return failure();
    isFirst = true;
    visit();
    isFirst = false;
    return failure(hasFailed || parser.parseRBrace());
  }

private:
  void parse(StringRef name, function_ref<ParseResult()> parseValue) {
    hasFailed = hasFailed || (!isFirst && parser.parseComma());
    isFirst = false;
    hasFailed = hasFailed || parser.parseKeyword(name) || parser.parseEqual() || parseValue();
  }

  AsmParser &parser;
  bool isFirst = true, hasFailed = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

static void printBuffer(AsmPrinter &printer, const CallBuffer &buffer) {
  printer << buffer.buffer;
  if (buffer.offset != 0)
    printer << " at " << buffer.offset;
  if (buffer.bytes)
    printer << " for " << *buffer.bytes;
}

static ParseResult parseBuffer(AsmParser &parser, CallBuffer &buffer) {
  if (parser.parseInteger(buffer.buffer))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("at")) && parser.parseInteger(buffer.offset))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("for")))
    return parser.parseInteger(buffer.bytes.emplace());
  return success();
}

void CallAttr::print(AsmPrinter &printer) const {
  const CallSyntax *kind = findCallSyntax(getKind());
  std::string description = getDescription().str();
  printer << "<" << kind->getName() << " ";
  CallPrinter fields(printer, getContext());
  fields.printBraces([&] { kind->visit(fields, description); });
  printer << ", buffers = [";
  llvm::interleaveComma(getBuffers(), printer,
                        [&](const CallBuffer &buffer) { printBuffer(printer, buffer); });
  printer << "]>";
}

Attribute CallAttr::parse(AsmParser &parser, Type) {
  const SMLoc place = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseLess() || parser.parseKeyword(&name))
    return {};
  ArrayRef<const CallSyntax *> kinds = callSyntaxes();
  auto found =
      llvm::find_if(kinds, [&](const CallSyntax *kind) { return kind->getName() == name; });
  if (found == kinds.end()) {
    parser.emitError(place) << "no library call is a '" << name << "'";
    return {};
  }
  const CallSyntax &kind = **found;
  std::string description(kind.getBytes(), 0);
  CallParser fields(parser);
  SmallVector<CallBuffer> buffers;
  if (fields.parseBraces([&] { kind.visit(fields, description); }) || parser.parseComma() ||
      parser.parseKeyword("buffers") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parseBuffer(parser, buffers.emplace_back()); }) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(place); }, parser.getContext(), kind.getNumber(),
                    StringRef(description), ArrayRef<CallBuffer>(buffers));
}

LogicalResult CallAttr::verify(function_ref<InFlightDiagnostic()> emitError, uint32_t number,
                               StringRef description, ArrayRef<CallBuffer> buffers) {
  const CallSyntax *kind = findCallSyntax(number);
  if (!kind)
    return emitError() << "a library call of unknown kind " << number;
  if (description.size() != kind->getBytes())
    return emitError() << "a " << kind->getName() << " has a description of " << description.size()
                       << " bytes, not " << kind->getBytes();
  for (const CallBuffer &buffer : buffers)
    if (buffer.buffer < 0 || buffer.offset < 0 || buffer.bytes.value_or(0) < 0)
      return emitError() << "a library call has no buffer " << buffer.buffer << " at "
                         << buffer.offset << " for " << buffer.bytes.value_or(0) << " bytes";
  if (failed(kind->verify(emitError, description)))
    return failure();
  if (unsigned count = kind->countBuffers(description); count != buffers.size())
    return emitError() << "a " << kind->getName() << " has " << buffers.size() << " buffers, not "
                       << count;
  return success();
}
