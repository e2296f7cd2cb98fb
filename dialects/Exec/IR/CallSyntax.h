#ifndef DPC_DIALECTS_EXEC_IR_CALLSYNTAX_H
#define DPC_DIALECTS_EXEC_IR_CALLSYNTAX_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

#include <cstring>

namespace dpc::exec {

/// A visitor of the fields of the C struct that describes a library call. The printer
/// writes each field as `name = value`. The parser reads this text and sets the field.
/// One function per kind of field:
class CallFields {
public:
  virtual ~CallFields() = default;
  /// A number, e.g. `rows = 96`.
  virtual void number(llvm::StringRef name, uint64_t &value) = 0;
  /// As many numbers as `values` has, e.g. `strides = [1, 2]`.
  virtual void numbers(llvm::StringRef name, llvm::MutableArrayRef<uint64_t> values) = 0;
  /// 0 or 1, which the text writes as `false` or `true`.
  virtual void flag(llvm::StringRef name, uint32_t &value) = 0;
  /// An element type. The field holds its number in the runtime (DPC_F32, ..), and the
  /// text has the MLIR type, e.g. `f32`.
  virtual void type(llvm::StringRef name, uint32_t &dtype) = 0;
  /// An index in `words`. The text has the word, e.g. `epilogue = bias`.
  virtual void word(llvm::StringRef name, uint32_t &value,
                    llvm::ArrayRef<llvm::StringRef> words) = 0;
  /// A nested struct, in braces. `visit` visits the fields of the nested struct.
  virtual void group(llvm::StringRef name, llvm::function_ref<void()> visit) = 0;
};

/// A kind of library calls (dpc/calls.h) in IR. It knows the fields of the attribute
/// `#exec.call<KIND ..>`, how to verify them, and the words for reports. Each kind has
/// its own source file. The parameter `description` of the functions holds the bytes of
/// the kind's C struct, e.g. of a dpc_product_t.
class CallSyntax {
public:
  virtual ~CallSyntax() = default;

  /// The number of the kind in the runtime, DPC_CALL_*.
  virtual uint32_t getNumber() const = 0;
  /// The keyword of the kind in IR: "product".
  virtual llvm::StringRef getName() const = 0;
  /// The size of the C struct, which is the size of every `description`.
  virtual size_t getBytes() const = 0;
  /// Calls `fields` for every field of the C struct except reserved fields. Reads the
  /// struct from `description`, and writes it back after the visit.
  virtual void visit(CallFields &fields, std::string &description) const = 0;
  /// The number of buffers that the call has.
  virtual unsigned countBuffers(llvm::StringRef description) const = 0;
  /// Fails, with an error by `emitError`, if a field has a value that no library supports.
  virtual llvm::LogicalResult verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                     llvm::StringRef description) const = 0;

  // For reports.

  /// The plural that reports use for the calls: "products of matrices".
  virtual llvm::StringRef getTitle() const = 0;
  /// The library that performs the calls: "cuBLASLt".
  virtual llvm::StringRef getLibrary() const = 0;
  /// Whether `op`, an op in the body of a kernel, is a computation that a call of this
  /// kind could make. Reports count these ops, e.g. nn.dot for products.
  virtual bool computes(mlir::Operation *op) const = 0;
};

/// All kinds of library calls, in the order of their numbers.
llvm::ArrayRef<const CallSyntax *> callSyntaxes();
/// The kind with the number `number` (DPC_CALL_*); null if there is none.
const CallSyntax *findCallSyntax(uint32_t number);

const CallSyntax &productSyntax();     // ProductCall.cpp
const CallSyntax &convolutionSyntax(); // ConvolutionCall.cpp

/// Copies the bytes of a description to the C struct of its kind. The copy is needed
/// because the bytes may not be aligned.
template <typename Struct> Struct readCall(llvm::StringRef description) {
  Struct call;
  std::memcpy(&call, description.data(), sizeof call);
  return call;
}
/// Returns the bytes of a C struct, the description of the call.
template <typename Struct> std::string bytesOfCall(const Struct &call) {
  return std::string(reinterpret_cast<const char *>(&call), sizeof call);
}

} // namespace dpc::exec

#endif // DPC_DIALECTS_EXEC_IR_CALLSYNTAX_H
