// SPDX-License-Identifier: MIT
//! `cargo bench`: a harness in the style of Criterion. Each benchmark prints its time and its counts
//! per iteration, with the quality of each count; events without a value print their cause.
use perfmon::{Count, Quality, Session};
use std::time::{Duration, Instant};

/// Software events can be counted everywhere; add instructions where the machine has a PMU.
const EVENTS: [&str; 3] = ["task-clock", "page-faults:u", "context-switches"];
const SAMPLES: u32 = 20;
const SAMPLE_TIME: Duration = Duration::from_millis(5);

/// Reads a result, so that the compiler keeps the work. (std::hint::black_box: Rust 1.66.)
fn keep(result: &u32) {
    unsafe { std::ptr::read_volatile(result) };
}

/// Iterations that take about SAMPLE_TIME; warms caches up.
fn choose_iterations(work: &mut impl FnMut()) -> u64 {
    let (start, mut n) = (Instant::now(), 0);
    while start.elapsed() < SAMPLE_TIME {
        work();
        n += 1;
    }
    n
}

fn show(count: &Count, iterations: u64) {
    match (count.value, count.quality) {
        (Some(value), quality) => {
            let each = value as f64 * count.scale / iterations as f64;
            println!("    {:<18} {each:12.3} {} ({quality:?})", count.name, count.unit);
        }
        (None, quality) => println!("    {:<18} {quality:?}: {}", count.name, count.why),
    }
    if count.quality != Quality::Exact && !count.remedy.is_empty() {
        println!("        {}", count.remedy);
    }
}

fn bench(name: &str, mut work: impl FnMut()) -> perfmon::Result<()> {
    let n = choose_iterations(&mut work);
    let session = Session::new(&EVENTS)?;
    let mut times = Vec::new();
    session.start()?;
    for _ in 0..SAMPLES {
        let start = Instant::now();
        (0..n).for_each(|_| work());
        times.push(start.elapsed().as_secs_f64() * 1e9 / n as f64);
    }
    session.stop()?;
    times.sort_by(f64::total_cmp);
    let (low, middle, high) = (times[1], times[times.len() / 2], times[times.len() - 2]);
    println!("{name}: [{low:.1} ns {middle:.1} ns {high:.1} ns]");
    session.read()?.iter().for_each(|count| show(count, n * u64::from(SAMPLES)));
    Ok(())
}

fn main() -> perfmon::Result<()> {
    let numbers: Vec<u32> = (0..1000u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    bench("sort", || {
        let mut sorted = numbers.clone();
        sorted.sort();
        keep(&sorted[0]);
    })?;
    bench("sort_unstable", || {
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        keep(&sorted[0]);
    })
}
