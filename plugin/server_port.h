// Brings in the server's headers and hides what differs between the server versions we build for.
//
// The only file that may test MYSQL_VERSION_ID. Everything in plugin/ includes the server through
// it, so that the order the server's headers ask for is kept in one place.
#pragma once

#include <my_global.h>  // The server wants it before every other header of its own.

#include <handler.h>
#include <log.h>
#include <mysql/plugin.h>
#include <sql_class.h>
#include <table.h>

#if MYSQL_VERSION_ID < 101100 || MYSQL_VERSION_ID >= 110900
#error "ha_tidesdb builds for MariaDB 10.11 to 11.8"
#endif
#ifndef DBUG_OFF
#error "Compile with -DDBUG_OFF, as the distribution's server: without it class layouts shift"
#endif

namespace tidesdb::plugin::port {

// Puts fn into a callback slot of the handlerton. From 11.8 on most transaction callbacks have no
// handlerton argument any more; fn never has one, and the slot's own type picks the adapter.
template <auto fn, typename R, typename... Args>
void SetCallback(R (*&slot)(handlerton*, Args...)) {
  slot = [](handlerton*, Args... args) -> R { return fn(args...); };
}
template <auto fn, typename R, typename... Args>
void SetCallback(R (*&slot)(Args...)) {
  slot = fn;
}

// Costs as the engine states them; each server version gets them in its own shape.
struct Cost {
  double io_blocks = 0;  // Blocks expected to come from disk.
  double cpu = 0;        // In the unit of the server's optimizer: milliseconds from 11.0 on.
};

#if MYSQL_VERSION_ID >= 110000
using ServerCost = IO_AND_CPU_COST;
inline ServerCost ToServerCost(const Cost& cost) { return {cost.io_blocks, cost.cpu}; }
#else
using ServerCost = double;
inline ServerCost ToServerCost(const Cost& cost) { return cost.io_blocks + cost.cpu; }
#endif

}  // namespace tidesdb::plugin::port
