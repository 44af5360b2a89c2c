# SPDX-License-Identifier: BSD-3-Clause
# Spack's recipe: put it into a repository of recipes as packages/libuncore/package.py, with the folder of the tarball in `url`. The
# tarball cannot hold its own checksum: `spack checksum libuncore` adds it. Tried against a stand-in of Spack only.
import os

from spack.package import *

try:  # since Spack 1.0
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
except ImportError:
    pass


class Libuncore(AutotoolsPackage):
    """Performance monitors of Intel sockets outside the cores: bytes to and from memory, over the links between
    sockets and over PCIe, misses and latencies of the last level cache. A library, the command uncore, a plugin for
    collectd, and the sources of a component for PAPI."""

    url = "file:///var/tmp/libuncore-0.1.0.tar.xz"
    # A line homepage comes when configure.ac has one. Where users of this recipe report problems; None: what configure.ac says.
    bugurl = None

    license("BSD-3-Clause")

    version("0.1.0")

    variant("collectd", default=False, description="The plugin, for a collectd that is installed with its headers")
    variant("static", default=False, description="A static library beside the shared one")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    # For spack install --test=root.
    depends_on("cunit", type="test")

    def configure_args(self):
        args = list(self.enable_or_disable("static"))
        args += self.with_or_without("collectd")
        if self.bugurl:
            args.append("--with-bugurl=" + self.bugurl)
        # In the prefix, which nobody else owns: the daemon looks there if its PluginDir says so, systemd-tmpfiles never.
        args.append("--with-collectd-plugindir=" + os.path.join(self.prefix, "lib", "collectd"))
        args.append("--with-tmpfilesdir=" + os.path.join(self.prefix, "lib", "tmpfiles.d"))
        return args

    def check(self):
        with working_dir(self.build_directory):
            make("check", "TESTS=$(unit_tests)")

    def setup_run_environment(self, env):
        # Where PAPI finds it; the component's sources are in share/libuncore/papi_component.
        env.set("PAPI_UNCORE_ROOT", self.prefix)
