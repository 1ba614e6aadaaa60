// The language of specifications: what its rows mean, and which texts are refused.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "formats/common/spec/check.h"
#include "formats/common/spec/table.h"

namespace nn::spec::spec_test {
namespace {

constexpr std::string_view kOperators[] = {"ADD", "CONV", "SPLIT"};
constexpr std::string_view kOptions[] = {"Conv"};
constexpr std::string_view kTypes[] = {"f32", "f16", "i8", "i32"};
constexpr TypeGroup kGroups[] = {{"FLOAT", {kTypes, {"f32", "f16"}}}};
constexpr std::string_view kKinds[] = {"i", "s", "I"};
constexpr std::string_view kLabels[] = {"same_shape", "window_fits"};
constexpr Vocabulary kWords = {.operators = kOperators,
                               .options = kOptions,
                               .types = kTypes,
                               .groups = kGroups,
                               .kinds = kKinds,
                               .labels = kLabels};

constexpr std::string_view kVersions[] = {"v15", "v16", "v17"};
constexpr ChoiceList kChoices[] = {{"MODES", "up|down"}};
constexpr std::string_view kDefaults[] = {"true", "all_axes"};
// Of a format whose operands have names.
constexpr Vocabulary kNamedWords = {.versions = kVersions,
                                    .types = kTypes,
                                    .groups = kGroups,
                                    .choices = kChoices,
                                    .kinds = kKinds,
                                    .defaults = kDefaults,
                                    .labels = kLabels};

Row Parse(std::string_view text, const Vocabulary& words = kWords) {
  Reader reader(text, words);
  Row row;
  CHECK(reader.Next(row));
  CHECK(reader.fault().line == 0);
  return row;
}

TEST_CASE("specifications: versions, options, parameters, variables, labels") {
  const Row row = Parse(
      "CONV 2-4 Conv! (x=T, filter[f32,i8q]) -> 1|3 (y=T) group:i pad!:s ... |\n"
      "    T=FLOAT seq(i32) ; window_fits same_shape");
  CHECK(row.name == "CONV");
  CHECK(row.first_version == 2);
  CHECK(row.last_version == 4);
  CHECK(row.option == "Conv");
  CHECK(row.needs_option);
  CHECK(row.inputs.size() == 2);
  CHECK(row.inputs[0].variable == 0);
  CHECK(row.inputs[1].types.Has(0));
  CHECK(row.inputs[1].types.Has(2));
  CHECK(row.inputs[1].scaled.Has(2));
  CHECK_FALSE(row.inputs[1].scaled.Has(0));
  CHECK(row.outputs[0].variable == 0);
  CHECK(std::vector<int>(row.output_counts.begin(), row.output_counts.end()) ==
        std::vector<int>{1, 3});
  CHECK(row.parameters.size() == 2);
  CHECK(row.parameters[1].required);
  CHECK(row.open_parameters);
  CHECK(row.variables[0].types.Has(0));
  CHECK(row.variables[0].types.Has(1));
  CHECK_FALSE(row.variables[0].types.Has(3));  // only enclosed
  CHECK(row.labels.size() == 2);
  CHECK(row.labels[0].name == "window_fits");
  CHECK(Parse("ADD 7+ deprecated").deprecated);
  CHECK(Parse("ADD 7+ deprecated").last_version == -1);
  CHECK(Parse("ADD none () -> ()").first_version == 0);
}

TEST_CASE("specifications: what parameters can be") {
  const Row row = Parse(
      "ADD 1 () -> () mode!:s{up,\n    down} n:i{-1-} m:i{0-3} axes:I{unique} ; "
      "same_shape(m, n) same_shape(axes)");
  CHECK(row.parameters[0].required);
  CHECK(row.parameters[0].choices == "up,\n    down");
  CHECK(row.parameters[1].has_range);
  CHECK(row.parameters[1].least == -1);
  CHECK(row.parameters[1].most < row.parameters[1].least);
  CHECK(row.parameters[2].least == 0);
  CHECK(row.parameters[2].most == 3);
  CHECK_FALSE(row.parameters[2].unique);
  CHECK(row.parameters[3].unique);
  CHECK(row.labels[0].parameters == "m, n");
  CHECK(row.labels[1].parameters == "axes");
}

TEST_CASE("specifications: numbers of operands") {
  const auto count = [](std::string_view inputs) {
    return CountOf(Parse("ADD 1 " + std::string(inputs) + " -> ()").inputs).ToString();
  };
  CHECK(count("()") == "0");
  CHECK(count("(a, b?)") == "1 to 2");
  CHECK(count("(a~, b?)") == "1 to 2");
  CHECK(count("(a?, b)") == "2");
  CHECK(count("(a+)") == "1 or more");
  CHECK(count("(a, b*)") == "1 or more");
  CHECK(count("(a+, b)") == "2 or more");
}

TEST_CASE("specifications: ranks and types of operands") {
  const Row row =
      Parse("SPLIT 1 (a@2/4%, b=a@1-4#2, c+@@=a+1) -> (y<f16@=b, z:a@@2-, w<b@@=largest, v{i8})");
  CHECK(row.inputs[0].ranks.range.ToString() == "2 or 4");
  CHECK_FALSE(row.inputs[0].ranks.range.Has(3));
  CHECK(row.inputs[0].symmetric);
  CHECK(row.inputs[1].same_as == 0);
  CHECK(row.inputs[1].ranks.range.ToString() == "1 to 4");
  CHECK(row.inputs[1].elements == 2);
  CHECK(row.inputs[2].published_ranks.like == 0);
  CHECK(row.inputs[2].published_ranks.more == 1);
  CHECK(row.outputs[0].given_type == 1);
  CHECK(row.outputs[0].ranks.like == 1);
  CHECK(row.outputs[1].expected == 0);
  CHECK(row.outputs[1].published_ranks.range.ToString() == "2 or more");
  CHECK(row.outputs[2].given_by == 1);
  CHECK(row.outputs[2].published_ranks.like == RankRule::kLargest);
  CHECK(row.outputs[3].checked_late);
}

TEST_CASE("specifications: named versions, constants, defaults and choices") {
  const Row row = Parse(
      "conv v16+ (x[f32], mode!?(down)[f32]@@0\"MODES\", pad!?(0...)[i32]#=2x-4, eps?(1e-5)=x,\n"
      "    axes!?(all_axes)#=x, by!\"a|b\") -> (y<named(mode), z<element(x)) ; same_shape(x, "
      "axes)\n"
      "    ;; window_fits(pad) same_shape(by)",
      kNamedWords);
  CHECK(row.first_version == 2);
  CHECK(row.last_version == -1);
  CHECK_FALSE(row.inputs[0].constant);
  CHECK(row.inputs[1].constant);
  CHECK(row.inputs[1].default_text == "down");
  CHECK(row.inputs[1].choices == "up|down");
  CHECK(row.inputs[1].presence == Operand::Presence::kOptional);
  CHECK(row.inputs[2].default_text == "0...");
  CHECK(row.inputs[2].element_rule.like == 0);
  CHECK(row.inputs[2].element_rule.times == 2);
  CHECK(row.inputs[2].element_rule.more == -4);
  CHECK_FALSE(row.inputs[3].constant);
  CHECK(row.inputs[3].same_as == 0);
  CHECK(row.inputs[4].element_rule.times == 1);
  CHECK(row.inputs[5].choices == "a|b");
  CHECK(row.outputs[0].given_by == 1);
  CHECK(row.outputs[0].giving == Operand::Giving::kNamed);
  CHECK(row.outputs[1].giving == Operand::Giving::kElement);
  CHECK(row.labels.size() == 3);
  CHECK(row.labels[0].parameters == "x, axes");
  CHECK_FALSE(row.labels[0].published);
  CHECK(row.labels[1].published);
  CHECK(row.labels[2].published);
  CHECK(Parse("conv v15-v17 () -> () ;; same_shape", kNamedWords).last_version == 3);
  CHECK(Parse("conv v15-v17 () -> () ;; same_shape", kNamedWords).labels[0].published);
}

TEST_CASE("specifications: numbers") {
  for (const std::string_view number : {"0", "-1", "0.75", "1e-45", "-2.5e3"})
    CHECK_MESSAGE(IsNumber(number), number);
  for (const std::string_view text : {"", "-", "1.", ".5", "1e", "e5", "1x", "+1", "0x1"})
    CHECK_MESSAGE(!IsNumber(text), text);
}

TEST_CASE("specifications: types in other types") {
  std::string types;
  constexpr std::string_view kList = "f32, seq(i8 f16) map(i64:seq(f32)) opt(seq(i8)) state(i8)";
  CHECK(EachType(kList, [&](std::string_view around, std::string_view word) {
          types += std::string(around) + std::string(word) + ";";
          return true;
        }).empty());
  CHECK(types == "f32;seq(i8;seq(f16;map(i64:seq(f32;opt(seq(i8;state(i8;");
}

TEST_CASE("specifications: the rows of an operator, in any file") {
  constexpr Text kTexts[] = {{"a.spec", "# A comment.\n\nADD 1 () -> ()\nADD 2 ()\n    -> ()\n"},
                             {"b.spec", "CONV 1 () -> ()\n"}};
  const Index index(kTexts);
  CHECK(index.operators().size() == 2);
  CHECK(index.operators().at("CONV").text == &kTexts[1]);
  std::string versions;
  EachRow(index.operators().at("ADD").rows, kWords,
          [&](const Row& row) { versions += std::to_string(row.first_version); });
  CHECK(versions == "12");
}

struct Refusal {
  std::string_view text;
  int line;
  std::string_view what;
  std::string_view word;
};

void CheckRefusal(const Refusal& r, const Vocabulary& words) {
  CAPTURE(r.text);
  Reader reader(r.text, words);
  Row row;
  while (reader.Next(row)) {
  }
  CHECK(reader.fault().line == r.line);
  CHECK(std::string_view(reader.fault().what) == r.what);
  CHECK(std::string_view(reader.fault().word) == r.word);
}

TEST_CASE("specifications: texts with names that are refused") {
  for (const Refusal& r : {
           Refusal{"a v14 () -> ()", 1, "versions expected", " () -> ()"},
           Refusal{"a 1 () -> ()", 1, "versions expected", " () -> ()"},
           Refusal{"a v17-v16 () -> ()", 1, "versions expected", " () -> ()"},
           Refusal{"a v16 () -> ()\na v15 () -> ()", 2, "versions out of order, or listed twice",
                   "a"},
           Refusal{"a v15 (x?(1) -> ()", 1, "unknown mark of an operand", " -> ()"},
           Refusal{"a v15 (x?(1", 1, "default without an end", "1"},
           Refusal{"a v15 (x?(off)) -> ()", 1, "unknown default", "off"},
           Refusal{"a v15 (x?(1... 2)) -> ()", 1, "unknown default", "1..."},
           Refusal{"a v15 (x?(left)\"MODES\") -> ()", 1, "unknown default", "left"},
           Refusal{"a v15 (x?(1)\"MODES\") -> ()", 1, "unknown default", "1"},
           Refusal{"a v15 (x\"up|up\") -> ()", 1, "value listed twice", "up"},
           Refusal{"a v15 (x\"up|\") -> ()", 1, "value expected", "\") -> ()"},
           Refusal{"a v15 (x\"up down\") -> ()", 1, "\" expected", " down\") -> ()"},
           Refusal{"a v15 (x#=y) -> ()", 1, "no such input", "y"},
           Refusal{"a v15 (x, y#=x-) -> ()", 1, "number expected", ") -> ()"},
           Refusal{"a v15 (x) -> (y<size(x))", 1, "named or element expected", "size"},
           Refusal{"a v15 (x) -> (y<named(z))", 1, "no such input", "z"},
           Refusal{"a v15 (x) -> (y<named(x)", 1, "unknown mark of an operand", ""},
           Refusal{"a v15 (x) -> () ; same_shape(y)", 1, "no such parameter", "y"},
           Refusal{"a v15 (x) -> () ; same_shape ; same_shape", 1, "published labels expected",
                   "same_shape"},
           Refusal{"a v15 (x) -> () ; same_shape ;;", 1, "published labels expected", ""},
           Refusal{"a v15 (x) -> () ;; same_shape ;; window_fits", 1, "end of the row expected",
                   ";; window_fits"},
           Refusal{"a v15 (x) -> () ; same_shape ;; same_shape", 1, "label listed twice",
                   "same_shape"},
       })
    CheckRefusal(r, kNamedWords);
}

TEST_CASE("specifications: texts that are refused") {
  for (const Refusal& r : {
           Refusal{"MUL 1 () -> ()", 1, "unknown operator", "MUL"},
           Refusal{"ADD 1 () -> ()\n- x", 2, "unknown operator", "- x"},
           Refusal{"# a\nADD () -> ()", 2, "versions expected", "() -> ()"},
           Refusal{"ADD 4-3 () -> ()", 1, "versions expected", " () -> ()"},
           Refusal{"ADD 3x () -> ()", 1, "versions expected", "x () -> ()"},
           Refusal{"ADD 1", 1, "( expected", ""},
           Refusal{"ADD 1 Add () -> ()", 1, "unknown option", "Add"},
           Refusal{"ADD 1 (x)", 1, "-> expected", ""},
           Refusal{"ADD 1 (x) -> (y", 1, "unknown mark of an operand", ""},
           Refusal{"ADD 1 (x^) -> ()", 1, "unknown mark of an operand", "^) -> ()"},
           Refusal{"ADD 1 (x, x) -> ()", 1, "operand listed twice", "x"},
           Refusal{"ADD 1 (x[f33]) -> ()", 1, "unknown type", "f33"},
           Refusal{"ADD 1 (x[f32) -> ()", 1, "types without an end", "f32) -> ()"},
           Refusal{"ADD 1 (x[]) -> ()", 1, "no types", ""},
           Refusal{"ADD 1 (x=y) -> ()", 1, "no such input", "y"},
           Refusal{"ADD 1 (x) -> (y:z)", 1, "no such input", "z"},
           Refusal{"ADD 1 (x) -> (y<z)", 1, "no such input", "z"},
           Refusal{"ADD 1 (x) -> (y@=z)", 1, "no such input", "z"},
           Refusal{"ADD 1 (x@) -> ()", 1, "rank expected", ") -> ()"},
           Refusal{"ADD 1 (x@4-2) -> ()", 1, "ranks expected", ") -> ()"},
           Refusal{"ADD 1 (x@2/) -> ()", 1, "ranks expected", ") -> ()"},
           Refusal{"ADD 1 (x#) -> ()", 1, "number of elements expected", ") -> ()"},
           Refusal{"ADD 1 () -> 1| ()", 1, "number of outputs expected", " ()"},
           Refusal{"ADD 1 () -> 2 ()", 1, "numbers of outputs expected", " ()"},
           Refusal{"ADD 1 () -> () axis", 1, "kind of parameter expected", "axis"},
           Refusal{"ADD 1 () -> () axis:q", 1, "unknown kind of parameter", "q"},
           Refusal{"ADD 1 () -> () a:i a:i", 1, "parameter listed twice", "a"},
           Refusal{"ADD 1 () -> () a:i{3-1}", 1, "range expected", "3-1}"},
           Refusal{"ADD 1 () -> () a:i{0-1", 1, "} expected", ""},
           Refusal{"ADD 1 () -> () a:s{}", 1, "value expected", "}"},
           Refusal{"ADD 1 () -> () a:s{up down}", 1, "} expected", " down}"},
           Refusal{"ADD 1 () -> () a:I{unique, up}", 1, "} expected", ", up}"},
           Refusal{"ADD 1 () -> () a:i ; same_shape(b)", 1, "no such parameter", "b"},
           Refusal{"ADD 1 () -> () a:i ; same_shape(a", 1, ") expected", ""},
           Refusal{"ADD 1 () -> () | T", 1, "type variable expected", ""},
           Refusal{"ADD 1 () -> () | T=seq(f32", 1, "unknown type", "seq(f32"},
           Refusal{"ADD 1 () -> () | T=set(f32)", 1, "unknown type", "set"},
           Refusal{"ADD 1 () -> () | T=f32 | T=i8", 1, "type variable listed twice", "T"},
           Refusal{"ADD 1 () -> () ; sam_shape", 1, "unknown label", "sam_shape"},
           Refusal{"ADD 1 () -> () ; same_shape same_shape", 1, "label listed twice", "same_shape"},
           Refusal{"ADD 1 () -> () ;", 1, "no labels", "ADD"},
           Refusal{"ADD 1 () -> () )", 1, "end of the row expected", ")"},
           Refusal{"ADD 2 () -> ()\nADD 2 () -> ()", 2, "versions out of order, or listed twice",
                   "ADD"},
           Refusal{"ADD 2 () -> ()\nADD 1 () -> ()", 2, "versions out of order, or listed twice",
                   "ADD"},
       })
    CheckRefusal(r, kWords);
}

TEST_CASE("specifications: an operator is in one place") {
  constexpr Text kTwice[] = {{"a.spec", "ADD 1 () -> ()\n"}, {"b.spec", "ADD 2 () -> ()\n"}};
  CHECK(std::string_view(RepetitionIn(kTwice).file) == "b.spec");
  CHECK(std::string_view(RepetitionIn(kTwice).fault.what) == "operator listed twice");
  constexpr Text kApart[] = {{"a.spec", "ADD 1 () -> ()\nCONV 1 () -> ()\nADD 2 () -> ()\n"}};
  CHECK(RepetitionIn(kApart).fault.line == 3);
  // Two forms that differ in the number of inputs.
  constexpr Text kForms[] = {{"a.spec", "ADD 1 (a) -> ()\nADD 1 (a, b) -> ()\n"}};
  CHECK(RepetitionIn(kForms).fault.line == 0);
  CHECK(FaultOf(kForms[0], kWords).fault.line == 0);
}

}  // namespace
}  // namespace nn::spec::spec_test
