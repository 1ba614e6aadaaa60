// HASHTABLE, HASHTABLE_IMPORT, HASHTABLE_FIND, HASHTABLE_SIZE: see
// formats/tflite/import/hash_tables.cc.
#include "formats/tflite/family.h"
#include "formats/tflite/file/tensor.h"
#include "formats/tflite/import/variables.h"
#include "ops/support/term_ops.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

Status ImportHashtable(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::HashtableOptions>());
  NN_ASSIGN(Value* const handle,
            ctx.variables().TableHandle(ctx.graph(), o->table_id(), DTypeOf(o->key_dtype()),
                                        DTypeOf(o->value_dtype())));
  return ctx.EmitTerm(handle);
}

Result<size_t> TableOf(ImportContext& ctx) {
  return ctx.variables().OfTableHandle(ctx.input(0));
}

Status ImportHashtableImport(ImportContext& ctx) {
  NN_ASSIGN(const size_t table, TableOf(ctx));
  return ctx.variables().Fill(table, ctx.input(1), ctx.input(2));
}

// The kernel reads the first element of the default value, whatever its shape.
Term FirstElement(Value* v) {
  if (v->type().rank() == 0) return v;
  return Reshape(Slice(Reshape(v, {Dim(-1)}), 0, 0, 1), {});
}

Status ImportHashtableFind(ImportContext& ctx) {
  NN_ASSIGN(const size_t table, TableOf(ctx));
  NN_ASSIGN(const auto contents, ctx.variables().ContentsOf(ctx.graph(), table));
  return ctx.Emit("lookup",
                  {ctx.input(1), contents.keys, contents.values, FirstElement(ctx.input(2))});
}

Status ImportHashtableSize(ImportContext& ctx) {
  NN_ASSIGN(const size_t table, TableOf(ctx));
  NN_ASSIGN(const auto contents, ctx.variables().ContentsOf(ctx.graph(), table));
  const int64_t size = contents.keys->constant().elements();
  return ctx.EmitTerm(Tensor::Of<int64_t>({1}, {size}));
}

constexpr ImportRow kHashTableImports[] = {
    {.op = Op::HASHTABLE, .import = ImportHashtable},
    {.op = Op::HASHTABLE_IMPORT,
     .import = ImportHashtableImport,
     .inputs = "aaa",
     .has_effect = true},
    {.op = Op::HASHTABLE_FIND, .import = ImportHashtableFind, .inputs = "aar"},
    {.op = Op::HASHTABLE_SIZE, .import = ImportHashtableSize, .inputs = "a"},
};

}  // namespace

Family HashTableFamily() {
  return {.imports = kHashTableImports};
}

}  // namespace nn::tflite
