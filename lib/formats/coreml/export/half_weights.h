// Weights in 16 bits, of layers whose numbers all have that precision.
#pragma once

#include <google/protobuf/message.h>

#include "base/status.h"
#include "formats/common/protobuf/pb_payload.h"

namespace nn::coreml {

// Stores the 32-bit weights of each layer of a model as float16, if no number changes by that. A
// layer has one type for all its unquantized weights, so it keeps 32 bits if one number needs them.
Status StoreHalfWeights(google::protobuf::Message* model, PayloadTable& payloads);

}  // namespace nn::coreml
