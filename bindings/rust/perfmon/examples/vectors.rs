// SPDX-License-Identifier: MIT
//! The driver of the golden vectors (tests/driver/README.md): answers requests, one JSON object a
//! line.
use perfmon::{Context, Dialect, Error, MetricState, Register};
use std::fmt::Write as _;
use std::io::{self, BufRead, Write};

/// A flat JSON object: texts, numbers, and lists of them.
enum Value {
    Text(String),
    Number(f64),
    List(Vec<Value>),
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
}

impl Reader<'_> {
    fn skip(&mut self) {
        while self.rest.next_if(|c| c.is_whitespace() || *c == ':' || *c == ',').is_some() {}
    }

    fn text(&mut self) -> String {
        let mut out = String::new();
        self.rest.next();
        while let Some(c) = self.rest.next() {
            match c {
                '"' => break,
                '\\' => match self.rest.next() {
                    Some('u') => {
                        let hex: String = (0..4).filter_map(|_| self.rest.next()).collect();
                        let code = u32::from_str_radix(&hex, 16).unwrap_or(0xfffd);
                        out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                    }
                    Some(other) => out.push(other),
                    None => {}
                },
                other => out.push(other),
            }
        }
        out
    }

    fn value(&mut self) -> Value {
        self.skip();
        match self.rest.peek() {
            Some('"') => Value::Text(self.text()),
            Some('[') => {
                self.rest.next();
                let mut list = Vec::new();
                self.skip();
                while !matches!(self.rest.peek(), Some(']') | None) {
                    list.push(self.value());
                    self.skip();
                }
                self.rest.next();
                Value::List(list)
            }
            _ => {
                let mut digits = String::new();
                while let Some(c) =
                    self.rest.next_if(|c| !c.is_whitespace() && !",]}".contains(*c))
                {
                    digits.push(c);
                }
                Value::Number(digits.parse().unwrap_or(0.0))
            }
        }
    }
}

struct Request(Vec<(String, Value)>);

impl Request {
    fn read(line: &str) -> Self {
        let mut reader = Reader { rest: line.chars().peekable() };
        let mut members = Vec::new();
        reader.rest.next();
        reader.skip();
        while reader.rest.peek() == Some(&'"') {
            let key = reader.text();
            members.push((key, reader.value()));
            reader.skip();
        }
        Request(members)
    }

    fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    fn text(&self, key: &str) -> &str {
        match self.get(key) {
            Some(Value::Text(t)) => t,
            _ => "",
        }
    }

    fn number(&self, key: &str) -> f64 {
        match self.get(key) {
            Some(Value::Number(n)) => *n,
            _ => 0.0,
        }
    }

    fn list(&self, key: &str) -> &[Value] {
        match self.get(key) {
            Some(Value::List(l)) => l,
            _ => &[],
        }
    }

    fn texts(&self) -> Vec<&str> {
        let texts = self.list("texts").iter();
        texts.filter_map(|v| if let Value::Text(t) = v { Some(t.as_str()) } else { None }).collect()
    }
}

fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out + "\""
}

fn list<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", "))
}

fn registers(regs: &[Register]) -> String {
    list(regs, |r| {
        let event = r.event.map_or(-1, |e| e as i64);
        let name = quote(&r.name);
        let (kind, number, address, value) = (r.kind, r.number, r.address, r.value);
        format!("[{kind}, {number}, \"{address:#x}\", \"{value:#x}\", {name}, {event}]")
    })
}

fn refusal(e: &Error) -> String {
    let clash = list(&e.clash, |i| i.to_string());
    let (code, kind, start, end, sentence) =
        (e.code, quote(&e.kind), e.start, e.end, quote(&e.sentence));
    format!(
        "{{\"rc\": {code}, \"kind\": {kind}, \"start\": {start}, \"end\": {end}, \
         \"sentence\": {sentence}, \"clash\": {clash}}}"
    )
}

fn encode(ctx: &Context, r: &Request) -> perfmon::Result<String> {
    let e = ctx.encode(r.text("text"), r.number("plm") as u32)?;
    Ok(format!(
        "{{\"rc\": 0, \"pmu\": {}, \"event\": {}, \"plm\": {}, \"regs\": {}, \
         \"counters\": \"{:#x}\", \"type\": {}, \"config\": {}, \"exclude\": {}, \"precise\": {}}}",
        e.pmu,
        e.number,
        e.levels,
        registers(&e.registers),
        e.counters,
        e.attr.kind.map_or(-1, i64::from),
        list(&e.attr.config[..3], |c| format!("\"{c:#x}\"")),
        list(&e.attr.exclude, |x| u8::from(*x).to_string()),
        e.attr.precise
    ))
}

fn dispatch(ctx: &Context, r: &Request) -> perfmon::Result<String> {
    let set = ctx.dispatch(&r.texts())?;
    Ok(format!(
        "{{\"rc\": 0, \"counters\": {}, \"pmcs\": {}, \"pmds\": {}}}",
        list(&set.counters, |c| c.to_string()),
        registers(&set.writes),
        registers(&set.reads)
    ))
}

fn decode(ctx: &Context, r: &Request) -> perfmon::Result<String> {
    let value = u64::from_str_radix(r.text("value").trim_start_matches("0x"), 16).unwrap_or(0);
    let pmu = ctx.find_pmu(r.text("pmu")).unwrap_or(-1);
    let mut events = ctx.decode(pmu, r.text("reg"), value);
    events.truncate(8);
    Ok(format!("{{\"events\": {}}}", list(&events, |e| quote(e))))
}

fn print(ctx: &Context, r: &Request) -> perfmon::Result<String> {
    let dialects = [Dialect::Libpfm, Dialect::Libpmc, Dialect::Perf, Dialect::Vendor];
    let text = ctx.print(r.text("text"), dialects[r.number("dialect") as usize % 4])?;
    Ok(format!("{{\"rc\": 0, \"text\": {}}}", quote(&text)))
}

fn plan(ctx: &Context, r: &Request) -> perfmon::Result<String> {
    let plan = ctx.plan(&r.texts())?;
    let groups = list(&plan.groups, |g| quote(g));
    let (rounds, bound) = (plan.rounds, plan.bound);
    Ok(format!("{{\"rc\": 0, \"rounds\": {rounds}, \"bound\": {bound}, \"groups\": {groups}}}"))
}

fn metric(ctx: &Context, r: &Request) -> perfmon::Result<String> {
    let values: Vec<Option<f64>> = r
        .list("values")
        .iter()
        .map(|v| if let Value::Number(n) = v { Some(*n) } else { None })
        .collect();
    let answer = ctx.metric(r.text("text")).and_then(|m| ctx.compute(&m, &values));
    Ok(match answer {
        Err(e) => format!("{{\"rc\": {}}}", e.code),
        Ok(v) => {
            let state = match v.state {
                MetricState::Defined => "defined",
                MetricState::Division => "division by zero",
                MetricState::NotCounted => "not counted",
                _ => "out of range",
            };
            let (bits, missing) = (v.value.to_bits(), v.missing.map_or(-1, |i| i as i64));
            format!(
                "{{\"rc\": 0, \"state\": \"{state}\", \"value\": \"{bits:#x}\", \
                 \"missing\": {missing}}}"
            )
        }
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ctx = Context::tables()?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let request = Request::read(&line?);
        let answer = match request.text("op") {
            "encode" => encode(&ctx, &request),
            "dispatch" => dispatch(&ctx, &request),
            "decode" => decode(&ctx, &request),
            "print" => print(&ctx, &request),
            "plan" => plan(&ctx, &request),
            "metric" => metric(&ctx, &request),
            other => return Err(format!("unknown request {other}").into()),
        };
        writeln!(out, "{}", answer.unwrap_or_else(|e| refusal(&e)))?;
    }
    Ok(())
}
