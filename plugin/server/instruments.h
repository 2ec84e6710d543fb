// The engine's threads and files in performance_schema.
#pragma once

#include "tidesdb/instruments.h"

namespace tidesdb::plugin {

// Makes them known to the server: thread/tidesdb/*, wait/io/file/tidesdb/*. Null: the server has no
// performance_schema, or it is off. Lives as long as the process.
Instruments* RegisterInstruments();

}  // namespace tidesdb::plugin
