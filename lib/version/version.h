/* Which build this is: the version, and what tells builds of one version apart. */
#pragma once

/* As in "0.1.0+6b38cdc4f1aa-dirty", without spaces: what git says of the sources that were built.
 * "0.1.0+release" where they were in no repository. */
extern const char build_version[];
