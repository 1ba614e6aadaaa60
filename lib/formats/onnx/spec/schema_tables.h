// The tables that schema.cc parses; schema.h explains the notation.
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
