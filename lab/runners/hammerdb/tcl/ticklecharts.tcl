# HammerDB draws its jobs' pages with ticklecharts, which Debian does not have. The pages are not wanted here; who asks is told.
package provide ticklecharts 1.0
namespace eval ::ticklecharts {
    proc chart args { error "ticklecharts is not here: HammerDB's own charts cannot be drawn" }
}
