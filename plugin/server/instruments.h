// The engine's threads, files and waits in performance_schema, and the plugin's mutexes and stages.
#pragma once

#include "tidesdb/instruments.h"

namespace tidesdb::plugin {

// Registers thread/tidesdb/*, wait/io/file/tidesdb/*, wait/synch/*/tidesdb/* and stage/tidesdb/*
// with the server. Call it once, before all other parts of the plugin. Null: the server has no
// performance_schema, or it is off. The result lives as long as the process.
Instruments* RegisterInstruments();

}  // namespace tidesdb::plugin
