#ifndef DPC_TOOLS_COMMON_COMMANDLINE_H
#define DPC_TOOLS_COMMON_COMMANDLINE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <optional>

namespace dpc {

/// Exit codes that mean the same for every dpc tool and for every program that dpc-compile writes.
enum ExitCode { exitDone = 0, exitInvalid = 1, exitUsage = 2, exitIO = 5 };

/// Flags of options in Options.td, in addition to LLVM's own.
enum OptionFlag : unsigned {
  /// The option may be given several times, with a different value each time.
  Repeatable = 1 << 4,
  /// The tool refuses the option by name. Such an option also has the flag HelpHidden, so
  /// that the help does not list it.
  NotYetAvailable = 1 << 5
};

/// Finds the first option that is given twice with different values and is not
/// Repeatable. Such an option is an error, because one of its values would be
/// ignored. Returns the occurrence with the second value, and sets `outFirst`
/// to the first occurrence; null if there is no such option.
inline const llvm::opt::Arg *findContradiction(const llvm::opt::InputArgList &args,
                                               unsigned unknownOption,
                                               const llvm::opt::Arg *&outFirst) {
  std::map<unsigned, const llvm::opt::Arg *> given;
  for (const llvm::opt::Arg *arg : args) {
    const llvm::opt::Option option = arg->getOption().getUnaliasedOption();
    if (option.getKind() == llvm::opt::Option::InputClass || option.getID() == unknownOption ||
        option.hasFlag(Repeatable))
      continue;
    auto [first, isNew] = given.try_emplace(option.getID(), arg);
    if (isNew || llvm::equal(first->second->getValues(), arg->getValues(),
                             [](llvm::StringRef a, llvm::StringRef b) { return a == b; }))
      continue;
    outFirst = first->second;
    return arg;
  }
  return nullptr;
}

/// Parses a command line with an option table. For --help, prints the help
/// followed by `notes` and exits with 0; for --version, prints the version and
/// exits with 0. Prints one line to stderr and exits with 2 for an unknown
/// option, an option that is not yet available, a missing value, or two values
/// for one option. For an unknown option the line has the text of `explainUnknown`. If this text is
/// empty, the line has the nearest known option, unless that differs by more than two letters.
inline llvm::opt::InputArgList
parseCommandLine(const llvm::opt::OptTable &table, int argc, char **argv, unsigned helpOption,
                 unsigned versionOption, unsigned unknownOption, llvm::StringRef tool,
                 llvm::StringRef usage, llvm::StringRef title, llvm::StringRef notes = "",
                 llvm::function_ref<std::string(llvm::StringRef)> explainUnknown = nullptr) {
  unsigned missingIndex = 0, missingCount = 0;
  llvm::opt::InputArgList args =
      table.ParseArgs(llvm::ArrayRef<const char *>(argv + 1, argc - 1), missingIndex, missingCount);
  if (args.hasArg(helpOption)) {
    table.printHelp(llvm::outs(), usage.str().c_str(), title.str().c_str());
    llvm::outs() << notes;
    exit(exitDone);
  }
  if (args.hasArg(versionOption)) {
    llvm::outs() << tool << " " DPC_VERSION "\n";
    exit(exitDone);
  }
  for (const llvm::opt::Arg *arg : args.filtered(unknownOption)) {
    std::string text = arg->getAsString(args), nearest;
    llvm::errs() << tool << ": error: unknown option '" << text << "'";
    const std::string explanation = explainUnknown ? explainUnknown(text) : "";
    if (!explanation.empty())
      llvm::errs() << ": " << explanation;
    else if (table.findNearest(text, nearest) < 3)
      llvm::errs() << "; did you mean '" << nearest << "'?";
    llvm::errs() << "\n";
    exit(exitUsage);
  }
  if (missingCount) {
    llvm::errs() << tool << ": error: option '" << args.getArgString(missingIndex)
                 << "' needs a value\n";
    exit(exitUsage);
  }
  for (const llvm::opt::Arg *arg : args)
    if (arg->getOption().hasFlag(NotYetAvailable)) {
      llvm::errs() << tool << ": error: " << llvm::StringRef(arg->getSpelling()).rtrim('=')
                   << " is not available yet\n";
      exit(exitUsage);
    }
  const llvm::opt::Arg *first = nullptr;
  if (const llvm::opt::Arg *second = findContradiction(args, unknownOption, first)) {
    llvm::errs() << tool << ": error: " << first->getAsString(args) << " and "
                 << second->getAsString(args) << " contradict each other: give one\n";
    exit(exitUsage);
  }
  return args;
}

/// The value of an integer option, or `fallback` if it is not given. Exits with
/// 2 if the value is not an integer of at least `lowest`.
inline int64_t integerOption(const llvm::opt::InputArgList &args, unsigned option,
                             llvm::StringRef tool, int64_t fallback, int64_t lowest) {
  const llvm::opt::Arg *arg = args.getLastArg(option);
  if (!arg)
    return fallback;
  int64_t value;
  llvm::StringRef text = arg->getValue();
  if (!text.getAsInteger(10, value) && value >= lowest)
    return value;
  llvm::errs() << tool << ": error: " << arg->getSpelling() << text
               << " is not a whole number from " << lowest << " up\n";
  exit(exitUsage);
}

} // namespace dpc

#endif // DPC_TOOLS_COMMON_COMMANDLINE_H
