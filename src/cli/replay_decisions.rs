//! A day's sampling decisions again: by the same rules they come out the same, by others it is told where they differ and
//! what that costs.

use super::pipe::say;
use super::sql::{Opened, online};
use super::trust::Trust;
use crate::config::Config;
use crate::domain::decision::{CAME_LATE, PUT_BACK};
use crate::sample::{DECISION_COLUMNS, Findings, Replay, Standing, compile};
use arrow::array::{AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use clap::Args;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// Traces that are decided about at once: their spans are held in memory.
const TRACES_AT_ONCE: i64 = 5_000;
/// A trace's spans begin within this time around the spans that stand for the traces of one part.
const AROUND: TimeDelta = TimeDelta::hours(1);

/// Arguments of the verb.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// A running server.
    #[arg(long, default_value = "http://127.0.0.1:4320", conflicts_with = "data_dir")]
    url: String,
    /// A data directory that no server uses now.
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// A token of the server with the role query or admin, if it has tokens.
    #[arg(long, env = "GROUNDLINE_TOKEN", hide_env_values = true)]
    token: Option<String>,
    #[command(flatten)]
    trust: Trust,
    /// Configuration file with the rules; without one the default rule.
    #[arg(long)]
    config: Option<PathBuf>,
    /// The day (UTC) whose decisions are made again, such as 2026-11-22; today if left out.
    #[arg(long, value_parser = calendar_day)]
    day: Option<NaiveDate>,
    /// Only this rule, and shadows and second phases of it.
    #[arg(long)]
    rule: Option<String>,
    /// Write one JSON object instead of a table.
    #[arg(long)]
    json: bool,
}

fn calendar_day(text: &str) -> Result<NaiveDate, String> {
    text.parse().map_err(|_| "write year, month and day, such as 2026-11-22".to_owned())
}

/// Runs it. Exit code 0 if every rule that is the same decides the same, 1 otherwise, 2 where the configuration is wrong.
pub async fn run(args: ReplayArgs) -> ExitCode {
    let config = match Config::load(args.config.as_deref()) {
        Ok(config) => config,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    match replayed(&args, config).await {
        Ok(report) => {
            match args.json {
                true => say(report.json()),
                false => say(report.text()),
            }
            if report.is_reproduced() { ExitCode::SUCCESS } else { ExitCode::from(1) }
        }
        Err(error) => {
            eprintln!("groundline replay-decisions: {error}");
            ExitCode::from(1)
        }
    }
}

/// Where rows come from.
enum Source {
    Server(String, Option<String>, Trust),
    Opened(Box<Opened>),
}

impl Source {
    async fn ask(&self, query: &str) -> Result<Vec<RecordBatch>, String> {
        let (_, rows) = match self {
            Source::Server(url, token, trust) => online(url, token.as_deref(), trust, query).await,
            Source::Opened(opened) => opened.ask(query).await,
        }?;
        Ok(rows)
    }
}

/// A stretch of time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stretch {
    from: DateTime<Utc>,
    to: DateTime<Utc>,
}

impl Stretch {
    /// The condition that the time in `column` lies in it.
    fn holds(&self, column: &str) -> String {
        let word = |time: DateTime<Utc>| time.format("%Y-%m-%dT%H:%M:%S%.6fZ");
        format!("{column} >= TIMESTAMP '{}' AND {column} < TIMESTAMP '{}'", word(self.from), word(self.to))
    }
}

async fn replayed(args: &ReplayArgs, config: Config) -> Result<Report, String> {
    let mut sample = config.sample;
    if let Some(name) = &args.rule {
        sample.rules.retain(|rule| rule.name == *name || rule.first() == Some(name.as_str()));
        if sample.rules.iter().all(|rule| rule.name != *name) {
            return Err(format!("no rule has the name {name:?}"));
        }
    }
    let rules = compile(&sample.rules)
        .map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    let prices = sample.rules.iter().filter_map(|rule| Some((rule.name.clone(), rule.budget.usd_per_item?)));
    let prices: BTreeMap<String, f64> = prices.collect();
    let from = args.day.unwrap_or_else(|| Utc::now().date_naive()).and_time(chrono::NaiveTime::MIN).and_utc();
    let day = Stretch { from, to: from + TimeDelta::days(1) };
    let source = match &args.data_dir {
        Some(dir) => Source::Opened(Box::new(Opened::open(dir.clone(), args.config.as_deref()).await?)),
        None => Source::Server(args.url.clone(), args.token.clone(), args.trust.clone()),
    };
    let mut replay = Replay::new(rules, sample);
    let done = decide(&source, &mut replay, day).await;
    let measured = measured_prices(&source, day).await;
    if let Source::Opened(opened) = &source {
        opened.close();
    }
    done?;
    // What was measured goes before what is assumed.
    let prices = prices.into_iter().chain(measured?).collect();
    Ok(Report {
        day: day.from.date_naive(),
        findings: replay.findings().clone(),
        gone: replay.gone().clone(),
        prices,
    })
}

/// Decides again about all traces of the day, a part at a time.
async fn decide(source: &Source, replay: &mut Replay, day: Stretch) -> Result<(), String> {
    let columns = replay.span_columns().into_iter().collect::<Vec<_>>().join(", ");
    let quoted: Vec<String> =
        replay.second_phases().iter().map(|name| format!("'{}'", name.replace('\'', "''"))).collect();
    let second =
        if quoted.is_empty() { "false".to_owned() } else { format!("rule IN ({})", quoted.join(", ")) };
    // What is evaluated again was decided before.
    let at_once = format!(
        "decision IN ('filtered', 'not_sampled', 'over_budget', 'queued', 'throttled') \
         AND reason <> '{PUT_BACK}' AND reason NOT LIKE '{CAME_LATE}%'"
    );
    for part in parts(source, day).await? {
        let here = format!("{} AND {at_once} AND NOT ({second})", part.holds("decided_at"));
        let first = format!("SELECT {DECISION_COLUMNS} FROM decisions WHERE {here}");
        let mut decisions = source.ask(&first).await?;
        let traces = format!("trace_id IN (SELECT trace_id FROM decisions WHERE {here})");
        if !quoted.is_empty() {
            let later = Stretch { from: part.from, to: day.to + TimeDelta::days(1) }.holds("decided_at");
            let second = format!(
                "SELECT {DECISION_COLUMNS} FROM decisions WHERE {later} AND {at_once} AND {second} AND {traces}"
            );
            decisions.extend(source.ask(&second).await?);
        }
        let Some(around) = span_times(source, &here).await? else { continue };
        let spans = format!("SELECT {columns} FROM spans WHERE {} AND {traces}", around.holds("start_time"));
        let spans = source.ask(&spans).await?;
        let mut scores = Vec::new();
        if !quoted.is_empty() {
            let columns = replay.score_columns().into_iter().collect::<Vec<_>>().join(", ");
            // What was put back and judged again comes later than any decision.
            let judged = Stretch { from: part.from, to: day.to + TimeDelta::days(1) }.holds("evaluated_at");
            scores = source
                .ask(&format!(
                    "SELECT {columns} FROM scores WHERE source = 'rule' AND score_version = 1 AND {judged} AND {traces}"
                ))
                .await?;
        }
        replay.decide(&spans, &decisions, &scores).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// The day in parts of so many traces that their spans fit into memory.
async fn parts(source: &Source, day: Stretch) -> Result<Vec<Stretch>, String> {
    let query = format!(
        "SELECT CAST(date_part('epoch', date_trunc('minute', decided_at)) AS BIGINT) AS minute, \
         CAST(count(DISTINCT trace_id) AS BIGINT) AS traces FROM decisions WHERE {} GROUP BY 1 ORDER BY 1",
        day.holds("decided_at")
    );
    let (mut parts, mut from, mut held) = (Vec::new(), day.from, 0);
    for batch in source.ask(&query).await? {
        let (minutes, traces) = (ints(&batch, "minute")?, ints(&batch, "traces")?);
        for (minute, traces) in minutes.into_iter().zip(traces) {
            let begins = DateTime::from_timestamp(minute, 0).unwrap_or(day.from);
            if held > 0 && held + traces > TRACES_AT_ONCE {
                parts.push(Stretch { from, to: begins });
                (from, held) = (begins, 0);
            }
            held += traces;
        }
    }
    if held > 0 {
        parts.push(Stretch { from, to: day.to });
    }
    Ok(parts)
}

/// Around which times the spans of these decisions began; none without decisions.
async fn span_times(source: &Source, decisions: &str) -> Result<Option<Stretch>, String> {
    let epoch = |what: &str| format!("CAST(date_part('epoch', {what}) AS BIGINT)");
    let query = format!(
        "SELECT count(*) AS n, {} AS first, {} AS last FROM decisions WHERE {decisions}",
        epoch("min(span_time)"),
        epoch("max(span_time)")
    );
    for batch in source.ask(&query).await?.iter().filter(|batch| batch.num_rows() > 0) {
        if ints(batch, "n")?.first() == Some(&0) {
            return Ok(None);
        }
        let time = |seconds: &[i64]| seconds.first().and_then(|s| DateTime::from_timestamp(*s, 0));
        if let (Some(first), Some(last)) = (time(&ints(batch, "first")?), time(&ints(batch, "last")?)) {
            return Ok(Some(Stretch { from: first - AROUND, to: last + AROUND }));
        }
    }
    Ok(None)
}

/// What an item of each rule has cost, US dollars, where judges told it.
async fn measured_prices(source: &Source, day: Stretch) -> Result<Vec<(String, f64)>, String> {
    let query = format!(
        "SELECT rule, CAST(sum(cost_usd) AS DOUBLE) AS usd, \
         CAST(count(DISTINCT concat(trace_id, '/', span_id)) AS BIGINT) AS items FROM scores \
         WHERE source = 'rule' AND rule IS NOT NULL AND {} GROUP BY rule HAVING sum(cost_usd) > 0",
        Stretch { from: day.from, to: day.to + TimeDelta::days(1) }.holds("evaluated_at")
    );
    let mut prices = Vec::new();
    for batch in source.ask(&query).await? {
        let items = ints(&batch, "items")?;
        let column = |name: &str, kind: &DataType| {
            let column = batch.column_by_name(name).ok_or_else(|| format!("no column {name}"))?;
            cast(column, kind).map_err(|e| e.to_string())
        };
        let (rules, usd) = (column("rule", &DataType::Utf8)?, column("usd", &DataType::Float64)?);
        let usd = usd.as_primitive::<Float64Type>().values();
        for ((rule, usd), items) in rules.as_string::<i32>().iter().zip(usd).zip(items) {
            prices.extend(rule.map(|rule| (rule.to_owned(), usd / items.max(1) as f64)));
        }
    }
    Ok(prices)
}

fn ints(batch: &RecordBatch, name: &str) -> Result<Vec<i64>, String> {
    let column = batch.column_by_name(name).ok_or_else(|| format!("no column {name}"))?;
    let column = cast(column, &DataType::Int64).map_err(|e| e.to_string())?;
    Ok(column.as_primitive::<Int64Type>().values().to_vec())
}

/// What is told.
struct Report {
    day: NaiveDate,
    findings: BTreeMap<String, Findings>,
    gone: BTreeMap<String, u64>,
    /// US dollars an item, by rule.
    prices: BTreeMap<String, f64>,
}

const HEADER: [&str; 11] = [
    "rule",
    "rule is",
    "decisions",
    "same",
    "different",
    "unknown",
    "items then",
    "items now",
    "gained",
    "lost",
    "US dollars",
];

impl Report {
    /// Whether every rule that is the same has decided the same.
    fn is_reproduced(&self) -> bool {
        self.findings.values().all(|found| found.standing != Standing::Same || found.different == 0)
    }

    fn text(&self) -> String {
        let rows = self.findings.iter().map(|(name, found)| self.row(name, found));
        let all: Vec<[String; 11]> = std::iter::once(HEADER.map(str::to_owned)).chain(rows).collect();
        let widths: Vec<usize> =
            (0..11).map(|at| all.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
        let line = |row: &[String; 11]| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let mut lines = vec![format!("Decisions of {} (UTC)", self.day)];
        lines.extend(all.iter().map(line));
        for (name, decisions) in &self.gone {
            lines.push(format!("{name} is not in the configuration and decided about {decisions} traces"));
        }
        for (name, found) in &self.findings {
            for (item, then, now) in &found.examples {
                lines.push(format!("{name}: {item}\n  then {then}\n  now  {now}"));
            }
        }
        lines.join("\n")
    }

    fn row(&self, name: &str, found: &Findings) -> [String; 11] {
        let usd = match self.prices.get(name) {
            Some(price) => {
                format!(
                    "{:.4} then, {:.4} now",
                    price * found.items_then as f64,
                    price * found.items_now as f64
                )
            }
            None => "no price known".to_owned(),
        };
        [
            name.to_owned(),
            standing(found.standing).to_owned(),
            found.decided.to_string(),
            found.same.to_string(),
            found.different.to_string(),
            found.unknown.to_string(),
            found.items_then.to_string(),
            found.items_now.to_string(),
            found.gained.to_string(),
            found.lost.to_string(),
            usd,
        ]
    }

    fn json(&self) -> Json {
        let rules = self.findings.iter().map(|(name, found)| {
            let price = self.prices.get(name);
            let usd = |items: u64| price.map(|price| price * items as f64);
            let examples = found.examples.iter();
            let examples: Vec<Json> =
                examples.map(|(item, then, now)| json!({"item": item, "then": then, "now": now})).collect();
            json!({
                "rule": name, "rule_is": standing(found.standing), "decisions": found.decided, "same": found.same,
                "different": found.different, "unknown": found.unknown, "items_then": found.items_then,
                "items_now": found.items_now, "gained": found.gained, "lost": found.lost,
                "usd_then": usd(found.items_then), "usd_now": usd(found.items_now), "examples": examples,
            })
        });
        let rules: Vec<Json> = rules.collect();
        json!({"day": self.day.to_string(), "rules": rules, "gone": self.gone, "reproduced": self.is_reproduced()})
    }
}

fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::New => "new",
        Standing::Same => "the same",
        Standing::Changed => "changed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_that_is_none_is_told_its_form() {
        let read = |day: &str| {
            let verb = ReplayArgs::augment_args(clap::Command::new("replay-decisions"));
            verb.try_get_matches_from(["replay-decisions", "--day", day]).map_err(|e| e.to_string())
        };
        let why = read("tomorrow").unwrap_err();
        assert!(why.contains("year, month and day, such as 2026-11-22"), "{why}");
        assert!(read("2026-11-22").is_ok());
    }

    #[test]
    fn the_report_tells_what_changed_and_what_it_costs() {
        let same = Findings {
            standing: Standing::Same,
            decided: 9,
            same: 9,
            items_then: 2,
            items_now: 2,
            ..Findings::default()
        };
        let example = ("aa".to_owned(), "not_sampled".to_owned(), "queued".to_owned());
        let changed = Findings {
            standing: Standing::Changed,
            different: 1,
            items_then: 2,
            items_now: 3,
            gained: 1,
            examples: vec![example],
            ..same.clone()
        };
        let findings = BTreeMap::from([("a".to_owned(), same), ("b".to_owned(), changed)]);
        let mut report = Report {
            day: NaiveDate::default(),
            findings,
            gone: BTreeMap::from([("c".to_owned(), 4)]),
            prices: BTreeMap::from([("b".to_owned(), 0.5)]),
        };
        let text = report.text();
        for part in
            ["rule is", "no price known", "1.0000 then, 1.5000 now", "c is not in the configuration", "b: aa"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(report.is_reproduced(), "a changed rule may differ");
        assert_eq!(
            (&report.json()["rules"][1]["usd_now"], &report.json()["rules"][0]["usd_now"]),
            (&json!(1.5), &Json::Null)
        );
        report.findings.values_mut().for_each(|found| found.standing = Standing::Same);
        assert!(!report.is_reproduced());
    }
}
