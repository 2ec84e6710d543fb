#include "base/stage.h"

namespace tidesdb::plugin {
namespace {

#define TIDESDB_STAGE(id, name, flags) {0, name, flags},
PSI_stage_info infos[] = {TIDESDB_STAGES(TIDESDB_STAGE)};
#undef TIDESDB_STAGE

}  // namespace

void RegisterStages() {
  PSI_stage_info* stages[std::size(infos)];
  for (size_t i = 0; i < std::size(infos); i++) stages[i] = &infos[i];
  mysql_stage_register("tidesdb", stages, static_cast<int>(std::size(stages)));
}

const PSI_stage_info& InfoOf(StageOf stage) { return infos[static_cast<size_t>(stage)]; }

Stage::Stage(THD* thd, StageOf stage, uint64_t work) : thd_(thd) {
  set_thd_stage_info(thd, &InfoOf(stage), &before_, __func__, __FILE__, __LINE__);
  progress_ = thd->m_stage_progress_psi;
  Expect(work);
}

Stage::~Stage() { set_thd_stage_info(thd_, &before_, nullptr, __func__, __FILE__, __LINE__); }

void Stage::Expect(uint64_t work) {
  work_ = work;
  mysql_stage_set_work_estimated(progress_, work);
}

}  // namespace tidesdb::plugin
