//! Only some tests, and only what went wrong.

use super::{run, tested};

/// It fails for want of luck when it is asked the first time, and answers the second item wrongly for ever.
const APP: &str = "while read -r item; do\n  echo x >> asked\n  n=$(wc -l < asked)\n  if [ $n -eq 1 ]; then echo '{\"error\": \"no luck\"}'\n  \
                   elif [ $n -eq 2 ]; then echo '{\"output\": \"no\"}'\n  else echo '{\"output\": \"ok\"}'; fi\ndone\n";

const SUITE: &str = "[suite]\nname = \"s\"\n[target]\nkind = \"command\"\ncommand = [\"sh\", \"app.sh\"]\n\
    [[check]]\noperator = \"equals_exactly\"\ncriteria = \"ok\"\n\
    [[test]]\nid = \"a\"\ninput = \"qa\"\ntags = [\"t\"]\n[[test]]\nid = \"b\"\ninput = \"qb\"\n[[test]]\nid = \"c\"\ninput = \"qc\"\n";

#[test]
fn what_has_no_answer_at_the_deadline_is_told_and_asked_again() {
    let silent = "exec cat > /dev/null\n";
    let first = tested(SUITE, &[("app.sh", silent)], &["--deadline", "200ms"]);
    assert_eq!(first.code, 3, "{}{}", first.out, first.err);
    assert!(first.err.contains("the deadline of 200ms passed: 3 of 3 runs have no answer"), "{}", first.err);
    let why = first.report()["runs"][2]["error"].to_string();
    assert!(why.contains("the deadline of 200ms passed before it was answered"), "{why}");
    std::fs::write(
        first.folder.path().join("app.sh"),
        silent.replace("exec cat > /dev/null", "while read -r item; do echo '{\"output\": \"ok\"}'; done"),
    )
    .unwrap();
    // The suite may say it itself; the command line wins.
    let own = SUITE.replacen("name = \"s\"", "name = \"s\"\ndeadline = \"200ms\"", 1);
    std::fs::write(first.folder.path().join("suite.toml"), own).unwrap();
    let second = run(first.folder, &["--retry", "errors", "--deadline", "10m"]);
    assert_eq!(second.code, 0, "{}{}", second.out, second.err);
    assert!(second.err.contains("3 runs are asked, 0 of report.json stay"), "{}", second.err);
    std::fs::write(second.folder.path().join("app.sh"), silent).unwrap();
    let third = run(second.folder, &[]);
    assert_eq!(third.code, 3, "{}{}", third.out, third.err);
    assert!(third.err.contains("the deadline of 200ms passed: 3 of 3 runs have no answer"), "{}", third.err);
}

#[test]
fn what_went_wrong_is_asked_again_and_the_rest_stays() {
    let first = tested(SUITE, &[("app.sh", APP)], &[]);
    assert_eq!(first.code, 3, "{}{}", first.out, first.err);
    let kept = first.report()["runs"][2].clone();

    let second = run(first.folder, &["--retry", "errors"]);
    assert_eq!(second.code, 0, "{}{}", second.out, second.err);
    assert!(second.err.contains("1 runs are asked, 2 of report.json stay"), "{}", second.err);
    let report = second.report();
    assert_eq!(report["runs"][2], kept);
    assert_eq!(
        (&report["runs"][0]["status"], &report["runs"][1]["status"]),
        (&"pass".into(), &"fail".into())
    );
    assert_eq!(second.file("asked").lines().count(), 4);

    let third = run(second.folder, &["--retry", "failed"]);
    assert_eq!(third.report()["summary"]["tests"]["pass"], 3, "{}", third.out);
    assert_eq!(third.file("asked").lines().count(), 5);

    // A test whose checks changed is another one.
    let text = third.file("suite.toml").replace("criteria = \"ok\"", "criteria = \"no\"");
    std::fs::write(third.folder.path().join("suite.toml"), text).unwrap();
    let fourth = run(third.folder, &["--retry", "errors"]);
    assert!(fourth.err.contains("3 runs are asked, 0 of report.json stay"), "{}", fourth.err);
}

#[test]
fn a_filter_leaves_tests_out() {
    let ended = tested(
        SUITE,
        &[("app.sh", "while read l; do echo '\"ok\"'; done\n")],
        &["--filter", "array_has(tags, 't')"],
    );
    assert_eq!((ended.code, ended.report()["runs"].as_array().unwrap().len()), (0, 1), "{}", ended.err);
    let none = tested(SUITE, &[("app.sh", "")], &["--filter", "colour = 'red'"]);
    assert!(none.code == 2 && none.err.contains("--filter"), "{}", none.err);
}
