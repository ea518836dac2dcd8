//! Files that are damaged or made to harm: each fault names file, line and item, and costs nothing else.

use super::tested;
use std::time::{Duration, Instant};

const SUITE: &str =
    "[suite]\nname = \"s\"\ndataset = \"cases.csv\"\n[[check]]\noperator = \"contains\"\ncriteria = \"a\"\n";

#[test]
fn a_damaged_file_is_told_by_line_and_the_rest_may_run() {
    let cases = "id,input,output\n1,q,a\n2,q,a,too many\n3,q,a\n";
    let ended = tested(SUITE, &[("cases.csv", cases)], &[]);
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("cases.csv:3: 4 cells"), "{}", ended.err);
    let ended = tested(SUITE, &[("cases.csv", cases)], &["--partial"]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(
        ended.err.contains("left out:") && ended.report()["summary"]["tests"]["pass"] == 2,
        "{}",
        ended.err
    );
    let nul = tested(SUITE, &[("cases.csv", "id,input\n1,q\0\n")], &[]);
    assert!(nul.code == 2 && nul.err.contains("cases.csv:2: input: it has a NUL"), "{}", nul.err);
    let parquet = tested(SUITE, &[("cases.csv", "PAR1xxxx")], &[]);
    assert!(parquet.code == 2 && parquet.err.contains("Parquet"), "{}", parquet.err);
}

#[test]
fn an_expression_that_never_ends_is_an_error_in_time() {
    let started = Instant::now();
    let suite = format!(
        "[suite]\nname = \"s\"\n[[test]]\ninput = \"q\"\noutput = \"{}\"\ncheck = [{{ operator = \"regex\", criteria = '^(?=(a+)+$)(a|a)*\\1b$' }}, {{ operator = \"contains\", criteria = \"a\" }}]\n",
        "a".repeat(5_000)
    );
    let ended = tested(&suite, &[], &[]);
    assert!(started.elapsed() < Duration::from_secs(300), "{:?}", started.elapsed());
    let (status, why) = ended.check(0, 0);
    assert!(
        status == "error" && why.contains("takes more than 1000000 steps on this text"),
        "{status}: {why}"
    );
    assert_eq!(ended.check(0, 1).0, "pass");
    // One test of one has an error: that is no failure of what was asked, and no number means anything.
    assert_eq!(ended.code, 3, "{}", ended.err);
    assert!(ended.out.contains("make it simpler"), "{}", ended.out);
}

#[test]
fn what_an_answer_holds_breaks_no_report() {
    let output = "</testcase>\\u0007 ]]> <script>alert(1)</script> | `x`";
    let suite = format!(
        "[suite]\nname = \"s\"\n[[test]]\ninput = \"q\"\noutput = \"{output}\"\ncheck = [{{ operator = \"equals_exactly\", criteria = \"\\u0001<b>\" }}]\n"
    );
    let ended = tested(&suite, &[], &[]);
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    let xml = ended.file("junit.xml");
    let mut reader = quick_xml::Reader::from_str(&xml);
    while !matches!(reader.read_event().unwrap(), quick_xml::events::Event::Eof) {}
    assert!(!xml.contains('\u{1}') && !xml.contains('\u{7}') && xml.contains("&lt;script"), "{xml}");
    assert!(!ended.file("report.md").contains("<script>"));
}
