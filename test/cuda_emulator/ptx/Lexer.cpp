// Cuts a PTX text into words and symbols.
#include "test/cuda_emulator/ptx/Lexer.h"

#include "test/cuda_emulator/ptx/Ptx.h"

#include <cctype>

using namespace dpc::emulator;

static bool isWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$' ||
         c == '%';
}

std::vector<Token> dpc::emulator::lexPtx(std::string_view text) {
  std::vector<Token> tokens;
  int line = 1;
  auto startsWith = [&](size_t at, std::string_view what) {
    return text.substr(at, what.size()) == what;
  };
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    size_t next = at + 1;
    if (c == '\n') {
      ++line;
    } else if (startsWith(at, "//")) {
      next = std::min(text.find('\n', at), text.size());
    } else if (startsWith(at, "/*")) {
      next = text.find("*/", at);
      if (next == text.npos)
        throw PtxError(line, "a comment has no end");
      for (size_t i = at; i < next; ++i)
        line += text[i] == '\n';
      next += 2;
    } else if (c == '"') {
      next = text.find('"', at + 1);
      if (next == text.npos)
        throw PtxError(line, "a string has no end");
      tokens.push_back({Token::string, line, text.substr(at + 1, next - at - 1)});
      ++next;
    } else if (isWordCharacter(c)) {
      // `::` joins words: .shared::cta, .sync.aligned names of matrix loads.
      while (next < text.size() &&
             (isWordCharacter(text[next]) || (startsWith(next, "::") && next + 2 < text.size() &&
                                              isWordCharacter(text[next + 2]))))
        next += text[next] == ':' ? 2 : 1;
      tokens.push_back({Token::word, line, text.substr(at, next - at)});
    } else if (std::string_view("{}[]()<>,;:@!|=+-").find(c) != std::string_view::npos) {
      tokens.push_back({Token::symbol, line, text.substr(at, 1)});
    } else if (!std::isspace(static_cast<unsigned char>(c)) && c != '\0') {
      throw PtxError(line, std::string("the character '") + c + "' is not known");
    }
    at = next;
  }
  tokens.push_back({Token::end, line, ""});
  return tokens;
}
