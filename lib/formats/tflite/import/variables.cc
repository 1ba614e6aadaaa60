#include "formats/tflite/import/variables.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/checked_math.h"
#include "base/text/text.h"

namespace nn::tflite {
namespace {

// Limit of TensorFlow Lite: elements of a variable. Its zeros are made at import, and a file of a
// few bytes may declare any size.
constexpr int64_t kMaxZeros = int64_t{1} << 26;

}  // namespace

void Variables::SetPorts(std::set<std::string> names, size_t position) {
  names_ = std::move(names);
  position_ = position;
}

std::string Variables::UniqueName(std::string name) {
  while (!names_.insert(name).second) name += '_';
  return name;
}

std::string VariableName(std::string_view container, std::string_view shared_name) {
  if (!container.empty()) return fmt::format("{}/{}", container, shared_name);
  return shared_name.empty() ? "state" : std::string(shared_name);
}

size_t Variables::Add(const std::string& name, bool is_resource) {
  const auto taken = [this](const std::string& n) {
    return std::ranges::find(list_, n, &Variable::name) != list_.end();
  };
  Variable v;
  v.name = name;
  while (taken(v.name)) v.name += '_';
  v.is_resource = is_resource;
  list_.push_back(std::move(v));
  return list_.size() - 1;
}

Status Variables::SetInitial(const std::string& name, Tensor initial) {
  const auto [it, is_new] = resources_.try_emplace(name, list_.size());
  if (is_new) Add(name, true);
  Variable& v = list_[it->second];
  if (v.start != nullptr || v.value != nullptr)
    return UnsupportedError("variable {} is used before it is initialized", Quote(v.name));
  v.initial = std::move(initial);
  return {};
}

Value* Variables::Handle(Graph& graph, const std::string& name) {
  const auto [it, is_new] = resources_.try_emplace(name, list_.size());
  if (is_new) Add(name, true);
  Value* const handle = graph.AddConstant(Tensor::Scalar(static_cast<int32_t>(it->second)));
  handles_[handle] = it->second;
  return handle;
}

Result<size_t> Variables::OfHandle(const Value* handle) const {
  const auto it = handles_.find(handle);
  if (it == handles_.end() || IsTable(it->second))
    return UnsupportedError("a resource that is not the result of VAR_HANDLE is unsupported");
  return it->second;
}

size_t Variables::OfTensor(const fb::SubGraph& subgraph, int64_t index) {
  const auto [it, is_new] = tensors_.try_emplace({&subgraph, index}, list_.size());
  if (is_new) Add(NameOfTensor(*At(subgraph.tensors(), index), index), false);
  return it->second;
}

size_t Variables::OfOperator(const fb::SubGraph& subgraph, int64_t index, const std::string& name) {
  const auto [it, is_new] = own_.try_emplace({&subgraph, index, name}, list_.size());
  if (is_new) Add(name, false);
  return it->second;
}

Result<Tensor> ZerosOf(const Type& type) {
  const auto dims = type.const_dims();
  if (!dims || type.dtype == DType::kUnknown)
    return UnsupportedError("a variable of type {} has no known size", type.ToString());
  const auto elements = CheckedElements(*dims);
  if (!elements || *elements > kMaxZeros)
    return UnsupportedError("a variable of type {} is larger than {} elements", type.ToString(),
                            kMaxZeros);
  NN_ASSIGN(TensorBuilder zeros, TensorBuilder::Create(type.dtype, *dims));
  const int64_t zero = type.quant == nullptr ? 0 : type.quant->zero_point();
  for (int64_t i = 0; i < zeros.elements(); ++i) zeros.SetInt(i, zero);
  return zeros.Finish();
}

Result<Value*> Variables::Start(Graph& graph, const KnownInputs& known, Variable& v,
                                const Type& declared) {
  Type type = declared;
  if (v.initial) {
    if (declared.dtype != DType::kUnknown && declared.dtype != v.initial->dtype())
      return ModelError("variable {} is read as {}, but holds {}", Quote(v.name),
                        declared.ToString(), DTypeName(v.initial->dtype()));
    type = Type(v.initial->dtype(), ToDims(v.initial->dims()), declared.quant);
  }
  if (type.dtype == DType::kUnknown || !type.ranked())
    return UnsupportedError("the type of variable {} is unsupported", Quote(v.name));
  if (HasPorts(v.is_resource)) {
    v.input = UniqueName(v.name + "_in");
    v.position = position_++;
    NN_ASSIGN(Value* const input, known.AddInput(graph, v.position, v.input, type));
    input->set_name(v.input);
    return input;
  }
  if (v.initial) return graph.AddConstant(*v.initial, v.name, type.quant);
  auto zeros = ZerosOf(type);
  if (!zeros) return tl::unexpected(zeros.error().In("variable " + Quote(v.name)));
  return graph.AddConstant(*std::move(zeros), v.name, type.quant);
}

Result<Value*> Variables::Read(Graph& graph, const KnownInputs& known, size_t variable,
                               const Type& type) {
  Variable& v = list_[variable];
  if (v.value != nullptr) return v.value;
  if (v.start == nullptr) {
    NN_ASSIGN(v.start, Start(graph, known, v, type));
  }
  return v.value = v.start;
}

Status Variables::Assign(size_t variable, Value* value) {
  Variable& v = list_[variable];
  const Value* const before = v.value != nullptr ? v.value : v.start;
  const DType dtype = before != nullptr ? before->dtype()
                      : v.initial       ? v.initial->dtype()
                                        : DType::kUnknown;
  if (dtype != DType::kUnknown && value->dtype() != DType::kUnknown && value->dtype() != dtype)
    return ModelError("variable {} holds {}, but {} is assigned", Quote(v.name), DTypeName(dtype),
                      value->type().ToString());
  v.value = value;
  return {};
}

std::vector<Value*> Variables::Values() const {
  std::vector<Value*> values;
  for (const Variable& v : list_) values.push_back(v.value);
  return values;
}

void Variables::Restore(const std::vector<Value*>& values) {
  for (size_t i = 0; i < list_.size(); ++i)
    list_[i].value = i < values.size() ? values[i] : nullptr;
}

std::optional<size_t> Variables::ChangedSince(const std::vector<Value*>& values) const {
  for (size_t i = 0; i < list_.size(); ++i) {
    const Value* before = i < values.size() ? values[i] : nullptr;
    if (before == nullptr) before = list_[i].start;
    const Value* const now = list_[i].value;
    if (now != nullptr && now != before) return i;
  }
  return std::nullopt;
}

std::vector<std::pair<std::string, Value*>> Variables::Assigned() const {
  std::vector<std::pair<std::string, Value*>> out;
  for (const auto& [name, i] : resources_)
    if (list_[i].value != nullptr) out.emplace_back(name, list_[i].value);
  return out;
}

Result<std::vector<ModelState>> Variables::Finish(Graph& graph) {
  std::vector<ModelState> states;
  std::vector<Variable*> by_input;
  for (Variable& v : list_) by_input.push_back(&v);
  std::ranges::stable_sort(by_input, {}, &Variable::position);
  for (Variable* const variable : by_input) {
    Variable& v = *variable;
    if (v.start == nullptr || !v.start->is_input()) continue;
    const bool is_changed = v.value != nullptr && v.value != v.start;
    if (!is_changed && (v.initial || v.start->type().const_dims())) {
      Tensor initial;
      if (v.initial) {
        initial = *v.initial;
      } else {
        NN_ASSIGN(initial, ZerosOf(v.start->type()));
      }
      graph.MakeConstant(v.start, std::move(initial));
      continue;
    }
    const std::string output = UniqueName(v.name + "_out");
    graph.AddOutput(output, is_changed ? v.value : v.start);
    states.push_back({v.name, v.input, output, v.initial});
  }
  return states;
}

}  // namespace nn::tflite
