#ifndef DPC_RECORD_RECORDIMAGE_H
#define DPC_RECORD_RECORDIMAGE_H

#include "record/ValuesObject.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace dpc {

/// A C table as constant data: structs of the runtime's own headers, filled by
/// the compiler, whose pointer fields are set by `offsetof`. So the layout is
/// the C compiler's, and no second description of it exists.
///
///     RecordImage image;
///     dpc_function_t function = {};
///     function.entry = DPC_ENTRY_EVAL;
///     uint64_t at = image.append(function);
///     image.setPointer(at + offsetof(dpc_function_t, fn), code);
class RecordImage {
public:
  /// Appends a struct or number and returns its offset. Pointer fields must be
  /// null. Alignment is that of a C array of T.
  template <typename T> uint64_t append(const T &value) {
    static_assert(std::is_trivially_copyable_v<T>);
    uint64_t at = bytes.size();
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
    return at;
  }

  /// Changes a number that was appended before.
  template <typename T> void overwrite(uint64_t offset, const T &value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(&bytes[offset], &value, sizeof(T));
  }

  /// Sets the pointer at byte `offset`; null leaves it null.
  void setPointer(uint64_t offset, llvm::Constant *target) {
    if (target)
      pointers.push_back({offset, target});
  }

  bool empty() const { return bytes.empty(); }
  uint64_t size() const { return bytes.size(); }

  /// The table as a private global of `module`, or as an external one; null if
  /// nothing was appended.
  llvm::GlobalVariable *emit(llvm::Module &module, llvm::StringRef name, bool isExternal = false);

private:
  std::string bytes;
  std::vector<std::pair<uint64_t, llvm::Constant *>> pointers;
};

/// Strings and raw bytes of a module's constant data, equal strings once.
class ConstantPool {
public:
  /// `outside`, unless null, takes what addOutsideBytes is given.
  explicit ConstantPool(llvm::Module &module, std::vector<OutsideValue> *outside = nullptr)
      : module(module), outside(outside) {}

  /// A NUL-terminated string.
  llvm::Constant *getString(llvm::StringRef text);
  /// Bytes aligned to 64.
  llvm::Constant *addBytes(llvm::StringRef bytes, llvm::StringRef name);
  /// The same for bytes that stay where they are until the program is written.
  llvm::Constant *addOutsideBytes(llvm::StringRef bytes, llvm::StringRef name);
  /// An array of 64-bit integers; null if empty.
  llvm::Constant *addIntegers(llvm::ArrayRef<int64_t> values, llvm::StringRef name);

private:
  llvm::Module &module;
  std::vector<OutsideValue> *outside;
  llvm::StringMap<llvm::Constant *> strings;
};

} // namespace dpc

#endif // DPC_RECORD_RECORDIMAGE_H
