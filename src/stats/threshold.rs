//! The threshold of a score that labelled items ask for, and what it would have done on items that did not choose it.
//!
//! Precision and recall are those of the fault: the share of flagged items that are faulty, and the share of faulty items
//! that are flagged. A threshold chosen on the items that measure it looks better than it is, so [`crossed`] chooses on
//! four fifths and counts on the fifth that was left out, five times (cross-validation, Stone 1974).

use super::seeded::Seeded;

/// Parts that the items are cut into by [`crossed`].
const FOLDS: u64 = 5;

/// An item with its label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Labelled {
    /// Rises with the suspicion of a fault. Must be finite.
    pub suspicion: f64,
    /// Whether a person found a fault.
    pub is_fault: bool,
}

/// What a threshold should reach on the labelled items.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// At least this share of what is flagged is faulty; then as many faults as possible.
    Precision(f64),
    /// At least this share of the faults is flagged; then as few others as possible.
    Recall(f64),
}

/// Items by what a person and a threshold said of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Faulty and flagged.
    pub caught: u64,
    /// Faulty and passed.
    pub missed: u64,
    /// Sound and flagged.
    pub false_alarms: u64,
    /// Sound and passed.
    pub passed: u64,
}

impl Counts {
    /// What flagging from `cut` upwards does on `items`.
    pub fn of(items: &[Labelled], cut: f64) -> Self {
        let mut counts = Self::default();
        items.iter().for_each(|item| counts.add(item.is_fault, item.suspicion >= cut));
        counts
    }

    /// Counts one item.
    pub fn add(&mut self, is_fault: bool, is_flagged: bool) {
        *match (is_fault, is_flagged) {
            (true, true) => &mut self.caught,
            (true, false) => &mut self.missed,
            (false, true) => &mut self.false_alarms,
            (false, false) => &mut self.passed,
        } += 1;
    }

    /// Faulty items among the flagged ones: (count, of how many).
    pub fn precision(&self) -> (u64, u64) {
        (self.caught, self.caught + self.false_alarms)
    }

    /// Flagged items among the faulty ones: (count, of how many).
    pub fn recall(&self) -> (u64, u64) {
        (self.caught, self.caught + self.missed)
    }

    /// Flagged items among the sound ones: (count, of how many).
    pub fn false_alarm_rate(&self) -> (u64, u64) {
        (self.false_alarms, self.false_alarms + self.passed)
    }

    /// Items in all.
    pub fn total(&self) -> u64 {
        self.caught + self.missed + self.false_alarms + self.passed
    }

    fn plus(self, other: Self) -> Self {
        Self {
            caught: self.caught + other.caught,
            missed: self.missed + other.missed,
            false_alarms: self.false_alarms + other.false_alarms,
            passed: self.passed + other.passed,
        }
    }
}

/// The suspicion from which items are flagged so that the goal is met on `items`: halfway between two neighbours, so
/// that it parts some items from others. `None` where no such place meets the goal.
pub fn choose(items: &[Labelled], goal: Goal) -> Option<f64> {
    let mut sorted: Vec<Labelled> = items.to_vec();
    sorted.sort_by(|a, b| b.suspicion.total_cmp(&a.suspicion));
    let faults = sorted.iter().filter(|item| item.is_fault).count() as f64;
    let (mut caught, mut best) = (0.0, None::<(f64, f64)>);
    for (at, pair) in sorted.windows(2).enumerate() {
        caught += f64::from(u8::from(pair[0].is_fault));
        if pair[0].suspicion <= pair[1].suspicion || caught == 0.0 {
            continue;
        }
        let (precision, recall) = (caught / (at + 1) as f64, caught / faults);
        let (is_met, worth) = match goal {
            Goal::Precision(least) => (precision >= least, recall),
            Goal::Recall(least) => (recall >= least, precision),
        };
        if is_met && best.is_none_or(|(most, _)| worth > most) {
            best = Some((worth, f64::midpoint(pair[0].suspicion, pair[1].suspicion)));
        }
    }
    best.map(|(_, cut)| cut)
}

/// What thresholds did that were chosen for `goal` on the other four fifths of the items. Items of a fifth whose
/// others met the goal nowhere are left out; the same `seed` cuts the same parts.
pub fn crossed(items: &[Labelled], goal: Goal, seed: u64) -> Counts {
    let mut random = Seeded::new(seed);
    let folds: Vec<u64> = items.iter().map(|_| random.bits() % FOLDS).collect();
    let part = |fold: u64, inside: bool| -> Vec<Labelled> {
        items.iter().zip(&folds).filter(|(_, at)| (**at == fold) == inside).map(|(item, _)| *item).collect()
    };
    let of_fold = |fold| {
        choose(&part(fold, false), goal).map(|cut| Counts::of(&part(fold, true), cut)).unwrap_or_default()
    };
    (0..FOLDS).map(of_fold).fold(Counts::default(), Counts::plus)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(pairs: &[(f64, bool)]) -> Vec<Labelled> {
        pairs
            .iter()
            .map(|(suspicion, is_fault)| Labelled { suspicion: *suspicion, is_fault: *is_fault })
            .collect()
    }

    fn ladder() -> Vec<Labelled> {
        items(&[(0.9, true), (0.8, true), (0.7, false), (0.6, true), (0.5, true), (0.4, false), (0.1, false)])
    }

    #[test]
    fn precision_takes_the_most_faults_that_it_allows() {
        // Above 0.75: 2 of 2; above 0.45: 4 of 5 faults flagged at precision 0.8.
        assert!((choose(&ladder(), Goal::Precision(0.9)).unwrap() - 0.75).abs() < 1e-12);
        let cut = choose(&ladder(), Goal::Precision(0.8)).unwrap();
        assert!((cut - 0.45).abs() < 1e-12, "{cut}");
        assert_eq!(Counts::of(&ladder(), cut), Counts { caught: 4, missed: 0, false_alarms: 1, passed: 2 });
    }

    #[test]
    fn recall_takes_the_fewest_false_alarms_that_it_allows() {
        assert!((choose(&ladder(), Goal::Recall(0.5)).unwrap() - 0.75).abs() < 1e-12);
        assert!((choose(&ladder(), Goal::Recall(1.0)).unwrap() - 0.45).abs() < 1e-12);
    }

    #[test]
    fn a_goal_that_nothing_meets_has_no_threshold() {
        let upside_down = items(&[(0.9, false), (0.5, true), (0.1, false)]);
        assert_eq!(choose(&upside_down, Goal::Precision(0.6)), None);
        assert_eq!(
            choose(&items(&[(0.5, true), (0.5, false)]), Goal::Recall(0.5)),
            None,
            "ties part nothing"
        );
        assert_eq!(choose(&[], Goal::Recall(0.5)), None);
    }

    #[test]
    fn what_is_crossed_is_no_better_than_chance_where_scores_say_nothing() {
        let mut random = Seeded::new(3);
        let noise: Vec<Labelled> = (0..2_000)
            .map(|_| Labelled { suspicion: random.unit(), is_fault: random.unit() < 0.3 })
            .collect();
        let counts = crossed(&noise, Goal::Recall(0.5), 7);
        assert_eq!(counts.total(), 2_000);
        let (caught, flagged) = counts.precision();
        let precision = caught as f64 / flagged as f64;
        assert!((precision - 0.3).abs() < 0.05, "{precision}");
    }
}
