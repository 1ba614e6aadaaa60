// Rules for attribute values that the signatures of operators describe: the strings, numbers and
// lists that an attribute can be in a version of the operator.
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/text/text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

using A = pb::AttributeProto;

// Calls visit(node, attribute, what the signature states) for each attribute with a value.
template <typename Visit>
void EachAttribute(const RuleContext& s, const Visit& visit) {
  for (const AttributeAt& a : s.attributes()) {
    const NodeAt& node = s.nodes()[static_cast<size_t>(a.node)];
    if (node.schema == nullptr || !a.attribute->ref_attr_name().empty()) continue;
    const auto known = node.schema->attributes.find(a.attribute->name());
    if (known != node.schema->attributes.end()) visit(node, a, known->second);
  }
}

bool IsOneOf(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void StringsAllowed(const RuleContext& s, Findings& f) {
  EachAttribute(s, [&](const NodeAt& node, const AttributeAt& a, const SchemaAttribute& known) {
    if (known.choices.empty()) return;
    const auto check = [&](const std::string& value, std::string_view field) {
      if (!IsOneOf(known.choices, value))
        f.Add(s.Where(a, field), "{} of {} is {}; must be one of {}", a.attribute->name(),
              Title(node), Quote(value), fmt::join(known.choices, ", "));
    };
    if (a.attribute->has_s()) check(a.attribute->s(), "s");
    for (int i = 0; i < a.attribute->strings_size(); ++i)
      check(a.attribute->strings(i), fmt::format("strings[{}]", i));
  });
}

std::string RangeText(const SchemaAttribute::Range& range) {
  return range.most == INT64_MAX ? fmt::format("at least {}", range.least)
                                 : fmt::format("{} to {}", range.least, range.most);
}

// Checks numbers and the elements of lists, of attributes that describe windows or of others.
void CheckRanges(const RuleContext& s, Findings& f, bool of_windows) {
  EachAttribute(s, [&](const NodeAt& node, const AttributeAt& a, const SchemaAttribute& known) {
    const std::string& name = a.attribute->name();
    const bool is_window = name == "kernel_shape" || name == "strides" || name == "dilations";
    if (!known.range || is_window != of_windows) return;
    const SchemaAttribute::Range& range = *known.range;
    const auto inside = [&](int64_t v) { return v >= range.least && v <= range.most; };
    if (a.attribute->has_i() && !inside(a.attribute->i()))
      f.Add(s.Where(a, "i"), "{} of {} is {}; must be {}", name, Title(node), a.attribute->i(),
            RangeText(range));
    const auto& ints = a.attribute->ints();
    const auto bad = std::find_if_not(ints.begin(), ints.end(), inside);
    if (bad != ints.end())
      f.Add(s.Where(a, fmt::format("ints[{}]", bad - ints.begin())),
            "{}[{}] of {} is {}; must be {}", name, bad - ints.begin(), Title(node), *bad,
            RangeText(range));
  });
}

void WindowsPositive(const RuleContext& s, Findings& f) {
  CheckRanges(s, f, true);
}

void NumbersInRange(const RuleContext& s, Findings& f) {
  CheckRanges(s, f, false);
}

void FlagsBoolean(const RuleContext& s, Findings& f) {
  EachAttribute(s, [&](const NodeAt& node, const AttributeAt& a, const SchemaAttribute& known) {
    if (known.is_flag && a.attribute->has_i() && a.attribute->i() != 0 && a.attribute->i() != 1)
      f.Add(s.Where(a, "i"), "{} of {} is {}; must be 0 or 1", a.attribute->name(), Title(node),
            a.attribute->i());
  });
}

// The number of elements of a list attribute; 1 for a tensor that is not a list, because it is one
// value as a whole.
uint64_t SizeOf(const RuleContext& s, const A& a) {
  for (const int field : {A::kFloatsFieldNumber, A::kIntsFieldNumber, A::kStringsFieldNumber})
    if (s.Has(a, field)) return s.SizeOf(a, field);
  if (!a.has_t()) return 0;
  return a.t().dims_size() == 1 ? static_cast<uint64_t>(std::max<int64_t>(0, a.t().dims(0))) : 1;
}

void ListsParallel(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (node.schema == nullptr) continue;
    for (const auto& group : node.schema->parallel) {
      const A* first = nullptr;
      for (const auto& a : node.node->attribute()) {
        if (!IsOneOf(group, a.name()) || SizeOf(s, a) == 0) continue;
        if (first == nullptr) first = &a;
        if (SizeOf(s, a) != SizeOf(s, *first))
          f.Add(s.Where(node, a.name()), "{} of {} has {} elements, but {} has {}", a.name(),
                Title(node), SizeOf(s, a), first->name(), SizeOf(s, *first));
      }
    }
  }
}

void AlternativesChosen(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (node.schema == nullptr) continue;
    for (const auto& group : node.schema->alternatives) {
      const auto& list = node.node->attribute();
      const auto count = [&](bool with_elements) {
        return std::count_if(list.begin(), list.end(), [&](const A& a) {
          return IsOneOf(group, a.name()) &&
                 (!with_elements || !a.ref_attr_name().empty() || SizeOf(s, a) > 0);
        });
      };
      // Exporters also write the other lists, but empty.
      const auto n = count(true);
      if (n > 1 || count(false) == 0)
        f.Add(s.Where(node, "attribute"), "{} sets {} of {}; must set exactly one", Title(node), n,
              fmt::join(group, ", "));
    }
  }
}

void ListsDistinct(const RuleContext& s, Findings& f) {
  EachAttribute(s, [&](const NodeAt& node, const AttributeAt& a, const SchemaAttribute& known) {
    if (!known.is_unique) return;
    std::set<int64_t> seen;
    for (const int64_t v : a.attribute->ints())
      if (!seen.insert(v).second)
        f.Add(s.Where(a, "ints"), "{} of {} has {} more than once", a.attribute->name(),
              Title(node), v);
  });
}

constexpr Rule kChoiceRules[] = {
    {.info = {.id = "ONNX-OP-001",
              .statement = "An attribute that selects a named option, such as auto_pad "
                           "or mode, "
                           "has a value that the imported operator version allows.",
              .clause = "Operators.md",
              .hint = "Use one of the allowed values, or import an opset "
                      "version that has the value."},
     .check = StringsAllowed},
    {.info = {.id = "ONNX-OP-002",
              .statement = "The kernel_shape, strides and dilations of "
                           "convolutions, pooling "
                           "operators and Col2Im are positive.",
              .clause = "Operators.md, Conv",
              .hint = "Set every kernel size, stride and dilation to 1 or more."},
     .check = WindowsPositive},
    {.info = {.id = "ONNX-OP-011",
              .statement = "Integer attributes are in the range that the "
                           "documentation of their operator gives.",
              .clause = "Operators.md",
              .hint = "Set the attribute to a value in the allowed range."},
     .check = NumbersInRange},
    {.info = {.id = "ONNX-OP-012",
              .severity = Severity::kWarning,
              .statement = "Attributes that are flags, such as keepdims and "
                           "ceil_mode, are 0 or 1.",
              .clause = "Operators.md",
              .hint = "Set the attribute to 0 or 1."},
     .check = FlagsBoolean},
    {.info = {.id = "ONNX-OP-013",
              .statement = "Attributes of a node that are parallel lists, such as "
                           "starts and ends "
                           "of Slice, have the same length.",
              .clause = "Operators.md, Operators-ml.md",
              .hint = "Give all of the parallel lists the same number of elements."},
     .check = ListsParallel},
    {.info = {.id = "ONNX-OP-014",
              .statement = "Of alternative attributes, such as "
                           "classlabels_ints and classlabels_strings, at "
                           "least one is present and at most one has elements.",
              .clause = "Operators.md, Operators-ml.md",
              .hint = "Keep exactly one of the alternative attributes."},
     .check = AlternativesChosen},
    {.info = {.id = "ONNX-OP-015",
              .statement = "The axes attribute of Squeeze, Unsqueeze, Slice, "
                           "CenterCropPad and "
                           "Resize has no duplicates.",
              .clause = "Operators.md",
              .hint = "Remove the repeated axis."},
     .check = ListsDistinct},
};

}  // namespace

std::span<const Rule> ChoiceRules() {
  return kChoiceRules;
}

}  // namespace nn::onnx
