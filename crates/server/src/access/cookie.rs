//! The page's cookie: the token, out of the reach of scripts and of other sites.

use std::net::SocketAddr;

use axum::http::{HeaderMap, HeaderValue, header};

/// The cookie of one server. Browsers keep cookies by host name, whatever the port, so the port is part of its name: two
/// servers on this machine would sign each other's pages out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageCookie(String);

impl PageCookie {
    /// Returns the cookie of the server that listens here.
    pub(super) fn new(address: SocketAddr) -> Self {
        Self(format!("windlass_session_{}", address.port()))
    }

    /// Returns the header that gives a browser the cookie with this token. Behind a proxy that speaks HTTPS with the
    /// browser, the browser sends it over nothing else.
    pub(super) fn holding(&self, token: &str, headers: &HeaderMap) -> Option<HeaderValue> {
        let is_https = headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
        let secure = if is_https { "; Secure" } else { "" };
        HeaderValue::from_str(&format!("{}={token}; Path=/; HttpOnly; SameSite=Strict{secure}", self.0)).ok()
    }

    /// Returns the header that takes the cookie from a browser.
    pub(super) fn gone(&self) -> HeaderValue {
        let text = format!("{}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict", self.0);
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
    }

    /// Returns the token in the cookie that came.
    pub(super) fn in_headers<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let all = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        all.flat_map(|value| value.split(';')).find_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == self.0 && !value.is_empty()).then_some(value)
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue};

    use super::PageCookie;

    // proves W3: scripts can't read the cookie, other sites can't send it, other servers of this machine don't share it
    #[test]
    fn the_cookie_is_of_this_server_and_this_site_alone() {
        let cookie = PageCookie::new("127.0.0.1:7700".parse().unwrap());
        let plain = cookie.holding("abc", &HeaderMap::new()).unwrap();
        assert_eq!(plain, "windlass_session_7700=abc; Path=/; HttpOnly; SameSite=Strict");
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-proto", HeaderValue::from_static("https"));
        assert!(cookie.holding("abc", &headers).unwrap().to_str().unwrap().ends_with("; Secure"));
        headers.insert("cookie", HeaderValue::from_static("a=b; windlass_session_7700=abc; windlass_session_7701=x"));
        assert_eq!(cookie.in_headers(&headers), Some("abc"));
        assert_eq!(PageCookie::new("127.0.0.1:80".parse().unwrap()).in_headers(&headers), None);
        assert_eq!(cookie.holding("a\nb", &headers), None);
    }
}
