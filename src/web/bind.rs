//! Listening sockets: the addresses of `--web.listen-address`.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::{TcpListener, lookup_host};

/// Why an address cannot be listened on, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// No address was given.
    #[error("no address to listen on: give one with --web.listen-address, for example :10433")]
    NoAddress,
    /// The address is not of the form `[HOST]:PORT`.
    #[error(
        "cannot listen on `{address}`: {reason}; \
         --web.listen-address takes :10433, localhost:10433, 0.0.0.0:10433 or [::1]:10433"
    )]
    Syntax {
        /// The address as it was given.
        address: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The system refused it.
    #[error("cannot listen on `{address}`: {reason}")]
    Refused {
        /// The address as it was given.
        address: String,
        /// Why, and what to do.
        reason: String,
        /// The system's error.
        source: io::Error,
    },
}

impl BindError {
    fn refused(address: &str, source: io::Error) -> Self {
        let reason = match source.kind() {
            io::ErrorKind::AddrInUse => {
                "the address is in use; stop the other process (perhaps another exporter), or choose another port \
                 with --web.listen-address"
            }
            io::ErrorKind::PermissionDenied => {
                "permission denied; choose a port above 1023 with --web.listen-address, or grant \
                 CAP_NET_BIND_SERVICE"
            }
            // It belongs to another machine, or to a family that is switched off here.
            io::ErrorKind::AddrNotAvailable => {
                "this machine has no such address; give one it has with --web.listen-address, or :PORT for all of \
                 them"
            }
            _ => &format!("{source}; try another --web.listen-address"),
        };
        Self::Refused { address: address.to_owned(), reason: reason.to_owned(), source }
    }

    fn unresolved(address: &str, source: io::Error) -> Self {
        let reason = format!(
            "the host name does not resolve ({source}); give an IP address of this machine with \
             --web.listen-address"
        );
        Self::Refused { address: address.to_owned(), reason, source }
    }
}

/// Whether listening fails for a reason that another address of the same host would not change.
fn is_final(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied)
}

/// Listens on every given address, in Prometheus' notation.
///
/// `:PORT` stands for all IPv6 and IPv4 addresses, and a host name for all addresses it resolves to.
/// With port 0 the system chooses. Returns listeners on all of them, at least one.
///
/// # Errors
/// The first address that cannot be listened on.
pub async fn bind(addresses: &[String]) -> Result<Vec<TcpListener>, BindError> {
    if addresses.is_empty() {
        return Err(BindError::NoAddress);
    }
    let mut listeners = Vec::new();
    for address in addresses {
        let bound = match parse(address)? {
            (None, port) => all_addresses(port).await,
            (Some(host), port) => {
                let found = lookup_host((host, port)).await;
                every_address(found.map_err(|source| BindError::unresolved(address, source))?).await
            }
        };
        listeners.extend(bound.map_err(|source| BindError::refused(address, source))?);
    }
    Ok(listeners)
}

/// The host of an address, `None` for all, and its port.
fn parse(address: &str) -> Result<(Option<&str>, u16), BindError> {
    let wrong = |reason| BindError::Syntax { address: address.to_owned(), reason };
    if address.contains("://") {
        return Err(wrong("it is a URL"));
    }
    let (host, port) = address.rsplit_once(':').ok_or_else(|| wrong("the port is missing"))?;
    if !port.bytes().all(|b| b.is_ascii_digit()) || port.is_empty() {
        return Err(wrong("the part after the last colon is not a port number"));
    }
    let port = port.parse().map_err(|_| wrong("the port is greater than 65535"))?;
    if host.is_empty() {
        return Ok((None, port));
    }
    if let Some(inner) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return Ok((Some(inner), port));
    }
    if host.contains(':') {
        return Err(wrong("an IPv6 address goes in brackets"));
    }
    Ok((Some(host), port))
}

/// All IPv6 and IPv4 addresses, through one socket where the system allows that.
async fn all_addresses(port: u16) -> io::Result<Vec<TcpListener>> {
    let six = match TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).await {
        Ok(six) => six,
        Err(error) if is_final(&error) => return Err(error),
        // IPv6 is not compiled in, or switched off: common in containers.
        Err(_) => return Ok(vec![TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).await?]),
    };
    let port = six.local_addr()?.port();
    // Whether this socket accepts IPv4 too depends on the system (net.ipv6.bindv6only). If it does, the
    // port is now in use for IPv4, by this process; if not, IPv4 needs a socket of its own.
    let four = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).await;
    Ok([six].into_iter().chain(four).collect())
}

/// All addresses of a host; at least one must work. The others may belong to a family that this
/// machine does not have: `localhost` often resolves to `::1` where IPv6 is switched off.
async fn every_address(found: impl Iterator<Item = SocketAddr>) -> io::Result<Vec<TcpListener>> {
    let mut listeners: Vec<TcpListener> = Vec::new();
    let mut unavailable = None;
    let mut port = None;
    let mut seen = Vec::new();
    for mut address in found {
        if seen.contains(&address.ip()) {
            continue;
        }
        seen.push(address.ip());
        // With port 0 all addresses get the port that the first one was given.
        address.set_port(port.unwrap_or(address.port()));
        match TcpListener::bind(address).await {
            Ok(listener) => {
                port = Some(listener.local_addr()?.port());
                listeners.push(listener);
            }
            Err(error) if is_final(&error) => return Err(error),
            Err(error) => unavailable = Some(error),
        }
    }
    if listeners.is_empty() {
        let none = || io::Error::new(io::ErrorKind::NotFound, "the host name has no address");
        return Err(unavailable.unwrap_or_else(none));
    }
    Ok(listeners)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot bind has failed")]

    use super::*;
    use tokio::net::TcpStream;

    #[test]
    fn addresses_read_as_prometheus_writes_them() {
        for (address, expected) in [
            (":10433", (None, 10433)),
            ("localhost:0", (Some("localhost"), 0)),
            ("0.0.0.0:80", (Some("0.0.0.0"), 80)),
            ("[::1]:80", (Some("::1"), 80)),
            ("[fe80::1%eth0]:80", (Some("fe80::1%eth0"), 80)),
        ] {
            assert_eq!(parse(address).unwrap(), expected, "{address}");
        }
    }

    #[test]
    fn a_wrong_address_is_named_with_the_flag() {
        for address in [
            "",
            "10433",
            "localhost",
            "localhost:",
            ":http",
            ":70000",
            "::1:80",
            "http://localhost:80",
            ":+1",
        ] {
            let message = parse(address).unwrap_err().to_string();
            assert!(message.contains(&format!("`{address}`")), "{message}");
            assert!(message.contains("--web.listen-address"), "{message}");
        }
    }

    #[tokio::test]
    async fn a_bare_port_is_reached_through_ipv4_and_through_ipv6_if_there_is_any() {
        let listeners = bind(&[":0".to_owned()]).await.unwrap();
        let port = listeners.first().unwrap().local_addr().unwrap().port();
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
        if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).await.is_ok() {
            TcpStream::connect((Ipv6Addr::LOCALHOST, port)).await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_host_name_and_several_addresses_are_all_bound() {
        let listeners = bind(&["localhost:0".to_owned(), "127.0.0.1:0".to_owned()]).await.unwrap();
        assert!(listeners.len() >= 2);
        for listener in &listeners {
            TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        }
    }

    #[tokio::test]
    async fn an_address_in_use_is_named_with_the_remedy() {
        let taken = bind(&[":0".to_owned()]).await.unwrap();
        let port = taken.first().unwrap().local_addr().unwrap().port();
        for address in [format!(":{port}"), format!("127.0.0.1:{port}"), format!("localhost:{port}")] {
            let error = bind(std::slice::from_ref(&address)).await.unwrap_err();
            let BindError::Refused { source, .. } = &error else { unreachable!("{error:?}") };
            assert_eq!(source.kind(), io::ErrorKind::AddrInUse);
            let message = error.to_string();
            assert!(message.contains(&format!("`{address}`")), "{message}");
            assert!(message.contains("--web.listen-address"), "{message}");
        }
    }

    #[tokio::test]
    async fn an_address_of_another_machine_and_no_address_are_refused() {
        // 192.0.2.0/24 is reserved for documentation: no machine has it.
        let error = bind(&["192.0.2.1:0".to_owned()]).await.unwrap_err();
        assert!(error.to_string().contains("this machine has no such address"), "{error:?}");
        assert!(matches!(bind(&[]).await.unwrap_err(), BindError::NoAddress));
    }
}
