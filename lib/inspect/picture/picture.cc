#include "inspect/picture/picture.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

#include "base/text/text.h"
#include "inspect/picture/repeats.h"
#include "inspect/report/shape_text.h"
#include "inspect/report/tree.h"

namespace nn::inspect {
namespace {

constexpr size_t kShownConstants = 3;
constexpr size_t kLongestName = 24;
constexpr size_t kLongestNames = 16;  // of constants in one row

// "1×64×112×112".
template <typename List, typename Fn>
std::string Times(const List& sizes, Fn text) {
  std::string out;
  for (const auto& d : sizes) out += (out.empty() ? "" : "×") + text(d);
  return out.empty() ? "scalar" : out;
}

std::string Shorten(std::string_view name) {
  std::string text = EscapeControls(name);
  if (DisplayWidth(text) <= kLongestName) return text;
  // Does not split a UTF-8 character.
  size_t end = kLongestName - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

// The last part of a path, which describes a constant: "weight". Empty for generated names:
// "onnx::Conv_538", "/Constant_1_output_0", "tensor 5", "operand 3".
std::string OwnName(const std::string& name) {
  std::string_view own = name;
  // A variable read of TensorFlow.
  if (own.ends_with("/read")) own.remove_suffix(5);
  const size_t at = own.find_last_of("/.;:");
  if (at != std::string_view::npos && at + 1 < own.size()) own.remove_prefix(at + 1);
  const bool made_up = own.starts_with("Constant") || own.ends_with("_output_0") ||
                       own.find_first_not_of("0123456789_") == std::string_view::npos ||
                       (name.starts_with("onnx::") && own.find('_') != std::string_view::npos) ||
                       own.starts_with("tensor ") || own.starts_with("operand ");
  return made_up ? std::string() : Shorten(own);
}

// Long expressions are omitted.
std::string ShortSize(const Dim& d) {
  std::string text = SizeText(d);
  return text.size() > kLongestName ? "?" : text;
}

std::string TypeLabel(const Type& type) {
  if (!type.dims) return {};
  std::string out = Times(*type.dims, ShortSize);
  if (type.dtype != DType::kF32 && type.dtype != DType::kUnknown)
    out += fmt::format(" {}", DTypeName(type.dtype));
  return EscapeControls(out);
}

// Of the nodes of one operator, the one of the largest weight gives the box its color.
int WeightOf(Category category) {
  switch (category) {
    case Category::kConvolution:
    case Category::kMatmul:
    case Category::kRecurrent:
    case Category::kNormalization:
    case Category::kPooling:
      return 3;
    case Category::kActivation:
    case Category::kReduction:
    case Category::kArithmetic:
      return 2;
    case Category::kQuantization:
      return 1;
    default:
      return 0;
  }
}

// Types of values, and constants and kinds of operators, for all panels.
class Lookup {
 public:
  Lookup(const LoadedModel& model, const std::vector<TensorEntry>& tensors)
      : operators_(model.summary.operators), tensors_(tensors), types_(TypesByName(model)) {
    if (model.graph) FindCategories(*model.graph);
    for (size_t t = 0; t < tensors.size(); ++t)
      for (const size_t user : tensors[t].users) constants_[user].push_back(t);
    for (auto& [op, list] : constants_) {
      const std::vector<std::string>& inputs = operators_[op].inputs;
      std::unordered_map<std::string_view, size_t> places;
      for (size_t i = 0; i < inputs.size(); ++i) places.emplace(inputs[i], i);
      const auto place = [&](size_t t) {
        const auto it = places.find(tensors[t].name);
        return it == places.end() ? inputs.size() : it->second;
      };
      std::stable_sort(list.begin(), list.end(),
                       [&](size_t a, size_t b) { return place(a) < place(b); });
    }
  }

  std::string Label(const std::string& value, bool main) const {
    const auto it = types_.find(value);
    return main && it != types_.end() ? TypeLabel(*it->second) : std::string();
  }

  BoxKind Kind(size_t op) const {
    const auto it = categories_.find(op);
    const BoxKind kind = it == categories_.end() ? BoxKind::kOther : KindOfCategory(it->second);
    return kind == BoxKind::kOther ? KindOfOperator(operators_[op].op) : kind;
  }

  std::vector<std::string> Rows(size_t op) const {
    std::vector<std::string> rows;
    std::string line;
    for (const std::string& a : ShownAttributes(operators_[op])) {
      if (!line.empty() && DisplayWidth(line) + DisplayWidth(a) > 30) {
        rows.push_back(line);
        line.clear();
      }
      line += (line.empty() ? "" : ", ") + a;
    }
    if (!line.empty()) rows.push_back(line);
    AddConstantRows(op, rows);
    return rows;
  }

  // A key of a constant's type and contents, to distinguish operators.
  std::string Constants(size_t op) const {
    std::string out;
    const auto it = constants_.find(op);
    if (it == constants_.end()) return out;
    for (const size_t t : it->second)
      out += tensors_[t].type + ShapeText(tensors_[t].shape) + ValueOf(tensors_[t], false);
    return out;
  }

 private:
  // Categories of imported operators. Nodes count the operators of the main graph.
  void FindCategories(const Graph& graph) {
    std::vector<size_t> main;
    for (size_t i = 0; i < operators_.size(); ++i)
      if (operators_[i].scope.empty()) main.push_back(i);
    for (const Node& node : graph.nodes()) {
      const int64_t index = node.source().index;
      if (index < 0 || static_cast<size_t>(index) >= main.size()) continue;
      const size_t op = main[static_cast<size_t>(index)];
      const Category category = node.op().category;
      const auto [it, first] = categories_.emplace(op, category);
      if (node.op().is_opaque || (!first && WeightOf(category) > WeightOf(it->second)))
        it->second = category;
    }
  }

  // Constant names grouped by type, "weight, bias: 64".
  void AddConstantRows(size_t op, std::vector<std::string>& rows) const {
    const auto it = constants_.find(op);
    if (it == constants_.end()) return;
    std::vector<std::pair<std::string, std::vector<std::string>>> kinds;
    for (const size_t t : it->second) {
      std::string what = ValueOf(tensors_[t], true);
      const auto number = [](int64_t d) { return std::to_string(d); };
      if (what.empty()) what = Times(tensors_[t].shape, number);
      if (kinds.empty() || kinds.back().first != what)
        kinds.emplace_back(std::move(what), std::vector<std::string>());
      kinds.back().second.push_back(OwnName(tensors_[t].name));
    }
    std::string unnamed;  // share a row
    for (size_t i = 0; i < kinds.size(); ++i) {
      if (i == kShownConstants) {
        rows.push_back(fmt::format("and {} more", kinds.size() - i));
        return;
      }
      const std::string names = JoinNames(kinds[i].second);
      if (!names.empty()) {
        rows.push_back(names + ": " + kinds[i].first);
      } else if (!unnamed.empty() && !rows.empty() && rows.back() == unnamed &&
                 unnamed.size() + kinds[i].first.size() < kLongestName) {
        rows.back() = unnamed += ", " + kinds[i].first;
      } else {
        rows.push_back(unnamed = kinds[i].first);
      }
    }
  }

  // Empty if no name is descriptive.
  static std::string JoinNames(const std::vector<std::string>& names) {
    std::string out;
    size_t shown = 0;
    for (const std::string& name : names) {
      if (name.empty()) return {};
      if (shown > 0 && DisplayWidth(out) + DisplayWidth(name) > kLongestNames)
        return out + fmt::format(" and {} more", names.size() - shown);
      out += (shown++ == 0 ? "" : ", ") + name;
    }
    return out;
  }

  // The contents of small constants, such as axes; rounded for floats, for display only.
  static std::string ValueOf(const TensorEntry& t, bool reals) {
    constexpr uint64_t kMaxBytes = 48;
    if (t.external || t.bytes > kMaxBytes || t.shape.size() > 1) return {};
    const auto tensor = t.read();
    if (!tensor || tensor->elements() > 6) return {};
    std::string out;
    if (IsInteger(tensor->dtype())) {
      for (const int64_t v : tensor->ToInts()) out += (out.empty() ? "" : ", ") + std::to_string(v);
    } else if (reals && tensor->dtype() == DType::kF32 && t.shape.empty()) {
      return fmt::format("{}", static_cast<float>(tensor->GetDouble(0)));
    } else {
      return {};
    }
    return t.shape.empty() ? out : "[" + out + "]";
  }

  const std::vector<OperatorSummary>& operators_;
  const std::vector<TensorEntry>& tensors_;
  std::map<std::string, const Type*, std::less<>> types_;
  std::unordered_map<size_t, std::vector<size_t>> constants_;
  std::unordered_map<size_t, Category> categories_;
};

// Draws the operators of one scope.
class PanelDrawer {
 public:
  PanelDrawer(const LoadedModel& model, const Lookup& lookup, std::vector<size_t> operators,
              const std::set<std::string>& constants)
      : summary_(model.summary),
        lookup_(lookup),
        operators_(std::move(operators)),
        constants_(constants),
        main_(summary_.operators[operators_[0]].scope.empty()) {
    for (size_t i = 0; i < operators_.size(); ++i)
      for (const std::string& name : Op(i).outputs)
        if (!name.empty()) producer_.emplace(name, i);
  }

  Panel Draw(bool expand) {
    panel_.title = EscapeControls(Op(0).scope);
    FindResults();
    FindInputs();
    FindRepetitions();
    AddInputs();
    AddOperators(expand);
    AddOutputs();
    for (size_t i = 0; i < operators_.size(); ++i)
      if (drawn_[i]) AddLines(i);
    for (const std::string& name : outputs_) Connect(name, output_box_.at(name));
    return std::move(panel_);
  }

 private:
  const OperatorSummary& Op(size_t i) const { return summary_.operators[operators_[i]]; }

  // The final values of the panel: the model's outputs, or values that nothing in a subgraph reads.
  void FindResults() {
    results_.assign(operators_.size(), false);
    const auto add = [&](const std::string& name) {
      const auto it = producer_.find(name);
      if (it != producer_.end()) results_[it->second] = true;
      if (output_box_.emplace(name, 0).second) outputs_.push_back(name);
    };
    if (main_) {
      for (const TensorSummary& t : summary_.outputs) add(t.name);
      return;
    }
    std::set<std::string> taken;
    for (size_t i = 0; i < operators_.size(); ++i)
      taken.insert(Op(i).inputs.begin(), Op(i).inputs.end());
    for (size_t i = 0; i < operators_.size(); ++i)
      for (const std::string& name : Op(i).outputs)
        if (!name.empty() && !taken.contains(name)) add(name);
  }

  // Inputs count as operators before all others, so that the first block, which reads an input,
  // matches the blocks that read the previous block.
  void FindRepetitions() {
    const std::hash<std::string> hash;
    std::unordered_map<std::string, size_t> number;
    std::vector<Repeatable> list;
    for (const std::string& name : inputs_) {
      number.emplace(name, list.size());
      list.push_back({.token = hash("input " + name), .inputs = {}, .outside = {}, .shared = 0});
    }
    const size_t first = list.size();
    std::vector<std::string> scopes, before;
    for (const auto& [name, i] : producer_) number.emplace(name, first + i);
    for (size_t i = 0; i < operators_.size(); ++i) {
      const OperatorSummary& op = Op(i);
      std::string text = op.op + lookup_.Constants(operators_[i]);
      for (const auto& [name, value] : op.attributes)
        text.append(";").append(name).append("=").append(value);
      for (const std::string& name : op.outputs) text += ">" + lookup_.Label(name, main_);
      Repeatable r{.token = hash(text), .inputs = {}, .outside = {}, .shared = 0};
      for (const std::string& name : op.inputs) {
        const auto it = number.find(name);
        r.inputs.push_back(it == number.end() ? Repeatable::kOutside
                                              : static_cast<int64_t>(it->second));
        if (it == number.end()) r.outside.push_back(name.empty() ? 1 : 0);
      }
      scopes = BranchesTo(op);
      while (r.shared < std::min(scopes.size(), before.size()) &&
             scopes[r.shared] == before[r.shared])
        ++r.shared;
      before.swap(scopes);
      list.push_back(std::move(r));
    }
    std::vector<bool> results(first, false);
    results.insert(results.end(), results_.begin(), results_.end());
    repeats_ = FindRepeats(list, results);
    for (Repeat& r : repeats_) r.start -= first;
  }

  // Without the panel's own.
  static std::vector<std::string> ScopesOf(const OperatorSummary& op) {
    std::vector<std::string> scopes = BranchesTo(op);
    if (!op.scope.empty()) scopes.erase(scopes.begin());
    for (std::string& s : scopes) s = EscapeControls(s);
    return scopes;
  }

  // The operators whose boxes represent each operator: the counterparts in the first repetition.
  std::vector<size_t> Counterparts(const std::vector<Repeat>& repeats) const {
    std::vector<size_t> out(operators_.size());
    for (size_t i = 0; i < out.size(); ++i) out[i] = i;
    for (const Repeat& r : repeats)
      for (size_t i = r.period; i < r.period * r.times; ++i)
        out[r.start + i] = r.start + i % r.period;
    return out;
  }

  // Non-constant values from outside: the model's inputs, or values of outer graphs.
  void FindInputs() {
    std::set<std::string> seen;
    const auto add = [&](const std::string& name) {
      if (!name.empty() && !producer_.contains(name) && !constants_.contains(name) &&
          seen.insert(name).second)
        inputs_.push_back(name);
    };
    if (main_)
      for (const TensorSummary& t : summary_.inputs) add(t.name);
    for (size_t i = 0; i < operators_.size(); ++i)
      for (const std::string& name : Op(i).inputs) add(name);
  }

  void AddInputs() {
    for (const std::string& name : inputs_) {
      input_box_[name] = panel_.boxes.size();
      panel_.boxes.push_back({BoxKind::kInput, Shorten(name), {}, EscapeControls(name)});
    }
  }

  void AddOperators(bool expand) {
    drawn_.assign(operators_.size(), false);
    box_.assign(operators_.size(), 0);
    const std::vector<Repeat> none;
    const std::vector<size_t> counterparts = Counterparts(expand ? none : repeats_);
    for (size_t i = 0; i < operators_.size(); ++i) {
      const size_t shown = counterparts[i];
      drawn_[i] = shown == i;
      box_[i] = drawn_[i] ? panel_.boxes.size() : box_[shown];
      if (!drawn_[i]) continue;
      const OperatorSummary& op = Op(i);
      const std::string hint = fmt::format("#{} {}", operators_[i], EscapeControls(op.name));
      panel_.boxes.push_back({lookup_.Kind(operators_[i]), Shorten(op.op),
                              lookup_.Rows(operators_[i]), hint, operators_[i], ScopesOf(op)});
    }
    for (const Repeat& r : repeats_)
      (expand ? panel_.expanded : panel_.repetitions)
          .push_back({box_[r.start], box_[r.start + r.period - 1], r.times});
  }

  void AddOutputs() {
    for (const std::string& name : outputs_) {
      output_box_[name] = panel_.boxes.size();
      panel_.boxes.push_back({BoxKind::kOutput, Shorten(name), {}, EscapeControls(name)});
    }
  }

  void AddLines(size_t i) {
    std::set<std::string> seen;  // an operator may read a value twice
    for (const std::string& name : Op(i).inputs)
      if (!name.empty() && seen.insert(name).second) Connect(name, box_[i]);
  }

  void Connect(const std::string& name, size_t to) {
    size_t from = 0;
    if (const auto it = producer_.find(name); it != producer_.end()) {
      from = box_[it->second];
    } else if (const auto input = input_box_.find(name); input != input_box_.end()) {
      from = input->second;
    } else {
      return;
    }
    const bool first = labeled_.insert(name).second;
    panel_.lines.push_back(
        {from, to, EscapeControls(name), first ? lookup_.Label(name, main_) : std::string()});
  }

  const ModelSummary& summary_;
  const Lookup& lookup_;
  std::vector<size_t> operators_;
  const std::set<std::string>& constants_;
  bool main_;
  std::unordered_map<std::string, size_t> producer_;
  std::vector<bool> results_;
  std::vector<std::string> inputs_;
  std::vector<Repeat> repeats_;
  std::vector<bool> drawn_;
  std::vector<size_t> box_;
  std::unordered_map<std::string, size_t> input_box_;
  std::unordered_map<std::string, size_t> output_box_;
  std::vector<std::string> outputs_;
  std::set<std::string> labeled_;
  Panel panel_;
};

// Constant operators of ONNX are drawn like any other constant.
bool IsConstantOperator(const OperatorSummary& op) {
  return op.op == "Constant" && op.inputs.empty();
}

}  // namespace

Result<Picture> DrawModel(const LoadedModel& model, bool expand) {
  NN_ASSIGN(const std::vector<TensorEntry> tensors, TensorsOf(model));
  const Lookup lookup(model, tensors);
  std::set<std::string> constants;
  for (const TensorEntry& t : tensors) constants.insert(t.name);
  std::vector<std::string> scopes;
  std::unordered_map<std::string, std::vector<size_t>> members;
  const auto& operators = model.summary.operators;
  for (size_t i = 0; i < operators.size(); ++i) {
    if (IsConstantOperator(operators[i])) {
      constants.insert(operators[i].outputs.begin(), operators[i].outputs.end());
      continue;
    }
    auto& list = members[operators[i].scope];
    if (list.empty()) scopes.push_back(operators[i].scope);
    list.push_back(i);
  }
  Picture picture;
  picture.title = EscapeControls(model.summary.name.empty() ? model.path : model.summary.name);
  picture.subtitle = EscapeControls(fmt::format(
      "{}, {}; {} operators, {} parameters", model.summary.format, model.summary.version,
      WithThousands(operators.size()), WithThousands(model.summary.parameter_count)));
  for (const std::string& scope : scopes)
    picture.panels.push_back(PanelDrawer(model, lookup, members[scope], constants).Draw(expand));
  return picture;
}

}  // namespace nn::inspect
