// Signatures of operators of ai.onnx.ml. The notation is that of schema.h.
// Written by scripts/update-onnx-signatures.
#include "formats/onnx/spec/schema_tables.h"

namespace nn::onnx {

const char kSchemasMl[] = R"(
ArrayFeatureExtractor 1 (X:T, Y:{i64}) -> (Z:T) | T=f32 f64 i32 i64 str
Binarizer 1 (X:T) -> (Y:T) threshold:f | T=f32 f64 i32 i64
CastMap 1 (X:T1) -> (Y:T2) cast_to:s map_form:s max_map:i | T1=map(i64:f32 str) | T2=f32 i64 str
CategoryMapper 1 (X:T1) -> (Y:T2) cats_int64s:I cats_strings:S default_int64:i default_string:s |
    T1=i64 str | T2=i64 str
DictVectorizer 1 (X:T1) -> (Y:T2) int64_vocabulary:I string_vocabulary:S | T1=map(str:f32 f64 i64)
    map(i64:f32 f64 str) | T2=f32 f64 i64 str
FeatureVectorizer 1 (X*:T1) -> (Y:{f32}) inputdimensions:I | T1=f32 f64 i32 i64
Imputer 1 (X:T) -> (Y:T) imputed_value_floats:F imputed_value_int64s:I replaced_value_float:f
    replaced_value_int64:i | T=f32 f64 i32 i64
LabelEncoder 1 (X:T1) -> (Y:T2) classes_strings:S default_int64:i default_string:s | T1=i64 str |
    T2=i64 str
LabelEncoder 2 (X:T1) -> (Y:T2) default_float:f default_int64:i default_string:s keys_floats:F
    keys_int64s:I keys_strings:S values_floats:F values_int64s:I values_strings:S | T1=f32 i64 str
    | T2=f32 i64 str
LabelEncoder 4 (X:T1) -> (Y:T2) default_float:f default_int64:i default_string:s default_tensor:t
    keys_floats:F keys_int64s:I keys_strings:S keys_tensor:t values_floats:F values_int64s:I
    values_strings:S values_tensor:t | T1=f32 f64 i16 i32 i64 str | T2=f32 f64 i16 i32 i64 str
LinearClassifier 1 (X:T1) -> (Y:T2, Z:{f32}) classlabels_ints:I classlabels_strings:S
    coefficients!:F intercepts:F multi_class:i post_transform:s | T1=f32 f64 i32 i64 | T2=i64 str
LinearRegressor 1 (X:T) -> (Y:{f32}) coefficients:F intercepts:F post_transform:s targets:i |
    T=f32 f64 i32 i64
Normalizer 1 (X:T) -> (Y:{f32}) norm:s | T=f32 f64 i32 i64
OneHotEncoder 1 (X:T) -> (Y:{f32}) cats_int64s:I cats_strings:S zeros:i | T=f32 f64 i32 i64 str
SVMClassifier 1 (X:T1) -> (Y:T2, Z:{f32}) classlabels_ints:I classlabels_strings:S coefficients:F
    kernel_params:F kernel_type:s post_transform:s prob_a:F prob_b:F rho:F support_vectors:F
    vectors_per_class:I | T1=f32 f64 i32 i64 | T2=i64 str
SVMRegressor 1 (X:T) -> (Y:{f32}) coefficients:F kernel_params:F kernel_type:s n_supports:i
    one_class:i post_transform:s rho:F support_vectors:F | T=f32 f64 i32 i64
Scaler 1 (X:T) -> (Y:{f32}) offset:F scale:F | T=f32 f64 i32 i64
TreeEnsemble 5 (X:T) -> (Y:T) aggregate_function:i leaf_targetids!:I leaf_weights!:t
    membership_values:t n_targets:i nodes_falseleafs!:I nodes_falsenodeids!:I nodes_featureids!:I
    nodes_hitrates:t nodes_missing_value_tracks_true:I nodes_modes!:t nodes_splits!:t
    nodes_trueleafs!:I nodes_truenodeids!:I post_transform:i tree_roots!:I | T=FLOAT
TreeEnsembleClassifier 1 (X:T1) -> (Y:T2, Z:{f32}) base_values:F class_ids:I class_nodeids:I
    class_treeids:I class_weights:F classlabels_int64s:I classlabels_strings:S
    nodes_falsenodeids:I nodes_featureids:I nodes_hitrates:F nodes_missing_value_tracks_true:I
    nodes_modes:S nodes_nodeids:I nodes_treeids:I nodes_truenodeids:I nodes_values:F
    post_transform:s | T1=f32 f64 i32 i64 | T2=i64 str
TreeEnsembleClassifier 3 (X:T1) -> (Y:T2, Z:{f32}) base_values:F base_values_as_tensor:t
    class_ids:I class_nodeids:I class_treeids:I class_weights:F class_weights_as_tensor:t
    classlabels_int64s:I classlabels_strings:S nodes_falsenodeids:I nodes_featureids:I
    nodes_hitrates:F nodes_hitrates_as_tensor:t nodes_missing_value_tracks_true:I nodes_modes:S
    nodes_nodeids:I nodes_treeids:I nodes_truenodeids:I nodes_values:F nodes_values_as_tensor:t
    post_transform:s | T1=f32 f64 i32 i64 | T2=i64 str
TreeEnsembleClassifier 5 deprecated
TreeEnsembleRegressor 1 (X:T) -> (Y:{f32}) aggregate_function:s base_values:F n_targets:i
    nodes_falsenodeids:I nodes_featureids:I nodes_hitrates:F nodes_missing_value_tracks_true:I
    nodes_modes:S nodes_nodeids:I nodes_treeids:I nodes_truenodeids:I nodes_values:F
    post_transform:s target_ids:I target_nodeids:I target_treeids:I target_weights:F | T=f32 f64
    i32 i64
TreeEnsembleRegressor 3 (X:T) -> (Y:{f32}) aggregate_function:s base_values:F
    base_values_as_tensor:t n_targets:i nodes_falsenodeids:I nodes_featureids:I nodes_hitrates:F
    nodes_hitrates_as_tensor:t nodes_missing_value_tracks_true:I nodes_modes:S nodes_nodeids:I
    nodes_treeids:I nodes_truenodeids:I nodes_values:F nodes_values_as_tensor:t post_transform:s
    target_ids:I target_nodeids:I target_treeids:I target_weights:F target_weights_as_tensor:t |
    T=f32 f64 i32 i64
TreeEnsembleRegressor 5 deprecated
ZipMap 1 (X:{f32}) -> (Z:T) classlabels_int64s:I classlabels_strings:S | T=seq(map(str:f32))
    seq(map(i64:f32)))";

}  // namespace nn::onnx
