// Terms of common operators (ir/term.h).
#pragma once

#include <cstdint>
#include <vector>

#include "ir/term.h"
#include "ir/types/dim.h"
#include "ir/types/dtype.h"

namespace nn {

// Numbers that are an operand: a vector of i64.
Term Vector(const std::vector<int64_t>& numbers);

Term Cast(Term x, DType to);
Term Select(Term condition, Term yes, Term no);
Term Less(Term a, Term b);
Term Greater(Term a, Term b);
Term LessEqual(Term a, Term b);
Term GreaterEqual(Term a, Term b);
Term Equal(Term a, Term b);
Term And(Term a, Term b);
Term Or(Term a, Term b);
Term Not(Term a);
Term Minimum(Term a, Term b);
Term Maximum(Term a, Term b);
Term Clip(Term x, float min, float max);

// The size of an axis, as a vector of one i64.
Term SizeOfAxis(Term x, int64_t axis);
Term Reshape(Term x, Dims dims);
Term Transpose(Term x, std::vector<int64_t> perm);
// New axes of size 1 in the result, and axes of size 1 to drop.
Term ExpandDims(Term x, std::vector<int64_t> axes);
Term Squeeze(Term x, std::vector<int64_t> axes);
// The elements from `begin` to `end` along an axis.
Term Slice(Term x, int64_t axis, int64_t begin, int64_t end);
// The parts; itself if there is only one.
Term Concat(std::vector<Term> parts, int64_t axis);
Term Gather(Term x, Term indices, int64_t axis);
Term ReduceSum(Term x, std::vector<int64_t> axes, bool keep_dims);
Term Matmul(Term a, Term b);

// Of integers, by numbers of bits of their type.
Term ShiftLeft(Term x, Term bits);
Term ShiftRight(Term x, Term bits);

}  // namespace nn
