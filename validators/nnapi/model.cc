// Rules for the model: its lists of inputs and outputs, and the order of operations.
#include <map>
#include <set>

#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

constexpr size_t kNoOperation = static_cast<size_t>(-1);

void NotEmpty(const RuleContext& s, Findings& f) {
  const Model& m = s.native();
  if (m.input_indexes.empty()) f.Add(At("inputIndexes"), "the model has no inputs");
  if (m.output_indexes.empty()) f.Add(At("outputIndexes"), "the model has no outputs");
}

void HasOperations(const RuleContext& s, Findings& f) {
  if (s.operations().empty()) f.Add(At("operations"), "the model has no operations");
}

template <typename Visit>
void EachListed(const RuleContext& s, const Visit& visit) {
  const auto each = [&](const std::vector<uint32_t>& list, std::string_view name, LifeTime want) {
    for (size_t i = 0; i < list.size(); ++i) visit(list[i], fmt::format("{}[{}]", name, i), want);
  };
  each(s.native().input_indexes, "inputIndexes", LifeTime::kModelInput);
  each(s.native().output_indexes, "outputIndexes", LifeTime::kModelOutput);
}

void ListsInRange(const RuleContext& s, Findings& f) {
  EachListed(s, [&](uint32_t index, const std::string& path, LifeTime) {
    if (s.FindOperand(index) == nullptr)
      f.Add(At(path), "operand {} does not exist; the model has {} operands", index,
            s.native().operands.size());
  });
}

// An operand in both lists has the wrong lifetime for one of them; ListedOnce reports it.
void ListsHaveLifetime(const RuleContext& s, Findings& f) {
  std::map<uint32_t, std::set<LifeTime>> wanted;
  EachListed(
      s, [&](uint32_t index, const std::string&, LifeTime want) { wanted[index].insert(want); });
  EachListed(s, [&](uint32_t index, const std::string& path, LifeTime want) {
    const Operand* o = s.FindOperand(index);
    if (o != nullptr && NameOf(o->lifetime) && o->lifetime != want &&
        !wanted[index].contains(o->lifetime))
      f.Add(At(path), "operand {} has lifetime {} instead of {}", index, TextOf(o->lifetime),
            TextOf(want));
  });
}

void ListedOnce(const RuleContext& s, Findings& f) {
  std::set<uint32_t> seen;
  EachListed(s, [&](uint32_t index, const std::string& path, LifeTime) {
    if (!seen.insert(index).second) f.Add(At(path), "operand {} is listed more than once", index);
  });
}

void AllListed(const RuleContext& s, Findings& f) {
  std::set<uint32_t> listed;
  EachListed(s, [&](uint32_t index, const std::string&, LifeTime) { listed.insert(index); });
  for (uint32_t i = 0; i < s.native().operands.size(); ++i) {
    const LifeTime lifetime = s.native().operands[i].lifetime;
    // NotEmpty reports a list that is empty.
    const bool lists = (lifetime == LifeTime::kModelInput && !s.native().input_indexes.empty()) ||
                       (lifetime == LifeTime::kModelOutput && !s.native().output_indexes.empty());
    if (lists && !listed.contains(i))
      f.Add(At(OperandPath(i, "lifetime")),
            "operand {} has lifetime {} but is in neither inputIndexes nor outputIndexes", i,
            TextOf(lifetime));
  }
}

void IndicesInRange(const RuleContext& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    const auto check = [&](const std::vector<uint32_t>& list, std::string_view name) {
      for (size_t i = 0; i < list.size(); ++i)
        if (s.FindOperand(list[i]) == nullptr)
          f.Add(At(op.Where(fmt::format("{}[{}]", name, i))),
                "{} refers to operand {}; the model has {} operands", op.Title(), list[i],
                s.native().operands.size());
    };
    check(op.operation->inputs, "inputs");
    check(op.operation->outputs, "outputs");
  }
}

// An out-of-range input may have been meant for any operand, so a count may be too high by the
// number of such inputs.
void ConsumersCounted(const RuleContext& s, Findings& f) {
  std::vector<uint64_t> count(s.native().operands.size());
  uint64_t strays = 0;
  for (const OperationAt& op : s.operations())
    for (const uint32_t i : op.operation->inputs) ++(i < count.size() ? count[i] : strays);
  for (size_t i = 0; i < count.size(); ++i)
    if (const uint64_t stated = s.native().operands[i].number_of_consumers;
        stated < count[i] || stated > count[i] + strays)
      f.Add(At(OperandPath(i, "numberOfConsumers")),
            "numberOfConsumers of operand {} is {} instead of {}", i, stated, count[i]);
}

// The operations that write each operand.
std::vector<std::vector<size_t>> Writers(const RuleContext& s) {
  std::vector<std::vector<size_t>> writers(s.native().operands.size());
  for (const OperationAt& op : s.operations())
    for (const uint32_t i : op.operation->outputs)
      if (i < writers.size()) writers[i].push_back(static_cast<size_t>(op.index));
  return writers;
}

// True if all operations have all of their outputs and these are operands. Only then is it certain
// that an operand has no writer.
bool WritersAreKnown(const RuleContext& s) {
  for (const OperationAt& op : s.operations()) {
    const std::vector<uint32_t>& outputs = op.operation->outputs;
    if (op.signature != nullptr && outputs.size() < op.signature->outputs.size()) return false;
    for (const uint32_t i : outputs)
      if (s.FindOperand(i) == nullptr) return false;
  }
  return !s.operations().empty();
}

void OnlyComputedWritten(const RuleContext& s, Findings& f) {
  for (const OperationAt& op : s.operations())
    for (size_t i = 0; i < op.operation->outputs.size(); ++i) {
      const Operand* o = op.Output(i);
      if (o != nullptr && NameOf(o->lifetime) && !IsComputed(*o))
        f.Add(At(op.AtOutput(i)), "{} writes operand {}, which has lifetime {}", op.Title(),
              op.operation->outputs[i], TextOf(o->lifetime));
    }
}

void WrittenOnce(const RuleContext& s, Findings& f) {
  const auto writers = Writers(s);
  const size_t fewest = WritersAreKnown(s) ? 1 : 0;
  for (size_t i = 0; i < writers.size(); ++i) {
    const Operand& o = s.native().operands[i];
    if (IsComputed(o) && (writers[i].size() < fewest || writers[i].size() > 1))
      f.Add(At(OperandPath(i)),
            "operand {} of lifetime {} is written by {} operations instead of 1", i,
            TextOf(o.lifetime), writers[i].size());
  }
}

void InOrder(const RuleContext& s, Findings& f) {
  const auto writers = Writers(s);
  for (const OperationAt& op : s.operations())
    for (size_t i = 0; i < op.operation->inputs.size(); ++i) {
      const uint32_t operand = op.operation->inputs[i];
      if (operand >= writers.size() || !IsComputed(s.native().operands[operand])) continue;
      size_t first = kNoOperation;
      for (const size_t w : writers[operand]) first = std::min(first, w);
      if (first != kNoOperation && first >= static_cast<size_t>(op.index))
        f.Add(At(op.Where(fmt::format("inputs[{}]", i))),
              "{} reads operand {} before operation {} writes it", op.Title(), operand, first);
    }
}

constexpr Rule kModelRules[] = {
    {.info = {.id = "NNAPI-MODEL-001",
              .statement = "The model has at least one input and at least one output.",
              .clause = "types.hal, Model.inputIndexes",
              .hint = "List the operands that the model reads in inputIndexes, and those that it "
                      "produces in outputIndexes."},
     .check = NotEmpty},
    {.info =
         {.id = "NNAPI-MODEL-002",
          .statement =
              "Every index in inputIndexes and outputIndexes is that of an operand of the model.",
          .clause = "types.hal, Model.inputIndexes",
          .vendor = true,
          .hint = "Use indexes below the number of operands; they count from 0."},
     .check = ListsInRange},
    {.info = {.id = "NNAPI-MODEL-003",
              .statement = "Operands in inputIndexes have lifetime MODEL_INPUT, and operands in "
                           "outputIndexes have lifetime MODEL_OUTPUT.",
              .clause = "types.hal, OperandLifeTime",
              .vendor = true,
              .hint = "Give the operand that lifetime, or remove it from the list."},
     .check = ListsHaveLifetime},
    {.info = {.id = "NNAPI-MODEL-004",
              .statement =
                  "An operand appears at most once in inputIndexes and outputIndexes together.",
              .clause = "types.hal, Model.inputIndexes",
              .vendor = true,
              .hint = "Remove the repeated index. To return an input unchanged, copy it to an "
                      "output by an operation such as RESHAPE."},
     .check = ListedOnce},
    {.info = {.id = "NNAPI-MODEL-005",
              .statement = "Every operand with lifetime MODEL_INPUT or MODEL_OUTPUT is listed in "
                           "inputIndexes or outputIndexes.",
              .clause = "types.hal, OperandLifeTime",
              .vendor = true,
              .hint = "List the operand, or change its lifetime to TEMPORARY_VARIABLE or to that "
                      "of a constant."},
     .check = AllListed},
    {.info = {.id = "NNAPI-MODEL-006",
              .statement =
                  "The inputs and outputs of every operation are indexes of operands of the model.",
              .clause = "types.hal, Operation",
              .vendor = true,
              .hint = "Use indexes below the number of operands; they count from 0."},
     .check = IndicesInRange},
    {.info = {.id = "NNAPI-MODEL-007",
              .statement =
                  "numberOfConsumers is the number of operation inputs that refer to the operand.",
              .clause = "types.hal, Operand.numberOfConsumers",
              .vendor = true,
              .hint = "Count how often the operand appears in the inputs of all operations, and "
                      "set numberOfConsumers to this number."},
     .check = ConsumersCounted},
    {.info =
         {.id = "NNAPI-MODEL-008",
          .statement =
              "Operations write only operands with lifetime TEMPORARY_VARIABLE or MODEL_OUTPUT.",
          .clause = "types.hal, OperandLifeTime",
          .vendor = true,
          .hint = "Write the result to an operand with lifetime TEMPORARY_VARIABLE instead."},
     .check = OnlyComputedWritten},
    {.info =
         {.id = "NNAPI-MODEL-009",
          .statement = "Every operand with lifetime TEMPORARY_VARIABLE or MODEL_OUTPUT is written "
                       "by exactly one operation.",
          .clause = "types.hal, OperandLifeTime",
          .vendor = true,
          .hint =
              "Give each result its own operand, and remove operands that no operation writes."},
     .check = WrittenOnce},
    {.info = {.id = "NNAPI-MODEL-010",
              .statement = "Operations are in execution order: each comes after the operations "
                           "that write its inputs.",
              .clause = "types.hal, Model.operations",
              .vendor = true,
              .hint = "Sort the operations topologically. If this is impossible, remove the cycle "
                      "between them."},
     .check = InOrder},
    {.info = {.id = "NNAPI-MODEL-011",
              .statement = "The model has at least one operation.",
              .clause = "types.hal, OperandLifeTime.MODEL_OUTPUT",
              .vendor = true,
              .hint = "Add the operations that compute the outputs."},
     .check = HasOperations},
};

}  // namespace

std::span<const Rule> ModelRules() {
  return kModelRules;
}

}  // namespace nn::nnapi
