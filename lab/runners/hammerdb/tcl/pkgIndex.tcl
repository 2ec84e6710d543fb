package ifneeded hammerdb_zipfs 1.0 [list source [file join $dir zipfs.tcl]]
package ifneeded mariatcl 1.0 [list source [file join $dir mariatcl.tcl]]
package ifneeded ticklecharts 1.0 [list source [file join $dir ticklecharts.tcl]]
