#ifndef DPC_DIALECTS_EXEC_IR_CALLSYNTAX_H
#define DPC_DIALECTS_EXEC_IR_CALLSYNTAX_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

#include <cstring>

namespace dpc::exec {

/// Visits the fields of the C struct that describes a library call, in order: prints
/// or parses them as `name = value`.
class CallFields {
public:
  virtual ~CallFields() = default;
  virtual void number(llvm::StringRef name, uint64_t &value) = 0;
  /// A flag, written as false or true.
  virtual void flag(llvm::StringRef name, uint32_t &value) = 0;
  /// An element type (DPC_F32 etc.), written as the MLIR type.
  virtual void type(llvm::StringRef name, uint32_t &dtype) = 0;
  /// An index into `words`, written as the word at this index.
  virtual void word(llvm::StringRef name, uint32_t &value,
                    llvm::ArrayRef<llvm::StringRef> words) = 0;
  /// A nested struct, whose fields `visit` visits.
  virtual void group(llvm::StringRef name, llvm::function_ref<void()> visit) = 0;
};

/// A kind of library calls (dpc/calls.h) in IR: the fields, the verification and the
/// names of `#exec.call<KIND ..>`. Each kind is implemented in a file of its own. A
/// `description` has the bytes of the kind's C struct.
class CallSyntax {
public:
  virtual ~CallSyntax() = default;

  /// DPC_CALL_*.
  virtual uint32_t getNumber() const = 0;
  /// The keyword in IR.
  virtual llvm::StringRef getName() const = 0;
  /// The size of the C struct.
  virtual size_t getBytes() const = 0;
  /// Visits all fields except reserved ones.
  virtual void visit(CallFields &fields, std::string &description) const = 0;
  virtual unsigned countBuffers(llvm::StringRef description) const = 0;
  virtual llvm::LogicalResult verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                     llvm::StringRef description) const = 0;

  // For reports.

  /// The calls in words: "products of matrices".
  virtual llvm::StringRef getTitle() const = 0;
  /// The library that performs the calls: "cuBLASLt".
  virtual llvm::StringRef getLibrary() const = 0;
  /// Whether an op of a kernel computes what a call of this kind computes.
  virtual bool computes(mlir::Operation *op) const = 0;
};

/// All kinds, in the order of their numbers.
llvm::ArrayRef<const CallSyntax *> callSyntaxes();
/// The kind with this number; null if there is none.
const CallSyntax *findCallSyntax(uint32_t number);

const CallSyntax &productSyntax(); // ProductCall.cpp

/// Converts a description to the C struct `Struct` of its kind, and back.
template <typename Struct> Struct readCall(llvm::StringRef description) {
  Struct call;
  std::memcpy(&call, description.data(), sizeof call);
  return call;
}
template <typename Struct> std::string bytesOfCall(const Struct &call) {
  return std::string(reinterpret_cast<const char *>(&call), sizeof call);
}

} // namespace dpc::exec

#endif // DPC_DIALECTS_EXEC_IR_CALLSYNTAX_H
