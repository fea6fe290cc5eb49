// SPDX-License-Identifier: MIT
//! Finds libperfmon: in the folder PERFMON_LIB_DIR, or where pkg-config says.
use std::process::Command;

fn folders() -> Vec<String> {
    if let Ok(folder) = std::env::var("PERFMON_LIB_DIR") {
        return vec![folder];
    }
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
    println!("cargo:rerun-if-env-changed=PERFMON_LIB_DIR");
    for folder in folders() {
        println!("cargo:rustc-link-search=native={folder}");
    }
    println!("cargo:rustc-link-lib=perfmon");
}
