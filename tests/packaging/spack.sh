#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# packaging/spack/package.py, read by python with stand-ins for what Spack gives a recipe: it is one, of this version, and what it
# tells configure are options that configure has.
. "$(dirname "$0")/packaging.inc"
need python3 python3
begin

recipe()
{
	"$SRCDIR/configure" --help >"$tmp/help" && python3 -B - "$SRCDIR/packaging/spack/package.py" "$version" "$tmp/help" <<'END'
import re
import runpy
import sys
import types

path, version, options = sys.argv[1:]
said = {}


def note(name):
    return lambda *words, **named: said.setdefault(name, []).append((words, named))


class AutotoolsPackage:
    prefix = "/opt/uncore"

    def enable_or_disable(self, name):
        return ["--enable-" + name]

    def with_or_without(self, name):
        return ["--with-" + name]


package = types.ModuleType("spack.package")
for name in ("license", "version", "variant", "depends_on"):
    setattr(package, name, note(name))
package.AutotoolsPackage = AutotoolsPackage
sys.modules["spack"] = types.ModuleType("spack")
sys.modules["spack.package"] = package
recipe = runpy.run_path(path)["Libuncore"]

assert [words for words, _ in said["version"]] == [(version,)], said["version"]
assert version in recipe.url, recipe.url
assert said["license"] == [(("BSD-3-Clause",), {})], said["license"]
asked = [re.sub("=.*", "", argument) for argument in recipe().configure_args()]
known = open(options).read().replace("--without-", "--with-").replace("--disable-", "--enable-")
for option in asked:
    assert re.search(re.escape(option) + r"(?![\w-])", known), "configure has no " + option
assert len(asked) == 4, asked
variants = {words[0] for words, _ in said["variant"]}
assert variants == {"static", "collectd"}, variants
END
}

result "the recipe is one of this version, and configure has what it asks for" recipe
finish
