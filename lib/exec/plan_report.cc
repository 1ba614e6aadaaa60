#include "exec/plan_report.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "base/text/table.h"
#include "base/text/text.h"

namespace nn {
namespace {

// "arena 4,096, in cat, rows 64 apart"
std::string MemoryText(const OperandInfo& o) {
  std::string text(StorageName(o.storage));
  const bool arena = o.storage == Storage::kArena || o.storage == Storage::kScratch;
  if (arena || o.offset != 0) text += " " + WithThousands(o.offset);
  if (!o.within.empty()) text += ", in " + Escape(o.within);
  if (o.row_stride != 0) text += fmt::format(", rows {} apart", o.row_stride);
  return text;
}

Json OperandJson(const OperandInfo& o) {
  Json json = Json::object();
  if (o.has_value()) json = {{"name", o.name}, {"type", DTypeName(o.dtype)}, {"shape", o.shape}};
  json["bytes"] = o.bytes;
  json["location"] = StorageName(o.storage);
  if (o.storage != Storage::kPacked) json["offset"] = o.offset;
  if (!o.within.empty()) json["within"] = o.within;
  json["strided"] = o.row_stride != 0;
  if (o.row_stride != 0) json["row_stride"] = o.row_stride;
  return json;
}

Json StepJson(size_t number, const PlannedStep& step) {
  Json operators = Json::array(), reads = Json::array(), writes = Json::array();
  for (const OperatorInfo& op : step.operators)
    operators.push_back({{"operator", op.op}, {"name", op.name}});
  for (const OperandInfo& o : step.reads) reads.push_back(OperandJson(o));
  for (const OperandInfo& o : step.writes) writes.push_back(OperandJson(o));
  return {{"step", number},
          {"label", step.info.label},
          {"operators", std::move(operators)},
          {"reads", std::move(reads)},
          {"writes", std::move(writes)},
          {"grid", step.info.grid},
          {"multiply_adds", step.info.multiply_adds},
          {"bytes", step.info.bytes},
          {"packed_bytes", step.info.packed_bytes},
          {"alive_bytes", step.alive_bytes},
          {"kernel", step.info.reference ? "reference" : "simd"}};
}

std::string StepsText(const PlanInfo& plan) {
  Table table({{"#", Align::kRight},
               {"step"},
               {"type"},
               {"memory"},
               {"grid", Align::kRight},
               {"multiply-adds", Align::kRight},
               {"bytes", Align::kRight},
               {"packed", Align::kRight}});
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const StepInfo& info = plan.steps[s].info;
    const auto number = [](uint64_t v) { return v == 0 ? std::string() : WithThousands(v); };
    table.Add({std::to_string(s), Escape(info.label) + (info.reference ? " (reference)" : ""), "",
               "", WithThousands(info.grid), number(static_cast<uint64_t>(info.multiply_adds)),
               number(info.bytes), number(info.packed_bytes)});
    const auto operands = [&](std::string_view verb, const std::vector<OperandInfo>& list) {
      for (const OperandInfo& o : list) {
        // The line of the step has the size; constants have their own lines.
        if (o.storage == Storage::kPacked && !o.has_value()) continue;
        table.Add({"", fmt::format("  {}{}{}", verb, o.has_value() ? " " : "", Escape(o.name)),
                   o.has_value() ? TypeText(o) : "", MemoryText(o), "", "", "", ""});
      }
    };
    operands("reads", plan.steps[s].reads);
    operands("writes", plan.steps[s].writes);
  }
  return table.Text();
}

std::string SummaryText(const PlanInfo& plan) {
  size_t reference = 0;
  for (const PlannedStep& step : plan.steps) reference += step.info.reference ? 1 : 0;
  Table table({{""}, {""}});
  table.Add({"Steps",
             fmt::format("{}, {} of them by reference evaluation", plan.steps.size(), reference)});
  table.Add(
      {"Operators",
       fmt::format("{}: {} fused into the step before, {} without a step (views); {} more folded",
                   plan.planned_nodes, plan.fused_nodes, plan.stepless_nodes, plan.folded_nodes)});
  table.Add({"Arena", fmt::format("{}; {} without sharing; at most {} alive, at step {}",
                                  HumanBytes(plan.arena_bytes), HumanBytes(plan.unshared_bytes),
                                  HumanBytes(plan.peak_bytes), plan.peak_step)});
  table.Add({"Packed weights",
             fmt::format("{} in {} steps", HumanBytes(plan.packed_bytes), plan.packed_steps)});
  return table.Text();
}

}  // namespace

std::string TypeText(const OperandInfo& operand) {
  return std::string(DTypeName(operand.dtype)) + ToString(ToDims(operand.shape));
}

Status RequirePlan(const Program& program) {
  if (program.planned()) return {};
  if (program.options().backend == Backend::kReference)
    return UsageError("the program has no plan, because its backend is the reference evaluation");
  return UsageError(
      "the model has no plan as a whole, because it has strings or shapes that depend on data, and "
      "runs operator by operator after them");
}

Json PlanJson(const Program& program) {
  Json out = {{"target", SimdTargetInUse()}, {"plan", nullptr}};
  if (!program.planned()) return out;
  const PlanInfo plan = program.Explain();
  Json steps = Json::array();
  for (size_t s = 0; s < plan.steps.size(); ++s) steps.push_back(StepJson(s, plan.steps[s]));
  out["plan"] = {{"steps", std::move(steps)},
                 {"arena",
                  {{"bytes", plan.arena_bytes},
                   {"unshared_bytes", plan.unshared_bytes},
                   {"peak_bytes", plan.peak_bytes},
                   {"peak_step", plan.steps.empty() ? Json() : Json(plan.peak_step)}}},
                 {"packed", {{"bytes", plan.packed_bytes}, {"steps", plan.packed_steps}}},
                 {"operators",
                  {{"planned", plan.planned_nodes},
                   {"fused", plan.fused_nodes},
                   {"views", plan.stepless_nodes},
                   {"folded", plan.folded_nodes}}}};
  return out;
}

std::string PlanText(const Program& program) {
  if (const Status has = RequirePlan(program); !has) return has.error().message() + "\n";
  const PlanInfo plan = program.Explain();
  return (plan.steps.empty() ? "" : StepsText(plan) + "\n") + SummaryText(plan);
}

}  // namespace nn
