#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Follows the Python guide (check_guides.py): it makes the wheel, installs it into a fresh environment
# and runs the programs there. Then looks at the wheel: its name, its licence, that it carries the
# library and names no folder of this machine, and that the device of a plugin beside the library,
# which one for the host plays, is found from there.
#
# Usage: check_wheel.sh <repository root> <build folder> <file of the plugin>

set -euo pipefail
root="$1" build="$2" plugin="$3"
# One folder for each checkout, so that a compiler cache knows its paths again.
area="${TMPDIR:-/tmp}/tessera-wheel-$(id -u)-$(cksum <<<"$root" | cut -d ' ' -f 1)"
rm -rf "$area"
mkdir -m 700 "$area"
trap 'rm -rf "$area"' EXIT

"${TSR_SYSTEM_PYTHON:-/usr/bin/python3}" "$root/tests/tools/check_guides.py" "$root" "$build" python \
  --folder "$area"

# python <code>: in the environment, with no variable but the path.
python() {
  (cd "$area" && env -i PATH="$PATH" "$area/env/bin/python" -c "$1")
}

rm -rf "$area/prefix"   # the wheel needs it no longer
python "
import importlib.metadata, pathlib, tessera as ts
assert importlib.metadata.version('libtessera') == ts.__version__
files = {str(f): f for f in importlib.metadata.files('libtessera')}
licences = [f for name, f in files.items() if name.endswith('LICENSE')]
assert len(licences) == 1 and 'Apache License' in licences[0].read_text(), licences
assert 'tessera/lib/libtessera.so.0' in files, sorted(files)
package = pathlib.Path(ts.__file__).parent
assert package.is_relative_to('$area/env'), package
maps = [line.split()[-1] for line in open('/proc/self/maps') if 'libtessera' in line]
assert maps and set(maps) == {str(package / 'lib/libtessera.so.0')}, set(maps)
assert ts.ones(2).sum().item() == 2 and ts.device_count('cuda') == 0
"

package="$(python "import tessera, os; print(os.path.dirname(tessera.__file__))")"
if readelf -d "$package"/_native.*.so "$package"/_core.*.so "$package/lib/libtessera.so.0" | grep -E 'RPATH|RUNPATH' |
  grep -F -e "$root" -e "$area" -e "$build"; then
  echo "the run paths above name a folder of this machine's build"
  exit 1
fi
for extension in "$package"/_native.*.so "$package"/_core.*.so; do
  readelf -d "$extension" | grep -qF "[\$ORIGIN/lib]" || {
    echo "$extension does not look for the library beside itself"
    exit 1
  }
done

mkdir -p "$package/lib/tessera"
cp "$plugin" "$package/lib/tessera/libtessera_cuda.so"
python "import tessera as ts; assert ts.ones(2, device='cuda').sum().item() == 2"
