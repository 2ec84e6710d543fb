#include "handler/open_table.h"

#include "base/guard.h"
#include "base/sysvars.h"
#include "dictionary/engine.h"

namespace tidesdb::plugin {

void AddBaseColumns(const TABLE& table, uint column, std::vector<bool>* wanted) {
  const Field& field = *table.field[column];
  if (field.stored_in_db()) return;
  List<Item_field> bases;
  field.vcol_info->expr->walk(&Item::collect_item_field_processor, false, &bases);
  List_iterator_fast<Item_field> base(bases);
  while (const Item_field* item = base++) {
    const uint number = item->field->field_index;
    if ((*wanted)[number]) continue;
    (*wanted)[number] = true;
    AddBaseColumns(table, number, wanted);
  }
}

int OpenTable::Bind() {
  if (state != nullptr && !state->outdated) return 0;
  auto found = engine->dictionary.Find(name);
  if (!found.ok()) return guard::ToHandlerError(found.status());
  if (*found == nullptr) return HA_ERR_NO_SUCH_TABLE;
  if (const int error = BindHistory(**found)) return error;
  state = *found;
  known_stats.reset();
  known_stats_version = 0;
  if (const int error = BindIndexes()) return error;
  codec.KeepIndexes(share()->keys);
  ShowKeyShapes();
  if (state->build != nullptr && !state->build->given_up) {
    for (const IndexBuild::Index& index : state->build->indexes) {
      codec.AddIndex(*state->build->codec, index.key_number, state->build->sources);
      families.push_back(index.entries);
    }
  }
  BindEntryColumns();
  return 0;
}

// Finds the form of this table's rows that matches its .frm in the dictionary.
int OpenTable::BindHistory(const TableState& found) {
  const LEX_CUSTRING& frm = share()->tabledef_version;
  const Slice frm_version(reinterpret_cast<const char*>(frm.str), frm.length);
  bindings++;
  const Status bound =
      codec.SetHistory(&found.def.history, found.def.history.VersionOf(frm_version));
  if (bound.ok()) return 0;
  sql_print_error("TidesDB: the .frm file of table %s: %s", name.c_str(), bound.ToString().c_str());
  return HA_ERR_TABLE_DEF_CHANGED;
}

int OpenTable::BindIndexes() {
  families.assign(share()->keys, nullptr);
  index_made.assign(share()->keys, 0);
  for (uint i = 0; i < share()->keys; i++) {
    if (codec.is_primary(i)) {
      families[i] = state->primary;
      continue;
    }
    const char* const index = share()->key_info[i].name.str;
    families[i] = state->FindIndex(index);
    if (families[i] == nullptr) {
      sql_print_error("TidesDB: table %s has an index %s that is not in the engine's dictionary",
                      name.c_str(), index);
      return HA_ERR_INDEX_CORRUPT;
    }
    index_made[i] = state->MadeOf(families[i]);
  }
  return 0;
}

// Finds the columns in index entries, whole or only their start.
void OpenTable::BindEntryColumns() {
  codec.SetApartOver(state->values == nullptr ? 0 : share()->option_struct->klog_value_threshold);
  in_entries.assign(share()->fields, false);
  to_compute.clear();
  for (uint field = 0; field < share()->fields; field++) {
    const bool is_virtual = !table()->field[field]->stored_in_db();
    bool computes = false;
    for (uint i = 0; i < families.size(); i++) {
      if (!codec.is_made_from(i, field)) continue;
      in_entries[field] = true;
      computes |= is_virtual && is_building(i);
    }
    if (computes) to_compute.push_back(field);
  }
  for (const uint field : to_compute) AddBaseColumns(*table(), field, &in_entries);
}

// For the tables of information_schema.
void OpenTable::ShowKeyShapes() {
  if (state->key_shapes() != nullptr) return;
  auto shapes = std::make_shared<KeyShapes>();
  if (codec.hidden_key()) shapes->emplace(state->primary->id(), TableCodec::HiddenKeyShape());
  for (uint i = 0; i < share()->keys; i++) {
    shapes->emplace(families[i]->id(), codec.ShapeOf(table(), i));
  }
  state->set_key_shapes(std::move(shapes));
}

}  // namespace tidesdb::plugin
