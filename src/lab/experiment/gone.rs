//! Evaluators that an experiment asked, and that this server has no more: disabled since, or a plug-in that was taken out.

use crate::eval::{Registry, asks_others};
use std::collections::HashSet;

/// Those of `ids` that `registry` has not, in their order.
pub fn gone(registry: &Registry, ids: Vec<String>) -> Vec<String> {
    ids.into_iter().filter(|id| registry.select(std::slice::from_ref(id)).is_err()).collect()
}

/// Those of `ids` that ask somebody else, such as a judge. Of one that is gone its name tells: what it said still stands.
pub fn judges(registry: &Registry, ids: Vec<String>) -> HashSet<String> {
    let asks = |id: &String| match registry.select(std::slice::from_ref(id)) {
        Ok(found) => found.iter().any(|evaluator| evaluator.waits().is_some()),
        Err(_) => asks_others(id),
    };
    ids.into_iter().filter(asks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Config;

    #[test]
    fn an_evaluator_that_is_gone_takes_no_other_with_it() {
        let config = Config { disabled: vec!["rouge".to_owned()], ..Config::default() };
        let registry = Registry::new(&config, 1).unwrap();
        let ids = || ["bleu", "rouge", "plugin/tone", "safety"].map(str::to_owned).to_vec();
        assert_eq!(gone(&registry, ids()), ["rouge", "plugin/tone", "safety"]);
        let judges = judges(&registry, ids());
        assert_eq!(judges, HashSet::from(["plugin/tone".to_owned(), "safety".to_owned()]));
    }
}
