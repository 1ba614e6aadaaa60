#pragma once

#include "ops/recurrent/recurrent.h"

namespace nn {

// The function of float64, of an argument clipped to [-clip, clip].
double ApplyInDouble(const RecurrentFunction& f, double clip, double x);

}  // namespace nn
