// One rule for all enumerations: their values must be in the schema.
#include <google/protobuf/message.h>

#include <unordered_map>

#include "base/text/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

namespace gp = google::protobuf;

// Messages whose enumerations other rules check.
constexpr std::string_view kElsewhere[] = {
    "nn.coreml.pb.ArrayFeatureType",      "nn.coreml.pb.ImageFeatureType",
    "nn.coreml.pb.GLMClassifier",         "nn.coreml.pb.Normalizer",
    "nn.coreml.pb.VisionFeaturePrint",    "nn.coreml.pb.AudioFeaturePrint",
    "nn.coreml.pb.TreeEnsembleParameters"};

// The fields of a message type that are enumerations or contain some.
struct LayerFields {
  std::vector<const gp::FieldDescriptor*> enums;
  std::vector<const gp::FieldDescriptor*> messages;
  std::vector<const gp::OneofDescriptor*> oneofs;
  bool leads() const { return !enums.empty() || !messages.empty() || !oneofs.empty(); }
};

class EnumWalk {
 public:
  explicit EnumWalk(Findings& findings) : findings_(findings) {}

  void Visit(const gp::Message& m, const std::string& path) {
    const LayerFields& fields = FieldsOf(*m.GetDescriptor());
    const gp::Reflection& r = *m.GetReflection();
    for (const auto* field : fields.enums) {
      if (!field->is_repeated()) {
        Check(*field, r.GetEnumValue(m, field), path);
        continue;
      }
      for (int i = 0; i < r.FieldSize(m, field); ++i)
        Check(*field, r.GetRepeatedEnumValue(m, field, i), path);
    }
    for (const auto* field : fields.messages) VisitField(m, r, *field, path);
    for (const auto* oneof : fields.oneofs)
      if (const auto* field = r.GetOneofFieldDescriptor(m, oneof);
          field != nullptr && field->message_type() != nullptr)
        VisitField(m, r, *field, path);
  }

 private:
  void VisitField(const gp::Message& m, const gp::Reflection& r, const gp::FieldDescriptor& field,
                  const std::string& path) {
    if (!FieldsOf(*field.message_type()).leads()) return;
    if (!field.is_repeated()) {
      if (r.HasField(m, &field)) Visit(r.GetMessage(m, &field), Join(path, field.name()));
      return;
    }
    for (int i = 0; i < r.FieldSize(m, &field); ++i)
      Visit(r.GetRepeatedMessage(m, &field, i), fmt::format("{}[{}]", Join(path, field.name()), i));
  }

  static std::string Join(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
  }

  void Check(const gp::FieldDescriptor& field, int value, const std::string& path) {
    if (field.enum_type()->FindValueByNumber(value) == nullptr)
      findings_.Add(At(Join(path, field.name())), "{} has no value {}", field.enum_type()->name(),
                    value);
  }

  const LayerFields& FieldsOf(const gp::Descriptor& type) {
    const auto [found, fresh] = known_.try_emplace(&type);
    if (!fresh) return found->second;
    for (const std::string_view name : kElsewhere)
      if (type.full_name().starts_with(name)) return found->second;
    LayerFields fields;
    for (int i = 0; i < type.field_count(); ++i) {
      const gp::FieldDescriptor* field = type.field(i);
      if (field->enum_type() != nullptr) fields.enums.push_back(field);
      // A type that contains itself is not complete yet; assume that it leads to enumerations.
      if (field->message_type() != nullptr && field->real_containing_oneof() == nullptr &&
          (known_.contains(field->message_type()) || FieldsOf(*field->message_type()).leads()))
        fields.messages.push_back(field);
    }
    for (int i = 0; i < type.real_oneof_decl_count(); ++i)
      fields.oneofs.push_back(type.oneof_decl(i));
    return known_[&type] = std::move(fields);
  }

  Findings& findings_;
  std::unordered_map<const gp::Descriptor*, LayerFields> known_;
};

void EnumsKnown(const RuleContext& s, Findings& f) {
  EnumWalk(f).Visit(s.proto(), "");
}

constexpr Rule kEnumRules[] = {
    {.info = {.id = "COREML-ENUM-001",
              .statement = "Every enumeration field has a value that the schema defines.",
              .clause = "Model.proto",
              .hint = "Set the field to a value of the enumeration, or check the model with a "
                      "newer version of this tool."},
     .check = EnumsKnown},
};

}  // namespace

std::span<const Rule> EnumRules() {
  return kEnumRules;
}

}  // namespace nn::coreml
