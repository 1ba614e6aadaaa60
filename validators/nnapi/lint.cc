// Advice on NNAPI models that no published document requires.
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "validators/nnapi/rules.h"
#include "validators/scales.h"

namespace nn::nnapi {
namespace {

using enum OperationType;

// More bytes between constants than alignment explains.
constexpr uint64_t kGap = 64;

void ScalesUsual(const RuleContext& s, Findings& f) {
  for (size_t i = 0; i < s.native().operands.size(); ++i) {
    const float scale = s.native().operands[i].scale;
    if (scale > 0 && std::isfinite(scale) && !IsUsualScale(scale))
      f.Add(At(OperandPath(i, "scale")), "operand {} has the unusual scale {}", i, scale);
  }
}

// The bytes of a constant in its pool.
struct Span {
  uint64_t begin;
  uint64_t end;
  size_t operand;
  bool operator<(const Span& o) const { return std::tie(begin, end) < std::tie(o.begin, o.end); }
};

// operandValues or a pool, with the constants in it.
struct Storage {
  std::string path;
  uint64_t size = 0;
  std::vector<Span> spans;  // sorted by position
};

std::vector<Storage> StoragesOf(const RuleContext& s) {
  const Model& m = s.native();
  std::vector<Storage> list = {{"operandValues", m.operand_values.size(), {}}};
  for (size_t i = 0; i < m.pools.size(); ++i)
    list.push_back({fmt::format("pools[{}]", i), m.pools[i].bytes.size(), {}});
  for (size_t i = 0; i < m.operands.size(); ++i) {
    const Operand& o = m.operands[i];
    if (!IsConstant(o)) continue;
    const size_t at = o.lifetime == LifeTime::kConstantCopy ? 0 : size_t{o.location.pool_index} + 1;
    if (at < list.size())
      list[at].spans.push_back(
          {o.location.offset, uint64_t{o.location.offset} + o.location.length, i});
  }
  for (Storage& storage : list) std::sort(storage.spans.begin(), storage.spans.end());
  return list;
}

void PoolsUsed(const RuleContext& s, Findings& f) {
  const std::vector<Storage> list = StoragesOf(s);
  for (size_t i = 1; i < list.size(); ++i)
    if (list[i].spans.empty())
      f.Add(At(list[i].path), "no operand uses pool {}, which has {} bytes", i - 1, list[i].size);
}

void BytesUsed(const RuleContext& s, Findings& f) {
  for (const Storage& storage : StoragesOf(s)) {
    if (storage.spans.empty() && storage.path != "operandValues") continue;  // PoolsUsed
    uint64_t end = 0;
    const auto gap = [&](uint64_t begin) {
      if (begin >= end + kGap)
        f.Add(At(storage.path), "{} bytes at offset {} of {} belong to no operand", begin - end,
              end, storage.path);
    };
    for (const Span& span : storage.spans) {
      gap(std::min(span.begin, storage.size));
      end = std::max(end, span.end);
    }
    gap(storage.size);
  }
}

void ConstantsApart(const RuleContext& s, Findings& f) {
  for (const Storage& storage : StoragesOf(s)) {
    const Span* last = nullptr;  // the one that ends last
    for (const Span& span : storage.spans) {
      const bool same = last != nullptr && last->begin == span.begin && last->end == span.end;
      if (last != nullptr && !same && span.begin < last->end && span.begin < span.end)
        f.Add(At(OperandPath(span.operand, "location")),
              "operand {} (bytes {} to {} of {}) overlaps operand {} (bytes {} to {})",
              span.operand, span.begin, span.end, storage.path, last->operand, last->begin,
              last->end);
      if (last == nullptr || span.end > last->end) last = &span;
    }
  }
}

void ConstantsAligned(const RuleContext& s, Findings& f) {
  for (size_t i = 0; i < s.native().operands.size(); ++i) {
    const Operand& o = s.native().operands[i];
    const uint32_t size = ElementSize(o.type);
    if (IsConstant(o) && size > 1 && o.location.offset % size != 0)
      f.Add(At(OperandPath(i, "location.offset")),
            "operand {} of type {} has offset {}, which is not a multiple of {}", i, TextOf(o.type),
            o.location.offset, size);
  }
}

void NothingOem(const RuleContext& s, Findings& f) {
  for (size_t i = 0; i < s.native().operands.size(); ++i) {
    const OperandType type = s.native().operands[i].type;
    if (type == OperandType::kOem || type == OperandType::kTensorOemByte)
      f.Add(At(OperandPath(i, "type")), "operand {} has type {}", i, TextOf(type));
  }
  for (const OperationAt& op : s.operations())
    if (op.operation->type == kOemOperation)
      f.Add(At(op.Where("type")), "operation {} is an OEM_OPERATION", op.index);
}

bool IsKnown(const Shape& dims) {
  return std::find(dims.begin(), dims.end(), 0u) == dims.end();
}

// True if the shapes of inputs and the constant arguments determine the shapes of outputs.
bool Determines(const OperationAt& op) {
  if (op.signature == nullptr) return false;
  for (size_t i = 0; i < op.input_count(); ++i) {
    const Operand* o = op.Input(i);
    if (o == nullptr) continue;
    if (IsTensor(o->type) ? !IsKnown(o->dimensions) : !IsConstant(*o)) return false;
  }
  const Operand* shape = op.operation->type == kReshape ? op.Input(1) : nullptr;
  return shape == nullptr || IsConstant(*shape);
}

void DimensionsGiven(const RuleContext& s, Findings& f) {
  for (const OperationAt& op : s.operations())
    for (size_t i = 0; i < op.operation->outputs.size(); ++i) {
      const Shape* dims = op.OutputDims(i);
      if (dims != nullptr && !IsKnown(*dims) && Determines(op))
        f.Add(At(OperandPath(op.operation->outputs[i], "dimensions")),
              "operand {} has unknown dimensions: {}; the inputs of {} determine them",
              op.operation->outputs[i], DimsText(*dims), op.Title());
    }
}

void KeysOnce(const RuleContext& s, Findings& f) {
  std::set<uint32_t> seen;  // operands with keys
  EachOperation(s, kHashtableLookup, [&](const OperationAt& op) {
    if (!seen.insert(op.operation->inputs[1]).second) return;
    const std::vector<int32_t> keys = op.Ints(1);
    if (const auto twice = std::adjacent_find(keys.begin(), keys.end()); twice != keys.end())
      f.Add(At(op.AtInput(1)), "{} has key {} more than once", op.Title(), *twice);
  });
}

void SchemesDefined(const RuleContext& s, Findings& f) {
  for (const OperationAt& op : s.operations()) {
    if (op.signature == nullptr) continue;
    for (size_t i = 0; i < op.input_count(); ++i)
      if (op.signature->InputAt(i, op.input_count()).kind == Argument::Kind::kScheme &&
          op.Int(i) == 0)
        f.Add(At(op.AtInput(i)), "{} has the padding scheme NONE", op.Title());
  }
}

constexpr Rule kLintRules[] = {
    {.info = {.id = "NNAPI-LINT-001",
              .severity = Severity::kWarning,
              .statement = "Positive scales are normal 32-bit floats of at most 10000.",
              .clause = "advice on types.hal, Operand.scale",
              .hint = "Check the ranges that were measured during calibration.",
              .lint = true},
     .check = ScalesUsual},
    {.info = {.id = "NNAPI-LINT-002",
              .severity = Severity::kNote,
              .statement = "Every pool holds at least one constant.",
              .clause = "advice on types.hal, Model.pools",
              .hint = "Remove the unused pool.",
              .lint = true},
     .check = PoolsUsed},
    {.info = {.id = "NNAPI-LINT-003",
              .severity = Severity::kNote,
              .statement = "operandValues and the pools have no 64 consecutive bytes that belong "
                           "to no constant.",
              .clause = "advice on types.hal, Model.operandValues",
              .hint = "Write the constants one after the other, and drop unused bytes.",
              .lint = true},
     .check = BytesUsed},
    {.info = {.id = "NNAPI-LINT-004",
              .severity = Severity::kWarning,
              .statement = "Two constants occupy the same bytes or do not overlap.",
              .clause = "advice on types.hal, Operand.location",
              .hint = "Give each constant its own range of bytes.",
              .lint = true},
     .check = ConstantsApart},
    {.info = {.id = "NNAPI-LINT-005",
              .severity = Severity::kWarning,
              .statement = "The offset of a constant is a multiple of its element size.",
              .clause = "advice on types.hal, DataLocation.offset",
              .hint = "Align each constant to its element size when writing the model.",
              .lint = true},
     .check = ConstantsAligned},
    {.info =
         {.id = "NNAPI-LINT-006",
          .severity = Severity::kWarning,
          .statement = "The model has no OEM types and no OEM operation.",
          .clause = "advice on types.hal, OperationType.OEM_OPERATION",
          .hint =
              "Use types and operations of NNAPI 1.0; only the vendor's devices can run the model.",
          .lint = true},
     .check = NothingOem},
    {.info = {.id = "NNAPI-LINT-007",
              .severity = Severity::kNote,
              .statement =
                  "An output has known dimensions if the inputs of its operation determine them.",
              .clause = "advice on types.hal, Operand.dimensions",
              .hint = "Declare the dimensions, so that drivers can prepare the model better.",
              .lint = true},
     .check = DimensionsGiven},
    {.info = {.id = "NNAPI-LINT-008",
              .severity = Severity::kWarning,
              .statement = "The keys of HASHTABLE_LOOKUP are distinct.",
              .clause = "advice on types.hal, OperationType.HASHTABLE_LOOKUP",
              .hint = "Remove repeated keys; which of their slices is found is undefined.",
              .lint = true},
     .check = KeysOnce},
    {.info =
         {.id = "NNAPI-LINT-009",
          .severity = Severity::kWarning,
          .statement = "An implicit padding scheme is SAME or VALID.",
          .clause = "advice on types.hal, OperationType.CONV_2D",
          .hint =
              "Use VALID for no padding, or replace the scheme with four explicit padding sizes.",
          .lint = true},
     .check = SchemesDefined},
};

}  // namespace

std::span<const Rule> LintRules() {
  return kLintRules;
}

}  // namespace nn::nnapi
