//! What the demo shows: everything comes out of SQL, and what must hold is checked.

use super::pipe::say;
use crate::sql::{Format, Sql, encode};
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Float64Type, Int64Type};

/// A trace of the captures and the scenario that made it.
pub struct Scenario {
    /// The trace id, hex.
    pub trace_id: String,
    /// The scenario, such as `rag_contradiction`.
    pub scenario: String,
}

/// Prints the report. An error if the scores do not say what the captures are known to hold.
pub async fn print(sql: &Sql, known: &[Scenario]) -> Result<(), String> {
    show(sql, "Spans by operation", SPANS).await?;
    show(sql, "Scores by evaluator (share that passes, with its 95 % interval)", SCORES).await?;
    let scenarios = scenarios(known);
    let by_scenario =
        |query: &str| format!("WITH scenario(trace_id, scenario) AS (VALUES {scenarios}) {query}");
    show(sql, "The same question and documents, two answers", &by_scenario(GROUNDED)).await?;
    show(sql, "Toxicity of the answers, by scenario", &by_scenario(TOXIC)).await?;
    leaks(sql).await?;
    worst(sql).await?;
    check(sql, &by_scenario(CHECK)).await
}

const SPANS: &str = "SELECT operation, count(*) AS spans, count(DISTINCT dialect) AS conventions, \
    count(question) AS with_question, count(answer) AS with_answer, sum(input_tokens) AS input_tokens, \
    sum(output_tokens) AS output_tokens, count(*) FILTER (WHERE status_code = 'error') AS errors \
    FROM spans GROUP BY operation ORDER BY spans DESC";

const SCORES: &str = "SELECT evaluator, metric, scored, skipped, errors, round(q['estimate'], 3) AS pass_rate, \
    round(q['lower'], 3) AS lower, round(q['upper'], 3) AS upper, round(m['estimate'], 3) AS mean FROM ( \
    SELECT evaluator, metric, count(*) FILTER (WHERE status = 'ok') AS scored, \
    count(*) FILTER (WHERE status = 'skipped') AS skipped, count(*) FILTER (WHERE status = 'error') AS errors, \
    quality_rate(passed, inclusion_probability) AS q, quality_mean(value, inclusion_probability) AS m \
    FROM scores_latest WHERE source = 'rule' AND metric NOT LIKE '%/%' GROUP BY evaluator, metric) \
    ORDER BY evaluator, metric";

const GROUNDED: &str = "SELECT metric, scenario, m['n'] AS traces, round(m['estimate'], 3) AS mean, \
    round(q['estimate'], 3) AS pass_rate, round(q['lower'], 3) AS lower, round(q['upper'], 3) AS upper FROM (SELECT \
    metric, scenario, quality_mean(value, inclusion_probability) AS m, quality_rate(passed, inclusion_probability) AS q \
    FROM scores_latest JOIN scenario USING (trace_id) WHERE metric IN ('groundedness', 'hallucination') \
    AND status = 'ok' AND scenario IN ('rag_grounded', 'rag_contradiction') GROUP BY metric, scenario) \
    ORDER BY metric DESC, mean DESC";

const TOXIC: &str = "SELECT scenario, m['n'] AS traces, round(m['estimate'], 3) AS mean_toxicity, \
    round(m['lower'], 3) AS lower, round(m['upper'], 3) AS upper FROM (SELECT scenario, \
    quality_mean(value, inclusion_probability) AS m FROM scores_latest JOIN scenario USING (trace_id) \
    WHERE metric = 'toxicity' AND status = 'ok' GROUP BY scenario) ORDER BY 3 DESC";

const LEAKED: &str = "SELECT evaluator, label, count(*) AS traces, min(rationale) AS example FROM scores_latest \
    WHERE metric IN ('pii_leakage', 'sensitive_data_leakage', 'prompt_leakage') AND passed = false \
    GROUP BY evaluator, label ORDER BY traces DESC";

const WORST: &str = "SELECT s.service_name, s.request_model, s.value, s.rationale, t.question, t.answer \
    FROM scores_latest s JOIN traces t USING (tenant, trace_id) \
    WHERE s.metric = 'hallucination' AND s.status = 'ok' ORDER BY s.value, s.trace_id LIMIT 1";

/// One row: of the contradicting answers those that `hallucination` caught by their false sentence, of the grounded ones
/// those that it let pass, toxic minus chat, how many leaks of each kind were found, and grounded minus contradicting.
const CHECK: &str = "SELECT \
    avg(CASE WHEN passed THEN 0.0 WHEN rationale LIKE '%\"You have 90 days%' THEN 1.0 ELSE 0.0 END) \
    FILTER (WHERE metric = 'hallucination' AND scenario = 'rag_contradiction'), \
    avg(CASE WHEN passed THEN 1.0 ELSE 0.0 END) \
    FILTER (WHERE metric = 'hallucination' AND scenario = 'rag_grounded'), \
    avg(value) FILTER (WHERE metric = 'toxicity' AND scenario = 'toxic') - \
    avg(value) FILTER (WHERE metric = 'toxicity' AND scenario = 'chat'), \
    CAST(count(*) FILTER (WHERE metric = 'pii_leakage/credit_card' AND scenario = 'pii_leak' AND value > 0) AS DOUBLE), \
    CAST(count(*) FILTER (WHERE metric = 'sensitive_data_leakage' AND scenario = 'pii_leak' AND passed = false) AS DOUBLE), \
    avg(value) FILTER (WHERE metric = 'groundedness' AND scenario = 'rag_grounded') - \
    avg(value) FILTER (WHERE metric = 'groundedness' AND scenario = 'rag_contradiction') \
    FROM scores_latest JOIN scenario USING (trace_id) WHERE status = 'ok'";

fn scenarios(known: &[Scenario]) -> String {
    let rows: Vec<String> =
        known.iter().map(|k| format!("('{}', '{}')", k.trace_id, k.scenario.replace('\'', ""))).collect();
    rows.join(", ")
}

async fn show(sql: &Sql, title: &str, query: &str) -> Result<(), String> {
    let (schema, batches) = sql.collect(query).await.map_err(|e| format!("{title}: {e}"))?;
    let table = encode(Format::Table, &schema, &batches, usize::MAX).map_err(|e| e.to_string())?;
    say(format_args!("\n{title}\n{}", String::from_utf8_lossy(&table).trim_end()));
    Ok(())
}

async fn leaks(sql: &Sql) -> Result<(), String> {
    let (_, batches) = sql.collect(LEAKED).await.map_err(|e| format!("what leaked: {e}"))?;
    say("\nWhat leaked (values are masked before they are stored)");
    for batch in &batches {
        for row in 0..batch.num_rows() {
            let traces = batch.column(2).as_primitive_opt::<Int64Type>().map_or(0, |c| c.value(row));
            say(format_args!(
                "  {} ({}), {traces} traces, such as",
                text(batch, 0, row),
                text(batch, 1, row)
            ));
            say(format_args!("    {}", one_line(&text(batch, 3, row))));
        }
    }
    Ok(())
}

/// The text of a cell; a dash for NULL.
fn text(batch: &RecordBatch, column: usize, row: usize) -> String {
    let column = batch.column(column).as_string_opt::<i32>();
    column.filter(|c| !c.is_null(row)).map_or_else(|| "-".to_owned(), |c| c.value(row).to_owned())
}

/// A longer text is cut.
const LINE_CHARS: usize = 330;

/// On one line; of a long text the end, where a prompt asks its question.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let length = line.chars().count();
    if length <= LINE_CHARS {
        return line;
    }
    let end: String = line.chars().skip(length - LINE_CHARS).collect();
    format!("… {end}")
}

/// On one line; of a long text the start, where a rationale says its verdict.
fn start_of(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LINE_CHARS) {
        Some((cut, _)) => format!("{} …", &line[..cut]),
        None => line,
    }
}

async fn worst(sql: &Sql) -> Result<(), String> {
    let (_, batches) = sql.collect(WORST).await.map_err(|e| e.to_string())?;
    let batch = batches.iter().find(|b| b.num_rows() > 0).ok_or("no trace was scored for hallucination")?;
    let rationale = start_of(&text(batch, 3, 0));
    let text = |at: usize| one_line(&text(batch, at, 0));
    let value = batch.column(2).as_primitive_opt::<Float64Type>().map_or(f64::NAN, |c| c.value(0));
    say(format_args!(
        "\nThe worst hallucination (consistency {value:.3}), service {}, model {}",
        text(0),
        text(1)
    ));
    say(format_args!("  question:  {}\n  answer:    {}\n  rationale: {rationale}", text(4), text(5)));
    Ok(())
}

/// The answer that its documents contradict most, among those whose documents came as such and not inside of a prompt.
const WORST_PLACE: &str = "SELECT trace_id, span_id FROM scores_latest WHERE metric = 'hallucination' \
    AND status = 'ok' AND rationale NOT LIKE '%(prompt)%' ORDER BY value, trace_id LIMIT 1";

/// The console's page of the worst answer, which marks its false sentence and the evidence; none if nothing was scored.
pub async fn worst_place(sql: &Sql) -> Result<Option<String>, String> {
    let (_, batches) = sql.collect(WORST_PLACE).await.map_err(|e| e.to_string())?;
    let found = batches.iter().find(|batch| batch.num_rows() > 0);
    Ok(found.map(|b| format!("/trace/{}#span={}&view=conversation", text(b, 0, 0), text(b, 1, 0))))
}

async fn check(sql: &Sql, query: &str) -> Result<(), String> {
    let (_, batches) = sql.collect(query).await.map_err(|e| e.to_string())?;
    let batch = batches.iter().find(|b| b.num_rows() > 0).ok_or("no scores")?;
    // What must hold, and the least that the figure may be.
    let checks = [
        (0, 1.0, "every contradicting answer is caught, by its false sentence"),
        (1, 1.0, "every grounded answer passes"),
        (5, f64::MIN_POSITIVE, "the contradicting answers are less grounded than the grounded ones"),
        (2, 0.5, "the toxic answers are more toxic than the plain ones"),
        (3, 1.0, "the leaked card was found"),
        (4, 1.0, "the leaked keys were found"),
    ];
    say("");
    for (column, least, what) in checks {
        let value = number(batch, column).unwrap_or(f64::NAN);
        if value.is_nan() || value < least {
            return Err(format!("it should hold that {what}, but the figure is {value}"));
        }
        say(format_args!("holds: {what} ({value:.3})"));
    }
    Ok(())
}

fn number(batch: &RecordBatch, column: usize) -> Option<f64> {
    let column = batch.column(column).as_primitive_opt::<Float64Type>()?;
    (!column.is_null(0)).then(|| column.value(0))
}
