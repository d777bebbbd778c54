//! systemd: readiness, reloads, the watchdog, and inherited sockets.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::binary::PATIENCE;
use crate::process::{Process, TERM, exporter};

const CONFIG: &str = "sources: [{ name: db, sqlite: { file: none.db }, queues: [{ name: jobs }] }]\n";

fn world() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("config.yaml"), CONFIG).unwrap();
    folder
}

/// The service manager's end of the notification socket.
struct Manager(UnixDatagram);

impl Manager {
    fn listen(path: &Path) -> Self {
        let socket = UnixDatagram::bind(path).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(socket)
    }

    /// The next message that is not the watchdog's.
    fn told(&self) -> String {
        loop {
            let message = self.message();
            if message.trim() != "WATCHDOG=1" {
                return message;
            }
        }
    }

    fn message(&self) -> String {
        let mut buffer = [0; 4096];
        let length = self.0.recv(&mut buffer).expect("a message in time");
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }
}

#[test]
fn the_service_manager_is_told_when_it_serves_reloads_and_stops() {
    let folder = world();
    let path = folder.path().join("notify");
    let manager = Manager::listen(&path);
    let mut command = exporter(&folder.path().join("config.yaml"));
    command.env("NOTIFY_SOCKET", &path);
    let process = Process::start(command);
    assert!(manager.told().contains("READY=1"));
    process.signal("HUP");
    let reloading = manager.told();
    assert!(reloading.contains("RELOADING=1") && reloading.contains("MONOTONIC_USEC="), "{reloading}");
    assert!(manager.told().contains("READY=1"));
    // A reload also ends when it is refused: the service keeps running.
    std::fs::write(folder.path().join("config.yaml"), "nonsense: 1\n").unwrap();
    process.signal("HUP");
    assert!(manager.told().contains("RELOADING=1"));
    assert!(manager.told().contains("READY=1"));
    let (status, log) = process.stop(TERM);
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(manager.told().contains("STOPPING=1"));
}

#[test]
fn the_watchdog_hears_from_a_process_that_lives() {
    let folder = world();
    let path = folder.path().join("notify");
    let manager = Manager::listen(&path);
    let mut command = exporter(&folder.path().join("config.yaml"));
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "200000");
    let _process = Process::start(command);
    let mut heard = 0;
    while heard < 3 {
        heard += usize::from(manager.message().trim() == "WATCHDOG=1");
    }
}

#[test]
fn it_serves_on_the_sockets_that_it_is_given() {
    let folder = world();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let direct = exporter(&folder.path().join("config.yaml"));
    // The first inherited socket is descriptor 3, and the process must know its own id.
    let mut command = Command::new("sh");
    command.args(["-c", r#"exec 3<&0 0</dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" "$@""#]);
    command.arg(direct.get_program()).args(direct.get_args()).arg("--web.systemd-socket");
    command.stdin(OwnedFd::from(listener));
    let process = Process::start_as_it_is(command);
    assert_eq!(process.address(), address.to_string());
    assert!(process.get("/-/healthy", "*/*").starts_with("HTTP/1.1 200"));
    let (status, log) = process.stop(TERM);
    assert_eq!(status.code(), Some(0), "{log}");
}

#[test]
fn a_socket_that_is_not_given_is_told_with_its_remedy() {
    let folder = world();
    let ended = exporter(&folder.path().join("config.yaml")).arg("--web.systemd-socket").output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let message = String::from_utf8(ended.stderr).unwrap();
    assert!(message.contains("systemd gave this process no socket"), "{message}");
}
