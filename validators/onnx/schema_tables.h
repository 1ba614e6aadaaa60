// The texts that schema.cc reads; the notation is explained in schema.h.
#pragma once

namespace nn::onnx {

extern const char kSchemasAToC[];
extern const char kSchemasDToL[];
extern const char kSchemasMToR[];
extern const char kSchemasReduce[];
extern const char kSchemasSToZ[];
extern const char kSchemasMl[];
extern const char kSchemasPreview[];
extern const char kSchemasTraining[];

}  // namespace nn::onnx
