#include "convert/remedy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/checked_math.h"
#include "convert/layer_steps.h"
#include "formats/given_inputs.h"
#include "passes/float32.h"
#include "passes/input_domains.h"
#include "passes/passes.h"
#include "passes/ports.h"
#include "passes/qdq.h"
#include "tensorio/literal.h"

namespace nn {
namespace {

// Options that set the dynamic dimensions of the inputs, and sizes for them.
struct ChosenShapes {
  std::map<std::string, int64_t> symbols;
  std::string options;
};

// The second dimensions of inputs of which only that one is open, and the first is more than one:
// by convention the batch of the states of recurrent layers, [layers, batch, units].
std::set<std::string, std::less<>> StateBatches(const Graph& graph) {
  std::set<std::string, std::less<>> symbols;
  for (const Port& p : graph.inputs()) {
    const Type& type = p.value->type();
    if (!type.ranked() || type.rank() != 3 || !type.dim(0).is_const() || !type.dim(2).is_const() ||
        type.dim(0).value() < 2)
      continue;
    if (const auto symbol = type.dim(1).symbol()) symbols.emplace(*symbol);
  }
  return symbols;
}

ChosenShapes ChooseShapes(const Graph& graph, int64_t size) {
  ChosenShapes out;
  const auto open = InputSymbols(graph);
  const auto batch = BatchSymbols(graph);
  const auto steps = StepSymbols(graph);
  const auto states = StateBatches(graph);
  bool only_batch = true;
  for (const std::string& s : open) {
    const bool is_batch = std::ranges::find(batch, s) != batch.end() && !steps.contains(s);
    only_batch = only_batch && is_batch;
    out.symbols[s] = is_batch || (states.contains(s) && !steps.contains(s)) ? 1 : size;
  }
  if (only_batch) {
    out.options = "--batch 1";
    return out;
  }
  for (const Port& p : graph.inputs()) {
    const Type& type = p.value->type();
    if (!type.ranked() || type.const_dims()) continue;
    std::vector<std::string> dims;
    for (const Dim& d : *type.dims)
      dims.push_back(d.Substitute([&](std::string_view s) {
                        return std::optional<Dim>(out.symbols.at(std::string(s)));
                      }).ToString());
    out.options += fmt::format("{}--input-shape {}:{}", out.options.empty() ? "" : " ", p.name,
                               fmt::join(dims, ","));
  }
  return out;
}

// A form of the source that targets support better, and the option that asks for it.
struct OtherForm {
  std::string_view text, option;
  Status (*apply)(Graph&) = nullptr;
};

Status DequantizeAll(Graph& graph) {
  NN_ASSIGN(const auto refused, Dequantize(graph));
  return refused.empty() ? Status() : UnsupportedError("the model cannot be dequantized");
}

// Those that the options do not ask for yet.
std::vector<OtherForm> OtherForms(const Graph& source, const ConvertOptions& o) {
  std::vector<OtherForm> forms;
  if (!o.dequantize && IsQuantized(source))
    forms.push_back({"as a float model", "--dequantize", DequantizeAll});
  if (!o.float32 && HasOtherFloats(source))
    forms.push_back({"in float32", "--float32", ComputeInFloat32});
  return forms;
}

// What may leave fewer unsupported nodes.
struct Remedy {
  std::string text;  // "with fixed shapes"
  std::string options;
  size_t left = 0;  // nodes that stay unsupported
};

// How many nodes of the changed source are unsupported; nullopt if that cannot be determined.
std::optional<size_t> UnsupportedAfter(Graph graph, const Format& format,
                                       const std::vector<UnsupportedNode>& of_import,
                                       const OtherForm& form) {
  if (form.apply != nullptr && !form.apply(graph)) return std::nullopt;
  if (!ForgetDeclaredShapes(graph)) return std::nullopt;
  InterfaceAxes axes;
  std::vector<UnsupportedNode> left = of_import;
  if (!FitTo(*format.target, graph, axes, left)) return std::nullopt;
  return left.size();
}

// With sizes for the dynamic dimensions of the inputs.
std::optional<Remedy> FixShapes(const Graph& source, const Format& format,
                                const std::vector<UnsupportedNode>& of_import,
                                const OtherForm& form) {
  if (InputSymbols(source).empty()) return std::nullopt;
  for (const int64_t size : {32, 64, 224}) {
    Graph graph = source.Clone();
    ChosenShapes shapes = ChooseShapes(source, size);
    if (!BindSymbols(graph, shapes.symbols)) continue;
    const auto left = UnsupportedAfter(std::move(graph), format, of_import, form);
    if (!left) continue;
    if (form.apply == nullptr) return Remedy{"with fixed shapes", std::move(shapes.options), *left};
    return Remedy{fmt::format("{} with fixed shapes", form.text),
                  fmt::format("{} {}", form.option, shapes.options), *left};
  }
  return std::nullopt;
}

// More nodes between an input and the operand that it determines are not searched.
constexpr size_t kMaxSearched = 256;
// Larger operands are data, as are integers beyond kFewNumbers.
constexpr int64_t kMaxFixedFloats = 16;
// Of more inputs, only all together are tried.
constexpr size_t kMaxFixedAlone = 8;

// Whether the operand may say what the operator does rather than what it does it to, as far as
// types tell: few numbers, and not in the first input unless it is a scalar.
bool MayBeSetting(const Node& node, size_t i) {
  const Value* const v = node.input(i);
  if (v == nullptr || v->is_constant() || !v->type().ranked() || v->type().rank() > 1 ||
      v->type().quantized())
    return false;
  if (i == 0 && v->type().rank() > 0) return false;
  const auto dims = v->type().const_dims();
  const int64_t count = dims && !dims->empty() ? dims->front() : 1;
  if (IsInteger(v->dtype()) || v->dtype() == DType::kBool) return count <= kFewNumbers;
  return count <= kMaxFixedFloats;
}

// The positions of the inputs of few numbers that such operands depend on.
std::set<size_t> FixableInputs(const Graph& graph) {
  std::map<const Value*, size_t> positions;
  for (size_t i = 0; i < graph.inputs().size(); ++i) positions[graph.inputs()[i].value] = i;
  std::set<const Value*> seen;
  std::vector<const Value*> open;
  for (const Node& node : graph.nodes())
    for (size_t i = 0; i < node.inputs().size(); ++i)
      if (MayBeSetting(node, i) && seen.insert(node.input(i)).second) open.push_back(node.input(i));
  std::set<size_t> out;
  for (size_t at = 0; at < open.size() && at < kMaxSearched; ++at) {
    const Value* const v = open[at];
    if (const auto p = positions.find(v); p != positions.end()) {
      const auto dims = v->type().const_dims();
      if (dims && CheckedElements(*dims).value_or(INT64_MAX) <= kFewNumbers) out.insert(p->second);
    } else if (const Node* const node = v->def()) {
      for (const Value* in : node->inputs())
        if (in != nullptr && seen.insert(in).second) open.push_back(in);
    }
  }
  return out;
}

// Contents to try for an input, by attempt: what verification runs would draw, then a number, as
// what the operators require of axes, scales and counts is not known to the last detail.
constexpr int kNumbersToTry[] = {1, 0};
constexpr int kAttempts = kMaxNarrowing + 1 + static_cast<int>(std::size(kNumbersToTry));

Result<Tensor> ContentsToTry(const Port& input, size_t i, const Domain& domain, int attempt) {
  const Type& type = input.value->type();
  if (attempt <= kMaxNarrowing)
    return SeededInput(input.name, type, i, 0, Narrowed(domain, type, attempt));
  return ParseLiteral(std::to_string(kNumbersToTry[attempt - kMaxNarrowing - 1]), type);
}

// With contents for these inputs, which determine what operators do.
std::optional<Remedy> FixInputs(const Graph& source, const Format& format,
                                const std::vector<UnsupportedNode>& of_import,
                                const OtherForm& form, const std::set<size_t>& fixed) {
  const std::vector<Domain> domains = InputDomains(source);
  std::optional<Remedy> best;
  for (int attempt = 0; attempt < kAttempts && !(best && best->left == 0); ++attempt) {
    Graph graph = source.Clone();
    // The file may have declared shapes for other contents.
    if (!ForgetDeclaredShapes(graph)) return std::nullopt;
    std::string options(form.option);
    std::vector<std::pair<Value*, Tensor>> contents;
    for (const size_t i : fixed) {
      const Port& input = graph.inputs()[i];
      auto tensor = ContentsToTry(input, i, domains[i], attempt);
      if (!tensor) return std::nullopt;
      contents.emplace_back(input.value, *std::move(tensor));
      options += fmt::format("{}--fix-input {}=VALUE", options.empty() ? "" : " ", input.name);
    }
    for (auto& [value, tensor] : contents) graph.MakeConstant(value, std::move(tensor));
    const auto left = UnsupportedAfter(std::move(graph), format, of_import, form);
    if (left && (!best || *left < best->left))
      best = Remedy{fmt::format("{}{}with suitable constants for inputs", form.text,
                                form.text.empty() ? "" : " and "),
                    std::move(options), *left};
  }
  return best;
}

// The positions of the inputs of integers.
std::vector<size_t> IntegerInputs(const Graph& graph) {
  std::vector<size_t> out;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Type& type = graph.inputs()[i].value->type();
    if (IsInteger(type.dtype) && !type.quantized()) out.push_back(i);
  }
  return out;
}

// With small integers in all inputs.
std::optional<Remedy> ClipInputs(const Graph& source, const Format& format,
                                 const std::vector<UnsupportedNode>& of_import,
                                 const OtherForm& form) {
  Graph graph = source.Clone();
  std::string options(form.option);
  for (const size_t i : IntegerInputs(source)) {
    const Type scalar(graph.inputs()[i].value->dtype(), {});
    auto min = ParseLiteral("0", scalar), max = ParseLiteral("1", scalar);
    if (!min || !max || !ClipInput(graph, i, *std::move(min), *std::move(max))) return std::nullopt;
    options += fmt::format("{}--clip-input {}=MIN,MAX", options.empty() ? "" : " ",
                           graph.inputs()[i].name);
  }
  const auto left = UnsupportedAfter(std::move(graph), format, of_import, form);
  if (!left) return std::nullopt;
  return Remedy{fmt::format("{}{}with narrow bounds of the integers in inputs", form.text,
                            form.text.empty() ? "" : " and "),
                std::move(options), *left};
}

}  // namespace

bool HasRemedies(const Graph& source, const ConvertOptions& o) {
  return !InputSymbols(source).empty() || !OtherForms(source, o).empty() ||
         !FixableInputs(source).empty() || !IntegerInputs(source).empty();
}

std::string RemedyOf(const Graph& source, const Format& format, size_t unsupported,
                     const std::vector<UnsupportedNode>& of_import, const ConvertOptions& o) {
  std::optional<Remedy> best;
  const auto add = [&](std::optional<Remedy> r) {
    if (r && r->left < (best ? best->left : unsupported)) best = std::move(r);
  };
  add(FixShapes(source, format, of_import, {}));
  for (const OtherForm& form : OtherForms(source, o)) {
    if (best && best->left == 0) break;
    if (const auto left = UnsupportedAfter(source.Clone(), format, of_import, form))
      add(Remedy{std::string(form.text), std::string(form.option), *left});
    add(FixShapes(source, format, of_import, form));
  }
  const std::set<size_t> fixable = FixableInputs(source);
  std::vector<std::set<size_t>> choices;
  if (fixable.size() <= kMaxFixedAlone)
    for (const size_t i : fixable) choices.push_back({i});
  if (fixable.size() != 1 && !fixable.empty()) choices.push_back(fixable);
  // A model without inputs is of no use.
  std::erase_if(choices,
                [&](const std::set<size_t>& c) { return c.size() == source.inputs().size(); });
  std::vector<OtherForm> forms = OtherForms(source, o);
  forms.insert(forms.begin(), OtherForm{});
  if (!IntegerInputs(source).empty())
    for (const OtherForm& form : forms)
      if (!best || best->left > 0) add(ClipInputs(source, format, of_import, form));
  for (const OtherForm& form : forms)
    for (const std::set<size_t>& fixed : choices)
      if (!best || best->left > 0) add(FixInputs(source, format, of_import, form, fixed));
  if (!best) return {};
  return best->left == 0
             ? fmt::format("{}, every operator can be converted: {}", best->text, best->options)
             : fmt::format("{}, only {} cannot be converted: {}", best->text, best->left,
                           best->options);
}

}  // namespace nn
