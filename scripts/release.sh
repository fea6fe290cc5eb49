#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes a release from what is committed: the tarball, its checksums, its description (SPDX) and
# provenance, and the lines that sign and publish it, which are printed and left to a person with a
# key.
#   scripts/release.sh [-o FOLDER]        FOLDER: where it goes; release
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*" >&2; }
refuse() { say "release: $*"; exit 1; }

out=release
while getopts o: option; do
	case $option in
	o) out=$OPTARG ;;
	*) refuse "usage: scripts/release.sh [-o FOLDER]" ;;
	esac
done

[ -z "$(git status --porcelain --untracked-files=no)" ] ||
	refuse "commit or put away what is changed first"
version=$(sed -n "s/^  version: '\([^']*\)',$/\1/p" meson.build)
[ -n "$version" ] || refuse "meson.build names no version"
# One number, in four places.
grep -q "^## $version\$" CHANGELOG.md || refuse "CHANGELOG.md has no section $version"
grep -q "^__version__ = \"$version\"\$" python/perfmon/__init__.py ||
	refuse "python/perfmon/__init__.py is of another version"
head -n 1 debian/changelog | grep -qF "perfmon ($version-" ||
	refuse "debian/changelog begins with another version"

name=perfmon-$version
mkdir -p "$out"
# The archive depends on the commit and its time alone, so it can be reproduced byte for byte.
# $XZ_OPT may lower the compression level.
git archive --format=tar --prefix="$name/" HEAD | xz -T1 >"$out/$name.tar.xz"
(cd "$out" && sha256sum "$name.tar.xz" >"$name.tar.xz.sha256" &&
	sha512sum "$name.tar.xz" >"$name.tar.xz.sha512")
# The parts of the source with their licences, and the commit.
python3 scripts/sbom.py "$out/$name.tar.xz" "$(git rev-parse HEAD)" "$(git log -1 --format=%ct)"
say "made $out/$name.tar.xz of commit $(git rev-parse --short HEAD)"
cat <<END
Try it, sign it, publish it:
  sha256sum -c $name.tar.xz.sha256                  # in $out
  tar xf $name.tar.xz && cd $name && ./check --quick
  git tag -s v$version -m "perfmon $version"
  git tag -v v$version
  gpg --armor --detach-sign $name.tar.xz
  git push origin v$version
  # then put the tarball, its checksums and $name.tar.xz.asc beside each other
END
