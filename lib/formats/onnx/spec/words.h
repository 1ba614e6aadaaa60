// The words of the specification of ONNX operators (formats/common/spec/row.h).
#pragma once

#include <span>
#include <string_view>

#include "formats/common/spec/row.h"

namespace nn::onnx {

inline constexpr std::string_view kTypeWords[] = {
    "f16", "f32", "f64",    "bf16",   "i8",       "i16",        "i32",    "i64",        "u8",
    "u16", "u32", "u64",    "str",    "bool",     "c64",        "c128",   "u4",         "i4",
    "u2",  "i2",  "f4e2m1", "f8e8m0", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz",
};

inline constexpr spec::TypeGroup kTypeGroups[] = {
    {"ANY",
     {kTypeWords,
      {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "c64", "c128",
       "str", "bool"}}},
    {"INT", {kTypeWords, {"i8", "i16", "i32", "i64"}}},
    {"UINT", {kTypeWords, {"u8", "u16", "u32", "u64"}}},
    {"FLOAT", {kTypeWords, {"f16", "f32", "f64"}}},
    {"FLOAT8", {kTypeWords, {"f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz"}}},
};

// FLOAT, INT, STRING, TENSOR, GRAPH, SPARSE_TENSOR and TYPE_PROTO, and lists of the first four; "b"
// is an INT that is 0 or 1.
inline constexpr std::string_view kAttributeWords[] = {"f", "i", "s", "t", "g", "p",
                                                       "y", "F", "I", "S", "T", "b"};

// Of the parameters of a label: lists of one length, of which element i of each describes the same
// thing; alternatives, of which exactly one is given.
inline constexpr std::string_view kParallel = "parallel";
inline constexpr std::string_view kLabelWords[] = {kParallel, "one_of"};

inline constexpr spec::Vocabulary kWords = {
    .types = kTypeWords, .groups = kTypeGroups, .kinds = kAttributeWords, .labels = kLabelWords};

// The files *.spec of this folder, which the build embeds. Those whose names begin with "ai.onnx."
// are the domain of the name, the others are parts of the domain ai.onnx.
std::span<const spec::Text> SpecTexts();

}  // namespace nn::onnx
