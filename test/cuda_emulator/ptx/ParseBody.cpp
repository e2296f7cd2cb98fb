// Reads what stands in a kernel: registers, labels, instructions, operands.
#include "test/cuda_emulator/ptx/Parser.h"

#include <cctype>
#include <cstdlib>

using namespace dpc::emulator;

static std::vector<std::string> splitDots(std::string_view word) {
  std::vector<std::string> parts;
  while (!word.empty()) {
    size_t dot = word.find('.');
    if (dot != 0)
      parts.emplace_back(word.substr(0, dot));
    word = dot == word.npos ? std::string_view() : word.substr(dot + 1);
  }
  return parts;
}

void Parser::literal(std::string_view text, bool negative, Operand &into) {
  const std::string number(text);
  char *end = nullptr;
  into.kind = Operand::literal;
  if (number.size() > 2 && number[0] == '0' &&
      std::string("fFdD").find(number[1]) != std::string::npos) {
    into.value = std::strtoull(number.c_str() + 2, &end, 16);
  } else {
    into.value = std::strtoull(number.c_str(), &end, 0);
    if (*end == 'U') // as in 4U
      ++end;
  }
  if (*end || number.empty())
    error("'" + number + "' is no number");
  if (negative)
    into.value = -into.value;
}

/// `%r<12>`, or names one by one. In a nested scope, as inline assembly opens
/// one, a register gets a name of its own.
void Parser::registers(KernelText &kernel) {
  const PtxType element = type(word());
  do {
    const std::string name = word();
    if (accept("<")) {
      const uint64_t count = integer();
      expect(">");
      for (uint64_t i = 0; i < count; ++i)
        kernel.registers.push_back({name + std::to_string(i), element});
      continue;
    }
    std::string own = name;
    if (renamed.size() > 1)
      own += "@" + std::to_string(scopes);
    renamed.back()[name] = own;
    kernel.registers.push_back({own, element});
  } while (accept(","));
  expect(";");
}

void Parser::body(KernelText &kernel) {
  while (!renamed.empty()) {
    if (peek().kind == Token::end)
      error("the body of " + kernel.name + " has no end");
    if (accept("{")) {
      ++scopes;
      renamed.emplace_back();
    } else if (accept("}")) {
      renamed.pop_back();
    } else if (accept(".reg")) {
      registers(kernel);
    } else if (accept(".pragma")) {
      while (!accept(";"))
        take();
    } else if (accept(".loc") || accept(".file")) {
      skipLine();
    } else if (peek().text.substr(0, 1) == ".") {
      kernel.variables.push_back(variable());
    } else if (at + 1 < tokens.size() && tokens[at + 1].is(":") && peek().kind == Token::word) {
      Instruction label;
      label.line = peek().line;
      label.opcode = ":";
      label.operands.emplace_back();
      label.operands[0].text = word();
      expect(":");
      kernel.instructions.push_back(label);
    } else {
      kernel.instructions.push_back(instruction());
    }
  }
}

Instruction Parser::instruction() {
  Instruction result;
  result.line = peek().line;
  if (accept("@")) {
    result.guardNegated = accept("!");
    Operand guard = operand();
    result.guard = guard.text;
  }
  std::vector<std::string> parts = splitDots(word());
  if (parts.empty())
    error("an instruction is expected");
  result.opcode = parts[0];
  result.modifiers.assign(parts.begin() + 1, parts.end());
  for (const std::string &modifier : result.modifiers) {
    PtxType element;
    if (parseType(modifier, element))
      result.types.push_back(element);
  }
  if (accept(";"))
    return result;
  do {
    Operand first = operand();
    if (accept("|")) {
      Operand both;
      both.kind = Operand::pair;
      both.parts = {first, operand()};
      first = both;
    }
    result.operands.push_back(first);
  } while (accept(","));
  expect(";");
  return result;
}

/// A name or a number.
Operand Parser::atom() {
  Operand result;
  const bool negative = accept("-");
  const std::string text = word();
  if (negative || std::isdigit(static_cast<unsigned char>(text[0]))) {
    literal(text, negative, result);
    return result;
  }
  result.text = text;
  for (auto scope = renamed.rbegin(); scope != renamed.rend(); ++scope)
    if (auto found = scope->find(text); found != scope->end()) {
      result.text = found->second;
      break;
    }
  return result;
}

Operand Parser::operand() {
  Operand result;
  if (accept("!")) {
    result = atom();
    result.negated = true;
  } else if (accept("{")) {
    result.kind = Operand::list;
    do
      result.parts.push_back(operand());
    while (accept(","));
    expect("}");
  } else if (accept("[")) {
    Operand base = atom();
    result.kind = Operand::address;
    result.text = base.text;
    result.offset = base.kind == Operand::literal ? static_cast<int64_t>(base.value) : 0;
    if (accept("+"))
      result.offset += static_cast<int64_t>(integer());
    else if (peek().is("-"))
      result.offset += static_cast<int64_t>(integer());
    expect("]");
  } else {
    result = atom();
  }
  return result;
}
