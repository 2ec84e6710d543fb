// The cost model, in the shape of each server version.
#include "handler/ha_tidesdb.h"

namespace tidesdb::plugin {

TIDESDB_SERVER_COST_DEFINITIONS(ha_tidesdb)

}  // namespace tidesdb::plugin
