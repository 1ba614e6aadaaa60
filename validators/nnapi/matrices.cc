// Rules for matrix products and recurrent operations.
#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

constexpr Rule kMatrixRules[] = {
    {.info = {.id = "NNAPI-MATRIX-001",
              .statement = "The input size of the FULLY_CONNECTED weights divides the elements of "
                           "the input, and the output is [batch_size, num_units].",
              .clause = "types.hal, OperationType.FULLY_CONNECTED",
              .vendor = true,
              .hint = "Arrange the weights as [num_units, input_size], and declare the output as "
                      "[batch_size, num_units]."},
     .check = Report<Label::kRowLength, Label::kProductShape>},
    {.info = {.id = "NNAPI-MATRIX-002",
              .statement =
                  "The operands of RNN agree on batch size, input size and number of units.",
              .clause = "types.hal, OperationType.RNN",
              .vendor = true,
              .hint = "Use weights of [num_units, input_size], recurrent weights of [num_units, "
                      "num_units], a bias of [num_units] and states of [batch_size, num_units]."},
     .check = Report<Label::kRnnSizes>},
    {.info = {.id = "NNAPI-MATRIX-003",
              .statement = "The operands of SVDF agree on batch size, input size, memory size and "
                           "number of filters, which is num_units * rank.",
              .clause = "types.hal, OperationType.SVDF",
              .vendor = true,
              .hint =
                  "Use weights of [num_units * rank, input_size] and [num_units * rank, "
                  "memory_size], a bias of [num_units] and an output of [batch_size, num_units]."},
     .check = Report<Label::kSvdfFilters, Label::kSvdfSizes>},
    {.info =
         {.id = "NNAPI-MATRIX-004",
          .statement = "The operands of LSTM agree on batch size, input size, number of units and "
                       "output size.",
          .clause = "types.hal, OperationType.LSTM",
          .vendor = true,
          .hint =
              "Use input weights of [num_units, input_size], recurrent weights of [num_units, "
              "output_size], and a scratch buffer of num_units * 4, or * 3 without an input gate."},
     .check = Report<Label::kLstmSizes>},
    {.info = {.id = "NNAPI-MATRIX-005",
              .statement = "The input-to-input weights, recurrent-to-input weights and input gate "
                           "bias of LSTM are all given or all omitted.",
              .clause = "types.hal, OperationType.LSTM",
              .vendor = true,
              .hint = "Give inputs 1, 5 and 12, or omit all three to couple the input gate to the "
                      "forget gate."},
     .check = Report<Label::kLstmInputGate>},
    {.info =
         {.id = "NNAPI-MATRIX-006",
          .statement =
              "The activation of LSTM is 0 (None), 1 (Relu), 3 (Relu6), 4 (Tanh) or 6 (Sigmoid).",
          .clause = "types.hal, OperationType.LSTM",
          .hint = "Set input 20 to 0, 1, 3, 4 or 6; 4 (Tanh) is usual."},
     .check = Report<Label::kLstmActivation>},
    {.info = {.id = "NNAPI-MATRIX-007",
              .statement =
                  "An LSTM has cell-to-forget and cell-to-output weights together or not at all, "
                  "and cell-to-input weights if and only if it has these and an input gate.",
              .clause = "types.hal, OperationType.LSTM",
              .vendor = true,
              .hint = "Give inputs 9, 10 and 11 if there is an input gate, only 10 and 11 if there "
                      "is none, or omit all three."},
     .check = Report<Label::kLstmPeepholes>},
    {.info = {.id = "NNAPI-MATRIX-008",
              .statement = "An LSTM with a projection bias has projection weights.",
              .clause = "types.hal, OperationType.LSTM",
              .vendor = true,
              .hint =
                  "Omit the projection bias (input 17), or give projection weights (input 16)."},
     .check = Report<Label::kLstmProjection>},
    {.info = {.id = "NNAPI-MATRIX-009",
              .statement = "The clipping thresholds of LSTM are not negative.",
              .clause = "types.hal, OperationType.LSTM",
              .vendor = true,
              .hint = "Use a positive threshold, or 0 to disable clipping."},
     .check = Report<Label::kLstmClip>},
    {.info =
         {.id = "NNAPI-MATRIX-010",
          .statement =
              "The output size of an LSTM without projection weights is its number of units.",
          .clause = "types.hal, OperationType.LSTM",
          .hint =
              "Give projection weights of [output_size, num_units], or make the two sizes equal."},
     .check = Report<Label::kLstmUnprojected>},
    {.info = {.id = "NNAPI-MATRIX-011",
              .statement =
                  "The state of SVDF is [batch_size, memory_size * num_units * rank] or has one "
                  "step of memory less, and its shape is the same before and after.",
              .clause = "types.hal, OperationType.SVDF",
              .vendor = true,
              .hint =
                  "Declare [batch_size, memory_size * num_units * rank] for input 4 and output 0."},
     .check = Report<Label::kSvdfState>},
};

}  // namespace

std::span<const Rule> MatrixRules() {
  return kMatrixRules;
}

}  // namespace nn::nnapi
