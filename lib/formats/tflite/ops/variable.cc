// VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE. The importer resolves CALL_ONCE.
#include "base/text/text.h"
#include "formats/tflite/family.h"
#include "formats/tflite/import/variables.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

Status ImportVarHandle(ImportContext& ctx) {
  const auto* const o = ctx.op().builtin_options_as_VarHandleOptions();
  const std::string name = VariableName(o == nullptr ? "" : Text(o->container()),
                                        o == nullptr ? "" : Text(o->shared_name()));
  ctx.SetOutput(0, ctx.variables().Handle(ctx.graph(), name));
  return {};
}

Status ImportReadVariable(ImportContext& ctx) {
  Value* const handle = ctx.input(0);
  if (ctx.output_count() != 1)
    return ModelError("there are {} outputs; expected 1", ctx.output_count());
  NN_ASSIGN(const size_t variable, ctx.variables().OfHandle(handle));
  NN_ASSIGN(Value* const value,
            ctx.variables().Read(ctx.graph(), ctx.known_inputs(), variable, ctx.output_type()));
  ctx.SetOutput(0, value);
  return {};
}

Status ImportAssignVariable(ImportContext& ctx) {
  Value* const handle = ctx.input(0);
  Value* const value = ctx.input(1);
  NN_ASSIGN(const size_t variable, ctx.variables().OfHandle(handle));
  return ctx.variables().Assign(variable, value);
}

constexpr ImportRow kVariableImports[] = {
    {.op = Op::VAR_HANDLE, .import = ImportVarHandle},
    {.op = Op::READ_VARIABLE, .import = ImportReadVariable, .inputs = "a"},
    {.op = Op::ASSIGN_VARIABLE, .import = ImportAssignVariable, .inputs = "aa", .has_effect = true},
};

}  // namespace

Family VariableFamily() {
  return {.imports = kVariableImports};
}

}  // namespace nn::tflite
