// A graph as a model with an ML Program.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/text/name_table.h"
#include "base/text/text.h"
#include "coreml_model.pb.h"
#include "formats/common/interface.h"
#include "formats/coreml/export/write_interface.h"
#include "formats/coreml/file/native.h"
#include "formats/coreml/import/interface.h"
#include "formats/coreml/program/export/export.h"
#include "formats/coreml/roles.h"
#include "formats/state_frame.h"

namespace nn::coreml::program {
namespace {

constexpr std::string_view kFunction = "main";
constexpr std::string_view kWeights = "weights/weight.bin";
// The version of the messages.
constexpr int64_t kProgramVersion = 1;

// The first operation sets whose systems have arrays of float16, and conversions between those of
// int32 and narrow integers.
constexpr Opset kHasHalfArrays = Opset::kIos16, kHasNarrowIntegers = Opset::kIos17;
// The first operation set with states.
constexpr Opset kHasStates = Opset::kIos18;

// A state of the function. In the graph, it is an input before a run and an output after it.
struct WrittenState {
  std::string name;  // in the file
  const Value* before;
  const Value* after;
};

// What a graph is for the function: its ports, without those of states.
struct FunctionPorts {
  std::span<const Port> inputs, outputs;
  std::vector<WrittenState> states;
  std::map<std::string, std::string> names;  // in the file, by those of the ports
};

// The first operation set that has the port; nullopt if none does. Float16 is converted if need be.
std::optional<Opset> OldestFor(const Port& p, Opset newest) {
  switch (p.value->dtype()) {
    case DType::kF32:
    case DType::kI32:
    case DType::kI64:
    case DType::kBool:
      return Opset::kIos15;
    case DType::kF16:
      return std::min(newest, kHasHalfArrays);
    case DType::kI8:
    case DType::kI16:
    case DType::kU8:
    case DType::kU16:
      return newest < kHasNarrowIntegers ? std::nullopt : std::optional(kHasNarrowIntegers);
    default:
      return std::nullopt;
  }
}

// The first operation set that has all inputs, outputs and states.
Result<Opset> OldestFor(const FunctionPorts& ports, Opset newest) {
  Opset oldest = ports.states.empty() ? Opset::kIos15 : kHasStates;
  const auto add = [&](std::string_view side, std::span<const Port> all) -> Status {
    for (const Port& p : all) {
      const auto first = OldestFor(p, newest);
      if (!first)
        return UnsupportedError("{} {}: it is {}, which Core ML cannot convert to an array", side,
                                Quote(p.name), DTypeName(p.value->dtype()));
      oldest = std::max(oldest, *first);
    }
    return {};
  };
  NN_RETURN_IF_ERROR(add("input", ports.inputs));
  NN_RETURN_IF_ERROR(add("output", ports.outputs));
  return oldest;
}

// The element type of an array for values of this type.
DType PortType(DType dtype, Opset opset) {
  if (dtype == DType::kBool) return DType::kF32;
  if (dtype == DType::kF16 && opset < kHasHalfArrays) return DType::kF32;
  return IsInteger(dtype) ? DType::kI32 : dtype;
}

// Core ML keeps states as arrays of float16, which are 0 at first.
Status CheckState(const ModelState& state, const Type& type, Opset newest) {
  const auto refuse = [&](std::string why) {
    return UnsupportedError("state {}: {}", Quote(state.name), why);
  };
  if (newest < kHasStates)
    return refuse("ML Programs have states from iOS18 on; use --deployment-target iOS18");
  if (type.dtype != DType::kF16)
    return refuse(fmt::format("it is {}, but states of ML Programs are f16{}",
                              DTypeName(type.dtype),
                              type.dtype == DType::kF32 ? "; use --fp16" : ""));
  if (!type.const_dims())
    return refuse(
        fmt::format("it is {}, but the size of a state is fixed; use --cache-length or "
                    "--input-shape",
                    type.ToString()));
  if (state.initial &&
      std::ranges::any_of(state.initial->ToDoubles(), [](double x) { return x != 0; }))
    return refuse("states of ML Programs begin as 0, and it does not");
  return {};
}

// A name of its own for each port and state, and for the label of a classifier.
Result<FunctionPorts> PortsOf(const Graph& graph, const ExportOptions& options, Opset newest,
                              const std::optional<Classes>& classes) {
  FunctionPorts out{
      .inputs = graph.inputs(), .outputs = graph.outputs(), .states = {}, .names = {}};
  NameTable used;
  const auto* const frame = dynamic_cast<const StateFrame*>(options.frame.get());
  const size_t states = frame == nullptr ? 0 : frame->states.size();
  for (auto* const ports : {&out.inputs, &out.outputs}) {
    *ports = ports->first(ports->size() - states);
    for (const Port& p : *ports)
      if (!out.names.contains(p.name)) out.names[p.name] = used.New(Identifier(p.name));
  }
  if (classes && !out.names.contains(classes->label))
    out.names[classes->label] = used.New(Identifier(classes->label));
  for (size_t i = 0; i < states; ++i) {
    const ModelState& state = frame->states[i];
    const Value* const before = graph.inputs()[out.inputs.size() + i].value;
    NN_RETURN_IF_ERROR(CheckState(state, before->type(), newest));
    out.states.push_back(
        {used.New(Identifier(state.name)), before, graph.outputs()[out.outputs.size() + i].value});
  }
  if (out.outputs.empty())
    return UnsupportedError(
        "model: it has no outputs beside its states, but Core ML models need "
        "at least one");
  return out;
}

class ProgramWriter {
 public:
  ProgramWriter(const Graph& graph, const FunctionPorts& ports, const ProgramForm& form,
                mil::Function& function, ConstantStore store)
      : graph_(graph),
        ports_(ports),
        function_(function),
        block_(NewBlock(function, form.opset)),
        ctx_(block_, form.opset, store) {
    if (form.packs_constants) ctx_.UsePacking();
  }

  Status Run(const std::optional<Classes>& classes) {
    for (const Port& p : ports_.inputs) NN_RETURN_IF_ERROR(AddInput(p));
    std::vector<const Port*> others;
    for (const Port& p : ports_.outputs) {
      const std::string& name = ports_.names.at(p.name);
      block_.add_outputs(name);
      if (classes && p.name == classes->scores) {  // the name of the dictionary
        ctx_.Reserve(name);
      } else if (!IsPlain(p.value) || !ctx_.Claim(p.value, name)) {
        ctx_.Reserve(name);
        others.push_back(&p);
      } else {
        ctx_.Declare(name, ValueTypeOf(p.value->type()));
      }
    }
    if (classes) {
      block_.add_outputs(ports_.names.at(classes->label));
      ctx_.Reserve(ports_.names.at(classes->label));
    }
    for (const WrittenState& s : ports_.states) ctx_.Reserve(s.name);
    for (const WrittenState& s : ports_.states) NN_RETURN_IF_ERROR(ReadState(s));
    for (const Node& node : graph_.nodes())
      if (auto s = WriteNode(ctx_, node); !s) return tl::unexpected(s.error().In(node.Describe()));
    for (const Port* const p : others)
      if (auto s = AddOutput(*p); !s)
        return tl::unexpected(s.error().In("output " + Quote(p->name)));
    for (const WrittenState& s : ports_.states) NN_RETURN_IF_ERROR(WriteState(s));
    return classes ? AddClasses(*classes) : Status();
  }

 private:
  static mil::Block& NewBlock(mil::Function& function, Opset opset) {
    function.set_opset(std::string(FileNameOf(opset)));
    auto& specialization = *function.add_block_specializations();
    specialization.set_key(function.opset());
    return *specialization.mutable_value();
  }

  // Whether the value of an output can be that of the function.
  bool IsPlain(const Value* v) const {
    return !v->is_constant() && !v->is_input() && IsArrayType(v->dtype());
  }
  DType PortOf(const Value* v) const { return PortType(v->dtype(), ctx_.opset()); }
  // Whether arrays have the type that the program has for it.
  bool IsArrayType(DType dtype) const {
    return DataTypeOf(PortType(dtype, ctx_.opset())) == DataTypeOf(dtype);
  }

  // Other element types are converted from those that arrays have.
  Status AddInput(const Port& p) {
    const DType dtype = PortOf(p.value);
    const std::string name = ports_.names.at(p.name);
    mil::NamedValueType& input = *function_.add_inputs();
    input.set_name(name);
    *input.mutable_type() = TensorTypeOf(DataTypeOf(dtype), *p.value->type().dims);
    ctx_.Declare(name, input.type());
    ctx_.Define(p.value);
    if (IsArrayType(p.value->dtype())) {
      ctx_.Claim(p.value, name);
      return {};
    }
    ctx_.Reserve(name);
    const std::string_view to = NameInPrograms(p.value->dtype());
    NN_ASSIGN(std::string converted,
              ctx_.Add("cast").In("x", name).Text("dtype", to).Helper(p.value->type(), Node()));
    ctx_.SetName(p.value, std::move(converted));
    return {};
  }

  Status AddOutput(const Port& p) {
    const std::string name = ports_.names.at(p.name);
    Type type = p.value->type();
    const bool is_array_type = IsArrayType(type.dtype);
    type.dtype = PortOf(p.value);
    OperationWriter op = ctx_.Add(is_array_type ? "identity" : "cast");
    op.In("x", p.value);
    if (!is_array_type) op.Text("dtype", NameInPrograms(type.dtype));
    return op.To(std::span(&name, 1), std::span(&type, 1), Node());
  }

  // A state is read before all operations, and written after them.
  Status ReadState(const WrittenState& state) {
    mil::NamedValueType& input = *function_.add_inputs();
    input.set_name(state.name);
    *input.mutable_type()->mutable_statetype()->mutable_wrappedtype() =
        ValueTypeOf(state.before->type());
    ctx_.Declare(state.name, input.type());
    NN_ASSIGN(std::string value,
              ctx_.Add("read_state").In("input", state.name).Helper(state.before->type(), Node()));
    ctx_.SetName(state.before, std::move(value));
    return {};
  }

  Status WriteState(const WrittenState& state) {
    return ctx_.Add("write_state")
        .In("input", state.name)
        .In("data", state.after)
        .To({}, {}, Node());
  }

  // The label and the dictionary of a classifier.
  Status AddClasses(const Classes& classes) {
    const auto scores = std::ranges::find(graph_.outputs(), classes.scores, &Port::name);
    NN_ASSIGN(const std::string probabilities, ctx_.NameFor(scores->value));
    mil::Value labels;
    mil::ListValue& list = *labels.mutable_immediatevalue()->mutable_list();
    const bool strings = classes.labels.dtype() == DType::kString;
    const mil::DataType type = strings ? mil::STRING : mil::INT64;
    mil::ListType& list_type = *labels.mutable_type()->mutable_listtype();
    *list_type.mutable_type() = TensorTypeOf(type, {});
    list_type.mutable_length()->mutable_constant()->set_size(
        static_cast<uint64_t>(classes.labels.elements()));
    for (int64_t i = 0; i < classes.labels.elements(); ++i) {
      mil::Value& label = *list.add_values();
      if (strings) {
        label = TextValue(classes.labels.strings()[static_cast<size_t>(i)]);
        continue;
      }
      *label.mutable_type() = TensorTypeOf(type, {});
      label.mutable_immediatevalue()->mutable_tensor()->mutable_longints()->add_values(
          classes.labels.GetInt(i));
    }
    return AddClassify(probabilities, classes, std::move(labels), type);
  }

  Status AddClassify(const std::string& probabilities, const Classes& classes, mil::Value labels,
                     mil::DataType type) {
    const std::string classes_name = ctx_.AddConstant(std::move(labels), "classes");
    mil::Operation& classify = *block_.add_operations();
    classify.set_type("classify");
    const auto bind = [&](std::string_view input, const std::string& to) {
      mil::Operation::Input& added = *classify.add_inputs();
      added.set_key(std::string(input));
      added.mutable_value()->add_arguments()->set_name(to);
    };
    bind("probabilities", probabilities);
    bind("classes", classes_name);
    const std::string label = ports_.names.at(classes.label);
    const std::string dictionary = ports_.names.at(classes.scores);
    mil::NamedValueType& label_output = *classify.add_outputs();
    label_output.set_name(label);
    *label_output.mutable_type() = TensorTypeOf(type, {});
    mil::NamedValueType& dictionary_output = *classify.add_outputs();
    dictionary_output.set_name(dictionary);
    mil::DictionaryType& map = *dictionary_output.mutable_type()->mutable_dictionarytype();
    *map.mutable_keytype() = TensorTypeOf(type, {});
    *map.mutable_valuetype() = TensorTypeOf(mil::FLOAT32, {});
    return {};
  }

  const Graph& graph_;
  const FunctionPorts& ports_;
  mil::Function& function_;
  mil::Block& block_;
  ExportContext ctx_;
};

Status DescribeStates(const FunctionPorts& ports, Writer description) {
  for (const WrittenState& s : ports.states) {
    Writer feature = description.Add("state");
    feature.Text("name", s.name);
    const Writer array = feature.Sub("type").Sub("stateType").Sub("arrayType");
    if (auto done = WriteArray(s.before->type(), true, array, ArrayTypes::kOfPrograms); !done)
      return tl::unexpected(done.error().In("state " + Quote(s.name)));
  }
  return {};
}

}  // namespace

Result<FileImage> WriteProgram(const Graph& graph, const ExportOptions& options, Opset newest) {
  NN_RETURN_IF_ERROR(CheckInterface(
      graph, {.label = "Core ML", .outputs = true, .distinct_names = true, .least_size = 1}));
  const auto classes = CoremlImporter().ClassesOf(graph);
  NN_ASSIGN(const FunctionPorts ports, PortsOf(graph, options, newest, classes));
  NN_ASSIGN(const Opset oldest, OldestFor(ports, newest));
  const ProgramForm program_form = FormOf(graph, oldest, newest);
  const Opset opset = program_form.opset;
  Model model;
  Writer root = model.writer();
  mil::Program& program = *model.proto->mutable_mlprogram();
  program.set_version(kProgramVersion);
  auto& function = *program.add_functions();
  function.set_key(std::string(kFunction));
  BlobStorageWriter weights;
  const bool is_package = IsPackagePath(options.path);
  const ConstantStore store{model.payloads, is_package ? &weights : nullptr};
  const InterfaceForm form{
      .names = ports.names,
      .array_types = opset < kHasHalfArrays ? ArrayTypes::kOfOldPrograms : ArrayTypes::kOfPrograms,
      .states = ports.states.size()};
  // First, since it refuses types that no array has.
  NN_RETURN_IF_ERROR(WriteDescription(graph, options, form, root.Sub("description")));
  NN_RETURN_IF_ERROR(
      ProgramWriter(graph, ports, program_form, *function.mutable_value(), store).Run(classes));
  NN_RETURN_IF_ERROR(DescribeStates(ports, root.Sub("description")));
  if (classes) DescribeClasses(*classes, form, root);
  root.Int("specificationVersion",
           std::max<int64_t>(SpecificationVersionOf(opset), InterfaceVersion(graph)));
  NN_ASSIGN(auto parts, Serialize(model));
  FileImage image;
  if (is_package) {
    // The item of a program without weights is an empty folder.
    SideFile file = weights.empty() ? SideFile{"weights/", {}}
                                    : SideFile{std::string(kWeights), weights.Finish()};
    image = NewPackage({std::move(file)}, std::move(parts));
  } else {
    image.parts = std::move(parts);
  }
  image.notes = {fmt::format("written as an ML Program for {} and later", NameOf(opset))};
  return image;
}

}  // namespace nn::coreml::program
