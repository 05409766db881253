//! A browser whose user agrees to every login: it opens the address and follows the redirects.

use anyhow::{Context as _, Result, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::Url;

/// The maximum number of redirects.
const REDIRECTS: usize = 5;

/// Opens the address in the background.
pub(crate) fn agree(address: &str) {
    let address = address.to_owned();
    tokio::spawn(async move {
        if let Err(error) = visit(&address).await {
            eprintln!("the login page at {address} could not be visited: {error:#}");
        }
    });
}

async fn visit(address: &str) -> Result<()> {
    let mut url = Url::parse(address)?;
    for _ in 0..REDIRECTS {
        match redirect(&get(&url).await?) {
            Some(next) => url = url.join(&next)?,
            None => return Ok(()),
        }
    }
    bail!("it sends its visitors about without end")
}

/// Returns the head of the answer. All servers of the suite are on this machine, without TLS.
async fn get(url: &Url) -> Result<String> {
    let host = url.host_str().context("an address without a host")?;
    let port = url.port_or_known_default().context("an address without a port")?;
    let mut stream = TcpStream::connect((host, port)).await?;
    let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let request = format!("GET {target} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    let answer = String::from_utf8_lossy(&answer);
    Ok(answer.split("\r\n\r\n").next().unwrap_or_default().to_owned())
}

/// Returns the target of a redirect.
fn redirect(head: &str) -> Option<String> {
    head.split(' ').nth(1)?.strip_prefix('3')?;
    head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("location").then(|| value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::redirect;

    #[test]
    fn only_a_redirect_with_a_place_to_go_is_one() {
        assert_eq!(redirect("HTTP/1.1 302 Found\r\nLocation: http://x/y\r\nX: z").as_deref(), Some("http://x/y"));
        assert_eq!(redirect("HTTP/1.1 302 Found\r\nX: z"), None);
        assert_eq!(redirect("HTTP/1.1 200 OK\r\nLocation: http://x/y"), None);
    }
}
