// Lets an -inl.h file serve both Highway targets and plain scalar code. No include guard: included
// once per SIMD target.
#undef NN_TARGET_NAMESPACE
#undef NN_BEFORE_NAMESPACE
#undef NN_AFTER_NAMESPACE
#undef NN_INLINE
#ifdef HWY_NAMESPACE
#define NN_TARGET_NAMESPACE HWY_NAMESPACE
#define NN_BEFORE_NAMESPACE HWY_BEFORE_NAMESPACE();
#define NN_AFTER_NAMESPACE HWY_AFTER_NAMESPACE();
#define NN_INLINE HWY_INLINE
#else
#define NN_TARGET_NAMESPACE scalar
#define NN_BEFORE_NAMESPACE
#define NN_AFTER_NAMESPACE
#define NN_INLINE inline
#endif
