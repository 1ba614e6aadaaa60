#include "convert/verify/remedy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
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
#include "convert/edits/port_options.h"
#include "convert/edits/shape_choice.h"
#include "formats/given_inputs.h"
#include "passes/core/passes.h"
#include "passes/core/ports.h"
#include "passes/facts/input_domains.h"
#include "passes/qdq/qdq.h"
#include "passes/types/float32.h"
#include "rewrite/declared_shapes.h"
#include "tensorio/literal.h"

namespace nn {
namespace {

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
std::vector<OtherForm> OtherForms(const Graph& source, const ConvertJob& o) {
  std::vector<OtherForm> forms;
  if (!o.dequantize && IsQuantized(source))
    forms.push_back({"as a float model", "--dequantize", DequantizeAll});
  if (!o.float32 && HasOtherFloats(source))
    forms.push_back({"in float32", "--float32", ComputeInFloat32});
  return forms;
}

// Bounds for the integers of all inputs: those of the contents that inputs are generated with,
// where they are known, or only narrow ones.
enum class Clips : uint8_t { kNone, kDomains, kNarrow };

// What is changed in the source. Each part has its options.
struct Change {
  OtherForm form = {};
  ChosenShapes shapes = {};
  std::map<size_t, Tensor> contents = {};  // by position of the input
  Clips clips = Clips::kNone;
};

// What may leave fewer unsupported nodes.
struct Remedy {
  std::string text;  // "with fixed shapes"
  std::string options;
  size_t left = 0;  // nodes that stay unsupported
};

constexpr std::string_view kFixedShapes = "with fixed shapes";

// More nodes between an input and the operand that it determines are not searched.
constexpr size_t kMaxSearched = 256;
// Larger operands are data, as are integers beyond kFewNumbers.
constexpr int64_t kMaxFixedFloats = 16;
// Of more inputs, only all together are tried.
constexpr size_t kMaxFixedAlone = 8;
// Shapes and contents together are tried at most this often.
constexpr int kMaxTogether = 64;

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

// The positions of the inputs of integers.
std::vector<size_t> IntegerInputs(const Graph& graph) {
  std::vector<size_t> out;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Type& type = graph.inputs()[i].value->type();
    if (IsInteger(type.dtype) && !type.quantized()) out.push_back(i);
  }
  return out;
}

// Whether the domain has a least and a largest integer.
bool IsBounded(const Domain& domain) {
  constexpr double kMax = 0x1p31;  // of bounds that are useful
  return !domain.contents && domain.min >= -kMax && domain.max <= kMax &&
         std::ceil(domain.min) <= std::floor(domain.max);
}

// "0,1": the arguments of --clip-input for each input of integers.
std::map<size_t, std::string> BoundsOf(const Graph& graph, Clips clips) {
  std::map<size_t, std::string> out;
  if (clips == Clips::kNone) return out;
  const std::vector<Domain> domains = InputDomains(graph);
  for (const size_t i : IntegerInputs(graph)) {
    const bool is_known = clips == Clips::kDomains && IsBounded(domains[i]);
    out[i] = is_known ? fmt::format("{},{}", static_cast<int64_t>(std::ceil(domains[i].min)),
                                    static_cast<int64_t>(std::floor(domains[i].max)))
                      : "0,1";
  }
  return out;
}

// Whether the node compares two operands.
bool IsComparison(const Node& node) {
  return node.op().category == Category::kArithmetic && node.inputs().size() == 2 &&
         node.output()->dtype() == DType::kBool && node.input(0)->dtype() != DType::kBool;
}

// The single numbers that operators compare the input with. One of them is likely to be what a
// branch expects.
std::vector<std::string> ComparedWith(const Graph& graph, const Value* input) {
  std::vector<std::string> out;
  std::set<const Value*> same = {input};  // all values with its elements
  for (const Node& node : graph.nodes()) {
    if (node.inputs().empty()) continue;
    if (IsComparison(node)) {
      for (size_t i = 0; i < 2; ++i) {
        const Value* const other = node.input(1 - i);
        if (same.contains(node.input(i)) && other->is_constant() &&
            other->constant().elements() == 1)
          out.push_back(LiteralOf(other->constant()));
      }
    } else if (same.contains(node.input(0)) &&
               (node.op().movement != Movement::kNone || node.op().converts)) {
      same.insert(node.output());
    }
  }
  return out;
}

// Contents to try for an input: what its users compare it with, what verification runs would draw,
// then numbers, as what the operators require of axes, scales and counts is not known to the last
// detail.
std::vector<Tensor> ContentsToTry(const Graph& source, size_t i, const Domain& domain) {
  const Port& input = source.inputs()[i];
  const Type& type = input.value->type();
  std::vector<Tensor> out;
  const auto add = [&](Result<Tensor> tensor) {
    if (tensor) out.push_back(*std::move(tensor));
  };
  for (const std::string& number : ComparedWith(source, input.value))
    add(ParseLiteral(number, type));
  for (int level = 0; level <= kMaxNarrowing; ++level)
    add(SeededInput(input.name, type, i, 0, Narrowed(domain, type, level)));
  for (const std::string_view number : {"1", "0"}) add(ParseLiteral(number, type));
  return out;
}

// Tries changes of one source.
class Trials {
 public:
  Trials(const Graph& source, const Format& format, const std::vector<UnsupportedNode>& of_import,
         const GraphSource& from, const ConvertJob& o)
      : source_(source), format_(format), of_import_(of_import), from_(from), o_(o) {}

  // Keeps the remedy if it leaves fewer nodes than those before.
  void Try(const Change& change, std::string_view text) {
    const auto left = UnsupportedAfter(change);
    if (!left || (best_ && best_->left <= *left)) return;
    best_ = Remedy{Text(change, text), Options(change), *left};
  }
  bool done() const { return best_ && best_->left == 0; }
  const std::optional<Remedy>& best() const { return best_; }

 private:
  static std::string Text(const Change& change, std::string_view text) {
    const std::string_view form = change.form.text;
    if (form.empty() || text.empty()) return fmt::format("{}{}", form, text);
    return fmt::format("{}{}{}", form, text.starts_with(kFixedShapes) ? " " : " and ", text);
  }

  std::string Options(const Change& change) const {
    std::vector<std::string> options;
    if (!change.form.option.empty()) options.emplace_back(change.form.option);
    if (!change.shapes.options.empty()) options.push_back(change.shapes.options);
    for (const auto& [i, tensor] : change.contents)
      options.push_back("--fix-input " + ShellWord(fmt::format("{}={}", source_.inputs()[i].name,
                                                               LiteralOf(tensor))));
    for (const auto& [i, bounds] : BoundsOf(source_, change.clips))
      options.push_back("--clip-input " + ShellWord(source_.inputs()[i].name + "=" + bounds));
    return fmt::to_string(fmt::join(options, " "));
  }

  // How many nodes of the changed source are unsupported; nullopt if that cannot be determined.
  std::optional<size_t> UnsupportedAfter(const Change& change) const {
    std::vector<UnsupportedNode> left = of_import_;
    auto graph = Changed(change, left);
    if (!graph || !BindSymbols(*graph, change.shapes.symbols)) return std::nullopt;
    if (!ClipIntegers(*graph, change.clips)) return std::nullopt;
    if (change.form.apply != nullptr && !change.form.apply(*graph)) return std::nullopt;
    const Target& target = TargetOf(format_, OutputOf(o_));
    if (!FitDeclaredShapes(*graph, target)) return std::nullopt;
    if (!format_.writer.Lower(*graph, OutputOf(o_), nullptr)) return std::nullopt;
    InterfaceAxes axes;
    if (!FitTo(target, *graph, axes, left)) return std::nullopt;
    // A writer has requirements of its own, such as known sizes.
    if (left.empty() && !format_.writer.Write(*graph, OutputOf(o_))) return std::nullopt;
    return left.size();
  }

  // The source with constants in place of inputs. Nodes that the import could not hold may be
  // possible with what is known.
  Result<Graph> Changed(const Change& change, std::vector<UnsupportedNode>& left) const {
    const bool decides = !change.contents.empty() || !change.shapes.symbols.empty();
    if (!of_import_.empty() && decides && from_.import_again) return ImportAgain(change, left);
    Graph graph = source_.Clone();
    // The file may have declared shapes for other contents.
    if (!change.contents.empty()) NN_RETURN_IF_ERROR(ForgetDeclaredShapes(graph));
    std::vector<std::pair<Value*, const Tensor*>> values;
    for (const auto& [i, tensor] : change.contents)
      values.emplace_back(graph.inputs()[i].value, &tensor);
    for (const auto& [value, tensor] : values) graph.MakeConstant(value, *tensor);
    return graph;
  }

  Result<Graph> ImportAgain(const Change& change, std::vector<UnsupportedNode>& left) const {
    InputSettings settings = InputsOf(o_);
    for (const Port& p : source_.inputs())
      if (const auto dims = SizesIn(p.value->type(), change.shapes.symbols))
        settings.shapes[p.name] = *dims;
    std::map<std::string, Tensor> contents;
    for (const auto& [i, tensor] : change.contents)
      contents.emplace(source_.inputs()[i].name, tensor);
    const auto before = o_.hooks.constants;
    settings.constants = [&](const Graph& graph) -> Result<std::map<size_t, Tensor>> {
      std::map<size_t, Tensor> out;
      if (before) {
        NN_ASSIGN(out, before(graph));
      }
      std::vector<std::string> names = NamesOf(graph.inputs());
      NameUnnamed(names, "in");
      for (size_t i = 0; i < names.size(); ++i)
        if (const auto c = contents.find(names[i]); c != contents.end()) out.emplace(i, c->second);
      return out;
    };
    NN_ASSIGN(ImportedModel imported, from_.import_again(settings));
    left = std::move(imported.unsupported);
    Graph graph = std::move(imported.graph);
    NamePorts(graph);
    NN_RETURN_IF_ERROR(PreparePorts(graph, o_));
    if (o_.hooks.prepare) NN_RETURN_IF_ERROR(o_.hooks.prepare(graph));
    if (o_.dequantize) NN_RETURN_IF_ERROR(DequantizeAll(graph));
    if (o_.float32) NN_RETURN_IF_ERROR(ComputeInFloat32(graph));
    return graph;
  }

  Status ClipIntegers(Graph& graph, Clips clips) const {
    for (const auto& [i, bounds] : BoundsOf(source_, clips)) {
      const Type scalar(graph.inputs()[i].value->dtype(), {});
      const size_t comma = bounds.find(',');
      NN_ASSIGN(Tensor min, ParseLiteral(bounds.substr(0, comma), scalar));
      NN_ASSIGN(Tensor max, ParseLiteral(bounds.substr(comma + 1), scalar));
      NN_RETURN_IF_ERROR(ClipInput(graph, i, std::move(min), std::move(max)));
    }
    return {};
  }

  const Graph& source_;
  const Format& format_;
  const std::vector<UnsupportedNode>& of_import_;
  const GraphSource& from_;
  const ConvertJob& o_;
  std::optional<Remedy> best_;
};

// The sets of inputs that may become constants. A model without inputs is of no use.
std::vector<std::set<size_t>> ChoicesOfInputs(const Graph& source) {
  const std::set<size_t> fixable = FixableInputs(source);
  std::vector<std::set<size_t>> choices;
  if (fixable.size() <= kMaxFixedAlone)
    for (const size_t i : fixable) choices.push_back({i});
  if (fixable.size() > 1) choices.push_back(fixable);
  std::erase_if(choices,
                [&](const std::set<size_t>& c) { return c.size() == source.inputs().size(); });
  return choices;
}

// Contents for each of the choices: one map for each attempt.
std::vector<std::map<size_t, Tensor>> ContentsOf(const Graph& source) {
  const std::vector<Domain> domains = InputDomains(source);
  std::vector<std::map<size_t, Tensor>> out;
  for (const std::set<size_t>& choice : ChoicesOfInputs(source)) {
    std::map<size_t, std::vector<Tensor>> options;
    size_t attempts = 0;
    bool complete = true;
    for (const size_t i : choice) {
      options[i] = ContentsToTry(source, i, domains[i]);
      attempts = std::max(attempts, options[i].size());
      complete = complete && !options[i].empty();
    }
    for (size_t k = 0; complete && k < attempts; ++k) {
      std::map<size_t, Tensor>& contents = out.emplace_back();
      for (const auto& [i, tensors] : options)
        contents.emplace(i, tensors[std::min(k, tensors.size() - 1)]);
    }
  }
  return out;
}

// Shapes, or another form of the source, or both.
void TryShapes(const Graph& source, const std::vector<OtherForm>& forms, Trials& trials) {
  for (const OtherForm& form : forms) {
    if (trials.done()) return;
    if (form.apply != nullptr) trials.Try({.form = form}, "");
    if (InputSymbols(source).empty()) continue;
    for (const int64_t size : kOpenSizes)
      if (!trials.done())
        trials.Try({.form = form, .shapes = ChooseShapes(source, size)}, kFixedShapes);
  }
}

// Contents of inputs; with shapes as well if nothing else does.
void TryContents(const Graph& source, const std::vector<OtherForm>& forms, Trials& trials) {
  const auto contents = ContentsOf(source);
  for (const OtherForm& form : forms)
    for (const auto& c : contents)
      if (!trials.done())
        trials.Try({.form = form, .contents = c}, "with suitable constants for inputs");
  if (InputSymbols(source).empty()) return;
  int tried = 0;
  for (const int64_t size : kOpenSizes)
    for (const auto& c : contents)
      if (!trials.done() && tried++ < kMaxTogether)
        trials.Try({.shapes = ChooseShapes(source, size), .contents = c},
                   "with fixed shapes and suitable constants for inputs");
}

}  // namespace

bool HasRemedies(const Graph& source, const ConvertJob& o) {
  return !InputSymbols(source).empty() || !OtherForms(source, o).empty() ||
         !FixableInputs(source).empty() || !IntegerInputs(source).empty();
}

std::string RemedyOf(const Graph& source, const Format& format, size_t unsupported,
                     const std::vector<UnsupportedNode>& of_import, const GraphSource& from,
                     const ConvertJob& o) {
  Trials trials(source, format, of_import, from, o);
  std::vector<OtherForm> forms = OtherForms(source, o);
  forms.insert(forms.begin(), OtherForm{});
  TryShapes(source, forms, trials);
  for (const auto& [clips, text] :
       {std::pair(Clips::kDomains, "with bounds for the integers in inputs"),
        std::pair(Clips::kNarrow, "with narrow bounds of the integers in inputs")}) {
    // Without known domains, both are the same.
    if (IntegerInputs(source).empty() ||
        (clips == Clips::kDomains && std::ranges::none_of(InputDomains(source), IsBounded)))
      continue;
    for (const OtherForm& form : forms)
      if (!trials.done()) trials.Try({.form = form, .clips = clips}, text);
  }
  TryContents(source, forms, trials);
  const std::optional<Remedy>& best = trials.best();
  if (!best || best->left >= unsupported) return {};
  return best->left == 0
             ? fmt::format("{}, every operator can be converted: {}", best->text, best->options)
             : fmt::format("{}, only {} cannot be converted: {}", best->text, best->left,
                           best->options);
}

}  // namespace nn
