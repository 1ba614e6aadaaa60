// Constraints on constants, blocks, lists and states.
#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coreml_mil.pb.h"
#include "formats/coreml/describe/program.h"
#include "formats/coreml/program/spec/constraint.h"

namespace nn::coreml::program {
namespace {

namespace mil = pb::mil;

void CheckTypeOfValue(const ConstraintAt& c) {
  const mil::Value* const value = FindAttribute(c.facts().operation(), c.Name(0));
  if (value == nullptr) return c.Add("attribute {} is missing", c.Name(0));
  const mil::ValueType* const result = c.facts().ResultType(0);
  if (result != nullptr && result->type_case() != mil::ValueType::TYPE_NOT_SET &&
      !MayEqual(value->type(), *result))
    c.AddResult("result 0 is {}, but attribute {} is {}", TextOf(*result), c.Name(0),
                TextOf(value->type()));
}

// ---- Blocks -------------------------------------------------------------------------------------

const mil::Block* BlockAt(const ConstraintAt& c, int i) {
  return i < c.facts().operation().blocks_size() ? &c.facts().operation().blocks(i) : nullptr;
}

// The types of the results of a block; nullptr for those that the block does not define.
std::vector<const mil::ValueType*> TypesOfResults(const mil::Block& block) {
  std::unordered_map<std::string_view, const mil::ValueType*> defined;
  for (const mil::NamedValueType& input : block.inputs())
    defined.try_emplace(input.name(), &input.type());
  for (const mil::Operation& operation : block.operations())
    for (const mil::NamedValueType& output : operation.outputs())
      defined.try_emplace(output.name(), &output.type());
  std::vector<const mil::ValueType*> types;
  for (const std::string& name : block.outputs()) {
    const auto it = defined.find(name);
    types.push_back(it == defined.end() ? nullptr : it->second);
  }
  return types;
}

// Whether types are the same up to the sizes of tensors.
bool IsCompatible(const mil::ValueType& a, const mil::ValueType& b) {
  const auto x = SizesOf(a), y = SizesOf(b);
  if (!x || !y) return MayEqual(a, b);
  return ElementOf(a) == ElementOf(b) && x->size() == y->size();
}

// The results of the operation are those of the block.
void NeedResultsOf(const ConstraintAt& c, const mil::Block& block) {
  if (static_cast<int>(c.facts().results()) != block.outputs_size())
    return c.AddResult("it has {} results, but block {} returns {}", c.facts().results(),
                       c.Name(c.size() - 1), block.outputs_size());
  const auto types = TypesOfResults(block);
  for (size_t i = 0; i < types.size(); ++i) {
    const mil::ValueType& is = *c.facts().ResultType(i);
    if (types[i] != nullptr && is.type_case() != mil::ValueType::TYPE_NOT_SET &&
        !IsCompatible(*types[i], is))
      c.AddResult("result {} is {}, but the block returns {}", i, TextOf(is), TextOf(*types[i]));
  }
}

void CheckBranchTypes(const ConstraintAt& c) {
  const mil::Block *const a = BlockAt(c, 0), *const b = BlockAt(c, 1);
  if (a == nullptr || b == nullptr) return;
  if (a->outputs_size() != b->outputs_size())
    return c.Add("block {} returns {} values, but block {} returns {}", c.Name(0),
                 a->outputs_size(), c.Name(1), b->outputs_size());
  const auto x = TypesOfResults(*a), y = TypesOfResults(*b);
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] != nullptr && y[i] != nullptr && !IsCompatible(*x[i], *y[i]))
      c.Add("value {} is {} in block {}, but {} in block {}", i, TextOf(*x[i]), c.Name(0),
            TextOf(*y[i]), c.Name(1));
  NeedResultsOf(c, *a);
}

void CheckConditionBlock(const ConstraintAt& c) {
  const mil::Block* const block = BlockAt(c, 0);
  if (block == nullptr) return;
  if (block->outputs_size() != 1)
    return c.Add("block {} returns {} values instead of 1", c.Name(0), block->outputs_size());
  const mil::ValueType* const type = TypesOfResults(*block)[0];
  if (type != nullptr && ElementOf(*type) != mil::BOOL)
    c.Add("block {} returns {} instead of bool", c.Name(0), TextOf(*type));
}

// The inputs of a block of a loop are its variables.
void NeedLoopInputs(const ConstraintAt& c, const mil::Block& block) {
  const auto variables = c.facts().Values(c.Name(0));
  if (block.inputs_size() != static_cast<int>(variables.size()))
    return c.Add("a block has {} inputs, but the loop has {} variables", block.inputs_size(),
                 variables.size());
  for (int i = 0; i < block.inputs_size(); ++i) {
    const mil::ValueType* const type = variables[static_cast<size_t>(i)].type;
    if (type != nullptr && !IsCompatible(*type, block.inputs(i).type()))
      c.Add("input {}[{}] is {}, but the block takes {}", c.Name(0), i, TextOf(*type),
            TextOf(block.inputs(i).type()));
  }
}

void CheckLoopTypes(const ConstraintAt& c) {
  for (int i = 0; i < 2; ++i)
    if (const mil::Block* const block = BlockAt(c, i)) NeedLoopInputs(c, *block);
  const mil::Block* const body = BlockAt(c, 1);
  if (body == nullptr) return;
  if (body->outputs_size() != body->inputs_size())
    return c.Add("block {} returns {} values instead of {}", c.Name(1), body->outputs_size(),
                 body->inputs_size());
  const auto types = TypesOfResults(*body);
  for (size_t i = 0; i < types.size(); ++i) {
    const mil::ValueType& want = body->inputs(static_cast<int>(i)).type();
    if (types[i] != nullptr && !IsCompatible(*types[i], want))
      c.Add("block {} returns {} for variable {}, which is {}", c.Name(1), TextOf(*types[i]), i,
            TextOf(want));
  }
  NeedResultsOf(c, *body);
}

// ---- Lists --------------------------------------------------------------------------------------

// The type of the elements of a list; nullptr if it is not known.
const mil::ValueType* ElementTypeOf(const ConstraintAt& c) {
  const mil::ValueType* const type = c.facts().TypeOf(c.Name(0));
  if (type == nullptr || !type->has_listtype()) return nullptr;
  const mil::ValueType& element = type->listtype().type();
  return element.type_case() == mil::ValueType::TYPE_NOT_SET ? nullptr : &element;
}

void CheckListOf(const ConstraintAt& c) {
  const mil::ValueType* const result = c.facts().ResultType(0);
  if (result == nullptr || !result->has_listtype()) return;
  const mil::ValueType& element = result->listtype().type();
  Sizes want;
  for (const BoundValue& value : c.facts().Values(c.Name(0))) {
    const Tensor* const size = value.constant;
    const bool is_number =
        size != nullptr && size->elements() == 1 && size->dtype() != DType::kString;
    want.push_back(is_number ? std::max(size->GetInt(0), kAnySize) : kAnySize);
  }
  const auto name = c.Text(1);
  const auto type = name ? TypeNamed(*name) : std::nullopt;
  const auto sizes = SizesOf(element);
  if ((type && ElementOf(element) != *type) || (sizes && !MayEqual(*sizes, want)))
    c.AddResult("result 0 is {}; its elements are {} {}", TextOf(*result),
                type ? TextOf(*type) : "of any type", TextOf(want));
}

// list_scatter takes the elements along axis 0.
void CheckElementType(const ConstraintAt& c) {
  const mil::ValueType* const element = ElementTypeOf(c);
  const mil::ValueType* const type = c.facts().TypeOf(c.Name(1));
  if (element == nullptr || type == nullptr) return;
  const bool has_many = c.facts().definition().Find(Label::kOneValueEach) != nullptr;
  auto sizes = SizesOf(*type);
  const auto want = SizesOf(*element);
  if (has_many && sizes && !sizes->empty()) sizes->erase(sizes->begin());
  if (ElementOf(*type) != ElementOf(*element) || (sizes && want && !MayEqual(*sizes, *want)))
    c.Add("input {} is {}, but the list has elements {}", c.Name(1), TextOf(*type),
          TextOf(*element));
}

void CheckKnownElement(const ConstraintAt& c) {
  const mil::ValueType* const type = c.facts().TypeOf(c.Name(0));
  if (type == nullptr || !type->has_listtype()) return;
  const mil::ValueType* const element = ElementTypeOf(c);
  if (element == nullptr)
    c.Add("the type of the elements of input {} is not known", c.Name(0));
  else if (c.facts().definition().Find(Label::kGathersElements) == nullptr)
    c.NeedResult(0, SizesOf(*element));
}

void CheckGathersElements(const ConstraintAt& c) {
  const mil::ValueType* const element = ElementTypeOf(c);
  auto sizes = element == nullptr ? std::nullopt : SizesOf(*element);
  if (!sizes) return;
  sizes->insert(sizes->begin(), c.SizeOf(1, 0));
  c.NeedResult(0, sizes);
}

void CheckOneValueEach(const ConstraintAt& c) {
  c.NeedSize(1, 0, c.SizeOf(0, 0), "one for each index");
}

// ---- States and classes -------------------------------------------------------------------------

void CheckStateOfTensor(const ConstraintAt& c) {
  const mil::ValueType* const type = c.facts().TypeOf(c.Name(0));
  if (type == nullptr || !type->has_statetype()) return;
  const mil::ValueType& inside = type->statetype().wrappedtype();
  if (!inside.has_tensortype()) return c.Add("input {} contains no tensor", c.Name(0));
  c.NeedResult(0, SizesOf(inside));
}

void CheckStateType(const ConstraintAt& c) {
  const mil::ValueType* const state = c.facts().TypeOf(c.Name(0));
  const mil::ValueType* const type = c.facts().TypeOf(c.Name(1));
  if (state == nullptr || type == nullptr || !state->has_statetype()) return;
  const mil::ValueType& inside = state->statetype().wrappedtype();
  if (!MayEqual(inside, *type))
    c.Add("input {} is {}, but the state contains {}", c.Name(1), TextOf(*type), TextOf(inside));
}

void CheckClassCount(const ConstraintAt& c) {
  const auto sizes = c.SizesOf(0);
  const auto classes = c.facts().Values(c.Name(1));
  if (!sizes || classes.empty() || classes[0].constant == nullptr) return;
  const int64_t count = ElementsIn(*sizes), labels = classes[0].constant->elements();
  if (!MayEqual(count, labels)) c.Add("there are {} labels, but {} scores", labels, count);
}

constexpr ConstraintRow kControlConstraints[] = {
    {Label::kTypeOfValue, CheckTypeOfValue},
    {Label::kBranchTypes, CheckBranchTypes},
    {Label::kConditionBlock, CheckConditionBlock},
    {Label::kLoopTypes, CheckLoopTypes},
    {Label::kListOf, CheckListOf},
    {Label::kElementType, CheckElementType},
    {Label::kKnownElement, CheckKnownElement},
    {Label::kGathersElements, CheckGathersElements},
    {Label::kOneValueEach, CheckOneValueEach},
    {Label::kStateOfTensor, CheckStateOfTensor},
    {Label::kStateType, CheckStateType},
    {Label::kClassCount, CheckClassCount},
};

}  // namespace

std::span<const ConstraintRow> ControlConstraintRows() {
  return kControlConstraints;
}

}  // namespace nn::coreml::program
