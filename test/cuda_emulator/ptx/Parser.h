#ifndef DPC_TEST_CUDA_EMULATOR_PTX_PARSER_H
#define DPC_TEST_CUDA_EMULATOR_PTX_PARSER_H

#include "test/cuda_emulator/ptx/Lexer.h"
#include "test/cuda_emulator/ptx/Ptx.h"

namespace dpc::emulator {

/// Reads a PTX text: modules and kernels in Parser.cpp, what stands in a kernel in
/// ParseBody.cpp.
class Parser {
public:
  explicit Parser(std::string_view text) : tokens(lexPtx(text)) {}
  ModuleText run();

private:
  const Token &peek() const { return tokens[at]; }
  const Token &take() { return tokens[at].kind == Token::end ? tokens[at] : tokens[at++]; }
  [[noreturn]] void error(const std::string &message) const {
    throw PtxError(peek().line, message);
  }
  bool accept(std::string_view text) {
    if (!peek().is(text))
      return false;
    take();
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text))
      error("'" + std::string(text) + "' is expected at '" + std::string(peek().text) + "'");
  }
  std::string word();
  uint64_t integer();
  /// Skips the other words of the line that the last token stands in.
  void skipLine() {
    const int line = tokens[at - 1].line;
    while (peek().kind != Token::end && peek().line == line)
      take();
  }
  PtxType type(std::string_view dotted);

  Variable variable();
  std::vector<char> initialValue(PtxType element);
  KernelText kernel();
  void parameters(KernelText &kernel);
  void limits(KernelText &kernel);
  void body(KernelText &kernel);
  void registers(KernelText &kernel);
  Instruction instruction();
  Operand operand();
  Operand atom();
  void literal(std::string_view text, bool negative, Operand &into);

  std::vector<Token> tokens;
  size_t at = 0;
  int scopes = 0;                                          // number of nested scopes so far
  std::vector<std::map<std::string, std::string>> renamed; // by open scope
};

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_PTX_PARSER_H
