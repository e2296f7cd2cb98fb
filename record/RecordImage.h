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

/// A C table that becomes constant data of an LLVM module. dpc fills structs that the runtime's own
/// headers declare; `offsetof` gives the positions of the pointers in these structs. So the headers
/// are the only description of the layout.
///
///     RecordImage image;
///     dpc_function_t function = {};
///     function.entry = DPC_ENTRY_EVAL;
///     uint64_t at = image.append(function);
///     image.setPointer(at + offsetof(dpc_function_t, fn), code);
class RecordImage {
public:
  /// Appends a struct or a number, and returns its offset in bytes. Pointer fields of the
  /// struct must be null. The caller must append values of one type, as in a C array.
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

  /// Sets the pointer at byte `offset` to `target`. If `target` is null, the pointer stays
  /// null.
  void setPointer(uint64_t offset, llvm::Constant *target) {
    if (target)
      pointers.push_back({offset, target});
  }

  bool empty() const { return bytes.empty(); }
  uint64_t size() const { return bytes.size(); }

  /// Emits the table as a global of `module`, which is private unless `isExternal`. Returns
  /// null if the table is empty.
  llvm::GlobalVariable *emit(llvm::Module &module, llvm::StringRef name, bool isExternal = false);

private:
  std::string bytes;
  std::vector<std::pair<uint64_t, llvm::Constant *>> pointers;
};

/// Adds strings and raw bytes to the constant data of a module. Stores equal strings once.
class ConstantPool {
public:
  /// Unless `outside` is null, it receives the bytes that addOutsideBytes adds.
  explicit ConstantPool(llvm::Module &module, std::vector<OutsideValue> *outside = nullptr)
      : module(module), outside(outside) {}

  /// Adds a string with a terminating NUL.
  llvm::Constant *getString(llvm::StringRef text);
  /// Adds a copy of the bytes, aligned to 64 bytes.
  llvm::Constant *addBytes(llvm::StringRef bytes, llvm::StringRef name);
  /// Adds bytes without a copy: declares a symbol and adds the bytes to `outside`. The
  /// bytes must stay in memory until the program is written. If `outside` is null, does the
  /// same as addBytes.
  llvm::Constant *addOutsideBytes(llvm::StringRef bytes, llvm::StringRef name);
  /// Adds an array of 64-bit integers. Returns null if the array is empty.
  llvm::Constant *addIntegers(llvm::ArrayRef<int64_t> values, llvm::StringRef name);

private:
  llvm::Module &module;
  std::vector<OutsideValue> *outside;
  llvm::StringMap<llvm::Constant *> strings;
};

} // namespace dpc

#endif // DPC_RECORD_RECORDIMAGE_H
