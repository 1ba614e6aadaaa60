// Rules for a request: one run of the model, which a .nnapi.json file can contain.
#include <algorithm>
#include <tuple>
#include <utility>

#include "base/checked_math.h"
#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

// An argument with its operand; nullptr if the model has no such operand.
struct RequestArgumentAt {
  const RequestArgument& argument;
  const Operand* operand;
  uint32_t index;  // of the operand
  bool output;
  std::string path;  // request.inputs[3]

  Location At(std::string_view field = {}) const {
    return nn::At(fmt::format("{}{}{}", path, field.empty() ? "" : ".", field));
  }
};

template <typename Visit>
void EachRequestArgument(const RuleContext& s, const Visit& visit) {
  const Model& m = s.native();
  if (!m.request) return;
  const auto each = [&](const std::vector<RequestArgument>& list,
                        const std::vector<uint32_t>& indexes, bool output) {
    for (size_t i = 0; i < list.size(); ++i) {
      const uint32_t index = i < indexes.size() ? indexes[i] : UINT32_MAX;
      visit(RequestArgumentAt{list[i], s.FindOperand(index), index, output,
                              fmt::format("request.{}[{}]", output ? "outputs" : "inputs", i)});
    }
  };
  each(m.request->inputs, m.input_indexes, false);
  each(m.request->outputs, m.output_indexes, true);
}

void ArgumentsForAll(const RuleContext& s, Findings& f) {
  const Model& m = s.native();
  if (!m.request) return;
  const auto check = [&](std::string_view what, size_t has, size_t wants) {
    if (has != wants)
      f.Add(At(fmt::format("request.{}", what)), "the request has {} {}; the model has {}", has,
            what, wants);
  };
  check("inputs", m.request->inputs.size(), m.input_indexes.size());
  check("outputs", m.request->outputs.size(), m.output_indexes.size());
}

void NothingWithoutValue(const RuleContext& s, Findings& f) {
  EachRequestArgument(s, [&](const RequestArgumentAt& a) {
    if (!a.argument.has_no_value) return;
    if (a.argument.location != DataLocation())
      f.Add(a.At("location"), "the argument has no value but has a location");
    if (!a.argument.dimensions.empty())
      f.Add(a.At("dimensions"), "the argument has no value but has dimensions {}",
            DimsText(a.argument.dimensions));
  });
}

void OmittedIsOptional(const RuleContext& s, Findings& f) {
  if (!s.native().request) return;
  // By operand: the first operation input that requires its value.
  std::vector<std::pair<const OperationAt*, size_t>> needs(s.native().operands.size());
  for (const OperationAt& op : s.operations())
    for (size_t i = 0; op.signature != nullptr && i < op.input_count(); ++i)
      if (const uint32_t operand = op.operation->inputs[i];
          operand < needs.size() && needs[operand].first == nullptr &&
          !op.signature->InputAt(i, op.input_count()).optional)
        needs[operand] = {&op, i};
  EachRequestArgument(s, [&](const RequestArgumentAt& a) {
    if (!a.argument.has_no_value || a.operand == nullptr) return;
    if (a.output) {
      f.Add(a.At("hasNoValue"), "operand {} is an output without a value; no output is optional",
            a.index);
      return;
    }
    if (const auto& [op, input] = needs[a.index]; op != nullptr)
      f.Add(a.At("hasNoValue"), "operand {} has no value, but {} requires one", a.index,
            op->InputTitle(input));
  });
}

void ArgumentsInPool(const RuleContext& s, Findings& f) {
  EachRequestArgument(s, [&](const RequestArgumentAt& a) {
    const DataLocation& l = a.argument.location;
    const std::vector<uint64_t>& pools = s.native().request->pool_sizes;
    if (a.argument.has_no_value) return;
    if (l.pool_index >= pools.size())
      f.Add(a.At("location.poolIndex"), "the argument is in pool {}; the request has {} pools",
            l.pool_index, pools.size());
    else if (!InRange(l.offset, l.length, pools[l.pool_index]))
      f.Add(a.At("location"), "the argument takes {} bytes at offset {}; pool {} has {} bytes",
            l.length, l.offset, l.pool_index, pools[l.pool_index]);
  });
}

void DimensionsKept(const RuleContext& s, Findings& f) {
  EachRequestArgument(s, [&](const RequestArgumentAt& a) {
    const Shape& dims = a.argument.dimensions;
    if (a.operand != nullptr && !a.argument.has_no_value && !dims.empty() &&
        !Agree(dims, a.operand->dimensions))
      f.Add(a.At("dimensions"), "the argument has dimensions {}; operand {} of the model has {}",
            DimsText(dims), a.index, DimsText(a.operand->dimensions));
  });
}

bool HasOpen(const Shape& dims) {
  return std::find(dims.begin(), dims.end(), 0u) != dims.end();
}

void DimensionsComplete(const RuleContext& s, Findings& f) {
  EachRequestArgument(s, [&](const RequestArgumentAt& a) {
    const Shape& dims = a.argument.dimensions;
    if (a.argument.has_no_value) return;
    if (HasOpen(dims))
      f.Add(a.At("dimensions"), "the argument has unknown dimensions: {}", DimsText(dims));
    else if (dims.empty() && a.operand != nullptr && HasOpen(a.operand->dimensions))
      f.Add(a.At("dimensions"),
            "the argument has no dimensions, and operand {} of the model has unknown ones: {}",
            a.index, DimsText(a.operand->dimensions));
  });
}

void LengthsFit(const RuleContext& s, Findings& f) {
  EachRequestArgument(s, [&](const RequestArgumentAt& a) {
    if (a.operand == nullptr || a.argument.has_no_value) return;
    const Shape& given = a.argument.dimensions;
    const Shape& dims = given.empty() ? a.operand->dimensions : given;
    uint64_t bytes = ElementSize(a.operand->type);
    for (const uint32_t d : dims)
      if (__builtin_mul_overflow(bytes, d, &bytes)) return;
    if (bytes != 0 && a.argument.location.length != bytes)
      f.Add(a.At("location.length"), "the argument has {} bytes; type and dimensions require {}",
            a.argument.location.length, bytes);
  });
}

// The bytes of an argument.
struct Place {
  uint64_t pool;
  uint64_t begin;
  uint64_t end;
  bool output;
  std::string path;
};

void OutputsApart(const RuleContext& s, Findings& f) {
  std::vector<Place> places;
  EachRequestArgument(s, [&](const RequestArgumentAt& a) {
    const DataLocation& l = a.argument.location;
    if (!a.argument.has_no_value && l.length != 0)
      places.push_back({l.pool_index, l.offset, uint64_t{l.offset} + l.length, a.output, a.path});
  });
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.pool, a.begin) < std::tie(b.pool, b.begin);
  });
  // Of the ranges before, the one that ends last, and the output that ends last.
  const Place* any = nullptr;
  const Place* output = nullptr;
  for (const Place& p : places) {
    const Place* before = p.output ? any : output;
    if (before != nullptr && before->pool == p.pool && p.begin < before->end)
      f.Add(At(p.output ? p.path : before->path), "{} (bytes {} to {} of pool {}) overlaps {}",
            p.path, p.begin, p.end, p.pool, before->path);
    const auto further = [&](const Place* than) {
      return than == nullptr || than->pool != p.pool || p.end > than->end;
    };
    if (further(any)) any = &p;
    if (p.output && further(output)) output = &p;
  }
}

constexpr Rule kRequestRules[] = {
    {.info = {.id = "NNAPI-REQUEST-001",
              .statement =
                  "A request has one argument for each input and each output of the model.",
              .clause = "types.hal, Request.inputs",
              .vendor = true,
              .hint = "Give one argument for each index in inputIndexes and outputIndexes, in "
                      "their order."},
     .check = ArgumentsForAll},
    {.info = {.id = "NNAPI-REQUEST-002",
              .statement =
                  "A request argument without a value has a location of zeros and no dimensions.",
              .clause = "types.hal, RequestArgument.hasNoValue",
              .vendor = true,
              .hint = "Leave out location and dimensions, or set hasNoValue to false."},
     .check = NothingWithoutValue},
    {.info = {.id = "NNAPI-REQUEST-003",
              .statement = "A request omits the value of an input only if the input is optional in "
                           "every operation that reads it, and of no output.",
              .clause = "types.hal, RequestArgument.hasNoValue",
              .vendor = true,
              .hint = "Set hasNoValue to false and give the location of the value."},
     .check = OmittedIsOptional},
    {.info = {.id = "NNAPI-REQUEST-004",
              .statement = "The location of a request argument lies inside a pool of the request.",
              .clause = "types.hal, RequestArgument.location",
              .vendor = true,
              .hint = "Correct poolIndex, offset and length, or enlarge the pool."},
     .check = ArgumentsInPool},
    {.info = {.id = "NNAPI-REQUEST-005",
              .statement = "The dimensions of a request argument keep the rank and the known sizes "
                           "of the operand.",
              .clause = "types.hal, RequestArgument.dimensions",
              .vendor = true,
              .hint =
                  "Repeat the dimensions of the model, and change only sizes that are 0 there."},
     .check = DimensionsKept},
    {.info = {.id = "NNAPI-REQUEST-006",
              .statement = "A request argument gives all of its dimensions, or none if the model "
                           "knows all of them.",
              .clause = "types.hal, RequestArgument.dimensions",
              .vendor = true,
              .hint = "Give every size in the dimensions of the argument."},
     .check = DimensionsComplete},
    {.info = {.id = "NNAPI-REQUEST-007",
              .statement = "The length of a request argument is the number of bytes that its type "
                           "and dimensions require.",
              .clause = "types.hal, DataLocation.length",
              .vendor = true,
              .hint = "Set length to the product of the dimensions and the element size in bytes."},
     .check = LengthsFit},
    {.info = {.id = "NNAPI-REQUEST-008",
              .statement = "An output of a request overlaps no input and no other output.",
              .clause = "types.hal, Request",
              .hint = "Give each output its own range of bytes."},
     .check = OutputsApart},
};

}  // namespace

std::span<const Rule> RequestRules() {
  return kRequestRules;
}

}  // namespace nn::nnapi
