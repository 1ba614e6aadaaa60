// The words of the specification of ML Programs (formats/common/spec/row.h).
#pragma once

#include <span>
#include <string_view>

#include "base/enumerators.h"
#include "coreml_mil.pb.h"
#include "formats/common/spec/row.h"
#include "formats/coreml/program/spec/label.h"

namespace nn::coreml::program {

struct TypeWord {
  std::string_view word;
  std::string_view name;  // in strings of a program: "fp16"
  pb::mil::DataType type;
};

inline constexpr TypeWord kTypes[] = {
    {"f16", "fp16", pb::mil::FLOAT16},  {"f32", "fp32", pb::mil::FLOAT32},
    {"f64", "fp64", pb::mil::FLOAT64},  {"bf16", "bf16", pb::mil::BFLOAT16},
    {"i4", "int4", pb::mil::INT4},      {"i8", "int8", pb::mil::INT8},
    {"i16", "int16", pb::mil::INT16},   {"i32", "int32", pb::mil::INT32},
    {"i64", "int64", pb::mil::INT64},   {"u1", "uint1", pb::mil::UINT1},
    {"u2", "uint2", pb::mil::UINT2},    {"u3", "uint3", pb::mil::UINT3},
    {"u4", "uint4", pb::mil::UINT4},    {"u6", "uint6", pb::mil::UINT6},
    {"u8", "uint8", pb::mil::UINT8},    {"u16", "uint16", pb::mil::UINT16},
    {"u32", "uint32", pb::mil::UINT32}, {"u64", "uint64", pb::mil::UINT64},
    {"bool", "bool", pb::mil::BOOL},    {"str", "string", pb::mil::STRING},
};
inline constexpr auto kTypeWords = spec::WordsIn(kTypes, &TypeWord::word);

inline constexpr spec::TypeGroup kTypeGroups[] = {
    {"FLOAT", {kTypeWords, {"f16", "f32"}}},
    {"NUMBER", {kTypeWords, {"f16", "f32", "i32"}}},
    {"ANY", {kTypeWords, {"f16", "f32", "i32", "bool"}}},
    {"ANY17", {kTypeWords, {"f16", "f32", "i8", "i16", "i32", "u8", "u16", "bool"}}},
    {"SIZE", {kTypeWords, {"i8", "i16", "i32"}}},
    // From an opset on: numbers, and indices.
    {"NUMBER17", {kTypeWords, {"f16", "f32", "i8", "i16", "i32", "u8", "u16"}}},
    {"INDEX16", {kTypeWords, {"i16", "i32", "u16"}}},
    {"INDEX17", {kTypeWords, {"i8", "i16", "i32", "u8", "u16"}}},
    // What compressed constants contain: packed data, palettes, and indices of their entries.
    {"PACKED", {kTypeWords, {"f16", "f32", "i4", "i8", "u4", "u8"}}},
    {"PALETTE", {kTypeWords, {"f16", "f32", "i8", "u8"}}},
    {"ENTRY", {kTypeWords, {"u1", "u2", "u3", "u4", "u6", "u8"}}},
};

inline constexpr spec::ChoiceList kChoiceLists[] = {
    {"ACTIVATION", "tanh|scaled_tanh|sigmoid|hard_sigmoid|relu|linear"},
    {"BOX",
     "CORNERS_HEIGHT_FIRST|CORNERS_WIDTH_FIRST|CENTER_SIZE_HEIGHT_FIRST|CENTER_SIZE_WIDTH_FIRST"},
    {"SAMPLING", "STRICT_ALIGN_CORNERS|ALIGN_CORNERS|UNALIGN_CORNERS|DEFAULT|OFFSET_CORNERS"},
    {"SCATTER", "add|div|max|min|mul|sub|update"},
};

// The opsets, in the order of Opset.
inline constexpr std::string_view kOpsetWords[] = {"iOS15", "iOS16", "iOS17", "iOS18", "iOS26"};

// The module that defines an operation, if it does not have the name of the text. "backend" writes
// operations that no module defines.
inline constexpr std::string_view kDialect = "coreml_dialect";
inline constexpr std::string_view kBackend = "backend";
inline constexpr std::string_view kModuleWords[] = {"constexpr_ops", "compression",
                                                    "quantization_ops", kDialect, kBackend};

// What an operation has beside inputs: a block, or a value among the attributes.
inline constexpr std::string_view kParameterWords[] = {"block", "value"};

// all_axes: 0, 1, ..., rank - 1. unit_axes: those of size 1. each_box: 0, 1, ..., boxes - 1.
inline constexpr std::string_view kDefaultWords[] = {
    "true", "false", "all_axes", "unit_axes", "each_box", "not_align_corners", "sigmoid", "tanh",
};
inline constexpr auto kLabelWords = EnumeratorWords<Label, kLabels, '_'>::kWords;

inline constexpr spec::Vocabulary kWords = {.versions = kOpsetWords,
                                            .options = kModuleWords,
                                            .types = kTypeWords,
                                            .groups = kTypeGroups,
                                            .choices = kChoiceLists,
                                            .kinds = kParameterWords,
                                            .defaults = kDefaultWords,
                                            .labels = kLabelWords};

// The files *.spec of this folder, which the build embeds.
std::span<const spec::Text> SpecTexts();

}  // namespace nn::coreml::program
