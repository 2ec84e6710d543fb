// The engine's threads, files and waits in performance_schema, and the plugin's mutexes and stages.
#pragma once

#include "tidesdb/instruments.h"

namespace tidesdb::plugin {

// Makes them known to the server: thread/tidesdb/*, wait/io/file/tidesdb/*, wait/synch/*/tidesdb/*,
// stage/tidesdb/*. Once, before anything else of the plugin. Null: the server has no
// performance_schema, or it is off. Lives as long as the process.
Instruments* RegisterInstruments();

}  // namespace tidesdb::plugin
