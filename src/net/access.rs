//! Which request may do what, for which tenant.

use super::reload::Source;
use super::sessions::Sessions;
use super::tokens::{Role, TokenDigest, TokenError, TokenSet, digest_of};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use parking_lot::RwLock;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Whose rows a query sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Everybody's.
    All,
    /// Those of one tenant.
    Tenant(Arc<str>),
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    name: Arc<str>,
    tenant: Option<Arc<str>>,
    /// None where there are no tokens: then everybody may do everything.
    token: Option<(TokenDigest, Vec<Role>)>,
}

impl Caller {
    /// The token's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whose rows it writes; none for a token that belongs to no tenant.
    pub fn tenant(&self) -> Option<&Arc<str>> {
        self.tenant.as_ref()
    }

    /// As [`Caller::tenant`].
    ///
    /// # Errors
    /// [`Denied::NoTenant`], which is counted.
    pub fn own_tenant(&self) -> Result<Arc<str>, Denied> {
        let denied = || Denied::NoTenant { name: self.name.clone() };
        self.tenant.clone().ok_or_else(denied).inspect_err(Denied::count)
    }

    /// Whose rows it sees.
    pub fn scope(&self) -> Scope {
        match &self.tenant {
            Some(tenant) if !self.has(Role::Admin) => Scope::Tenant(tenant.clone()),
            _ => Scope::All,
        }
    }

    /// What its token says that it may do; everything where there are no tokens.
    pub fn roles(&self) -> Vec<Role> {
        self.token.as_ref().map_or(Role::ALL.to_vec(), |(_, roles)| roles.clone())
    }

    fn has(&self, role: Role) -> bool {
        self.token.as_ref().is_none_or(|(_, roles)| roles.contains(&role))
    }

    /// Whether it may do what needs `role`. Who may ask may also label; an admin may ask, label and read metrics; to send it
    /// needs `ingest` and a tenant like everybody.
    pub fn may(&self, role: Role) -> bool {
        let labels = role == Role::Review && self.has(Role::Query);
        self.has(role) || labels || (role != Role::Ingest && self.has(Role::Admin))
    }
}

/// Why a request may not do what it asks for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// No token was sent.
    #[error(
        "a token is needed: send the header \"authorization: Bearer TOKEN\"; verbs of groundline take --token, or the variable GROUNDLINE_TOKEN"
    )]
    Missing,
    /// The token is not one of ours.
    #[error("the token is not known here; see server.tokens_file, or make one with groundline token new")]
    Unknown,
    /// The token is ours and may not do this.
    #[error("the token {name:?} does not have the role {needs}")]
    Role {
        /// The token's name.
        name: Arc<str>,
        /// The role that is missing.
        needs: &'static str,
    },
    /// The token belongs to no tenant, so there is nobody to whom the rows would belong.
    #[error("the token {name:?} has no tenant to write for; use one with a tenant")]
    NoTenant {
        /// The token's name.
        name: Arc<str>,
    },
}

impl Denied {
    /// Whether another token can help, as opposed to a token at all.
    pub fn is_known(&self) -> bool {
        matches!(self, Denied::Role { .. } | Denied::NoTenant { .. })
    }

    fn count(&self) {
        let reason = if self.is_known() { "role" } else { "token" };
        metrics::counter!("groundline_requests_refused_total", "reason" => reason).increment(1);
    }
}

/// What a client is asked for with 401. Basic is understood as well, with the token as the password, and not asked for:
/// it would make browsers ask with a window of their own before the console's login.
pub const CHALLENGE: &str = "Bearer realm=\"groundline\"";

impl IntoResponse for Denied {
    fn into_response(self) -> Response {
        let status = if self.is_known() { StatusCode::FORBIDDEN } else { StatusCode::UNAUTHORIZED };
        let body = axum::Json(serde_json::json!({ "error": self.to_string() }));
        let mut response = (status, body).into_response();
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(CHALLENGE));
        }
        response
    }
}

/// Decides who may do what. Cheap to clone; every clone sees the tokens of the last reload.
#[derive(Clone)]
pub struct Access(Arc<Inner>);

struct Inner {
    open: Option<Caller>,
    tokens: RwLock<Arc<TokenSet>>,
    sessions: Sessions,
}

/// In a request's extensions: it came with the cookie of a session of this token, and a page of this server sent it.
#[derive(Debug, Clone, Copy)]
pub(super) struct SignedIn(pub(super) TokenDigest);

impl Access {
    /// Everybody may do everything; what is sent belongs to `default_tenant`.
    pub fn open(default_tenant: &str) -> Self {
        let tenant = Some(Arc::from(default_tenant));
        let open = Some(Caller { name: "nobody in particular".into(), tenant, token: None });
        Self(Arc::new(Inner { open, tokens: RwLock::default(), sessions: Sessions::default() }))
    }

    /// Only the holders of these tokens may do what their roles say.
    pub fn tokens(set: TokenSet) -> Self {
        let tokens = RwLock::new(Arc::new(set));
        Self(Arc::new(Inner { open: None, tokens, sessions: Sessions::default() }))
    }

    /// As [`Access::tokens`], from a file, and the source that reads it again when it changes.
    ///
    /// # Errors
    /// What is wrong with the file. Later faults are logged, and the tokens from before go on to hold.
    pub fn load(path: &Path) -> Result<(Self, Source), String> {
        let access = Self::tokens(TokenSet::default());
        let (to, shown) = (access.clone(), path.display().to_string());
        let source = Source::load("tokens", vec![path.to_owned()], move |files| {
            let [bytes] = files else { return Err("one file is expected".to_owned()) };
            let text = std::str::from_utf8(bytes).map_err(|e| format!("{shown}: {e}"))?;
            let set =
                TokenSet::parse(text).map_err(|TokenError(all)| format!("{shown}: {}", all.join("; ")))?;
            tracing::info!(file = shown, tokens = set.len(), "tokens read");
            let set = Arc::new(set);
            *to.0.tokens.write() = set.clone();
            to.0.sessions.keep(|digest| set.find(digest).is_some());
            Ok(())
        })?;
        Ok((access, source))
    }

    /// Whether everybody may do everything.
    pub fn is_open(&self) -> bool {
        self.0.open.is_some()
    }

    /// Who has this token.
    pub fn of_token(&self, token: &[u8]) -> Option<Caller> {
        self.of_digest(&digest_of(token))
    }

    fn of_digest(&self, digest: &TokenDigest) -> Option<Caller> {
        if let Some(open) = &self.0.open {
            return Some(open.clone());
        }
        let set = self.0.tokens.read().clone();
        let known = set.find(digest)?;
        let token = Some((known.digest, known.roles.clone()));
        Some(Caller { name: known.name.clone(), tenant: known.tenant.clone(), token })
    }

    /// What `caller`, who was let in before, is now; none if the token was taken away since.
    pub fn still(&self, caller: &Caller) -> Option<Caller> {
        match &caller.token {
            Some((digest, _)) => self.of_digest(digest),
            None => self.0.open.clone(),
        }
    }

    /// Begins a session for the holder of `token` and gives its cookie; none for a token that is not known.
    pub(super) fn begin_session(&self, token: &[u8], now: Instant) -> Option<String> {
        let (digest, _) = self.of_token(token)?.token?;
        self.0.sessions.begin(digest, now)
    }

    /// The token of the session behind a cookie, as long as the token is known.
    pub(super) fn session(&self, cookie: &str, now: Instant) -> Option<TokenDigest> {
        let digest = self.0.sessions.token_of(cookie, now)?;
        if self.of_digest(&digest).is_none() {
            self.0.sessions.end(cookie);
            return None;
        }
        Some(digest)
    }

    pub(super) fn end_session(&self, cookie: &str) {
        self.0.sessions.end(cookie);
    }

    /// The tenants that the tokens name; the one of everybody where there are no tokens.
    pub fn tenants(&self) -> Vec<String> {
        match &self.0.open {
            Some(open) => open.tenant.iter().map(|tenant| tenant.to_string()).collect(),
            None => self.0.tokens.read().tenants(),
        }
    }

    /// Who sends these headers, if that one may do what needs `role`. Cookies do not count.
    ///
    /// # Errors
    /// [`Denied`], which is counted.
    pub fn check(&self, headers: &HeaderMap, role: Role) -> Result<Caller, Denied> {
        self.find(headers, None).and_then(|caller| with_role(caller, role)).inspect_err(Denied::count)
    }

    /// As [`Access::check`], of a request that may also come by the cookie of a session.
    ///
    /// # Errors
    /// [`Denied`], which is counted.
    pub fn check_request<B>(&self, request: &axum::http::Request<B>, role: Role) -> Result<Caller, Denied> {
        self.caller_of(request).and_then(|caller| with_role(caller, role)).inspect_err(Denied::count)
    }

    /// Who sends this request, whatever that one may do.
    ///
    /// # Errors
    /// [`Denied`], which is not counted: a browser asks so before its user logs in.
    pub fn caller_of<B>(&self, request: &axum::http::Request<B>) -> Result<Caller, Denied> {
        self.find(request.headers(), request.extensions().get())
    }

    fn find(&self, headers: &HeaderMap, signed_in: Option<&SignedIn>) -> Result<Caller, Denied> {
        if let Some(open) = &self.0.open {
            return Ok(open.clone());
        }
        let mut sent = headers.get_all(header::AUTHORIZATION).iter();
        let token = match (sent.next(), sent.next()) {
            (Some(value), None) => token_of(value.as_bytes()).ok_or(Denied::Unknown)?,
            (Some(_), Some(_)) => return Err(Denied::Unknown),
            (None, _) => {
                return signed_in.and_then(|SignedIn(digest)| self.of_digest(digest)).ok_or(Denied::Missing);
            }
        };
        // A browser adds what was typed once to requests that other pages make, those of another port of this machine too.
        let is_own = |site: &HeaderValue| matches!(site.as_bytes(), b"same-origin" | b"none");
        if token.is_ambient && !headers.get_all("sec-fetch-site").iter().all(is_own) {
            return Err(Denied::Unknown);
        }
        self.of_token(&token.secret).ok_or(Denied::Unknown)
    }

    /// As [`Access::check`], and the tenant whose rows are written.
    ///
    /// # Errors
    /// [`Denied`], which is counted.
    pub fn writer(&self, headers: &HeaderMap, role: Role) -> Result<Arc<str>, Denied> {
        self.check(headers, role)?.own_tenant()
    }

    /// As [`Access::check_request`], and the tenant whose rows are written.
    ///
    /// # Errors
    /// [`Denied`], which is counted.
    pub fn writer_of<B>(
        &self,
        request: &axum::http::Request<B>,
        role: Role,
    ) -> Result<(Caller, Arc<str>), Denied> {
        let caller = self.check_request(request, role)?;
        let tenant = caller.own_tenant()?;
        Ok((caller, tenant))
    }
}

fn with_role(caller: Caller, role: Role) -> Result<Caller, Denied> {
    if caller.may(role) { Ok(caller) } else { Err(Denied::Role { name: caller.name, needs: role.name() }) }
}

struct Sent {
    secret: Vec<u8>,
    is_ambient: bool,
}

/// The token in `Bearer TOKEN`, or in `Basic` as the password of any user.
fn token_of(value: &[u8]) -> Option<Sent> {
    let at = value.iter().position(|b| *b == b' ')?;
    let (scheme, rest) = (&value[..at], value[at..].trim_ascii());
    if scheme.eq_ignore_ascii_case(b"bearer") {
        return Some(Sent { secret: rest.to_vec(), is_ambient: false });
    }
    if !scheme.eq_ignore_ascii_case(b"basic") {
        return None;
    }
    let pair = base64::engine::general_purpose::STANDARD.decode(rest).ok()?;
    let colon = pair.iter().position(|b| *b == b':')?;
    Some(Sent { secret: pair[colon + 1..].to_vec(), is_ambient: true })
}

/// Lets requests pass whose token has `role`; handlers find the [`Caller`] in the request's extensions. The body of a
/// refused request is not read.
pub async fn guarded(
    State((access, role)): State<(Access, Role)>,
    mut request: Request,
    next: Next,
) -> Response {
    match access.check_request(&request, role) {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(denied) => denied.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Entry;

    fn access() -> Access {
        let entry = |name: &str, tenant: Option<&str>, roles: &[Role]| {
            let tenant = tenant.map(str::to_owned);
            let sha256 = hex::encode(digest_of(name.as_bytes()));
            Entry { name: name.to_owned(), sha256, tenant, roles: roles.to_vec() }.to_toml()
        };
        let text = entry("sender", Some("a"), &[Role::Ingest])
            + &entry("reader", Some("a"), &[Role::Query])
            + &entry("chief", None, &[Role::Admin])
            + &entry("both", Some("b"), &[Role::Admin, Role::Ingest]);
        Access::tokens(TokenSet::parse(&text).unwrap())
    }

    fn headers(value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, value.parse().unwrap());
        headers
    }

    #[test]
    fn roles_decide() {
        let access = access();
        let may = |token: &str, role: Role| access.check(&headers(&format!("Bearer {token}")), role).is_ok();
        assert!(may("sender", Role::Ingest) && !may("sender", Role::Query) && !may("sender", Role::Metrics));
        assert!(may("reader", Role::Query) && !may("reader", Role::Ingest) && !may("reader", Role::Metrics));
        assert!(may("chief", Role::Query) && may("chief", Role::Metrics) && !may("chief", Role::Ingest));
        assert_eq!(access.check(&HeaderMap::new(), Role::Query), Err(Denied::Missing));
        assert!(Denied::Missing.to_string().contains("--token"), "a user of the verbs sends no header");
        for wrong in ["Bearer", "Bearer ", "Bearer nobody", "Digest sender", "sender", "Bearer sender sender"]
        {
            assert_eq!(access.check(&headers(wrong), Role::Ingest), Err(Denied::Unknown), "{wrong}");
        }
        let mut two = headers("Bearer sender");
        two.append(header::AUTHORIZATION, HeaderValue::from_static("Bearer sender"));
        assert_eq!(access.check(&two, Role::Ingest), Err(Denied::Unknown));
    }

    #[test]
    fn the_token_says_whose_rows() {
        let access = access();
        let scope = |token: &str| access.of_token(token.as_bytes()).unwrap().scope();
        assert_eq!(scope("reader"), Scope::Tenant("a".into()));
        assert_eq!((scope("chief"), scope("both")), (Scope::All, Scope::All));
        assert_eq!(&*access.writer(&headers("bearer both"), Role::Ingest).unwrap(), "b");
        let chief = access.writer(&headers("Bearer chief"), Role::Query);
        assert!(matches!(chief, Err(Denied::NoTenant { .. })), "{chief:?}");
    }

    #[test]
    fn a_browsers_password_is_a_token_and_other_pages_cannot_use_it() {
        let access = access();
        let basic = base64::engine::general_purpose::STANDARD.encode("anyone:reader");
        let mut sent = headers(&format!("Basic {basic}"));
        assert!(access.check(&sent, Role::Query).is_ok());
        for (site, may) in
            [("same-origin", true), ("none", true), ("same-site", false), ("cross-site", false)]
        {
            sent.insert("sec-fetch-site", HeaderValue::from_static(site));
            assert_eq!(access.check(&sent, Role::Query).is_ok(), may, "{site}");
        }
    }

    #[test]
    fn without_tokens_everything_is_the_default_tenants() {
        let access = Access::open("default");
        let caller = access.check(&HeaderMap::new(), Role::Metrics).unwrap();
        assert_eq!(caller.scope(), Scope::All);
        assert_eq!(caller.tenant().map(|t| &**t), Some("default"));
        assert_eq!(access.still(&caller), Some(caller));
    }
}
