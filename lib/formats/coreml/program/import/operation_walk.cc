#include "formats/coreml/program/import/operation_walk.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "coreml_mil.pb.h"
#include "formats/coreml/describe/program.h"
#include "formats/coreml/program/import/values.h"

namespace nn::coreml::program {
namespace {

// Elements of 1, 3 and 6 bits are unpacked: so many of a program, because it may name them again
// and again. Further ones are not read.
constexpr uint64_t kMostUnpacked = uint64_t{1} << 26;

// What a name stands for.
struct KnownName {
  const mil::ValueType* type = nullptr;
  const Tensor* constant = nullptr;
  bool is_constant = false;
};

class ProgramWalk {
 public:
  ProgramWalk(const Model& model, const ProgramVisitor& visitor)
      : visitor_(visitor), values_(model) {}

  void Visit(const mil::Function& function, const std::string& path) {
    for (const auto& s : function.block_specializations()) {
      opset_ = OpsetNamed(s.key());
      for (const mil::NamedValueType& input : function.inputs())
        Define(input.name(), {KnownType(input.type())}, {path});
      Visit(s.value(), {path});
      Close(0);
    }
  }

 private:
  // Operations, results, and inner blocks. The names stay defined.
  void Visit(const mil::Block& block, const ProgramPlace& place) {
    for (int i = 0; i < block.operations_size(); ++i)
      Visit(block.operations(i),
            {fmt::format("{}.operations[{}]", place.path, i), place.index < 0 ? i : place.index});
    for (const std::string& name : block.outputs())
      if (!scope_.contains(name))
        Report(place, fmt::format("the block returns {}, which is not defined", Quote(name)));
  }

  void Visit(const mil::Operation& operation, const ProgramPlace& place) {
    const size_t constants = constants_.size();
    OperationAt at{place, {}, opset_.has_value()};
    at.view.operation = &operation;
    at.view.opset = opset_.value_or(Opset::kIos15);
    at.view.definition = opset_ ? Find(operation.type(), *opset_) : nullptr;
    at.view.operands = OperandsOf(operation, at.view.definition, place);
    if (visitor_.operation) visitor_.operation(at);
    for (int i = 0; i < operation.blocks_size(); ++i)
      VisitInner(operation.blocks(i), {fmt::format("{}.blocks[{}]", place.path, i), place.index});
    // Those in place are not needed anymore.
    constants_.resize(constants);
    DefineResults(operation, at.view, place);
  }

  void VisitInner(const mil::Block& block, const ProgramPlace& place) {
    const size_t outer = defined_.size();
    for (const mil::NamedValueType& input : block.inputs())
      Define(input.name(), {KnownType(input.type())}, place);
    Visit(block, place);
    Close(outer);
  }

  std::vector<OperandView> OperandsOf(const mil::Operation& operation, const Definition* definition,
                                      const ProgramPlace& place) {
    std::vector<OperandView> out;
    for (const auto& input : operation.inputs()) {
      OperandView& operand = out.emplace_back(OperandView{input.key(), {}});
      for (const auto& binding : input.value().arguments())
        operand.values.push_back(binding.has_value() ? BoundTo(binding.value())
                                                     : BoundTo(input.key(), binding.name(), place));
    }
    if (definition == nullptr || definition->Find(Label::kStoredAsAttributes) == nullptr)
      return out;
    for (const mil::NamedValue& attribute : operation.attributes())
      if (definition->Input(attribute.key()) != nullptr)
        out.push_back({attribute.key(), {BoundTo(attribute.value())}});
    return out;
  }

  BoundValue BoundTo(const mil::Value& value) {
    return {KnownType(value.type()), Read(value), true};
  }

  BoundValue BoundTo(std::string_view input, std::string_view name, const ProgramPlace& place) {
    const auto it = scope_.find(name);
    if (it != scope_.end()) return {it->second.type, it->second.constant, it->second.is_constant};
    Report(place, fmt::format("input {} is {}, which is not defined", Escape(input), Quote(name)));
    return {};
  }

  static const mil::ValueType* KnownType(const mil::ValueType& type) {
    return type.type_case() == mil::ValueType::TYPE_NOT_SET ? nullptr : &type;
  }

  // nullptr if the contents cannot be read.
  const Tensor* Read(const mil::Value& value) {
    const mil::TensorType& type = value.type().tensortype();
    const bool is_unpacked = type.datatype() == mil::UINT1 || type.datatype() == mil::UINT3 ||
                             type.datatype() == mil::UINT6;
    if (is_unpacked) {
      const uint64_t elements = ElementsOf(type).value_or(UINT64_MAX);
      if (elements > kMostUnpacked - unpacked_) return nullptr;
      unpacked_ += elements;
    }
    auto tensor = values_.Read(value);
    return tensor ? &constants_.emplace_back(*std::move(tensor)) : nullptr;
  }

  void DefineResults(const mil::Operation& operation, const OperationView& view,
                     const ProgramPlace& place) {
    const mil::Value* const value =
        operation.type() == "const" ? FindAttribute(operation, "val") : nullptr;
    const auto is_constant = [](const OperandView& operand) {
      return std::ranges::all_of(operand.values, &BoundValue::is_constant);
    };
    KnownName known;
    known.constant = value == nullptr ? nullptr : Read(*value);
    known.is_constant =
        operation.blocks().empty() && std::ranges::all_of(view.operands, is_constant);
    for (const mil::NamedValueType& output : operation.outputs()) {
      known.type = KnownType(output.type());
      Define(output.name(), known, place);
    }
  }

  void Define(std::string_view name, const KnownName& known, const ProgramPlace& place) {
    const auto [it, is_new] = scope_.try_emplace(name, known);
    if (is_new) {
      defined_.push_back(name);
      return;
    }
    Report(place, fmt::format("{} is defined twice", Quote(name)));
    it->second = known;
  }

  // Forgets the names that were defined since there were `outer`.
  void Close(size_t outer) {
    for (; defined_.size() > outer; defined_.pop_back()) scope_.erase(defined_.back());
    if (outer == 0) constants_.clear();
  }

  void Report(const ProgramPlace& place, std::string text) const {
    if (visitor_.name) visitor_.name(place, std::move(text));
  }

  const ProgramVisitor& visitor_;
  ValueReader values_;
  std::optional<Opset> opset_;
  std::unordered_map<std::string_view, KnownName> scope_;
  std::vector<std::string_view> defined_;  // in their order
  std::deque<Tensor> constants_;
  uint64_t unpacked_ = 0;  // elements
};

}  // namespace

void VisitProgram(const Model& model, const mil::Program& program, const ProgramVisitor& visitor) {
  ProgramWalk walk(model, visitor);
  for (const auto& function : program.functions())
    walk.Visit(function.value(), fmt::format("functions[{}]", Quote(function.key())));
}

}  // namespace nn::coreml::program
