//! Login to SQL Server: name lookup, TCP, TLS, login and redirects, within one deadline.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tiberius::error::Error;
use tiberius::{AuthMethod, Client, Config, EncryptionLevel, SqlBrowser};
use tokio::net::{TcpSocket, TcpStream, lookup_host};
use tokio::time::{Instant, timeout};
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

use super::error;
use crate::config::{Encryption, Endpoint, Mssql, Trust};
use crate::source::{Reason, SourceError};

/// The driver's client over a TCP connection.
pub(super) type TdsClient = Client<Compat<TcpStream>>;

/// The name of this session on the server (`program_name` in `sys.dm_exec_sessions`).
const APPLICATION_NAME: &str = "sqlqueue-exporter";

/// How often a login may be redirected to another address. Azure SQL does it once.
const MAX_REDIRECTS: usize = 2;

/// A deadline shared by several steps.
struct Budget {
    started: Instant,
    total: Duration,
}

impl Budget {
    fn remaining(&self) -> Duration {
        self.total.saturating_sub(self.started.elapsed())
    }

    fn within(&self) -> String {
        format!(" within {} ms", self.total.as_millis())
    }
}

/// Opens one session within `deadline`.
pub(super) async fn open(settings: &Mssql, deadline: Duration) -> Result<TdsClient, SourceError> {
    let budget = Budget { started: Instant::now(), total: deadline };
    let ca = read_ca(settings, &budget).await?;
    let mut host = settings.host.clone();
    let mut endpoint = settings.endpoint.clone();
    for _ in 0..=MAX_REDIRECTS {
        let stream = dial(&host, &endpoint, &budget).await?;
        let config = login_config(settings, &host, ca.as_deref(), budget.remaining());
        match timeout(budget.remaining(), Client::connect(config, stream.compat_write())).await {
            Ok(Ok(client)) => return Ok(client),
            Ok(Err(Error::Routing { host: next, port })) => {
                // The name may include an instance, which the port has already resolved.
                host = next.split('\\').next().unwrap_or_default().to_owned();
                endpoint = Endpoint::Port(port);
            }
            Ok(Err(error)) => return Err(error::login_failure(&error, settings)),
            Err(_elapsed) => return Err(error::login_timeout(settings, &budget.within())),
        }
    }
    Err(SourceError::lost(
        Reason::Connect,
        format!("the server redirected the login more than {MAX_REDIRECTS} times, last to {host}"),
    ))
}

/// The certificates in the CA file, if one is configured. The file is read here because the driver
/// insists on a file name extension and blocks the thread.
async fn read_ca(settings: &Mssql, budget: &Budget) -> Result<Option<Vec<u8>>, SourceError> {
    let Trust::CaFile(path) = &settings.trust else { return Ok(None) };
    let failed = |cause: String| {
        SourceError::lost(Reason::Connect, format!("cannot read the CA file {}: {cause}", path.display()))
    };
    match timeout(budget.remaining(), tokio::fs::read(path)).await {
        Ok(Ok(bytes)) => Ok(Some(bytes)),
        Ok(Err(cause)) => Err(failed(cause.to_string())),
        Err(_elapsed) => Err(failed(format!("no answer{}", budget.within()))),
    }
}

/// The driver's configuration. It holds the password, so it lives no longer than the login.
fn login_config(settings: &Mssql, host: &str, ca: Option<&[u8]>, deadline: Duration) -> Config {
    let mut config = Config::new();
    config.host(host);
    config.database(&settings.database);
    config.application_name(APPLICATION_NAME);
    config.readonly(settings.reads_secondary());
    config.authentication(AuthMethod::sql_server(&settings.user, settings.password.expose()));
    config.encryption(match settings.encryption {
        Encryption::Required => EncryptionLevel::Required,
        // The driver's `Off` still encrypts the login packet.
        Encryption::LoginOnly => EncryptionLevel::Off,
        Encryption::Off => EncryptionLevel::NotSupported,
    });
    match (&settings.trust, ca) {
        // Both at once would make the driver panic; this match cannot call both.
        (Trust::Any, _) => config.trust_cert(),
        (Trust::CaFile(_), Some(ca)) => config.trust_cert_ca_bundle(ca),
        (Trust::CaFile(_), None) | (Trust::System, _) => {}
    }
    // A lone surrogate in one row of a watched table must not hide all other rows.
    config.lossy_utf16_decoding(true);
    config.handshake_timeout(Some(deadline));
    // Each statement has its own deadline, enforced around it. The driver's own timeout would at best
    // strike at the same time, and after it nothing can be cancelled on the connection.
    config.command_timeout(None);
    config
}

/// Opens the TCP connection.
async fn dial(host: &str, endpoint: &Endpoint, budget: &Budget) -> Result<TcpStream, SourceError> {
    let limit = budget.remaining();
    let (address, dialed) = match endpoint {
        Endpoint::Port(port) => {
            let dialed = timeout(limit, dial_port(host, *port, budget)).await;
            (format!("{host}:{port}"), dialed.map(|dialed| dialed.map_err(|error| error.to_string())))
        }
        Endpoint::Instance(instance) => {
            let dialed = timeout(limit, dial_instance(host, instance)).await;
            (format!("{host}\\{instance}"), dialed.map(|dialed| dialed.map_err(|error| error::plain(&error))))
        }
    };
    match dialed {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(cause)) => Err(SourceError::lost(Reason::Connect, format!("cannot reach {address}: {cause}"))),
        Err(_elapsed) => {
            Err(SourceError::lost(Reason::Timeout, format!("cannot reach {address}{}", budget.within())))
        }
    }
}

/// Tries each address of the host. Each gets an even share of the remaining time, so that one that
/// drops packets does not use up the time of the others.
async fn dial_port(host: &str, port: u16, budget: &Budget) -> io::Result<TcpStream> {
    let addresses: Vec<SocketAddr> = lookup_host((host, port)).await?.collect();
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for (tried, address) in addresses.iter().enumerate() {
        let untried = u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        let share = budget.remaining() / untried;
        match timeout(share, dial_address(*address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => failure = error,
            Err(_elapsed) => failure = io::Error::new(io::ErrorKind::TimedOut, "no answer"),
        }
    }
    Err(failure)
}

async fn dial_address(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Between two samples the connection is idle; a dead peer should be noticed then.
    socket.set_keepalive(true)?;
    socket.set_nodelay(true)?;
    socket.connect(address).await
}

/// Asks the SQL Server Browser for the port of the instance and connects to it.
async fn dial_instance(host: &str, instance: &str) -> tiberius::Result<TcpStream> {
    let mut config = Config::new();
    // The driver joins host and port as text, so an IPv6 address needs its brackets.
    config.host(if host.contains(':') { format!("[{host}]") } else { host.to_owned() });
    config.instance_name(instance);
    TcpStream::connect_named(&config).await
}
