//! The calls of tools in an answer against those that are wanted: names, order and arguments.

use super::calls;
use super::reply::Reply;
use serde_json::Value as Json;

/// How calls must come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// These and no others, in this order.
    Exact,
    /// These in this order; others may come between.
    Same,
    /// These in any order; others may come, too.
    Any,
    /// No others than these; some may be missing.
    Subset,
}

/// A call that is wanted.
struct Wanted {
    name: String,
    arguments: Option<Json>,
    /// Whether no further arguments may be given.
    is_exact: bool,
}

impl Wanted {
    /// A name, or `{"name", "args", "mode"}` as JSON.
    fn read(item: &str) -> Result<Self, String> {
        let plain = || Self { name: item.to_owned(), arguments: None, is_exact: false };
        if !item.starts_with('{') {
            return Ok(plain());
        }
        let json: Json = serde_json::from_str(item).map_err(|e| format!("{item} is no call: {e}"))?;
        let name = json["name"].as_str().ok_or_else(|| format!("the call {item} has no name"))?;
        let is_exact = match json.get("mode").and_then(Json::as_str) {
            None | Some("partial") => false,
            Some("exact") => true,
            Some(other) => return Err(format!("mode is {other:?}; it may be partial or exact")),
        };
        let arguments = ["args", "arguments"].iter().find_map(|key| json.get(*key)).cloned();
        Ok(Self { name: name.to_owned(), arguments, is_exact })
    }

    fn is_met(&self, call: &Json) -> bool {
        let is_given = |wanted: &Json| {
            let given = arguments(call);
            if self.is_exact { given == *wanted } else { is_part(wanted, &given) }
        };
        calls::name(call) == Some(self.name.as_str()) && self.arguments.as_ref().is_none_or(is_given)
    }

    fn told(&self) -> String {
        let with = self.arguments.as_ref().map(|arguments| format!(" with {arguments}")).unwrap_or_default();
        format!("{}{with}", self.name)
    }
}

/// What a call was given: JSON text of a chat completion, or an object.
fn arguments(call: &Json) -> Json {
    let given = [&call["function"]["arguments"], &call["arguments"], &call["args"], &call["input"]];
    match given.into_iter().find(|given| !given.is_null()) {
        Some(Json::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| text.clone().into()),
        Some(json) => json.clone(),
        None => Json::Object(serde_json::Map::new()),
    }
}

/// Whether all that `wanted` says is in `given`, which may say more.
fn is_part(wanted: &Json, given: &Json) -> bool {
    match (wanted, given) {
        (Json::Object(wanted), Json::Object(given)) => {
            wanted.iter().all(|(key, value)| given.get(key).is_some_and(|given| is_part(value, given)))
        }
        (wanted, given) => wanted == given,
    }
}

/// # Errors
/// What of the wanted calls cannot be read.
pub(super) fn readable(wanted: &[String]) -> Result<(), String> {
    wanted.iter().try_for_each(|item| Wanted::read(item).map(drop))
}

/// How the calls of an answer differ from what is wanted; none where they do not.
///
/// # Errors
/// When the target tells no calls.
pub(super) fn fault(
    order: Order,
    text: &str,
    reply: &Reply,
    wanted: &[String],
) -> Result<Option<String>, String> {
    let calls = calls::of(text, reply)?;
    let wanted: Vec<Wanted> = wanted.iter().map(|item| Wanted::read(item)).collect::<Result<_, _>>()?;
    let names: Vec<&str> = calls.iter().map(|call| calls::name(call).unwrap_or("?")).collect();
    let called =
        format!("called were {}", if names.is_empty() { "none".to_owned() } else { names.join(", ") });
    let why = match order {
        Order::Exact if calls.len() != wanted.len() => Some(format!("{} calls are wanted", wanted.len())),
        Order::Exact => {
            let mut pairs = wanted.iter().zip(&calls).enumerate();
            let other = pairs.find(|(_, (wanted, call))| !wanted.is_met(call));
            other.map(|(at, (wanted, _))| format!("call {} is not {}", at + 1, wanted.told()))
        }
        Order::Same => {
            let mut rest = calls.iter();
            let missing = wanted.iter().find(|wanted| !rest.any(|call| wanted.is_met(call)));
            missing.map(|wanted| format!("{} does not come in its order", wanted.told()))
        }
        Order::Any => missing(&wanted, &calls),
        Order::Subset => {
            let other = calls.iter().position(|call| !wanted.iter().any(|wanted| wanted.is_met(call)));
            other.map(|at| format!("call {} is none of those that may be", at + 1))
        }
    };
    Ok(why.map(|why| format!("{why}; {called}")))
}

/// The first wanted call that has no call of its own. Those that say most choose first.
fn missing(wanted: &[Wanted], calls: &[Json]) -> Option<String> {
    let mut order: Vec<&Wanted> = wanted.iter().collect();
    order.sort_by_key(|wanted| std::cmp::Reverse((wanted.arguments.is_some(), wanted.is_exact)));
    let mut taken = vec![false; calls.len()];
    for wanted in order {
        let free = (0..calls.len()).find(|at| !taken[*at] && wanted.is_met(&calls[*at]));
        match free {
            Some(at) => taken[at] = true,
            None => return Some(format!("{} is missing", wanted.told())),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn holds(order: Order, called: Json, wanted: Json) -> bool {
        let wanted: Vec<String> =
            wanted.as_array().unwrap().iter().map(crate::lab::template::plain).collect();
        let told = fault(order, &called.to_string(), &Reply::default(), &wanted).unwrap();
        assert!(told.as_ref().is_none_or(|why| why.contains("called were ")), "{told:?}");
        told.is_none()
    }

    #[test]
    fn calls_come_in_the_order_that_is_wanted() {
        let called = json!(["search", "read", "search", "book"]);
        for (order, wanted, verdict) in [
            (Order::Exact, json!(["search", "read", "search", "book"]), true),
            (Order::Exact, json!(["search", "search", "read", "book"]), false),
            (Order::Exact, json!(["search", "read", "search"]), false),
            (Order::Same, json!(["search", "book"]), true),
            (Order::Same, json!(["book", "search"]), false),
            (Order::Any, json!(["book", "search", "search"]), true),
            (Order::Any, json!(["book", "book"]), false),
            (Order::Subset, json!(["book", "read", "search", "pay"]), true),
            (Order::Subset, json!(["book", "search"]), false),
        ] {
            assert_eq!(holds(order, called.clone(), wanted.clone()), verdict, "{order:?} {wanted}");
        }
        assert!(holds(Order::Exact, json!([]), json!([])) && holds(Order::Subset, json!([]), json!(["a"])));
    }

    #[test]
    fn arguments_are_held_in_part_or_exactly() {
        let called = json!([
            {"type": "function", "function": {"name": "book", "arguments": "{\"to\": \"Rome\", \"who\": {\"n\": 2, \"child\": 1}}"}},
            {"name": "book", "args": {"to": "Oslo"}},
        ]);
        let of = |wanted: Json| holds(Order::Any, called.clone(), json!([wanted]));
        assert!(of(json!({"name": "book", "args": {"who": {"n": 2}}})));
        assert!(!of(json!({"name": "book", "args": {"to": "Paris"}})));
        assert!(!of(json!({"name": "book", "args": {"who": {"n": 2}}, "mode": "exact"})));
        assert!(of(json!({"name": "book", "arguments": {"to": "Oslo"}, "mode": "exact"})));
        // The name alone leaves the other call to the one that says more.
        assert!(holds(Order::Any, called.clone(), json!(["book", {"name": "book", "args": {"to": "Rome"}}])));
        assert!(holds(Order::Same, called, json!([{"name": "book", "args": {"to": "Rome"}}, "book"])));
        assert!(readable(&["{\"args\": {}}".to_owned()]).unwrap_err().contains("has no name"));
        assert!(readable(&["{\"name\": \"a\", \"mode\": \"x\"}".to_owned()]).is_err());
        assert!(fault(Order::Any, "no calls", &Reply::default(), &[]).is_err());
    }
}
