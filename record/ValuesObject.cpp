// Writes initial values directly into an ELF object file (System V gABI 4.1). LLVM would copy the
// data four times, and the data may have gigabytes.

#include "record/ValuesObject.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/MC/StringTableBuilder.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Triple.h"

#include <cstring>

using namespace llvm;
using namespace llvm::ELF;
using namespace dpc;

namespace {

constexpr uint64_t kAlignment = 64;
enum Section { kNone, kValues, kSymbols, kNames, kSectionNames, kStack, kCount };

/// The EM_* constant of a machine. EM_NONE if this file cannot write its object files.
uint16_t machineOf(const Triple &triple) {
  if (!triple.isOSBinFormatELF() || !triple.isLittleEndian())
    return EM_NONE;
  switch (triple.getArch()) {
  case Triple::x86_64:
    return EM_X86_64;
  case Triple::aarch64:
    return EM_AARCH64;
  default:
    return EM_NONE;
  }
}

template <typename T> void writeStruct(raw_ostream &os, const T &value) {
  os.write(reinterpret_cast<const char *>(&value), sizeof(T));
}

void writeTable(raw_ostream &os, const StringTableBuilder &table) {
  std::string bytes(table.getSize(), '\0');
  table.write(reinterpret_cast<uint8_t *>(bytes.data()));
  os << bytes;
}

/// Makes the header of a section with `size` bytes. The section begins at the first aligned
/// offset that is not below `at`. Sets `at` to the end of the section.
Elf64_Shdr place(uint32_t name, uint32_t type, uint64_t size, uint64_t alignment, uint64_t &at) {
  Elf64_Shdr header = {};
  header.sh_name = name;
  header.sh_type = type;
  header.sh_size = size;
  header.sh_addralign = alignment;
  header.sh_offset = alignTo(at, alignment);
  at = header.sh_offset + size;
  return header;
}

} // namespace

// The format of the file is ELF-64, as in System V ABI, "Object files", gABI 4.1.
Error dpc::writeValuesObject(ArrayRef<OutsideValue> values, StringRef triple, raw_ostream &os) {
  const uint16_t machine = machineOf(Triple(triple));
  if (machine == EM_NONE)
    return createStringError("cannot write an object file for " + triple);
  StringTableBuilder names(StringTableBuilder::ELF), sectionNames(StringTableBuilder::ELF);
  for (const OutsideValue &value : values)
    names.add(value.symbol);
  static constexpr StringLiteral sections[kCount] = {
      "", ".rodata.dpc_values", ".symtab", ".strtab", ".shstrtab", ".note.GNU-stack"};
  for (StringRef section : sections)
    sectionNames.add(section);
  names.finalizeInOrder();
  sectionNames.finalizeInOrder();

  // In ELF, the first symbol must be empty.
  std::vector<Elf64_Sym> symbols(1);
  uint64_t size = 0;
  for (const OutsideValue &value : values) {
    Elf64_Sym symbol = {};
    symbol.st_name = names.getOffset(value.symbol);
    symbol.setBindingAndType(STB_GLOBAL, STT_OBJECT);
    symbol.st_other = STV_HIDDEN;
    symbol.st_shndx = kValues;
    symbol.st_value = size;
    symbol.st_size = value.bytes.size();
    symbols.push_back(symbol);
    size += alignTo(value.bytes.size(), kAlignment);
  }
  uint64_t at = sizeof(Elf64_Ehdr);
  auto name = [&](Section section) { return sectionNames.getOffset(sections[section]); };
  Elf64_Shdr headers[kCount] = {};
  headers[kValues] = place(name(kValues), SHT_PROGBITS, size, kAlignment, at);
  headers[kValues].sh_flags = SHF_ALLOC;
  headers[kSymbols] = place(name(kSymbols), SHT_SYMTAB, symbols.size() * sizeof(Elf64_Sym), 8, at);
  headers[kSymbols].sh_entsize = sizeof(Elf64_Sym);
  headers[kSymbols].sh_link = kNames;
  headers[kSymbols].sh_info = 1; // index of the first global symbol
  headers[kNames] = place(name(kNames), SHT_STRTAB, names.getSize(), 1, at);
  headers[kSectionNames] = place(name(kSectionNames), SHT_STRTAB, sectionNames.getSize(), 1, at);
  // Without this section, the linker would make the stack executable.
  headers[kStack] = place(name(kStack), SHT_PROGBITS, 0, 1, at);

  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ElfMagic, 4);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = machine;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kCount;
  header.e_shstrndx = kSectionNames;
  header.e_shoff = alignTo(at, 8);

  const uint64_t start = os.tell();
  auto padTo = [&](uint64_t offset) { os.write_zeros(offset - (os.tell() - start)); };
  writeStruct(os, header);
  padTo(headers[kValues].sh_offset);
  for (const OutsideValue &value : values) {
    os << value.bytes;
    os.write_zeros(alignTo(value.bytes.size(), kAlignment) - value.bytes.size());
  }
  padTo(headers[kSymbols].sh_offset);
  for (const Elf64_Sym &symbol : symbols)
    writeStruct(os, symbol);
  writeTable(os, names);
  writeTable(os, sectionNames);
  padTo(header.e_shoff);
  for (const Elf64_Shdr &each : headers)
    writeStruct(os, each);
  return Error::success();
}
