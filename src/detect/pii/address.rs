//! E-mail addresses and addresses of sites.

use super::rule::Verdict;
use crate::detect::finding::{Finding, floor_boundary};
use crate::detect::text::{is_apart_before, is_apart_behind};
use aho_corasick::AhoCorasick;
use regex::Regex;
use std::sync::LazyLock;

/// The kinds of this file.
pub const KINDS: [&str; 2] = ["email", "url"];
/// What stands before the sign of an e-mail address is no longer, bytes.
const MAX_LOCAL: usize = 64 * 2;
/// What stands behind it is no longer, bytes.
const MAX_DOMAIN: usize = 256;
/// A site is named by its address, which is mostly public: below what is reported, so that only who asks for `url`
/// gets it.
const SITE: f64 = 0.4;
/// How sure an address is whose sign is written out.
const SPELLED_OUT: f64 = 0.8;

#[expect(clippy::expect_used, reason = "constants that the tests compile")]
static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"[A-Za-z0-9_\u{c0}-\u{24f}\u{370}-\u{52f}][A-Za-z0-9._%+'\u{c0}-\u{24f}\u{370}-\u{52f}-]{0,63}@(?:[A-Za-z0-9\u{c0}-\u{24f}\u{370}-\u{52f}-]{1,63}\.){1,6}(?:[Xx][Nn]--[A-Za-z0-9-]{2,59}|[A-Za-z\u{370}-\u{52f}]{2,24})",
    )
    .expect("a constant that the tests compile")
});
/// `jane (at) example (dot) org`, also with the sign's name in other languages, and as it stands in addresses of pages (`%40`).
#[expect(clippy::expect_used, reason = "constants that the tests compile")]
static SPELLED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)[a-z0-9][a-z0-9._%+-]{0,63} ?(?:[\[({] ?(?:at|@|małpa|malpa|arroba|chiocciola|arobase) ?[\])}]|&#64;) ?[a-z0-9-]{1,63}(?: ?(?:\.|[\[({] ?(?:dot|\.|kropka|punkt|punto|point) ?[\])}]) ?[a-z0-9-]{1,63}){1,5}(?-u:\b)|(?:[a-z0-9_+-]{1,30} dot ){0,3}[a-z0-9][a-z0-9._%+-]{0,63} at (?:[a-z0-9-]{1,63} dot ){1,4}(?:com|org|net|edu|gov|info|de|pl|co|io|ai|app|dev|uk|fr|eu|nl|ch|ca|jp|br|au)(?-u:\b)|[a-z0-9][a-z0-9._+-]{0,63}%40(?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,24}(?-u:\b)",
    )
    .expect("a constant that the tests compile")
});
/// Without one of these no address is spelled out.
#[expect(clippy::expect_used, reason = "constants that the tests compile")]
static SPELLINGS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build([
            "(at)", "[at]", "{at}", "( at )", "[ at ]", "(@)", "[@]", "&#64;", "łpa)", "łpa]", "alpa)",
            "alpa]", "roba)", "roba]", "ciola)", "ciola]", "robase)", " dot ", "%40",
        ])
        .expect("constants that the tests build")
});

/// Adds the addresses of people and sites.
pub fn find(text: &str, found: &mut Vec<Finding>) {
    emails(text, found);
    spelled(text, found);
    sites(text, found);
}

fn emails(text: &str, found: &mut Vec<Finding>) {
    let mut done = 0;
    for (sign, _) in text.match_indices('@') {
        let from = floor_boundary(text, sign.saturating_sub(MAX_LOCAL)).max(done);
        let to = floor_boundary(text, sign + MAX_DOMAIN);
        let bytes = text.as_bytes();
        let is_local = |b: u8| b.is_ascii_alphanumeric() || b"._%+'-".contains(&b) || !b.is_ascii();
        let is_possible = from < sign
            && is_local(bytes[sign - 1])
            && bytes.get(sign + 1).is_some_and(|b| b.is_ascii_alphanumeric() || !b.is_ascii());
        if !is_possible {
            continue;
        }
        let mut at = from;
        while let Some(candidate) = EMAIL.find_at(&text[..to], at).filter(|c| c.start() < sign) {
            let (start, end) = (candidate.start(), candidate.end());
            let checked = if is_apart_before(text, start) { email(candidate.as_str()) } else { None };
            let is_apart = is_apart_behind(text, start, end) || is_emphasised(&text[end..]);
            if let (Some((_, confidence)), true) = (checked, is_apart) {
                found.push(Finding { kind: "email", start, end, confidence });
                done = end;
                break;
            }
            at = start + candidate.as_str().chars().next().map_or(1, char::len_utf8);
        }
    }
}

/// Whether what follows an address begins with underscores that close an emphasis (`_jane@example.org_`): no domain has one.
fn is_emphasised(behind: &str) -> bool {
    let rest = ["___", "__", "_"].into_iter().find_map(|marks| behind.strip_prefix(marks));
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

fn spelled(text: &str, found: &mut Vec<Finding>) {
    let mut done = 0;
    for sign in SPELLINGS.find_iter(text) {
        let from = floor_boundary(text, sign.start().saturating_sub(MAX_LOCAL)).max(done);
        let to = floor_boundary(text, sign.end() + MAX_DOMAIN);
        if from >= sign.start() {
            continue;
        }
        if let Some(candidate) = SPELLED.find_at(&text[..to], from)
            && is_apart_before(text, candidate.start())
        {
            let (start, end) = (candidate.start(), candidate.end());
            done = end;
            found.extend(spelled_email(candidate.as_str()).map(|confidence| Finding {
                kind: "email",
                start,
                end,
                confidence,
            }));
        }
    }
}

/// How sure a spelled address is; none for `%40` in what is no address of a person or role.
fn spelled_email(candidate: &str) -> Option<f64> {
    if !candidate.contains("%40") {
        return Some(SPELLED_OUT);
    }
    let (_, confidence) = email(&candidate.replacen("%40", "@", 1))?;
    Some(confidence.min(SPELLED_OUT))
}

/// Addresses with a scheme, and host names whose last part is a domain of the root zone.
fn sites(text: &str, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let mut done = 0;
    for (dot, _) in text.match_indices('.') {
        let is_inner = dot > done
            && bytes.get(dot + 1).is_some_and(u8::is_ascii_alphanumeric)
            && bytes[dot - 1].is_ascii_alphanumeric();
        if !is_inner {
            continue;
        }
        let is_host = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-');
        let left = bytes[done..dot].iter().rev().take(MAX_DOMAIN).take_while(|b| is_host(b)).count();
        let right = bytes[dot..].iter().take(MAX_DOMAIN).take_while(|b| is_host(b)).count();
        let (start, end) = (dot - left, dot + right);
        let host = text[start..end].trim_end_matches(['.', '-']);
        let end = start + host.len();
        done = end;
        if let Some((start, end)) = site(text, start, end) {
            found.push(Finding { kind: "url", start, end, confidence: SITE });
            done = end;
        }
    }
}

/// The address around the host name between the two places.
fn site(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let (before, behind) = (&text[..start], &text[end..]);
    let top = text[start..end].rsplit('.').next()?.to_ascii_lowercase();
    let scheme = ["https://", "http://", "ftp://", "wss://", "ws://"].iter().find(|s| before.ends_with(**s));
    let is_named = DOMAINS.split_ascii_whitespace().any(|domain| domain == top);
    let is_other = before.ends_with(['@', '/', '\\', '_', '$', ':', '.', '-'])
        || behind.starts_with(['_', '(', '@', '\\']);
    if scheme.is_none() && (!is_named || is_other) {
        return None;
    }
    let is_end = |c: char| {
        c.is_whitespace()
            || matches!(c, '"' | '\'' | '<' | '>' | '`' | ')' | ']' | '}' | ',' | ';' | '\\' | '|')
    };
    let path = if behind.starts_with(['/', ':', '?', '#']) {
        behind.find(is_end).unwrap_or(behind.len())
    } else {
        0
    };
    let path = behind[..path].trim_end_matches(['.', ':', '?', '!', '*']);
    Some((start - scheme.map_or(0, |s| s.len()), end + path.len()))
}

/// Domains of the root zone that people use; not those that more often end the name of a file (`rs`, `py`, `md`).
const DOMAINS: &str = "com org net edu gov mil int info biz name io ai app dev co me tv xyz online site shop store tech cloud \
    blog club live news agency ac ad ae af ag al am ar at au az ba bd be bg bh bo br bw by bz ca ch cl cm cn cr cu cy cz de dk \
    do dz ec ee eg es et eu fi fj fr ge gh gi gl gr gt hk hn hr hu id ie il im in iq ir is it je jm jo jp ke kg kh kr kw kz la \
    lb li lk lt lu lv ly ma mc mg mk mm mn mo mt mu mv mw mx my mz na ng ni nl no np nz om pa pe pg ph pk pl pr pt qa ro ru \
    rw sa sc sd se sg si sk sl sn su sv sy th tj tm tn to tr tt tw tz ua ug uk us uy uz va vc ve vn ws ye za zm zw";

/// Mailboxes of a role are no person's.
const ROLES: &[&str] = &[
    "abuse",
    "academic",
    "accounting",
    "accounts",
    "admin",
    "admissions",
    "advertising",
    "archive_feedback",
    "ask",
    "billing",
    "bookings",
    "careers",
    "community",
    "contact",
    "customercare",
    "customerservice",
    "do-not-reply",
    "donotreply",
    "editor",
    "enquiries",
    "events",
    "feedback",
    "finance",
    "general",
    "hello",
    "help",
    "helpdesk",
    "hostmaster",
    "hr",
    "info",
    "inquiries",
    "it",
    "jobs",
    "legal",
    "library",
    "mail",
    "mailer-daemon",
    "marketing",
    "media",
    "membership",
    "news",
    "newsdesk",
    "newsletter",
    "no-reply",
    "noreply",
    "notifications",
    "office",
    "orders",
    "postmaster",
    "pr",
    "press",
    "privacy",
    "reception",
    "registrar",
    "sales",
    "security",
    "service",
    "services",
    "submissions",
    "subscribe",
    "subscriptions",
    "support",
    "team",
    "unsubscribe",
    "volunteer",
    "webmaster",
    "welcome",
];
/// Endings that make `logo@2x.png` a file.
const FILE_ENDINGS: &[&str] =
    &["png", "jpg", "jpeg", "gif", "svg", "webp", "css", "js", "ts", "json", "html", "py"];

fn email(candidate: &str) -> Verdict {
    let (local, domain) = candidate.split_once('@')?;
    let ending = domain.rsplit('.').next()?.to_ascii_lowercase();
    let is_local = !local.ends_with('.') && !local.contains("..") && local.contains(char::is_alphanumeric);
    if !is_local || FILE_ENDINGS.contains(&ending.as_str()) {
        return None;
    }
    let local = local.to_ascii_lowercase();
    let alone = match local.as_str() {
        // `git@github.com:owner/name` is an address of a repository.
        "git" => 0.1,
        role if ROLES.contains(&role) => 0.4,
        _ => 0.95,
    };
    Some((candidate.len(), alone))
}

#[cfg(test)]
mod tests {
    use super::super::findings as find;

    fn kinds(text: &str) -> Vec<&'static str> {
        find(text).into_iter().filter(|f| f.confidence >= 0.5).map(|f| f.kind).collect()
    }

    #[test]
    fn addresses_of_all_alphabets_are_found_whole() {
        for text in [
            "émile@exemple.fr",
            "özgür.kaya@firma.com.tr",
            "иван@пример.рф",
            "ivan@xn--e1afmkfd.xn--p1ai",
            "νίκος@παράδειγμα.gr",
            "_jane@example.org",
            "jane dot doe at example dot co dot uk",
            "jane at example dot fr",
        ] {
            let found = find(text);
            let emails: Vec<&str> =
                found.iter().filter(|f| f.kind == "email").map(|f| &text[f.start..f.end]).collect();
            assert_eq!(emails, [text]);
        }
        assert_eq!(kinds("Write to _jane@example.org_ or __bob@example.org__."), ["email", "email"]);
        let page = "https://shop.example/?email=jane.doe%40example.org&page=2";
        let found = find(page).into_iter().find(|f| f.kind == "email").expect("is found");
        assert_eq!(
            (&page[found.start..found.end], found.confidence >= 0.5),
            ("jane.doe%40example.org", true)
        );
        for text in ["unpkg.com/react%4018.2.0/umd", "git%40github.com", "support%40example.org"] {
            assert_eq!(kinds(text), [""; 0], "{text}");
        }
        for text in ["_@example.org", "look at the dot in the middle", "jane@example.org_backup"] {
            assert_eq!(kinds(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn emails() {
        assert_eq!(kinds("Write to jane.doe@example.com."), ["email"]);
        assert_eq!(kinds("o'neil+tag@mail.example.co.uk, jürgen@müller.de"), ["email", "email"]);
        for text in
            ["logo@2x.png", "support@example.com", "git@github.com:a/b.git", "@user", "a@b", "user@host"]
        {
            assert_eq!(kinds(text), [""; 0], "{text}");
        }
    }
}
