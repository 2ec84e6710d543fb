// Copies of the engine's directory from SQL, and what a BACKUP STAGE that takes none is told.
#pragma once

#include "base/server_port.h"

namespace tidesdb::plugin {

void SetBackupCallbacks(handlerton* hton);

}  // namespace tidesdb::plugin
