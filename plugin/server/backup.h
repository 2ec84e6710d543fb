// Copies of the engine's directory from SQL, and the warning for a BACKUP STAGE without one.
#pragma once

#include "base/server_port.h"

namespace tidesdb::plugin {

void SetBackupCallbacks(handlerton* hton);

}  // namespace tidesdb::plugin
