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

/// A C table as constant data. It consists of structs from the runtime's own
/// headers, which the compiler fills; pointer fields are set by `offsetof`. So
/// the C compiler determines the layout, and there is no second description of
/// it.
///
///     RecordImage image;
///     dpc_function_t function = {};
///     function.entry = DPC_ENTRY_EVAL;
///     uint64_t at = image.append(function);
///     image.setPointer(at + offsetof(dpc_function_t, fn), code);
class RecordImage {
public:
  /// Appends a struct or number and returns its offset. Pointer fields must be
  /// null. Elements are aligned as in a C array of T.
  template <typename T> uint64_t append(const T &value) {
    static_assert(std::is_trivially_copyable_v<T>);
    uint64_t at = bytes.size();
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
    return at;
  }

  /// Replaces a number that was appended earlier.
  template <typename T> void overwrite(uint64_t offset, const T &value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(&bytes[offset], &value, sizeof(T));
  }

  /// Sets the pointer at byte `offset`; a null target leaves it null.
  void setPointer(uint64_t offset, llvm::Constant *target) {
    if (target)
      pointers.push_back({offset, target});
  }

  bool empty() const { return bytes.empty(); }
  uint64_t size() const { return bytes.size(); }

  /// Emits the table as a private global of `module`, or as an external one.
  /// Null if nothing was appended.
  llvm::GlobalVariable *emit(llvm::Module &module, llvm::StringRef name, bool isExternal = false);

private:
  std::string bytes;
  std::vector<std::pair<uint64_t, llvm::Constant *>> pointers;
};

/// Strings and raw bytes in a module's constant data. Equal strings are stored
/// once.
class ConstantPool {
public:
  /// Unless `outside` is null, it receives the bytes of addOutsideBytes.
  explicit ConstantPool(llvm::Module &module, std::vector<OutsideValue> *outside = nullptr)
      : module(module), outside(outside) {}

  /// Adds a NUL-terminated string.
  llvm::Constant *getString(llvm::StringRef text);
  /// Adds bytes, aligned to 64.
  llvm::Constant *addBytes(llvm::StringRef bytes, llvm::StringRef name);
  /// Adds bytes without a copy if `outside` is set. They must stay in place
  /// until the program is written.
  llvm::Constant *addOutsideBytes(llvm::StringRef bytes, llvm::StringRef name);
  /// Adds an array of 64-bit integers; null if it is empty.
  llvm::Constant *addIntegers(llvm::ArrayRef<int64_t> values, llvm::StringRef name);

private:
  llvm::Module &module;
  std::vector<OutsideValue> *outside;
  llvm::StringMap<llvm::Constant *> strings;
};

} // namespace dpc

#endif // DPC_RECORD_RECORDIMAGE_H
