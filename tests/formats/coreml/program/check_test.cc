// Operations of ML Programs against their definitions: each constraint, kept and broken.
#include "formats/coreml/program/spec/check.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "formats/coreml/program/operation_line.h"
#include "formats/coreml/program/spec/constraint.h"

namespace nn::test::coreml_program_check_test {
namespace {

namespace program = coreml::program;
using program::Opset;
using enum Opset;

struct Line {
  Opset opset;
  std::string line;
  std::string misfit;  // the first; "" if the operation fits
};

void CheckLines(const std::vector<Line>& lines) {
  for (const Line& l : lines) {
    CAPTURE(l.line);
    const OperationLine operation(l.line, l.opset);
    const auto misfits = program::MisfitsOf(operation.view());
    CHECK((misfits.empty() ? std::string() : misfits.front().text) == l.misfit);
  }
}

TEST_CASE("coreml program check: which inputs an operation has") {
  CheckLines({
      {kIos15, "relu(x f32[2]) -> f32[2]", ""},
      {kIos15, "relu(x f32[2], y f32[2]) -> f32[2]", "there is no input \"y\""},
      {kIos15, "relu() -> f32[2]", "input x is missing"},
      {kIos15, "relu(x f32[2], x f32[2]) -> f32[2]", "input x has 2 values instead of 1"},
      {kIos15, "leaky_relu(x f32[2], x f32[2], alpha f32 = 1) -> f32[2]",
       "input x has 2 values instead of 1"},
      {kIos15, "add(x f32[2], y f32[2], x f32[2]) -> f32[2]", "input x is given twice"},
      {kIos15, "cond(pred bool) -> f32[2]", "it has 0 blocks instead of 2"},
      {kIos16, "gather(x f32[2], indices i32[1]) -> f32[1]", ""},
      {kIos15, "gather(x f32[2], indices i32[1], batch_dims i32 = 0) -> f32[1]",
       "there is no input \"batch_dims\""},
  });
}

TEST_CASE("coreml program check: constants, types, ranks, elements and strings") {
  CheckLines({
      {kIos15, "softmax(x f32[2], axis i32) -> f32[2]", "input axis is not a constant"},
      {kIos15, "softmax(x f32[2], axis const i32) -> f32[2]", ""},
      {kIos15, "relu(x i32[2]) -> i32[2]", "input x is int32 instead of fp16 or fp32"},
      {kIos15, "relu(x list f32[2]) -> f32[2]", "input x is a list of fp32 [2], not a tensor"},
      {kIos15, "add(x f32[2], y f16[2]) -> f32[2]", "input y is fp16, but input x is fp32"},
      {kIos15, "elu(x f16[2], alpha f32 = 1) -> f16[2]",
       "input alpha is fp32, but input x is fp16"},
      {kIos17, "elu(x f16[2], alpha f32 = 1) -> f16[2]", ""},
      // Written for a default.
      {kIos15, "rsqrt(x f16[2], epsilon f32 = 1e-12) -> f16[2]", ""},
      {kIos15, "rsqrt(x f16[2], epsilon f32 = 1e-10) -> f16[2]",
       "input epsilon is fp32, but input x is fp16"},
      {kIos15, "l2_norm(x f32[2, 3]) -> f32[2, 3]", "input x has rank 2 instead of 3 or more"},
      {kIos15, "l2_norm(x any f32) -> f32[2, 3]", ""},
      {kIos15,
       "softplus_parametric(x f32[1, 2, 1], alpha f32[2] = 1 1, beta f32[2] = 1 1) -> f32[1, 2, 1]",
       "input x has rank 3 instead of 4"},
      {kIos15, "transpose(x f32[2, 3], perm i32[1] = 0) -> f32[3, 2]",
       "input perm has 1 elements instead of 2"},
      {kIos15,
       "crop(x f32[1, 4, 4], crop_height i32[1] = 0, crop_width i32[2] = 0 0) -> f32[1, 4, 4]",
       "input crop_height has 1 elements instead of 2"},
      {kIos15, "gelu(x f32[2], mode = EXACT) -> f32[2]", ""},
      {kIos15, "gelu(x f32[2], mode = exact) -> f32[2]",
       "input mode is \"exact\", which is none of EXACT TANH_APPROXIMATION "
       "SIGMOID_APPROXIMATION"},
      {kIos17, "reduce_argmax(x f32[2], output_dtype = INT32) -> i32", ""},
      {kIos15, "list_length(ls f32[2]) -> i32", "input ls is fp32 [2], not a list"},
      {kIos15, "list_length(ls list i8[2]) -> i32",
       "input ls is a list of int8 [2]; it may contain fp16, fp32, int32 or bool"},
      {kIos18, "read_state(input f32[2]) -> f32[2]", "input input is fp32 [2], not a state"},
  });
}

TEST_CASE("coreml program check: results") {
  CheckLines({
      {kIos15, "relu(x f32[2]) -> f32[2], f32[2]", "it has 2 results instead of 1"},
      {kIos15, "relu(x f32[2]) -> f16[2]", "result 0 is fp16 instead of fp32"},
      {kIos15, "relu(x f32[2]) -> f32[2, 1]", "result 0 has rank 2 instead of 1"},
      {kIos15, "relu(x f32[2]) -> list f32[2]", "result 0 is a list of fp32 [2], not a tensor"},
      {kIos15, "relu(x f32[2]) -> f32[3]", "result 0 has shape [3] instead of [2]"},
      {kIos15, "relu(x f32[?]) -> f32[3]", ""},
      {kIos15, "equal(x f32[2], y f32[2]) -> f32[2]", "result 0 is fp32 instead of bool"},
      {kIos15, "cast(x f32[2], dtype = int32) -> i32[2]", ""},
      {kIos15, "cast(x f32[2], dtype = int32) -> f32[2]", "result 0 is fp32 instead of int32"},
      {kIos16, "topk(x f32[3]) -> f32[1], i32[1], i32[1]", "it has 3 results instead of 1 or 2"},
      {kIos15, "fill(shape i32[1] = 2) -> i8[2]",
       "result 0 is int8 instead of fp16, fp32, int32 or bool"},
  });
}

TEST_CASE("coreml program check: numbers") {
  CheckLines({
      {kIos15, "tile(x f32[2], reps i32[1] = 2) -> f32[4]", ""},
      {kIos15, "tile(x f32[2], reps i32[1] = 0) -> f32[?]",
       "input reps has 0, which is not above 0"},
      {kIos15, "fill(shape i32[1] = 0) -> f32[0]", "input shape has 0, which is not above 0"},
      {kIos15, "pad(x f32[2], pad i32[2] = 1 -1) -> f32[2]", "input pad has -1, which is below 0"},
      {kIos17, "clip(x f32[2], alpha f32 = 1, beta f32 = 2) -> f32[2]", ""},
      {kIos17, "clip(x f32[2], alpha f32 = 2, beta f32 = 2) -> f32[2]",
       "input alpha is 2, which is not below input beta, 2"},
      {kIos17, "quantize(input f32[2], scale f32 = 0, output_dtype = int8) -> i8[2]",
       "input scale is 0"},
      {kIos17, "quantize(input f32[2], scale f32 = 1, output_dtype = int8) -> i8[2]", ""},
      {kIos17,
       "quantize(input f32[2], scale f32 = 1, zero_point u8 = 1, output_dtype = int8) -> i8[2]",
       "input zero_point is uint8, but output_dtype is int8"},
      {kIos15,
       "affine(x f32[1, 1, 2, 2], transform_matrix f32[1, 6], output_height i32 = 2, output_width "
       "i32 = 3, "
       "sampling_mode = bilinear, padding_mode = CONSTANT, padding_value f32 = 0, "
       "coordinates_mode = normalized_minus_one_to_one, align_corners bool = 1) -> f32[1, 1, 2, 3]",
       ""},
      {kIos15,
       "affine(x f32[1, 1, 2, 2], transform_matrix f32[1, 5], output_height i32 = 2, output_width "
       "i32 = 2, "
       "sampling_mode = bilinear, padding_mode = constant, padding_value f32 = 0, "
       "coordinates_mode = normalized_minus_one_to_one, align_corners bool = 1) -> f32[1, 1, 2, 2]",
       "input transform_matrix has size 5 along axis -1 instead of 6, the numbers of a matrix"},
      {kIos15,
       "affine(x f32[1, 1, 2, 2], transform_matrix f32[1, 6], output_height i32 = 2, output_width "
       "i32 = 2, "
       "sampling_mode = bilinear, padding_mode = constant, padding_value f32 = 1, "
       "coordinates_mode = normalized_minus_one_to_one, align_corners bool = 1) -> f32[1, 1, 2, 2]",
       "input padding_value has 1, but must be 0"},
      {kIos15,
       "affine(x f32[1, 1, 2, 2], transform_matrix f32[1, 6], output_height i32 = 2, output_width "
       "i32 = 2, "
       "sampling_mode = bilinear, padding_mode = constant, padding_value f32 = 0, "
       "coordinates_mode = normalized_minus_one_to_one, align_corners bool = 0) -> f32[1, 1, 2, 2]",
       "input align_corners is false, but must be true"},
      {kIos17, "topk(x f32[3], return_indices bool = 0, output_indices_dtype = int32) -> f32[1]",
       "input output_indices_dtype is given, but return_indices is false"},
      {kIos15, "one_hot(indices i32[2], one_hot_vector_size i32 = -1) -> i32[2, ?]",
       "input one_hot_vector_size has -1, which is below 0"},
  });
}

TEST_CASE("coreml program check: likeness") {
  CheckLines({
      {kIos15, "add(x f32[2, 1], y f32[3]) -> f32[2, 3]", ""},
      {kIos15, "add(x f32[2, 1], y f32[?]) -> f32[2, 3]", ""},
      {kIos15, "add(x f32[2], y f32[3]) -> f32[3]",
       "input y has shape [3], which is not broadcast to [2]"},
      {kIos15, "add(x f32[2, 1], y f32[3]) -> f32[2, 4]",
       "result 0 has shape [2, 4] instead of [2, 3]"},
      {kIos15, "select(cond bool[2], a f32[2], b f32[3]) -> f32[2]",
       "input b has shape [3], which is not broadcast to [2]"},
      {kIos15, "concat(values f32[2], values f16[2], axis i32 = 0) -> f32[4]",
       "input values[1] is fp16, but input values[0] is fp32"},
      {kIos15, "concat(values f32[2], values f32[2, 1], axis i32 = 0) -> f32[4]",
       "input values[1] has rank 2, but input values[0] has rank 1"},
      {kIos15, "stack(values f32[2], values f32[3], axis i32 = 0) -> f32[2, 2]",
       "input values[1] has shape [3], but input values[0] has shape [2]"},
      {kIos15, "prelu(x f32[1, 2, 1, 1], alpha f32[2] = 1 2) -> f32[1, 2, 1, 1]", ""},
      {kIos15, "prelu(x f32[1, 2, 1, 1], alpha f32[3] = 1 2 3) -> f32[1, 2, 1, 1]",
       "input alpha has 3 elements instead of 2, one for each channel"},
      {kIos15, "prelu(x f32[1, 2, 1], alpha f32[2] = 1 2) -> f32[1, 2, 1]",
       "input alpha has different values, but input x has rank 3"},
      {kIos15, "prelu(x f32[1, 2, 1], alpha f32[2] = 2 2) -> f32[1, 2, 1]", ""},
      {kIos15, "random_normal(shape i32[2] = 2 3) -> f32[2, 3]", ""},
      {kIos15, "random_normal(shape i32[2] = 2 3) -> f32[2, 4]",
       "result 0 has shape [2, 4] instead of [2, 3]"},
      {kIos15, "random_normal(shape i32[2]) -> f32[2]", "result 0 has shape [2] instead of [?, ?]"},
      {kIos17, "matmul(x f32[2, 3], y const f16[3, 4]) -> f32[2, 4]",
       "input y is fp16, but input x is fp32"},
      {kIos17, "matmul(x f32[1, 1], y f16[1, 1] = 1) -> f32[1, 1]", ""},
      {kIos17, "matmul(x f32[1, 1], y f16[1, 1] = 1) -> f16[1, 1]",
       "result 0 is fp16 instead of fp32"},
  });
}

TEST_CASE("coreml program check: axes") {
  CheckLines({
      {kIos15, "softmax(x f32[2, 3, 4], axis i32 = -3) -> f32[2, 3, 4]", ""},
      {kIos15, "softmax(x f32[2, 3, 4], axis i32 = 5) -> f32[2, 3, 4]",
       "input axis is 5, which is out of range for rank 3"},
      {kIos15, "reduce_sum(x f32[2, 3], axes i32[1] = 1) -> f32[2]", ""},
      {kIos15, "reduce_sum(x f32[2, 3], axes i32[1] = -2, keep_dims bool = 1) -> f32[1, 3]", ""},
      {kIos15, "reduce_sum(x f32[2, 3]) -> f32", ""},
      {kIos15, "reduce_sum(x f32[2, 3]) -> f32[3]", "result 0 has shape [3] instead of []"},
      {kIos15, "reduce_sum(x f32[2, 3], axes i32[1] = 2) -> f32[2]",
       "input axes has axis 2, which is out of range for rank 2"},
      {kIos15, "reduce_argmax(x f32[2, 3], axis i32 = 0) -> i32[3]", ""},
      {kIos15, "reduce_argmax(x f32[2, 3], axis i32 = 0) -> i32[2]",
       "result 0 has shape [2] instead of [3]"},
      {kIos15, "cumsum(x f32[2], axis i32 = -1) -> f32[2]", ""},
      {kIos15, "cumsum(x f32[2, 3], axis i32 = -2) -> f32[2, 3]",
       "input axis is -2, which is not from -1 to 1"},
      {kIos15, "stack(values f32[2], values f32[2], values f32[2], axis i32 = -1) -> f32[2, 3]",
       ""},
      {kIos15, "stack(values f32[2], axis i32 = 2) -> f32[2, 1]",
       "input axis is 2, which is out of range for rank 2"},
      {kIos15, "one_hot(indices i32[2], one_hot_vector_size i32 = 5) -> i32[2, 4]",
       "result 0 has shape [2, 4] instead of [2, 5]"},
      {kIos15, "layer_norm(x f32[2, 3], axes i32[1] = -1, gamma f32[3] = 1 1 1) -> f32[2, 3]", ""},
      {kIos15, "layer_norm(x f32[2, 3], axes i32[1] = 0, gamma f32[3] = 1 1 1) -> f32[2, 3]",
       "input gamma has shape [3] instead of [2], the sizes of input x along the axes"},
      {kIos15, "expand_dims(x f32[2], axes i32[2] = 0 -1) -> f32[1, 2, 1]", ""},
      {kIos15, "expand_dims(x f32[2], axes i32[1] = 2) -> f32[2, 1]",
       "input axes has axis 2, which is out of range for rank 2"},
      {kIos15, "expand_dims(x f32[2], axes i32[1] = 1) -> f32[1, 2]",
       "result 0 has shape [1, 2] instead of [2, 1]"},
      {kIos15, "squeeze(x f32[1, 2, 1]) -> f32[2]", ""},
      {kIos15, "squeeze(x f32[1, 2, 1], axes i32[1] = 0) -> f32[2, 1]", ""},
      {kIos15, "squeeze(x f32[1, 2, 1], axes i32[1] = 3) -> f32[2, 1]",
       "input axes has axis 3, which is out of range for rank 3"},
      {kIos15, "squeeze(x f32[1, 2, 1], axes i32[1] = 1) -> f32[1, 1]",
       "result 0 has shape [1, 1] instead of [1, 2, 1]"},
      {kIos15, "transpose(x f32[2, 3], perm i32[2] = 1 0) -> f32[3, 2]", ""},
      {kIos15, "transpose(x f32[2, 3], perm i32[2] = 1 0) -> f32[2, 3]",
       "result 0 has shape [2, 3] instead of [3, 2]"},
      {kIos15, "transpose(x f32[2, 3], perm i32[2] = 2 0) -> f32[2, 3]",
       "input perm has axis 2, which is out of range for rank 2"},
      {kIos15, "transpose(x f32[2, 2], perm i32[2] = 0 0) -> f32[2, 2]",
       "input perm has axis 0 twice"},
  });
}

TEST_CASE("coreml program check: shapes") {
  CheckLines({
      {kIos15, "shape(x f32[2, 3]) -> i32[2]", ""},
      {kIos15, "shape(x f32[2, 3]) -> i32[3]", "result 0 has shape [3] instead of [2]"},
      {kIos15, "range_1d(end f32 = 2, start f32 = 0, step f32 = 0.7) -> f32[3]", ""},
      {kIos15, "range_1d(end i32 = 5, start i32 = 0, step i32 = 2) -> i32[2]",
       "result 0 has shape [2] instead of [3]"},
      {kIos15, "tile(x f32[2, 3], reps i32[2] = 1 2) -> f32[2, 3]",
       "result 0 has shape [2, 3] instead of [2, 6]"},
      {kIos15, "flatten2d(x f32[2, 3, 4], axis i32 = -1) -> f32[6, 4]", ""},
      {kIos15, "flatten2d(x f32[2, 3, 4], axis i32 = 0) -> f32[6, 4]",
       "result 0 has shape [6, 4] instead of [1, 24]"},
      {kIos15, "concat(values f32[2, 3], values f32[?, 3], axis i32 = 0) -> f32[?, 3]", ""},
      {kIos15, "concat(values f32, values f32, axis i32 = 0) -> f32[2]", ""},
      {kIos15, "concat(values f32[2, 3], values f32[1, 3], axis i32 = 0) -> f32[4, 3]",
       "result 0 has shape [4, 3] instead of [3, 3]"},
      {kIos15, "concat(values f32[2, 3], values f32[2, 2], axis i32 = 0) -> f32[4, 3]",
       "input values[1] has shape [2, 2], which is not joined to [2, 3] along axis 0"},
      {kIos15, "concat(values f32[2], values f32[3], axis i32 = 0, interleave bool = 1) -> f32[5]",
       "input values[1] has shape [3], which is not joined to [2] along axis 0"},
      {kIos15, "split(x f32[4], num_splits i32 = 2, axis i32 = 0) -> f32[2], f32[2]", ""},
      {kIos15, "split(x f32[4], num_splits i32 = 2, axis i32 = 0) -> f32[2], f32[3]",
       "result 1 has shape [3] instead of [2]"},
      {kIos15, "split(x f32[4], num_splits i32 = 3, axis i32 = 0) -> f32[2], f32[1], f32[1]",
       "input num_splits is 3, which does not divide the size 4"},
      {kIos15, "split(x f32[4], num_splits i32 = 3, axis i32 = 0) -> f32[2], f32[2]",
       "it has 2 results instead of 3"},
      {kIos15, "split(x f32[4], axis i32 = 0) -> f32[4]",
       "input num_splits or split_sizes is missing"},
      {kIos15, "split(x f32[4], split_sizes i32[2] = 1 3, axis i32 = 0) -> f32[1], f32[3]", ""},
      {kIos15, "split(x f32[4], split_sizes i32[2] = 1 2, axis i32 = 0) -> f32[1], f32[2]",
       "input split_sizes adds up to 3, but the size is 4"},
      {kIos15, "reshape(x f32[2, 3], shape i32[2] = 0 -1) -> f32[2, 3]", ""},
      {kIos15, "reshape(x f32[2, 3], shape i32[2] = -1 -1) -> f32[2, 3]",
       "input shape has -1 2 times"},
      {kIos15, "reshape(x f32[2, 3], shape i32[1] = 0) -> f32[6]",
       "input shape has a 0, and 1 sizes; input x has rank 2"},
      {kIos15, "reshape(x f32[2, 3], shape i32[1] = 5) -> f32[5]",
       "input x has 6 elements, which is not the number of shape [5]"},
      {kIos15, "reshape(x f32[2, 3], shape i32[1] = 6) -> f32[7]",
       "result 0 has shape [7] instead of [6]"},
      {kIos17, "reshape(x f32[2, 3], shape i32[3] = 0 2 0) -> f32[1, 2, 3]", ""},
      {kIos16,
       "reshape_like(x f32[6], ref_tensors f32[5, 2, 3], begins i32 = 1, ends i32 = 0, end_masks "
       "bool = 1) -> f32[2, 3]",
       ""},
      {kIos16,
       "reshape_like(x f32[6], ref_tensors f32[5, 2, 3], begins i32 = 0, ends i32 = 1, end_masks "
       "bool = 0) -> f32[5]",
       "input x has shape [6], which has not the number of elements of [5]"},
      {kIos16,
       "reshape_like(x f32[6], ref_tensors f32[6], begins i32 = 0, ends i32 = 1, ends i32 = 1, "
       "end_masks bool = 1) -> f32[6]",
       "input ends has 2 values, but input ref_tensors has 1"},
      {kIos15,
       "reverse_sequence(x f32[2, 3], lengths i32[3] = 1 2 2, seq_axis i32 = 0, batch_axis i32 = "
       "1) -> f32[2, 3]",
       ""},
      {kIos15,
       "reverse_sequence(x f32[2, 3], lengths i32[2] = 1 2, seq_axis i32 = 0, batch_axis i32 = 1) "
       "-> f32[2, 3]",
       "input lengths has 2 elements instead of 3, one for each index of the batch"},
      {kIos15,
       "reverse_sequence(x f32[2, 1], lengths i32[1] = 3, seq_axis i32 = 0, batch_axis i32 = 1) -> "
       "f32[2, 1]",
       "input lengths has 3, but the sequence has size 2"},
      {kIos15, "pad(x f32[2, 3], pad i32[2] = 1 2) -> f32[2, 6]", ""},
      {kIos15, "pad(x f32[2, 3], pad i32[2] = 1 2) -> f32[2, 5]",
       "result 0 has shape [2, 5] instead of [2, 6]"},
      {kIos15, "pad(x f32[2], pad i32[3] = 1 1 1) -> f32[4]",
       "input pad has 3 elements, not pairs"},
      {kIos15, "pad(x f32[2], pad i32[4] = 1 1 1 1) -> f32[4]",
       "input pad has 2 pairs; input x has rank 1"},
      {kIos15, "pad(x f32[2, 2], pad i32[2]) -> f32[2, 4]",
       "input pad has 2 elements instead of 4, a pair for each axis, because it is not a constant"},
      {kIos15, "pad(x f32[2], pad i32[2] = 2 0, mode = reflect) -> f32[4]",
       "input pad has 2, which is too large for mode reflect and size 2"},
      {kIos15, "pad(x f32[2], pad i32[2] = 2 0, mode = replicate) -> f32[4]", ""},
      {kIos15, "random_categorical(x f32[2, 3], size i32 = 4) -> f32[2, 4]", ""},
      {kIos15, "random_categorical(x f32[2, 3], size i32 = 4) -> f32[2, 3]",
       "result 0 has shape [2, 3] instead of [2, 4]"},
      {kIos15, "sliding_windows(x f32[5], axis i32 = 0, size i32 = 2, stride i32 = 2) -> f32[2, 2]",
       ""},
      {kIos15, "sliding_windows(x f32[5], axis i32 = 0, size i32 = 2) -> f32[5, 2]",
       "result 0 has shape [5, 2] instead of [4, 2]"},
      {kIos15, "sliding_windows(x f32[5], axis i32 = 0, size i32 = 6) -> f32[5, 2]",
       "input size is 6, but the axis has size 5"},
  });
}

TEST_CASE("coreml program check: slices") {
  CheckLines({
      {kIos15, "slice_by_index(x f32[5, 4], begin i32[2] = 1 0, end i32[2] = 4 -1) -> f32[3, 3]",
       ""},
      {kIos15, "slice_by_index(x f32[5], begin i32[1] = 1, end i32[1] = 4) -> f32[4]",
       "result 0 has shape [4] instead of [3]"},
      {kIos15,
       "slice_by_index(x f32[5], begin i32[1] = 4, end i32[1] = 0, stride i32[1] = -2, end_mask "
       "bool[1] = 1) -> f32[3]",
       ""},
      {kIos15,
       "slice_by_index(x f32[5], begin i32[1] = 0, end i32[1] = 0, begin_mask bool[1] = 1, "
       "end_mask bool[1] = 1) -> f32[5]",
       ""},
      {kIos15,
       "slice_by_index(x f32[5, 2], begin i32[2] = 1 0, end i32[2] = 2 0, end_mask bool[2] = 0 1, "
       "squeeze_mask bool[2] = 1 0) -> f32[2]",
       ""},
      {kIos15,
       "slice_by_index(x f32[?], begin i32[1] = -1, end i32[1] = 0, end_mask bool[1] = 1) -> "
       "f32[2]",
       "result 0 has shape [2] instead of [1]"},
      {kIos15, "slice_by_index(x f32[5], begin i32[1] = 3, end i32[1] = 1) -> f32[0]",
       "axis 0 is sliced from 3 to 1 with stride 1"},
      {kIos15, "slice_by_index(x f32[5], begin i32[1], end i32[1]) -> f32[?]", ""},
      {kIos15,
       "slice_by_index(x f32[5], begin i32[1] = 0, end i32[1] = 1, stride i32[2] = 1 1) -> f32[1]",
       "input stride has 2 elements instead of 1, one for each axis"},
      {kIos18, "slice_update(x f32[5], update f32[2], begin i32[1] = 1, end i32[1] = 3) -> f32[5]",
       ""},
      {kIos18, "slice_update(x f32[5], update f32[3], begin i32[1] = 1, end i32[1] = 3) -> f32[5]",
       "input update has shape [3], but the slice has shape [2]"},
      {kIos15, "slice_by_size(x f32[5, 4], begin i32[2] = 1 2, size i32[2] = 3 -1) -> f32[3, 2]",
       ""},
      {kIos15, "slice_by_size(x f32[5, 4], begin i32[2] = 1 2, size i32[2] = 3 -1) -> f32[3, 3]",
       "result 0 has shape [3, 3] instead of [3, 2]"},
  });
}

TEST_CASE("coreml program check: blocks of axes") {
  CheckLines({
      {kIos15, "depth_to_space(x f32[1, 8, 2, 3], block_size i32 = 2) -> f32[1, 2, 4, 6]", ""},
      {kIos15, "depth_to_space(x f32[1, 8, 2, 3], block_size i32 = 2) -> f32[1, 2, 4, 5]",
       "result 0 has shape [1, 2, 4, 5] instead of [1, 2, 4, 6]"},
      {kIos15, "depth_to_space(x f32[1, 6, 2, 3], block_size i32 = 2) -> f32[1, 1, 4, 6]",
       "input x has size 6 along axis 1, which is no multiple of 4"},
      {kIos15, "space_to_depth(x f32[1, 2, 4, 6], block_size i32 = 2) -> f32[1, 8, 2, 3]", ""},
      {kIos15, "space_to_depth(x f32[1, 2, 4, 6], block_size i32 = 2) -> f32[1, 4, 2, 3]",
       "result 0 has shape [1, 4, 2, 3] instead of [1, 8, 2, 3]"},
      {kIos15, "space_to_depth(x f32[1, 2, 5, 6], block_size i32 = 2) -> f32[1, 8, 2, 3]",
       "input x has size 5 along axis 2, which is no multiple of 2"},
      {kIos15,
       "space_to_batch(x f32[1, 3, 2, 3], block_shape i32[2] = 2 2, paddings i32[2, 2] = 0 0 0 1) "
       "-> f32[4, 3, 1, 2]",
       ""},
      {kIos15,
       "space_to_batch(x f32[1, 3, 2, 3], block_shape i32[2] = 2 2, paddings i32[2, 2] = 0 0 0 0) "
       "-> f32[4, 3, 1, 2]",
       "input x has size 3 with padding along axis 3, which is no multiple of 2"},
      {kIos15,
       "space_to_batch(x f32[1, 3, 2, 4], block_shape i32[2] = 2 2, paddings i32[4, 1] = 0 0 0 0) "
       "-> f32[4, 3, 1, 2]",
       "input paddings has shape [4, 1] instead of [2, 2]"},
      {kIos15,
       "batch_to_space(x f32[4, 3, 1, 2], block_shape i32[2] = 2 2, crops i32[2, 2] = 0 0 0 1) -> "
       "f32[1, 3, 2, 3]",
       ""},
      {kIos15,
       "batch_to_space(x f32[3, 3, 1, 2], block_shape i32[2] = 2 2, crops i32[2, 2] = 0 0 0 1) -> "
       "f32[1, 3, 2, 3]",
       "input x has batch 3, which is no multiple of 4"},
  });
}

TEST_CASE("coreml program check: lists and states") {
  CheckLines({
      {kIos15, "make_list(elem_shape i32 = 2, dtype = fp32) -> list f32[2]", ""},
      {kIos15, "make_list(elem_shape i32 = 2, dtype = fp32) -> list f32[3]",
       "result 0 is a list of fp32 [3]; its elements are fp32 [2]"},
      {kIos15, "make_list(elem_shape i32 = 2, dtype = int32) -> list f32[2]",
       "result 0 is a list of fp32 [2]; its elements are int32 [2]"},
      {kIos15, "list_write(ls list f32[2], index i32, value f32[2]) -> list f32[2]", ""},
      {kIos15, "list_write(ls list f32[2], index i32, value f32[3]) -> list f32[2]",
       "input value is fp32 [3], but the list has elements fp32 [2]"},
      {kIos15, "list_read(ls list f32[2], index i32) -> f32[2]", ""},
      {kIos15, "list_read(ls list f32[2], index i32) -> f32[3]",
       "result 0 has shape [3] instead of [2]"},
      {kIos15, "list_read(ls list f32[2], index i32) -> i32[2]",
       "result 0 is int32 instead of fp32"},
      {kIos15, "list_gather(ls list f32[2], indices i32[3]) -> f32[3, 2]", ""},
      {kIos15, "list_gather(ls list f32[2], indices i32[3]) -> f32[4, 2]",
       "result 0 has shape [4, 2] instead of [3, 2]"},
      {kIos15, "list_scatter(ls list f32[2], indices i32[3], value f32[3, 2]) -> list f32[2]", ""},
      {kIos15, "list_scatter(ls list f32[2], indices i32[3], value f32[4, 2]) -> list f32[2]",
       "input value has size 4 along axis 0 instead of 3, one for each index"},
      {kIos15, "list_scatter(ls list f32[2], indices i32[3], value f32[3, 3]) -> list f32[2]",
       "input value is fp32 [3, 3], but the list has elements fp32 [2]"},
      {kIos18, "read_state(input state f16[2]) -> f16[2]", ""},
      {kIos18, "read_state(input state f16[2]) -> f16[3]", "result 0 has shape [3] instead of [2]"},
      {kIos18, "read_state(input state list f16[2]) -> f16[2]", "input input contains no tensor"},
      {kIos18, "write_state(input state f16[2], data f16[3]) ->",
       "input data is fp16 [3], but the state contains fp16 [2]"},
  });
}

TEST_CASE("coreml program check: products and attention") {
  CheckLines({
      {kIos15, "linear(x f32[2, 3], weight const f32[4, 3], bias f32[4] = 1 1 1 1) -> f32[2, 4]",
       ""},
      {kIos15, "linear(x f32[2, 3], weight const f32[4, 2]) -> f32[2, 4]",
       "input weight has size 2 along axis -1 instead of 3, the last size of x"},
      {kIos15, "linear(x f32[2, 3], weight const f32[4, 3], bias f32[3] = 1 1 1) -> f32[2, 4]",
       "input bias has 3 elements instead of 4, one for each output channel"},
      {kIos15, "matmul(x f32[5, 2, 3], y f32[4, 3], transpose_y bool = 1) -> f32[5, 2, 4]", ""},
      {kIos15, "matmul(x f32[3], y f32[3, 4]) -> f32[4]", ""},
      {kIos15, "matmul(x f32[2, 3], y f32[4, 3]) -> f32[2, 3]",
       "shapes [2, 3] and [4, 3] have no product"},
      {kIos15, "matmul(x f32[2, 3], y f32[3]) -> f32[2]", "input y has rank 1, which is no matrix"},
      {kIos15, "matmul(x f32[3], y f32[3, 4], transpose_x bool = 1) -> f32[?]",
       "input x is a vector, but transpose_x is true"},
      {kIos15,
       "einsum(values f32[1, 2, 3, 4], values f32[1, 4, 3, 5], equation = nchw,nwhu->nchu) -> "
       "f32[1, 2, 3, 5]",
       ""},
      {kIos15,
       "einsum(values f32[2, 3, 4], values f32[4, 3, 5], equation = abc,cbd->abd) -> f32[2, 3, 5]",
       ""},
      {kIos15,
       "einsum(values f32[2, 3, 4], values f32[4, 3, 5], equation = abc,cbd->adb) -> f32[2, 3, 5]",
       "input equation is \"abc,cbd->adb\", which is neither nchw,nwhu->nchu nor chw,whr->chr"},
      {kIos15,
       "einsum(values f32[2, 3, 4], values f32[5, 3, 5], equation = chw,whr->chr) -> f32[2, 3, 5]",
       "shapes [2, 3, 4] and [5, 3, 5] do not fit the equation"},
      {kIos15, "einsum(values f32[2, 3, 4], equation = chw,whr->chr) -> f32[2, 3, 5]",
       "input values has 1 values instead of 2"},
      {kIos18,
       "scaled_dot_product_attention(query f32[1, 2, 3], key f32[1, 4, 3], value f32[1, 4, 5]) -> "
       "f32[1, 2, 5]",
       ""},
      {kIos18,
       "scaled_dot_product_attention(query f32[1, 2, 3], key f32[1, 4, 2], value f32[1, 4, 5]) -> "
       "f32[1, 2, 5]",
       "input key has size 2 along axis -1 instead of 3, the last size of query"},
      {kIos18,
       "scaled_dot_product_attention(query f32[1, 2, 3], key f32[1, 4, 3], value f32[1, 4, 5], "
       "attn_mask f32[2, 3]) -> f32[1, 2, 5]",
       "input attn_mask has size 3 along axis -1 instead of 4, the number of keys"},
      {kIos18,
       "scaled_dot_product_attention(query f32[1, 2, 3], key f32[1, 4, 3], value f32[1, 4, 5], "
       "attn_mask f32[3, 4]) -> f32[1, 2, 5]",
       "input attn_mask has shape [3, 4], which is not broadcast to [1, 2] queries"},
  });
}

TEST_CASE("coreml program check: windows") {
  CheckLines({
      {kIos15, "conv(x f32[1, 4, 5, 6], weight const f32[2, 4, 3, 3]) -> f32[1, 2, 3, 4]", ""},
      {kIos15, "conv(x f32[2, 3], weight const f32[]) -> f32[2, 1]",
       "input x has rank 2 instead of 3 to 5"},
      {kIos15,
       "conv(x f32[1, 4, 5, 6], weight const f32[2, 4, 3, 3], pad_type = same, strides i32[2] = 2 "
       "2) -> f32[1, 2, 3, 3]",
       ""},
      {kIos15,
       "conv(x f32[1, 4, 5], weight const f32[2, 4, 3], pad_type = custom, pad i32[2] = 1 0, "
       "dilations i32[1] = 2) -> f32[1, 2, 2]",
       ""},
      {kIos15, "conv(x f32[1, 4, 5], weight const f32[2, 4, 3]) -> f32[1, 2, 4]",
       "result 0 has shape [1, 2, 4] instead of [1, 2, 3]"},
      {kIos15, "conv(x f32[1, 4, 2], weight const f32[2, 4, 3]) -> f32[1, 2, 0]",
       "no window fits into axis 2, which has size 2"},
      {kIos15, "conv(x f32[1, 4, 5], weight const f32[2, 4, 3], groups i32 = 3) -> f32[1, 2, 3]",
       "input x has 4 channels, which is no multiple of groups, 3"},
      {kIos15, "conv(x f32[1, 4, 5], weight const f32[2, 4, 3], groups i32 = 2) -> f32[1, 2, 3]",
       "input weight has size 4 along axis 1 instead of 2, the channels of a group"},
      {kIos15, "conv(x f32[1, 4, 5], weight f32[2, 4, 1], dilations i32[1] = 2) -> f32[1, 2, 5]",
       "input weight is not a constant, but dilations has numbers above 1"},
      {kIos15, "conv(x f32[1, 4, 5], weight f32[2, 4, 1], pad_type = same_lower) -> f32[1, 2, 5]",
       "input pad_type is same_lower, which iOS15 does not have"},
      {kIos16, "conv(x f32[1, 4, 5], weight f32[2, 4, 1], pad_type = same_lower) -> f32[1, 2, 5]",
       ""},
      {kIos15, "conv(x f32[1, 4, 5], weight f32[2, 4, 1], pad i32[2] = 1 1) -> f32[1, 2, 5]",
       "input pad has no effect, because pad_type is \"valid\""},
      {kIos15, "conv(x f32[1, 4, 5], weight f32[2, 4, 1], pad_type = custom) -> f32[1, 2, 5]",
       "input pad is missing, but pad_type is custom"},
      {kIos15,
       "conv_quantized(x f32[1, 4, 5], weight u8[2, 4, 1], quantization_type = linear, nbits i32 = "
       "9, quant_scale f32 = 1, quant_bias f32 = 0) -> f32[1, 2, 5]",
       "input nbits is 9, which is not from 1 to 8"},
      {kIos15,
       "max_pool(x f32[1, 4, 5], kernel_sizes i32[1] = 2, strides i32[1] = 2, pad_type = VALID) -> "
       "f32[1, 4, 2]",
       ""},
      {kIos15,
       "max_pool(x f32[1, 4, 5], kernel_sizes i32[1] = 2, strides i32[1] = 2, pad_type = valid, "
       "ceil_mode bool = 1) -> f32[1, 4, 3]",
       ""},
      {kIos15,
       "max_pool(x f32[1, 4, 5], kernel_sizes i32[1] = 2, strides i32[1] = 2, pad_type = valid) -> "
       "f32[1, 4, 3]",
       "result 0 has shape [1, 4, 3] instead of [1, 4, 2]"},
      {kIos15,
       "avg_pool(x f32[1, 4, 5], kernel_sizes i32[1] = 6, pad_type = valid) -> f32[1, 4, 0]",
       "no window fits into axis 2, which has size 5"},
      {kIos15,
       "avg_pool(x f32[1, 4, 5], kernel_sizes i32[1] = 2, pad_type = same, ceil_mode bool = 1) -> "
       "f32[1, 4, 5]",
       "ceil_mode is true, but pad_type is same"},
      {kIos15,
       "avg_pool(x f32[1, 4, 5], kernel_sizes i32[1] = 2, pad_type = custom, pad i32[2] = 0 1, "
       "ceil_mode bool = 1) -> f32[1, 4, 5]",
       "ceil_mode is true, but input pad has 0 before and 1 after an axis"},
      {kIos15, "conv_transpose(x f32[1, 4, 5], weight const f32[4, 2, 3]) -> f32[1, 2, 7]", ""},
      {kIos15,
       "conv_transpose(x f32[1, 4, 5], weight const f32[4, 2, 3], pad_type = same, strides i32[1] "
       "= 2) -> f32[1, 2, 10]",
       ""},
      {kIos15,
       "conv_transpose(x f32[1, 4, 5], weight const f32[4, 2, 3], pad_type = custom, pad i32[2] = "
       "1 1) -> f32[1, 2, 6]",
       "result 0 has shape [1, 2, 6] instead of [1, 2, 5]"},
      {kIos15,
       "conv_transpose(x f32[1, 4, 5], weight const f32[4, 2, 3], output_shape i32[3] = 1 2 8) -> "
       "f32[1, 2, 8]",
       ""},
      {kIos15,
       "conv_transpose(x f32[1, 4, 5], weight const f32[4, 2, 3], output_shape i32[3] = 1 3 8) -> "
       "f32[1, 3, 8]",
       "input output_shape has 3 at 1 instead of 2"},
      {kIos15,
       "conv_transpose(x f32[1, 4, 5], weight const f32[4, 2, 3], bias f32[1] = 1) -> f32[1, 2, 7]",
       "input bias has 1 elements instead of 2, one for each output channel"},
      {kIos15,
       "conv_transpose(x f32[1, 4, 5], weight const f32[4, 2, 3], groups i32 = 3) -> f32[1, 6, 7]",
       "input x has 4 channels, which is no multiple of groups, 3"},
  });
}

TEST_CASE("coreml program check: recurrent layers") {
  const std::string weights = "weight_ih const f32[8, 3], weight_hh const f32[8, 2]";
  const std::string lstm = "lstm(x f32[5, 1, 3], initial_h f32[1, 2], initial_c f32[1, 2], ";
  const auto line = [&](const std::string& more) { return lstm + weights + more; };
  const std::string states = " f32[1, 2], f32[1, 2]";
  const std::string all = line(", output_sequence bool = 1) -> f32[5, 1, 2],") + states;
  const std::string last = line(") -> f32[5, 1, 2],") + states;
  const std::string both = line(", direction = bidirectional) -> f32[1, 1, 4],") + states;
  const std::string peephole = line(", peephole f32[5] = 1 1 1 1 1) -> f32[1, 1, 2],") + states;
  const std::string bias = line(", bias f32[1] = 1) -> f32[1, 1, 2],") + states;
  const std::string narrow =
      lstm + "weight_ih const f32[6, 3], weight_hh const f32[8, 2]) -> f32[1, 1, 2]," + states;
  CheckLines({
      {kIos15, all, ""},
      {kIos15, last, "result 0 has shape [5, 1, 2] instead of [1, 1, 2]"},
      {kIos15, both, "input weight_ih_back is missing, but the direction is bidirectional"},
      {kIos15, peephole, "input peephole has 5 elements instead of 6, 3 for each hidden element"},
      {kIos15, bias, "input bias has 1 elements instead of 8, one for each row of the weight"},
      {kIos15, narrow,
       "input weight_ih has size 6 along axis 0 instead of 8, 4 for each hidden element"},
      {kIos15,
       "gru(x f32[5, 1, 3], initial_h f32[1, 2], weight_ih const f32[6, 3], weight_hh const f32[6, "
       "2]) -> f32[1, 1, 2], f32[1, 2]",
       ""},
      {kIos15,
       "gru(x f32[5, 1, 3], initial_h f32[1, 2], weight_ih const f32[6, 3], weight_hh const f32[8, "
       "2]) -> f32[1, 1, 2], f32[1, 2]",
       "input weight_hh has size 8 along axis 0 instead of 6, 3 for each hidden element"},
  });
}

TEST_CASE("coreml program check: indices") {
  CheckLines({
      {kIos15, "gather(x f32[4, 5], indices i32[2, 3], axis i32 = 1) -> f32[4, 2, 3]", ""},
      {kIos15, "gather(x f32[4, 5], indices i32[2], axis i32 = 0) -> f32[4, 2]",
       "result 0 has shape [4, 2] instead of [2, 5]"},
      {kIos15, "gather(x f32[4], indices i32[1] = 4) -> f32[1]",
       "input indices has index 4, which is out of range for size 4"},
      {kIos15, "gather(x f32[4], indices i32[1] = -4) -> f32[1]", ""},
      {kIos17, "gather(x f32[4], indices i32[1] = -4, validate_indices bool = 1) -> f32[1]",
       "input indices has index -4, which is out of range for size 4"},
      {kIos16,
       "gather(x f32[2, 4], indices i32[2, 3], axis i32 = 1, batch_dims i32 = 1) -> f32[2, 3]", ""},
      {kIos16, "gather(x f32[2, 4], indices i32[2, 3], axis i32 = 1, batch_dims i32 = 2) -> f32[2]",
       "input batch_dims is 2, but input x has rank 2"},
      {kIos15, "gather_nd(x f32[4, 5, 6], indices i32[3, 2]) -> f32[3, 6]", ""},
      {kIos15, "gather_nd(x f32[4, 5, 6], indices i32[3, 2]) -> f32[3, 5]",
       "result 0 has shape [3, 5] instead of [3, 6]"},
      {kIos15, "gather_nd(x f32[4], indices i32[3, 2]) -> f32[3]",
       "input indices has 2 numbers in each index; input x has 1 other axes"},
      {kIos15, "gather_along_axis(x f32[4, 5], indices i32[2, 5], axis i32 = 0) -> f32[2, 5]", ""},
      {kIos15, "gather_along_axis(x f32[4, 5], indices i32[4, 4], axis i32 = 0) -> f32[4, 4]",
       "input indices has size 4 along axis 1, but input x has 5"},
      {kIos15, "scatter(data f32[4, 5], indices i32[2], updates f32[2, 5]) -> f32[4, 5]", ""},
      {kIos15, "scatter(data f32[4, 5], indices i32[2], updates f32[2, 4]) -> f32[4, 5]",
       "input updates has shape [2, 4] instead of [2, 5]"},
      {kIos15, "scatter(data f32[4], indices i32[1], updates f32[1], mode = sum) -> f32[4]",
       "input mode is \"sum\", which is none of add div max min mul sub update"},
      {kIos15, "scatter_nd(data f32[4, 5], indices i32[2, 1], updates f32[2, 5]) -> f32[4, 5]", ""},
      {kIos15, "scatter_nd(data f32[4, 5], indices i32[2, 1], updates f32[2, 4]) -> f32[4, 5]",
       "input updates has shape [2, 4] instead of [2, 5]"},
      {kIos15, "non_zero(x f32[2] = 0 1) -> i32[1, 1]", ""},
      {kIos15, "non_zero(x f32[2]) -> i32[3, 2]", "result 0 has shape [3, 2] instead of [?, 1]"},
      {kIos15, "topk(x f32[3, 4], k i32 = 2) -> f32[3, 2], i32[3, 2]", ""},
      {kIos15, "topk(x f32[3, 4], k i32 = 5) -> f32[3, 5], i32[3, 5]",
       "input k is 5, but the axis has size 4"},
      {kIos15, "topk(x f32[3, 4], k i32 = 2) -> f32[3, 2], i32[3, 1]",
       "result 1 has shape [3, 1] instead of [3, 2]"},
      {kIos16, "topk(x f32[3], return_indices bool = 0) -> f32[1], i32[1]",
       "it has 2 results, but return_indices is false"},
      {kIos15,
       "non_maximum_suppression(boxes f32[1, 9, 4], scores f32[1, 9, 2], iou_threshold f32 = 1, "
       "score_threshold f32 = 0, max_boxes i32 = 3) -> f32[1, 3, 4], f32[1, 3, 2], i32[1, 3], "
       "i32[1]",
       ""},
      {kIos17,
       "non_maximum_suppression(boxes f32[1, 4, 9], scores f32[1, 2, 9], iou_threshold f32 = 1, "
       "max_boxes i32 = 3) -> f32[1, 3, 4], f32[1, 2, 3], i32[1, 3]",
       "result 0 has shape [1, 3, 4] instead of [1, 4, 3]"},
      {kIos15,
       "non_maximum_suppression(boxes f32[1, 8, 4], scores f32[1, 9, 2], iou_threshold f32 = 1, "
       "score_threshold f32 = 0, max_boxes i32 = 3) -> f32[1, 3, 4], f32[1, 3, 2], i32[1, 3], "
       "i32[1]",
       "input boxes has shape [1, 8, 4] instead of [1, 9, 4]"},
  });
}

TEST_CASE("coreml program check: images") {
  CheckLines({
      {kIos15,
       "resize_bilinear(x f32[1, 2, 4, 4], target_size_height i32 = 8, target_size_width i32 = 9) "
       "-> f32[1, 2, 8, 9]",
       ""},
      {kIos15,
       "resize_bilinear(x f32[1, 2, 4, 4], target_size_height i32 = 8, target_size_width i32 = 9) "
       "-> f32[1, 2, 9, 8]",
       "result 0 has shape [1, 2, 9, 8] instead of [1, 2, 8, 9]"},
      {kIos15,
       "upsample_nearest_neighbor(x f32[2, 4, 5], scale_factor_height f32 = 1.5, "
       "scale_factor_width i32 = 2) -> f32[2, 6, 10]",
       "input scale_factor_width is int32, but input scale_factor_height is fp32"},
      {kIos15,
       "upsample_nearest_neighbor(x f32[2, 4, 5], scale_factor_height f32 = 1.5, "
       "scale_factor_width f32 = 1.5) -> f32[2, 6, 7]",
       ""},
      {kIos15,
       "upsample_nearest_neighbor(x f32[2, 4, 5], scale_factor_height f32 = 1.5, "
       "scale_factor_width f32 = 1.5) -> f32[2, 6, 8]",
       "result 0 has shape [2, 6, 8] instead of [2, 6, 7]"},
      {kIos15,
       "crop(x f32[2, 4, 5], crop_height i32[2] = 1 1, crop_width i32[2] = 0 1) -> f32[2, 2, 4]",
       ""},
      {kIos15,
       "crop(x f32[2, 4, 5], crop_height i32[2] = 3 2, crop_width i32[2] = 0 1) -> f32[2, 2, 4]",
       "input crop_height removes 3 and 2, but the size is 4"},
      {kIos15,
       "crop_resize(x f32[1, 2, 4, 4], roi f32[3, 1, 4, 1, 1], target_height i32 = 2, target_width "
       "i32 = 2) -> f32[3, 1, 2, 2, 2]",
       ""},
      {kIos15,
       "crop_resize(x f32[1, 2, 4, 4], roi f32[3, 1, 6, 1, 1], target_height i32 = 2, target_width "
       "i32 = 2) -> f32[3, 1, 2, 2, 2]",
       "input roi has shape [3, 1, 6, 1, 1], which is neither [n, 1, 4, 1, 1] nor [n, 1, 5, 1, 1]"},
      {kIos17,
       "crop_resize(x f32[1, 2, 4, 4], boxes f32[1, 4], target_height i32 = 2, target_width i32 = "
       "2) -> f32[1, 2, 2, 2]",
       ""},
      {kIos17,
       "crop_resize(x f32[1, 2, 4, 4], boxes f32[1, 5], target_height i32 = 2, target_width i32 = "
       "2) -> f32[1, 2, 2, 2]",
       "input boxes has size 5 along axis 1 instead of 4, the numbers of a box"},
      {kIos17,
       "crop_resize(x f32[1, 2, 4, 4], boxes f32[2, 4], target_height i32 = 2, target_width i32 = "
       "2) -> f32[2, 2, 2, 2]",
       "input boxes has 2 boxes for 1 images, and there are no indices"},
      {kIos17,
       "crop_resize(x f32[1, 2, 4, 4], boxes f32[2, 4], box_indices i32[1] = 0, target_height i32 "
       "= 2, target_width i32 = 2) -> f32[2, 2, 2, 2]",
       "input box_indices has 1 elements instead of 2, one for each box"},
      {kIos17,
       "crop_resize(x f32[1, 2, 4, 4], boxes f32[1, 4], box_indices i32[1] = 1, target_height i32 "
       "= 2, target_width i32 = 2) -> f32[1, 2, 2, 2]",
       "input box_indices has index 1, which is out of range for 1 images"},
      {kIos17,
       "crop_resize(x f32[1, 2, 4, 4], boxes u16[1, 4], normalized_coordinates bool = 1, "
       "target_height i32 = 2, target_width i32 = 2) -> f32[1, 2, 2, 2]",
       "input boxes is uint16, but normalized_coordinates is true"},
      {kIos15,
       "resample(x f32[1, 2, 4, 4], coordinates f32[1, 3, 5, 2], sampling_mode = bilinear, "
       "padding_mode = border, padding_value f32 = 0, coordinates_mode = unnormalized, "
       "align_corners bool = 1) -> f32[1, 2, 3, 5]",
       ""},
      {kIos15,
       "resample(x f32[1, 2, 4, 4], coordinates f32[2, 3, 5, 2], sampling_mode = bilinear, "
       "padding_mode = border, padding_value f32 = 0, coordinates_mode = unnormalized, "
       "align_corners bool = 1) -> f32[1, 2, 3, 5]",
       "input coordinates has size 2 along axis 0 instead of 1, the batch of the other input"},
      {kIos15,
       "resample(x f32[1, 2, 4, 4], coordinates f32[1, 3, 5, 3], sampling_mode = bilinear, "
       "padding_mode = border, padding_value f32 = 0, coordinates_mode = unnormalized, "
       "align_corners bool = 1) -> f32[1, 2, 3, 5]",
       "input coordinates has size 3 along axis -1 instead of 2, the numbers of a position"},
      {kIos17,
       "resize(x f32[1, 2, 4, 4], shape i32[2] = 8 0, resized_dims u32 = 2) -> f32[1, 2, 8, 4]",
       ""},
      {kIos17,
       "resize(x f32[1, 2, 4, 4], shape i32[2] = 8 0, resized_dims u32 = 3) -> f32[1, 2, 8, 4]",
       "3 of 2 sizes are resized; input x has rank 4"},
      {kIos17,
       "resize(x f32[1, 2, 4, 4], shape i32[2, 0] =, resized_dims u32 = 2) -> f32[1, 2, 8, 4]",
       "input shape has rank 2 instead of 1"},
  });
}

TEST_CASE("coreml program check: quantized and compressed constants") {
  CheckLines({
      {kIos17, "dequantize(input i8[2, 3], scale f32[3] = 1 1 1, axis i32 = 1) -> f32[2, 3]", ""},
      {kIos17, "dequantize(input i8[2, 3], scale f32[2] = 1 1, axis i32 = 1) -> f32[2, 3]",
       "input scale has 2 elements instead of 3, the size of the axis"},
      {kIos17, "dequantize(input i8[2, 3], scale f32[2] = 1 1) -> f32[2, 3]",
       "input axis is missing, but input scale is a vector"},
      {kIos17, "dequantize(input i8[2, 3], scale f32 = 1, axis i32 = 0) -> f32[2, 3]",
       "input axis is given, but input scale is a scalar"},
      {kIos17,
       "dequantize(input i8[2], scale f32[2] = 1 1, zero_point i8 = 1, axis i32 = 0) -> f32[2]",
       "input zero_point has rank 0, but input scale has rank 1"},
      {kIos16,
       "constexpr_affine_dequantize(quantized_data u8[2] = 1 2, zero_point u8 = 0, scale f32[2] = "
       "1 1, axis i32 = 0) -> f32[2]",
       ""},
      {kIos16,
       "constexpr_affine_dequantize(quantized_data u8[2] = 1 2, zero_point u8 = 0, scale f32[3] = "
       "1 1 1, axis i32 = 0) -> f32[2]",
       "input scale has 3 elements instead of 2, the size of the axis"},
      {kIos16,
       "constexpr_lut_to_dense(indices u8[1] = 2, lut f32[2] = 1 2, shape u32[1] = 5) -> f32[5]",
       ""},
      {kIos16,
       "constexpr_lut_to_dense(indices u8[1] = 2, lut f32[3] = 1 2 3, shape u32[1] = 5) -> f32[5]",
       "input lut has 3 entries instead of 2, 4, 16, 64 or 256"},
      {kIos16,
       "constexpr_lut_to_dense(indices u8[1] = 2, lut f32[4] = 1 2 3 4, shape u32[1] = 5) -> "
       "f32[5]",
       "input indices has 1 elements instead of 2, the bytes of 5 indices of 2 bits"},
      {kIos16,
       "constexpr_sparse_to_dense(nonzero_data f32[2] = 1 2, mask u8[1] = 5, shape u32[1] = 3) -> "
       "f32[3]",
       ""},
      {kIos16,
       "constexpr_sparse_to_dense(nonzero_data f32[1] = 1, mask u8[1] = 5, shape u32[1] = 3) -> "
       "f32[3]",
       "input nonzero_data has 1 elements, but input mask has 2 bits that are set"},
      {kIos16,
       "constexpr_sparse_to_dense(nonzero_data f32[1] = 1, mask u8[1] = 8, shape u32[1] = 3) -> "
       "f32[3]",
       "input mask has set bits after the last element"},
      {kIos16,
       "constexpr_sparse_to_dense(nonzero_data f32[1] = 1, mask u8[1] = 1, shape u32[1] = 9) -> "
       "f32[9]",
       "input mask has 1 elements instead of 2, the bytes of 9 bits"},
      {kIos18,
       "constexpr_lut_to_dense(indices u2[4] = 0 1 2 3, lut f32[1, 4, 1] = 1 2 3 4) -> f32[4]", ""},
      {kIos18, "constexpr_lut_to_dense(indices u2[4] = 0 1 2 3, lut f32[1, 2, 1] = 1 2) -> f32[4]",
       "input lut has 2 entries, but indices of 2 bits"},
      {kIos18,
       "constexpr_lut_to_dense(indices u1[2] = 0 1, lut f32[1, 2, 2] = 1 2 3 4, vector_axis i32 = "
       "0) -> f32[4]",
       ""},
      {kIos18, "constexpr_lut_to_dense(indices u1[2] = 0 1, lut f32[1, 2, 2] = 1 2 3 4) -> f32[4]",
       "input vector_axis is missing, but there are vectors"},
      {kIos18,
       "constexpr_lut_to_dense(indices u1[2] = 0 1, lut f32[1, 2, 2] = 1 2 3 4, vector_axis i32 = "
       "1) -> f32[4]",
       "input vector_axis is 1, which is out of range for rank 1"},
      {kIos18,
       "constexpr_lut_to_dense(indices u1[2] = 0 1, lut f32[1, 2, 2] = 1 2 3 4, vector_axis i32 = "
       "0) -> f32[2]",
       "result 0 has shape [2] instead of [4]"},
      {kIos18, "constexpr_sparse_to_dense(nonzero_data f32[1] = 1, mask u1[2] = 0 1) -> f32[2]",
       ""},
      {kIos18, "constexpr_sparse_to_dense(nonzero_data f32[1] = 1, mask u1[2] = 1 1) -> f32[2]",
       "input nonzero_data has 1 elements, but input mask has 2 bits that are set"},
      {kIos18,
       "constexpr_blockwise_shift_scale(data i8[4] = 1 2 3 4, scale f32[2] = 1 2, offset i8[2] = 0 "
       "0) -> f32[4]",
       ""},
      {kIos18,
       "constexpr_blockwise_shift_scale(data i8[4] = 1 2 3 4, scale f32[3] = 1 2 3) -> f32[4]",
       "input scale has size 3 along axis 0, which does not divide 4"},
      {kIos18,
       "constexpr_blockwise_shift_scale(data i8[4] = 1 2 3 4, scale f32[2] = 1 2, offset u8[2] = 0 "
       "0) -> f32[4]",
       "input offset is uint8, which is neither a float nor the type of input data, int8"},
  });
}

TEST_CASE("coreml program check: every label has a function, or a reason") {
  const auto unchecked = program::UncheckedLabels();
  const std::set<program::Label> reasons(unchecked.begin(), unchecked.end());
  CHECK(reasons.size() == 5);
  for (size_t i = 0; i < program::kLabels; ++i) {
    const auto label = static_cast<program::Label>(i);
    CAPTURE(i);
    CHECK((program::RowOf(label) == nullptr) == reasons.contains(label));
  }
}

TEST_CASE("coreml program check: what type inference refuses") {
  const OperationLine published("softmax(x f32[2], axis i32 = 5) -> f32[2]", kIos15);
  REQUIRE(program::MisfitsOf(published.view()).size() == 1);
  CHECK(program::MisfitsOf(published.view())[0].published);
  CHECK(program::MisfitsOf(published.view())[0].label == program::Label::kAxisInRange);
  CHECK_FALSE(program::WhyNotFit(published.view()).has_value());
  const OperationLine refused("gather(x f32[2], indices i32[1], axis i32 = 5) -> f32[1]", kIos15);
  CHECK(program::WhyNotFit(refused.view()) == "input axis is 5, which is out of range for rank 1");
}

}  // namespace
}  // namespace nn::test::coreml_program_check_test
