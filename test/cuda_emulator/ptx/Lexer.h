#ifndef DPC_TEST_CUDA_EMULATOR_PTX_LEXER_H
#define DPC_TEST_CUDA_EMULATOR_PTX_LEXER_H

#include <string>
#include <string_view>
#include <vector>

namespace dpc::emulator {

struct Token {
  enum Kind : unsigned char { word, string, symbol, end };
  Kind kind = end;
  int line = 0;
  std::string_view text;

  bool is(std::string_view other) const { return kind != string && text == other; }
};

/// The words and symbols of a PTX text, without comments; the last one is `end`.
/// A word is a name, a number, or dotted names: `%rd1`, `0f3F800000`, `ld.global.f32`.
/// Throws PtxError at a character that PTX does not have.
std::vector<Token> lexPtx(std::string_view text);

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_PTX_LEXER_H
