// Specifications such as `adam,lr=1e-3` give defaults to what they leave out,
// and errors name a wrong value with its range.

#include "passes/Optimize/OptionSpec.h"

#include "gtest/gtest.h"

using namespace dpc;

namespace {

const OptionInfo kOptions[] = {
    {"lr", 1e-3},
    {"beta", 0.9, 0, 1, /*belowHighest=*/true},
    {"share", 0.5, 0, 1},
    {"warmup", 0, 0, 1e18, false, /*integer=*/true, /*mayBePercentage=*/true},
};

/// The error of parsing `text`; "" if there is none.
std::string errorOf(llvm::StringRef text, char separator = ',') {
  std::string error;
  std::optional<OptionSpec> spec =
      OptionSpec::parse(text, kOptions, "optimizer x", error, separator);
  EXPECT_EQ(spec.has_value(), error.empty());
  return error;
}

OptionSpec parsed(llvm::StringRef text, char separator = ',') {
  std::string error;
  std::optional<OptionSpec> spec =
      OptionSpec::parse(text, kOptions, "optimizer x", error, separator);
  EXPECT_TRUE(spec) << error;
  return spec ? *spec : OptionSpec();
}

TEST(OptionSpec, NameAloneGivesAllDefaults) {
  OptionSpec spec = parsed("x");
  EXPECT_EQ(spec.name, "x");
  EXPECT_EQ(spec["lr"], 1e-3);
  EXPECT_EQ(spec["beta"], 0.9);
  EXPECT_EQ(spec["warmup"], 0);
  EXPECT_TRUE(spec.given.empty());
}

TEST(OptionSpec, WrittenOptionsReplaceDefaultsAndAreKnownAsGiven) {
  OptionSpec spec = parsed("x,lr=3e-4,warmup=10");
  EXPECT_EQ(spec["lr"], 3e-4);
  EXPECT_EQ(spec["warmup"], 10);
  EXPECT_EQ(spec["beta"], 0.9);
  EXPECT_EQ(spec.given.count("lr"), 1u);
  EXPECT_EQ(spec.given.count("beta"), 0u);
}

TEST(OptionSpec, OptionWithItsDefaultWrittenOutIsGiven) {
  EXPECT_EQ(parsed("x,lr=0.001").given.count("lr"), 1u);
}

TEST(OptionSpec, SeparatorIsTheCallers) {
  OptionSpec spec = parsed("a,b;lr=2", ';');
  EXPECT_EQ(spec.name, "a,b");
  EXPECT_EQ(spec["lr"], 2);
}

TEST(OptionSpec, UnknownOptionListsTheKnownOnes) {
  EXPECT_EQ(errorOf("x,rate=1"), "optimizer x has no option 'rate'; known: lr, "
                                 "beta, share, warmup");
  EXPECT_EQ(errorOf("x,"), "optimizer x has no option ''; known: lr, beta, share, warmup");
}

TEST(OptionSpec, ValueMustBeAFiniteNumber) {
  EXPECT_EQ(errorOf("x,lr=fast"), "optimizer x: lr='fast' is not a number");
  EXPECT_EQ(errorOf("x,lr="), "optimizer x: lr='' is not a number");
  EXPECT_EQ(errorOf("x,lr"), "optimizer x: lr='' is not a number");
  EXPECT_EQ(errorOf("x,lr=1e-3x"), "optimizer x: lr='1e-3x' is not a number");
  EXPECT_EQ(errorOf("x,lr=nan"), "optimizer x: lr='nan' is not a number");
  EXPECT_EQ(errorOf("x,lr=inf"), "optimizer x: lr='inf' is not a number");
}

TEST(OptionSpec, EndsOfTheRangeAreInsideIt) {
  EXPECT_EQ(parsed("x,share=0")["share"], 0);
  EXPECT_EQ(parsed("x,share=1")["share"], 1);
  EXPECT_NE(errorOf("x,share=1.001"), "");
  EXPECT_NE(errorOf("x,share=-0.001"), "");
}

TEST(OptionSpec, UpperEndThatIsExcludedIsOutside) {
  EXPECT_EQ(parsed("x,beta=0.999")["beta"], 0.999);
  std::string error = errorOf("x,beta=1");
  EXPECT_NE(error.find("beta=1 is not a number from 0 to below 1"), std::string::npos) << error;
}

TEST(OptionSpec, RangeWithoutUpperEndNamesTheLowerOnly) {
  std::string error = errorOf("x,lr=-1");
  EXPECT_NE(error.find("lr=-1 is not a number from 0"), std::string::npos) << error;
  EXPECT_EQ(error.find(" to "), std::string::npos) << error;
}

TEST(OptionSpec, WholeNumbersOnlyWhereAsked) {
  std::string error = errorOf("x,warmup=1.5");
  EXPECT_NE(error.find("warmup=1.5 is not a whole number from 0 to 1e+18"), std::string::npos)
      << error;
  EXPECT_EQ(parsed("x,warmup=1e3")["warmup"], 1000);
}

TEST(OptionSpec, PercentagesOnlyWhereAsked) {
  OptionSpec spec = parsed("x,warmup=0.25%");
  EXPECT_EQ(spec.millionths.at("warmup"), 2500);
  EXPECT_EQ(spec["warmup"], 0);
  EXPECT_TRUE(parsed("x,warmup=5").millionths.empty());
  for (const char *text : {"101%", "-1%", "%", "five%", "nan%", "0.00001%"})
    EXPECT_NE(errorOf(std::string("x,warmup=") + text)
                  .find(std::string("warmup=") + text +
                        " is not a percentage from 0 to 100 with at most four decimals"),
              std::string::npos)
        << text;
  EXPECT_EQ(errorOf("x,share=5%"), "optimizer x: share='5%' is not a number");
  EXPECT_EQ(errorOf("x,warmup=5%,warmup=5"), "optimizer x: warmup is given twice");
}

TEST(OptionSpec, OptionGivenTwiceIsAnError) {
  EXPECT_EQ(errorOf("x,lr=1,lr=1"), "optimizer x: lr is given twice");
}

} // namespace
