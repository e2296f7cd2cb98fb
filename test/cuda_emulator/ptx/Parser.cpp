// Reads a PTX module: directives, variables, heads of kernels.
#include "test/cuda_emulator/ptx/Parser.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

using namespace dpc::emulator;

std::string Parser::word() {
  if (peek().kind != Token::word)
    error("a name is expected at '" + std::string(peek().text) + "'");
  return std::string(take().text);
}

uint64_t Parser::integer() {
  bool negative = accept("-");
  Operand number;
  literal(word(), negative, number);
  return number.value;
}

PtxType Parser::type(std::string_view dotted) {
  PtxType result;
  if (dotted.empty() || dotted[0] != '.' || !parseType(dotted.substr(1), result))
    error("'" + std::string(dotted) + "' is no type");
  return result;
}

/// The values of `= {1, 2, ..}` or `= 1`.
std::vector<char> Parser::initialValue(PtxType element) {
  std::vector<char> bytes;
  auto one = [&] {
    if (!peek().is("-") && !std::isdigit(static_cast<unsigned char>(peek().text[0])))
      error("only numbers may initialise a variable");
    const uint64_t value = integer();
    const char *from = reinterpret_cast<const char *>(&value);
    bytes.insert(bytes.end(), from, from + element.bytes());
  };
  if (!accept("{")) {
    one();
    return bytes;
  }
  do
    one();
  while (accept(","));
  expect("}");
  return bytes;
}

/// `.shared .align 16 .b8 name[64] = {..};`, from its first word on.
Variable Parser::variable() {
  Variable result;
  PtxType element;
  result.line = peek().line;
  bool isExternal = false, isShared = false;
  for (; peek().text.substr(0, 1) == ".";) {
    const std::string directive = word();
    if (directive == ".align") {
      result.alignment = static_cast<unsigned>(integer());
    } else if (directive == ".extern") {
      isExternal = true;
    } else if (directive == ".shared") {
      isShared = true;
    } else if (directive == ".local") {
      result.space = Variable::local;
    } else if (directive != ".global" && directive != ".const" && directive != ".visible" &&
               directive != ".weak") {
      element = type(directive);
    }
  }
  result.name = word();
  uint64_t count = 1;
  if (accept("[")) {
    count = peek().is("]") ? 0 : integer();
    expect("]");
  }
  result.alignment = std::max(result.alignment, element.bytes());
  result.bytes = count * element.bytes();
  if (isShared)
    result.space = isExternal ? Variable::dynamicShared : Variable::shared;
  if (accept("="))
    result.initial = initialValue(element);
  expect(";");
  return result;
}

void Parser::parameters(KernelText &kernel) {
  if (!accept("("))
    return;
  while (!accept(")")) {
    PtxType element;
    unsigned alignment = 0;
    for (; peek().text.substr(0, 1) == ".";) {
      const std::string directive = word();
      if (directive == ".align")
        alignment = static_cast<unsigned>(integer());
      else if (directive != ".param" && directive != ".ptr" && directive != ".global")
        element = type(directive);
    }
    Parameter parameter;
    parameter.name = word();
    parameter.bytes = element.bytes();
    if (accept("[")) {
      parameter.bytes *= static_cast<unsigned>(integer());
      expect("]");
    }
    alignment = std::max({alignment, element.bytes(), 1u});
    parameter.offset = (kernel.parameterBytes + alignment - 1) / alignment * alignment;
    kernel.parameterBytes = parameter.offset + parameter.bytes;
    kernel.parameters.push_back(parameter);
    accept(",");
  }
}

/// `.maxntid 128, 1, 1` and its kin, before the body.
void Parser::limits(KernelText &kernel) {
  while (!peek().is("{")) {
    const std::string directive = word();
    uint64_t product = 1;
    do
      product *= integer();
    while (accept(","));
    if (directive == ".maxntid")
      kernel.maxThreads = static_cast<unsigned>(product);
    else if (directive == ".reqntid")
      kernel.requiredThreads = static_cast<unsigned>(product);
    else if (directive != ".minnctapersm" && directive != ".maxnreg")
      error("the directive " + directive + " is not known");
  }
}

KernelText Parser::kernel() {
  KernelText result;
  result.line = peek().line;
  result.name = word();
  parameters(result);
  limits(result);
  expect("{");
  renamed.assign(1, {});
  body(result);
  return result;
}

ModuleText Parser::run() {
  ModuleText module;
  while (peek().kind != Token::end) {
    if (accept(".version") || accept(".target") || accept(".address_size") || accept(".file") ||
        accept(".loc")) {
      skipLine();
    } else if (peek().is(".func")) {
      error("functions other than .entry are not known");
    } else if (accept(".entry")) {
      module.kernels.push_back(kernel());
    } else if (peek().is(".visible") && tokens[at + 1].is(".entry")) {
      take();
    } else if (peek().text.substr(0, 1) == ".") {
      if (at + 1 < tokens.size() && tokens[at + 1].is(".func"))
        take();
      else
        module.variables.push_back(variable());
    } else {
      error("'" + std::string(peek().text) + "' is not expected here");
    }
  }
  return module;
}

ModuleText dpc::emulator::parsePtx(std::string_view text) { return Parser(text).run(); }
