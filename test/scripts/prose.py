"""scripts/check-prose."""
import trees

PLAIN = "The pass shards the gradient after the reduction.\n"
ODD = "It shards what it is given.\n"
GOOD = {
    # One line of a folder may always have a phrase.
    "passes/Move/MoveTensors.cpp": "// Moves tensors.\n// It moves whoever waits.\nint a; /* b */ char c = '\"';\n",
    # Text of the program is no comment.
    "tools/Say.cpp": "const char *text = \"// what it is, what it is\";\nconst char *raw = R\"(\n// what it is\n// what it is\n)\";\n",
    "tools/says.txt": ODD * 3,
    "dialects/NN/IR/Shape.td": "def Shape {\n  let description = [{\n" + PLAIN +
                               "    ```mlir\n    // what it is\n    // what it is\n    ```\n  }];\n}\n",
    "docs/page.md": PLAIN + "\n```\n" + ODD * 3 + "```\n\n" + ("    " + ODD) * 3,
    "docs/reference/README.md": ODD * 3,
    "docs/reference/NN/Shape.md": ODD * 3,
    "test/unit/ShapeTest.cpp": "// what it is\n" * 3,
    "build/release/Made.cpp": "// what it is\n" * 3,
}


class CheckProse(trees.OnTrees):
    script, good = "check-prose", GOOD

    def fails(self, changes, folder, counts, *found):
        """Expects that only `folder` fails, and the places and lines that the script prints for it."""
        status, lines = self.run_on(changes)
        self.assertEqual(lines[:-1], [f"{folder}: {counts} lines, more than 15 of 1,000:", *("  " + line for line in found)])
        self.assertRegex(lines[-1], r"^\d passed, 1 failed$")
        self.assertEqual(status, 1)

    def passes(self, changes):
        status, lines = self.run_on(changes)
        self.assertEqual((status, len(lines)), (0, 1), lines)

    def test_comments_of_cpp(self):
        self.fails({"planning/A.h": "/// " + ODD + "int a; // " + ODD}, "planning", "2 of 2",
                   "planning/A.h:1: " + ODD.strip(), "planning/A.h:2: " + ODD.strip())

    def test_comments_after_strings_and_separators(self):
        self.fails({"planning/A.cpp": "int n = 1'000; f(\"\\\"\"); // what it is\nchar c = '\"'; // what it is\n"}, "planning",
                   "2 of 2", "planning/A.cpp:1: what it is", "planning/A.cpp:2: what it is")

    def test_comments_of_c(self):
        self.fails({"runtime/a.c": "/* " + ODD + " *\n * " + ODD + " */\n"}, "runtime", "2 of 2",
                   "runtime/a.c:1: " + ODD.strip(), "runtime/a.c:3: " + ODD.strip())

    def test_comments_of_tablegen(self):
        self.fails({"passes/Move/Passes.td": "// what it is\n"}, "passes", "2 of 4",
                   "passes/Move/MoveTensors.cpp:2: It moves whoever waits.", "passes/Move/Passes.td:1: what it is")

    def test_descriptions(self):
        text = "  let description = [{\n    Doesn't move.\n    What it is.\n  }];\n  let description = \"What it is.\"; // what it is\n"
        self.fails({"planning/A.td": text}, "planning", "2 of 3",
                   "planning/A.td:3: What it is.", "planning/A.td:5: What it is. what it is")

    def test_descriptions_of_methods(self):
        text = "InterfaceMethod<[{\n  What it is.\n}], \"int\", \"a\">,\nInterfaceMethod<\"What it is.\", \"int\", \"b\">\n"
        self.fails({"planning/A.td": text}, "planning", "2 of 2", "planning/A.td:2: What it is.", "planning/A.td:4: What it is.")

    def test_pages(self):
        self.fails({"docs/page.md": "# What it is\n\n" + ODD}, "docs", "2 of 2",
                   "docs/page.md:1: # What it is", "docs/page.md:3: " + ODD.strip())
        self.fails({"docs/pages/1.md": ODD * 2 + PLAIN}, "docs/pages", "2 of 3",
                   "docs/pages/1.md:1: " + ODD.strip(), "docs/pages/1.md:2: " + ODD.strip())
        self.passes({"docs/decisions/1.md": ODD * 2, "docs/reference/passes/1.md": ODD * 2, "planning/A.h": PLAIN})

    def test_phrase_on_two_lines(self):
        self.fails({"planning/A.h": "// Moves what\n// it is. Moves\n// whoever waits.\n"}, "planning", "2 of 3",
                   "planning/A.h:1: Moves what", "planning/A.h:3: whoever waits.")

    def test_every_phrase(self):
        for phrases in (("what is", "what it", "what the", "what they", "what a", "what each", "of which", "in the place of"),
                        ("whoever", "somebody", "Nobody", "none of", "behind it", "behind the", "behind them", "behind a")):
            self.fails({"planning/A.h": "".join(f"// {phrase}\n" for phrase in phrases)}, "planning", "8 of 8",
                       *(f"planning/A.h:{number}: {phrase}" for number, phrase in enumerate(phrases, 1)))

    def test_whole_words(self):
        self.passes({"planning/A.h": "// what item, somewhat is, behind items, of whichever\n" * 3})

    def test_share_of_lines(self):
        plain = "// " + PLAIN
        self.passes({"planning/A.h": "// what it is\n" * 3 + plain * 197})
        self.fails({"planning/A.h": "// what it is\n" * 3 + plain * 196}, "planning", "3 of 199",
                   *(f"planning/A.h:{number}: what it is" for number in (1, 2, 3)))

    def test_lines_without_words_do_not_count(self):
        self.fails({"planning/A.h": "// what it is\n//\n//===---===//\n" * 2 + "//\n" * 200}, "planning", "2 of 2",
                   "planning/A.h:1: what it is", "planning/A.h:4: what it is")

    def test_first_lines_are_shown(self):
        self.fails({"planning/A.h": "// what it is\n" * 9}, "planning", "9 of 9",
                   *(f"planning/A.h:{number}: what it is" for number in range(1, 9)))
