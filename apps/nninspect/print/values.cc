#include "apps/nninspect/print/values.h"

#include "apps/nninspect/csv.h"
#include "base/text/table.h"
#include "base/text/text.h"
#include "inspect/report/shape_text.h"

namespace nn::app {

std::string ValuesText(const std::vector<ValueEntry>& values) {
  Table table({{"name"}, {"scope"}, {"role"}, {"type"}});
  for (const ValueEntry& v : values)
    table.Add({Escape(v.name), Escape(v.scope), std::string(ValueEntry::NameOf(v.role)),
               EscapeControls(v.type.ToString())});
  return fmt::format("\nValues: {}\n{}", WithThousands(values.size()),
                     table.empty() ? "" : table.Text(2));
}

std::string ValuesCsv(const std::vector<ValueEntry>& values) {
  std::string out = CsvLine({"name", "scope", "role", "type"});
  for (const ValueEntry& v : values)
    out += CsvLine({v.name, v.scope, std::string(ValueEntry::NameOf(v.role)), v.type.ToString()});
  return out;
}

}  // namespace nn::app
