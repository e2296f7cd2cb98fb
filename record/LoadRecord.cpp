// Loads the data of an object file into memory, and sets its pointers in the way in which
// the linker and the loader will do it. So a check reads exactly the record that was
// written to the file.

#include "record/LoadRecord.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace llvm;
using namespace dpc;

namespace {

/// The dummy to which all pointers to code and to other object files point.
char nothing[64];

class ObjectLoader {
public:
  ObjectLoader(const object::ELFObjectFileBase &object,
               std::vector<std::unique_ptr<char[]>> &memory)
      : object(object), memory(memory) {}

  Error run() {
    for (object::ELFSectionRef section : object.sections())
      if (isData(section))
        if (Error error = copy(section))
          return error;
    for (object::SectionRef relocations : object.sections()) {
      Expected<object::section_iterator> target = relocations.getRelocatedSection();
      if (!target)
        return target.takeError();
      if (*target != object.section_end() && isData(**target))
        for (object::ELFRelocationRef relocation : relocations.relocations())
          if (Error error = setPointer(**target, relocation))
            return error;
    }
    return Error::success();
  }

  Expected<const char *> find(StringRef name) const {
    for (object::SymbolRef symbol : object.symbols()) {
      Expected<StringRef> known = symbol.getName();
      if (!known)
        return known.takeError();
      if (*known == name)
        return addressOf(symbol);
    }
    return createStringError("the object has no symbol " + name);
  }

private:
  /// Whether a section is data of the program. The unwind table (.eh_frame) does not count,
  /// because no reader of the record needs it.
  static bool isData(object::ELFSectionRef section) {
    Expected<StringRef> name = section.getName();
    if (!name) {
      consumeError(name.takeError());
      return false;
    }
    return section.getFlags() & ELF::SHF_ALLOC && !(section.getFlags() & ELF::SHF_EXECINSTR) &&
           *name != ".eh_frame";
  }

  Error copy(object::SectionRef section) {
    constexpr uint64_t alignment = 64; // alignment of every table
    const uint64_t bytes = section.getSize();
    memory.emplace_back(new char[bytes + alignment]());
    auto at = reinterpret_cast<char *>(
        alignTo(reinterpret_cast<uintptr_t>(memory.back().get()), alignment));
    if (!section.isBSS()) {
      Expected<StringRef> contents = section.getContents();
      if (!contents)
        return contents.takeError();
      std::memcpy(at, contents->data(), contents->size());
    }
    places[section.getIndex()] = at;
    return Error::success();
  }

  Expected<const char *> addressOf(object::SymbolRef symbol) const {
    Expected<object::section_iterator> section = symbol.getSection();
    if (!section)
      return section.takeError();
    if (*section == object.section_end())
      return nothing;
    const char *place = places.lookup((*section)->getIndex());
    if (!place)
      return nothing;
    Expected<uint64_t> value = symbol.getValue();
    if (!value)
      return value.takeError();
    return place + *value;
  }

  Error setPointer(object::SectionRef section, object::ELFRelocationRef relocation) const {
    const uint64_t type = relocation.getType(), offset = relocation.getOffset();
    const bool isPointer =
        (object.getEMachine() == ELF::EM_X86_64 && type == ELF::R_X86_64_64) ||
        (object.getEMachine() == ELF::EM_AARCH64 && type == ELF::R_AARCH64_ABS64);
    if (!isPointer || section.getSize() < sizeof(char *) ||
        offset > section.getSize() - sizeof(char *))
      return createStringError("byte " + Twine(offset) +
                               " of a section of the object has relocation " + Twine(type) +
                               ", which is no pointer");
    Expected<const char *> address = addressOf(*relocation.getSymbol());
    if (!address)
      return address.takeError();
    Expected<int64_t> addend = relocation.getAddend();
    if (!addend)
      return addend.takeError();
    // A pointer to the dummy ignores the addend, so that it stays inside the dummy.
    const char *pointer = *address == nothing ? nothing : *address + *addend;
    std::memcpy(places.lookup(section.getIndex()) + offset, &pointer, sizeof pointer);
    return Error::success();
  }

  const object::ELFObjectFileBase &object;
  std::vector<std::unique_ptr<char[]>> &memory;
  DenseMap<uint64_t, char *> places; ///< address of each loaded section, keyed by its index
};

} // namespace

Expected<std::unique_ptr<LoadedRecord>> LoadedRecord::load(MemoryBufferRef buffer) {
  Expected<std::unique_ptr<object::ObjectFile>> file =
      object::ObjectFile::createELFObjectFile(buffer);
  if (!file)
    return file.takeError();
  const auto &elf = cast<object::ELFObjectFileBase>(**file);
  if (elf.getBytesInAddress() != sizeof(void *))
    return createStringError("the object is for a machine of other pointers");
  std::unique_ptr<LoadedRecord> record(new LoadedRecord());
  ObjectLoader loader(elf, record->memory);
  if (Error error = loader.run())
    return std::move(error);
  Expected<const char *> found = loader.find("dpc_program");
  if (!found)
    return found.takeError();
  record->program = reinterpret_cast<const dpc_program_t *>(*found);
  return record;
}
