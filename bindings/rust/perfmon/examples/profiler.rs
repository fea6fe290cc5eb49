// SPDX-License-Identifier: MIT
//! profiler [PID]: samples a process for a second and prints the hottest addresses.
//! Without a process it samples its own work.
use perfmon::{Quality, Record, Sampling, Session, SessionOptions};
use std::collections::HashMap;
use std::time::{Duration, Instant};

fn work() -> u64 {
    let end = Instant::now() + Duration::from_millis(300);
    let mut x = 1u64;
    while Instant::now() < end {
        for i in 0..10_000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(i);
        }
    }
    x
}

fn main() -> perfmon::Result<()> {
    let mut sampling = Sampling::default();
    sampling.frequency = 1000;
    let mut options = SessionOptions::default();
    options.sampling = Some(sampling);
    let pid = std::env::args().nth(1).and_then(|text| text.parse().ok());
    if let Some(pid) = pid {
        options.pid = pid;
        options.inherit = true;
    }
    let session = Session::open(None, &["task-clock:u"], &options)?;
    session.start()?;
    if pid.is_some() {
        std::thread::sleep(Duration::from_secs(1));
    } else {
        println!("result {}", work());
    }
    session.stop()?;

    let mut addresses: HashMap<u64, u64> = HashMap::new();
    let (mut samples, mut lost) = (0u64, 0u64);
    for record in session.records() {
        match record? {
            Record::Sample { ip, .. } => {
                samples += 1;
                *addresses.entry(ip).or_default() += 1;
            }
            Record::Lost(n) => lost += n,
            _ => {}
        }
    }
    let mut hottest: Vec<_> = addresses.into_iter().collect();
    hottest.sort_by_key(|(ip, n)| (std::cmp::Reverse(*n), *ip));
    println!("{samples} samples, {lost} lost");
    for (ip, n) in hottest.iter().take(10) {
        println!("{:6.2}%  {ip:#x}", 100.0 * *n as f64 / samples as f64);
    }
    for count in session.read()? {
        println!("{count}");
        if count.quality != Quality::Exact {
            println!("  {} {}", count.why, count.remedy);
        }
    }
    Ok(())
}
