// Elementary functions of float64 for operators, built from operations of IEEE 754 only, as those
// of doubles.h. Errors are a few units in the last place; zeros keep their sign, and infinities and
// NaN give what IEEE 754 says.
#pragma once

namespace nn::float64 {

double Exp(double x);
double Exp2(double x);
double Expm1(double x);
double Log(double x);
double Log1p(double x);
double Pow(double x, double y);

double Sin(double x);
double Cos(double x);
double Tan(double x);
double Asin(double x);
double Acos(double x);
double Atan(double x);
double Atan2(double y, double x);

double Sinh(double x);
double Cosh(double x);
double Tanh(double x);
double Asinh(double x);
double Acosh(double x);
double Atanh(double x);

double Erf(double x);
double Erfc(double x);

// 1 / (1 + e^-x), log(1 + e^x).
double Sigmoid(double x);
double Softplus(double x);

}  // namespace nn::float64
