//! Which rows go because of their age, or because there are too many of them.
//!
//! What counts is when a row was committed to a file, as the server's clock said. A merged file is as old as its newest
//! row, so a row may stay longer than its age, by a quarter at most, and never goes before it. Whole files go when
//! all their rows do; a file is written again without a tenant only when all rows of that tenant in it have expired.

use super::super::config::{Retention, RetentionRule, has_tenant};
use crate::schema::columns::Table;
use crate::units::millis;
use object_store::path::Path;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A file and whose rows it has.
#[derive(Debug, Clone)]
pub struct Held {
    /// Its table.
    pub table: Table,
    /// Its path in the table.
    pub path: Path,
    /// Its size in bytes.
    pub bytes: u64,
    /// How many rows it has.
    pub rows: u64,
    /// When its newest row was committed, milliseconds since 1970.
    pub arrived: i64,
    /// How many rows of each tenant it has; empty if the table has no tenants or nobody asked.
    pub tenants: Vec<(String, u64)>,
}

/// What is to be done with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// All its rows go.
    Drop,
    /// The rows of these tenants go, others stay.
    Without(BTreeSet<String>),
}

/// The rows of a file that stay or go together.
struct Share<'a> {
    file: usize,
    held: &'a Held,
    tenant: Option<&'a str>,
    bytes: u64,
    gone: bool,
}

impl Retention {
    /// Whether some rows are not kept for ever.
    pub fn is_set(&self) -> bool {
        let limits =
            |rule: &RetentionRule| !rule.max_size.is_zero() || rule.max_age.is_some_and(|age| !age.is_zero());
        !self.max_age.is_zero() || !self.max_size.is_zero() || self.rules.iter().any(limits)
    }

    /// Whether the tenants of a table's rows matter.
    pub fn names_tenants(&self, table: Table) -> bool {
        self.rules.iter().any(|rule| !rule.tenant.is_empty() && applies(rule, table))
    }

    /// The shortest time for which some rows of `table` are kept; none if all are kept for ever.
    pub fn shortest_age(&self, table: Table) -> Option<Duration> {
        let whose =
            |rule: &&RetentionRule| applies(rule, table) && (rule.tenant.is_empty() || has_tenant(table));
        let ages = self.rules.iter().filter(whose).filter_map(|rule| rule.max_age);
        ages.chain([self.age_of(table)]).filter(|age| !age.is_zero()).min()
    }

    /// How long rows of `table` are kept where no rule says it.
    fn age_of(&self, table: Table) -> Duration {
        if table.is_kept() || table.has_labels() { Duration::ZERO } else { self.max_age }
    }

    /// How long rows are kept; zero for ever.
    fn age(&self, table: Table, tenant: Option<&str>) -> Duration {
        let covering = self.rules.iter().filter(|rule| rule.max_age.is_some() && covers(rule, table, tenant));
        let best = covering.max_by_key(|rule| (!rule.tenant.is_empty(), !rule.table.is_empty()));
        best.and_then(|rule| rule.max_age).unwrap_or_else(|| self.age_of(table))
    }
}

/// Rows that people made go only by a rule that names their table; of labels also by one that names their tenant.
fn applies(rule: &RetentionRule, table: Table) -> bool {
    let takes_all = !table.is_kept() && (!table.has_labels() || !rule.tenant.is_empty());
    rule.table == table.name() || (rule.table.is_empty() && takes_all)
}

fn covers(rule: &RetentionRule, table: Table, tenant: Option<&str>) -> bool {
    applies(rule, table) && (rule.tenant.is_empty() || tenant == Some(rule.tenant.as_str()))
}

/// What goes at `now` (milliseconds since 1970): indices into `files`, each once. Files that are not named stay.
pub fn plan(files: &[Held], retention: &Retention, now: i64) -> BTreeMap<usize, Verdict> {
    let mut shares: Vec<Share> =
        files.iter().enumerate().flat_map(|(at, held)| shares_of(at, held, retention)).collect();
    for share in &mut shares {
        let age = millis(retention.age(share.held.table, share.tenant));
        share.gone = age > 0 && now.saturating_sub(share.held.arrived) > age;
    }
    // Oldest first; of files of one moment the path decides.
    shares.sort_by(|a, b| (a.held.arrived, &a.held.path).cmp(&(b.held.arrived, &b.held.path)));
    let everything = RetentionRule { max_size: retention.max_size, ..RetentionRule::default() };
    for rule in retention.rules.iter().chain([&everything]).filter(|rule| !rule.max_size.is_zero()) {
        shrink(&mut shares, rule);
    }
    verdicts(&shares)
}

fn shares_of<'a>(file: usize, held: &'a Held, retention: &Retention) -> Vec<Share<'a>> {
    if held.tenants.is_empty() || !retention.names_tenants(held.table) {
        return vec![Share { file, held, tenant: None, bytes: held.bytes, gone: false }];
    }
    let all: u64 = held.tenants.iter().map(|(_, rows)| rows).sum();
    let part = |rows: u64| {
        // Nobody counts the bytes of a tenant in a file; its share of the rows stands for them.
        let bytes = u128::from(held.bytes) * u128::from(rows) / u128::from(all.max(1));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    };
    let share = |(tenant, rows): &'a (String, u64)| Share {
        file,
        held,
        tenant: Some(tenant),
        bytes: part(*rows),
        gone: false,
    };
    held.tenants.iter().map(share).collect()
}

/// Lets the oldest rows that `rule` covers go until the rest is small enough.
fn shrink(shares: &mut [Share], rule: &RetentionRule) {
    let covered = |share: &&mut Share| !share.gone && covers(rule, share.held.table, share.tenant);
    let mut bytes: u64 = shares.iter_mut().filter(covered).map(|share| share.bytes).sum();
    for share in shares.iter_mut().filter(covered) {
        if bytes <= rule.max_size.bytes() {
            break;
        }
        share.gone = true;
        bytes -= share.bytes;
    }
}

fn verdicts(shares: &[Share]) -> BTreeMap<usize, Verdict> {
    let mut by_file: BTreeMap<usize, (BTreeSet<String>, bool)> = BTreeMap::new();
    for share in shares {
        let (gone, some_stay) = by_file.entry(share.file).or_default();
        match share.gone {
            true => gone.extend(Some(share.tenant.unwrap_or_default().to_owned())),
            false => *some_stay = true,
        }
    }
    let verdict =
        |(file, (gone, some_stay)): (usize, (BTreeSet<String>, bool))| match (gone.is_empty(), some_stay) {
            (true, _) => None,
            (false, false) => Some((file, Verdict::Drop)),
            (false, true) => Some((file, Verdict::Without(gone))),
        };
    by_file.into_iter().filter_map(verdict).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::ByteSize;

    const HOUR: i64 = 3_600_000;

    fn held(table: Table, arrived: i64, bytes: u64, tenants: &[(&str, u64)]) -> Held {
        Held {
            table,
            path: format!("{arrived:015}.parquet").into(),
            bytes,
            rows: 100,
            arrived,
            tenants: tenants.iter().map(|(name, rows)| ((*name).to_owned(), *rows)).collect(),
        }
    }

    fn rule(table: &str, tenant: &str, max_age: Option<u64>, max_size: u64) -> RetentionRule {
        let (max_age, max_size) = (max_age.map(Duration::from_secs), ByteSize::new(max_size));
        RetentionRule { table: table.to_owned(), tenant: tenant.to_owned(), max_age, max_size }
    }

    fn without(tenants: &[&str]) -> Verdict {
        Verdict::Without(tenants.iter().map(|t| (*t).to_owned()).collect())
    }

    #[test]
    fn labels_go_only_by_their_table_or_their_tenant() {
        let day = |rules: Vec<RetentionRule>| Retention {
            max_age: Duration::from_secs(60),
            max_size: ByteSize::new(1),
            rules,
        };
        for table in [Table::Annotations, Table::ReviewItems, Table::ReviewAnswers] {
            assert_eq!(day(Vec::new()).age(table, Some("a")), Duration::ZERO, "{}", table.name());
            assert!(!applies(&RetentionRule::default(), table));
            let named = day(vec![rule(table.name(), "", Some(5), 0), rule("", "trial", Some(3), 0)]);
            assert_eq!(named.age(table, Some("a")), Duration::from_secs(5));
            assert_eq!(named.age(table, Some("trial")), Duration::from_secs(3));
        }
        assert_eq!(day(Vec::new()).age(Table::Scores, Some("a")), Duration::from_secs(60));
        assert!(applies(&RetentionRule::default(), Table::Scores));
    }

    #[test]
    fn without_limits_everything_stays() {
        let files = [held(Table::Spans, 0, 1 << 40, &[])];
        assert!(plan(&files, &Retention::default(), i64::MAX).is_empty());
        assert!(!Retention::default().is_set());
    }

    #[test]
    fn files_go_by_age_and_a_table_may_have_its_own() {
        let files: Vec<_> = (0..4)
            .flat_map(|n| [held(Table::Spans, n * HOUR, 1, &[]), held(Table::Scores, n * HOUR, 1, &[])])
            .collect();
        let mut retention = Retention { max_age: Duration::from_hours(2), ..Retention::default() };
        let gone = plan(&files, &retention, 3 * HOUR + 1);
        let drop = |at| (at, Verdict::Drop);
        assert_eq!(gone.into_iter().collect::<Vec<_>>(), [drop(0), drop(1), drop(2), drop(3)]);
        retention.rules = vec![rule("scores", "", Some(0), 0), rule("spans", "", Some(3_600), 0)];
        let gone = plan(&files, &retention, 3 * HOUR + 1);
        assert_eq!(gone.into_keys().collect::<Vec<_>>(), [0, 2, 4]);
    }

    #[test]
    fn work_of_people_goes_only_by_a_rule_that_names_its_table() {
        let files = [held(Table::Datasets, 0, 1_000, &[("a", 100)]), held(Table::Spans, 0, 1, &[("a", 100)])];
        let mut retention = Retention {
            max_age: Duration::from_hours(1),
            max_size: ByteSize::new(10),
            rules: vec![rule("", "a", Some(1), 0)],
        };
        assert_eq!(plan(&files, &retention, 9 * HOUR).into_keys().collect::<Vec<_>>(), [1]);
        assert_eq!(retention.shortest_age(Table::Runs), None);
        retention.rules = vec![rule("datasets", "", Some(3_600), 0)];
        assert_eq!(plan(&files, &retention, 9 * HOUR).into_keys().collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn a_shared_file_is_written_again_without_the_tenant_that_expired() {
        let both: &[(&str, u64)] = &[("a", 50), ("b", 50)];
        let files = [
            held(Table::Spans, 0, 100, both),
            held(Table::Spans, 1, 100, &[("b", 100)]),
            held(Table::Spans, 2, 100, &[("a", 100)]),
            held(Table::Decisions, 2, 100, &[]),
        ];
        let retention = Retention {
            max_age: Duration::from_hours(2),
            rules: vec![rule("", "b", Some(3_600), 0)],
            ..Retention::default()
        };
        let gone = plan(&files, &retention, HOUR + 10);
        assert_eq!(gone.into_iter().collect::<Vec<_>>(), [(0, without(&["b"])), (1, Verdict::Drop)]);
        // And a tenant may be kept longer than the others.
        let retention = Retention {
            max_age: Duration::from_hours(1),
            rules: vec![rule("", "b", Some(7_200), 0)],
            ..Retention::default()
        };
        let gone = plan(&files, &retention, HOUR + 10);
        assert_eq!(
            gone.into_iter().collect::<Vec<_>>(),
            [(0, without(&["a"])), (2, Verdict::Drop), (3, Verdict::Drop)]
        );
    }

    #[test]
    fn the_rule_that_names_the_tenant_wins_over_the_one_that_names_the_table() {
        let rules = vec![
            rule("spans", "", Some(1), 0),
            rule("", "a", Some(2), 0),
            rule("spans", "b", Some(3), 0),
            rule("", "b", Some(4), 0),
            rule("", "c", None, 9),
        ];
        let retention = Retention { max_age: Duration::from_secs(5), rules, ..Retention::default() };
        let age = |table, tenant| retention.age(table, Some(tenant)).as_secs();
        assert_eq!([age(Table::Spans, "a"), age(Table::Spans, "b"), age(Table::Scores, "b")], [2, 3, 4]);
        assert_eq!([age(Table::Spans, "c"), age(Table::Scores, "c")], [1, 5]);
    }

    #[test]
    fn the_oldest_go_until_the_rest_is_small_enough() {
        let files: Vec<_> = (0..10)
            .map(|n| held(if n % 2 == 0 { Table::Spans } else { Table::Scores }, 9 - n, 100, &[]))
            .collect();
        let retention = Retention { max_size: ByteSize::new(650), ..Retention::default() };
        let gone = plan(&files, &retention, 0);
        assert_eq!(gone.into_keys().collect::<Vec<_>>(), [6, 7, 8, 9]);
        let retention = Retention { rules: vec![rule("spans", "", None, 200)], ..Retention::default() };
        let gone = plan(&files, &retention, 0);
        assert_eq!(gone.into_keys().collect::<Vec<_>>(), [4, 6, 8]);
        // What went by age does not count.
        let retention = Retention {
            max_age: Duration::from_secs(1),
            max_size: ByteSize::new(500),
            ..Retention::default()
        };
        assert_eq!(plan(&files, &retention, 1_004).len(), 5);
    }

    #[test]
    fn a_tenants_bytes_are_its_share_of_the_rows() {
        let both: &[(&str, u64)] = &[("a", 90), ("b", 10)];
        let files: Vec<_> = (0..4).map(|n| held(Table::Spans, n, 1_000, both)).collect();
        let retention = Retention { rules: vec![rule("", "a", None, 1_800)], ..Retention::default() };
        let gone = plan(&files, &retention, 0);
        assert_eq!(gone.into_iter().collect::<Vec<_>>(), [(0, without(&["a"])), (1, without(&["a"]))]);
        let retention = Retention { rules: vec![rule("", "b", None, 400)], ..Retention::default() };
        assert!(plan(&files, &retention, 0).is_empty());
    }
}
