# Tcl 9's zipfs, as it is where no archive is mounted.
package provide hammerdb_zipfs 1.0
if {[info commands ::zipfs] eq ""} {
    proc ::zipfs {subcommand args} {
        switch -- $subcommand {
            root { return "//zipfs:/" }
            mount { return "" }
            default { error "zipfs $subcommand: this stand-in mounts nothing" }
        }
    }
}
