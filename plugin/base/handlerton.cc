#include "base/handlerton.h"

namespace tidesdb::plugin {

handlerton* tidesdb_hton = nullptr;

}  // namespace tidesdb::plugin
