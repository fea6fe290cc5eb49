// SPDX-License-Identifier: MIT
//! Finds libperfmon, in this order: the object of scripts/freestanding.py in PERFMON_OBJECT, the
//! library in the folder PERFMON_LIB_DIR, its sources in the folder `vendor` of this crate
//! (scripts/crate.sh puts them there), and what pkg-config knows. CC and AR name other tools.
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

fn tool(name: &str, default: &str) -> Command {
    println!("cargo:rerun-if-env-changed={name}");
    let value = env::var(name).unwrap_or_else(|_| default.to_string());
    let mut words = value.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(default));
    command.args(words);
    command
}

fn finish(mut child: Child) {
    let status = child.wait().expect("the compiler was started");
    assert!(status.success(), "the compiler failed: {status}");
}

fn archive(objects: &[PathBuf], out: &Path) {
    let library = out.join("libperfmon.a");
    let _ = fs::remove_file(&library);
    finish(tool("AR", "ar").arg("crs").arg(library).args(objects).spawn().expect("ar is needed"));
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=perfmon");
}

fn compile(vendor: &Path, name: &str, out: &Path) -> (Child, PathBuf) {
    let object = out.join(name.replace(['/', '.'], "_") + ".o");
    let level = match env::var("OPT_LEVEL").as_deref() {
        Ok("0") => "-O0",
        _ => "-O2",
    };
    let child = tool("CC", "cc")
        .args(["-std=c11", "-D_GNU_SOURCE", "-fPIC", "-fvisibility=hidden", "-w", level, "-c"])
        .arg("-DPERFMON_DATADIR=\"/usr/share/perfmon\"")
        .args([vendor.join("include"), vendor.join("lib"), vendor.to_path_buf()].map(|folder| {
            format!("-I{}", folder.display())
        }))
        .arg(vendor.join(name))
        .arg("-o")
        .arg(&object)
        .spawn()
        .expect("a C compiler is needed");
    (child, object)
}

fn build_vendored(vendor: &Path, out: &Path) {
    let order = env::var("CARGO_CFG_TARGET_ENDIAN").unwrap_or_default();
    assert_eq!(order, "little", "the tables of this crate are little-endian: install libperfmon");
    println!("cargo:rerun-if-changed={}", vendor.display());
    let list = fs::read_to_string(vendor.join("sources")).expect("vendor/sources is missing");
    let names: Vec<&str> = list.lines().collect();
    let jobs = env::var("NUM_JOBS").ok().and_then(|n| n.parse().ok()).unwrap_or(1).max(1);
    let mut objects = Vec::new();
    for some in names.chunks(jobs) {
        let started: Vec<_> = some.iter().map(|name| compile(vendor, name, out)).collect();
        for (child, object) in started {
            finish(child);
            objects.push(object);
        }
    }
    archive(&objects, out);
}

fn link_installed(folders: Vec<String>) {
    for folder in folders {
        println!("cargo:rustc-link-search=native={folder}");
    }
    println!("cargo:rustc-link-lib=perfmon");
}

fn ask_pkg_config() -> Vec<String> {
    let answer = Command::new("pkg-config").args(["--libs-only-L", "perfmon"]).output();
    match answer {
        Ok(out) if out.status.success() => String::from_utf8_lossy(&out.stdout)
            .split_whitespace()
            .map(|word| word.trim_start_matches("-L").to_string())
            .collect(),
        _ => Vec::new(), // the linker's own folders
    }
}

fn main() {
    println!("cargo:rerun-if-env-changed=PERFMON_OBJECT");
    println!("cargo:rerun-if-env-changed=PERFMON_LIB_DIR");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let vendor = Path::new("vendor");
    if let Some(object) = env::var_os("PERFMON_OBJECT") {
        archive(&[object.into()], &out);
    } else if let Ok(folder) = env::var("PERFMON_LIB_DIR") {
        link_installed(vec![folder]);
    } else if vendor.exists() {
        build_vendored(vendor, &out);
    } else {
        link_installed(ask_pkg_config());
    }
}
