# SPDX-License-Identifier: MIT
{ pkgs ? import <nixpkgs> { } }:

pkgs.stdenv.mkDerivation {
  pname = "perfmon";
  version = "1.0.0";
  src = ../.;
  nativeBuildInputs = [ pkgs.meson pkgs.ninja pkgs.pkg-config pkgs.python3 ];
  buildInputs = [ pkgs.jansson ];
  mesonFlags = [ "-Dpython=disabled" "-Dman=disabled" "-Dtests=disabled" "-Dbench=disabled" ];
  meta = {
    description = "Event names to performance counter registers, and counting";
    license = pkgs.lib.licenses.mit;
    platforms = pkgs.lib.platforms.linux;
  };
}
