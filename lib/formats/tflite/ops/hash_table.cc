// HASHTABLE, HASHTABLE_IMPORT, HASHTABLE_FIND, HASHTABLE_SIZE: see
// formats/tflite/import/hash_tables.cc.
#include "formats/tflite/family.h"
#include "formats/tflite/file/tensor.h"
#include "formats/tflite/import/variables.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

Status ImportHashtable(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::HashtableOptions>());
  NN_ASSIGN(Value* const handle,
            ctx.variables().TableHandle(ctx.graph(), o->table_id(), DTypeOf(o->key_dtype()),
                                        DTypeOf(o->value_dtype())));
  ctx.SetOutput(0, handle);
  return {};
}

Result<size_t> TableOf(ImportContext& ctx) {
  NN_ASSIGN(const Value* const handle, ctx.Required(0));
  return ctx.variables().OfTableHandle(handle);
}

Status ImportHashtableImport(ImportContext& ctx) {
  NN_ASSIGN(const size_t table, TableOf(ctx));
  NN_ASSIGN(Value* const keys, ctx.Required(1));
  NN_ASSIGN(Value* const values, ctx.Required(2));
  return ctx.variables().Fill(table, keys, values);
}

// The kernel reads the first element of the default value, whatever its shape.
Result<Value*> FirstElement(ImportContext& ctx, size_t i) {
  NN_ASSIGN(Value * v, ctx.Ranked(i));
  if (v->type().rank() == 0) return v;
  NN_ASSIGN(v, ctx.Add("reshape", {v}, ReshapeAttrs{{Dim(-1)}}));
  NN_ASSIGN(v, ctx.Add("slice", {v}, SliceAttrs{{0}, {0}, {1}, {}}));
  return ctx.Add("reshape", {v}, ReshapeAttrs{});
}

Status ImportHashtableFind(ImportContext& ctx) {
  NN_ASSIGN(const size_t table, TableOf(ctx));
  NN_ASSIGN(Value* const x, ctx.Required(1));
  NN_ASSIGN(const auto contents, ctx.variables().ContentsOf(ctx.graph(), table));
  NN_ASSIGN(Value* const fallback, FirstElement(ctx, 2));
  return ctx.Emit("lookup", {x, contents.keys, contents.values, fallback});
}

Status ImportHashtableSize(ImportContext& ctx) {
  NN_ASSIGN(const size_t table, TableOf(ctx));
  NN_ASSIGN(const auto contents, ctx.variables().ContentsOf(ctx.graph(), table));
  const int64_t size = contents.keys->constant().elements();
  ctx.SetOutput(0, ctx.Constant(Tensor::Of<int64_t>({1}, {size})));
  return {};
}

constexpr ImportRow kHashTableImports[] = {
    {.op = Op::HASHTABLE, .import = ImportHashtable},
    {.op = Op::HASHTABLE_IMPORT, .import = ImportHashtableImport, .has_effect = true},
    {.op = Op::HASHTABLE_FIND, .import = ImportHashtableFind},
    {.op = Op::HASHTABLE_SIZE, .import = ImportHashtableSize},
};

}  // namespace

Family HashTableFamily() {
  return {.imports = kHashTableImports};
}

}  // namespace nn::tflite
