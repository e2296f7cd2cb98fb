include "llvm/Option/OptParser.td"

class Value<string name, string meta, string help>
    : Joined<["--"], name # "=">, MetaVarName<meta>, HelpText<help>;

def help : Flag<["--"], "help">, HelpText<"Show this help">;
def version : Flag<["--"], "version">, HelpText<"Show the version">;
def rows : Value<"rows", "N", "The most rows of a table (default 24; 0: all)">;
