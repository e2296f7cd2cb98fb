#ifndef DPC_TEST_CUDA_EMULATOR_PTX_PTX_H
#define DPC_TEST_CUDA_EMULATOR_PTX_PTX_H

// A PTX module as data. Meaning of all of it: NVIDIA, "PTX ISA".

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dpc::emulator {

/// What is wrong with a PTX text, or not known here.
struct PtxError : std::runtime_error {
  PtxError(int line, const std::string &message)
      : std::runtime_error("PTX line " + std::to_string(line) + ": " + message) {}
};

/// A fundamental type: `.f32`, `.b64`, `.pred`, ..
struct PtxType {
  enum Kind : uint8_t {
    bits,
    unsignedInteger,
    signedInteger,
    real,
    bfloat,
    predicate,
    realPair,
    bfloatPair
  };
  Kind kind = bits;
  uint8_t width = 32; // in bits, 1 of a predicate

  bool isFloat() const { return kind == real || kind == bfloat || isPair(); }
  bool isPair() const { return kind == realPair || kind == bfloatPair; }
  bool isSigned() const { return kind == signedInteger; }
  PtxType asBits() const { return {kind == predicate ? predicate : bits, width}; }
  unsigned bytes() const { return width / 8u; }
};

/// The type with that name (without its dot), if there is one.
bool parseType(std::string_view name, PtxType &type);

/// An operand of an instruction.
struct Operand {
  enum Kind : uint8_t {
    name,    // a register, variable, parameter or label
    literal, // a number: its bits, or an integer's value
    address, // [text + offset]; text is "" for an absolute one
    list,    // {a, b, ..}
    pair,    // a|b
  };
  Kind kind = name;
  bool negated = false; // !p
  std::string text;
  uint64_t value = 0; // a literal's bits
  int64_t offset = 0; // of an address, in bytes
  std::vector<Operand> parts;
};

/// One instruction, or a label in its place (opcode ":").
struct Instruction {
  int line = 0;
  std::string guard; // the predicate of @p, "" if there is none
  bool guardNegated = false;
  std::string opcode;                 // `ld` of `ld.global.f32`
  std::vector<std::string> modifiers; // `global`, `f32`
  std::vector<PtxType> types;         // those modifiers that are types
  std::vector<Operand> operands;

  bool has(std::string_view modifier) const;
  /// The last type, as most instructions mean it; `.b32` if none is named.
  PtxType type() const { return types.empty() ? PtxType() : types.back(); }
};

/// A variable in global, constant, shared or local memory.
struct Variable {
  enum Space : uint8_t { global, shared, dynamicShared, local };
  int line = 0;
  Space space = global;
  std::string name;
  uint64_t bytes = 0;
  unsigned alignment = 1;
  std::vector<char> initial; // the first bytes; the others are 0
};

struct Parameter {
  std::string name;
  unsigned offset = 0, bytes = 0;
};

/// A register; nested scopes may declare a name again.
struct Register {
  std::string name;
  PtxType type;
};

/// One `.entry`.
struct KernelText {
  int line = 0;
  std::string name;
  std::vector<Parameter> parameters;
  unsigned parameterBytes = 0;
  unsigned maxThreads = 1024, requiredThreads = 0; // .maxntid, .reqntid
  std::vector<Register> registers;
  std::vector<Variable> variables;
  std::vector<Instruction> instructions;
};

struct ModuleText {
  std::vector<Variable> variables;
  std::vector<KernelText> kernels;
};

/// Reads a PTX text. Throws PtxError.
ModuleText parsePtx(std::string_view text);

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_PTX_PTX_H
