#include "convert/edits/graph_edits.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "base/text/from_chars.h"
#include "base/text/text.h"
#include "convert/edits/carry.h"
#include "convert/edits/edits.h"
#include "passes/core/ports.h"

namespace nn {
namespace {

// The parts between separators; one empty part for an empty text.
std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<int64_t> SizeOf(std::string_view text) {
  int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc() && end == text.data() + text.size() && n >= 0 ? std::optional(n)
                                                                            : std::nullopt;
}

bool IsSymbol(std::string_view text) {
  const auto is_letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, [&](char c) {
    return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
}

// A size or a symbol.
std::optional<Dim> DimOf(std::string_view text) {
  if (const auto size = SizeOf(text)) return Dim(*size);
  return IsSymbol(text) ? std::optional(Dim::Symbol(text)) : std::nullopt;
}

std::string_view ShapePart(std::string_view text) {
  const size_t colon = text.rfind(':');
  return colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
}

Result<std::map<std::string, Dims>> SymbolShapes(const std::vector<std::string>& texts) {
  std::map<std::string, Dims> shapes;
  for (const std::string& text : texts) {
    Dims dims;
    const std::string_view shape = ShapePart(text);
    if (shape.size() == text.size() || shape.empty())
      return UsageError("--input-shape {}: expected NAME:SIZE,SIZE,...", Quote(text));
    for (const std::string& part : Split(shape, ',')) {
      const auto dim = DimOf(part);
      if (!dim)
        return UsageError(
            "--input-shape {}: {} is neither a size nor a symbol such as N, in a list such as "
            "N,3,h,w",
            Quote(text), Quote(part));
      dims.push_back(*dim);
    }
    const std::string name = text.substr(0, text.size() - shape.size() - 1);
    if (!shapes.emplace(name, std::move(dims)).second)
      return UsageError("--input-shape {}: the input already has a shape", Quote(text));
  }
  return shapes;
}

// The port of "NAME:REST" or "NAME=REST", where NAME may have these characters, too.
struct NamedPort {
  bool is_input = true;
  size_t port = 0;
  std::string rest;
};
std::optional<NamedPort> SplitPort(const std::string& text, char separator, const Graph& graph,
                                   bool outputs) {
  const auto find = [&](const std::vector<Port>& ports, bool is_input) -> std::optional<NamedPort> {
    std::optional<NamedPort> found;
    size_t longest = 0;
    for (size_t i = 0; i < ports.size(); ++i) {
      const std::string& name = ports[i].name;
      if (!text.starts_with(name) || text.size() <= name.size() || text[name.size()] != separator ||
          (found && name.size() <= longest))
        continue;
      longest = name.size();
      found = NamedPort{is_input, i, text.substr(name.size() + 1)};
    }
    return found;
  };
  auto found = find(graph.inputs(), true);
  return !found && outputs ? find(graph.outputs(), false) : found;
}

// ---- --preprocess

Result<std::vector<double>> NumbersOf(const std::string& text, const std::string& option) {
  std::vector<double> numbers;
  for (const std::string& part : Split(text, ',')) {
    double v = 0;
    const auto [end, error] = FromChars(part.data(), part.data() + part.size(), v);
    if (error != std::errc() || end != part.data() + part.size() || !std::isfinite(v))
      return UsageError("--preprocess {}: {} is not a finite number", Quote(option), Quote(part));
    numbers.push_back(v);
  }
  return numbers;
}

// "240x320" or "240", and ":nearest".
Status SetSize(const std::string& text, const std::string& option, Preprocessing& p) {
  const size_t colon = text.find(':');
  const std::string mode = colon == std::string::npos ? "bilinear" : text.substr(colon + 1);
  const std::vector<std::string> sizes = Split(std::string_view(text).substr(0, colon), 'x');
  const auto height = SizeOf(sizes.front()), width = SizeOf(sizes.back());
  if (sizes.size() > 2 || !height || !width || *height < 1 || *width < 1 || *height > 65536 ||
      *width > 65536 || (mode != "bilinear" && mode != "nearest"))
    return UsageError("--preprocess {}: expected resize=HEIGHTxWIDTH, with :bilinear or :nearest",
                      Quote(option));
  p.size = std::pair(*height, *width);
  p.mode = mode == "nearest" ? ResizeMode::kNearest : ResizeMode::kLinear;
  return {};
}

// Lists of numbers have commas, as the list of settings does: a part that begins with a number
// belongs to the setting before it.
std::vector<std::string> SettingsIn(const std::string& text) {
  std::vector<std::string> settings;
  for (std::string& part : Split(text, ',')) {
    const bool continues = !part.empty() && std::isalpha(static_cast<unsigned char>(part[0])) == 0;
    if (continues && !settings.empty())
      settings.back() += "," + part;
    else
      settings.push_back(std::move(part));
  }
  return settings;
}

Status SetOne(const std::string& setting, const std::string& option, Preprocessing& p) {
  if (setting == "u8") return p.bytes = true, Status();
  if (setting == "bgr") return p.reverse_colors = true, Status();
  if (setting == "nchw") return p.layout = Layout::kNcx, Status();
  if (setting == "nhwc") return p.layout = Layout::kNxc, Status();
  const size_t equals = setting.find('=');
  const std::string key = setting.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
  if (key == "resize") return SetSize(value, option, p);
  if (key != "scale" && key != "mean" && key != "std" && key != "bias")
    return UsageError(
        "--preprocess {}: {} is not u8, resize=, scale=, mean=, std=, bias=, bgr, nchw or nhwc",
        Quote(option), Quote(setting));
  NN_ASSIGN(std::vector<double> numbers, NumbersOf(value, option));
  if (key == "scale") {
    if (numbers.size() != 1)
      return UsageError("--preprocess {}: scale is one number", Quote(option));
    p.scale = numbers[0];
    return {};
  }
  (key == "mean" ? p.mean : key == "std" ? p.std : p.bias) = std::move(numbers);
  return {};
}

// The layouts of inputs, which are hard to recognize after preprocessing.
using Layouts = std::vector<std::optional<Layout>>;

Result<GraphEdit> Preprocess(const std::string& text, const Format& format, Graph& graph,
                             Layouts& layouts) {
  const auto port = SplitPort(text, ':', graph, false);
  if (!port)
    return UsageError("--preprocess {}: expected INPUT:SETTING,..., where INPUT is one of {}",
                      Quote(text), NameList(graph.inputs()));
  Preprocessing p;
  for (const std::string& setting : SettingsIn(port->rest))
    NN_RETURN_IF_ERROR(SetOne(setting, text, p));
  // Inputs that the model declares as images take pixels, in the order of colors that it states.
  if (const auto colors = format.importer.ImageColorsOf(graph, graph.inputs()[port->port].name);
      colors && p.bytes) {
    if (!p.scale) p.scale = 1;
    p.reverse_colors = p.reverse_colors || *colors == ImageColors::kBgr;
  }
  if (p.layout) layouts[port->port] = p.layout;
  return PreprocessInput(graph, port->port, p);
}

// ---- --layout

std::optional<Layout> LayoutNamed(std::string_view name) {
  return name == "nchw"   ? std::optional(Layout::kNcx)
         : name == "nhwc" ? std::optional(Layout::kNxc)
                          : std::nullopt;
}

Result<GraphEdit> SetPortLayout(const std::string& text, const Layouts& layouts, Graph& graph) {
  const auto port = SplitPort(text, '=', graph, true);
  if (!port)
    return UsageError("--layout {}: expected NAME=nhwc or NAME=nchw, where NAME is one of {}, {}",
                      Quote(text), NameList(graph.inputs()), NameList(graph.outputs()));
  const std::vector<std::string> names = Split(port->rest, ':');
  const auto to = LayoutNamed(names.back());
  auto from = names.size() == 2 ? LayoutNamed(names.front()) : std::nullopt;
  if (names.size() > 2 || !to || (names.size() == 2 && !from))
    return UsageError("--layout {}: expected nhwc, nchw, or both as in nchw:nhwc", Quote(text));
  if (!from && port->is_input) from = layouts[port->port];
  return ChangeLayout(graph, port->is_input, port->port, from, *to);
}

// ---- --merge

// The connections of --connect; if there is none, of the only output to the only input.
Result<std::vector<Connection>> Connections(const GraphEdits& edits, const std::string& path,
                                            const Graph& graph, const Graph& other) {
  std::vector<Connection> out;
  for (const std::string& text : edits.connections) {
    const std::vector<std::string> outputs = NamesOf(graph.outputs());
    const std::vector<std::string> inputs = NamesOf(other.inputs());
    std::optional<Connection> found;
    for (size_t i = 0; i < outputs.size(); ++i)
      for (size_t k = 0; k < inputs.size(); ++k)
        if (text == outputs[i] + "=" + inputs[k]) found = Connection{i, k};
    if (!found)
      return UsageError(
          "--connect {}: expected OUTPUT=INPUT with an output of {}, {}, and an input of {}, {}",
          Quote(text), Quote(path), NameList(outputs), Quote(edits.merge), NameList(inputs));
    if (std::ranges::any_of(out, [&](const Connection& c) { return c.input == found->input; }))
      return UsageError("--connect {}: the input is connected already", Quote(text));
    out.push_back(*found);
  }
  if (!out.empty()) return out;
  if (graph.outputs().size() == 1 && other.inputs().size() == 1) return std::vector<Connection>(1);
  return UsageError(
      "--merge requires --connect OUTPUT=INPUT: outputs of {} are {}, inputs of {} are {}",
      Quote(path), NameList(graph.outputs()), Quote(edits.merge), NameList(other.inputs()));
}

Result<GraphEdit> Merge(const GraphEdits& edits, const ModelToEdit& model, Graph& graph) {
  NN_ASSIGN(const ReadModel read, ReadModelFile(edits.merge, model.limits));
  NN_ASSIGN(ImportedModel imported, ImportModel(read, edits.merge, InputSettings()));
  Graph& other = imported.graph;
  NamePorts(other);
  NN_ASSIGN(const std::vector<Connection> connections,
            Connections(edits, model.path, graph, other));
  const std::string prefix = std::filesystem::path(edits.merge).stem().string() + "_";
  ModelFunction run = FunctionOf(other.Clone(), model.verification);
  NN_ASSIGN(GraphEdit edit, MergeGraph(graph, other, connections, prefix, std::move(run)));
  edit.notes.insert(edit.notes.begin(),
                    fmt::format("{} follows, with {} connected output{}", Quote(edits.merge),
                                connections.size(), connections.size() == 1 ? "" : "s"));
  return edit;
}

// ---- --cache-length

Result<GraphEdit> FixStates(const std::vector<std::string>& carry, int64_t length, Graph& graph) {
  std::vector<Connection> states;
  for (const std::string& text : carry) {
    const auto ports = CarriedPortsOf(text, graph);
    if (!ports) return tl::unexpected(ports.error().In("--carry"));
    states.push_back(*ports);
  }
  auto edit = FixStateSizes(graph, states, length);
  if (edit && edit->notes.empty())
    return UsageError("--cache-length has no effect: the sizes of all states are fixed");
  return edit;
}

}  // namespace

bool HasSymbols(const std::string& input_shape) {
  return std::ranges::any_of(Split(ShapePart(input_shape), ','), IsSymbol);
}

Status CheckGraphEdits(const GraphEdits& edits, std::optional<int64_t> batch) {
  if (!edits.connections.empty() && edits.merge.empty())
    return UsageError("--connect requires --merge");
  if (!edits.batch.empty() && batch)
    return UsageError(
        "--set-batch and --batch both set the batch; --set-batch alone does for all "
        "models");
  return {};
}

std::string_view GraphEditOption(const GraphEdits& edits) {
  return !edits.merge.empty()           ? "--merge"
         : !edits.symbol_shapes.empty() ? "--input-shape"
         : !edits.batch.empty()         ? "--set-batch"
         : !edits.preprocess.empty()    ? "--preprocess"
         : !edits.layouts.empty()       ? "--layout"
         : edits.cache_length           ? "--cache-length"
                                        : "";
}

Result<std::vector<GraphEdit>> ApplyGraphEdits(const GraphEdits& edits, const ModelToEdit& model,
                                               Graph& graph) {
  std::vector<GraphEdit> done;
  const auto add = [&done](Result<GraphEdit> edit) -> Status {
    if (!edit) return tl::unexpected(edit.error());
    done.push_back(*std::move(edit));
    return {};
  };
  if (!edits.merge.empty()) {
    // Sizes of the model decide whether the other one fits.
    InputShapes own;
    for (const Port& p : graph.inputs())
      if (const auto it = model.shapes.find(p.name); it != model.shapes.end()) own.insert(*it);
    NN_RETURN_IF_ERROR(BindShapes(graph, own, std::nullopt));
    NN_RETURN_IF_ERROR(add(Merge(edits, model, graph)));
  }
  // Numbers are set before other sizes open.
  NN_RETURN_IF_ERROR(BindShapes(graph, model.shapes, model.batch));
  if (!edits.symbol_shapes.empty()) {
    NN_ASSIGN(const auto shapes, SymbolShapes(edits.symbol_shapes));
    auto edit = SetInputShapes(graph, shapes);
    if (edit && edit->notes.empty())
      return UsageError("--input-shape has no effect: the inputs have these shapes");
    NN_RETURN_IF_ERROR(add(std::move(edit)));
  }
  if (!edits.batch.empty()) {
    const auto batch = DimOf(edits.batch);
    if (!batch)
      return UsageError("--set-batch {}: expected a size or a symbol such as N",
                        Quote(edits.batch));
    auto edit = SetBatch(graph, *batch);
    if (edit && edit->notes.empty())
      return UsageError("--set-batch {} has no effect: the inputs have this batch", edits.batch);
    NN_RETURN_IF_ERROR(add(std::move(edit)));
  }
  Layouts layouts;
  for (const Port& p : graph.inputs())
    layouts.push_back(edits.layouts.empty() ? std::nullopt : LayoutOf(*p.value));
  for (const std::string& text : edits.preprocess)
    NN_RETURN_IF_ERROR(add(Preprocess(text, model.format, graph, layouts)));
  for (const std::string& text : edits.layouts)
    NN_RETURN_IF_ERROR(add(SetPortLayout(text, layouts, graph)));
  if (edits.cache_length)
    NN_RETURN_IF_ERROR(add(FixStates(model.carry, *edits.cache_length, graph)));
  return done;
}

}  // namespace nn
