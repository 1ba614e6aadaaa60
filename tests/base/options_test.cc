#include "base/options.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

// Options as described structures: values by name, checks, and what differs from the defaults.
namespace nn::test::options_test {
namespace {

enum class Color : uint8_t { kRed, kBlue };

struct Inner {
  int64_t depth = 4;
  bool deep = false;
};

struct Outer {
  bool flag = false;
  std::optional<int64_t> steps = std::nullopt;
  uint64_t runs = 3;
  int8_t small = 1;
  double ratio = 0.5;
  std::string text = "a";
  std::vector<std::string> texts = {};
  std::set<std::string, std::less<>> names = {};
  Color color = Color::kRed;
  std::vector<double> reals = {};
  std::optional<Inner> inner = std::nullopt;
  bool off = false;
};

struct Derived : Outer {
  int64_t own = 0;
};

struct Holder {
  int64_t before = 0;
  Outer outer = {};
};

constexpr unsigned kRounds = 1024;  // an effect of this table

const std::vector<OptionField>& Fields() {
  static const std::vector<OptionField> fields = {
      Option<&Outer::flag>("flag", {.effects = kRounds}),
      Option<&Outer::steps>("steps", {.least = 1, .most = 9}),
      Option<&Outer::runs>("runs", {.least = 1}),
      Option<&Outer::small>("small", {}),
      Option<&Outer::ratio>("ratio", {.least = 0}),
      Option<&Outer::text>("text", {.excludes = {"texts"}}),
      Option<&Outer::texts>("texts", {}),
      Option<&Outer::names>("names", {}),
      Option<&Outer::color>("color", {.choices = {"red", "blue"}}),
      Option<&Outer::reals>("reals", {.least = -1, .finite = true}),
      Option<&Outer::inner, &Inner::depth>("depth", {.effects = kRounds}),
      Option<&Outer::inner, &Inner::deep>("deep", {.needs = {"depth", "flag"}}),
      ComputedOption<Outer, bool>(
          "on", {.surfaces = kInBindings}, [](const Outer& o) { return std::optional(!o.off); },
          [](Outer& o, const bool& on) {
            o.off = !on;
            return Status();
          }),
  };
  return fields;
}

std::string ErrorOf(const OptionValues& values, OptionSurface surface = kInBindings) {
  Outer out;
  const Status set = SetOptions(Fields(), values, surface, &out);
  return set ? "" : set.error().message();
}

using Texts = std::vector<std::string>;
using Reals = std::vector<double>;

TEST_CASE("options: values of all kinds are set by name") {
  CHECK(CheckOptionTable(Fields()).has_value());
  Outer out;
  const OptionValues values = {
      {"flag", true},        {"steps", int64_t{2}},          {"runs", int64_t{7}},
      {"small", int64_t{5}}, {"ratio", int64_t{2}},          {"text", std::string("b")},
      {"names", Texts{"x"}}, {"color", std::string("blue")}, {"depth", int64_t{6}},
      {"deep", true},        {"reals", Reals{-1, 2.5}}};
  REQUIRE(SetOptions(Fields(), values, kInBindings, &out).has_value());
  CHECK(out.flag);
  CHECK(out.steps == 2);
  CHECK(out.runs == 7);
  CHECK(out.small == 5);
  CHECK(out.ratio == 2);
  CHECK(out.text == "b");
  CHECK(out.names.contains("x"));
  CHECK(out.color == Color::kBlue);
  CHECK(out.reals == Reals{-1, 2.5});
  REQUIRE(out.inner.has_value());
  CHECK(out.inner->depth == 6);
  CHECK(out.inner->deep);
}

TEST_CASE("options: a value that does not fit is refused with the name of the option") {
  CHECK(ErrorOf({{"flags", true}}) == "no option is named \"flags\"");
  CHECK(ErrorOf({{"on", true}}, kOnCommandLine) == "no option is named \"on\"");
  CHECK(ErrorOf({{"flag", int64_t{2}}}) == "the option \"flag\" is a flag, 0 or 1");
  CHECK(ErrorOf({{"text", int64_t{2}}}) == "the option \"text\" is a text");
  CHECK(ErrorOf({{"steps", std::string("2")}}) == "the option \"steps\" is an integer");
  CHECK(ErrorOf({{"steps", int64_t{0}}}) == "the option \"steps\" must be at least 1; it is 0");
  CHECK(ErrorOf({{"steps", int64_t{10}}}, kOnCommandLine) == "--steps must be at most 9; it is 10");
  CHECK(ErrorOf({{"runs", int64_t{-1}}}) == "the option \"runs\" must be at least 1; it is -1");
  CHECK(ErrorOf({{"small", int64_t{200}}}) == "small: the number is out of range");
  CHECK(ErrorOf({{"reals", Reals{1, -2}}}) == "the option \"reals\" must be at least -1; it is -2");
  CHECK(ErrorOf({{"reals", Reals{std::numeric_limits<double>::infinity()}}}) ==
        "the option \"reals\" must be a finite number; it is inf");
  CHECK(ErrorOf({{"ratio", -0.5}}) == "the option \"ratio\" must be at least 0; it is -0.5");
  CHECK(ErrorOf({{"color", std::string("green")}}) ==
        "the option \"color\" is \"green\"; expected one of red, blue");
}

TEST_CASE("options: what needs or excludes another one") {
  CHECK(ErrorOf({{"deep", true}}) == "the option \"deep\" requires \"depth\" or \"flag\"");
  CHECK(ErrorOf({{"deep", true}}, kOnCommandLine) == "--deep requires --depth or --flag");
  // A flag that is false is not set.
  CHECK(ErrorOf({{"deep", true}, {"flag", false}}) ==
        "the option \"deep\" requires \"depth\" or \"flag\"");
  CHECK(ErrorOf({{"deep", false}}) == "");
  CHECK(ErrorOf({{"deep", true}, {"flag", true}}) == "");
  CHECK(ErrorOf({{"text", std::string("b")}, {"texts", Texts{"c"}}}, kOnCommandLine) ==
        "--text excludes --texts");
}

TEST_CASE("options: those that differ from the defaults, with their effects") {
  const Outer defaults;
  Outer out;
  CHECK(ChangedOptions(Fields(), &out, &defaults).empty());
  out.flag = true;
  out.inner.emplace();
  out.names = {"x"};
  std::vector<std::string> changed, rounding;
  for (const OptionField* field : ChangedOptions(Fields(), &out, &defaults)) {
    changed.emplace_back(field->name);
    if (field->Has(kRounds)) rounding.emplace_back(field->name);
  }
  CHECK(changed == Texts{"flag", "names", "depth", "deep"});
  CHECK(rounding == Texts{"flag", "depth"});
}

TEST_CASE("options: a table within another struct, or of its base") {
  Holder holder;
  const auto within = OptionsWithin<&Holder::outer>(Fields());
  REQUIRE(SetOptions(within, {{"depth", int64_t{2}}}, kInBindings, &holder).has_value());
  REQUIRE(holder.outer.inner.has_value());
  CHECK(holder.outer.inner->depth == 2);
  Derived derived;
  const auto of_base = OptionsOfBase<Derived, Outer>(Fields());
  REQUIRE(SetOptions(of_base, {{"runs", uint64_t{2}}}, kInBindings, &derived).has_value());
  CHECK(derived.runs == 2);
  CHECK(FindOption(of_base, "runs")->get(&derived) == OptionValue(uint64_t{2}));
}

TEST_CASE("options: a table with a name twice, or one that does not exist, is an error") {
  std::vector<OptionField> twice = Fields();
  twice.push_back(Option<&Outer::off>("flag", {}));
  CHECK(CheckOptionTable(twice).error().message() == "the option \"flag\" is described twice");
  std::vector<OptionField> unknown = Fields();
  unknown.push_back(Option<&Outer::off>("off", {.needs = {"of"}}));
  CHECK(CheckOptionTable(unknown).error().message() ==
        "the option \"off\" names \"of\", which does not exist");
}

}  // namespace
}  // namespace nn::test::options_test
