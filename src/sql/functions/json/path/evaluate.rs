//! Follows a path through a value, as PostgreSQL does: where the path is not strict, arrays are opened where a step needs
//! their elements, a value is an array of one where a step needs an array, and what is missing is not there.

use super::fault::{Fault, Steps, wrong};
use super::items::{Found, Item};
use super::methods;
use super::numbers::{calculated, compared, cut, negated};
use super::tree::{Method, Node, Operator, Path, Step, Test};
use serde_json::{Map, Number, Value};
use std::cell::Cell;

static NULL: Value = Value::Null;

/// What is asked of one value.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The path.
    pub path: &'a Path,
    /// The value.
    pub root: &'a Value,
    /// The values of `$name`.
    pub variables: Option<&'a Value>,
    /// The steps that are left.
    pub steps: &'a Steps,
    /// How many objects `.keyvalue()` has numbered.
    pub numbered: Cell<u64>,
}

/// Where an expression stands.
#[derive(Debug, Clone)]
struct Place<'a> {
    /// `@`
    current: Item<'a>,
    /// The length of the array whose subscript this is.
    length: Option<usize>,
    /// Whether what is missing is no fault.
    lenient: bool,
}

/// A condition may be unknown.
type Known = Result<Option<bool>, Fault>;

impl<'a> Asked<'a> {
    /// The values that the path has; with `silent` those before the first fault.
    ///
    /// # Errors
    /// For a value that is not as the path has it, unless `silent`; for a variable that there is not; for too many steps.
    pub fn items(&self, silent: bool) -> Result<Vec<Item<'a>>, Fault> {
        let mut found = Found::new(false);
        match self.node(&self.path.root, &self.start(), &mut found) {
            Err(Fault::Value(_)) if silent => {}
            other => other?,
        }
        Ok(found.items)
    }

    /// Whether the path has a value; with `silent` none where there is a fault.
    ///
    /// # Errors
    /// As [`Asked::items`].
    pub fn exists(&self, silent: bool) -> Known {
        match self.any(&self.path.root, &self.start()) {
            Err(Fault::Value(_)) if silent => Ok(None),
            other => other.map(Some),
        }
    }

    /// What the condition gives that the path is; none where that is unknown, and with `silent` where it is no condition.
    ///
    /// # Errors
    /// As [`Asked::items`], and for a path that is no condition.
    pub fn holds(&self, silent: bool) -> Known {
        let items = self.items(silent)?;
        match items.as_slice() {
            [only] if only.value().is_boolean() => Ok(only.value().as_bool()),
            [only] if only.value().is_null() => Ok(None),
            _ if silent => Ok(None),
            _ => wrong("single boolean result is expected of the jsonpath expression"),
        }
    }

    fn start(&self) -> Place<'a> {
        Place { current: Item::Part(self.root), length: None, lenient: self.is_lax() }
    }

    fn is_lax(&self) -> bool {
        !self.path.strict
    }

    /// Whether `node` has a value. A strict path is followed to its end, where a fault may be.
    fn any(&self, node: &'a Node, at: &Place<'a>) -> Result<bool, Fault> {
        let mut found = Found::new(self.is_lax());
        self.node(node, at, &mut found)?;
        Ok(!found.items.is_empty())
    }

    /// Adds the values of `node` to what was found.
    fn node(&self, node: &'a Node, at: &Place<'a>, found: &mut Found<'a>) -> Result<(), Fault> {
        self.steps.take(1)?;
        let item = match node {
            Node::Root => Item::Part(self.root),
            Node::Current => at.current.clone(),
            Node::Last => match at.length {
                Some(length) => Item::made(Value::from(length as i64 - 1)),
                None => return Err(Fault::Path("LAST of jsonpath stands outside of a subscript".to_owned())),
            },
            Node::Value(value) => Item::Part(value),
            Node::Variable(name) => match self.variables.and_then(|variables| variables.get(name)) {
                Some(value) => Item::Part(value),
                None => return Err(Fault::Path(format!("could not find jsonpath variable \"{name}\""))),
            },
            Node::Along(base, steps) => {
                let mut bases = Found::new(false);
                self.node(base, at, &mut bases)?;
                for base in bases.items {
                    self.follow(base, steps, self.is_lax(), at, found)?;
                }
                return Ok(());
            }
            Node::Sign(is_negative, inner) => return self.signed(*is_negative, inner, at, found),
            Node::Sum(operator, left, right) => {
                let left = self.operand("left", *operator, left, at)?;
                let right = self.operand("right", *operator, right, at)?;
                Item::made(Value::Number(calculated(*operator, &left, &right)?))
            }
            Node::Test(test) => {
                let known = self.test(test, at)?;
                Item::made(known.map_or(Value::Null, Value::Bool))
            }
        };
        found.items.push(item);
        Ok(())
    }

    fn signed(
        &self,
        is_negative: bool,
        inner: &'a Node,
        at: &Place<'a>,
        found: &mut Found<'a>,
    ) -> Result<(), Fault> {
        for item in self.opened(inner, at)? {
            let Value::Number(number) = item.value() else {
                let sign = if is_negative { '-' } else { '+' };
                return wrong(format!("operand of unary jsonpath operator {sign} is not a numeric value"));
            };
            let item = if is_negative { Item::made(Value::Number(negated(number)?)) } else { item.clone() };
            found.items.push(item);
        }
        Ok(())
    }

    fn operand(
        &self,
        side: &str,
        operator: Operator,
        node: &'a Node,
        at: &Place<'a>,
    ) -> Result<Number, Fault> {
        let items = self.opened(node, at)?;
        let number = match items.as_slice() {
            [only] => only.value().as_number().cloned(),
            _ => None,
        };
        number.ok_or_else(|| {
            let sign = operator.sign();
            Fault::Value(format!("{side} operand of jsonpath operator {sign} is not a single numeric value"))
        })
    }

    /// The values of `node`, and of arrays their elements.
    fn opened(&self, node: &'a Node, at: &Place<'a>) -> Result<Vec<Item<'a>>, Fault> {
        let mut found = Found::new(false);
        self.node(node, at, &mut found)?;
        if self.path.strict {
            return Ok(found.items);
        }
        let mut opened = Vec::with_capacity(found.items.len());
        for item in found.items {
            if item.value().is_array() {
                opened.extend(item.parts(self.steps)?);
            } else {
                opened.push(item);
            }
        }
        Ok(opened)
    }

    /// Adds what lies behind `steps`; with `opens` the first is taken by the elements of an array that it is not for.
    fn follow(
        &self,
        item: Item<'a>,
        steps: &'a [Step],
        opens: bool,
        at: &Place<'a>,
        found: &mut Found<'a>,
    ) -> Result<(), Fault> {
        self.steps.take(1)?;
        if found.is_enough() {
            return Ok(());
        }
        let Some((step, rest)) = steps.split_first() else {
            found.items.push(item);
            return Ok(());
        };
        let is_of_elements = match step {
            Step::AnyElement | Step::Elements(_) | Step::Deep(..) => false,
            Step::Method(method) => method.is_of_elements(),
            Step::Key(_) | Step::AnyKey | Step::Filter(_) => true,
        };
        if opens && is_of_elements && item.value().is_array() {
            for element in item.parts(self.steps)? {
                self.follow(element, steps, false, at, found)?;
            }
            return Ok(());
        }
        match step {
            Step::Key(key) => match item.behind(key, self.steps)? {
                Some(part) if item.value().is_object() => self.on(part, rest, at, found),
                _ if at.lenient => Ok(()),
                _ if item.value().is_object() => wrong(format!("JSON object does not contain key \"{key}\"")),
                _ => wrong("jsonpath member accessor can only be applied to an object"),
            },
            Step::AnyKey if item.value().is_object() => self.each(&item, rest, at, found),
            Step::AnyKey if at.lenient => Ok(()),
            Step::AnyKey => wrong("jsonpath wildcard member accessor can only be applied to an object"),
            Step::AnyElement if item.value().is_array() => self.each(&item, rest, at, found),
            Step::AnyElement if self.is_lax() => self.on(item, rest, at, found),
            Step::AnyElement if at.lenient => Ok(()),
            Step::AnyElement => wrong("jsonpath wildcard array accessor can only be applied to an array"),
            Step::Elements(places) => self.elements(&item, places, rest, at, found),
            Step::Deep(from, to) => {
                let at = Place { lenient: true, ..at.clone() };
                if *from == 0 {
                    self.on(item.clone(), rest, &at, found)?;
                }
                self.deep(&item, 1, (*from, *to), rest, &at, found)
            }
            Step::Filter(test) => {
                let inner = Place { current: item.clone(), ..at.clone() };
                match self.test(test, &inner)? {
                    Some(true) => self.on(item, rest, at, found),
                    _ => Ok(()),
                }
            }
            Step::Method(method) => self.method(*method, &item, rest, at, found),
        }
    }

    /// The next steps of one value.
    fn on(
        &self,
        item: Item<'a>,
        rest: &'a [Step],
        at: &Place<'a>,
        found: &mut Found<'a>,
    ) -> Result<(), Fault> {
        self.follow(item, rest, self.is_lax(), at, found)
    }

    /// The next steps of each part.
    fn each(
        &self,
        item: &Item<'a>,
        rest: &'a [Step],
        at: &Place<'a>,
        found: &mut Found<'a>,
    ) -> Result<(), Fault> {
        for part in item.parts(self.steps)? {
            if found.is_enough() {
                break;
            }
            self.on(part, rest, at, found)?;
        }
        Ok(())
    }

    fn elements(
        &self,
        item: &Item<'a>,
        places: &'a [(Node, Option<Node>)],
        rest: &'a [Step],
        at: &Place<'a>,
        found: &mut Found<'a>,
    ) -> Result<(), Fault> {
        let length = match item.value().as_array() {
            Some(array) => array.len(),
            None if self.is_lax() => 1,
            None if at.lenient => return Ok(()),
            None => return wrong("jsonpath array accessor can only be applied to an array"),
        };
        let inner = Place { length: Some(length), ..at.clone() };
        let last = length as i64 - 1;
        for (from, to) in places {
            let from = self.place(from, &inner)?;
            let to = to.as_ref().map_or(Ok(from), |to| self.place(to, &inner))?;
            if !at.lenient && (from < 0 || from > to || to > last) {
                return wrong("jsonpath array subscript is out of bounds");
            }
            for place in from.max(0)..=to.min(last) {
                if found.is_enough() {
                    return Ok(());
                }
                let element = match item.value().is_array() {
                    true => item.element(usize::try_from(place).unwrap_or(usize::MAX), self.steps)?,
                    false => Some(item.clone()),
                };
                if let Some(element) = element {
                    self.on(element, rest, at, found)?;
                }
            }
        }
        Ok(())
    }

    /// The place that a subscript names.
    fn place(&self, node: &'a Node, at: &Place<'a>) -> Result<i64, Fault> {
        let mut found = Found::new(false);
        self.node(node, at, &mut found)?;
        let number = match found.items.as_slice() {
            [only] => only.value().as_number().cloned(),
            _ => None,
        };
        let Some(number) = number else {
            return wrong("jsonpath array subscript is not a single numeric value");
        };
        match cut(&number).filter(|place| i32::try_from(*place).is_ok()) {
            Some(place) => Ok(place),
            None => wrong("jsonpath array subscript is out of integer range"),
        }
    }

    /// The next steps of every part from one level to another.
    fn deep(
        &self,
        item: &Item<'a>,
        level: u32,
        levels: (u32, u32),
        rest: &'a [Step],
        at: &Place<'a>,
        found: &mut Found<'a>,
    ) -> Result<(), Fault> {
        let (from, to) = levels;
        for part in item.parts(self.steps)? {
            if found.is_enough() {
                break;
            }
            // The last level is that of what has no parts.
            let is_last = from == u32::MAX && to == u32::MAX && !part.has_parts();
            if (level >= from && level <= to) || is_last {
                self.on(part.clone(), rest, at, found)?;
            }
            if level < to && part.has_parts() {
                self.deep(&part, level + 1, levels, rest, at, found)?;
            }
        }
        Ok(())
    }

    fn method(
        &self,
        method: Method,
        item: &Item<'a>,
        rest: &'a [Step],
        at: &Place<'a>,
        found: &mut Found<'a>,
    ) -> Result<(), Fault> {
        let value = item.value();
        if method == Method::Size && !value.is_array() && self.path.strict {
            if at.lenient {
                return Ok(());
            }
            return wrong("jsonpath item method .size() can only be applied to an array");
        }
        if let (Method::Keyvalue, Value::Object(object)) = (method, value) {
            let number = self.numbered.replace(self.numbered.get() + 1);
            for (key, value) in object {
                self.steps.read(key)?;
                self.steps.copy(value)?;
                let mut pair = Map::new();
                pair.insert("id".to_owned(), Value::from(number));
                pair.insert("key".to_owned(), Value::from(key.as_str()));
                pair.insert("value".to_owned(), value.clone());
                self.on(Item::made(Value::Object(pair)), rest, at, found)?;
            }
            return Ok(());
        }
        if let Value::String(text) = value {
            self.steps.read(text)?;
        }
        self.on(Item::made(methods::made(method, value)?), rest, at, found)
    }

    fn test(&self, test: &'a Test, at: &Place<'a>) -> Known {
        self.steps.take(1)?;
        match test {
            Test::And(left, right) => match self.test(left, at)? {
                Some(false) => Ok(Some(false)),
                left => Ok(match self.test(right, at)? {
                    Some(true) => left,
                    right => right,
                }),
            },
            Test::Or(left, right) => match self.test(left, at)? {
                Some(true) => Ok(Some(true)),
                left => Ok(match self.test(right, at)? {
                    Some(false) => left,
                    right => right,
                }),
            },
            Test::Not(inner) => Ok(self.test(inner, at)?.map(|known| !known)),
            Test::Unknown(inner) => Ok(Some(self.test(inner, at)?.is_none())),
            Test::Compare(comparison, left, right) => {
                self.of_pairs(left, Some((right, true)), at, |left, right| {
                    Ok(compared(*comparison, left, right))
                })
            }
            Test::StartsWith(text, start) => self.of_pairs(text, Some((start, false)), at, |text, start| {
                Ok(text.as_str().zip(start.as_str()).map(|(text, start)| text.starts_with(start)))
            }),
            Test::Like(text, pattern) => self.of_pairs(text, None, at, |text, _| {
                let Some(text) = text.as_str() else { return Ok(None) };
                self.steps.hold(text, pattern.weight())?;
                Ok(Some(pattern.is_in(text)))
            }),
            Test::Exists(node) => quietly(self.any(node, at)),
        }
    }

    /// Whether a pair of values holds. The right ones come with whether arrays among them are opened. A value that cannot
    /// be compared makes the answer unknown, unless a pair before it holds and the path is not strict.
    fn of_pairs(
        &self,
        left: &'a Node,
        right: Option<(&'a Node, bool)>,
        at: &Place<'a>,
        holds: impl Fn(&Value, &Value) -> Known,
    ) -> Known {
        let Some(lefts) = quietly(self.opened(left, at))? else { return Ok(None) };
        let rights = match right {
            Some((node, true)) => quietly(self.opened(node, at))?,
            Some((node, false)) => {
                let mut found = Found::new(false);
                quietly(self.node(node, at, &mut found))?.map(|()| found.items)
            }
            None => Some(vec![Item::Part(&NULL)]),
        };
        let Some(rights) = rights else { return Ok(None) };
        let (mut is_held, mut is_unknown) = (false, false);
        for left in &lefts {
            for right in &rights {
                self.steps.read(left.value().as_str().unwrap_or_default())?;
                match holds(left.value(), right.value())? {
                    None if self.path.strict => return Ok(None),
                    None => is_unknown = true,
                    Some(true) if self.is_lax() => return Ok(Some(true)),
                    Some(held) => is_held |= held,
                }
            }
        }
        Ok(if is_held { Some(true) } else { (!is_unknown).then_some(false) })
    }
}

/// A fault of the value is not known to conditions.
fn quietly<T>(found: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Fault::Value(_)) => Ok(None),
        Err(other) => Err(other),
    }
}
